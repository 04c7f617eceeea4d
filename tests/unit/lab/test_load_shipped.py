"""dp.load reads the results that ship as it reads those of one's own."""

from pathlib import Path

import pytest

import dpucbvi as dp
from experiments.lab.shipped import Shipped

RESULTS = Path(__file__).resolve().parents[3] / "paper" / "results"


def test_what_has_shipped_is_loaded_by_its_name():
    name = min(Shipped(RESULTS).experiments())
    loaded = dp.load(name, RESULTS)
    assert len(loaded.to_frame()) > 0
    with pytest.raises(dp.InputError, match="load: no experiment 'nowhere' in "):
        dp.load("nowhere", RESULTS)
