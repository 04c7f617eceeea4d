"""Algorithm 1, line by line: its tags, each line's effect on numbers worked out by hand, and Lemma C.11.

The hand-worked problem: H = S = A = 2, K = 5 and β = 2400 e^{-9}, so that T = 10 and

    ι = log(30 H S A T / β) = log(30·2·2·2·10 / β) = log(2400 / β) = 9.

Steps are the paper's (1 and 2) in the comments and 0-based in the arrays.
"""

import ast
import inspect
import io
import math
import re
import tokenize

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from users import true_counts

import dpucbvi as dp
from dpucbvi import algorithm1
from dpucbvi.algorithm1 import bonuses, dp_ucbvi, private_estimates
from dpucbvi.bonus import bernstein_bonus, bernstein_constants, bernstein_terms, log_iota, next_value_gap
from dpucbvi.counts import PrivateCounts
from dpucbvi.mdp import Trajectory
from dpucbvi.privacy.certificate import Scales
from dpucbvi.projection import closed_form, no_postprocess
from dpucbvi.protocol import Noise
from dpucbvi.simulate import episodes, set_up

# --- the tags ---------------------------------------------------------------------------------------


def tagged_lines():
    """(n, source line, AST node that starts there or None) for each comment [Alg.1 Ln] inside dp_ucbvi."""
    source = inspect.getsource(algorithm1)
    (function,) = (
        node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef) and node.name == "dp_ucbvi"
    )
    statements = {node.lineno: node for node in ast.walk(function) if isinstance(node, ast.stmt)}
    tags = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        line = token.start[0]
        if token.type == tokenize.COMMENT and function.lineno <= line <= function.end_lineno + 1:
            for n in re.findall(r"\[Alg\.1 L(\d+)\]", token.string):
                tags.append((int(n), line, statements.get(line)))
    return tags


def test_every_line_of_algorithm_1_is_tagged_once_and_in_order():
    """Lines as the printed algorithm numbers them: 1 Input, 2 Initialize, 3 for k, ..., 18 the last end."""
    assert [n for n, _, _ in tagged_lines()] == list(range(1, 19))
    assert sorted(line for _, line, _ in tagged_lines()) == [line for _, line, _ in tagged_lines()]


def test_a_tag_sits_on_the_statement_it_names():
    node = {n: statement for n, _, statement in tagged_lines()}
    text = {n: ast.unparse(statement) if statement else None for n, statement in node.items()}
    for n in (3, 5, 8, 11):
        assert isinstance(node[n], ast.For)
    for n in (10, 14, 15, 18):  # `end for` has no statement of its own
        assert node[n] is None
    assert text[2].startswith("counts = zero_counts(")
    assert text[4] == "V_tilde[H] = 0.0"
    assert text[6].startswith("(P_tilde, r_tilde) = private_estimates(") or text[6].startswith(
        "P_tilde, r_tilde ="
    )
    assert text[7].startswith("b = bonuses(")
    assert re.match(r"Q_tilde\[.*\] = min\(Q_tilde\[.*\], H, target\)$", text[9])
    assert re.match(r"V_tilde\[h, s\] = .*max\(\)$", text[12])
    assert re.match(r"pi\[h, s\] = .*argmax\(\)$", text[13])
    assert "yield Plan(" in text[16]
    assert text[17] == "counts = privatizer.update(user)"


# --- by hand ----------------------------------------------------------------------------------------

H = S = A = 2
HAND = dp.Problem(H, S, A, K=5, beta=2400 * math.exp(-9))
ROOT_18 = math.sqrt(18)  # √(2ι)


def trajectory(s, a, r):
    return Trajectory(np.array(s), np.array(a), np.array(r, dtype=float))


FIRST = trajectory((0, 1, 0), (0, 0), (0.5, 0.0))
SECOND = trajectory((0, 1, 1), (0, 1), (0.5, 0.25))
THIRD = trajectory((0, 1, 0), (1, 1), (0.0, 1.0))
FOURTH = trajectory((0, 0, 0), (0, 0), (0.5, 0.0))


