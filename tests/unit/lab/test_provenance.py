"""Which code a result is said to come from."""

import subprocess

import dpucbvi
from dpucbvi.sources import code
from experiments.lab import store as module
from experiments.lab.store import ROOT, provenance


def test_provenance_says_code_packages_and_machine():
    told = provenance()
    assert told["code"] == code()
    assert set(told["versions"]) >= {"python", "numpy", "scipy", "numba", "cvxpy"}
    assert told["versions"]["dpucbvi"] == dpucbvi.__version__
    assert set(told["platform"]) == {"system", "machine"}
    if (ROOT / ".git").exists():
        head = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, text=True)
        assert told["commit"] == head.stdout.strip() and told["dirty"] in (True, False)
    else:
        assert told["commit"] is None and told["dirty"] is None


def test_outside_a_checkout_there_is_no_commit(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "ROOT", tmp_path)
    told = provenance()
    assert told["commit"] is None and told["dirty"] is None and told["code"] == code()
