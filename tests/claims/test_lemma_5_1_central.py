"""Lemma 5.1, the Central Privatizer: Chan, Shi & Song's tree on every counter, and Assumption 3.1 with E.

Privacy of the release (sensitivity, levels) is tested in test_definitions_privacy.py; here that the mechanism
is the one the lemma speaks of: which noise enters which release, how it is distributed, how far it goes.

False alarms: every distribution test refuses a right mechanism with probability 1e-6. Power: on 7,680
magnitudes the Kolmogorov distance of scales 2/3 and 3/2 is above 0.12, so a wrong scale passes with probability
below 1e-20 (Dvoretzky, Kiefer, Wolfowitz).
"""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from private_counts import ALARM, RIVER, check_assumption_3_1, check_scale, flat, users
from scipy.stats import binomtest, kstest
from theory import exact_tail

import dpucbvi as dp
from dpucbvi.counts import as_counts, counters, statistics
from dpucbvi.mechanisms.binary import BinaryMechanism, levels
from dpucbvi.privacy.laplace import LaplaceStream, seed_stream
from dpucbvi.simulate import private_counts, set_up


def stream(seed=0):
    return LaplaceStream(seed_stream(seed, "privacy"))


# --- the mechanism is Chan's Algorithm 2 ------------------------------------------------------------


def chan_algorithm_2(items, L, scale, laplace):
    """The printed algorithm, on vectors: true p-sums α_i and noisy p-sums α̂_i, i = 0, ..., L-1."""
    size = items.shape[1]
    alpha = [np.zeros(size) for _ in range(L)]
    alpha_hat = [np.zeros(size) for _ in range(L)]
    releases = []
    for t, sigma in enumerate(items, start=1):
        i = 0
        while not t >> i & 1:
            i += 1
        alpha[i] = sum((alpha[j] for j in range(i)), np.zeros(size)) + sigma
        for j in range(i):
            alpha[j] = np.zeros(size)
            alpha_hat[j] = np.zeros(size)
        alpha_hat[i] = alpha[i] + np.rint(2**20 * scale * laplace.draw(size)) / 2**20  # on the lattice (D15)
        releases.append(sum((alpha_hat[j] for j in range(L) if t >> j & 1), np.zeros(size)))
    return np.array(releases).reshape(-1, size)


@settings(max_examples=120, deadline=None, derandomize=True, database=None)
@given(
    K=st.integers(1, 70),
    size=st.integers(1, 5),
    seed=st.integers(0, 2**32 - 1),
    scale=st.sampled_from([0, 1, 960]),
)
@example(K=1, size=2, seed=0, scale=1)
@example(K=2, size=2, seed=0, scale=1)
@example(K=3, size=2, seed=0, scale=1)
@example(K=4, size=2, seed=0, scale=1)
@example(K=64, size=2, seed=0, scale=1)
@example(K=65, size=2, seed=0, scale=1)
def test_releases_are_those_of_chans_algorithm_2(K, size, seed, scale):
    """Equal up to rounding on streams of K-1 items, K a power of two or not."""
    items = np.random.default_rng(seed).random((K - 1, size))
    tree = BinaryMechanism(size, levels(K), float(scale), stream(seed))
    ours = np.array([tree.release(item) for item in items]).reshape(-1, size)
    printed = chan_algorithm_2(items, levels(K), float(scale), stream(seed))
    assert ours.shape == printed.shape
    assert np.abs(ours - printed).max(initial=0.0) <= 1e-13 * (K + 100 * scale)


def test_levels_is_the_logarithm_of_k_rounded_up():
    assert [levels(K) for K in (1, 2, 3, 4, 5, 8, 9, 1024, 1025, 50_000)] == [0, 1, 2, 2, 3, 3, 4, 10, 11, 16]
    assert all(levels(K) == math.ceil(math.log2(K)) for K in range(1, 5000))


@pytest.mark.parametrize("L", [0, 1, 2, 5])
def test_a_full_tree_refuses_another_item(L):
    """2^L - 1 items fit: the tree of K episodes takes all K-1 users that Algorithm 1 reads."""
    tree = BinaryMechanism(3, L, 1.0, stream())
    for _ in range(2**L - 1):
        tree.release(np.zeros(3))
    with pytest.raises(OverflowError, match=rf"^a tree of {L} levels holds {2**L - 1} items"):
        tree.release(np.zeros(3))


