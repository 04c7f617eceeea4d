"""The baselines against their formulas, written a second time on whole arrays.

Noisy runs have H = S = 3, A = 2, K = 40 and β = 0.1.
"""

import math

import numpy as np
import pytest

import dpucbvi as dp
from dpucbvi.agents.ldp_obi import ldp_obi_constants
from dpucbvi.agents.plans import next_gaps
from dpucbvi.agents.private_ucb_po import private_ucb_po_constants
from dpucbvi.agents.private_ucb_vi import printed_widths, private_ucb_vi_constants
from dpucbvi.agents.pucb import printed_width
from dpucbvi.agents.ucbvi import next_gap
from dpucbvi.confidence import laplace_sum_bound
from dpucbvi.simulate import episodes, set_up

H, S, A, K = 3, 3, 2, 40
PROBLEM = dp.Problem(H, S, A, K, 0.1)
MDP = dp.random_mdp(S, A, H, seed=4)


def noisy_run(agent, kind, scale, constants, E=0.0):
    """Every plan from the second on with the counts it was made from, in a run with these constants and this E.

    The noise of `central` (a tree of 6 levels) or `local` has the given scale; `none` has none.
    """
    privatizer = {"central": dp.Central(3 * H * 6 / scale), "local": dp.Local(3 * H / scale)}.get(kind)
    setup = set_up(MDP, agent, privatizer or dp.NonPrivate(), K, beta=PROBLEM.beta)
    assert setup.problem == PROBLEM and setup.noise.scale == pytest.approx(0.0 if kind == "none" else scale)
    setup = setup._replace(constants=constants, noise=setup.noise._replace(E=E))
    return [(plan, counts) for k, plan, counts, _, _ in episodes(setup, seed=3) if k > 1]


# --- UCBVI with bonus 1 (UCBVI-CH), bonus 2 (UCBVI-BF) and refined --------------------------------------------


@pytest.mark.parametrize(("agent", "times"), [(dp.UCBVI, 100), (dp.UCBVIRefined, 84)])
def test_the_minimum_of_bonus_2(agent, times):
    """H = S = A = 2, 5SAT = 5·2·2·10 = 200, so L = ln(200/β) = 6: min{100² · 2³ · 2² · 2 · 6²/N', H² = 4}."""
    problem = dp.Problem(2, 2, 2, K=5, beta=200 * math.exp(-6))
    constants, gap = agent().constants(problem, dp.Noise(scale=0.0, E=0.0)), np.zeros(2)
    for N_next, wanted in (([times**2 * 576, times**2 * 576, 0, 0], [2.0, 4.0]), ([1, 1, 0, 0], [4.0, 4.0])):
        next_gaps(next_gap, constants, np.array(N_next, dtype=float), gap)
        assert gap == pytest.approx(wanted)


def ucbvi_formula(trajectories, problem, agent, scale, Q_last):
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
        if agent is dp.UCBVICH:
            b = 7 * H * L / np.sqrt(n)
        else:
            times, less = (4, 1) if agent is dp.UCBVIRefined else (8, 0)
            variance = np.maximum(P @ V**2 - (P @ V) ** 2, 0)
            n_next = N[h + 1].sum(axis=1)
            gap = np.minimum(100**2 * H**3 * S**2 * A * L**2 / np.maximum(n_next, 1e-9), H**2) * (h + 1 < H)
            correction = 14 * times / 8 * H * L / (3 * np.maximum(n - less, 1))
            b = np.sqrt(times * L * variance / n) + correction + np.sqrt(times * (P @ gap) / n)
        Q[h] = np.where(N[h] > 0, np.minimum(np.minimum(Q[h], H), r + P @ V + scale * b), Q[h])
        V = Q[h].max(axis=1)
    return Q


@pytest.mark.parametrize(("agent", "scale"), [(dp.UCBVICH, 0.002), (dp.UCBVI, 0.001), (dp.UCBVIRefined, 0.001)])
def test_ucbvi_is_its_formula(agent, scale):
    """Every plan of 120 episodes on a random MDP, and the runs do learn."""
    setup = set_up(MDP, agent(scale), dp.NonPrivate(), 120, beta=0.1)
    Q, seen, policies = np.full((3, 3, 2), 3.0), [], set()
    for _, plan, _, trajectory, _ in episodes(setup, seed=5):
        Q = ucbvi_formula(seen, setup.problem, agent, scale, Q)
        assert plan.Q == pytest.approx(Q, abs=1e-6)
        assert np.array_equal(plan.pi, plan.Q.argmax(axis=-1))
        policies.add(plan.pi.tobytes())
        seen.append(trajectory)
    assert len(seen) == 120 and len(policies) > 5 and (plan.Q[1:] < 3).all()


