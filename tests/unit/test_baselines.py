"""UCBVI (bonus 1, bonus 2) and Private-UCB-VI on numbers worked out by hand and against formulas of their own.

The hand-worked problem has H = S = A = 2, K = 5 (T = 10) and four users:
    1: (s, a, r) = (0, 0, .5), (1, 0, 0), ends in 0      2: (0, 0, .5), (1, 1, .2), ends in 1
    3: (0, 1, 0), (1, 1, 1), ends in 0                   4: (0, 0, .5), (0, 0, 0), ends in 0
"""

import math

import numpy as np
import pytest

from dpucbvi import factory
from dpucbvi.baselines.private_ucb_vi import printed_widths, private_ucb_vi, private_ucb_vi_constants
from dpucbvi.baselines.ucbvi import (
    bonus,
    hoeffding_constants,
    log_term,
    next_gaps,
    ucbvi,
    ucbvi_bernstein_constants,
)
from dpucbvi.binary_mechanism import BinaryMechanism, levels
from dpucbvi.confidence import Problem, counters
from dpucbvi.config import (
    AgentConfig,
    ConfidenceConfig,
    EngineConfig,
    PostprocessConfig,
    PrivatizerConfig,
    RunConfig,
)
from dpucbvi.environments import random_mdp
from dpucbvi.mdp import Trajectory, rollout, uniforms_per_episode
from dpucbvi.noise import LaplaceStream, seed_stream
from dpucbvi.privatizers import Counts, NonPrivate, Privatizer, as_counts, zero_counts
from dpucbvi.projection import no_postprocess

USERS = [
    Trajectory(np.array(s), np.array(a), np.array(r, dtype=float))
    for s, a, r in [
        ((0, 1, 0), (0, 0), (0.5, 0.0)),
        ((0, 1, 1), (0, 1), (0.5, 0.2)),
        ((0, 1, 0), (1, 1), (0.0, 1.0)),
        ((0, 0, 0), (0, 0), (0.5, 0.0)),
    ]
]


def non_private(H=2, S=2, A=2, G=None):
    G = G or H
    return Privatizer(NonPrivate(counters(G, S, A)), no_postprocess, 0.0, G, S, A)


def plans(algorithm, trajectories):
    return [next(algorithm)] + [algorithm.send(trajectory) for trajectory in trajectories]


def table(Q):
    return pytest.approx(np.array(Q, dtype=float), abs=1e-7)


# --- UCBVI --------------------------------------------------------------------------------------------

# 5SAT = 5·2·2·10 = 200, so L = ln(200/β) = 6.
UCBVI_HAND = Problem(2, 2, 2, K=5, beta=200 * math.exp(-6))


def test_bonus_1_by_hand():
    """7HL/√N = 84/√N, times .005: .42/√N."""
    assert log_term(UCBVI_HAND) == pytest.approx(6.0)
    made = plans(ucbvi(UCBVI_HAND, non_private(), hoeffding_constants(UCBVI_HAND, 0.005)), USERS)
    assert np.array_equal(made[0].Q, np.full((2, 2, 2), 2.0)) and not made[0].pi.any()
    # k = 2: step 2 Q(1,0) = 0 + .42; step 1 Q(0,0) = min(2, .5 + 2 + .42)
    assert made[1].Q[1] == table([[2, 2], [0.42, 2]]) and made[1].Q[0] == table([[2, 2], [2, 2]])
    assert made[1].pi.tolist() == [[0, 0], [0, 1]]
    # k = 3: step 2 Q(1,1) = .2 + .42; step 1 N(0,0) = 2: .5 + .62 + .42/√2 = 1.4169848
    assert made[2].Q[1] == table([[2, 2], [0.42, 0.62]])
    assert made[2].Q[0] == table([[1.4169848, 2], [2, 2]])
    assert made[2].V == table([[2, 2], [2, 0.62], [0, 0]])
    assert made[2].pi.tolist() == [[1, 0], [0, 1]]
    # k = 4: step 2 N(1,1) = 2: .6 + .42/√2 = .897 is above the last .62, which stays; step 1 Q(0,1) = .62 + .42
    assert made[3].Q[1, 1] == table([0.42, 0.62]) and made[3].Q[0, 0] == table([1.4169848, 1.04])
    assert made[3].pi[0, 0] == 0


def test_bonus_1_with_its_own_constant_stays_at_h():
    made = plans(ucbvi(UCBVI_HAND, non_private(), hoeffding_constants(UCBVI_HAND)), USERS)
    assert all(np.array_equal(plan.Q, np.full((2, 2, 2), 2.0)) for plan in made)


