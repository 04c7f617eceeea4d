"""experiments/verify.py: a run computed afresh is compared with the stored one, to the bit or to rounding."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpucbvi.simulate import run_setup
from experiments import verify
from experiments.lab.assemble import assemble
from experiments.lab.settings import canonical, run_settings
from experiments.lab.shipped import Shipped
from experiments.lab.store import StoredArm, StoredExperiment, StoredRun, identity


def made(seed: int, K: int = 60, **env: Any) -> StoredRun:
    """A run of the reference engine, as the store would have it."""
    tree = {
        "env": env or {"name": "riverswim", "S": 3, "H": 3},
        "agent": {"name": "dp_ucbvi", "pooled": False},
        "privatizer": {"name": "central", "epsilon": 10.0},
        "engine": {"name": "reference"},
        "K": K,
        "trace_points": 20,
    }
    settings = canonical(run_settings(tree))
    setup = assemble(settings)
    trace = run_setup(setup, seed, "reference")
    return StoredRun(identity(settings, setup.mdp, seed), {"seconds": 1.0}, trace)


@pytest.fixture
def press(cli):
    return lambda folder, *arguments: cli("--workers", "1", "--paper", str(folder), *arguments, script="verify")


def ship(folder: Path, *runs: StoredRun, name: str = "mine") -> Path:
    arms = [StoredArm(f"arm{i}", f"arm{i}", {}, "A", None, None, [run]) for i, run in enumerate(runs)]
    return Shipped(folder / "results").ship(StoredExperiment(name, "regret", arms), 10, False)


def with_last_regret(run: StoredRun, regret: float) -> StoredRun:
    return run._replace(trace=run.trace._replace(regret=np.append(run.trace.regret[:-1], regret)))


def test_a_line_for_every_arm_and_exit_code_1_if_one_differs(press, tmp_path):
    good, other = made(0), made(1)
    ulp = np.nextafter(other.trace.regret[-1], np.inf)  # the last bit of the last number
    ship(tmp_path / "good", good, with_last_regret(other, ulp))
    code, out, err = press(tmp_path / "good")
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines()][1:]
    points = len(Shipped(tmp_path / "good" / "results").load_experiment("mine").arms[0].episodes)
    numbers = str(3 * points)  # regret, policy changes, fallbacks
    assert rows[0] == ["arm", "numbers", "grade", "left"]
    assert sorted(row[:3] for row in rows[1:3]) == [
        ["mine/arm0", numbers, "equal"],
        ["mine/arm1", numbers, "equal"],
    ]
    assert [row[-1] for row in rows[1:3]] == ["1", "0"] and max(map(len, out.splitlines())) <= 100
    assert "1 equal, 1 equal to rounding, 0 different" in out
    ship(tmp_path / "wrong", with_last_regret(good, good.trace.regret[-1] * (1 + 1e-9)))
    code, out, _ = press(tmp_path / "wrong")
    assert (
        code == 1 and "regret after episode 60: " in out and "0 equal, 0 equal to rounding, 1 different" in out
    )


def test_the_numbers_of_audits_are_graded_too():
    stored = {"hits": 3, "bound": 0.1}
    assert verify.grade_of(stored, {**stored}) == ("equal", "")
    assert verify.grade_of(stored, {**stored, "bound": 0.1 + 1e-16})[0] == "equal to rounding"
    assert verify.grade_of(stored, {**stored, "bound": 0.1001})[0] == "different"
    assert verify.grade_of(stored, {**stored, "hits": 4})[0] == "different"
    assert verify.grade_of(stored, {"hits": 3})[0] == "different"
    assert verify.grade_of({"hits": 3}, stored) == ("different", "bound: None ships, 0.1 computed")
    assert verify.leaves({"found": [{"bound": 0.5, "hits": 3}]}) == {"found 0 bound": 0.5, "found 0 hits": 3}


def test_a_compiled_run_is_computed_without_its_lps(monkeypatch):
    stored = made(0)
    tree = {**stored.config, "engine": {"name": "fast", "lp_checks": 200}}
    monkeypatch.setattr("dpucbvi.projection.CvxpyPostprocess.solve", None)
    numbers = 3 * len(stored.trace.episodes)
    assert verify.compare("a", stored._replace(config=tree)) == ("a", numbers, "equal", "")


def test_a_run_on_another_mdp_is_not_compared(tmp_path):
    """Even if its numbers agree."""
    path = tmp_path / "mdp.npz"
    np.savez(path, P=np.ones((2, 1, 2, 1)), r=np.full((2, 1, 2), 0.5), initial=np.ones(1))
    stored = made(0, name="file", path=str(path))
    assert verify.compare("a", stored).grade == "equal"
    stored.config["env"]["sha256"] = "0" * 64
    wrong = "env: the MDP is not the one that was run (another SHA-256)"
    assert verify.compare("a", stored) == ("a", 0, "different", wrong)


def test_nothing_shipped_is_said(press, tmp_path):
    code, out, err = press(tmp_path)
    assert (code, out) == (2, "") and err.startswith("error: no stored results: ")
    ship(tmp_path, made(0))
    code, out, _ = press(tmp_path, "mine/arm0")
    assert code == 0 and "1 run, " in out
    code, out, _ = press(tmp_path, "mine/arm9")
    assert code == 1 and "mine: no arm 'arm9' is stored" in out
    code, _, err = press(tmp_path, "yours")
    assert (code, err.count("\n")) == (2, 1) and err.startswith("error: yours: no stored results")


def test_what_is_wrong_with_one_is_told_and_the_rest_is_compared(press, tmp_path):
    good = made(0)
    config = {**good.config, "env": {"name": "riverswim", "S": 0, "H": 3}}  # no such river
    nowhere = {**good.config, "privatizer": {"name": "nowhere"}}
    ship(tmp_path, good)
    ship(tmp_path, good._replace(config=config), name="dry")
    ship(tmp_path, good._replace(config=nowhere), name="lost")
    file = ship(tmp_path, made(1), name="damaged")
    file.write_bytes(file.read_bytes() + b" ")
    code, out, err = press(tmp_path)
    assert (code, err) == (1, "")
    assert "damaged: " in out and "the checksum differs" in " ".join(out.split())
    assert "dry" in out and "lost" in out
    assert "4 runs, " in out and "1 equal, 0 equal to rounding, 3 different" in out