def non_private():
    return PrivateCounts(true_counts(H, S, A, H), no_postprocess, 0.0, H, S, A)


def by_hand(scale=1.0):
    """Algorithm 1 on true counts, to be sent trajectories by hand."""
    return dp_ucbvi(HAND, non_private(), bernstein_constants(HAND, 0.0, scale))


def counts_after(*trajectories, privatizer=None):
    privatizer = privatizer or non_private()
    for t in trajectories:
        counts = privatizer.update(t)
    return counts


def test_iota():
    assert log_iota(HAND) == pytest.approx(9.0, rel=1e-14)


def test_episode_1_has_no_counts_and_is_optimistic_everywhere():
    """L2, L6, L7: zero counts make the bonus infinite, so Q = H (L9), V = H (L12), the lowest action (L13).

    A division by zero would be an error here: RuntimeWarnings are.
    """
    plan = next(by_hand())
    assert np.array_equal(plan.Q, np.full((2, 2, 2), 2.0))
    assert np.array_equal(plan.V, [[2, 2], [2, 2], [0, 0]])  # L4: V_{H+1} = 0
    assert np.array_equal(plan.pi, np.zeros((2, 2)))


def test_episode_2_with_the_printed_constants():
    """After FIRST: N_1(0,0) = N_1(0,0,1) = 1, R_1(0,0) = .5; N_2(1,0) = N_2(1,0,0) = 1, R_2(1,0) = 0."""
    counts = counts_after(FIRST)
    constants = bernstein_constants(HAND, E=0.0)

    # Step 2. L6: P(.|1,0) = (1, 0), r(1,0) = 0; nothing is known elsewhere.
    P, r = private_estimates(counts, 1)
    assert P.tolist() == [[[0, 0], [0, 0]], [[1, 0], [0, 0]]]
    assert r.tolist() == [[0, 0], [0, 0]]
    # L7: V_3 = 0, so no variance; √(2ι/1) = √18; E = 0; the fourth term is 0 at h = H. Infinite without counts.
    b = bonuses(counts, P, np.zeros(2), 1, H, constants)
    assert b == pytest.approx(np.array([[np.inf, np.inf], [ROOT_18, np.inf]]))

    # Step 1. L6: P(.|0,0) = (0, 1), r(0,0) = .5.
    P, r = private_estimates(counts, 0)
    assert P[0, 0].tolist() == [0, 1] and r[0, 0] == 0.5
    # L7: V_2 = (2, 2) has no variance; √18; 0; N_2(1) = 1 makes the minimum H² = 4, so 4·√9·√(4/1) = 24.
    terms = bernstein_terms(1.0, P[0, 0], np.array([2.0, 2.0]), np.array([4.0, 4.0]), constants)
    assert terms == pytest.approx((0.0, ROOT_18, 0.0, 24.0))
    b = bonuses(counts, P, np.array([2.0, 2.0]), 0, H, constants)
    assert b[0, 0] == pytest.approx(28.242640687119284)  # 24 + 4.242640687119285

    # L9: .5 + 2 + 28.2 and 0 + 0 + 4.2 are above H: at the printed scale nothing has been learnt.
    algorithm = by_hand()
    next(algorithm)
    plan = algorithm.send(FIRST)
    assert np.array_equal(plan.Q, np.full((2, 2, 2), 2.0)) and not plan.pi.any()