def test_bonus_2_by_hand():
    """.001 (√(48 Var/N) + 56/N + √(8 Σ P min{2.304e7/N_{h+1}, 4}/N)); 56 = 14HL/3, 2.304e7 = 100²H³S²AL²."""
    constants = ucbvi_bernstein_constants(UCBVI_HAND, 0.001)
    made = plans(ucbvi(UCBVI_HAND, non_private(), constants), USERS)
    # k = 2: step 2 Q(1,0) = 0 + .056: no variance and no third term at the last step
    assert made[1].Q[1] == table([[2, 2], [0.056, 2]])
    # k = 3: step 2 Q(1,1) = .256; step 1 N(0,0) = 2, V(1) = .256: .5 + .256 + .001·(0 + 28 + √(8·4/2)) = .788
    assert made[2].Q[1, 1] == table([0.056, 0.256]) and made[2].Q[0, 0] == table([0.788, 2])
    assert made[2].pi[0, 0] == 1
    # k = 5: step 1 N(0,0) = 3, P = (1/3, 2/3), V = (2, .256) has variance (2/9)·1.744² = .6758969:
    # √(48·.6758969/3) = 3.2885179, 56/3 = 18.6666667, √(8·4/3) = 3.2659863, together 25.2211709
    value = bonus(3.0, np.array([1 / 3, 2 / 3]), np.array([2.0, 0.256]), np.array([4.0, 4.0]), constants)
    assert value == pytest.approx(25.2211709, abs=1e-6)
    assert made[4].Q[0, 0, 0] == pytest.approx(0.788)  # .5 + .8373333 + .0252212 is more


def test_the_minimum_of_bonus_2():
    constants = ucbvi_bernstein_constants(UCBVI_HAND)
    N_sa = np.zeros((2, 2, 2))
    N_sa[1] = [[5e6, 6.52e6], [0, 0]]  # N_2(0) = 1.152e7: 2.304e7/1.152e7 = 2; N_2(1) = 0: H² = 4
    counts = Counts(N_sa, np.zeros((2, 2, 2, 2)), np.zeros((2, 2, 2)))
    assert next_gaps(counts, 0, 2, constants).tolist() == pytest.approx([2.0, 4.0])
    assert next_gaps(counts, 1, 2, constants).tolist() == [0.0, 0.0]  # after the last step
    counts.N_sa[1, 0] = [1.0, 1.0]
    assert next_gaps(counts, 0, 2, constants).tolist() == [4.0, 4.0]


def ucbvi_formula(trajectories, problem, bonus_number, scale, Q_last):
    """One planning of UCBVI from raw trajectories, vectorised, constants written out."""
    H, S, A, K, beta = problem
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
    mdp = random_mdp(3, 2, 3, seed=4)
    problem = Problem(3, 3, 2, 120, 0.1)
    make = hoeffding_constants if bonus_number == 1 else ucbvi_bernstein_constants
    algorithm = ucbvi(problem, non_private(3, 3, 2), make(problem, scale))
    rng = np.random.default_rng(5)
    plan, seen = next(algorithm), []
    Q = np.full((3, 3, 2), 3.0)
    policies = set()
    for _ in range(119):
        policies.add(plan.pi.tobytes())
        seen.append(rollout(mdp, plan.pi, rng.random(uniforms_per_episode(3))))
        plan = algorithm.send(seen[-1])
        Q = ucbvi_formula(seen, problem, bonus_number, scale, Q)
        assert plan.Q == pytest.approx(Q, abs=1e-6)
        assert np.array_equal(plan.pi, plan.Q.argmax(axis=-1))
    assert len(policies) > 5 and (plan.Q[1:] < 3).all()


# --- Private-UCB-VI -----------------------------------------------------------------------------------

# 4SAT = 4·2·2·10 = 160, so ℓ = ln(160/β) = 8 and √(2ℓ) = 4.
PRIVATE_HAND = Problem(2, 2, 2, K=5, beta=160 * math.exp(-8))


