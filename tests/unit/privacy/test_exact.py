"""Exact noise has the law of its docstring, by enumeration; and the privacy that OpenDP says.

The compiled twin gives the reference's integers (tests/unit/engine/test_noise.py).
"""

import ast
import decimal
import inspect
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from exact_laws import (
    CompiledCoins,
    CompiledGaussian,
    CompiledLaplace,
    ExactCoins,
    ExactGaussian,
    ExactLaplace,
    gaussian_pmf,
    laplace_pmf,
)
from scipy.stats import chi2

from dpucbvi.errors import InputError
from dpucbvi.privacy import exact, words
from dpucbvi.privacy.accounting import round_up
from dpucbvi.privacy.words import SeededWords, SystemWords

ALARM = 1e-6


def seeded(seed=0):
    return SeededWords(np.random.SeedSequence(seed))


# --- uniform integers: every value has the same number of words -------------------------------------------


def values(n, word):
    """What the word gives, None if it is refused."""
    parts = [word] if n <= 2**32 else [word >> 32, word & (2**32 - 1)]
    try:
        return exact.uniform_below(n, iter(parts))
    except StopIteration:
        return None


@pytest.mark.parametrize("n", [2, 3, 7, 960, 2**30, 3 * 2**29 + 1, 2**32 - 1, 2**32, 2**32 + 1, 10**15, 2**63])
def test_every_value_has_the_same_number_of_words(n):
    size = 2**32 if n <= 2**32 else 2**64
    for value in {0, 1, n // 3, n // 2, n - 2, n - 1}:
        first, last = -(-(value * size + size % n) // n), -(-(value + 1) * size // n) - 1
        assert last - first + 1 == size // n
        assert values(n, first) == values(n, last) == values(n, (first + last) // 2) == value
        assert first == 0 or values(n, first - 1) != value
        assert last == size - 1 or values(n, last + 1) != value


# --- u < e^{-j/16} ----------------------------------------------------------------------------------------


def digits_of(x):
    """The digits in base 2^32 of a number below 1, by decimal."""
    for _ in range(40):
        x *= 2**32
        yield int(x)
        x -= int(x)


@pytest.mark.parametrize("j", [1, 2, 15, 16, 17, 77, 128])
def test_the_digits_are_those_of_decimal(j):
    """Its exp is correctly rounded; 40 digits are 386 decimal ones, more than the compiled table has."""
    with decimal.localcontext(prec=420):
        assert list(digits_of((decimal.Decimal(-j) / 16).exp())) == [exact.digit(j, i) for i in range(40)]


@pytest.mark.parametrize("j", [1, 5, 127, 128])
def test_the_first_digit_that_differs_decides(j):
    """V ≥ j for words that are digits of e^{-j/16} up to one that is smaller; V < j if that one is larger."""
    for agreeing in (0, 1, 20):
        equal, differing = [exact.digit(j, i) for i in range(agreeing)], exact.digit(j, agreeing)
        smaller, larger = iter([*equal, differing - 1, 2**31]), iter([*equal, differing + 1])
        assert exact.geometric(smaller) == j + (11 if j == 128 else 0)  # u = ½: e^{-11/16} > ½ > e^{-12/16}
        assert exact.geometric(larger) == j - 1
    assert exact.geometric(iter([0, 0, 2**32 - 1])) == 256
    assert [exact.strip(j - 1, iter([exact.digit(i, 0) - 1])) for i in (j - 1, j)] == [1, 2]
    assert exact.strip(j - 1, iter([2**32 - 1])) == (1 if j == 1 else 0)


# --- the laws, by enumeration -----------------------------------------------------------------------------


class Fork(Exception):
    """A choice that the script does not hold yet, with the probability of each outcome."""


class Again(Exception):
    """A candidate was refused and a new round begins, which is like the first."""


def law(monkeypatch, sample, choices, begins=None, least=1e-6):
    """P of each result in the first round, along paths of probability `least` or more; and what was left out.

    `choices`: functions of exact.py, each replaced by all its outcomes with their probabilities; `begins`: the
    one that begins a round. Given that the first round gives a result, its law is that of the sampler.
    """
    script, called = [], []

    def stand_in(name, outcomes):
        def function(*given):
            if name == begins and name in called:
                raise Again
            called.append(name)
            if not script:
                raise Fork(outcomes(*given[:-1]))
            return script.pop(0)

        return function

    for name, outcomes in choices.items():
        monkeypatch.setattr(exact, name, stand_in(name, outcomes))
    found, left, paths = Counter(), 0.0, [((), 1.0)]
    while paths:
        path, probability = paths.pop()
        if probability < least:
            left += probability
            continue
        script[:], called[:] = path, []
        try:
            found[sample()] += probability
        except Again:
            pass
        except Fork as fork:
            paths += [((*path, outcome), probability * p) for outcome, p in fork.args[0].items()]
    return found, left


def uniform(n):
    return dict.fromkeys(range(n), 1 / n)


def geometric():
    return {v: math.exp(-v / 16) * -math.expm1(-1 / 16) for v in range(400)}


def below(j, _u):
    return bernoulli_exp(j, 16)


def strip(j):
    above, under = math.exp(-j / 16), math.exp(-(j + 1) / 16)
    return {0: 1.0 - above, 1: above - under, 2: under}


def bernoulli_exp(a, b):
    return {True: math.exp(-a / b), False: -math.expm1(-a / b)}


def bernoulli_exp_of_part(part, a, b):
    """All that fail have part = 0, one in sixteen."""
    assert 0 <= a <= b
    fails = -16 * math.expm1(-a / (16 * b)) if part == 0 else 0.0
    return {True: 1.0 - fails, False: fails}


@pytest.mark.parametrize(("a", "b"), [(0, 1), (1, 1), (1, 3), (2, 3), (7, 5), (3, 5), (33, 4)])
def test_bernoulli_exp_by_enumeration(monkeypatch, a, b):
    """Also with more than one factor e^{-8}, and with every remainder of sixteenths."""
    choices = {"uniform_below": uniform, "below": below, "strip": strip}
    found, left = law(monkeypatch, lambda: exact.bernoulli_exp(a, b, iter([])), choices, least=1e-9)
    assert left < 1e-4
    assert found[True] - 1e-9 <= math.exp(-a / b) <= found[True] + left + 1e-9


@pytest.mark.parametrize(("a", "b"), [(0, 1), (1, 1), (2, 3)])
def test_bernoulli_exp_of_part_by_enumeration(monkeypatch, a, b):
    for part in (0, 1, 15):
        found, left = law(
            monkeypatch,
            lambda part=part: exact.bernoulli_exp_of_part(part, a, b, iter([])),
            {"uniform_below": uniform},
            least=1e-9,
        )
        assert found[True] == pytest.approx(bernoulli_exp_of_part(part, a, b)[True], abs=left + 1e-9)
        assert left < 1e-6


def assert_is_law(found, left, pmf, scale):
    """What was left out moves no probability by more than its share; a scale 2% off is farther away."""
    share = left / found.total()

    def distance(scale):
        return max(abs(found[x] / found.total() - pmf(x, scale)) for x in range(-8, 9))

    assert share < 5e-4
    assert distance(float(scale)) <= share + 1e-9
    assert min(distance(float(scale) * 0.98), distance(float(scale) * 1.02)) > share + 1e-9


@pytest.mark.parametrize("t", [Fraction(1), Fraction(3, 2), Fraction(2, 3), Fraction(4)])
def test_discrete_laplace_by_enumeration(monkeypatch, t):
    choices = {"uniform_below": uniform, "bernoulli_exp_of_part": bernoulli_exp_of_part, "geometric": geometric}
    draw = exact.discrete_laplace
    found, left = law(monkeypatch, lambda: draw(t, iter([])), choices, "uniform_below", 1e-8)
    assert_is_law(found, left, laplace_pmf, t)


@pytest.mark.parametrize("sigma2", [Fraction(1, 2), Fraction(4, 3), Fraction(9), Fraction(10)])
def test_discrete_gaussian_by_enumeration(monkeypatch, sigma2):
    def laplace(t):
        return {x: laplace_pmf(x, float(t)) for x in range(-60, 61)}

    choices = {"discrete_laplace": laplace, "bernoulli_exp": bernoulli_exp}
    draw = exact.discrete_gaussian
    found, left = law(monkeypatch, lambda: draw(sigma2, iter([])), choices, "discrete_laplace")
    assert_is_law(found, left, gaussian_pmf, sigma2)


@pytest.mark.parametrize(("d", "epsilon"), [(2, Fraction(1)), (3, Fraction(1, 2)), (5, Fraction(7, 3))])
def test_a_response_by_enumeration(monkeypatch, d, epsilon):
    """The truth is e^ε times as likely as each other answer; with ε 2% off it is not."""
    choices = {"uniform_below": uniform, "bernoulli_exp": bernoulli_exp}
    n, m = epsilon.as_integer_ratio()
    found, left = law(monkeypatch, lambda: exact.response(1, d, n, m, iter([])), choices, "uniform_below")
    assert left < 1e-9 and set(found) == set(range(d))
    for other in set(range(d)) - {1}:
        assert found[1] / found[other] == pytest.approx(math.exp(epsilon), rel=1e-9)
        assert found[1] / found[other] != pytest.approx(math.exp(1.02 * epsilon), rel=1e-3)


# --- OpenDP as oracle -------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.5, 1.0, 3.5, 60.0, 960.0, 959.9])
@pytest.mark.parametrize("change", [1, 2, 3, 20])
def test_opendp_certifies_the_same_privacy(scale, change):
    """Its maps round up, perhaps by more than one float; ours is the fraction itself, at or just below."""
    import opendp.prelude as opendp

    opendp.enable_features("contrib")
    one_count = opendp.atom_domain(T="i64"), opendp.absolute_distance(T="i64")
    on_grid = Fraction(scale).limit_denominator(2**10)
    exactly = Fraction(scale) == on_grid
    epsilon, rho = change / on_grid, Fraction(change**2) / (2 * on_grid**2)  # Δ₁/t, Δ₂²/(2σ²)
    theirs = (
        opendp.m.make_laplace(*one_count, scale).map(change),
        opendp.m.make_gaussian(*one_count, scale).map(change),
    )
    for ours, other in zip((epsilon, rho), theirs, strict=True):
        assert other == pytest.approx(float(ours), rel=1e-15)
        if exactly:
            assert round_up(ours) <= other


# --- integers only ----------------------------------------------------------------------------------------


def test_no_float_stands_in_the_reference():
    """Neither a float, nor a true division, nor a function that gives one; `/` is between fractions alone."""
    tree = ast.parse(inspect.getsource(exact))
    samplers = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert len(samplers) == 14
    for node in (inner for sampler in samplers for inner in ast.walk(sampler)):
        assert not isinstance(node, ast.Div)
        assert not (isinstance(node, ast.Constant) and isinstance(node.value, float))
        assert not (isinstance(node, ast.Name) and node.id in ("float", "np", "math", "random"))


def test_large_scales_keep_their_lowest_bit():
    """At t = 2^30 the noise is not confined to a grid: every residue mod 8 is equally likely (alarm 1e-6)."""
    drawn = CompiledLaplace(Fraction(2**30), seeded()).draw(20_000)
    observed = np.bincount(drawn % 8, minlength=8)
    assert chi2.sf(((observed - 2500) ** 2 / 2500).sum(), 7) > ALARM


WRONG = [Fraction(0), Fraction(-1), Fraction(2**30 + 1), Fraction(1, 2**30 + 1), 2.5, True, "1", None]


@pytest.mark.parametrize("scale", WRONG, ids=repr)
def test_a_scale_that_is_no_small_fraction_is_refused(scale):
    for sampler in (ExactLaplace, ExactGaussian, CompiledLaplace, CompiledGaussian):
        with pytest.raises(InputError, match=r"^(t|sigma2): .* is not accepted; it must be"):
            sampler(scale, seeded())
    for draw in (exact.discrete_laplace, exact.discrete_gaussian):
        with pytest.raises(InputError):
            draw(scale, seeded())
    for coins in (ExactCoins, CompiledCoins):
        with pytest.raises(InputError, match=r"^epsilon: .* is not accepted; it must be"):
            coins(scale, seeded())


# --- sources ----------------------------------------------------------------------------------------------


def test_system_words_are_the_operating_systems(monkeypatch):
    """Read in blocks, used once, in order; no generator stands between in the reference."""
    read = []

    def urandom(n):
        read.append(np.random.default_rng(len(read)).bytes(n))
        return read[-1]

    monkeypatch.setattr(words.os, "urandom", urandom)
    source = SystemWords()
    used = np.array([next(source) for _ in range(words.BLOCK + 1)], dtype=np.uint32)
    assert len(read) == 2 and used.tobytes() == b"".join(read)[: used.nbytes]
    assert not source.seeded
