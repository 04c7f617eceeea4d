"""Every module has one name, wherever a process is started: experiments/ is a package that is never installed.

Processes here are started from another folder, by a Python that has the locked packages and not the project, as
after `conda env create -f environment.yml`.
"""

import os
import re
import subprocess
import sysconfig
import venv
from pathlib import Path

import pytest

import dpucbvi

ROOT = Path(__file__).resolve().parents[2]
SMALL = ("K=5", "runs=2", "env.S=3", "env.H=3", "engine=reference", "runtime.workers=2")
WITHOUT = ("PYTHONPATH", "PYTHONSAFEPATH", "PYTHONHOME")
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in WITHOUT}


@pytest.fixture(scope="module")
def python(tmp_path_factory) -> Path:
    """A venv that sees the packages here; a folder that a .pth names has its own .pth files ignored."""
    folder = tmp_path_factory.mktemp("uninstalled")
    venv.create(folder, symlinks=True)
    paths = {"base": str(folder), "platbase": str(folder)}
    packages = Path(sysconfig.get_path("purelib", "venv", vars=paths))
    (packages / "locked.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return folder / "bin" / "python"


def ended(command: list, cwd: Path, **more: str) -> subprocess.CompletedProcess:
    environment = {**ENVIRONMENT, **more}
    return subprocess.run(list(map(str, command)), cwd=cwd, env=environment, capture_output=True, text=True)


@pytest.mark.slow  # three processes that import all
def test_run_py_and_its_workers(python, tmp_path):
    """With two workers of loky; -X importtime names every module that the first process imports."""
    settings = (*SMALL, f"runtime.results={tmp_path}")
    done = ended([python, "-X", "importtime", ROOT / "experiments" / "run.py", *settings], tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith("single: 2 runs computed") and (tmp_path / "figures" / "single.pdf").is_file()
    imported = re.findall(r"^import time:.*\| +(\S+)$", done.stderr, re.MULTILINE)
    assert imported.count("experiments.lab.store") == imported.count("dpucbvi.simulate") == 1
    assert not {"lab", "studies", "run", "paper"} & {name.split(".")[0] for name in imported}


@pytest.mark.slow
def test_the_types_of_the_door_are_there_for_others(python, tmp_path):
    """--strict takes a name for offered only if the door says so; py.typed says that types are meant."""
    names = [name for name in dpucbvi.__all__ if name != "load"]
    (tmp_path / "mine.py").write_text("import dpucbvi as dp\n\n" + "".join(f"dp.{name}\n" for name in names))
    flags = ("--strict", "--follow-imports=silent", "--ignore-missing-imports")
    done = ended([python, "-m", "mypy", *flags, "mine.py"], tmp_path, MYPYPATH=str(ROOT))
    assert done.returncode == 0, done.stdout
    assert (ROOT / "dpucbvi" / "py.typed").is_file()