def test_private_ucb_vi_by_hand():
    """E1 = 2, E2 = 3: b = (1 + H)·4/√D + (3·2 + 2·(2·3 + 2·2))/D = 12/√D + 26/D, times .01."""
    constants = private_ucb_vi_constants(PRIVATE_HAND, E1=2.0, E2=3.0, scale=0.01)
    assert (constants.root, constants.width) == pytest.approx((12.0, 26.0))
    made = plans(private_ucb_vi(PRIVATE_HAND, non_private(), constants), USERS)
    # k = 1: D = 2 everywhere: .01·(8.4852814 + 13) = .2148528, the same at both steps since P̃ = 0
    assert made[0].Q == table(np.full((2, 2, 2), 0.2148528)) and not made[0].pi.any()
    # k = 2: step 2 (1,0): D = 3: 0 + .01·(6.9282032 + 8.6666667) = .1559487
    assert made[1].Q[1] == table([[0.2148528, 0.2148528], [0.1559487, 0.2148528]])
    # step 1 (0,0): D = 3: .5/3 + (1/3)·.2148528 + .1559487 = .3942330: P̃ sums to 1/3, not to 1
    assert made[1].Q[0] == table([[0.3942330, 0.2148528], [0.2148528, 0.2148528]])
    assert made[1].pi.tolist() == [[0, 0], [0, 1]]
    # k = 3: step 2 (1,1): .2/3 + .1559487 = .2226154; step 1 (0,0): D = 4: .25 + .5·.2226154 + .125 = .4863077,
    # more than before: there is no minimum with the last episode's Q
    assert made[2].Q[1, 1] == table([0.1559487, 0.2226154])
    assert made[2].Q[0, 0] == table([0.4863077, 0.2148528])


def test_private_ucb_vi_cuts_to_what_is_left():
    """As printed b > 21 everywhere, so Q_h = H - h + 1 exactly: 2 at step 1, 1 at step 2."""
    constants = private_ucb_vi_constants(PRIVATE_HAND, E1=2.0, E2=3.0)
    for plan in plans(private_ucb_vi(PRIVATE_HAND, non_private(), constants), USERS):
        assert plan.Q[0].tolist() == [[2, 2], [2, 2]] and plan.Q[1].tolist() == [[1, 1], [1, 1]]


class Fixed:
    """A release of counts chosen by hand, whatever the users do."""

    def __init__(self, flat):
        self.flat = flat

    def release(self, sigma):
        return self.flat


def test_private_ucb_vi_on_counts_that_noise_has_made_absurd():
    """Negative rewards cut Q at 0; D is at least 1; negative N̂(s,a,s') count against their state."""
    flat = np.zeros(counters(2, 2, 2))
    counts = as_counts(flat, 2, 2, 2)  # views
    counts.N_sa[...] = 6.0
    counts.R[1, 0, 0], counts.R[1, 0, 1] = -80.0, 0.8  # D = 8: -10 and .1
    counts.N_sa[1, 1, 0], counts.R[1, 1, 0] = -70.0, 0.3  # D = max(-68, 1) = 1
    counts.N_sas[0, 0, 0] = [-4.0, 2.0]
    constants = private_ucb_vi_constants(PRIVATE_HAND, E1=2.0, E2=3.0, scale=0.001)
    b_8, b_1 = 0.001 * (12 / math.sqrt(8) + 26 / 8), 0.001 * (12 + 26)
    privatizer = Privatizer(Fixed(flat), no_postprocess, 0.0, 2, 2, 2)
    plan = plans(private_ucb_vi(PRIVATE_HAND, privatizer, constants), USERS[:1])[1]
    assert plan.Q[1] == table([[0.0, 0.1 + b_8], [0.3 + b_1, b_8]])
    V = [0.1 + b_8, 0.3 + b_1]
    assert plan.Q[0, 0, 0] == pytest.approx(-0.5 * V[0] + 0.25 * V[1] + b_8, abs=1e-12)


def hoeffding_formula(trajectories, problem, scale):
    """Hoeffding value iteration: D = max(N, 1), b = (1 + H) √(2 ln(4SAT/β)/D), Q cut to [0, H-h+1]."""
    H, S, A, K, beta = problem
    ell = np.log(4 * S * A * H * K / beta)
    V, Q = np.zeros(S), np.zeros((H, S, A))
    for h in reversed(range(H)):
        for s in range(S):
            for a in range(A):
                visits = [t for t in trajectories if t.s[h] == s and t.a[h] == a]
                D = max(len(visits), 1)
                mean = sum(t.r[h] + V[t.s[h + 1]] for t in visits) / D
                Q[h, s, a] = np.clip(mean + scale * (1 + H) * np.sqrt(2 * ell / D), 0, H - h)
        V = Q[h].max(axis=1)
    return Q


@pytest.mark.parametrize("scale", [0.05, 0.02])
def test_private_ucb_vi_without_noise_is_hoeffding_value_iteration(scale):
    """Central with noise scale 0 and E1 = E2 = 0, every plan of 60 episodes."""
    mdp = random_mdp(3, 2, 3, seed=6)
    problem = Problem(3, 3, 2, 60, 0.1)
    size = counters(3, 3, 2)
    tree = BinaryMechanism(size, levels(60), 0.0, LaplaceStream(seed_stream(0, "privacy")))
    privatizer = Privatizer(tree, no_postprocess, 0.0, 3, 3, 2)
    algorithm = private_ucb_vi(problem, privatizer, private_ucb_vi_constants(problem, 0.0, 0.0, scale))
    rng = np.random.default_rng(7)
    plan, seen = next(algorithm), []
    assert plan.Q == pytest.approx(hoeffding_formula([], problem, scale), abs=1e-12)
    for _ in range(59):
        seen.append(rollout(mdp, plan.pi, rng.random(uniforms_per_episode(3))))
        plan = algorithm.send(seen[-1])
        assert plan.Q == pytest.approx(hoeffding_formula(seen, problem, scale), abs=1e-12)
    assert (plan.Q[2] < 1).any()