# --- which noise is in which release ----------------------------------------------------------------


class LabelledStream:
    """In place of noise: draw j puts prime_c · 2^j in cell c, so a release shows which draws it holds."""

    PRIMES = (3, 5, 7, 11)

    def __init__(self):
        self.calls = []

    def draw(self, n):
        self.calls.append(n)
        return np.array([self.PRIMES[c] * 2.0 ** len(self.calls) for c in range(n)])


class FreshNoise(BinaryMechanism):
    """Broken: the noises of all blocks are drawn anew at every release."""

    def release(self, item):
        self.t += 1
        self.sum += item
        return self.sum + sum(self._stream.draw(len(self.sum)) for _ in range(self.t.bit_count()))


class SharedNoise(BinaryMechanism):
    """Broken: one noise per block for all cells."""

    def __init__(self, size, L, scale, stream):
        super().__init__(size, L, scale, self)
        self._inner = stream

    def draw(self, n):
        return np.full(n, self._inner.draw(1)[0])


class LeafNoise(BinaryMechanism):
    """Broken: every item its own noise, all summed (t noises instead of popcount(t))."""

    def release(self, item):
        self.t += 1
        self.sum += item + self._stream.draw(len(self.sum))
        return self.sum.copy()


class ForgottenNoise(BinaryMechanism):
    """Broken: only the newest block carries noise."""

    def release(self, item):
        self.t += 1
        self.sum += item
        return self.sum + self._stream.draw(len(self.sum))


def dyadic_blocks(t):
    """The closing times of the blocks that partition 1..t: t without its lowest bits, one bit at a time."""
    ends = set()
    while t:
        ends.add(t)
        t &= t - 1
    return ends


def structural_defects(Mechanism, L=5, cells=4):
    """What of the tree's structure fails; nothing for a right mechanism."""
    labels = LabelledStream()
    tree = Mechanism(cells, L, 1.0, labels)
    defects = set()
    for t in range(1, 2**L):
        released = tree.release(np.zeros(cells))
        if labels.calls[-1] != cells:
            defects.add("not one draw per cell")
        if len(labels.calls) != t:
            defects.add("not one draw per step")
        for c, prime in enumerate(labels.PRIMES[:cells]):
            held, rest = divmod(int(released[c]), prime)
            draws = {j for j in range(len(labels.calls) + 1) if held >> j & 1}
            if rest:
                defects.add("noise of another cell")
            if len(draws) != t.bit_count():
                defects.add("not popcount(t) noises")
            if draws != dyadic_blocks(t):
                defects.add("not the noises of the blocks of t")
    return defects


def test_each_block_has_its_own_noise_drawn_once_and_kept():
    """The release at t holds exactly the draws made when its popcount(t) blocks closed, cell by cell."""
    assert dyadic_blocks(13) == {13, 12, 8}
    assert structural_defects(BinaryMechanism) == set()


@pytest.mark.parametrize(
    ("Mechanism", "defect"),
    [
        (FreshNoise, "not one draw per step"),
        (SharedNoise, "noise of another cell"),
        (LeafNoise, "not popcount(t) noises"),
        (ForgottenNoise, "not the noises of the blocks of t"),
    ],
)
def test_broken_trees_are_caught(Mechanism, defect):
    assert defect in structural_defects(Mechanism)


# --- the noise of the whole privatizer --------------------------------------------------------------


def noise_of_releases(setup, seed, times):
    """(N̂ - N, R̂ - R) of all counters as one vector, after the given numbers of users."""
    sizes = setup.G, setup.mdp.S, setup.mdp.A
    private = private_counts(setup, seed)
    true = np.zeros(counters(*sizes))
    noises = {}
    for t, trajectory in enumerate(users(setup.mdp, max(times), seed), start=1):
        private.update(trajectory)
        true += statistics(trajectory, *sizes)
        if t in times:
            noises[t] = flat(private.N_hat) - flat(as_counts(true, *sizes))
    return noises


def magnitude_cdf(n):
    """P(|Z| ≤ y) for a sum Z of n Lap(1)."""
    return np.vectorize(lambda y: 1 - exact_tail(y, n))


