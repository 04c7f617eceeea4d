"""experiments/verify.py: what is computed afresh is compared bit for bit with what ships."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from dpucbvi.lab.assemble import assemble
from dpucbvi.lab.settings import canonical, run_settings
from dpucbvi.lab.shipped import Shipped
from dpucbvi.lab.store import StoredArm, StoredExperiment, StoredRun, identity
from dpucbvi.simulate import run_setup
from dpucbvi.trace import Trace

ROOT = Path(__file__).resolve().parents[3]
spec = importlib.util.spec_from_file_location("cli_verify", ROOT / "experiments" / "verify.py")
verify = importlib.util.module_from_spec(spec)
sys.modules["cli_verify"] = verify  # joblib's processes look the tasks up there
spec.loader.exec_module(verify)


def test_the_share_fills_the_time_and_cuts_only_the_long_runs():
    took = np.array([1.0, 2.0, 30.0, 50.0])
    assert verify.share(took, 100.0) == 50.0
    assert verify.share(took, 23.0) == pytest.approx(10.0)
    assert verify.share(took, 4.0) == pytest.approx(1.0)


def made(seed: int, K: int = 60) -> StoredRun:
    """A run of the reference engine, as the store would have it."""
    tree = {
        "env": {"name": "riverswim", "S": 3, "H": 3},
        "agent": {"name": "dp_ucbvi", "pooled": False},
        "privatizer": {"name": "central", "epsilon": 10.0},
        "engine": {"name": "reference"},
        "K": K,
        "trace_points": 20,
    }
    settings = canonical(run_settings(tree))
    setup = assemble(settings)
    trace = run_setup(setup, seed, "reference")
    facts = {"seconds": 1.0, "E": trace.E, "noise_scale": trace.noise_scale, "checks": {}}
    certificate = {**trace.certificate._asdict()}
    return StoredRun(identity(settings, setup.mdp, seed), {**facts, "certificate": certificate}, trace)


def press(monkeypatch, capsys, folder: Path, *arguments: str):
    monkeypatch.setattr(sys, "argv", ["verify.py", "--workers", "1", "--paper", str(folder), *arguments])
    with pytest.raises(SystemExit) as stopped:
        verify.main()
    return stopped.value.code, *capsys.readouterr()


def ship(folder: Path, *runs: StoredRun) -> None:
    arms = [StoredArm(f"arm{i}", f"arm{i}", {}, "A", None, None, [run]) for i, run in enumerate(runs)]
    Shipped(folder / "results").ship(StoredExperiment("mine", "regret", {}, arms), 10, False, "s")


def test_a_line_for_every_arm_and_exit_code_1_if_one_differs(monkeypatch, capsys, tmp_path):
    good = made(0)
    off = np.nextafter(good.trace.regret[-1], np.inf)  # the last bit of the last number
    wrong = good.trace._replace(regret=np.append(good.trace.regret[:-1], off))
    ship(tmp_path / "good", good, made(1))
    code, out, err = press(monkeypatch, capsys, tmp_path / "good")
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines()]
    assert rows[:3] == [
        ["arm", "episodes", "of", "equal"],
        *(["mine/arm0", "60", "60", "yes"], ["mine/arm1", "60", "60", "yes"]),
    ]
    assert rows[-1][:3] == ["2", "of", "2"]
    ship(tmp_path / "wrong", good._replace(trace=wrong))
    code, out, _ = press(monkeypatch, capsys, tmp_path / "wrong")
    assert code == 1 and "regret after episode 60: " in out and "0 of 1 runs are equal" in out


def test_only_what_was_computed_is_compared():
    stored, fresh = (made(0).trace for _ in range(2))
    cut = fresh._replace(regret=np.where(fresh.episodes <= 30, fresh.regret, np.nan))
    assert isinstance(stored, Trace) and verify.differing(stored, cut, 30) == ""
    assert verify.differing(stored, cut, 60).startswith("regret after episode ")


def test_nothing_shipped_is_said(monkeypatch, capsys, tmp_path):
    code, out, err = press(monkeypatch, capsys, tmp_path)
    assert (code, out) == (1, "") and err.startswith("error: nothing has shipped: ")
    ship(tmp_path, made(0))
    code, _, err = press(monkeypatch, capsys, tmp_path, "yours")
    assert (code, err.count("\n")) == (1, 1) and err.startswith("error: yours: has not shipped")
