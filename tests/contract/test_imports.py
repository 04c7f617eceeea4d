"""Who may import whom, read off the sources: nobody imports from a room to the right of its own.

    core  <-  engine  <-  simulate  <-  tools  <-  audit   ||   lab  <-  studies  <-  scripts

Left of the wall stands the library, dpucbvi/: numpy, scipy and numba, and nothing of experiments/. core is any
module directly in dpucbvi/ that is no room of its own, with agents/, mechanisms/, privacy/ and
privatizers/. tools are plot, certify, calibrate, session/, and drawing/, which needs matplotlib: the
library imports it inside functions only, as it does other packages that can be missing. dpucbvi/__init__.py is
the door: it may import core, simulate, tools and audit, and to import the door is to import tools.

Two things look like exceptions and are none. What stands under `if TYPE_CHECKING` is read by type checkers and
never run. And simulate.py imports the engine inside functions because compiling is slow; the engine is on its
left all the same.
"""

import ast
import json
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted([*(ROOT / "dpucbvi").rglob("*.py"), *(ROOT / "experiments").rglob("*.py")])

ROOMS = ["core", "engine", "simulate", "tools", "audit", "lab", "studies", "scripts"]
FOLDERS = {
    "dpucbvi.agents": "core",
    "dpucbvi.mechanisms": "core",
    "dpucbvi.privacy": "core",
    "dpucbvi.privatizers": "core",
    "dpucbvi.engine": "engine",
    "dpucbvi.simulate": "simulate",
    "dpucbvi.calibrate": "tools",
    "dpucbvi.certify": "tools",
    "dpucbvi.drawing": "tools",
    "dpucbvi.plot": "tools",
    "dpucbvi.session": "tools",
    "dpucbvi.audit": "audit",
    "experiments.lab": "lab",
    "experiments.studies": "studies",
}

# Packages of others, by room or module. Those in ON_DEMAND stand inside a function: in the library because they
# can be missing, elsewhere because they are slow to import.
SCIENCE = {"numpy", "scipy"}
LAB = SCIENCE | {"hydra", "omegaconf", "yaml", "joblib"}
STUDIES = SCIENCE | {"matplotlib", "seaborn", "yaml"}
NOTEBOOKS = {"nbformat", "jupytext", "nbclient"}
PACKAGES = {
    "door": set(),
    "core": SCIENCE,
    "engine": SCIENCE | {"numba", "llvmlite"},
    "simulate": SCIENCE,
    "tools": SCIENCE,
    "audit": SCIENCE,
    "lab": LAB,
    "studies": STUDIES,
    "scripts": LAB | STUDIES | {"numba", "llvmlite", "cvxpy", "pandas", "PIL"} | NOTEBOOKS,
}
DRAWING = "dpucbvi.drawing"
ON_DEMAND = {
    "tools": {"pandas"},
    "lab": {"cvxpy", "pandas", "distributed"},
    "dpucbvi.trace": {"pandas"},
    "dpucbvi.archive": {"pandas"},
    "dpucbvi.projection": {"cvxpy"},
    "dpucbvi.gymnasium": {"gymnasium"},
    "experiments.studies": {"PIL"},
}


class Import(NamedTuple):
    """One imported name, dotted; `on_demand`: inside a function."""

    name: str
    line: int
    on_demand: bool


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in FILES}


def room_of(module: str) -> str:
    """The room of a module of this repository; one that has no room is a mistake."""
    top, *inner = module.split(".")
    if not inner:
        return {"dpucbvi": "door", "experiments": "scripts"}[top]
    first = f"{top}.{inner[0]}"
    if first in FOLDERS:
        return FOLDERS[first]
    assert (ROOT / top / f"{inner[0]}.py").is_file(), f"{module}: {top}/{inner[0]} is no room of the floor plan"
    return {"dpucbvi": "core", "experiments": "scripts"}[top]


def imports(source: str) -> list[Import]:
    """Everything that the source imports, wherever it stands, but for what only type checkers read."""
    found: list[Import] = []

    def visit(node: ast.AST, on_demand: bool) -> None:
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            for other in node.orelse:
                visit(other, on_demand)
            return
        for name in named(node):
            found.append(Import(name, node.lineno, on_demand))
        inside = on_demand or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    visit(ast.parse(source), False)
    return found