def test_five_episodes_with_a_small_bonus():
    """The bonus times .01: Q leaves H, the policy turns, and the minimum with the last episode's Q acts."""
    algorithm = by_hand(scale=0.01)
    assert np.array_equal(next(algorithm).Q, np.full((2, 2, 2), 2.0))

    # k = 2. Step 2: Q(1,0) = 0 + 0 + .01·√18 = .0424264; Q(1,1) = 2 is unvisited and now the best: pi(1) = 1.
    # Step 1: Q(0,0) = min(2, 2, .5 + 2 + .01·28.2426407) = 2; all tie, so the lowest action.
    plan = algorithm.send(FIRST)
    assert plan.Q[1] == pytest.approx(np.array([[2, 2], [0.0424264, 2]]), abs=1e-7)
    assert plan.Q[0].tolist() == [[2, 2], [2, 2]]
    assert plan.V[1].tolist() == [2, 2] and plan.V[0].tolist() == [2, 2]
    assert plan.pi.tolist() == [[0, 0], [0, 1]]

    # k = 3, SECOND: Step 2: Q(1,1) = .25 + .0424264 = .2924264; V = (2, .2924264); pi(1) = 1.
    # Step 1: N(0,0) = 2, r = .5, P = (0, 1): mean .2924264, variance 0; √(18/2) = 3; 12·√(4/2) = 16.9705627;
    # Q(0,0) = .5 + .2924264 + .01·19.9705627 = .9921320; Q(0,1) = 2 is the best: pi(0) = 1.
    plan = algorithm.send(SECOND)
    assert plan.Q[1] == pytest.approx(np.array([[2, 2], [0.0424264, 0.2924264]]), abs=1e-7)
    assert plan.Q[0] == pytest.approx(np.array([[0.9921320, 2], [2, 2]]), abs=1e-7)
    assert plan.V[:2] == pytest.approx(np.array([[2, 2], [2, 0.2924264]]), abs=1e-7)
    assert plan.pi.tolist() == [[1, 0], [0, 1]]

    # k = 4, THIRD: Step 2: N(1,1) = 2, r = 1.25/2, bonus .01·3: .655, but the last Q was .2924264 and stays.
    # Step 1: Q(0,1) = 0 + .2924264 + .01·(4.2426407 + 24) = .5748528; Q(0,0) is as it was and best: pi(0) = 0.
    plan = algorithm.send(THIRD)
    assert plan.Q[1, 1] == pytest.approx([0.0424264, 0.2924264], abs=1e-7)
    assert plan.Q[0, 0] == pytest.approx([0.9921320, 0.5748528], abs=1e-7)
    assert plan.V[0, 0] == pytest.approx(0.9921320, abs=1e-7)
    assert plan.pi.tolist() == [[0, 0], [0, 1]]

    # k = 5, FOURTH: Step 2: Q(0,0) = 0 + .0424264; V(0) = Q(0,1) = 2, pi(0) = 1.
    # Step 1: N(0,0) = 3, r = .5, P = (1/3, 2/3); V = (2, .2924264) has mean .8616176 and variance
    # (2/9)·(1.7075736)² = .6479572; terms 2√(.6479572·9/3) = 2.7884560, √(18/3) = 2.4494897, 0 and
    # 12·√(4/3) = 13.8564065; so .5 + .8616176 + .1909435 = 1.5525611, above the last Q, which stays.
    plan = algorithm.send(FOURTH)
    assert plan.Q[1, 0] == pytest.approx([0.0424264, 2], abs=1e-7) and plan.pi[1].tolist() == [1, 1]
    assert plan.Q[0, 0] == pytest.approx([0.9921320, 0.5748528], abs=1e-7)
    counts = counts_after(FIRST, SECOND, THIRD, FOURTH)
    P, r = private_estimates(counts, 0)
    assert P[0, 0] == pytest.approx([1 / 3, 2 / 3]) and r[0, 0] == pytest.approx(0.5)
    constants = bernstein_constants(HAND, 0.0)
    terms = bernstein_terms(3.0, P[0, 0], plan.V[1], np.array([4.0, 4.0]), constants)
    assert terms == pytest.approx((2.7884560, 2.4494897, 0.0, 13.8564065), abs=1e-6)
    b = bonuses(counts, P, plan.V[1], 0, H, constants._replace(scale=0.01))
    assert b[0, 0] == pytest.approx(0.1909435, abs=1e-7)

    with pytest.raises(StopIteration):  # L18: five episodes and no more
        algorithm.send(FOURTH)


