"""Appendix B: the private estimates P̃, r̃ are near P̂, r̂ (those of the true counts) and near P, r.

Three kinds of test. Remarks B.3, B.5, B.7 and Lemma B.9 follow from Assumption 3.1 alone: they must hold for
all counts it admits, up to their sharpest instance. Lemmas B.1, B.2, B.4, B.6 add an inequality about P̂ and r̂
(Hoeffding, Weissman, Bernstein): given that inequality they too must hold for all admissible counts. And in
runs of Algorithm 1 all must hold at every (h,s,a,s',k) at once, as often as the paper says.

In the lemmas P̂ is N(s,a,s')/N(s,a), without noise. Where N(s,a) = 0 it is not defined and taken as 0; any
distribution would do, since Ñ(s,a) ≤ E there and every bound is above its trivial value. In episode 1 all
private counts are 0 (D13); the lemmas are read from k = 2.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from private_counts import ALARM, violations
from scipy.stats import binomtest
from watched_runs import true_counts, variance, watch

import dpucbvi as dp
from dpucbvi.bonus import log_iota
from dpucbvi.simulate import run_setup, set_up

CHECKED = settings(max_examples=200, deadline=None, derandomize=True, database=None)
ROUNDING = 1 + 1e-9


# --- what follows from Assumption 3.1 alone -----------------------------------------------------------


def admissible(rng, N, E, ends):
    """Private counts Ñ(s') that Assumption 3.1 admits for the true N(s') (rows, then s').

    The errors d = Ñ - N lie in [-E, E], a share `ends` of them at an end until their sum is moved into [0, E].
    """
    u = rng.uniform(-1, 1, N.shape)
    d = E * np.where(rng.random(N.shape) < ends, np.sign(u), u)
    d = np.where(N > 0, np.maximum(d, -(1 - 1e-6) * N), np.abs(d) + 1e-9 * E)  # Ñ(s') > 0
    d = np.clip(d, -E, E)
    D = E * rng.choice([1e-9, rng.random(), 1.0], size=(len(N), 1))
    up, down = np.maximum(d, 0), np.maximum(-d, 0)
    p, q = up.sum(axis=-1, keepdims=True), down.sum(axis=-1, keepdims=True)
    raised, lowered = up * (D + q) / np.where(p > 0, p, 1), down * (p - D) / np.where(q > 0, q, 1)
    return N + np.where(p - q > D, raised - down, np.where(p > D, up - lowered, up))


def assumption_3_1(N, N_tilde, E):
    total, slack = N.sum(axis=-1), 1e-9 * (E + N.max())
    tilde, true = dp.Counts(N_tilde.sum(axis=-1), N_tilde, total), dp.Counts(total, N, total)
    return not violations(tilde, true, E, slack)


def remarks(N, N_tilde, E, V, H):
    """Left over right side of B.3, B.5, B.7 and the two inequalities of B.9, per row; all N(s,a) > 0."""
    S, total = N.shape[-1], N_tilde.sum(axis=-1)
    P_tilde, P_hat = N_tilde / total[:, None], N / N.sum(axis=-1, keepdims=True)
    apart = np.abs(P_tilde - P_hat)
    norm = apart.sum(axis=-1)
    deviations = np.abs(np.sqrt(variance(P_tilde, V)) - np.sqrt(variance(P_hat, V)))
    rounding = 1e-12 * H  # both sides are 0 if S = 1
    return {
        "B.3": norm / (2 * S * E / total),
        "B.5": apart.max(axis=-1) / (2 * E / total),
        "B.7": np.abs(((P_tilde - P_hat) * np.abs(V)).sum(axis=-1)) / (2 * H * S * E / total),
        "B.9, norm": deviations / (math.sqrt(3) * H * np.sqrt(norm) + rounding),
        "B.9, counts": deviations / (3 * H * np.sqrt(S * E / total) + rounding),
    }


@CHECKED
@given(
    S=st.integers(1, 7),
    size=st.sampled_from([1, 4, 100, 10**5]),
    E=st.sampled_from([0.35, 0.7, 8.0, 300.0, 1e5]),
    ends=st.sampled_from([0.0, 0.5, 1.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_remarks_and_lemma_b_9_hold_for_all_admissible_counts(S, size, E, ends, seed):
    """50 rows an example. V is in [-H, H] for B.9; |V| in its place for B.7, where V* is in [0, H]."""
    rng = np.random.default_rng(seed)
    N = rng.integers(0, size, (50, S), endpoint=True) * (rng.random((50, S)) < 0.7) * 1.0
    N[:, 0] = np.maximum(N[:, 0], 1.0)  # N(s,a) > 0
    N_tilde = admissible(rng, N, E, ends)
    assert assumption_3_1(N, N_tilde, E)
    H = 5.0
    V = H * np.where(rng.random((50, S)) < 0.5, rng.choice([-1, 1], (50, S)), rng.uniform(-1, 1, (50, S)))
    for ratio in remarks(N, N_tilde, E, V, H).values():
        assert ratio.max() <= ROUNDING


def sharpest(excess):
    """S = 3 and one next state seen n times: errors (-E, E, E) times `excess`, values (-H, H, H)."""
    H, E, n = 5.0, 2.0, 1e9
    N, d = np.array([[n, 0.0, 0.0]]), excess * E * np.array([[-1.0, 1.0, 1.0]])
    return {name: ratio[0] for name, ratio in remarks(N, N + d, E, H * np.array([[-1.0, 1.0, 1.0]]), H).items()}


def test_how_sharp_the_remarks_are():
    """B.5 is attained. B.3 reaches (S+1)E/Ñ, the first line of its proof added up: 2/3 of the bound."""
    ratio = sharpest(1.0)
    assert ratio["B.5"] == pytest.approx(1.0, abs=1e-6)
    assert ratio["B.3"] == pytest.approx(2 / 3, abs=1e-6)
    assert ratio["B.9, norm"] == pytest.approx(math.sqrt(2 / 3), abs=1e-4)
    assert ratio["B.9, counts"] == pytest.approx(2 * math.sqrt(2 / 27), abs=1e-4)  # 0.544


@pytest.mark.parametrize(
    ("name", "excess"), [("B.5", 1.01), ("B.3", 1.51), ("B.9, counts", 3.4)], ids=["B.5", "B.3", "B.9"]
)
def test_counts_further_off_than_e_break_the_remarks(name, excess):
    """Control. The first inequality of B.9 has no E: its √3 cannot be 1.4."""
    assert sharpest(excess)[name] > 1
    assert sharpest(1.0)["B.9, norm"] * math.sqrt(3) > 1.4


def test_remark_b_7_reaches_a_third_of_its_bound():
    """With V* = (0, H, H) on the same counts, and is broken by errors above 3E."""

    def ratio(excess):
        N, E, H = np.array([[1e9, 0.0, 0.0]]), 2.0, 5.0
        d, V = excess * E * np.array([[-1.0, 1.0, 1.0]]), H * np.array([[0.0, 1.0, 1.0]])
        return remarks(N, N + d, E, V, H)["B.7"][0]

    assert ratio(1.0) == pytest.approx(1 / 3, abs=1e-6)
    assert ratio(3.01) > 1


# --- from P̂ and r̂ to P̃ and r̃ ------------------------------------------------------------------------


def lemma_b_2(N, P_tilde, P, E, iota):
    S = P.shape[-1]
    width = 2 * np.sqrt(S * iota / N) + 2 * S * E / N
    return np.abs(P_tilde - P).sum(axis=-1) / width


def lemma_b_4(N, P_tilde, P, E, iota):
    width = np.sqrt(2 * P * iota / N[..., None]) + 2 * E * iota / N[..., None]
    return np.abs(P_tilde - P) / width


def lemma_b_6(N, P_tilde, P_hat, P, V, H, E, iota):
    """V is V*_{h+1}."""
    S = P.shape[-1]
    least = np.minimum(variance(P, V), variance(P_hat, V))
    width = np.sqrt(2 * least * iota / N) + 2 * H * S * E * iota / N
    return np.abs(((P_tilde - P) * V).sum(axis=-1)) / width


def concentrated(n, P_hat, P, V, H, iota):
    """Where the inequalities about P̂ hold that the proofs take from Weissman and (empirical) Bernstein."""
    S = P.shape[-1]
    apart, mean = np.abs(P_hat - P), np.abs(((P_hat - P) * V).sum(axis=-1))
    by_true = np.sqrt(2 * variance(P, V) * iota / n) + 2 * H * iota / (3 * n)
    by_seen = np.sqrt(2 * variance(P_hat, V) * iota / n) + 7 * H * iota / (3 * n)
    return (
        (apart.sum(axis=-1) <= 2 * np.sqrt(S * iota / n))
        & (apart <= np.sqrt(2 * P * iota / n) + 2 * iota / (3 * n)).all(axis=-1)
        & (mean <= np.minimum(by_true, by_seen))
    )


def furthest_concentrated(rng, n, P, V, H, iota):
    """P̂ as far from P, in a random direction, as the inequalities allow (up to a step of 1/40)."""
    corner = np.eye(P.shape[-1])[rng.integers(P.shape[-1], size=len(P))]
    P_hat = P.copy()
    for t in np.linspace(0, 1, 41)[1:]:
        moved = (1 - t) * P + t * corner
        good = concentrated(n, moved, P, V, H, iota)
        P_hat = np.where(good[:, None], moved, P_hat)
    return P_hat


def least_e(S, iota):
    """From here on the last steps of B.4 and B.6 are right (D21)."""
    return max(iota / (3 * (iota - 1)), 7 * iota / (6 * S * (iota - 1)))


@CHECKED
@given(
    S=st.integers(1, 6),
    n=st.sampled_from([1.0, 7.0, 60.0, 1e3, 1e6]),
    iota=st.sampled_from([8.0, 15.0, 30.0]),
    excess=st.sampled_from([1.0, 1.3, 20.0, 1e4]),
    ends=st.sampled_from([0.0, 0.5, 1.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_concentrated_estimates_and_admissible_counts_give_b_2_b_4_b_6(S, n, iota, excess, ends, seed):
    """40 rows an example, n visits each, E at least the border of D21. The counts n P̂(s') are not rounded."""
    rng = np.random.default_rng(seed)
    H, E = 4.0, excess * least_e(S, iota)
    P = rng.dirichlet(np.full(S, 0.5), size=40)
    V = H * np.where(rng.random((40, S)) < 0.5, rng.integers(0, 2, (40, S)), rng.random((40, S)))
    P_hat = furthest_concentrated(rng, n, P, V, H, iota)
    N_tilde = admissible(rng, n * P_hat, E, ends)
    assert assumption_3_1(n * P_hat, N_tilde, E)
    total = N_tilde.sum(axis=-1)
    P_tilde = N_tilde / total[:, None]
    assert lemma_b_2(total, P_tilde, P, E, iota).max() <= ROUNDING
    assert lemma_b_4(total, P_tilde, P, E, iota).max() <= ROUNDING
    assert lemma_b_6(total, P_tilde, P_hat, P, V, H, E, iota).max() <= ROUNDING


def b_4_at(E, iota):
    """One next state for sure, P̂ at Bernstein's lower end, errors (-E, E, E): B.4's left over right side."""
    n, P = 1e6, np.array([1.0, 0.0, 0.0])
    low = 1 - math.sqrt(2 * iota / n) - 2 * iota / (3 * n)
    N_tilde = n * np.array([low, 1 - low, 0.0]) + E * np.array([-1.0, 1.0, 1.0])
    total = N_tilde.sum()
    return lemma_b_4(np.array(total), N_tilde / total, P, E, iota)[0]


def test_the_border_of_d21_is_sharp_for_lemma_b_4():
    """Bernstein's inequality and Assumption 3.1 give B.4 from E = ι/(3(ι-1)) on, and not 2% below."""
    iota = 15.0
    border = iota / (3 * (iota - 1))
    assert 0.9999 < b_4_at(border, iota) <= 1
    assert b_4_at(0.98 * border, iota) > 1


@CHECKED
@given(
    n=st.sampled_from([1.0, 7.0, 60.0, 1e3, 1e6]),
    iota=st.sampled_from([8.0, 15.0, 30.0]),
    E=st.sampled_from([1e-3, 0.5, 8.0, 1e4]),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_concentrated_reward_and_admissible_counts_give_b_1(n, iota, E, seed):
    """r̂ at both ends of Hoeffding's interval, R̃ and Ñ anywhere within E, half of them at an end."""
    rng = np.random.default_rng(seed)
    r, size = rng.choice([0.0, 1.0, rng.random()], 100), 100
    r_hat = np.clip(r + rng.choice([-1, 1], size) * math.sqrt(2 * iota / n), 0, 1)
    R_tilde = n * r_hat + E * rng.choice([-1, 1, rng.uniform(-1, 1)], size)
    N_tilde = n + E * rng.choice([0, 1, rng.random()], size)
    r_tilde = np.clip(R_tilde / N_tilde, 0, 1)
    width = np.sqrt(2 * iota / N_tilde) + 2 * E / N_tilde
    assert (np.abs(r_tilde - r) / width).max() <= ROUNDING


def test_lemma_b_1_needs_both_its_terms():
    """r = 1, R̃ = R - E, Ñ = N + E: the width is attained but for 0.01%; with 1.9E for 2E it is too small."""
    n, E, iota = 1e9, 1e6, 15.0
    R_tilde, N_tilde = n - math.sqrt(2 * iota * n) - E, n + E
    gap, first = 1 - R_tilde / N_tilde, math.sqrt(2 * iota / N_tilde)
    assert 0.9999 < gap / (first + 2 * E / N_tilde) <= 1
    assert gap > first + 1.9 * E / N_tilde


# --- in runs of Algorithm 1 --------------------------------------------------------------------------------


def lemmas(run):
    """The largest left over right side of B.1, B.2, B.4, B.6 and the remarks over all (h,s,a,s') and k ≥ 2."""
    setup = run.setup
    mdp, E, iota = setup.mdp, setup.noise.E, log_iota(setup.problem)
    true, tilde = (dp.Counts(*(family[1:] for family in c)) for c in (true_counts(run), run.tilde))
    N, V = tilde.N_sa, dp.optimal_values(mdp)[0][1:, None, None]
    P_tilde = tilde.N_sas / N[..., None]
    P_hat = true.N_sas / np.maximum(true.N_sa, 1)[..., None]
    r_tilde = np.clip(tilde.R / N, 0, 1)
    seen = true.N_sa > 0
    near = remarks(true.N_sas[seen], tilde.N_sas[seen], E, np.broadcast_to(V, P_hat.shape)[seen], mdp.H)
    return {
        "B.1": (np.abs(r_tilde - mdp.r) / (np.sqrt(2 * iota / N) + 2 * E / N)).max(),
        "B.2": lemma_b_2(N, P_tilde, mdp.P, E, iota).max(),
        "B.4": lemma_b_4(N, P_tilde, mdp.P, E, iota).max(),
        "B.6": lemma_b_6(N, P_tilde, P_hat, mdp.P, V, mdp.H, E, iota).max(),
        **{name: ratio.max() for name, ratio in near.items()},
        "Assumption 3.1": assumption_3_1(true.N_sas, tilde.N_sas, E) and np.abs(tilde.R - true.R).max() <= E,
    }


def test_a_watched_run_is_the_run():
    """The last plan is the reference's, and the true counts add up, also from a later episode on."""
    agent = dp.DPUCBVI(bonus_scale=0.01)
    setup = set_up(dp.random_mdp(3, 2, 4, seed=5), agent, dp.Local(1e4), 300, lp_checks=0)
    run, trace = watch(setup, seed=2), run_setup(setup, seed=2, engine="reference")
    assert np.array_equal(run.Q[-1], trace.Q) and run.Q[-1].min() < 4
    last = np.zeros_like(trace.N_sa)
    last[np.arange(4), run.s[-1, :-1], run.a[-1]] = 1
    assert np.array_equal(run.N[-1] + last, trace.N_sa)
    assert np.array_equal(true_counts(run).N_sas.sum(axis=-1), run.N)
    later = watch(setup, seed=2, first=201)
    for name in ("k", "s", "a", "r", "N", "Q", "V", "V_pi"):
        assert np.array_equal(getattr(later, name), getattr(run, name)[200:])
    for family, from_the_start in zip(later.tilde, run.tilde, strict=True):
        assert np.array_equal(family, from_the_start[200:])


def over_runs(setup, runs):
    """The largest ratios of every run, as one array per lemma."""
    found = [lemmas(watch(setup, seed)) for seed in range(runs)]
    return {name: np.array([one[name] for one in found]) for name in found[0]}


SHARES = {"B.1": 1 / 15, "B.2": 1 / 15, "B.4": 1 / 15, "B.6": 2 / 15}  # of β
TOO_NARROW = {"B.1": 1 / 6, "B.2": 1 / 6, "B.4": 1 / 6, "B.6": 1 / 20}  # of the width
REMARKS = ("B.3", "B.5", "B.7", "B.9, norm", "B.9, counts")


@pytest.mark.parametrize("privatizer", [dp.Central(8000.0), dp.Local(2500.0)], ids=["central", "local"])
def test_lemmas_b_1_to_b_8_in_runs_of_algorithm_1(privatizer):
    """115 runs of 400 episodes on a random MDP, H = S = A = 2, β = 0.9, E = 0.7 or 0.9, bonus × 0.01.

    By 99.9% Clopper-Pearson bounds no lemma fails more often than its share of β, nor any of them more often
    than β/3. Control: with B.6's width divided by 20 and the others' by 6 each fails in so many runs that its
    share is refused at 1e-6.
    """
    beta = 0.9
    setup = set_up(dp.random_mdp(2, 2, 2, seed=3), dp.DPUCBVI(bonus_scale=0.01), privatizer, 400, beta=beta)
    assert least_e(2, log_iota(setup.problem)) < setup.noise.E < 1
    ratio = over_runs(setup, 115)
    assert ratio["Assumption 3.1"].all()
    assert all(ratio[remark].max() <= ROUNDING for remark in REMARKS)
    failed = {lemma: ratio[lemma] > 1 for lemma in SHARES}
    for lemma, share in SHARES.items():
        assert upper_bound(failed[lemma]) <= share * beta
        narrow = ratio[lemma] > TOO_NARROW[lemma]
        assert binomtest(int(narrow.sum()), 115, share * beta, alternative="greater").pvalue < ALARM
    assert upper_bound(np.any(list(failed.values()), axis=0)) <= beta / 3


def upper_bound(failed):
    return binomtest(int(failed.sum()), len(failed)).proportion_ci(0.998, "exact").high


@pytest.mark.parametrize(
    "mdp",
    [dp.riverswim(4, 6, rewards="bernoulli"), dp.random_mdp(3, 2, 4, seed=5)],
    ids=["riverswim", "random"],
)
@pytest.mark.parametrize("bonus", [1.0, 0.01])
def test_no_violation_in_longer_runs(mdp, bonus):
    """3 runs of 3,000 episodes, β = 0.001: a false alarm has probability at most 3 · 2β/3 = 0.002."""
    setup = set_up(mdp, dp.DPUCBVI(bonus_scale=bonus), dp.Central(1e4), 3000, beta=0.001)
    for seed in range(3):
        ratio = lemmas(watch(setup, seed))
        assert ratio.pop("Assumption 3.1")
        assert max(ratio.values()) <= ROUNDING


# --- where B.4 and B.6 are false ------------------------------------------------------------------------------


def rare_transitions(p=0.005):
    """H = S = 3, A = 2; every pair has one usual next state and two of probability p."""
    P, r = np.full((3, 3, 2, 3), p), np.zeros((3, 3, 2))
    for h, s, a in np.ndindex(3, 3, 2):
        P[h, s, a, (h + s + a) % 3] = 1 - 2 * p
    r[1, 1], r[2, 2] = 0.5, 1.0
    return dp.TabularMDP(P, r, np.eye(3)[0], "bernoulli")


def test_lemmas_b_4_and_b_6_are_false_for_small_e():
    """ε = 10⁸, so E = 10⁻⁴, in 60 runs of 400 episodes, β = 0.05: Assumption 3.1 holds in all, B.6 in none.

    The first visit of a pair is enough for B.6: P̂ has no variance then. B.4 fails where a rare next state comes
    early. Their shares 2β/15 and β/15 are refused at 1e-6. With E = 1 (ε = 10⁴) both hold in the same 60 runs.
    """
    beta, mdp, agent = 0.05, rare_transitions(), dp.DPUCBVI(bonus_scale=0.01)
    ratio = over_runs(set_up(mdp, agent, dp.Central(1e8), 400, beta=beta), 60)
    assert ratio["Assumption 3.1"].all()
    assert (ratio["B.6"] > 1).all()
    often = int((ratio["B.4"] > 1).sum())
    assert binomtest(often, 60, beta / 15, alternative="greater").pvalue < ALARM
    assert ratio["B.1"].max() < 1 and ratio["B.2"].max() < 1
    larger = over_runs(set_up(mdp, agent, dp.Central(1e4), 400, beta=beta), 60)
    assert larger["B.4"].max() < 1 and larger["B.6"].max() < 1
