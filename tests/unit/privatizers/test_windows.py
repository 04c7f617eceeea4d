"""Windows: one batch per user, the worst kind of batch, sums of steps by hand, and which windows are split."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import kstest
from users import Silence

import dpucbvi as dp
from dpucbvi.counts import FAMILIES, add_user, statistics
from dpucbvi.mdp import Trajectory, rollout, uniforms_per_episode
from dpucbvi.privacy.accounting import epsilon_of_zcdp, gaussian_mu, gdp_of_pure, zcdp_of_gdp, zcdp_of_pure
from dpucbvi.privacy.certificate import worst
from dpucbvi.privacy.draws import another
from dpucbvi.privacy.exact import discrete_gaussian, discrete_laplace
from dpucbvi.privacy.laplace import seed_stream
from dpucbvi.privacy.words import SeededWords
from dpucbvi.privatizers.batches import show
from dpucbvi.privatizers.windows import (
    distance,
    keep_level,
    level_of,
    release,
    split_windows,
    take,
    windows,
)
from dpucbvi.protocol import Noisy
from dpucbvi.simulate import set_up

H, S, A, K = 8, 3, 2, 61
PROBLEM = dp.Problem(H, S, A, K, 0.1)
ALARM = 1e-6  # the probability with which a test of a law refuses the right one
TEN = {"first": 10, "growth": 1.0, "pooled": 20}  # batches of ten, the first two of them pooled
LOUD = {"epsilon": 1e6, "first": 10**7, "growth": 1.0, "pooled": 2 * 10**7}  # the same, and every row is kept
GREEDY = dp.DPUCBVI(cap="steps_left", minimum=False)


def quiet(state):
    return state._replace(coarse=Silence(), fine=Silence())


def users(n, seed=0, pi=None):
    """Users who follow the policy; rewards are bits."""
    rng = np.random.default_rng(seed)
    pi = np.zeros((H, S), np.int64) if pi is None else pi
    for _ in range(n):
        s = rng.integers(S, size=H + 1)
        a, r = pi[np.arange(H), s[:-1]], rng.integers(2, size=H)
        yield dp.User(s, a, r.astype(float), pi, s[1:] + S * r)


def room():
    return Noisy(np.zeros(H * S * A * (2 * S + 2)), np.zeros(H * S * A))


# --- windows --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("horizon", [1, 2, 3, 4, 5, 8, 20])
def test_levels_cut_the_horizon_and_nest(horizon):
    tree = windows(horizon)
    for level in range(tree.level[-1] + 1):
        steps = [h for i in np.flatnonzero(tree.level == level) for h in range(tree.first[i], tree.last[i])]
        assert steps == list(range(horizon))
    assert (np.flatnonzero(tree.level == tree.level[-1]).size, tree.parent[0]) == (horizon, 0)
    for i in range(1, tree.first.size):
        around = tree.parent[i]
        assert tree.level[around] == tree.level[i] - 1
        assert tree.first[around] <= tree.first[i] and tree.last[i] <= tree.last[around]


@pytest.mark.parametrize(
    ("delta", "present", "levels"),
    [
        (0.0, 0, [0, 0, 1, 2, 0, 3, 1, 0, 2, 3, 0]),
        (0.0, 1, [0, 0, 2, 3, 2, 3, 2, 3, 2, 3, 2]),
        (1e-6, 0, [0, 0, 3, 3, 0, 3, 3, 0, 3, 3, 0]),
        (1e-6, 1, [0, 0, 3, 3, 3, 3, 3, 3, 3, 3, 3]),
    ],
)
def test_every_third_batch_is_pooled_while_nothing_is_split_for_all(delta, present, levels):
    privatizer, problem = dp.Windows(1.0, delta=delta, **TEN), dp.Problem(H, S, A, 111, 0.1)
    state, found = privatizer.start(problem, H, seed_stream(0, "privacy")), []
    state.present[0] = present
    for closed in range(1, 12):
        state.closed[0] = closed
        found.append(level_of(state))
    assert found == levels
    pooled, others = privatizer.kinds(problem)
    assert found.count(0) <= pooled == 5 and 11 - found.count(0) <= others == 9


# --- privacy --------------------------------------------------------------------------------------------------


def sensitivities(G):
    """ℓ1 and ℓ2 over all pairs of users with 2 steps and 2 states, through the real feature code."""
    sigma = [
        statistics(Trajectory(np.array(s), np.zeros(2, np.int64), np.array(r)), G, 2, 1, FAMILIES["symbols"])
        for s in np.ndindex(2, 2, 2)
        for r in np.ndindex(2, 2)
    ]
    apart = [a - b for a in sigma for b in sigma]
    return max(np.abs(x).sum() for x in apart), max(math.sqrt(np.square(x).sum()) for x in apart)


def test_each_kind_has_the_noise_of_its_sensitivity():
    """Exactly ε and exactly μ. Control: the noise of counts per step is too small for pooled counts."""
    problem, (l1_pooled, l2_pooled), (l1, l2) = (
        dp.Problem(2, 2, 1, 3000, 0.1),
        sensitivities(1),
        sensitivities(2),
    )
    pure, gaussian = dp.Windows(0.5), dp.Windows(0.5, delta=1e-6)
    mu = gaussian_mu(0.5, 1e-6)
    assert l1_pooled / pure.scale(problem, 0) == pytest.approx(0.5) == l1 / pure.scale(problem, 1)
    assert l1_pooled / gaussian.scale(problem, 0) == pytest.approx(0.5)  # Laplace too
    assert l2 / gaussian.scale(problem, 1) == pytest.approx(mu)
    assert l2_pooled / gaussian.scale(problem, 1) == pytest.approx(math.sqrt(2) * mu)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_law_of_the_noise(delta):
    """6,000 and 12,000 cells: the right scale is refused with probability 1e-6, and 3/2 of it is not missed."""
    problem, privatizer = dp.Problem(2, 10, 30, 3000, 0.1), dp.Windows(1.0, delta=delta)
    state = privatizer.start(problem, 2, seed_stream(1, "privacy"))
    laws = (
        (state.coarse, state.coarse_noise, "laplace"),
        (state.fine, state.fine_noise, "norm" if delta else "laplace"),
    )
    words = []
    for kind, (source, room_for_noise, law) in enumerate(laws):
        drawn = source.draw(room_for_noise.size) / privatizer.scale(problem, kind)
        assert kstest(drawn, law).pvalue > ALARM
        assert kstest(drawn / 1.5, law).pvalue < ALARM
        words.append(set(source.words))
    assert not words[0] & words[1]  # two streams


def test_the_certificate_is_that_of_the_worst_kind_not_the_sum():
    both = dp.Windows(1.0, delta=1e-6, **TEN).certificate(PROBLEM, H)
    assert (both.replace_one, both.delta) == (pytest.approx(1.0), 1e-6)
    assert both.mu("replace_one") == pytest.approx(max(gdp_of_pure(1.0), gaussian_mu(1.0, 1e-6)))
    assert both.rho("replace_one") == pytest.approx(max(zcdp_of_pure(1.0), zcdp_of_gdp(gaussian_mu(1.0, 1e-6))))
    assert gdp_of_pure(1.0) > gaussian_mu(1.0, 1e-6)  # a pure ε is the worse of the two there
    two = dp.Problem(H, S, A, 21, 0.1)  # two batches: none of them is pooled, and a third one is
    steps = dp.Windows(1.0, delta=1e-6, **{**TEN, "pooled": 0}).certificate(two, H)
    third = dp.Windows(1.0, delta=1e-6, **{**TEN, "pooled": 0}).certificate(two._replace(K=31), H)
    assert third.mu("replace_one") == both.mu("replace_one")
    assert steps.mu("replace_one") == pytest.approx(gaussian_mu(1.0, 1e-6))
    pooled = dp.Windows(1.0, delta=1e-6, **{**TEN, "pooled": K}).certificate(PROBLEM, H)
    assert (pooled.replace_one, pooled.delta) == (1.0, 0.0)
    assert dp.Windows(1.0, first=100).certificate(PROBLEM, H) == dp.Certificate("JDP", 0.0, 0.0)
    assert worst([dp.Certificate("JDP", 0.1, 0.4), dp.Certificate("JDP", 0.2, 0.3)]) == dp.Certificate(
        "JDP", 0.2, 0.4
    )


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_exact_releases_are_integers_and_those_of_the_words(delta):
    """Counts by hand plus noise from the same words, at levels 0 and 3; 0 where no policy may go."""
    privatizer = dp.Windows(1.0, delta=delta, **TEN, noise="exact", words=SeededWords)
    state = privatizer.start(PROBLEM, H, seed_stream(0, "privacy")).inner
    seeds = seed_stream(0, "privacy"), another(seed_stream(0, "privacy"))
    for kind, level, n in ((0, 0, 1), (1, 3, H)):
        steps, words = np.zeros((2 * S, H, S * A), np.int64), SeededWords(seeds[kind])
        for user in users(10):
            add_user(state.counting, state.batch, user)
            show(user.pi, H, A, state.shown)
            np.add.at(steps, (user.place, np.arange(H), user.s[:-1] * A + user.a), 1)
        scale = privatizer.of_kind[kind].exact_noise(PROBLEM, (1, H)[kind]).scale.M
        draw = discrete_gaussian if delta and kind else discrete_laplace
        noise = np.array([draw(scale, words) for _ in range(2 * S * H * S * A if kind else 2 * S * S * A)])
        found = release(state, level)
        expected = steps.reshape(2 * S, n, -1, S * A).sum(axis=2) + noise.reshape(2 * S, n, S * A)
        expected[:, :, 1::A] = 0  # all policies take action 0
        assert found.dtype == np.int64 and np.array_equal(found, expected)
        assert not state.batch.any() and not state.shown.any()


@pytest.mark.slow  # it compiles exact draws once more, for windows
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_both_engines_make_the_same_of_the_same_words(delta):
    mdp, seen = dp.flipping_river(S=3, H=4, at=2), {"reference": [], "fast": []}
    rule = {"power": 1.0, "z": 1.0, "tolerance": 0.0}
    privatizer = dp.Windows(50.0, delta=delta, first=500, pooled=1000, **rule, noise="exact", words=SeededWords)
    for engine, counts in seen.items():
        dp.run(mdp, GREEDY, privatizer, K=90, engine=engine, watch=lambda k, p, c, to=counts: to.append(c))
    for one, other in zip(*seen.values(), strict=True):
        assert all(np.array_equal(x, y) for x, y in zip(one, other, strict=True))
    assert seen["fast"][-1].N_sas.any()


def test_an_exact_certificate_is_that_of_the_worst_kind():
    """ε of exactly 2H/t and ρ of exactly 2H/(2σ²), both rounded up; the ρ of a pure ε is the larger."""
    privatizer = dp.Windows(1.0, delta=1e-6, **TEN, noise="exact")
    found = privatizer.certificate(PROBLEM, H)
    t, sigma2 = (
        one.exact_noise(PROBLEM, steps).scale.M for one, steps in zip(privatizer.of_kind, (1, H), strict=True)
    )
    assert 2 * H / t <= 1 and found.noise == "release" and found.delta == 1e-6
    rho = max(zcdp_of_pure(float(2 * H / t)), float(Fraction(H) / sigma2))
    assert found.rho("replace_one") == pytest.approx(rho) == zcdp_of_pure(1.0)
    assert found.replace_one >= max(2 * H / t, epsilon_of_zcdp(float(Fraction(H) / sigma2), 1e-6))
    assert found.replace_one == pytest.approx(1.0) and math.isinf(found.mu("replace_one"))
    pure = dp.Windows(0.3, **TEN, noise="exact").certificate(PROBLEM, H)
    assert 0.3 * (1 - 1e-6) < pure.replace_one <= 0.3 and pure.delta == 0.0
    assert dp.Windows(1.0, first=100, noise="exact").certificate(PROBLEM, H).replace_one == 0.0


# --- what is handed on ----------------------------------------------------------------------------------------


def test_windows_are_sums_of_steps():
    """Without noise, with one policy: a window has the symbols of its steps, the horizon those of all users."""
    state, noisy = quiet(dp.Windows(**LOUD).start(PROBLEM, H, seed_stream(0, "privacy"))), room()
    steps = np.zeros((6, H, 2 * S, S * A))  # of every batch
    for t, user in enumerate(users(K - 1), start=1):
        for h in range(H):
            steps[(t - 1) // 10, h, user.place[h], user.s[h] * A + user.a[h]] += 1
        take(state, t, user, noisy)
    Y, tree, released_at = state.levels.Y, state.levels.tree, np.array([0, 0, 1, 2, 0, 3])
    for i in range(tree.first.size):
        fine_enough = steps[released_at >= tree.level[i]].sum(axis=0)
        assert np.array_equal(Y[i], fine_enough[tree.first[i] : tree.last[i]].sum(axis=0))
    rows = noisy.counts[H * S * A : -H * S * A].reshape(2 * S, H, S * A)
    assert np.array_equal(rows, np.repeat(Y[0][:, None], H, axis=1))  # users do not depend on h: pooled
    assert noisy.sd.max() < 1e-3


def final_state(mdp, K=4000, **rule):
    """What a release with next to no noise has found out at the end of a run."""
    setup = set_up(mdp, GREEDY, dp.Windows(1e4, delta=0.1, first=10**6, pooled=0, **rule), K)
    release = setup.privatizer.release(setup.problem, mdp.H, seed_stream(0, "privacy"))
    rng = np.random.default_rng(1)
    pi = rng.integers(2, size=(mdp.H, mdp.S))
    for k in range(1, K):
        if k % 400 == 0:
            pi = rng.integers(2, size=(mdp.H, mdp.S))
        path = rollout(mdp, pi, rng.random(uniforms_per_episode(mdp.H)))
        place = path.s[1:] + mdp.S * path.r.astype(np.int64)
        release.release(dp.User(path.s, path.a, path.r, pi, place))
    return release.state.levels


def test_a_river_that_flips_is_split_where_it_flips_and_no_other():
    """Roles change after 4 of 8 steps. Controls: a river that does not flip, and a tolerance of everything."""
    flipping = final_state(dp.flipping_river(S=3, H=8, at=4))
    split, visited = split_windows(flipping), flipping.Y[0].sum(axis=0) > 500
    assert visited.sum() >= 4
    assert split[0, visited].all() and not split[1:].any()
    assert not split_windows(final_state(dp.riverswim(3, 8))).any()
    assert not split_windows(final_state(dp.flipping_river(S=3, H=8, at=4), tolerance=1.0)).any()


def test_the_present_level_is_found_again_from_what_is_kept():
    """A session stores counts and no level. Control: nothing is split while there are none."""
    mdp = dp.flipping_river(S=3, H=8, at=4)
    state = dp.Windows(1e4, theta=0.0).start(dp.Problem(8, 3, 2, 4000, 0.1), 8, seed_stream(0, "privacy"))
    state.seek(0)
    assert state.present[0] == 0
    kept = final_state(mdp)
    state.levels.Y[:], state.levels.variance[:] = kept.Y, kept.variance
    state.seek(int(state.ends[2]))
    assert (state.present[0], state.closed[0]) == (1, 3)


def test_noise_alone_splits_nothing():
    """400 batches of nobody around a horizon that is known: some windows are tested, none differs at z = 5.

    The statistic's standard deviation counts the noise of n₁ as well. Control: without that part, windows that
    hold nothing would differ.
    """
    state = dp.Windows(1.0, delta=1e-6, power=6.0).start(PROBLEM, H, seed_stream(3, "privacy"))
    levels = state.levels
    levels.Y[0, 0] = 1e9  # one certain symbol
    different = tested = without = 0
    for _ in range(400):
        levels.Y[1:], levels.variance[1:], state.shown[:] = 0.0, 0.0, 1
        keep_level(levels, release(state, 3), state.fine_variance)
        for i in range(1, levels.tree.first.size):
            if levels.tree.parent[i] == 0:
                for pair in range(S * A):
                    z = distance(levels, i, 0, pair)
                    tested, different = tested + (z >= 0), different + (z > 5.0)
                    without += z * math.sqrt(2 * S - 1) > 5.0
    assert tested > 20 and different == 0 and without > 10


def test_a_window_around_one_that_is_split_is_split_too(monkeypatch):
    """Else its counts would be handed on. Only a smallest window differs from the one around it."""
    problem = dp.Problem(8, 3, 2, 4000, 0.1)
    levels = dp.Windows(1.0, theta=1.0).start(problem, 8, np.random.SeedSequence(0)).levels
    last, around = levels.tree.first.size - 1, set()

    def far_at_the_last(levels, window, parent, pair):
        return 99.0 if (window, pair) == (last, 0) else -1.0

    monkeypatch.setattr("dpucbvi.privatizers.windows.distance", far_at_the_last)
    window = last
    while window > 0:
        window = int(levels.tree.parent[window])
        around.add((window, 0))
    assert len(around) == 3 and {tuple(one) for one in np.argwhere(split_windows(levels)).tolist()} == around