def test_private_counts_by_hand():
    """FIRST with E = 8 and no noise: Eq.5 adds E/2 = 4 to N(s,a), E/(2S) = 2 to N(s,a,s'), nothing to R."""
    privatizer = PrivateCounts(true_counts(H, S, A, H), closed_form, 8.0, H, S, A)
    counts = counts_after(FIRST, privatizer=privatizer)
    P, r = private_estimates(counts, 0)
    assert P.tolist() == [[[0.4, 0.6], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]]  # (2, 3)/5 and (2, 2)/4
    assert r.tolist() == [[0.1, 0], [0, 0]]  # .5/5
    # N = 5: V = (2, 1) has variance .24; 2√(.24·9/5), √(18/5), 20·2·2·8·9/5 = 1152 and 12·√(4/5).
    terms = bernstein_terms(
        5.0, P[0, 0], np.array([2.0, 1.0]), np.array([4.0, 4.0]), bernstein_constants(HAND, privatizer.E)
    )
    expected = (2 * math.sqrt(0.432), math.sqrt(3.6), 1152.0, 12 * math.sqrt(0.8))
    assert terms == pytest.approx(expected, rel=1e-12)


def test_the_minimum_below_h_squared_by_hand():
    """ι = 9: 1000²·H³SA·ι² = 2.592e9; 1000²·H⁴S⁴A²·ι⁴ = 6.718464e12 times E²; 1000²·H⁶S⁴A²·ι⁴ = 2.6873856e13.

    With E = 100 and N_{h+1}(s') = 1e9: 2.592 + .06718464 + .000026873856.
    """
    constants = bernstein_constants(HAND, E=100.0)
    assert next_value_gap(1e9, constants) == pytest.approx(2.592 + 0.06718464 + 2.6873856e-5, rel=1e-12)
    assert next_value_gap(1e8, constants) == 4.0  # 25.9 and more: H²
    assert next_value_gap(0.0, constants) == 4.0


def test_rewards_are_cut_to_the_unit_interval():
    N_sa = np.full((1, 1, 3), 5.0)
    counts = dp.Counts(N_sa, np.full((1, 1, 3, 1), 5.0), np.array([[[-3.0, 2.0, 7.0]]]))
    assert private_estimates(counts, 0)[1].tolist() == [[0.0, 0.4, 1.0]]


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(S=st.integers(1, 5), E=st.sampled_from([0.5, 20.0, 1e4]), seed=st.integers(0, 2**32 - 1))
def test_private_estimates_are_distributions_and_raw_quotients_are_not(S, E, seed):
    """[Rem.3.2] For any noisy counts, negative ones too; the control is the quotient of the counters."""
    rng = np.random.default_rng(seed)
    N_hat_sas = rng.laplace(1.0, E, (1, S, 2, S))
    N_hat_sa = N_hat_sas.sum(axis=-1) + rng.laplace(0.0, E, (1, S, 2))
    made = closed_form(N_hat_sa, N_hat_sas, E)
    P, r = private_estimates(dp.Counts(made.N_sa, made.N_sas, rng.laplace(0.0, E, (1, S, 2))), 0)
    assert (P > 0).all() and np.allclose(P.sum(axis=-1), 1.0, rtol=1e-12)
    assert ((r >= 0) & (r <= 1)).all()
    raw = N_hat_sas / N_hat_sa[..., None]
    assert not np.allclose(raw.sum(axis=-1), 1.0)


# --- the bonus against the printed formula ------------------------------------------------------------