def test_printed_widths():
    """E1 = B √(8 n ln(6SAT/β)), E2 with another S inside. S=6, A=2, T=10^6, β=.05: 6SAT/β = 1.44e9."""
    problem = Problem(20, 6, 2, 50_000, 0.05)
    E1, E2 = printed_widths(problem, noise_scale=960.0, terms=16)
    assert pytest.approx(960 * math.sqrt(128 * math.log(1.44e9))) == E1
    assert pytest.approx(960 * math.sqrt(128 * math.log(8.64e9))) == E2
    # Central in the paper's letters: (3H/ε) √(8 log³K ln(6SAT/β)) with log K = L = 16, ε = 1
    assert pytest.approx(60 * math.sqrt(8 * 16**3 * math.log(1.44e9))) == E1


def private_setup(confidence, privatizer="central", constant=1.0):
    return factory.set_up(
        RunConfig(
            agent=AgentConfig("private_ucb_vi"),
            privatizer=PrivatizerConfig(privatizer, 1.0, "paper"),
            postprocess=PostprocessConfig("none"),
            confidence=ConfidenceConfig(confidence, constant),
            engine=EngineConfig("reference"),
            K=50_000,
        )
    )


@pytest.mark.parametrize(("privatizer", "terms", "scale"), [("central", 16, 960.0), ("local", 50_000, 60.0)])
def test_widths_that_a_run_uses(privatizer, terms, scale):
    """`printed`: as above. `proven`: the bound on the raw noise, E/4, for both."""
    printed = private_setup("printed", privatizer, constant=0.5)
    E1, E2 = printed_widths(printed.problem, scale, terms)
    expected = private_ucb_vi_constants(printed.problem, 0.5 * E1, 0.5 * E2)
    assert printed.constants == pytest.approx(expected, rel=1e-12)
    proven = private_setup("proven", privatizer)
    assert proven.constants.E1 == proven.E / 4
    width = proven.E / 4
    assert proven.constants.width == pytest.approx(3 * width + 20 * (6 * width + 2 * width))


# --- what they share ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ucbvi_ch", "ucbvi_bf", "private_ucb_vi"])
def test_a_baseline_makes_k_plans_and_updates_between_them(name):
    problem = Problem(2, 2, 2, 5, 0.1)
    updates = []
    privatizer = non_private()
    update = privatizer.update
    privatizer.update = lambda trajectory: updates.append(trajectory) or update(trajectory)
    algorithms = {
        "ucbvi_ch": lambda: ucbvi(problem, privatizer, hoeffding_constants(problem)),
        "ucbvi_bf": lambda: ucbvi(problem, privatizer, ucbvi_bernstein_constants(problem)),
        "private_ucb_vi": lambda: private_ucb_vi(
            problem, privatizer, private_ucb_vi_constants(problem, 0.0, 0.0)
        ),
    }
    algorithm = algorithms[name]()
    assert len(plans(algorithm, USERS)) == 5
    assert updates == USERS
    with pytest.raises(StopIteration):
        algorithm.send(USERS[0])


def test_pooled_counts_serve_every_step():
    """G = 1 against G = 2 with the pooled table at both steps: the same plans."""
    pooled = non_private(G=1)

    class Repeated(Privatizer):
        def update(self, trajectory):
            one = Privatizer.update(self, trajectory)
            return Counts(*(np.repeat(family, 2, axis=0) for family in one))

    repeated = Repeated(NonPrivate(counters(1, 2, 2)), no_postprocess, 0.0, 1, 2, 2)
    problem = Problem(2, 2, 2, 5, 0.1)
    for make in (
        lambda privatizer: ucbvi(problem, privatizer, hoeffding_constants(problem, 0.001)),
        lambda privatizer: ucbvi(problem, privatizer, ucbvi_bernstein_constants(problem, 0.001)),
        lambda privatizer: private_ucb_vi(problem, privatizer, private_ucb_vi_constants(problem, 1, 1, 0.01)),
    ):
        for one, other in zip(plans(make(pooled), USERS), plans(make(repeated), USERS), strict=True):
            assert np.array_equal(one.Q, other.Q)
    assert zero_counts(1, 2, 2).N_sa.shape == (1, 2, 2)
