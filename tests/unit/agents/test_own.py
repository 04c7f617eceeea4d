"""An agent of one's own: a function from counts to a plan, or a generator like Algorithm 1."""

import numpy as np
import pytest

import dpucbvi as dp
from dpucbvi.simulate import episodes, set_up

RIVER = dp.riverswim(4, 5)


def swim(counts):
    """Always right; values as good as none."""
    return dp.Plan(np.ones((5, 4), dtype=np.int64), np.zeros((5, 4, 2)), np.zeros((6, 4)))


def test_a_planner_is_called_with_the_counts_of_every_episode():
    given = []
    agent = dp.planner(lambda counts: given.append(counts) or swim(counts))
    run = list(episodes(set_up(RIVER, agent, dp.NonPrivate(), 12), seed=1))
    assert [episode.k for episode in run] == list(range(1, 13)) and len(given) == 12
    visits = np.zeros((5, 4, 2))
    for episode, counts in zip(run, given, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(episode.counts, counts, strict=True))
        assert np.array_equal(counts.N_sa, visits)  # those of all users before
        assert (episode.trajectory.a == 1).all()
        visits[np.arange(5), episode.trajectory.s[:-1], episode.trajectory.a] += 1


@pytest.mark.parametrize(("raw", "postprocess"), [(True, "none"), (False, "closed_form")])
@pytest.mark.parametrize(("pooled", "G"), [(True, 1), (False, 5)])
def test_a_planner_says_which_counts_it_reads(raw, postprocess, pooled, G):
    setup = set_up(RIVER, dp.planner(swim, raw=raw, pooled=pooled), dp.Central(1.0), 6)
    assert (setup.postprocess, setup.G) == (postprocess, G)
    *_, last = episodes(setup, seed=0)
    assert last.counts.G == G
    assert (last.counts.N_sas.min() < 0) == raw  # noisy counts of unvisited states are negative somewhere


def test_a_generator_of_ones_own_is_sent_what_its_plans_met():
    sent = []

    def algorithm(problem, private):
        for _ in range(problem.K):
            sent.append((yield swim(private.counts)))
            private.update(sent[-1])

    setup = set_up(RIVER, algorithm, dp.Local(1.0), 8)
    met = [episode.trajectory for episode in episodes(setup, seed=2)]
    assert len(met) == 8 and len(sent) == 7  # nobody plans on what the last user met
    for one, other in zip(met, sent, strict=False):
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_a_policy_of_probabilities_is_drawn_from():
    """Half left, half right, at 20 · 5 steps: all actions alike would have probability 2 · 2^-100."""
    half = dp.Plan(np.full((5, 4, 2), 0.5), np.zeros((5, 4, 2)), np.zeros((6, 4)))
    run = dp.run(RIVER, dp.planner(lambda counts: half), K=20)
    assert run.N_sa[..., 0].sum() > 0 and run.N_sa[..., 1].sum() > 0
    loss = dp.optimal_values(RIVER)[0][0, 0] - dp.policy_values(RIVER, half.pi)[0, 0]
    assert run.regret == pytest.approx(loss * np.arange(1, 21))
    assert (run.policy_changes == 0).all()
