"""What dp.calibrate found, saved as a file of conf/arm/: an experiment that names it makes the same run."""

import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

import dpucbvi as dp
from dpucbvi.simulate import run_setup
from experiments.lab.assemble import assemble
from experiments.lab.compose import CONF
from experiments.lab.config_store import offer_environments
from experiments.lab.experiment import experiment_from
from experiments.lab.settings import run_settings
from experiments.studies.calibrate.save import save_arm

RIVER = dp.riverswim(S=3, H=4)
SMALL = {"K": 25, "seed": (5, 6), "engine": "reference"}
OTHERS = ("beta=0.07", "confidence=printed", "bonus.without=reward", "postprocess.known_rewards=true")


def by_name(path, *overrides):
    """The run that Hydra composes of a saved arm, on the river."""
    offer_environments(CONF)
    river = ("env.S=3", "env.H=4", "K=25", f"+arm@arms.{path.stem}={path.stem}")
    (path.parent / "arm").mkdir(exist_ok=True)
    path.rename(path.parent / "arm" / path.name)
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = compose("config", [f"hydra.searchpath=[file://{path.parent}]", *river, *overrides])
    (arm,) = experiment_from(config, path.parent, ["regret"]).arms
    return arm


@pytest.mark.parametrize(
    ("agent", "privatizer", "settings"),
    [
        (dp.DPUCBVI(pooled=True, cap="steps_left"), dp.Batches(epsilon=3.0), {}),
        (dp.PrivateUCBVI(), dp.Local(epsilon=20.0), {}),
        (dp.UCBVI(), dp.NonPrivate(), {}),
        (dp.DPUCBVI(), dp.Central(epsilon=200.0), {"beta": 0.3}),
        (dp.UCBVI(), dp.NonPrivate(), {"beta": np.float64(0.3)}),
        (dp.DPUCBVI(), dp.Central(epsilon=200.0, printed_constant=0.25), {}),
        (dp.DPUCBVI(bonus_without="privacy"), dp.Local(epsilon=200.0, printed_constant=2.0), {"beta": 0.2}),
        (dp.DPUCBVI(minimum=False), dp.Toeplitz(np.float64(90.0), every=np.int64(2)), {"postprocess": "clip"}),
    ],
)
def test_what_is_saved_is_the_same_run(agent, privatizer, settings, tmp_path):
    """Also where the experiment that names the arm has other settings."""
    grid = {"bonus": np.array([0.001]), "confidence": np.array([0.125])}
    made = dp.calibrate(RIVER, agent, privatizer, **grid, **SMALL, **settings)
    arm = by_name(save_arm(made, tmp_path / "mine.yaml"), *OTHERS)
    assert (arm.label, arm.setup.agent, arm.setup.privatizer) == ("mine", made.agent, made.privatizer)
    assert made.agent.bonus_scale == 0.001
    want = dp.run(RIVER, made.agent, made.privatizer, K=25, seed=5, engine="reference", **settings)
    got = run_setup(arm.setup, 5, "reference")
    np.testing.assert_array_equal(got.regret, want.regret)
    np.testing.assert_array_equal(got.Q, want.Q)


def test_an_arm_cannot_have_a_bonus_of_ones_own(tmp_path):
    own = dp.DPUCBVI(bonus=lambda N, P, V_next, gap_next, c: 1.0 / N)
    made = dp.calibrate(RIVER, own, dp.Central(50.0), bonus=(0.1,), confidence=(0.5,), **SMALL)
    with pytest.raises(dp.InputError, match=r"^save: a bonus of your own has no name in conf/"):
        save_arm(made, tmp_path / "mine.yaml")
    assert list(tmp_path.iterdir()) == []


def test_saving_keeps_how_the_counts_were_made_and_replaces_no_file(tmp_path):
    """Settings of the runs that would make another run if they were left out."""
    kept = {"known_support": True, "zero": 1.0, "known_rewards": True}
    river = dp.riverswim(S=5, H=4)
    made = dp.calibrate(river, dp.DPUCBVI(), dp.Central(50.0), bonus=(0.1,), confidence=(0.5,), **SMALL, **kept)
    path = save_arm(made, tmp_path / "mine.yaml")
    tree = OmegaConf.to_container(OmegaConf.load(path))
    assert tree["postprocess"] == {"name": "closed_form", **kept}
    tree.pop("label")
    setup = assemble(run_settings({**tree, "env": {"name": "riverswim", "S": 5, "H": 4}, "K": 25}))
    assert (setup.problem.D, setup.zero, setup.known_rewards) == (3, 1.0, True)
    before = path.read_text()
    with pytest.raises(dp.InputError, match=r"^save: .*mine\.yaml exists"):
        save_arm(made, path)
    assert path.read_text() == before
    own = made._replace(settings={"known_support": np.ones((5, 2, 5), dtype=bool)})
    with pytest.raises(dp.InputError, match=r"^save: a post-processing or support of your own"):
        save_arm(own, tmp_path / "other.yaml")
