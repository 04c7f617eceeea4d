"""experiments/verify.py: a run computed afresh is compared with the stored one, to the bit or to rounding."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpucbvi.simulate import run_setup
from dpucbvi.trace import Trace
from experiments import verify
from experiments.lab.assemble import assemble
from experiments.lab.settings import canonical, run_settings
from experiments.lab.shipped import Shipped
from experiments.lab.store import StoredArm, StoredExperiment, StoredRun, identity


def made_up(seconds: float, episodes: list[int], engine: str = "fast", K: int = 50_000) -> StoredRun:
    """A run that was never made: how long it took, and where it is stored."""
    trace = Trace(np.array(episodes), *[None] * 9)
    return StoredRun({"K": K, "engine": {"name": engine}}, {"seconds": seconds}, trace)


def test_a_run_goes_as_far_as_its_share_and_ends_at_a_stored_episode():
    early, late = [1, 10, 100, 1_000, 10_000, 50_000], [1, 24_873, 25_008, 50_000]
    runs = [made_up(1.0, early), made_up(100.0, early), made_up(100.0, late)]
    assert verify.reaches(runs, 1_000.0) == [50_000, 50_000, 50_000]
    assert verify.reaches(runs, 121.0) == [50_000, 10_000, 25_008]  # 60 seconds each: 30,000 episodes
    assert verify.reaches(runs, 5.0) == [50_000, 1_000, 1]  # 2 seconds each: 1,000 episodes
    assert verify.reaches(runs, 0.0) == [0, 0, 0]
    assert verify.reaches([], 1.0) == []


def test_what_has_no_parts_is_run_if_it_takes_an_eighth_of_the_time():
    audits = [made_up(seconds, [4], "audit", K=4) for seconds in (124.0, 126.0)]
    assert verify.reaches([*audits, made_up(2.0, [1, 2, 3], "reference", K=3)], 1_000.0) == [4, 0, 3]
    long = made_up(2_000.0, [1, 10, 100, 50_000])  # what the audit takes is not given to others: 876 s
    assert verify.reaches([audits[0], long, long], 1_000.0) == [4, 100, 100]


def test_what_has_no_parts_is_paid_for_by_those_that_have():
    """40 seconds are left for 100 runs; the plan was once 11.8 minutes long where 10 were given."""
    audits, runs = [made_up(10.0, [4], "audit", K=4)] * 6, [made_up(10.0, [*range(0, 101, 2)], K=100)] * 100
    assert verify.reaches([*audits, *runs], 100.0 + 0.1) == [4] * 5 + [0] + [4] * 100  # half a second each
    assert verify.reaches([*audits[:1], *runs], 1_010.0) == [4] + [100] * 100


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


def press(monkeypatch, capsys, folder: Path, *arguments: str):
    monkeypatch.setattr(sys, "argv", ["verify.py", "--workers", "1", "--paper", str(folder), *arguments])
    with pytest.raises(SystemExit) as stopped:
        verify.main()
    return stopped.value.code, *capsys.readouterr()


def ship(folder: Path, *runs: StoredRun, name: str = "mine") -> Path:
    arms = [StoredArm(f"arm{i}", f"arm{i}", {}, "A", None, None, [run]) for i, run in enumerate(runs)]
    return Shipped(folder / "results").ship(StoredExperiment(name, "regret", {}, arms), 10, False)


def with_last_regret(run: StoredRun, regret: float) -> StoredRun:
    return run._replace(trace=run.trace._replace(regret=np.append(run.trace.regret[:-1], regret)))


def test_a_line_for_every_arm_and_exit_code_1_if_one_differs(monkeypatch, capsys, tmp_path):
    good, other = made(0), made(1)
    ulp = np.nextafter(other.trace.regret[-1], np.inf)  # the last bit of the last number
    ship(tmp_path / "good", good, with_last_regret(other, ulp))
    code, out, err = press(monkeypatch, capsys, tmp_path / "good")
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines()][1:]
    points = len(Shipped(tmp_path / "good" / "results").load_experiment("mine").arms[0].episodes)
    numbers = str(3 * points)  # regret, policy changes, fallbacks
    assert rows[0] == ["arm", "compared", "to", "of", "numbers", "grade", "left"]
    assert sorted(row[:5] for row in rows[1:3]) == [
        ["mine/arm0", "60", "60", numbers, "equal"],
        ["mine/arm1", "60", "60", numbers, "equal"],
    ]
    assert [row[-1] for row in rows[1:3]] == ["1", "0"] and max(map(len, out.splitlines())) <= 100
    assert "1 equal, 1 equal to rounding, 0 different" in out
    ship(tmp_path / "wrong", with_last_regret(good, good.trace.regret[-1] * (1 + 1e-9)))
    code, out, _ = press(monkeypatch, capsys, tmp_path / "wrong")
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
    assert verify.leaves({"found": [{"bound": 0.5, "hits": 3}]}) == {"found 0 bound": 0.5, "found 0 hits": 3}


def test_a_compiled_run_is_computed_to_its_part_without_its_lps():
    stored = made(0)
    tree = {**stored.config, "engine": {"name": "fast", "lp_checks": 200}}
    fast = stored._replace(config=tree)
    at = int(stored.trace.episodes[5])
    assert verify.compare(verify.Task("a", fast, at)) == ("a", at, 60, 18, "equal", "")
    assert verify.compare(verify.Task("a", fast, 1))[3:] == (3, "not compared", "")
    assert verify.compare(verify.Task("a", fast, 0))[3:] == (0, "not compared", "")


def test_nothing_shipped_is_said(monkeypatch, capsys, tmp_path):
    code, out, err = press(monkeypatch, capsys, tmp_path)
    assert (code, out) == (2, "") and err.startswith("error: no stored results: ")
    ship(tmp_path, made(0))
    code, out, _ = press(monkeypatch, capsys, tmp_path, "mine/arm0")
    assert code == 0 and "1 run, " in out
    code, out, _ = press(monkeypatch, capsys, tmp_path, "mine/arm9")
    assert code == 1 and "mine: no arm 'arm9' is stored" in out
    code, _, err = press(monkeypatch, capsys, tmp_path, "yours")
    assert (code, err.count("\n")) == (2, 1) and err.startswith("error: yours: no stored results")


def test_what_is_wrong_with_one_is_told_and_the_rest_is_compared(monkeypatch, capsys, tmp_path):
    good = made(0)
    config = {**good.config, "env": {"name": "riverswim", "S": 0, "H": 3}}  # no such river
    nowhere = {**good.config, "privatizer": {"name": "nowhere"}}
    ship(tmp_path, good)
    ship(tmp_path, good._replace(config=config), name="dry")
    ship(tmp_path, good._replace(config=nowhere), name="lost")
    file = ship(tmp_path, made(1), name="damaged")
    file.write_bytes(file.read_bytes() + b" ")
    code, out, err = press(monkeypatch, capsys, tmp_path)
    assert (code, err) == (1, "")
    assert "damaged: " in out and "the checksum differs" in " ".join(out.split())
    assert "dry" in out and "lost" in out
    assert "4 runs, " in out and "1 equal, 0 equal to rounding, 3 different" in out
