"""The square root of running sums in integers: the stairs of exact noise, and what is made of them."""

import math
from fractions import Fraction

import numpy as np
import pytest
from exact_laws import chi_square_p_value, gaussian_pmf, in_units
from scipy.linalg import toeplitz

import dpucbvi as dp
from dpucbvi.counts import FAMILIES
from dpucbvi.engine.exact import compiled_draws
from dpucbvi.errors import InputError
from dpucbvi.mechanisms.square_root import coefficients, stair_variances, stairs
from dpucbvi.privacy.laplace import seed_stream
from dpucbvi.privacy.law import GRIDS, ExactDraws
from dpucbvi.privacy.words import SeededWords
from dpucbvi.protocol import User

EXACT = {"factorisation": "square_root", "noise": "exact", "words": SeededWords}
LENGTHS = [1, 2, 3, 100, 325, 1303, 20_860, 83_443]  # some just before a new bit


def lower(column):
    return toeplitz(column, np.zeros(len(column)))


def rounded(T):
    """2^q ĉ, term by term."""
    unit = stairs(T).unit
    return np.array([math.floor(c * unit + 0.5) for c in coefficients(T)])


# --- stairs -------------------------------------------------------------------------------------------------


def test_what_memory_does_not_hold_is_refused_before_anything_is_made():
    big = dp.Problem(20, 6, 2, 10**6, 0.05)
    with pytest.raises(InputError) as error:
        dp.Toeplitz(1000.0, **EXACT).noise_of(big, 20)
    said = str(error.value)
    assert said.startswith("factorisation: square_root would keep 999999 releases, 26.9 GB")
    assert "factorisation=blt" in said and "\n" not in said
    assert dp.Toeplitz(1000.0, every=100, **EXACT).noise_of(big, 20).E > 0.0
    with pytest.raises(InputError, match="factorisation: cholesky is not accepted; it must be one of blt, squ"):
        dp.Toeplitz(1.0, factorisation="cholesky")
    with pytest.raises(InputError, match=r"^factorisation: blt has no exact noise; it must be square_root$"):
        dp.Toeplitz(1.0, noise="exact")
    with pytest.raises(InputError, match=r"^factorisation: square_root has no simulated noise; it must be blt"):
        dp.Toeplitz(1.0, factorisation="square_root")


@pytest.mark.parametrize("T", LENGTHS)
def test_stairs_cost_at_most_a_twentieth(T):
    c, steps = rounded(T), stairs(T)
    assert c[-1] >= 1 and steps.unit >= 16
    assert steps.square == sum(int(x) ** 2 for x in c)
    again = steps.unit - np.cumsum(np.bincount(steps.at, steps.by, minlength=T))
    np.testing.assert_array_equal(again, c)
    product = math.sqrt(stair_variances(T)[-1] * steps.square) / steps.unit
    assert 1.0 - 1e-9 <= product / np.square(coefficients(T)).sum() < 1.05
    assert len(steps.at) < 150  # so that nothing is quadratic in T


@pytest.mark.parametrize("T", [1, 2, 17, 100, 400])
def test_the_variances_are_those_of_the_inverse(T):
    C = lower(rounded(T) / stairs(T).unit)
    B = np.tril(np.ones((T, T))) @ np.linalg.inv(C)
    np.testing.assert_allclose(stair_variances(T), np.square(B).sum(axis=1), rtol=1e-9)


