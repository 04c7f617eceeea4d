"""UCBVI with bonus 1 (UCBVI-CH) and bonus 2 (UCBVI-BF): numbers worked out by hand, and their formulas."""

import math

import numpy as np
import pytest

import dpucbvi as dp
from dpucbvi.agents.plans import next_gaps
from dpucbvi.agents.ucbvi import count_terms, next_gap, variance_term
from dpucbvi.simulate import episodes, set_up


def bonus(N, P, V, gap, constants):
    """Bonus 2 of one pair, from P̂ and the V and min{...} of the next step."""
    terms = variance_term(N, P @ (V - P @ V) ** 2, constants), *count_terms(constants, N, P @ gap)
    return constants.scale * sum(terms)


def constants_of(agent, problem):
    return agent.constants(problem, dp.Noise(scale=0.0, E=0.0))


def gaps_after(counts, constants):
    gap = np.zeros(2)
    next_gaps(next_gap, constants, counts.N_sa[1].ravel(), gap)
    return gap.tolist()


# 5SAT = 5·2·2·10 = 200, so L = ln(200/β) = 6.
UCBVI_HAND = dp.Problem(2, 2, 2, K=5, beta=200 * math.exp(-6))


def test_the_minimum_of_bonus_2():
    constants = constants_of(dp.UCBVI(), UCBVI_HAND)
    N_sa = np.zeros((2, 2, 2))
    N_sa[1] = [[5e6, 6.52e6], [0, 0]]  # N_2(0) = 1.152e7: 2.304e7/1.152e7 = 2; N_2(1) = 0: H² = 4
    counts = dp.Counts(N_sa, np.zeros((2, 2, 2, 2)), np.zeros((2, 2, 2)))
    assert gaps_after(counts, constants) == pytest.approx([2.0, 4.0])
    counts.N_sa[1, 0] = [1.0, 1.0]
    assert gaps_after(counts, constants) == [4.0, 4.0]


def ucbvi_formula(trajectories, problem, bonus_number, scale, Q_last):
    """One planning of UCBVI from raw trajectories, vectorised, constants written out."""
    H, S, A, K, beta, _ = problem
    L = np.log(5 * S * A * K * H / beta)
    N = np.zeros((H + 1, S, A))
    Ns = np.zeros((H, S, A, S))
    R = np.zeros((H, S, A))
    for t in trajectories:
        for h in range(H):
            N[h, t.s[h], t.a[h]] += 1
            Ns[h, t.s[h], t.a[h], t.s[h + 1]] += 1
            R[h, t.s[h], t.a[h]] += t.r[h]
    Q, V = Q_last.copy(), np.zeros(S)
    for h in reversed(range(H)):
        n = np.maximum(N[h], 1)
        P, r = Ns[h] / n[..., None], R[h] / n
        if bonus_number == 1:
            b = 7 * H * L / np.sqrt(n)
        else:
            variance = np.maximum(P @ V**2 - (P @ V) ** 2, 0)
            n_next = N[h + 1].sum(axis=1)
            gap = np.minimum(100**2 * H**3 * S**2 * A * L**2 / np.maximum(n_next, 1e-9), H**2) * (h + 1 < H)
            b = np.sqrt(8 * L * variance / n) + 14 * H * L / (3 * n) + np.sqrt(8 * (P @ gap) / n)
        Q[h] = np.where(N[h] > 0, np.minimum(np.minimum(Q[h], H), r + P @ V + scale * b), Q[h])
        V = Q[h].max(axis=1)
    return Q


@pytest.mark.parametrize(("bonus_number", "scale"), [(1, 0.002), (2, 0.001)])
def test_ucbvi_is_its_formula(bonus_number, scale):
    """Every plan of 120 episodes on a random MDP, and the runs do learn."""
    agent = dp.UCBVICH(scale) if bonus_number == 1 else dp.UCBVI(scale)
    setup = set_up(dp.random_mdp(3, 2, 3, seed=4), agent, dp.NonPrivate(), 120, beta=0.1)
    Q, seen, policies = np.full((3, 3, 2), 3.0), [], set()
    for _, plan, _, trajectory, _ in episodes(setup, seed=5):
        Q = ucbvi_formula(seen, setup.problem, bonus_number, scale, Q)
        assert plan.Q == pytest.approx(Q, abs=1e-6)
        assert np.array_equal(plan.pi, plan.Q.argmax(axis=-1))
        policies.add(plan.pi.tobytes())
        seen.append(trajectory)
    assert len(seen) == 120 and len(policies) > 5 and (plan.Q[1:] < 3).all()


def test_the_refined_bonus_by_hand():
    """√(4L·Var/N) + 7HL/(3 max{N-1, 1}) + √(4 Σ P min{84²H³S²AL²/N', H²}/N) with L = 6, H = 2."""
    constants, L = constants_of(dp.UCBVIRefined(0.001), UCBVI_HAND), 6.0
    P, V, gap = np.array([1 / 3, 2 / 3]), np.array([2.0, 0.306]), np.array([4.0, 4.0])
    by_hand = np.sqrt(4 * L * (2 / 9) * 1.694**2 / 3) + 7 * 2 * L / (3 * 2) + np.sqrt(4 * 4 / 3)
    assert bonus(3.0, P, V, gap, constants) == pytest.approx(0.001 * by_hand, abs=1e-12)
    at_one = 0.001 * (np.sqrt(4 * L * (2 / 9) * 1.694**2) + 7 * 2 * L / 3 + np.sqrt(4 * 4))
    assert bonus(1.0, P, V, gap, constants) == pytest.approx(at_one, abs=1e-12)
    assert constants.gap == pytest.approx(84**2 * 2**3 * 2**2 * 2 * L**2)
    assert bonus(3.0, P, V, gap, constants) < bonus(3.0, P, V, gap, constants_of(dp.UCBVI(0.001), UCBVI_HAND))
