"""Run the tests of a study on the study as it is and on each of its mutants: python run_mutants.py STUDY.

Prints pytest's exit codes as JSON: 0 if all tests passed, 1 if one failed. All that is slow to import and never
changed is imported once. Every mutant has a forked process of its own, in which the one module is compiled from
its changed source when it is first imported.
"""

import json
import os
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType

import matplotlib.backends.backend_agg
import matplotlib.backends.backend_pdf
import PIL.Image
import pytest
import scipy.optimize
import seaborn
from mutants import FILES, MUTANTS, Mutant

import experiments.lab.assemble
import experiments.lab.store

TESTS = Path(__file__).resolve().parents[1] / "unit" / "studies"
NEVER_CHANGED = (matplotlib, scipy, seaborn, PIL, experiments.lab)


class Mutated(SourceFileLoader):
    """Compiles the changed source; what Python has cached is the original."""

    mutant: Mutant

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        source = self.get_data(path).decode()
        return self.source_to_code(source.replace(self.mutant.original, self.mutant.replacement), path)


class Finder(MetaPathFinder):
    """Finds the one module that is changed."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(self, name: str, path=None, target=None) -> ModuleSpec | None:
        if name != self.mutant.name:
            return None
        spec = PathFinder.find_spec(name, path)
        spec.loader = Mutated(name, spec.origin)
        spec.loader.mutant = self.mutant
        return spec


def outcome(study: str, mutant: Mutant | None = None) -> int:
    """The exit code of the study's tests, run in a process of their own."""
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    code = 99
    try:
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        if mutant is not None:
            sys.meta_path.insert(0, Finder(mutant))
            if mutant.name in sys.modules:  # of the library: all of ours is imported again
                for name in [name for name in sys.modules if name.split(".")[0] in ("dpucbvi", "experiments")]:
                    del sys.modules[name]
        files = [str(TESTS / name) for name in FILES.get(study, (f"test_{study}.py",))]
        code = int(pytest.main(["-x", "-p", "no:cacheprovider", *files]))
    finally:
        os._exit(code)


if __name__ == "__main__":
    assert not [name for name in sys.modules if name.startswith("experiments.studies")]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # the plugins of other packages are slow to load
    study = sys.argv[1]
    codes = {"as it is": outcome(study), **{mutant.what: outcome(study, mutant) for mutant in MUTANTS[study]}}
    print(json.dumps(codes))
