"""From settings to a run: what the parts refuse is told in one line, by the name of the wrong setting."""

import pytest

from dpucbvi import InputError
from experiments.lab.assemble import assemble
from experiments.lab.settings import PostprocessSettings, RunSettings


def settings(agent, privatizer="central", postprocess="none", **more):
    return RunSettings(
        agent={"name": agent},
        privatizer={"name": privatizer, "epsilon": 1.0},
        postprocess=PostprocessSettings(postprocess),
        K=1000,
        **more,
    )


REFUSED = {
    "PUCB, LDP": (settings("pucb", "local"), "privatizer.name: PUCB takes none or JDP and Local is LDP"),
    "LDP-OBI, JDP": (settings("ldp_obi"), "privatizer.name: LDPOBI takes none or LDP and Central is JDP"),
    "PUCB, LP": (settings("pucb", "central", "closed_form"), "postprocess.name: PUCB uses the noisy counts"),
    "PO, LP": (settings("private_ucb_po", "local", "closed_form"), "postprocess.name: PrivateUCBPO uses"),
    "Nash, raw": (settings("dp_nash_vi"), "postprocess.name: DPNashVI takes closed_form, clip or cvxpy"),
    "seed": (settings("pucb", env={"name": "random", "seed": -1}), "env.seed: -1 is not accepted"),
    "one action": (settings("pucb", env={"name": "hard_tree", "A": 1}), "env.A: 1 is not accepted"),
    "no tree": (settings("pucb", env={"name": "hard_tree", "depth": 0}), "env.depth: 0 is not accepted"),
    "short": (settings("pucb", env={"name": "hard_tree", "H": 3}), "env.H: 3 is not accepted"),
}


@pytest.mark.parametrize(("config", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_run_is_refused(config, message):
    with pytest.raises(InputError) as error:
        assemble(config)
    assert str(error.value).startswith(message) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("postprocess", "key"),
    [
        (PostprocessSettings("cvxpy", solver=None), "solver"),
        (PostprocessSettings("cvxpy", solver="ABACUS"), "solver"),
        (PostprocessSettings("cvxpy", canonical=None), "canonical"),
    ],
)
def test_a_bad_lp_setting_is_refused_before_the_run(postprocess, key):
    with pytest.raises(InputError, match=rf"^postprocess\.{key}: "):
        assemble(RunSettings(postprocess=postprocess))