def printed_bonus(N_sa, N_sas, V_next, h, problem, E):
    """Line 7 as printed, vectorised, from all counts N_sa[h, s, a], N_sas[h, s, a, s']; D2 at the last step."""
    H, S, A, K, beta, _ = problem
    iota = np.log(30 * H * S * A * (H * K) / beta)
    N = N_sa[h]
    P = N_sas[h] / N[..., None]
    variance = np.einsum("sat,t->sa", P, V_next**2) - np.einsum("sat,t->sa", P, V_next) ** 2
    if h + 1 < H:
        n = N_sa[h + 1].sum(axis=1)
        inner = (
            1000**2 * H**3 * S * A * iota**2 / n
            + 1000**2 * H**4 * S**4 * A**2 * E**2 * iota**4 / n**2
            + 1000**2 * H**6 * S**4 * A**2 * iota**4 / n**2
        )
        fourth = 4 * np.sqrt(iota) * np.sqrt(P @ np.minimum(inner, H**2) / N)
    else:
        fourth = 0.0
    return (
        2 * np.sqrt(np.maximum(variance, 0) * iota / N)
        + np.sqrt(2 * iota / N)
        + 20 * H * S * E * iota / N
        + fourth
    )


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(
    sizes=st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 3)),
    K=st.integers(1, 10**6),
    beta=st.floats(1e-6, 0.99),
    E=st.sampled_from([0.0, 0.3, 50.0, 1e5]),
    size=st.sampled_from([10.0, 1e6, 1e13]),
    scale=st.sampled_from([1.0, 0.01]),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_bonus_is_line_7(sizes, K, beta, E, size, scale, seed):
    """`size` 1e13 makes the minimum leave H²."""
    H, S, A = sizes
    problem = dp.Problem(H, S, A, K, beta)
    rng = np.random.default_rng(seed)
    N_sas = rng.exponential(size, (H, S, A, S)) + 1e-3
    N_sa = N_sas.sum(axis=-1)
    V_next = rng.random(S) * H
    h = int(rng.integers(H))
    counts = dp.Counts(N_sa, N_sas, rng.random((H, S, A)))
    P, _ = private_estimates(counts, h)
    b = bonuses(counts, P, V_next, h, H, bernstein_constants(problem, E, scale))
    expected = scale * printed_bonus(N_sa, N_sas, V_next, h, problem, E)
    # √ of a variance that is 0 up to rounding: 1e-8 of H at worst
    slack = scale * 2 * np.sqrt(1e-15 * H**2 * log_iota(problem) / N_sa[h])
    assert (np.abs(b - expected) <= 1e-9 * expected + slack).all()


def test_the_fourth_term_is_zero_at_the_last_step_only():
    counts = dp.Counts(np.full((3, 2, 2), 4.0), np.full((3, 2, 2, 2), 2.0), np.zeros((3, 2, 2)))
    problem = dp.Problem(3, 2, 2, 10, 0.1)
    c = bernstein_constants(problem, 0.0)
    P, _ = private_estimates(counts, 0)
    reward = math.sqrt(2 * c.iota / 4)
    for h, fourth in ((0, True), (1, True), (2, False)):
        b = bonuses(counts, P, np.zeros(2), h, 3, c)
        next_value = 4 * math.sqrt(c.iota) * math.sqrt(9 / 4) if fourth else 0.0
        assert b == pytest.approx(np.full((2, 2), reward + next_value), rel=1e-12)


def test_pooled_counts_serve_every_step():
    """G = 1: step h reads the one table, the last step still has no fourth term."""
    rng = np.random.default_rng(2)
    N_sas = rng.random((1, 2, 2, 2)) * 1e12
    pooled = dp.Counts(N_sas.sum(axis=-1), N_sas, rng.random((1, 2, 2)) * 1e12)
    stacked = dp.Counts(*(np.repeat(family, 3, axis=0) for family in pooled))
    constants = bernstein_constants(dp.Problem(3, 2, 2, 100, 0.1), E=5.0)
    V = rng.random(2)
    for h in range(3):
        (P, r), (P_h, r_h) = private_estimates(pooled, h), private_estimates(stacked, h)
        assert np.array_equal(P, P_h) and np.array_equal(r, r_h)
        b = bonuses(pooled, P, V, h, 3, constants)
        assert np.array_equal(b, bonuses(stacked, P, V, h, 3, constants))


