"""task=certify on the experiment that has everything: honest releases of every kind, and broken ones."""

from pathlib import Path

import pytest

from experiments.lab.compose import composed, config_of
from experiments.lab.experiment import certified, experiment_from
from experiments.lab.mistakes import BROKEN
from experiments.studies import names


@pytest.fixture(scope="module")
def rows():
    header, *rows = certified(experiment_from(composed("audit"), Path("/nowhere"), names()))
    return {row[0]: dict(zip(header, row, strict=True)) for row in rows}


COVERED = {
    (): "proven",
    ("confidence.scale=0.5",): "not proven",
    ("postprocess=clip",): "not proven",
    ("postprocess=cvxpy", "engine=reference"): "proven",
    ("privatizer=batches",): "not proven",
    ("agent=private_ucb_vi", "postprocess=none"): "-",
}


@pytest.mark.parametrize(("overrides", "said"), COVERED.items(), ids=map(" ".join, COVERED))
def test_assumption_3_1_is_proven_for_what_the_lp_makes_and_for_nothing_else(overrides, said):
    _, row = certified(experiment_from(config_of(overrides), Path("/nowhere"), names()))
    assert row[-1] == said


def test_what_is_broken_on_purpose_certifies_nothing(rows):
    """It pretends to be the privatizer it was made from, but not here."""
    for name in BROKEN:
        row = rows[name]
        assert (row["privacy"], row["ε (replaced)"]) == ("none", "∞")
        assert row["Assumption 3.1"] == "broken on purpose"
