"""PUCB, LDP-OBI, Private-UCB-PO and DP-Nash-VI against formulas of their own and numbers worked out by hand.

The formulas are written a second time, on whole arrays with the constants written out, and compared at every
plan of a run on noisy counts.
"""

import math

import numpy as np
import pytest

from dpucbvi import factory
from dpucbvi.baselines import dp_nash_vi as nash
from dpucbvi.baselines.dp_nash_vi import dp_nash_vi, dp_nash_vi_constants
from dpucbvi.baselines.ldp_obi import ldp_obi, ldp_obi_constants
from dpucbvi.baselines.private_ucb_po import private_ucb_po, private_ucb_po_constants
from dpucbvi.baselines.private_ucb_vi import printed_widths
from dpucbvi.baselines.pucb import printed_width, pucb, pucb_constants
from dpucbvi.binary_mechanism import levels
from dpucbvi.bonus import log_iota
from dpucbvi.confidence import Problem, counters, laplace_sum_bound
from dpucbvi.config import (
    AgentConfig,
    ConfidenceConfig,
    EnvConfig,
    PostprocessConfig,
    PrivatizerConfig,
    RunConfig,
)
from dpucbvi.environments import random_mdp
from dpucbvi.errors import InputError
from dpucbvi.mdp import Trajectory, rollout, uniforms_per_episode
from dpucbvi.noise import LaplaceStream, seed_stream
from dpucbvi.privatizers import Local, LocalRandomizer, NonPrivate, Privatizer, central
from dpucbvi.projection import closed_form, no_postprocess

H, S, A, K = 3, 3, 2, 40
PROBLEM = Problem(H, S, A, K, 0.1)
MDP = random_mdp(S, A, H, seed=4)
SIZE = counters(H, S, A)


def noisy(kind: str, scale: float, postprocess=no_postprocess, E: float = 0.0) -> Privatizer:
    stream = LaplaceStream(seed_stream(3, "privacy"))
    releases = {
        "central": central(SIZE, K, scale, stream),
        "local": Local(SIZE, LocalRandomizer(scale, stream)),
        "none": NonPrivate(SIZE),
    }
    return Privatizer(releases[kind], postprocess, E, H, S, A)


def plans_with_counts(algorithm, privatizer, episodes=K):
    """Every plan from the second on, with the counts it was made from."""
    seen = []
    update = privatizer.update
    privatizer.update = lambda trajectory: seen.append(update(trajectory)) or seen[-1]
    rng = np.random.default_rng(5)
    plan = next(algorithm)
    for _ in range(episodes - 1):
        plan = algorithm.send(rollout(MDP, plan.pi, rng.random(uniforms_per_episode(H))))
        yield plan, seen[-1]


# --- PUCB ----------------------------------------------------------------------------------------------


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
    privatizer = noisy(kind, 0.5)
    used = set()
    for plan, counts in plans_with_counts(
        pucb(PROBLEM, privatizer, pucb_constants(PROBLEM, E, 0.05)), privatizer
    ):
        assert plan.Q == pytest.approx(pucb_formula(*counts, E, 0.05), abs=1e-9)
        used.add(plan.pi.tobytes())
    assert len(used) > 5


def test_pucb_by_hand():
    """K = 40, β = .1: ln(K/β') = ln 1600. One visit to (0,1), reward .5, and E = .25 ≤ N/2."""
    trajectory = Trajectory(np.array([0, 1, 2, 0]), np.array([1, 0, 0]), np.array([0.5, 0.0, 0.0]))
    algorithm = pucb(PROBLEM, noisy("none", 0.0), pucb_constants(PROBLEM, 0.25, 0.01))
    assert (next(algorithm).Q == 3.0).all()
    Q = algorithm.send(trajectory).Q
    conf = 0.01 * (4 * math.sqrt(2 * math.log(1600)) + 10 * (0.75 + 0.125))
    assert Q[2, 2, 0] == pytest.approx(conf)  # the last step: no reward, no value after it
    assert Q[0, 0, 1] == 3.0  # .5 + V(1) + conf, with V(1) = 3 from the unvisited action
    assert Q[2, 0, 0] == 3.0


