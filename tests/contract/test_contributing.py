"""CONTRIBUTING.md does what it says: its snippets are executed, those with a file name in a copy of the code.

The copy is where a fresh process imports from. The agent and the privatizer meet on the compiled engine in one
run: compiling takes most of the time, and this compiles both twins.
"""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from own_privatizers import Fresh

import dpucbvi as dp

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
SECTIONS = {section.partition("\n")[0]: section for section in TEXT.split("\n## ")[1:]}
COPIED = ("dpucbvi", "conf", "experiments", "paper/figure1_printed.csv")
FILES = {
    "An environment": {"dpucbvi/environments.py"},
    "An experiment": {"experiments/studies/states.py", "conf/exp/states.yaml"},
    "An agent": {"dpucbvi/agents/mbie.py", "conf/agent/mbie.yaml"},
    "A privatizer": {"dpucbvi/privatizers/fresh.py", "conf/privatizer/fresh.yaml"},
}


def snippets(section: str) -> list[str]:
    return re.findall(r"^```(?:python|yaml)\n(.*?)^```$", SECTIONS[section], re.MULTILINE | re.DOTALL)


def named_files(section: str) -> dict[str, str]:
    """What each snippet of the section is, by the file that its first line names."""
    files = {}
    for snippet in snippets(section):
        first, _, rest = snippet.partition("\n")
        name = first.removeprefix("# ")
        assert name not in files
        files[name] = rest
    return files


def contents(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


class Copy:
    """A copy of the repository in which some sections were followed."""

    def __init__(self, folder: Path, *sections: str) -> None:
        self.folder, self.results = folder / "copy", folder / "results"
        for name in COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, self.folder / name)
            else:
                (self.folder / name).parent.mkdir(parents=True)
                shutil.copy(ROOT / name, self.folder / name)
        self.before = contents(self.folder)
        for section in sections:
            for name, text in named_files(section).items():
                path = self.folder / name
                path.write_text(f"{path.read_text()}\n\n{text}" if path.is_file() else text)

    def touched(self) -> set[str]:
        """The files that are new or changed, whoever wrote them."""
        return {name for name, content in contents(self.folder).items() if self.before.get(name) != content}

    def python(self, *arguments: str) -> str:
        """What a fresh process prints whose first folder to import from is the copy."""
        cache = {"XDG_CACHE_HOME": str(self.folder.parent / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
        environment = {**os.environ, **cache, "PYTHONPATH": str(self.folder)}
        command = [sys.executable, *arguments]
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def run_py(self, *overrides: str) -> str:
        settings = ("K=50", "runs=2", "runtime.workers=1", f"runtime.results={self.results}")
        return self.python("experiments/run.py", *settings, *overrides)

    def drawn(self, name: str) -> bool:
        figures = [self.results / "figures" / f"{name}.{kind}" for kind in ("png", "pdf")]
        return all(figure.stat().st_size > 5_000 for figure in figures)


# --- what is executed ----------------------------------------------------------------------------------------


def test_every_snippet_is_executed_somewhere_below():
    assert set(SECTIONS) == {"Without changing the package", *FILES, "Before you commit"}
    assert {section: set(named_files(section)) for section in FILES} == FILES
    assert snippets("Without changing the package") == snippets("Before you commit") == []
    assert TEXT.count("\n```") == 2 * (len(re.findall(r"^```(?:python|yaml)$", TEXT, re.MULTILINE)) + 1)


# --- without changing the package ----------------------------------------------------------------------------


def test_a_privatizer_of_ones_own():
    """The file of the package without its last line; test_engines compiles it."""
    river = dp.riverswim(S=3, H=4)
    (call,) = re.findall(r"`(dp\.run\(.*Fresh.*\))`", SECTIONS["Without changing the package"])
    assert eval(call, {"dp": dp, "Fresh": Fresh, "river": river}).certificate == dp.Certificate("JDP", 100, 200)


# --- in the package ------------------------------------------------------------------------------------------

TWINS = """
    import sys
    import numpy as np
    import dpucbvi as dp
    from dpucbvi.agents.mbie import MBIE
    from dpucbvi.privatizers.fresh import Fresh

    assert dp.__file__.startswith(sys.argv[1])
    river = dp.riverswim(S=3, H=4, rewards="bernoulli")
    for agent in (MBIE(bonus_scale=0.02), MBIE(bonus_scale=0.02, pooled=True)):
        setting = (river, agent, Fresh(epsilon=3e6))
        plain, compiled = (dp.run(*setting, K=40, seed=3, engine=engine) for engine in ("reference", "fast"))
        assert plain.policy_changes[-1] > 3, "a run that never changes its policy compares nothing"
        for name in ("Q", "N_sa", "policy_changes", "fallbacks"):
            np.testing.assert_array_equal(getattr(plain, name), getattr(compiled, name))
        np.testing.assert_allclose(plain.regret, compiled.regret, rtol=0, atol=1e-9)
        assert plain.certificate == compiled.certificate == dp.Certificate("JDP", 3e6, 6e6)
"""


@pytest.mark.slow  # it compiles a twin that no cache has: 20 s
def test_an_agent_and_a_privatizer_run_on_both_engines_and_by_name(tmp_path):
    copy = Copy(tmp_path, "An agent", "A privatizer")
    copy.python("-c", textwrap.dedent(TWINS), str(copy.folder))
    told = copy.run_py("agent=mbie", "privatizer=fresh", "privatizer.epsilon=7", "env.S=3", "env.H=4")
    assert told.startswith("single: 2 runs computed")
    assert re.search(r"^mbie .* JDP +0 +7 +14$", told, re.MULTILINE)
    assert copy.drawn("single")
    assert copy.touched() == FILES["An agent"] | FILES["A privatizer"]


def test_an_environment_is_one_function_and_an_experiment_two_files(tmp_path):
    copy = Copy(tmp_path, "An environment", "An experiment")
    told = copy.run_py("+exp=states", "env=lock", "env.S=3", "engine=reference")
    name, _, rest = told.partition(": ")
    assert re.fullmatch(r"states-[0-9a-f]{6}", name) and rest.startswith("4 runs computed")  # it was changed
    assert re.search(r"^jdp_eps100 .* JDP +0 +100 +200$", told, re.MULTILINE)
    assert copy.drawn(name)
    runs = dp.load(copy.results / f"{name}.npz")["ucbvi"]
    assert runs.runs[0].about["config"]["env"] == {"name": "lock", "S": 3, "H": 6, "rewards": "deterministic"}
    assert copy.touched() == FILES["An environment"] | FILES["An experiment"]
