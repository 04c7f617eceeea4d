"""The release mode: certificates as fractions, integers all the way, and no leak.

What is released is worked out here as A x + B z in integers from the same draws, whose law is tested in
tests/unit/privacy/test_exact.py. Sampled tests are seeded and refuse the right law with probability 1e-6.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from exact_laws import in_units
from scipy.stats import chi2
from theory import noises
from users import user_of

import dpucbvi as dp
from dpucbvi.counts import FAMILIES
from dpucbvi.engine.exact import compiled_draws as COMPILED
from dpucbvi.errors import InputError
from dpucbvi.mdp import Trajectory
from dpucbvi.privacy.accounting import epsilon_of_zcdp, zcdp_of_epsilon
from dpucbvi.privacy.exact import discrete_gaussian, discrete_laplace
from dpucbvi.privacy.laplace import seed_stream
from dpucbvi.privacy.law import GRIDS, ExactDraws
from dpucbvi.privacy.words import SeededWords
from dpucbvi.privatizers import PRIVATIZERS
from dpucbvi.privatizers.arrays import to_grid

ALARM = 1e-6
PROBLEM = dp.Problem(H=3, S=2, A=2, K=9, beta=0.05)
SEEDED = {"noise": "exact", "words": SeededWords}
BY_NAME = {
    "central": lambda **more: dp.Central(1.0, **more),
    "kary_tree": lambda **more: dp.KaryTree(1.0, k=3, **more),
    "local": lambda **more: dp.Local(1.0, **more),
    "local, tuned": lambda **more: dp.Local(1.0, "replace_one", "tuned", **more),
    "batches": lambda **more: dp.Batches(1.0, first=2, drop_empty=False, **more),
    "batches, gaussian": lambda **more: dp.Batches(1.0, 1e-6, first=2, drop_empty=False, **more),
}
# Publishes no noisy sums, but what estimates are made of: answers.
SOON = {"first": 2, "growth": 1.0}
ESTIMATED = {
    "one_question": lambda **more: dp.OneQuestion(1.0, **SOON, **more),
}
ALL = {**BY_NAME, **ESTIMATED}
PER_STEP = {"windows": lambda **more: dp.Windows(1.0, **SOON, pooled=2, **more)}  # tests/.../test_windows
every_one = pytest.mark.parametrize("name", BY_NAME)
all_of_them = pytest.mark.parametrize("name", ALL)
both_countings = pytest.mark.parametrize("pooled", [False, True], ids=["per step", "pooled"])


def trajectories(problem=PROBLEM, n=8, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        s, a = rng.integers(problem.S, size=problem.H + 1), rng.integers(problem.A, size=problem.H)
        yield Trajectory(s, a, rng.integers(3, size=problem.H) / 2)  # on every grid


def user(trajectory, problem=PROBLEM, G=PROBLEM.H):
    """She follows a policy that may visit everything."""
    pi = np.full((problem.H, problem.S, problem.A), 1 / problem.A)
    return user_of(trajectory, pi)


def released(privatizer, problem=PROBLEM, G=PROBLEM.H, seed=0, samplers=COMPILED, n=8):
    """The release and the integers of its releases, None where there is none; floats are made of them."""
    release = privatizer.release(problem, G, seed_stream(seed, "privacy"), samplers)
    found, rewards = [], G * problem.S * problem.A
    for trajectory in trajectories(problem, n):
        out = release.release(user(trajectory, problem, G))
        found.append(None if out is None else release.state.released.counts.copy())
        if out is not None:
            np.testing.assert_array_equal(out[:-rewards], found[-1][:-rewards])
            np.testing.assert_array_equal(out[-rewards:], found[-1][-rewards:] / release.state.grid)
    return release, found


# --- certificates -----------------------------------------------------------------------------------------


def test_scales_are_those_of_the_formulas_as_fractions():
    """H = 3. A count moves by 3 (6 if a user is replaced), rewards by 3·1000 units, centred half of that."""
    third = Fraction(1, 3)
    assert dp.Local(1.0, noise="exact").exact_noise(PROBLEM).scale == (9, 9, 9000)
    assert dp.Central(1.0, noise="exact").exact_noise(PROBLEM).scale == (36, 36, 36_000)  # ⌈log2 9⌉ = 4 levels
    tuned = dp.KaryTree(0.5, k=3, noise="exact").exact_noise(PROBLEM).scale  # 8 ≤ (3³-1)/2: 3 levels
    exactly = (0, 3 * 6 / (Fraction(3, 4) / 2), 3 * 3000 / Fraction(1, 8))
    assert tuned == exactly == (0, 48, 72_000)
    odd = dp.Local(0.3, noise="exact").exact_noise(PROBLEM).scale
    assert all(
        0 <= x - 3 * g / (third * Fraction(0.3)) < x / 2**28 for x, g in zip(odd, (1, 1, 1000), strict=True)
    )
    assert all(x.numerator <= 2**30 and x.denominator <= 2**30 for x in odd)


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0, math.pi, 50.0])
@pytest.mark.parametrize(
    "make", [dp.Central, dp.KaryTree, dp.Local, dp.Batches], ids=lambda kind: kind.__name__
)
def test_a_pure_certificate_is_the_sum_of_the_losses_and_at_most_the_budget(make, epsilon):
    privatizer = make(epsilon, first=2, noise="exact") if make is dp.Batches else make(epsilon, noise="exact")
    problem = dp.Problem(20, 6, 2, 50_000, 0.05)
    noise, certificate = privatizer.exact_noise(problem, 20), privatizer.certificate(problem, 20)
    t, L = noise.scale, {dp.Central: 16, dp.KaryTree: 4}.get(make, 1)
    counts, rewards = (20, 20_000) if privatizer.families == "paper" else (20, 10_000)
    lost = sum(Fraction(L * change) / x for change, x in zip((counts, counts, rewards), t, strict=True) if x)
    assert noise.cost(False) == lost and noise.cost(True) == 2 * lost
    wanted = lost if privatizer.sensitivity == "paper" else 2 * lost
    assert Fraction(epsilon) * (1 - Fraction(1, 10**7)) < wanted <= Fraction(epsilon)
    for said, exactly in ((certificate.add_remove, lost), (certificate.replace_one, 2 * lost)):
        assert Fraction(math.nextafter(said, 0)) < exactly <= Fraction(said)
    assert certificate.noise == "release" and certificate.delta == 0.0 and certificate.mu_replace_one is None
    assert str(certificate).endswith("; released with exact noise")


@both_countings
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_a_gaussian_certificate_has_its_rho_and_at_most_the_budget(epsilon, pooled):
    """l2² replaced: counts 2V, centred rewards V, V = H or H², 15/16 or 7/8 of it; added: V and V/4."""
    privatizer, problem = dp.Batches(epsilon, delta=1e-6, noise="exact"), dp.Problem(20, 6, 2, 50_000, 0.05)
    G, V, reached = (1, 400, Fraction(7, 8)) if pooled else (20, 20, Fraction(15, 16))
    noise, certificate = privatizer.exact_noise(problem, G), privatizer.certificate(problem, G)
    (none, M, R), g = noise.scale, noise.grid
    assert none == 0 and g in GRIDS and M <= 2**30 and R <= 2**30
    replaced = reached * (Fraction(2 * V) / (2 * M) + Fraction(V * g**2) / (2 * R))
    added = Fraction(V) / (2 * M) + Fraction(V * g**2, 4) / (2 * R)
    assert (noise.cost(True), noise.cost(False)) == (replaced, added)
    assert (
        Fraction(certificate.rho("replace_one")) >= replaced >= Fraction(certificate.rho("replace_one") * 0.999)
    )
    assert certificate.rho_add_remove >= added and certificate.mu("replace_one") == math.inf
    assert epsilon * (1 - 1e-6) < certificate.replace_one <= epsilon
    assert certificate.replace_one >= epsilon_of_zcdp(certificate.rho_replace_one, 1e-6)
    float_sigma = dp.Batches(epsilon, delta=1e-6).scales(problem, G).M
    assert 1.04 < math.sqrt(M) / float_sigma < 1.10  # what the way over ρ costs


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 20.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-6, 0.1])
def test_rho_of_epsilon_is_the_largest(epsilon, delta):
    rho = zcdp_of_epsilon(epsilon, delta)
    assert epsilon_of_zcdp(rho, delta) <= epsilon < epsilon_of_zcdp(rho * (1 + 1e-6), delta)


@all_of_them
@both_countings
def test_a_seeded_source_certifies_the_same_as_a_simulation(name, pooled):
    G = 1 if pooled else PROBLEM.H
    published = ALL[name](noise="exact").certificate(PROBLEM, G)
    seeded = ALL[name](**SEEDED).certificate(PROBLEM, G)
    simulated = ALL[name]().certificate(PROBLEM, G)
    assert published == seeded._replace(noise="release") and seeded.noise == simulated.noise == "simulation"
    assert str(simulated).endswith("; simulated with seeded noise")
    assert published.replace_one == pytest.approx(simulated.replace_one, rel=1e-6)


# --- integers all the way ---------------------------------------------------------------------------------


def test_rewards_on_the_grid_stay_and_others_go_to_a_neighbour_with_their_own_mean():
    """All points of all grids without a word. 40,000 roundings each of five others: a binomial of 5 sigma
    (6e-7 each), which rounding to the nearest point fails by more than 100.
    """
    assert all(to_grid(j / g, g, iter([])) == j for g in GRIDS for j in range(g + 1))
    assert all(1000 % g == 0 and g % 2 == 0 for g in GRIDS) and sorted(GRIDS, reverse=True) == list(GRIDS)
    assert [to_grid(r, 1000, iter([])) for r in (-0.2, math.nan, 7.0)] == [0, 0, 1000]
    words, n = SeededWords(seed_stream(0, "privacy")), 40_000
    for r in (0.0004, 1 / 3, 0.5001, 0.99999, 0.1 + 2**-40):
        x = 1000 * r
        drawn = np.array([to_grid(r, 1000, words) for _ in range(n)])
        assert set(drawn) <= {math.floor(x), math.floor(x) + 1}
        p = x - math.floor(x)
        assert abs((drawn - math.floor(x)).sum() - n * p) <= 5 * math.sqrt(n * p * (1 - p)) + 1


def test_the_digits_of_a_reward_meet_those_of_the_words():
    """x = 1 + 2^-1 + 2^-33: the first word decides unless it is 2^31, then the second has to be 0."""
    r = (1 + 2**-1 + 2**-33) / 2
    for script, found in (([2**31 - 1], 2), ([2**31 + 1], 1), ([2**31, 0], 2), ([2**31, 2**31], 1), ([0], 2)):
        left = iter(script)
        assert to_grid(r, 2, left) == found and not list(left)


class NoFloat(np.ndarray):
    """Integers that refuse to be computed with as floats, or with floats, and to be set to floats."""

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **kwargs):
        def plain(x):
            assert np.asarray(x).dtype.kind in "iub", f"{ufunc.__name__} meets {np.asarray(x).dtype}"
            return x.view(np.ndarray) if isinstance(x, NoFloat) else x

        given = {"out": tuple(plain(x) for x in out)} if out else {}
        result = getattr(ufunc, method)(*[plain(x) for x in inputs], **given, **kwargs)
        assert result.dtype.kind in "iub", f"{ufunc.__name__} gives {result.dtype}"
        return out[0] if out else np.asarray(result).view(NoFloat)

    def __setitem__(self, at, value):
        assert np.asarray(value).dtype.kind in "iub", f"an integer is set to {np.asarray(value).dtype}"
        super().__setitem__(at, value)


def poisoned(value):
    """A tuple with arrays of integers that refuse floats; those of an object are changed in place."""
    if isinstance(value, np.ndarray):
        return value.view(NoFloat) if value.dtype == np.int64 else value
    if hasattr(value, "_asdict"):
        return value._make(poisoned(item) for item in value)
    if type(value).__module__.startswith("dpucbvi") and hasattr(value, "__dict__"):
        for key, item in vars(value).items():
            if isinstance(item, np.ndarray | tuple):
                setattr(value, key, poisoned(item))
    return value


@every_one
@both_countings
def test_no_float_meets_what_is_released(monkeypatch, name, pooled):
    """Sums, nodes and draws are integers that raise when a float touches them, up to what is published."""
    G = 1 if pooled else PROBLEM.H
    draw = ExactDraws.draw
    monkeypatch.setattr(ExactDraws, "draw", lambda self, n: draw(self, n).view(NoFloat))
    release = BY_NAME[name](**SEEDED).release(PROBLEM, G, seed_stream(0, "privacy"))
    state = release.state
    release.state = state._replace(inner=poisoned(state.inner), released=poisoned(state.released))
    assert isinstance(release.state.inner.counting.sigma, NoFloat)
    for trajectory in trajectories():
        release.release(user(trajectory, G=G))
    assert isinstance(release.state.released.counts, NoFloat) and release.state.released.counts.any()


def test_the_poison_works():
    whole = np.arange(3).view(NoFloat)
    whole += np.arange(3)
    set_to = whole.__setitem__
    for wrong in (
        lambda: whole + 0.5,
        lambda: np.zeros(3) + whole,
        lambda: whole / 2,
        lambda: np.sqrt(whole),
        lambda: set_to(0, 1.0),
        lambda: set_to(0, whole[0] + 0.5),
    ):
        with pytest.raises(AssertionError, match="float"):
            wrong()


# --- the same integers, worked out by hand ----------------------------------------------------------------


def by_hand(privatizer, G):
    """Releases A x + B z, by the number of users, with B as the theory has it; and the last one's sd.

    The noises z are drawn one variate after another, family by family.
    """
    shape, families, ends = (G, PROBLEM.S, PROBLEM.A), FAMILIES[privatizer.families], privatizer.ends(PROBLEM)
    noise, B = privatizer.exact_noise(PROBLEM, G), noises(privatizer, len(ends)).astype(np.int64)
    one = discrete_laplace if noise.delta == 0.0 else discrete_gaussian
    words, n = SeededWords(seed_stream(0, "privacy")), math.prod(shape)
    sizes = (n, n * PROBLEM.S, n)
    z = [[one(x, words) for x, m in zip(noise.scale, sizes, strict=True) if x for _ in range(m)] for _ in B.T]
    releases = np.cumsum([in_units(t, *shape, families, grid=noise.grid) for t in trajectories()], axis=0)[
        ends - 1
    ]
    releases[:, families.released(*shape, PROBLEM.S)] += B @ np.array(z)
    variance = (2.0 if noise.delta == 0.0 else 1.0) * (B[-1] ** 2).sum()
    return dict(zip(ends.tolist(), releases.tolist(), strict=True)), noise.scales.M * math.sqrt(variance)


@every_one
@both_countings
def test_releases_are_those_of_the_theory_from_the_same_words(name, pooled):
    """By both samplers, bit for bit."""
    privatizer, G = BY_NAME[name](**SEEDED), 1 if pooled else PROBLEM.H
    expected, sd = by_hand(privatizer, G)
    assert len(expected) >= 2
    for samplers in (COMPILED, ExactDraws):
        release, found = released(privatizer, G=G, samplers=samplers)
        assert {t: one.tolist() for t, one in enumerate(found, start=1) if one is not None} == expected
        np.testing.assert_allclose(release.sd, sd, rtol=1e-12)


# --- estimates: what is published is whole, the rest is made of it ----------------------------------------


def answered(privatizer, person, n, H=3):
    """The tallies that one user, asked n times, leaves."""
    problem = dp.Problem(H, 2, 2, 10**6, 0.05)
    release = privatizer.release(problem, H, seed_stream(4, "privacy"))
    for _ in range(n):
        release.release(person)
    tallies = release.state.inner.tallies
    shape = (H, 2, 2)
    return tallies._replace(
        moved=tallies.moved.reshape(*shape, -1),
        earned=tallies.earned.reshape(*shape, -1),
        asked=tallies.asked.reshape(shape),
    )


PERSON = user_of(Trajectory(np.array([0, 1, 1, 0]), np.array([0, 1, 0]), np.array([0.25, 0.5, 1.0])),
                 np.array([[0, 1], [0, 1], [0, 0]]))  # fmt: skip


def goodness(observed, chances):
    expected = observed.sum() * np.array(chances) / sum(chances)
    return chi2.sf(((observed - expected) ** 2 / expected).sum(), len(expected) - 1)


def test_an_answer_to_one_question_has_its_law():
    """Pair, kind, rounding and response together, 40,000 answers: 6 pairs, S + 1 = 3 and 3 answers each.

    False alarm 1e-6; ε 15% off, or a reward that is not rounded at random, is refused.
    """
    privatizer = dp.OneQuestion(1.0, transitions=0.75, want=0, first=10**5, **SEEDED)
    found = answered(privatizer, PERSON, 40_000)
    shown = [(h, s, int(PERSON.pi[h, s])) for h in range(3) for s in range(2)]
    observed = np.array([x for pair in shown for x in (*found.moved[pair], *found.earned[pair])])

    def chances(epsilon, rewards):
        made = []
        for h, s, _ in shown:
            visited = PERSON.s[h] == s
            where = PERSON.s[h + 1] if visited else 2
            paid = [1 - rewards[h], rewards[h], 0.0] if visited else [0.0, 0.0, 1.0]
            p, q = 1 / (1 + 2 * math.exp(-epsilon)), math.exp(-epsilon) / (1 + 2 * math.exp(-epsilon))
            made += [0.75 * (p if x == where else q) for x in range(3)]
            made += [0.25 * (q + (p - q) * share) for share in paid]
        return made

    true = PERSON.r
    assert goodness(observed, chances(1.0, true)) > ALARM
    for wrong in (chances(0.85, true), chances(1.15, true), chances(1.0, np.round(true))):
        assert goodness(observed, wrong) < ALARM


# --- runs and refusals ------------------------------------------------------------------------------------

EASY = dp.riverswim(S=2, H=2)
LEARNER = dp.DPUCBVI(bonus_scale=0.01)


@pytest.mark.parametrize("engine", ["reference", "fast"])
def test_words_of_the_system_repeat_nothing_and_seeded_ones_everything(engine):
    def final(seed=0, **how):
        seen, privatizer = [], dp.Central(5.0, noise="exact", **how)
        run = dp.run(
            EASY, LEARNER, privatizer, K=6, seed=seed, engine=engine, watch=lambda *one: seen.append(one)
        )
        assert run.certificate.noise == ("simulation" if how else "release")
        return np.array([counts.N_sas for _, _, counts in seen])

    assert not np.array_equal(final(), final())
    np.testing.assert_array_equal(final(words=SeededWords), final(words=SeededWords))
    assert not np.array_equal(final(words=SeededWords), final(1, words=SeededWords))


QUICK = ("central",)  # the draws of either law, and answers, are compared in unit/engine/test_noise


@pytest.mark.parametrize("pooled", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in ALL]
)
def test_both_engines_release_the_same_integers_from_the_same_words(name, pooled):
    """And so the same floats; rewards lie off the grid, so that they are rounded by the same words too."""
    rewards = np.array([[[0.3003, 1 / 7], [0.0, 2 / 3]]])
    mdp = dp.TabularMDP(
        P=EASY.P, r=np.repeat(rewards, EASY.H, axis=0), initial=EASY.initial, rewards="deterministic"
    )
    agent, privatizer, seen = dp.DPUCBVI(0.01, pooled), ALL[name](**SEEDED), {"reference": [], "fast": []}
    for engine, counts in seen.items():
        run = dp.run(mdp, agent, privatizer, K=40, engine=engine, watch=lambda k, p, c, to=counts: to.append(c))
        assert run.certificate.noise == "simulation"
    for one, other in zip(*seen.values(), strict=True):
        for x, y in zip(one, other, strict=True):
            np.testing.assert_array_equal(x, y)
    assert any(counts.N_sas.any() for counts in seen["fast"])


def test_every_privatizer_with_exact_noise_is_among_these():
    kinds = [PRIVATIZERS[name] for name in PRIVATIZERS]
    both = {kind for kind in kinds if "exact" in getattr(kind, "modes", ())}
    assert {type(make()) for make in {**ALL, **PER_STEP}.values()} == both


def test_wrong_choices_are_refused():
    with pytest.raises(InputError, match=r"^noise: 'exakt' is not one of simulation, exact$"):
        dp.Central(1.0, noise="exakt")
    with pytest.raises(InputError, match=r"^words: has no effect on simulated noise"):
        dp.Local(1.0, words=SeededWords)
    with pytest.raises(InputError, match=r"^epsilon: exact noise has no scale as large as this"):
        dp.Local(1e-9, noise="exact").noise_of(PROBLEM, 3)
    for epsilon in (1e-10, 2e9):
        with pytest.raises(InputError, match=r"^epsilon: .* is not accepted; exact answers take 2\^-30 to"):
            dp.OneQuestion(epsilon, noise="exact").noise_of(PROBLEM, 3)
    with pytest.raises(InputError, match=r"^transitions: 1e-12 is not accepted; exact coins take 2\^-30"):
        dp.OneQuestion(1.0, transitions=1e-12, noise="exact").noise_of(PROBLEM, 3)


@all_of_them
@both_countings
def test_E_is_that_of_the_simulation_with_the_rounding_and_the_wider_tail(name, pooled):
    G = 1 if pooled else PROBLEM.H
    ours, simulated = (ALL[name](**how).noise_of(PROBLEM, G) for how in ({"noise": "exact"}, {}))
    gaussian = ALL[name]().certificate(PROBLEM, G).delta > 0
    most = 1.5 if gaussian else 1 + 1e-6
    rounding = 4 * math.sqrt(8 * 3 * math.log(1e5)) / 1000
    assert (
        simulated.E * (1 - 1e-8) <= ours.E <= 1.1 * most * simulated.E + rounding
    )  # half of the failure is the rounding's
    assert simulated.sd * (1 - 1e-12) <= ours.sd <= (1.1 if gaussian else 1 + 1e-6) * simulated.sd