def test_pucbs_printed_width():
    """(3H/ε) log(K)^{5/2} ln((2SAH + S²AH)/β') at the figure's size, ε = 1: 60·16^{2.5}·ln(1920·4/.05)."""
    problem = Problem(20, 6, 2, 50_000, 0.05)
    assert printed_width(problem, 960.0, 16) == pytest.approx(60 * 1024 * math.log(1920 * 80))


# --- LDP-OBI -------------------------------------------------------------------------------------------


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
    privatizer = noisy(kind, 0.3)
    algorithm = ldp_obi(PROBLEM, privatizer, ldp_obi_constants(PROBLEM, E1, E2, 0.01))
    for k, (plan, counts) in enumerate(plans_with_counts(algorithm, privatizer), start=2):
        assert plan.Q == pytest.approx(ldp_obi_formula(*counts, k, E1, E2, 0.01), abs=1e-9)
        assert plan.V[0] == pytest.approx(np.minimum(plan.Q[0].max(axis=1), H))


@pytest.mark.parametrize("n", [1, 16, 50_000])
@pytest.mark.parametrize("states", [2, 6])
def test_a_sum_of_rows_has_at_most_root_s_times_the_width(n, states):
    """c3 = √S E1 is a proven width."""
    assert laplace_sum_bound(states * n, 1e-6) <= math.sqrt(states) * laplace_sum_bound(n, 1e-6)


# --- Private-UCB-PO ------------------------------------------------------------------------------------


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
    privatizer = noisy(kind, 0.5)
    algorithm = private_ucb_po(PROBLEM, privatizer, private_ucb_po_constants(PROBLEM, E1, E2, 0.02))
    zero = np.zeros((H, S, A)), np.zeros((H, S, A, S)), np.zeros((H, S, A))
    total = private_ucb_po_formula(*zero, np.full((H, S, A), 0.5), E1, E2, 0.02)
    for plan, counts in plans_with_counts(algorithm, privatizer):
        weights = np.exp(math.sqrt(2 * math.log(A) / (H**2 * K)) * total)
        assert plan.pi == pytest.approx(weights / weights.sum(axis=-1, keepdims=True), abs=1e-12)
        assert plan.Q == pytest.approx(private_ucb_po_formula(*counts, plan.pi, E1, E2, 0.02), abs=1e-9)
        total += plan.Q
    assert np.abs(plan.pi - 0.5).max() > 0.05


def test_private_ucb_po_starts_uniform():
    plan = next(private_ucb_po(PROBLEM, noisy("none", 0.0), private_ucb_po_constants(PROBLEM, 0.0, 0.0)))
    assert (plan.pi == 0.5).all()


# --- DP-Nash-VI ----------------------------------------------------------------------------------------


def dp_nash_vi_formula(N, N_sas, R, E, scale):
    iota = log_iota(PROBLEM)
    up, low, Q = np.zeros(S), np.zeros(S), np.zeros((H, S, A))
    for h in reversed(range(H)):
        n = np.where(N[h] > 0, N[h], 1.0)
        P, r = N_sas[h] / n[..., None], np.clip(R[h] / n, 0, 1)
        middle = (up + low) / 2
        variance = np.maximum(P @ middle**2 - (2 - P.sum(axis=-1)) * (P @ middle) ** 2, 0)
        gamma = nash.C1 / H * (P @ (up - low))
        Gamma = nash.C2 * (np.sqrt(variance * iota / n) + (H * S * E + H**2 * S) * iota / n)
        b = scale * (gamma + Gamma)
        seen = N[h] > 0
        Q[h] = np.where(seen, np.minimum(r + P @ up + b, H), H)
        Q_low = np.where(seen, np.maximum(r + P @ low - b, 0), 0)
        up, low = Q[h].max(axis=1), Q_low[np.arange(S), Q[h].argmax(axis=1)]
    return Q


@pytest.mark.parametrize(("kind", "E"), [("central", 2.0), ("local", 2.0), ("none", 0.0)])
def test_dp_nash_vi_is_its_formula(kind, E):
    """Var by E[X²] - E[X]², with Σ P̃ as it is."""
    privatizer = noisy(kind, 0.5, no_postprocess if kind == "none" else closed_form, E)
    algorithm = dp_nash_vi(PROBLEM, privatizer, dp_nash_vi_constants(PROBLEM, E, 0.001))
    used = set()
    for plan, counts in plans_with_counts(algorithm, privatizer):
        assert plan.Q == pytest.approx(dp_nash_vi_formula(*counts, E, 0.001), abs=1e-6)
        used.add(plan.pi.tobytes())
    assert len(used) > 5


