"""Results that ship: the stored numbers at fewer episodes, and a manifest that notices a change."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

import dpucbvi as dp
from dpucbvi.archive import PER_EPISODE
from dpucbvi.errors import InputError
from dpucbvi.simulate import described
from dpucbvi.trace import Trace, recorded_episodes
from experiments.lab.assemble import assemble
from experiments.lab.settings import RunSettings, canonical
from experiments.lab.shipped import Shipped, kept_episodes
from experiments.lab.store import StoredArm, StoredExperiment, StoredRun, identity, stored_experiment


def run(seed: int, K: int = 1000, points: int = 300) -> StoredRun:
    settings = canonical(RunSettings(env={"name": "random", "S": 2, "A": 2, "H": 3}, K=K))
    setup, episodes, rng = assemble(settings), recorded_episodes(K, points), np.random.default_rng(seed)
    counts, regret = np.arange(len(episodes)), rng.random(len(episodes)).cumsum()
    visits, Q = np.full((3, 2, 2), K / 4), rng.random((3, 2, 2))
    noise, about = (setup.noise.scale, setup.noise.E), described(setup, seed)
    trace = Trace(
        episodes, regret, counts, 2 * counts, visits, Q, {"lp": 0}, setup.certificate, *noise, about=about
    )
    origin = {"code": "c0de", "commit": "abc", "dirty": False, "versions": {"numpy": "2"}, "platform": {}}
    return StoredRun(identity(settings, setup.mdp, seed), {**origin, "seconds": 1.5}, trace)


@pytest.fixture
def experiment() -> StoredExperiment:
    """Two arms of different length; they share a run, as arms of equal settings do."""
    arms = [
        StoredArm("a@K=1000", "a", {"K": 1000}, "A", "jdp_eps1", "b", [run(0), run(1)]),
        StoredArm("c", "c", {}, "C", None, None, [run(1), run(2, K=40)]),
    ]
    return StoredExperiment("mine", "regret", arms, ("K=1000",))


@pytest.mark.parametrize("state", [True, False])
def test_what_comes_back_is_what_has_shipped_at_the_kept_episodes(experiment, state, tmp_path):
    Shipped(tmp_path).ship(experiment, 50, state)
    back = Shipped(tmp_path).load_experiment("mine")
    assert back._replace(arms=[]) == experiment._replace(arms=[])
    for arm, stored in zip(back.arms, experiment.arms, strict=True):
        assert arm._replace(runs=[]) == stored._replace(runs=[])
        for ours, theirs in zip(arm.runs, stored.runs, strict=True):
            assert (ours.config, ours.provenance, ours.certificate) == (
                theirs.config,
                theirs.provenance,
                theirs.certificate,
            )
            keep = kept_episodes(theirs.trace.episodes, 50)
            for key in PER_EPISODE:
                assert np.array_equal(getattr(ours.trace, key), getattr(theirs.trace, key)[keep]), key
            for key in ("N_sa", "Q"):
                found, wanted = getattr(ours.trace, key), getattr(theirs.trace, key)
                assert (
                    np.array_equal(found, wanted)
                    if state
                    else found.shape == wanted.shape and np.isnan(found).all()
                )


def test_the_last_episode_and_those_around_the_half_are_kept():
    episodes = recorded_episodes(50_000, 2000)
    for points in (2, 50, 120):
        kept = episodes[kept_episodes(episodes, points)]
        assert len(kept) <= points + 7 and kept[0] == 1 and kept[-1] == 50_000
        half = np.searchsorted(episodes, 25_000)
        assert {episodes[half - 1], episodes[half]} <= set(kept)
        assert np.interp(25_000, kept, kept**2.0) == np.interp(25_000, episodes, episodes**2.0)
    assert np.array_equal(kept_episodes(episodes, 5000), np.arange(len(episodes)))


def test_what_is_not_what_was_written_is_refused(experiment, tmp_path):
    shipped = Shipped(tmp_path)
    file = shipped.ship(experiment, 50, False)
    with pytest.raises(InputError, match=r"yours: not .* stored"):
        shipped.load_experiment("yours")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(InputError, match="the checksum differs"):
        shipped.load_experiment("mine")


def test_settings_that_do_not_name_their_run_are_refused(experiment, tmp_path):
    shipped = Shipped(tmp_path)
    shipped.ship(experiment, 50, False)
    experiment.arms[1].runs[1].config["seed"] = 99
    shipped.ship(experiment, 50, False)
    shipped.load_experiment("mine")
    found = dp.load(shipped.file("mine"))
    found["c"][1].about["config"]["seed"] = 98
    with pytest.raises(InputError, match="not those that name it"):
        stored_experiment(found)


RESULTS = Path(__file__).resolve().parents[3] / "paper" / "results"


def test_the_manifest_is_of_the_files_that_ship():
    sums = {file.stem: hashlib.sha256(file.read_bytes()).hexdigest() for file in RESULTS.glob("*.npz")}
    assert {name: entry["sha256"] for name, entry in Shipped(RESULTS).manifest().items()} == sums


def test_every_run_that_ships_is_a_row_of_the_open_data():
    """With its id, every setting, what it certifies and its final regret; audits have a file of their own."""
    import pandas as pd

    results = Path(__file__).resolve().parents[3] / "paper" / "results"
    table = pd.read_csv(results / "runs.csv.gz", low_memory=False)
    manifest = Shipped(results).manifest()
    assert set(table.experiment) == set(manifest) - {"audit"}
    for name, entry in manifest.items():
        if name != "audit":
            assert table[table.experiment == name].run.nunique() == entry["runs"]
    groups = table.groupby(["experiment", "arm", "seed"])
    assert groups.run.nunique().max() == 1  # none mixes settings
    loaded = dp.load(results / "riverswim.npz")
    rows = table[(table.experiment == "riverswim") & (table.arm == "batches_jdp_eps1")].sort_values("seed")
    own = loaded["batches_jdp_eps1"]
    assert tuple(rows.seed) == own.seeds and list(rows.run) == loaded.about["arms"]["batches_jdp_eps1"]["runs"]
    np.testing.assert_allclose(rows.regret, own.regret[:, -1], rtol=1e-12)
    assert set(rows.epsilon_replace_one) == {own.certificate.replace_one} and set(rows.K) == {50_000}
    assert set(rows["privatizer.families"]) == {"tuned"}
    dictionary = (results / "runs.md").read_text(encoding="utf-8")
    assert [name for name in table if f"- `{name}`: " not in dictionary] == []
