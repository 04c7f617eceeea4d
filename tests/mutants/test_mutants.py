"""A test of the tests: on every mutant of a study (mutants.py), the tests of that study fail."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from mutants import MUTANTS

from experiments.studies import names

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def test_every_study_has_mutants():
    assert set(MUTANTS) == set(names())
    for mutants in MUTANTS.values():
        assert len({mutant.what for mutant in mutants}) == len(mutants) >= 2


@pytest.mark.parametrize("study", MUTANTS)
def test_every_snippet_is_there_exactly_once(study):
    for mutant in MUTANTS[study]:
        path = ROOT.joinpath(*mutant.name.split(".")).with_suffix(".py")
        assert path.read_text().count(mutant.original) == 1, mutant
        assert mutant.replacement != mutant.original


@pytest.mark.slow
@pytest.mark.parametrize("study", MUTANTS)
def test_the_tests_see_every_mutant(study):
    command = [sys.executable, HERE / "run_mutants.py", study]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    codes = json.loads(done.stdout)
    assert codes.pop("as it is") == 0
    assert len(codes) == len(MUTANTS[study])
    assert {what: code for what, code in codes.items() if code != 1} == {}
