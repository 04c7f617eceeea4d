"""The compiled samplers give the reference's noise, bit for bit, and stand at the same place afterwards."""

import re
from fractions import Fraction

import numba
import numpy as np
import pytest
from exact_laws import (
    CompiledCoins,
    CompiledGaussian,
    CompiledLaplace,
    ExactCoins,
    ExactGaussian,
    ExactLaplace,
    GaussianStream,
)
from hypothesis import example, given, settings, strategies as st

from dpucbvi.engine import exact as compiled
from dpucbvi.engine.compiled import compiled as compile_plain
from dpucbvi.engine.noise import fill_gaussian
from dpucbvi.privacy import exact, words
from dpucbvi.privacy.gaussian import gaussian_from_words, gaussian_pair
from dpucbvi.privacy.laplace import seed_stream
from dpucbvi.privacy.words import SeededWords


def assert_same_bits(one, other):
    np.testing.assert_array_equal(np.asarray(one).view(np.uint64), np.asarray(other).view(np.uint64))


# --- normal variates ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 2, 3, 8, 1001, 4096])
def test_compiled_normal_variates_are_numpys_bits(n):
    stream = GaussianStream(seed_stream(3, "privacy"))
    state, scratch, out = stream.state(), np.zeros(2 * ((n + 1) // 2), dtype=np.uint64), np.zeros(n)
    for _ in range(3):
        fill_gaussian(state, scratch, out)
        assert_same_bits(out, stream.draw(n))
    np.testing.assert_array_equal(state, stream.state())


def test_compiled_normal_variates_at_the_edges():
    """U = 1 and 2^-52, U around √½, angles 0 and next to π/4, every octant: zeros with their sign as well."""
    root = (2**52 - round(2**52 * 0.5**0.5)) << 12
    radius_words = [0, 1, 4095, 4096, root - 4096, root, root + 4096, 2**63, 2**64 - 4096, 2**64 - 1]
    angle_words = [high + low for high in (0, 4096, 2**63, 2**64 - 4096) for low in range(8)] + [2**64 - 1]
    pairs = np.array([(r, a) for r in radius_words for a in angle_words], dtype=np.uint64)
    one_by_one = compile_plain(gaussian_pair)
    found = np.array([one_by_one(r, a) for r, a in pairs])
    assert_same_bits(found.T.ravel(), gaussian_from_words(pairs.T.ravel()))


# --- exact noise --------------------------------------------------------------------------------------

SAMPLERS = [(ExactLaplace, CompiledLaplace), (ExactGaussian, CompiledGaussian)]
scales = st.fractions(Fraction(1, 2**30), 2**30, max_denominator=2**30).filter(lambda x: x.numerator <= 2**30)


@pytest.mark.parametrize(("reference", "twin"), SAMPLERS)
@settings(max_examples=60, deadline=None, derandomize=True)
@given(scale=scales, seed=st.integers(0, 10**6), block=st.sampled_from([200, 8192]))
@example(Fraction(2**30), 0, 8192)
@example(Fraction(1, 2**30), 0, 8192)
@example(Fraction(2**30, 2**30 - 1), 0, 8192)
@example(Fraction(2**30 - 1, 2**30), 0, 8192)
@example(Fraction(960), 0, 200)
def test_compiled_exact_noise_is_the_references(reference, twin, scale, seed, block):
    """In parts, with blocks so small that draws run out of words; the source ends at the same place."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words, "BLOCK", block)
        one, other = (kind(scale, SeededWords(seed_stream(seed, "privacy"))) for kind in (reference, twin))
        for n in (1, 0, 30):
            drawn = other.draw(n)
            assert drawn.dtype == np.int64
            np.testing.assert_array_equal(one.draw(n), drawn)
        assert next(one.source) == next(other.source)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(epsilon=scales, d=st.integers(1, 40), seed=st.integers(0, 10**6), block=st.sampled_from([200, 8192]))
@example(Fraction(2**30), 2, 0, 8192)
@example(Fraction(1, 2**30), 3, 0, 200)
def test_compiled_answers_are_the_references(epsilon, d, seed, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words, "BLOCK", block)
        one, other = (
            kind(epsilon, SeededWords(seed_stream(seed, "privacy"))) for kind in (ExactCoins, CompiledCoins)
        )
        for truth in (0, d - 1, d // 2):
            assert one.response(truth, d) == other.response(truth, d)
            assert one.below(d) == compiled.one_below(d, words.Words._make(other.source))
        assert next(one.source) == next(other.source)


def test_engines_may_take_turns_on_one_source():
    shared, alone = (SeededWords(seed_stream(1, "privacy")) for _ in range(2))
    for (reference, twin), scale in zip(SAMPLERS * 3, range(1, 7), strict=True):
        drawn = np.concatenate([twin(scale, shared).draw(5), reference(scale, shared).draw(5)])
        np.testing.assert_array_equal(drawn, reference(scale, alone).draw(10))


def scripted(first, rest):
    """The given words first, then the rest of the block, which may be one word again and again."""
    source = SeededWords(seed_stream(0, "privacy"))
    source.block[:] = rest
    source.block[: len(first)], source.at[0] = first, 0
    return source


@pytest.mark.parametrize("n", [3, 960, 2**30, 2**32 + 1, 2**63 - 1, 2**63])
def test_uniform_integers_at_the_edges(n):
    """Refused words too: those just below and above 2^32 mod n, or 2^64 mod n."""
    size, uniform = 2**32 if n <= 2**32 else 2**64, compile_plain(compiled.uniform_below)
    for value in (0, 1, n - 1):
        first = -(-(value * size + size % n) // n)
        for word in {max(first - 1, 0), first, first + 1, 0, size - 1}:
            parts = [word] if n <= 2**32 else [word >> 32, word & (2**32 - 1)]
            script = [*parts, 2**31, 5, 2**32 - 1, 2**32 - 1]
            at, left = uniform(np.uint64(n), np.array(script, dtype=np.uint32), 0), iter(script)
            assert at == (exact.uniform_below(n, left), len(script) - len(list(left)))


def test_seldom_paths_agree():
    """u that agrees with a threshold for some digits, V above 128, trials that go on."""
    tie = [exact.digit(9, i) for i in range(5)]
    tail, part = [2**31, 0, 0, 0, 5], [0, 1, 2**20, 0, 1]
    for (reference, twin), scale in [(SAMPLERS[0], 5), (SAMPLERS[1], 25), (SAMPLERS[1], Fraction(2**30, 7))]:
        for script in ([2**31, *tie], [2**31, *tie[:1]], tail, tail * 9, part, [2**31, *tie, *tail, *part * 3]):
            for rest in (3 * 2**30 - 1, 2**31 + 12345):  # with all bits set, -0 would come for ever
                one, other = (kind(scale, scripted(script, rest)) for kind in (reference, twin))
                np.testing.assert_array_equal(one.draw(1), other.draw(1))
                assert next(one.source) == next(other.source)


@pytest.mark.parametrize("sigma2", [Fraction(1, 2**30), Fraction(1, 7), Fraction(2**30, 3), Fraction(2**30)])
def test_candidates_far_out_are_refused_alike(sigma2):
    """γ up to 2^60, for which the quotient of 128 bits is only bounded; e^{-8} is passed again and again."""
    pass_128 = [1000] * 40  # below the first digit of e^{-128/16}
    rest = np.random.default_rng(0).integers(2**32, size=2 * words.BLOCK, dtype=np.uint32)
    for far in (1, 2, 5, 60):
        for more in ([], [2**31], pass_128, [*pass_128[:3], 2**32 - 1]):
            one, other = (
                kind(sigma2, scripted([2**31, *[5] * far, 2**31, *more], rest)) for kind in SAMPLERS[1]
            )
            np.testing.assert_array_equal(one.draw(2), other.draw(2))
            assert next(one.source) == next(other.source)


def test_a_draw_that_does_not_end_is_begun_anew():
    """Words that are all 0 are refused for ever; after 8192 of them come others. No word is used twice."""
    source, untouched = (scripted([], 0) for _ in range(2))
    assert CompiledLaplace(3, source).draw(1) == ExactLaplace(3, untouched).draw(1)
    assert next(source) == next(untouched)


def test_the_compiled_words_are_the_operating_systems():
    """Each block is read by the C library, all of it, and never the same: by chance with 2^-262144."""
    one, other = (words.Words._make(words.SystemWords()) for _ in range(2))
    for source in (one, other):
        compiled.refill(source)
        assert source.at[0] == words.BLOCK and len(np.unique(source.block[words.BLOCK :])) > words.BLOCK // 2
    assert not np.array_equal(one.block, other.block)


def test_no_float_stands_in_the_compiled_samplers():
    """LLVM's code of Gaussian draws, in which all others are, names no float; that of normal variates does."""
    source = words.Words._make(SeededWords(seed_stream(0, "privacy")))
    fresh = numba.njit(error_model="numpy")(compiled.gaussian_draws.py_func)
    fresh((np.uint64(2),) * 3, source, np.zeros(1, dtype=np.int64))
    (code,) = fresh.inspect_llvm().values()
    assert re.search(r"\bi128\b", code)
    assert not re.search(r"\b(double|float|fmul|fdiv|uitofp|sitofp)\b", code)
    control = numba.njit(compile_plain(gaussian_pair).py_func)
    control(np.uint64(1), np.uint64(1))
    assert re.search(r"\bdouble\b", *control.inspect_llvm().values())