@pytest.fixture(scope="module")
def tree_noise():
    """Noise after t = 1, 4, 6, 7 users of K = 8, RiverSwim (1,920 counters), ε = 2, four seeds together."""
    setup = set_up(RIVER, dp.DPUCBVI(), dp.Central(2.0), 8)
    runs = [noise_of_releases(setup, seed, (1, 4, 6, 7)) for seed in range(4)]
    return {t: np.concatenate([run[t] for run in runs]) for t in runs[0]}


NODE_SCALE = 3 * 20 * 3 / 2.0  # 3 families · H = 20 · L = 3 levels / ε = 2


@pytest.mark.parametrize("t", [1, 4, 6, 7])
def test_noise_is_a_sum_of_popcount_laplace_at_the_right_scale_only(tree_noise, t):
    z = tree_noise[t]
    assert len(z) == 4 * 1920
    check_scale(z, NODE_SCALE, magnitude_cdf(t.bit_count()))
    assert binomtest(int((z > 0).sum()), len(z)).pvalue > ALARM


def test_the_number_of_noises_can_be_told_from_the_release(tree_noise):
    """Control: noise after 7 users is not that of one, two or four blocks, nor after 4 users of three."""
    for n in (1, 2, 4):
        assert kstest(np.abs(tree_noise[7]) / NODE_SCALE, magnitude_cdf(n)).pvalue < ALARM
    assert kstest(np.abs(tree_noise[4]) / NODE_SCALE, magnitude_cdf(3)).pvalue < ALARM


def test_replace_one_doubles_the_noise():
    def scale(K, **settings):
        return set_up(RIVER, dp.DPUCBVI(), dp.Central(**settings), K).noise.scale

    assert dp.Central(2.0).scales(dp.Problem(20, 6, 2, 8, 0.05)) == (NODE_SCALE,) * 3
    assert scale(8, epsilon=2.0) == NODE_SCALE
    assert scale(8, epsilon=2.0, sensitivity="replace_one") == 2 * NODE_SCALE
    assert scale(50_000, epsilon=1.0) == 3 * 20 * 16


def neighbour_z(z):
    """Standard normals if all entries are independent of equal scale: correlation at lags 1 to 12."""
    z = z / z.std()
    return np.array([np.mean(z[:-lag] * z[lag:]) * math.sqrt(len(z) - lag) for lag in range(1, 13)])


def test_counters_have_independent_noise(tree_noise):
    """No two of 7,680 noises agree, and none of 12 lags correlates (|z| < 5.5: false alarms below 1e-6)."""
    for t in (1, 7):
        z = tree_noise[t]
        assert len(np.unique(z)) == len(z)
        assert np.abs(neighbour_z(z)).max() < 5.5
    shared = np.repeat(tree_noise[1][::6], 6)  # control: one noise for the six s' of each (h, s, a)
    assert len(np.unique(shared)) < len(shared) and np.abs(neighbour_z(shared)).max() > 5.5


def test_releases_share_the_noise_of_the_blocks_they_share(tree_noise):
    """Release 6 = [1..4] + [5,6] and release 7 adds [7]: their difference is one Laplace, not five."""
    difference = np.abs(tree_noise[7] - tree_noise[6]) / NODE_SCALE
    assert kstest(difference, magnitude_cdf(1)).pvalue > ALARM
    assert kstest(difference, magnitude_cdf(5)).pvalue < ALARM  # what fresh noise each time would give


# --- Assumption 3.1 with the proven E ---------------------------------------------------------------


def test_assumption_3_1_holds_with_the_proven_e():
    check_assumption_3_1(dp.Central)


def test_the_proven_e_is_large_enough_and_three_quarters_of_it_are_not():
    """Beyond E/4 the exact tails of all releases of all counters add up to β/3 at most, as Lemma 5.4 needs it.

    At the figure's size, where release k has popcount(k) noises; beyond 3/4 of E/4 they add up to more.
    """
    problem = dp.Problem(20, 6, 2, 50_000, 0.05)
    noise, size = dp.Central(1.0).noise_of(problem, problem.H), counters(*problem.shape(problem.H))
    releases = np.bincount([k.bit_count() for k in range(1, problem.K)])

    def union(bound):
        return sum(size * m * exact_tail(bound / noise.scale, n) for n, m in enumerate(releases) if m)

    assert union(noise.E / 4) <= problem.beta / 3 < union(0.75 * noise.E / 4)