# --- PUCB -----------------------------------------------------------------------------------------------------


def pucb_formula(N, N_sas, R, E, scale):
    log = 2 * np.log(4 * K / 0.1)
    V, Q = np.zeros(S), np.full((H, S, A), float(H))
    for h in reversed(range(H)):
        n = np.where(N[h] > 0, N[h], 1.0)
        phi = np.sqrt(log / np.maximum(n - E, 1))
        psi = (1 + S * H) * (3 * E / n + 2 * E**2 / n**2)
        target = (R[h] + N_sas[h] @ V) / n + scale * ((H + 1) * phi + psi)
        Q[h] = np.where((N[h] >= 2 * E) & (N[h] > 0), np.minimum(H, target), H)
        V = Q[h].max(axis=1)
    return Q


@pytest.mark.parametrize(("kind", "E"), [("central", 0.7), ("none", 0.0)])
def test_pucb_is_its_formula_and_without_noise_ubevs(kind, E):
    """E = 0: min(H, r̂ + P̂V + (H+1) √(2 ln(4K/β)/N)), H where unvisited."""
    used, constants = set(), dp.PUCB(0.05).constants(PROBLEM, dp.Noise(scale=0.0, E=4 * E))
    assert constants.E == E
    for plan, counts in noisy_run(dp.PUCB(), kind, 0.5, constants):
        assert plan.Q == pytest.approx(pucb_formula(*counts, E, 0.05), abs=1e-9)
        used.add(plan.pi.tobytes())
    assert len(used) > 5


def test_pucbs_printed_width():
    """(3H/ε) log(K)^{5/2} ln((2SAH + S²AH)/β') at the figure's size, ε = 1: 60·16^{2.5}·ln(1920·4/.05)."""
    problem = dp.Problem(20, 6, 2, 50_000, 0.05)
    noise = dp.Noise(scale=960.0, E=0.0, terms=16)
    assert printed_width(problem, noise) == pytest.approx(60 * 1024 * math.log(1920 * 80))


# --- LDP-OBI --------------------------------------------------------------------------------------------------


def ldp_obi_formula(N, N_sas, R, k, E1, E2, scale):
    ell = np.log(4 * np.pi**2 * S * A * H * k**3 / (3 * 0.1))
    c1 = c2 = E1
    c3, c4, alpha = np.sqrt(S) * E1, E2, 2
    V, Q = np.zeros(S), np.zeros((H, S, A))
    for h in reversed(range(H)):
        D_r = np.maximum(N[h] + alpha * c2, 1)
        D_p = np.maximum(N_sas[h].sum(axis=-1) + alpha * c3, 1)
        beta_r = np.sqrt(2 * ell / D_r) + ((alpha + 1) * c2 + c1) / D_r
        beta_p = np.sqrt(14 * S * ell / D_p) + (S * c4 + (alpha + 1) * c3) / D_p
        Q[h] = R[h] / D_r + (N_sas[h] @ V) / D_p + scale * (beta_r + (H - h) * beta_p)
        V = np.minimum(H - h, Q[h].max(axis=1))
    return Q


@pytest.mark.parametrize(("kind", "E1", "E2"), [("local", 0.6, 0.9), ("none", 0.0, 0.0)])
def test_ldp_obi_is_its_formula(kind, E1, E2):
    run = noisy_run(dp.LDPOBI(), kind, 0.3, ldp_obi_constants(PROBLEM, E1, E2, 0.01))
    for k, (plan, counts) in enumerate(run, start=2):
        assert plan.Q == pytest.approx(ldp_obi_formula(*counts, k, E1, E2, 0.01), abs=1e-9)
        assert plan.V[0] == pytest.approx(np.minimum(plan.Q[0].max(axis=1), H))


@pytest.mark.parametrize("n", [1, 16, 50_000])
@pytest.mark.parametrize("states", [2, 6])
def test_a_sum_of_rows_has_at_most_root_s_times_the_width(n, states):
    """c3 = √S E1 is a proven width."""
    assert laplace_sum_bound(states * n, 1e-6) <= math.sqrt(states) * laplace_sum_bound(n, 1e-6)