# --- whole runs -----------------------------------------------------------------------------------------


def quiet(kind, amount):
    """The paper's privatizer with this little noise."""

    class Quiet(kind):
        def scales(self, problem, G=1):
            return Scales(amount, amount, amount)

    return Quiet(1.0)


KINDS = {"central": dp.Central, "local": dp.Local}
SILENT = {name: (quiet(kind, 0.0), quiet(kind, 1e-6)) for name, kind in KINDS.items()}
PRIVATIZERS = {"non_private": dp.NonPrivate(), "central": dp.Central(1e5), "local": dp.Local(1e5)}


def plans(setup, seed):
    """The plan of every episode of one run."""
    return [episode.plan for episode in episodes(setup, seed)]


def same(one, other):
    return all(
        np.array_equal(a.Q, b.Q) and np.array_equal(a.V, b.V) and np.array_equal(a.pi, b.pi)
        for a, b in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("name", ["central", "local"])
@pytest.mark.parametrize(
    ("mdp", "pooled"),
    [(dp.random_mdp(3, 2, 3, seed=1), False), (dp.riverswim(4, 5), False), (dp.riverswim(4, 5), True)],
    ids=["bernoulli", "riverswim", "pooled"],
)
def test_zero_noise_and_zero_e_reproduce_the_non_private_run_exactly(name, mdp, pooled):
    """Every plan of 80 episodes, bit for bit. Control: noise of scale 1e-6 does not."""
    agent = dp.DPUCBVI(bonus_scale=0.01, pooled=pooled)
    expected = plans(set_up(mdp, agent, dp.NonPrivate(), 80, beta=0.1), seed=3)
    silent, whisper = (set_up(mdp, agent, privatizer, 80, beta=0.1) for privatizer in SILENT[name])
    assert silent.noise.E == 0.0 and silent.postprocess == "closed_form"
    assert same(plans(silent, seed=3), expected)
    assert (expected[-1].Q < mdp.H).any() and expected[-1].pi.any()  # the run did learn something
    with_zero_e = whisper._replace(noise=Noise(1e-6, E=0.0), constants=silent.constants)
    assert not same(plans(with_zero_e, seed=3), expected)


def test_zero_noise_through_cvxpy_is_the_non_private_run_to_its_tolerance():
    mdp, agent = dp.random_mdp(2, 2, 2, seed=1), dp.DPUCBVI(bonus_scale=0.01)
    expected = plans(set_up(mdp, agent, dp.NonPrivate(), 12, beta=0.1), seed=3)
    solved = plans(set_up(mdp, agent, SILENT["central"][0], 12, beta=0.1, postprocess="cvxpy"), seed=3)
    for one, other in zip(solved, expected, strict=True):
        assert np.array_equal(one.pi, other.pi) and one.Q == pytest.approx(other.Q, abs=1e-5)


@pytest.mark.parametrize("name", PRIVATIZERS)
def test_q_never_increases_and_the_policy_is_greedy_with_ties_to_the_lowest(name):
    mdp = dp.random_mdp(3, 3, 3, seed=2)
    made = plans(set_up(mdp, dp.DPUCBVI(bonus_scale=0.003), PRIVATIZERS[name], 150, beta=0.1), seed=4)
    for last, plan in zip([None, *made[:-1]], made, strict=True):
        assert plan.Q.max() <= mdp.H and (last is None or (plan.Q <= last.Q).all())
        assert np.array_equal(plan.V[:-1], plan.Q.max(axis=-1)) and not plan.V[-1].any()
        for h, s in np.ndindex(3, 3):
            best = min(a for a in range(3) if plan.Q[h, s, a] == plan.V[h, s])
            assert plan.pi[h, s] == best
    assert (made[-1].Q[1:] < mdp.H).all()  # at step 1 only one state is ever met


def test_a_plan_is_not_changed_by_later_episodes():
    setup = set_up(dp.random_mdp(2, 2, 2, seed=1), dp.DPUCBVI(bonus_scale=0.001), dp.NonPrivate(), 30, beta=0.1)
    run = episodes(setup, seed=1)
    first = next(run).plan
    kept = [array.copy() for array in first]
    *_, last = run
    assert all(np.array_equal(a, b) for a, b in zip(first, kept, strict=True))
    assert not np.array_equal(last.plan.Q, first.Q)


def test_the_agent_of_the_package_is_algorithm_1():
    """`dp.DPUCBVI` is dp_ucbvi with line 7's constants, and line 7's bonus unless another is handed in."""
    setup = set_up(dp.riverswim(3, 4), dp.DPUCBVI(bonus_scale=0.01), dp.Central(300.0), 40, beta=0.1)
    assert setup.constants == bernstein_constants(setup.problem, setup.noise.E, 0.01)
    assert setup.agent.bonus is bernstein_bonus

    def algorithm(problem, private):
        return dp_ucbvi(problem, private, bernstein_constants(problem, private.E, 0.01))

    by_itself = set_up(dp.riverswim(3, 4), algorithm, dp.Central(300.0), 40, beta=0.1)
    assert same(plans(setup, seed=5), plans(by_itself, seed=5))


def optimism_gaps(name, seed, K, scale=1.0, beta=1e-5, cap="H"):
    """The least Q̃ - Q* of a run on a random MDP with small rewards, and the least Q̃ it ends with, by step."""
    drawn = dp.random_mdp(2, 2, 2, seed=seed)
    mdp = dp.TabularMDP(drawn.P, 0.2 * drawn.r, drawn.initial, "bernoulli")
    Q_star = dp.optimal_values(mdp)[1]
    gaps = []
    run = dp.run(
        mdp,
        dp.DPUCBVI(bonus_scale=scale, cap=cap),
        PRIVATIZERS[name],
        K=K,
        seed=seed,
        engine="reference",
        watch=lambda k, plan, counts: gaps.append((plan.Q - Q_star).min()),
        beta=beta,
    )
    assert len(gaps) == K
    return min(gaps), run.Q.min(axis=(1, 2))


@pytest.mark.parametrize(
    ("name", "K", "seeds"), [("non_private", 3500, 5), ("central", 700, 4), ("local", 700, 4)]
)
def test_lemma_c_11_optimism_with_the_printed_constants(name, K, seeds):
    """Q̃ ≥ Q* at every (k, h, s, a). The lemma fails with probability β = 1e-5 a run: false alarms below 1e-4.

    The runs are long enough for Q̃ to have left H, the longest at both steps. Control: with a thousandth of the
    bonus every run breaks it.
    """
    for seed in range(seeds):
        gap, least = optimism_gaps(name, seed, K)
        assert gap >= -1e-12
        assert least[1] < 1.9
        assert least[0] < 1.9 or K < 3500
    assert all(optimism_gaps(name, seed, 300, scale=0.001)[0] < -0.01 for seed in range(4))


def test_the_smaller_cap_keeps_optimism():
    """[D31] Q* is at most the steps that are left, so that a Q̃ cut there is still above it."""
    for seed in range(20):
        mdp = dp.random_mdp(3, 2, 4, seed=seed)
        assert (dp.optimal_values(mdp)[1].max(axis=(1, 2)) <= np.arange(4, 0, -1) + 1e-12).all()
    for seed in range(2):
        gap, least = optimism_gaps("central", seed, 200, cap="steps_left")
        assert gap >= -1e-12 and (least <= [2.0, 1.0]).all()
    assert optimism_gaps("central", 0, 200, scale=0.001, cap="steps_left")[0] < -0.01
