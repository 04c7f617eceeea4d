"""Results as tables: what is stored is what is loaded, and comparisons are those of stats.py."""

import numpy as np
import pytest

import dpucbvi as dp
from dpucbvi.archive import CSV_EPISODES
from dpucbvi.stats import holm, paired
from experiments.lab.runner import run_experiment
from experiments.lab.store import Store, write_csv

RIVER = dp.riverswim(S=3, H=4)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """An experiment with a grid over the factor on the bonus, run and stored."""
    from omegaconf import OmegaConf

    from experiments.lab.experiment import experiment_from

    folder = tmp_path_factory.mktemp("results")
    tree = {
        "name": "grid",
        "env": {"name": "riverswim", "S": 3, "H": 4},
        "agent": {"name": "dp_ucbvi", "pooled": True},
        "privatizer": {"name": "central", "epsilon": 5.0},
        "engine": {"name": "reference"},
        "K": 120,
        "runs": 2,
        "seed": 7,
        "grid": {"bonus.scale": [0.01, 1.0]},
        "runtime": {"results": str(folder), "workers": 1, "progress": False},
    }
    run_experiment(experiment_from(OmegaConf.create(tree), folder, ["regret"]))
    return folder


def test_load_gives_the_runs_of_every_arm(stored):
    runs = dp.load(stored / "grid")
    assert list(runs) == ["dp_ucbvi@bonus.scale=0.01", "dp_ucbvi@bonus.scale=1.0"]
    arm = runs["dp_ucbvi@bonus.scale=0.01"]
    again = dp.run(
        RIVER,
        dp.DPUCBVI(bonus_scale=0.01, pooled=True),
        dp.Central(epsilon=5.0),
        K=120,
        seed=[7, 8],
        engine="reference",
    )
    assert arm.seeds == (7, 8) and arm.certificate == again.certificate
    np.testing.assert_array_equal(arm.regret, again.regret)


def test_the_table_has_all_that_tells_arms_apart(stored):
    runs = dp.load(stored / "grid")
    table = runs.to_frame()
    assert len(table) == 2 * 2 * 120
    assert {"arm", "run", "K", "seed", "episode", "regret", "epsilon_add_remove", "delta"} < set(table)
    last = table[table.episode == 120].set_index(["bonus.scale", "seed"])
    for scale, key in ((0.01, "dp_ucbvi@bonus.scale=0.01"), (1.0, "dp_ucbvi@bonus.scale=1.0")):
        assert last.loc[scale].regret.tolist() == runs[key].regret[:, -1].tolist()
    assert (table.bonus_factor == table["bonus.scale"]).all() and table.pooled.all()
    assert set(table.epsilon_replace_one) == {10.0} and set(table.privacy) == {"JDP"}


def test_the_csv_is_the_table_with_fewer_episodes(stored):
    import pandas as pd

    path = write_csv(Store(stored).load_experiment("grid"), stored)
    table, whole = pd.read_csv(path), dp.load(stored / "grid").to_frame()
    assert path == stored / "grid.csv" and list(table) == list(whole)
    assert len(table) == 2 * 2 * CSV_EPISODES
    assert set(table.episode) >= {1, 120}
    both = table.merge(whole, on=["bonus.scale", "seed", "episode"])
    assert len(both) == len(table)
    np.testing.assert_allclose(both.regret_x, both.regret_y, rtol=1e-12)


def runs(values, seeds=(0, 1, 2)):
    """Runs with these final regrets."""
    made = dp.run(RIVER, dp.UCBVI(), K=1, seed=range(len(seeds)), engine="reference")
    ended = [run._replace(regret=np.array([value])) for run, value in zip(made.runs, values, strict=True)]
    return dp.Runs(seeds, tuple(ended))


def test_compare_is_paired_over_seeds():
    a, b = [1.0, 2.0, 4.0], [2.0, 4.0, 5.0]
    found = dp.compare(runs(a), runs(b))
    assert found == paired(np.array(a), np.array(b)) and found.difference == pytest.approx(-4 / 3)
    assert str(found).startswith("a - b = -1.33 (95%: -2 to -1)") and "p = 0.25" in str(found)


def test_compare_of_several_corrects_for_it():
    arms = {"one": runs([1.0, 2.0, 4.0]), "two": runs([2.0, 4.0, 5.0]), "three": runs([9.0, 7.0, 8.0])}
    table = dp.compare(arms)
    assert list(zip(table.a, table.b, strict=True)) == [("one", "two"), ("one", "three"), ("two", "three")]
    assert table.holm.tolist() == holm(table.p.to_numpy()).tolist()
    assert table.improvement.tolist()[1:] == [1.0, 1.0]