def test_dp_nash_vi_brackets_what_is_known():
    """After one user the last step of her path has Q̄ = r + b, and b = scale·C2·H²S ι."""
    trajectory = Trajectory(np.array([0, 1, 2, 0]), np.array([1, 0, 0]), np.array([0.5, 0.0, 0.25]))
    algorithm = dp_nash_vi(PROBLEM, noisy("none", 0.0), dp_nash_vi_constants(PROBLEM, 0.0, 0.001))
    assert (next(algorithm).Q == H).all()
    Q = algorithm.send(trajectory).Q
    assert Q[2, 2, 0] == pytest.approx(0.25 + 0.001 * 2 * 27 * log_iota(PROBLEM))


# --- settings ------------------------------------------------------------------------------------------


def settings(agent, privatizer="central", postprocess="none", confidence="proven", **more):
    return RunConfig(
        agent=AgentConfig(agent),
        privatizer=PrivatizerConfig(privatizer, 1.0),
        postprocess=PostprocessConfig(postprocess),
        confidence=ConfidenceConfig(confidence, 0.5, 0.1),
        K=1000,
        **more,
    )


def test_proven_widths_are_a_quarter_of_e():
    made = factory.set_up(settings("pucb"))
    assert made.constants.E == made.E / 4
    made = factory.set_up(settings("private_ucb_po"))
    assert made.constants == private_ucb_po_constants(made.problem, made.E / 4, made.E / 4)
    made = factory.set_up(settings("ldp_obi", "local"))
    assert made.constants == ldp_obi_constants(made.problem, made.E / 4, made.E / 4)
    made = factory.set_up(settings("dp_nash_vi", postprocess="closed_form"))
    assert made.constants == dp_nash_vi_constants(made.problem, made.E)


def test_printed_widths_are_the_papers_times_constant_and_scale():
    made = factory.set_up(settings("pucb", confidence="printed"))
    assert made.constants.E == pytest.approx(0.05 * printed_width(made.problem, 600.0, levels(1000)))
    made = factory.set_up(settings("private_ucb_po", "local", confidence="printed"))
    E1, E2 = printed_widths(made.problem, 60.0, 1000)
    assert made.constants == pytest.approx(private_ucb_po_constants(made.problem, 0.05 * E1, 0.05 * E2))


REFUSED = {
    "PUCB, LDP": (settings("pucb", "local"), "privatizer.name: pucb has no local version; it takes central"),
    "LDP-OBI, JDP": (settings("ldp_obi"), "privatizer.name: ldp_obi has no central version; it takes local"),
    "PUCB, LP": (settings("pucb", "central", "closed_form"), "postprocess.name: pucb uses the noisy counts"),
    "PO, LP": (settings("private_ucb_po", "local", "closed_form"), "postprocess.name: private_ucb_po uses"),
    "Nash, raw": (settings("dp_nash_vi"), "postprocess.name: dp_nash_vi takes closed_form or cvxpy"),
    "seed": (settings("pucb", env=EnvConfig("random", seed=-1)), "env.seed: -1 is not accepted"),
    "one action": (settings("pucb", env=EnvConfig("hard_tree", A=1)), "env.A: 1 is not accepted"),
    "no tree": (settings("pucb", env=EnvConfig("hard_tree", depth=0)), "env.depth: 0 is not accepted"),
    "short": (settings("pucb", env=EnvConfig("hard_tree", H=3)), "env.H: 3 is not accepted"),
}


@pytest.mark.parametrize(("config", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_run_is_refused(config, message):
    with pytest.raises(InputError, match=f"^{message}"):
        factory.set_up(config)


@pytest.mark.parametrize(
    ("postprocess", "key"),
    [
        (PostprocessConfig("cvxpy", solver=None), "solver"),
        (PostprocessConfig("cvxpy", solver="ABACUS"), "solver"),
        (PostprocessConfig("cvxpy", canonical=None), "canonical"),
    ],
)
def test_a_bad_lp_setting_is_refused_before_the_run(postprocess, key):
    with pytest.raises(InputError, match=f"^postprocess.{key}: "):
        factory.set_up(RunConfig(postprocess=postprocess))