# --- Private-UCB-VI, and Private-UCB-PO with its policy -------------------------------------------------------


def private_ucb_vi_formula(N, N_sas, R, E1, E2, scale):
    ell = np.log(4 * S * A * K * H / 0.1)
    V, Q = np.zeros(S), np.zeros((H, S, A))
    for h in reversed(range(H)):
        D = np.maximum(N[h] + E1, 1)
        b = (1 + H) * np.sqrt(2 * ell / D) + 3 * E1 / D + H * (S * E2 + 2 * E1) / D
        Q[h] = np.clip((R[h] + N_sas[h] @ V) / D + scale * b, 0, H - h)
        V = Q[h].max(axis=1)
    return Q


@pytest.mark.parametrize(("kind", "noise"), [("central", 0.5), ("central", 20.0), ("none", 0.5)])
def test_private_ucb_vi_is_its_formula(kind, noise):
    """Noise of scale 20 makes counts absurd: D is 1, and Q is cut at 0 and at the steps left."""
    E1, E2 = (0.0, 0.0) if kind == "none" else (0.6, 0.9)
    constants, met = private_ucb_vi_constants(PROBLEM, E1, E2, 0.01), set()
    for plan, counts in noisy_run(dp.PrivateUCBVI(), kind, noise, constants):
        assert plan.Q == pytest.approx(private_ucb_vi_formula(*counts, E1, E2, 0.01), abs=1e-9)
        met |= {*plan.Q[0].ravel(), *np.sign(counts.N_sa + E1 - 1).ravel()}
    assert noise < 20.0 or {0.0, float(H), -1.0} <= met


def test_the_printed_widths_of_private_ucb_vi():
    """E1 = B √(8 n ln(6SAT/β)), E2 with another S inside. S=6, A=2, T=10^6, β=.05: 6SAT/β = 1.44e9."""
    problem = dp.Problem(20, 6, 2, 50_000, 0.05)
    E1, E2 = printed_widths(problem, dp.Noise(scale=960.0, E=0.0, terms=16))
    assert pytest.approx(960 * math.sqrt(128 * math.log(1.44e9))) == E1
    assert pytest.approx(960 * math.sqrt(128 * math.log(8.64e9))) == E2
    # Central in the paper's letters: (3H/ε) √(8 log³K ln(6SAT/β)) with log K = L = 16, ε = 1
    assert pytest.approx(60 * math.sqrt(8 * 16**3 * math.log(1.44e9))) == E1


def private_ucb_po_formula(N, N_sas, R, pi, E1, E2, scale):
    T = K * H
    V, Q = np.zeros(S), np.zeros((H, S, A))
    for h in reversed(range(H)):
        D = np.maximum(N[h] + E1, 1)
        beta_c = np.sqrt(2 * np.log(4 * S * A * T / 0.1) / D) + 3 * E1 / D
        beta_p = np.sqrt(4 * S * np.log(6 * S * A * T / 0.1) / D) + (S * E2 + 2 * E1) / D
        Q[h] = np.clip((R[h] + N_sas[h] @ V) / D + scale * (beta_c + H * beta_p), 0, H - h)
        V = (pi[h] * Q[h]).sum(axis=1)
    return Q


@pytest.mark.parametrize(("kind", "E1", "E2"), [("central", 0.6, 0.9), ("none", 0.0, 0.0)])
def test_private_ucb_po_is_its_formula(kind, E1, E2):
    """Also the policy, from all Q so far: π^{k+1} ∝ exp(η Σ_{i≤k} Q^i)."""
    zero = np.zeros((H, S, A)), np.zeros((H, S, A, S)), np.zeros((H, S, A))
    total = private_ucb_po_formula(*zero, np.full((H, S, A), 0.5), E1, E2, 0.02)
    constants = private_ucb_po_constants(PROBLEM, E1, E2, 0.02)
    for plan, counts in noisy_run(dp.PrivateUCBPO(), kind, 0.5, constants):
        weights = np.exp(math.sqrt(2 * math.log(A) / (H**2 * K)) * total)
        assert plan.pi == pytest.approx(weights / weights.sum(axis=-1, keepdims=True), abs=1e-12)
        assert plan.Q == pytest.approx(private_ucb_po_formula(*counts, plan.pi, E1, E2, 0.02), abs=1e-9)
        total += plan.Q
    assert np.abs(plan.pi - 0.5).max() > 0.05
