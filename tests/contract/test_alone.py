"""The library alone: with numpy, scipy and numba everything runs; what needs more says so in one line.

And to import it costs little: numba and scipy are imported by what uses them.

In a process in which the packages of the extras and of the experiments cannot be imported, as if they were not
installed, nor experiments/ itself. test_imports.py shows that nothing else in the library imports them.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from test_door import from_the_readme

ROOT = Path(__file__).resolve().parents[2]
MISSING = (
    *("cvxpy", "highspy", "gymnasium", "pandas", "matplotlib", "seaborn", "PIL"),
    *("hydra", "omegaconf", "yaml", "joblib", "rich", "distributed", "experiments"),
)


CALLS = {
    "dp.plot(runs)": "dp.plot needs matplotlib: pip install 'dpucbvi[plot]'",
    "runs.to_frame()": "to_frame needs pandas: pip install 'dpucbvi[pandas]'",
    "dp.compare({'a': runs, 'b': runs})": (
        "compare: a table of several pairs needs pandas: pip install 'dpucbvi[pandas]'"
    ),
    "found.to_frame()": "to_frame needs pandas: pip install 'dpucbvi[pandas]'",
    "dp.from_gymnasium('FrozenLake-v1', H=3)": (
        "from_gymnasium needs gymnasium: pip install 'dpucbvi[gymnasium]'"
    ),
    "dp.to_gymnasium(river)": "to_gymnasium needs gymnasium: pip install 'dpucbvi[gymnasium]'",
    "dp.run(river, dp.DPUCBVI(), private, K=3, postprocess='cvxpy', watch=never)": (
        "the post-processing by cvxpy needs cvxpy: pip install 'dpucbvi[cvxpy]'"
    ),
}
ALONE = """
import sys, time
sys.path.insert(0, {root!r})
sys.modules.update(dict.fromkeys({missing}))
import dpucbvi as dp
cost = [time.process_time(), [name for name in ("numba", "llvmlite", "scipy") if name in sys.modules]]
dp.run(dp.riverswim(S=3, H=3), dp.DPUCBVI(), dp.Central(epsilon=1), K=3, engine="reference")
cost += [name for name in ("numba", "llvmlite") if name in sys.modules]

import json

{readme}
readme = [run.regret[-1], str(run.certificate), run.checks]

def never(*episode):
    raise AssertionError("was run")

river, private = dp.riverswim(S=3, H=4), dp.Central(epsilon=100)
runs = dp.run(river, dp.DPUCBVI(), private, K=3, seed=range(6), engine="reference")
found = dp.calibrate(river, dp.UCBVI(), K=3, bonus=(0.1, 1.0), seed=(0,), engine="reference")
told = [dp.compare(runs, runs).difference, len(str(found)) > 20]
for call in {calls}:
    try:
        eval(call)
    except dp.InputError as error:
        told.append(str(error))
print(json.dumps([cost, readme, told]))
"""


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> list:
    """What a process prints in which nothing else can be imported."""
    code = ALONE.format(root=str(ROOT), missing=MISSING, readme=from_the_readme(), calls=list(CALLS))
    command, folder = [sys.executable, "-c", code], tmp_path_factory.mktemp("alone")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_coming_in_is_quick_and_the_reference_compiles_nothing(alone):
    """In seconds of the processor, of which it takes some 0.3, most of it numpy."""
    seconds, *imported = alone[0]
    assert seconds < 1.0 and imported == [[]]


def test_the_readme_runs_and_says_that_no_lp_was_checked(alone):
    regret, certificate, checks = alone[1]
    assert regret > 0 and certificate.startswith("JDP: pure ε = 50 ")
    assert checks == {"lp_checked": 0, "lp_unchecked": "cvxpy is not installed"}


def test_what_needs_more_says_so_in_one_line(alone):
    """Calibrating and comparing two sets of runs need nothing."""
    difference, printed, *errors = alone[2]
    assert difference == 0.0 and printed
    assert errors == list(CALLS.values())
