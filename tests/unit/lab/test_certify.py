"""--certify on the experiment that has everything: honest releases of every kind, and broken ones."""

from pathlib import Path

import pytest

from dpucbvi.audit.broken import BROKEN
from dpucbvi.lab.certify import HEADER, certified
from dpucbvi.lab.compose import composed
from dpucbvi.lab.experiment import experiment_from
from dpucbvi.studies import names


@pytest.fixture(scope="module")
def rows():
    header, *rows = certified(experiment_from(composed("audit"), Path("/nowhere"), names()))
    assert header == HEADER
    return {row[0]: dict(zip(header, row, strict=True)) for row in rows}


def test_every_epsilon_has_its_relation_and_its_delta(rows):
    assert [name for name in HEADER if name[0] in "εμρ" and not ("added" in name or "replaced" in name)] == []
    private = {key: row for key, row in rows.items() if row["privacy"] != "none"}
    assert len(private) > 25 and {row["δ"] for row in private.values()} == {"0", "1e-06"}
    for row in private.values():
        apart, replaced = float(row["ε (a user added or removed)"]), float(row["ε (replaced)"])
        assert 0 < apart <= replaced < 11


def test_what_is_broken_on_purpose_certifies_nothing(rows):
    """It pretends to be the privatizer it was made from, but not here."""
    for name in BROKEN:
        row = rows[name]
        assert (row["privacy"], row["ε (replaced)"]) == ("none", "∞")
        assert row["Assumption 3.1"] == "broken on purpose"
