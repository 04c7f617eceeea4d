"""Lemma 5.4: if every |N̂ - N| ≤ E/4 then the post-processed counts satisfy Assumption 3.1, (1) and (2).

Nothing here is random in the claim: the noise may be anything within E/4, its corners included. The negative
controls show that E/4 is the lemma's border: 1% more noise breaks the conclusion.
"""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from private_counts import violations as parts_that_fail

import dpucbvi as dp
from dpucbvi.projection import CvxpyPostprocess, closed_form

CHECKED = settings(max_examples=400, deadline=None, derandomize=True, database=None)


def violations(N_sas, post, E):
    """Which parts of Assumption 3.1 fail, beyond rounding; N(s,a) = Σ N(s,a,s'), and no rewards."""
    N_sa, R = N_sas.sum(axis=-1), np.zeros(N_sas.shape[:-1])
    tilde, true = dp.Counts(post.N_sa, post.N_sas, R), dp.Counts(N_sa, N_sas, R)
    return parts_that_fail(tilde, true, E, slack=1e-9 * max(E, N_sas.max(), 1.0))


@st.composite
def instances(draw):
    """True counts N(s,a,s') of a few (h,s,a), E > 0, and noise in [-E/4, E/4], often at its ends."""
    S = draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    N_sas = rng.integers(0, draw(st.sampled_from([1, 3, 100, 50_000])), size=(2, 2, 3, S)).astype(float)
    E = draw(st.sampled_from([1e-3, 1.0, 8.0, 60.0, 4000.0, 1e6]))
    ends = draw(st.sampled_from([0.0, 0.5, 1.0]))  # how many noises sit exactly at ±E/4

    def noise(shape):
        u = rng.uniform(-1, 1, size=shape)
        return np.where(rng.random(shape) < ends, np.sign(u), u) * E / 4

    return N_sas, E, noise(N_sas.shape[:-1]), noise(N_sas.shape)


@CHECKED
@given(instances())
def test_noise_within_a_quarter_of_e_gives_assumption_3_1(instance):
    N_sas, E, noise_sa, noise_sas = instance
    post = closed_form(N_sas.sum(axis=-1) + noise_sa, N_sas + noise_sas, E)
    assert violations(N_sas, post, E) == set()
    assert post.fallbacks == 0  # the true counts are feasible, so no LP is infeasible


@settings(max_examples=25, deadline=None, derandomize=True, database=None)
@given(instances())
def test_any_minimiser_will_do(instance):
    """The lemma uses only that Eq.4 is solved: whichever minimiser a solver returns satisfies it."""
    N_sas, E, noise_sa, noise_sas = instance
    solved = CvxpyPostprocess(canonical=False)(N_sas.sum(axis=-1) + noise_sa, N_sas + noise_sas, E)
    slack = 1e-6 * max(E, N_sas.sum(axis=-1).max())  # the solver's, relative to the largest number
    assert np.abs(solved.N_sas - N_sas).max() <= E + slack
    assert (solved.N_sa >= N_sas.sum(axis=-1) - slack).all()
    assert (solved.N_sa <= N_sas.sum(axis=-1) + E + slack).all()
    assert solved.N_sas.min() > 0
    assert np.abs(solved.N_sas.sum(axis=-1) - solved.N_sa).max() <= slack


def worst_case(excess):
    """All noises at -excess · E/4: N̂(s,a) is too low and the N̂(s,a,s') pull the sum to the end of its band."""
    N_sas = np.full((1, 1, 1, 4), 100.0)
    E = 40.0
    noise = -excess * E / 4
    post = closed_form(N_sas.sum(axis=-1) + noise, N_sas + noise, E)
    return violations(N_sas, post, E)


def test_noise_above_a_quarter_of_e_breaks_it():
    """At -E/4 all around, Ñ(s,a) = N(s,a) exactly; 1% more noise and Ñ(s,a) is below N(s,a)."""
    assert worst_case(1.0) == set()
    assert worst_case(1.01) == {"(2) never below"}


def test_both_ends_of_the_band_are_reached():
    """+E/4 all around: Ñ(s,a) = N(s,a) + E exactly, and 1% more noise is too far."""
    N_sas, E = np.full((1, 1, 1, 4), 100.0), 40.0
    at_the_end = closed_form(N_sas.sum(axis=-1) + E / 4, N_sas + E / 4, E)
    assert at_the_end.N_sa == pytest.approx(400 + E)
    beyond = closed_form(N_sas.sum(axis=-1) + 1.01 * E / 4, N_sas + 1.01 * E / 4, E)
    assert violations(N_sas, beyond, E) == {"(1) N(s,a)"}


def test_large_noise_breaks_it_on_random_instances():
    """Noise up to E instead of E/4: most of 200 seeded instances violate the conclusion."""
    broken = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        N_sas, E = rng.integers(0, 100, size=(2, 2, 2, 3)).astype(float), 40.0
        post = closed_form(
            N_sas.sum(axis=-1) + rng.uniform(-E, E, (2, 2, 2)), N_sas + rng.uniform(-E, E, (2, 2, 2, 3)), E
        )
        broken += bool(violations(N_sas, post, E))
    assert broken > 150


def test_without_the_shift_counts_would_be_too_low():
    """Eq.5 is needed: the LP's solution by itself underestimates N(s,a) under the lemma's own noise."""
    N_sas, E = np.full((1, 1, 1, 4), 100.0), 40.0
    post = closed_form(N_sas.sum(axis=-1) - E / 4, N_sas - E / 4, E)
    unshifted = post._replace(N_sa=post.N_sa - E / 2, N_sas=post.N_sas - E / 8)
    assert violations(N_sas, unshifted, E) == {"(2) never below"}


def test_the_shift_is_e_over_2_and_shared_evenly():
    """No noise, an LP that changes nothing: Ñ(s,a,s') = N + E/(2S), Ñ(s,a) = N + E/2."""
    N_sas = np.array([[[[3.0, 0.0, 5.0]]]])
    post = closed_form(np.array([[[8.0]]]), N_sas, 12.0)
    assert post.N_sas[0, 0, 0].tolist() == [5.0, 2.0, 7.0]
    assert post.N_sa[0, 0, 0] == 14.0
