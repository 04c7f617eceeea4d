"""The least K at which a Q can leave its start, against runs that are watched until one does."""

import numpy as np
import pytest

import dpucbvi as dp
from dpucbvi.least_episodes import least_episodes
from dpucbvi.simulate import set_up
from dpucbvi.trace import has_left_start

# One pair and no reward: every episode is the most favourable one.
ONE_PAIR = dp.TabularMDP(P=np.ones((2, 1, 1, 1)), r=np.zeros((2, 1, 1)), initial=np.ones(1))
K = 3000


def first_to_leave(mdp, agent, privatizer, seed=0):
    """The first episode whose plan has a Q that has left its start."""
    left = []

    def watch(k, plan, counts):
        if not left and has_left_start(plan.Q):
            left.append(k)

    dp.run(mdp, agent, privatizer, K=K, seed=seed, watch=watch, lp_checks=0)
    return left[0] if left else None


EXACT = [
    dp.UCBVI(),
    dp.UCBVI(0.1, pooled=True),
    dp.UCBVICH(0.1),
    dp.UCBVIRefined(0.3),
    dp.PrivateUCBVI(),
    dp.PrivateUCBPO(),
    dp.PUCB(0.5),
    dp.DPNashVI(0.1),
    dp.DPUCBVI(0.5),
    dp.DPUCBVI(0.5, cap="steps_left"),
]


@pytest.mark.parametrize("agent", EXACT, ids=lambda agent: type(agent).__name__)
def test_without_noise_a_run_on_one_pair_takes_just_so_long(agent):
    least = least_episodes(set_up(ONE_PAIR, agent, dp.NonPrivate(), K))
    assert least is not None and least > 1 and first_to_leave(ONE_PAIR, agent, dp.NonPrivate()) == least


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("privatizer", [dp.Central(50.0), dp.Central(5.0, confidence_scale=0.1)])
def test_with_noise_no_run_is_faster_and_none_much_slower(privatizer, pooled):
    """The bound fails with probability β/3 in each of 5 runs: 0.08 at most, and the seeds are fixed."""
    agent = dp.DPUCBVI(0.05, pooled=pooled)
    least = least_episodes(set_up(ONE_PAIR, agent, privatizer, K))
    left = [first_to_leave(ONE_PAIR, agent, privatizer, seed) for seed in range(5)]
    assert least is not None and all(least <= k < 1.5 * least + 2 for k in left)


def test_on_other_mdps_it_is_a_lower_bound():
    river = dp.riverswim(S=3, H=4)
    least = least_episodes(set_up(river, dp.UCBVI(), dp.NonPrivate(), K))
    assert 1 < least <= first_to_leave(river, dp.UCBVI(), dp.NonPrivate())


def test_of_what_it_cannot_tell_it_says_nothing():
    river = dp.riverswim(S=3, H=4)
    still = dp.planner(lambda counts: dp.Plan(np.zeros((4, 3), int), np.zeros((4, 3, 2)), np.zeros((5, 3))))
    private = dp.Central(epsilon=1)
    for setup in (
        set_up(river, still, private, K),
        set_up(river, dp.DPUCBVI(bonus=lambda *_: 1.0), private, K),
        set_up(river, dp.PUCB(), private, K),
        set_up(river, dp.DPUCBVI(), private, K, postprocess="clip"),
        set_up(river, dp.DPUCBVI(), dp.Central(epsilon=1, confidence_scale=0), K),
    ):
        assert least_episodes(setup) is None