def named(node: ast.AST) -> list[str]:
    """The dotted names that a statement imports; `from a import b` is a.b if that is a module, else a.

    A relative import keeps its dots.
    """
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        origin = "." * node.level + (node.module or "")
        whole = [f"{origin}.{alias.name}" for alias in node.names]
        return [name if name in MODULES else origin for name in whole]
    if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("import_module", "__import__"):
        return [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
    return []


def offences(source: str, module: str) -> list[str]:
    """What the source imports and its room may not."""
    room, wrong = room_of(module), []
    drawing = module.startswith(DRAWING)
    here = PACKAGES[room] | ({"matplotlib"} if drawing else set())
    late = ON_DEMAND.get(room, set()) | ON_DEMAND.get(module, set())
    for name, line, on_demand in imports(source):
        top = name.split(".")[0]
        if top in ("dpucbvi", "experiments"):
            if not may_import(room, room_of(name)):
                wrong.append(f"{module}:{line}: {room} imports {room_of(name)} ({name})")
            if name.startswith(DRAWING) and module.startswith("dpucbvi") and not (drawing or on_demand):
                wrong.append(f"{module}:{line}: {name} is imported outside a function")
        elif top not in sys.stdlib_module_names and top not in here:
            if top not in late:
                wrong.append(f"{module}:{line}: {room} imports {top or name}")
            elif not on_demand:
                wrong.append(f"{module}:{line}: {top} is imported outside a function")
    return wrong


def may_import(room: str, other: str) -> bool:
    if room == "door":
        return other in ("core", "simulate", "tools", "audit")
    return ROOMS.index("tools" if other == "door" else other) <= ROOMS.index(room)


def test_every_module_imports_only_from_the_left():
    assert len(MODULES) > 100
    found = (offences(path.read_text(), name) for name, path in MODULES.items())
    assert [one for wrong in found for one in wrong] == []


# --- the rule itself: what it must catch, and what it must let pass ------------------------------------------

WRONG = {  # one for every rule, and for every way to write an import
    ("dpucbvi.mdp", "from dpucbvi.engine.fast import start"): "core imports engine",
    ("dpucbvi.bonus", "from dpucbvi import simulate"): "core imports simulate",
    ("dpucbvi.privatizers.local", "from dpucbvi import Central"): "core imports door",
    ("dpucbvi.agents", "from ..engine import fast"): "core imports ..engine",  # whatever it is
    ("dpucbvi.errors", "import_module('experiments.lab.store')"): "core imports lab",
    ("dpucbvi.counts", "if TYPE_CHECKING:\n    pass\nelse:\n    import numba"): "core imports numba",
    ("dpucbvi.counts", "try:\n    import numba\nexcept ImportError:\n    pass"): "core imports numba",
    ("dpucbvi.mdp", "def f():\n    import gymnasium"): "core imports gymnasium",
    ("dpucbvi.projection", "import cvxpy as cp"): "cvxpy is imported outside a function",
    ("dpucbvi.plot", "from dpucbvi.drawing.style import QUIET"): "drawing.style is imported outside a function",
    ("dpucbvi.simulate", "def f():\n    import dpucbvi.audit.replay"): "simulate imports audit",
    ("dpucbvi", "from dpucbvi.engine.fast import run_fast"): "door imports engine",
    ("experiments.lab.runner", "from experiments.studies import draw"): "lab imports studies",
    ("experiments.studies.regret", "import experiments.run"): "studies imports scripts",
}


@pytest.mark.parametrize(("module", "source"), WRONG)
def test_a_wrong_import_is_noticed(module, source):
    (offence,) = offences(source, module)
    assert WRONG[module, source] in offence


def test_a_new_folder_needs_a_room():
    for module in ("dpucbvi.utilities.strings", "experiments.utilities.strings"):
        with pytest.raises(AssertionError, match="no room of the floor plan"):
            room_of(module)


# --- what a small run imports, in processes of its own: a start is as slow as what it imports -----------------

SMALL_RUN = """
import json, runpy, sys
runpy.run_path(sys.argv[0], run_name="__main__")
here = list(sys.modules)
from functools import partial
from experiments.lab.workers import processes
asked = partial(eval, "__import__('time').sleep(1) or list(__import__('sys').modules)")  # so each takes one
print(json.dumps([here, *processes([asked, asked], 2)]))
"""


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """The modules of the process that was started, and those of its workers after their runs.

    Started from another folder, by a Python that has the locked packages and not the project, as after
    `conda env create -f environment.yml`; it ignores the .pth files of a folder that a .pth names.
    """
    folder, uninstalled = tmp_path_factory.mktemp("small_run"), tmp_path_factory.mktemp("uninstalled")
    venv.create(uninstalled, symlinks=True)
    paths = {"base": str(uninstalled), "platbase": str(uninstalled)}
    packages = Path(sysconfig.get_path("purelib", "venv", vars=paths))
    (packages / "locked.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    settings = ["K=20", "runs=2", "runtime.workers=2", f"runtime.results={folder}"]
    arguments = [str(ROOT / "experiments" / "run.py"), *settings]
    without = ("PYTHONPATH", "PYTHONSAFEPATH", "PYTHONHOME")
    done = subprocess.run(
        [uninstalled / "bin" / "python", "-c", f"import sys; sys.argv = {arguments}\n{SMALL_RUN}"],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name not in without},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert (folder / "figures" / "single.pdf").exists()
    here, *workers = json.loads(done.stdout.splitlines()[-1])
    return set(here), [set(worker) for worker in workers]


@pytest.mark.slow  # a run with two workers
def test_every_module_has_one_name(imported):
    """experiments/ is a package that is never installed, and its folder no place to import from."""
    here, workers = imported
    for modules in (here, *workers):
        assert modules & {"lab", "studies", "run", "paper", "experiments.run"} == set()


@pytest.mark.slow
def test_a_small_run_imports_nothing_that_it_does_not_use(imported):
    """seaborn draws the calibration alone, and brings pandas and scipy.stats; cvxpy is for its workers."""
    here, _ = imported
    assert {"matplotlib", "hydra", "experiments.studies.regret"} <= here
    unused = {"seaborn", "pandas", "scipy.stats", "cvxpy", "experiments.studies.calibrate", "matplotlib.pyplot"}
    assert here & unused == set()


@pytest.mark.slow
def test_a_worker_imports_what_runs_and_not_what_asks_or_draws(imported):
    _, workers = imported
    ran = [modules for modules in workers if "experiments.lab.runner" in modules]
    assert ran  # one on a busy machine, where it takes both runs before the other has started
    for modules in ran:
        assert {"cvxpy", "dpucbvi.engine.fast"} <= modules
    for modules in workers:
        assert modules & {"matplotlib", "seaborn", "pandas", "hydra", "experiments.studies"} == set()
