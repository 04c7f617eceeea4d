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


def sends(reads):
    """A generator function that keeps what it is sent, and where it keeps it."""
    sent = []

    def algorithm(problem, private):
        for _ in range(problem.K):
            sent.append((yield swim(private.counts)))
            private.update(sent[-1])

    algorithm.reads_trajectories = reads
    return algorithm, sent


def test_a_generator_of_ones_own_is_sent_users_without_data():
    algorithm, sent = sends(reads=False)
    setup = set_up(RIVER, algorithm, dp.Local(1.0), 8)
    met = list(episodes(setup, seed=2))
    assert len(met) == 8 and [user.k for user in sent] == list(range(1, 8))  # nobody plans on the last user
    assert all(list(vars(user)) == ["k"] for user in sent)
    assert setup.certificate.model == "LDP"


def test_one_that_reads_trajectories_is_sent_them_and_certifies_nothing():
    algorithm, sent = sends(reads=True)
    setup = set_up(RIVER, algorithm, dp.Local(1.0), 8)
    met = [episode.trajectory for episode in episodes(setup, seed=2)]
    assert len(met) == 8 and len(sent) == 7
    for one, other in zip(met, sent, strict=False):
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    assert str(setup.certificate) == "none: the agent reads trajectories"
    assert setup.certificate.model == "none" and np.isinf(setup.certificate.replace_one)


def test_a_policy_that_is_the_last_users_states_cannot_be_made():
    """What the certificate would have called ε = 1."""

    def leaking(problem, private):
        user = yield swim(private.counts)
        while True:
            private.update(user)
            pi = np.repeat(user.s[:5, None] % 2, 4, axis=1)
            user = yield dp.Plan(pi, np.zeros((5, 4, 2)), np.zeros((6, 4)))

    with pytest.raises(AttributeError, match="no s that an agent may read; one that sets reads_trajectories"):
        dp.run(RIVER, leaking, dp.Central(1.0), K=10)


@pytest.mark.parametrize("what", ["again", "earlier", "a trajectory"])
def test_a_user_is_counted_once(what):
    def greedy(problem, private):
        first = yield swim(private.counts)
        private.update(first)
        second = yield swim(private.counts)
        if what == "again":
            private.update(second)
        private.update(
            {"again": second, "earlier": first, "a trajectory": (np.zeros(6), np.zeros(5), np.ones(5))}[what]
        )

    with pytest.raises(dp.InputError, match="update takes the user of this episode, and takes her once"):
        dp.run(RIVER, greedy, dp.Batches(1.0), K=10)


def test_a_policy_of_probabilities_is_drawn_from():
    """Half left, half right, at 20 · 5 steps: all actions alike would have probability 2 · 2^-100."""
    half = dp.Plan(np.full((5, 4, 2), 0.5), np.zeros((5, 4, 2)), np.zeros((6, 4)))
    run = dp.run(RIVER, dp.planner(lambda counts: half), K=20)
    assert run.N_sa[..., 0].sum() > 0 and run.N_sa[..., 1].sum() > 0
    loss = dp.optimal_values(RIVER)[0][0, 0] - dp.policy_values(RIVER, half.pi)[0, 0]
    assert run.regret == pytest.approx(loss * np.arange(1, 21))
    assert (run.policy_changes == 0).all()
