"""What all agents have in common: plans and updates in turn, pooled counts, widths, and what they refuse."""

import numpy as np
import pytest
from users import true_counts

import dpucbvi as dp
from dpucbvi.agents import AGENTS
from dpucbvi.agents.ldp_obi import ldp_obi_constants
from dpucbvi.agents.private_ucb_po import private_ucb_po_constants
from dpucbvi.agents.private_ucb_vi import printed_widths, private_ucb_vi_constants
from dpucbvi.agents.pucb import printed_width
from dpucbvi.counts import PrivateCounts, zero_counts
from dpucbvi.mdp import Trajectory
from dpucbvi.mechanisms.binary import levels
from dpucbvi.projection import no_postprocess
from dpucbvi.simulate import set_up

HAND = dp.Problem(2, 2, 2, 5, 0.1)
TRUTH = dp.Noise(scale=0.0, E=0.0, terms=5)
RIVER = dp.riverswim()
USERS = [
    Trajectory(np.array(s), np.array(a), np.array(r, dtype=float))
    for s, a, r in [
        ((0, 1, 0), (0, 0), (0.5, 0.0)),
        ((0, 1, 1), (0, 1), (0.5, 0.25)),
        ((0, 1, 0), (1, 1), (0.0, 1.0)),
        ((0, 0, 0), (0, 0), (0.5, 0.0)),
    ]
]


def non_private(H=2, S=2, A=2, G=None):
    """The true counts of the users that are fed."""
    G = G or H
    return PrivateCounts(true_counts(H, S, A, G), no_postprocess, 0.0, G, S, A, H=H)


def plans(algorithm, trajectories):
    return [next(algorithm)] + [algorithm.send(trajectory) for trajectory in trajectories]


@pytest.mark.parametrize("name", list(AGENTS))
def test_an_agent_makes_k_plans_and_updates_between_them(name):
    updates, private = [], non_private()
    update = private.update
    private.update = lambda trajectory: updates.append(trajectory) or update(trajectory)
    agent = AGENTS[name]()
    algorithm = agent.algorithm(HAND, private, agent.constants(HAND, TRUTH))
    assert len(plans(algorithm, USERS)) == 5
    assert updates == USERS
    with pytest.raises(StopIteration):
        algorithm.send(USERS[0])


class Repeated(PrivateCounts):
    """Pooled counts, handed out as if they were those of both steps."""

    def update(self, trajectory):
        one = super().update(trajectory)
        return dp.Counts(*(np.repeat(family, 2, axis=0) for family in one))


@pytest.mark.parametrize("name", list(AGENTS))
def test_pooled_counts_serve_every_step(name):
    """G = 1 against G = 2 with the pooled table at both steps: the same plans, unlike with counts apart."""
    agent = AGENTS[name](bonus_scale=0.001)
    constants = agent.constants(HAND, TRUTH._replace(E=4.0))
    repeated = Repeated(true_counts(2, 2, 2, 1), no_postprocess, 0.0, 1, 2, 2, H=2)
    pooled, again, apart = (
        plans(agent.algorithm(HAND, private, constants), USERS)
        for private in (non_private(G=1), repeated, non_private(G=2))
    )
    assert all(np.array_equal(one.Q, other.Q) for one, other in zip(pooled, again, strict=True))
    assert not np.array_equal(pooled[-1].Q, apart[-1].Q)
    assert zero_counts(1, 2, 2).N_sa.shape == (1, 2, 2)


def test_proven_widths_are_a_quarter_of_e():
    central, local = dp.Central(1.0, confidence_scale=0.1), dp.Local(1.0, confidence_scale=0.1)
    made = set_up(RIVER, dp.PUCB(), central, 1000)
    assert made.constants.E == made.noise.E / 4
    made = set_up(RIVER, dp.PrivateUCBPO(), central, 1000)
    assert made.constants == private_ucb_po_constants(made.problem, made.noise.E / 4, made.noise.E / 4)
    made = set_up(RIVER, dp.PrivateUCBVI(), local, 1000)
    assert made.constants == private_ucb_vi_constants(made.problem, made.noise.E / 4, made.noise.E / 4)
    made = set_up(RIVER, dp.LDPOBI(), local, 1000)
    assert made.constants == ldp_obi_constants(made.problem, made.noise.E / 4, made.noise.E / 4)


@pytest.mark.parametrize("privatizer", [dp.KaryTree(1.0), dp.Central(1.0, families="tuned")])
@pytest.mark.parametrize("S", [2, 6])
def test_where_counts_are_sums_the_width_bounds_what_is_read_of_them(privatizer, S):
    """R̂ + N̂/2, of a centred sum and a row, is off by more than E/4 (the control), not by more than 5E/8."""
    made = set_up(dp.riverswim(S=S, H=4), dp.PrivateUCBVI(), privatizer, 1000)
    cell, row, reward = privatizer.bounds(made.problem, 4, privatizer.scales(made.problem))
    widest = max(cell, row, reward + row / 2)
    assert made.noise.E / 4 < widest <= made.constants.E1 == 5 * made.noise.E / 8
    assert set_up(made.mdp, dp.PUCB(), privatizer, 1000).constants.E == made.constants.E1


def test_printed_widths_are_the_papers_times_constant_and_scale():
    printed = {"confidence_scale": 0.1, "printed_constant": 0.5}
    made = set_up(RIVER, dp.PUCB(), dp.Central(1.0, **printed), 1000)
    E = printed_width(made.problem, dp.Noise(600.0, E=0.0, terms=levels(1000)))
    assert made.constants.E == pytest.approx(0.05 * E)
    made = set_up(RIVER, dp.PrivateUCBPO(), dp.Local(1.0, **printed), 1000)
    E1, E2 = printed_widths(made.problem, dp.Noise(60.0, E=0.0, terms=1000))
    assert made.constants == pytest.approx(private_ucb_po_constants(made.problem, 0.05 * E1, 0.05 * E2))


# --- which agent goes with which privatizer -------------------------------------------------------------

NON_PRIVATE = dp.NonPrivate()


@pytest.mark.parametrize("privatizer", [NON_PRIVATE, dp.Central(1.0), dp.Local(1.0)], ids=lambda p: p.model)
@pytest.mark.parametrize("name", list(AGENTS))
def test_an_agent_takes_the_models_of_privacy_it_is_defined_for_and_no_other(name, privatizer):
    """Which these are, the rows of Table 1 say: tests/unit/studies/test_table1.py."""
    agent = AGENTS[name]()
    if privatizer.model in agent.models:
        assert set_up(RIVER, agent, privatizer, 10).certificate.model == privatizer.model
    else:
        with pytest.raises(dp.InputError, match=rf"^privatizer: \w+ takes none .*{privatizer.model}$"):
            set_up(RIVER, agent, privatizer, 10)
