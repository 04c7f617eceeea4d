"""A fast run goes on from its checkpoint as if it had never stopped; one that other code wrote is not used."""

import os

import numpy as np
import pytest

import dpucbvi as dp
from dpucbvi.engine import fast
from dpucbvi.engine.state import EPISODE
from dpucbvi.privatizers import PRIVATIZERS
from dpucbvi.simulate import set_up

SEED = 5
GROWING = {"first": 6, "growth": 1.2}  # batches that end before the run is stopped, and after
ANSWERS = {**GROWING, "epsilon": 30.0}
PARAMETERS = {"batches": GROWING, **dict.fromkeys(("one_question", "one_step", "local_windows"), ANSWERS)}
PRIVATIZER = {
    name: PRIVATIZERS[name](**{"epsilon": 200.0, **PARAMETERS.get(name, {})})
    for name in PRIVATIZERS
    if name != "non_private"
} | {"non_private": dp.NonPrivate(), "square_root": dp.Toeplitz(200.0, factorisation="square_root")}


def setup_with(privatizer="central"):
    mdp = dp.riverswim(4, 6, rewards="bernoulli")
    return set_up(mdp, dp.DPUCBVI(0.003), PRIVATIZER[privatizer], 60, lp_checks=20)


def assert_same(one, other):
    for name in ("episodes", "regret", "policy_changes", "fallbacks", "N_sa", "Q"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.checks == other.checks


@pytest.mark.parametrize("privatizer", list(PRIVATIZER))
def test_a_run_goes_on_from_its_checkpoint(privatizer, tmp_path, monkeypatch):
    """Stopped after a chunk and started again, a run ends as if it had never stopped."""
    setup = setup_with(privatizer)
    whole = fast.run_fast(setup, SEED)
    monkeypatch.setattr(fast, "CHUNK_MOST", 7)
    monkeypatch.setattr(fast, "CHECKPOINT_SECONDS", 0.0)
    path, seen = tmp_path / "checkpoint.npz", []

    def stop_midway(done):
        seen.append(done)
        if sum(seen) > 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fast.run_fast(setup, SEED, progress=stop_midway, checkpoint=path)
    assert path.is_file()
    told = []
    resumed = fast.run_fast(setup, SEED, progress=told.append, checkpoint=path)
    assert told[0] > 0 and sum(told) == setup.problem.K
    assert_same(whole, resumed)


def halfway(setup, path):
    """A run that stopped after a chunk, saved at this path."""
    half = fast.start(setup, SEED)
    next(fast.run_chunks(half, SEED))
    fast.save_checkpoint(half, path, fast.origin_of(setup, SEED))
    assert 0 < half.memory.tally[EPISODE] < setup.problem.K
    return half


def truncated(setup, path, monkeypatch):
    halfway(setup, path)
    path.write_bytes(path.read_bytes()[:500])


def empty(setup, path, monkeypatch):
    path.write_bytes(b"")


def without_origin(setup, path, monkeypatch):
    np.savez(path, **halfway(setup, path).arrays())


def of_other_code(setup, path, monkeypatch):
    with monkeypatch.context() as before:
        before.setattr(fast, "code", lambda: "0" * 16)
        halfway(setup, path)


def of_another_seed(setup, path, monkeypatch):
    fast.save_checkpoint(halfway(setup, path), path, fast.origin_of(setup, SEED + 1))


def without_an_array(setup, path, monkeypatch):
    arrays = halfway(setup, path).arrays()
    arrays.pop("memory.tally")
    np.savez(path, origin=np.array(fast.origin_of(setup, SEED)), **arrays)


def edited(setup, path, monkeypatch):
    """One more visit, and a zip that is in order."""
    halfway(setup, path)
    arrays = dict(np.load(path))
    arrays["memory.N_visits"][0, 0, 0] += 1
    np.savez(path, **arrays)


def a_link(setup, path, monkeypatch):
    path.symlink_to(path.with_name("nowhere"))


@pytest.mark.parametrize(
    "write",
    [truncated, empty, without_origin, of_another_seed, of_other_code, without_an_array, edited, a_link],
)
def test_a_checkpoint_that_cannot_be_trusted_is_not_used(write, tmp_path, monkeypatch):
    setup, path = setup_with(), tmp_path / "checkpoint.npz"
    write(setup, path, monkeypatch)
    assert fast.resume(fast.start(setup, SEED), path, fast.origin_of(setup, SEED)) is None
    told = []
    assert_same(fast.run_fast(setup, SEED), fast.run_fast(setup, SEED, progress=told.append, checkpoint=path))
    assert sum(told) == setup.problem.K and (told[0] == 0 or not path.exists())


FORGED = {  # what is written, with the right checksum, and what it would be in a run
    "an episode beyond K": ("memory.tally", lambda x: x + 10**6 * np.eye(1, 6, dtype=int)[0]),
    "a negative episode": ("memory.tally", lambda x: x - 100 * np.eye(1, 6, dtype=int)[0]),
    "changes without end": ("memory.tally", lambda x: x + 10**9 * np.eye(1, 6, 1, dtype=int)[0]),
    "an action that there is not": ("memory.pi", lambda x: x + 10**6),
    "a negative action": ("memory.pi", lambda x: x - 5),
    "regret below 0": ("memory.total", lambda x: x - 940.0),
    "more regret than there is": ("memory.total", lambda x: x + 1e9),
    "a record that falls": ("record.regret", lambda x: x - 1.0),
    "NaN": ("state.sum", lambda x: x * np.nan),
    "infinite noise": ("state.mechanism.cumulative", lambda x: x + np.inf),
    "visits of nobody": ("memory.N_visits", lambda x: x + 0.5),
    "a sample beyond its room": ("sample.filled", lambda x: x + 10**9),
    "seconds before it began": ("seconds", lambda x: x - 1e9),
    "values that are none": ("memory.V_pi", lambda x: x - 99.0),
}


@pytest.mark.parametrize("forged", FORGED)
def test_a_checkpoint_that_is_made_up_with_its_checksum_is_not_used(forged, tmp_path):
    """Whatever it holds, the run ends as if there were none."""
    setup, path, (name, change) = setup_with(), tmp_path / "checkpoint.npz", FORGED[forged]
    half = halfway(setup, path)
    half.arrays()[name][...] = change(half.arrays()[name])
    fast.save_checkpoint(half, path, fast.origin_of(setup, SEED))
    assert fast.resume(fast.start(setup, SEED), path, fast.origin_of(setup, SEED)) is None
    assert_same(fast.run_fast(setup, SEED), fast.run_fast(setup, SEED, checkpoint=path))


INDICES = (
    "t",
    "digits",
    "closed",
    "released",
    "ends",
    "cells",
    "seen",
    "last_pi",
    "s",
    "a",
    "place",
    "episodes",
)


@pytest.mark.parametrize("privatizer", list(PRIVATIZER))
def test_a_checkpoint_holds_no_index_and_nothing_that_the_settings_give(privatizer):
    saved = fast.start(setup_with(privatizer), SEED).arrays()
    assert not [name for name in saved if name.rpartition(".")[2] in (*INDICES, "scale", "ceiling", "moments")]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_checkpoint_of_another_user_is_not_opened(tmp_path):
    setup, path = setup_with(), tmp_path / "checkpoint.npz"
    halfway(setup, path)
    assert fast.resume(fast.start(setup, SEED), path, fast.origin_of(setup, SEED)) is not None
    os.chown(path, 65534, 65534)
    assert fast.resume(fast.start(setup, SEED), path, fast.origin_of(setup, SEED)) is None


def test_a_checkpoint_holds_the_hash_of_the_code_and_all_that_changes(tmp_path):
    setup, path = setup_with(), tmp_path / "checkpoint.npz"
    half = halfway(setup, path)
    with np.load(path) as saved:
        assert str(saved["origin"]) == fast.origin_of(setup, SEED)
        assert set(saved) == {"origin", "sha256", *half.arrays()}
    again = fast.resume(fast.start(setup, SEED), path, fast.origin_of(setup, SEED))
    for name, array in half.arrays().items():
        np.testing.assert_array_equal(again.arrays()[name], array)
    assert list(tmp_path.iterdir()) == [path]  # and nothing half written beside it
    assert path.stat().st_mode & 0o777 == 0o600