def people(problem, n, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        s, a = rng.integers(problem.S, size=problem.H + 1), rng.integers(problem.A, size=problem.H)
        yield User(s, a, rng.integers(3, size=problem.H) / 2, np.zeros((problem.H, problem.S)), s[1:])


@pytest.mark.parametrize("samplers", [ExactDraws, compiled_draws], ids=["plain", "compiled"])
@pytest.mark.parametrize(("every", "clip"), [(1, None), (3, None), (2, 1)])
def test_what_is_published_and_what_is_made_of_it(every, clip, samplers):
    """y = 2^q Ĉ x + z in integers, word for word; the estimates are A Ĉ⁻¹ y, that is the sums and B̂ z."""
    problem, shape = dp.Problem(3, 2, 2, 41, 0.05), (1 if clip else 3, 2, 2)
    privatizer = dp.Toeplitz(2.0, every=every, clip=clip, **EXACT)
    release = privatizer.release(problem, shape[0], seed_stream(0, "privacy"), samplers)
    noise, T = privatizer.exact_noise(problem, shape[0]), 40 // every
    z = noise.draws(problem.shape(shape[0]), SeededWords(seed_stream(0, "privacy")))
    published, estimates, users, inner = [], [], [], release.state.inner
    offset = inner.counting.first
    for user in people(problem, 40):
        users.append(in_units(user, *shape, FAMILIES["tuned"], clip, noise.grid)[offset:])
        out = release.release(user)
        assert (out is None) == (len(users) % every > 0)
        if out is not None:
            published.append(inner.mechanism.y.copy())
            estimates.append(out[offset:])
    x = np.array(users[: T * every]).reshape(T, every, -1).sum(axis=1)
    assert {y.dtype for y in published} == {np.dtype(np.int64)}
    weights = np.array([[rounded(T)[t - j] if t >= j else 0 for j in range(T)] for t in range(T)])
    np.testing.assert_array_equal(published, weights @ x + np.array([z.draw(x.shape[1]) for _ in range(T)]))
    sums = np.tril(np.ones((T, T))) @ np.linalg.solve(lower(rounded(T)), np.array(published, dtype=np.float64))
    sums[:, -math.prod(shape) :] /= noise.grid
    np.testing.assert_allclose(estimates, sums, atol=1e-6)
    assert release.sd[0, 0, 0] == pytest.approx(noise.scales.M * math.sqrt(stair_variances(T)[-1]))
    for user in people(problem, every - 40 % every):
        beyond = user
    with pytest.raises(OverflowError, match="not for more"):
        for _ in range(every):
            release.release(beyond)


def test_the_certificate_is_the_fraction_of_its_integers():
    """ρ = Σ(2^q ĉ)² (2V/(2σ_M²) + V g²/(2σ_R²)) if a user is replaced; half and a quarter of it if added.

    One who is replaced reaches 15/16 of that sum (sensitivity.py, even H).
    """
    problem = dp.Problem(20, 6, 2, 1001, 0.05)
    privatizer = dp.Toeplitz(1.0, factorisation="square_root", noise="exact")
    noise, certificate = privatizer.exact_noise(problem, 20), privatizer.certificate(problem, 20)
    L, (_, M, R), g = stairs(1000).square, noise.scale, noise.grid
    assert g in GRIDS and max(M, R) <= 2**30 and noise.unit == stairs(1000).unit
    replaced = Fraction(15, 16) * (L * Fraction(40) / (2 * M) + L * Fraction(20 * g**2) / (2 * R))
    added = L * Fraction(20) / (2 * M) + L * Fraction(5 * g**2) / (2 * R)
    assert (noise.cost(True), noise.cost(False)) == (replaced, added)
    assert Fraction(certificate.rho_replace_one) >= replaced and certificate.noise == "release"
    assert 1.0 - 1e-6 < certificate.replace_one <= 1.0
    simulated = dp.Toeplitz(1.0).noise_of(problem, 20)
    assert 1.04 < privatizer.noise_of(problem, 20).sd / simulated.sd < 1.15  # the way over ρ, and the stairs


def test_too_fine_a_grid_for_the_samplers_is_told_in_one_line():
    wanted = (
        r"^epsilon: exact noise has no scale as large as 49999 releases of toeplitz need; a larger epsilon or a"
    )
    with pytest.raises(InputError, match=wanted):
        dp.Toeplitz(0.1, factorisation="square_root", noise="exact").noise_of(
            dp.Problem(20, 6, 2, 50_000, 0.1), 20
        )


LARGE = dp.Problem(H=10, S=20, A=5, K=5, beta=0.05)  # 20,000 counters N(s,a,s')


def test_the_law_of_the_published_noise():
    """Chi-square, false alarm 1e-6 for each of 3 releases; a scale 15% off is refused."""
    privatizer = dp.Toeplitz(20.0, **EXACT)
    release = privatizer.release(LARGE, 10, seed_stream(3, "privacy"), compiled_draws)
    noise, inner, c, items, z = privatizer.exact_noise(LARGE, 10), release.state.inner, rounded(4), [], []
    for t, user in enumerate(people(LARGE, 3)):
        items.append(in_units(user, 10, 20, 5, FAMILIES["tuned"], grid=noise.grid)[1000:])
        release.release(user)
        z.append(inner.mechanism.y - sum(c[t - j] * items[j] for j in range(t + 1)))
    M = float(noise.scale.M)
    for drawn in z:
        assert chi_square_p_value(drawn[:20_000], gaussian_pmf, M, math.sqrt(M)) > 1e-6
        for wrong in (0.85, 1.15):
            assert chi_square_p_value(drawn[:20_000], gaussian_pmf, M * wrong**2, math.sqrt(M)) < 1e-6
