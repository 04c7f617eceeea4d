"""dp.calibrate: every point is run, the least is chosen, and the choice can be saved and used."""

import numpy as np
import pytest
from omegaconf import OmegaConf

import dpucbvi as dp
from dpucbvi.lab.assemble import assemble
from dpucbvi.lab.settings import run_settings

RIVER = dp.riverswim(S=3, H=4)
SMALL = {"K": 25, "seed": (5, 6), "engine": "reference"}


@pytest.fixture(scope="module")
def found():
    return dp.calibrate(
        RIVER, dp.DPUCBVI(), dp.Central(epsilon=50), bonus=(1e-4, 1e-2, 1.0), confidence=(1e-3, 1.0), **SMALL
    )


def test_every_point_is_its_mean_regret(found):
    assert set(found.found.objective) == {(b, c) for b in (1e-4, 1e-2, 1.0) for c in (1e-3, 1.0)}
    for (bonus, confidence), regret in found.found.objective.items():
        private = dp.Central(epsilon=50, confidence_scale=confidence)
        again = dp.run(RIVER, dp.DPUCBVI(bonus_scale=bonus), private, **SMALL)
        assert regret == pytest.approx(np.mean(again.regret[:, -1]))


def test_the_least_is_chosen(found):
    bonus, confidence = found.found.choice
    assert found.found.objective[bonus, confidence] == min(found.found.objective.values())
    assert found.agent == dp.DPUCBVI(bonus_scale=bonus)
    assert found.privatizer == dp.Central(epsilon=50, confidence_scale=confidence)
    assert found.to_frame().regret.min() == found.found.objective[bonus, confidence]


def test_it_says_how_sensitive_the_choice_is(found):
    told = str(found)
    assert told.startswith(f"bonus × {found.found.choice[0]:g}, E × {found.found.choice[1]:g}: mean regret")
    assert "over 2 runs; a step beside it the regret is × " in told
    assert found.at_edge and told.endswith("at the edge of the grid: a better factor may lie outside")


def test_without_noise_there_is_one_factor():
    made = dp.calibrate(RIVER, dp.UCBVI(), bonus=(0.01, 0.1, 1.0), **SMALL)
    assert set(made.found.objective) == {(0.01,), (0.1,), (1.0,)}
    assert made.privatizer == dp.NonPrivate()
    assert list(made.to_frame()) == ["bonus_factor", "regret"]


@pytest.mark.parametrize(
    ("agent", "privatizer"),
    [
        (dp.DPUCBVI(pooled=True, cap="steps_left"), dp.Batches(epsilon=3.0)),
        (dp.PrivateUCBVI(), dp.Local(epsilon=20.0)),
        (dp.UCBVI(), dp.NonPrivate()),
    ],
)
def test_what_is_saved_is_the_same_run(agent, privatizer, tmp_path):
    made = dp.calibrate(RIVER, agent, privatizer, bonus=(0.125,), confidence=(0.5,), **SMALL)
    tree = OmegaConf.to_container(OmegaConf.load(made.save(tmp_path / "mine.yaml")))
    assert tree.pop("label") == "mine"
    setup = assemble(run_settings({**tree, "env": {"name": "riverswim", "S": 3, "H": 4}, "K": 25}))
    assert (setup.agent, setup.privatizer) == (made.agent, made.privatizer)
    assert made.agent.bonus_scale == 0.125


def test_bad_input_is_one_line(found):
    with pytest.raises(dp.InputError, match=r"^agent: OwnAgent has no bonus_scale"):
        dp.calibrate(RIVER, dp.planner(lambda counts: None), dp.Central(epsilon=1), K=5)
    with pytest.raises(dp.InputError, match=r"^bonus, confidence: an empty list"):
        dp.calibrate(RIVER, dp.UCBVI(), K=5, bonus=())
