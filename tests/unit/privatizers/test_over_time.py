"""Central with tuned families, KaryTree, Toeplitz: the noise of what the compiled engine
releases has the variance that theory says, family by family, and its standard deviation is the one reported.

Let n noises x of variance v and kurtosis κ be independent. Then Σx²/(nv) is 1 up to about √((κ-1)/n). κ is 3
for Gaussian noise and at most 6 for a sum of Laplace noises. A test refuses beyond five of these deviations: a
right mechanism with probability below 6e-7, so one of the 81 below with probability below 5e-5 (all is seeded).
Power: a scale that is off by 10% moves the mean by 19% or more. For R, the smallest family (15,360 noises), a
deviation is at most 1.8%.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from users import user_of

import dpucbvi as dp
from dpucbvi.counts import CENTRE, FAMILIES
from dpucbvi.engine import fast
from dpucbvi.engine.state import EPISODE
from dpucbvi.mdp import Trajectory
from dpucbvi.mechanisms.blt import parameters
from dpucbvi.mechanisms.kary import digits
from dpucbvi.simulate import set_up

H, S, A, K = 20, 4, 12, 64  # 960 counters R(s,a), 3,840 counters N(s,a,s')
SEEDS = range(16)
TIMES = (1, 14, 49, 63)  # users after whom the noise is looked at
MDP = dp.random_mdp(S, A, H, seed=3)
DEVIATIONS = 5.0
LAPLACE, GAUSSIAN = 5.0, 2.0  # κ - 1


def popcount(t):
    return t.bit_count()


def toeplitz(t, T=K - 1):
    """Σ_{j<t} b_j² of the row of B, written out: b_j = Σ_i w_i x_i^j."""
    blt = parameters(T)
    return sum(sum(w * x**j for w, x in zip(blt.w, blt.x, strict=True)) ** 2 for j in range(t))


class Stream(NamedTuple):
    privatizer: Any
    variance: Any  # from the number of a release to its variance in units of the scale's
    kurtosis: float  # less one

    @property
    def unit(self):
        """The variance of noise of scale 1."""
        return 2.0 if self.kurtosis == LAPLACE else 1.0


STREAMS = {
    "central": Stream(dp.Central(5.0, families="tuned", sensitivity="replace_one"), popcount, LAPLACE),
    "kary_tree": Stream(dp.KaryTree(5.0, k=5), lambda t: sum(map(abs, digits(t, 5, 4))), LAPLACE),
    "toeplitz": Stream(dp.Toeplitz(5.0), toeplitz, GAUSSIAN),
    "toeplitz, every 7": Stream(dp.Toeplitz(5.0, every=7), lambda t: toeplitz(t, 9), GAUSSIAN),
}
each = pytest.mark.parametrize("name", STREAMS)


def setup_of(stream):
    return set_up(MDP, dp.DPUCBVI(), stream.privatizer, K, lp_checks=0)


def scales(setup):
    given = (setup.problem,) if hasattr(setup.privatizer, "levels") else (setup.problem, setup.G)
    return setup.privatizer.scales(*given)


@pytest.fixture(scope="module")
def released():
    """For every stream and time: the noises of N(s,a), N(s,a,s') and R(s,a), and the sd that is reported."""
    found = {}
    for name, stream in STREAMS.items():
        setup = setup_of(stream)
        noises = {t: [[], [], []] for t in TIMES}
        for seed in SEEDS:
            run = fast.start(setup, seed)
            for t in TIMES:
                while (left := t - int(run.memory.tally[EPISODE])) > 0:
                    next(fast.run_chunks(run, seed, most=left))
                for family, one in zip(noises[t], noise_now(run), strict=True):
                    family.append(one)
                assert len(set(run.private.sd)) == 1  # the same for every pair
                found[name, "sd", t] = run.private.sd[0]
        found |= {(name, t): [np.concatenate(family) for family in noises[t]] for t in TIMES}
    return found


def noise_now(run):
    """What was last released less the sums of all users until then, by family.

    Between two releases the sums go on: the noise is that of the release only if a release was just made.
    """
    families, private, rows = FAMILIES[run.setup.privatizer.families], run.private, run.private.sd.size
    N, M, R = np.split(private.flat, [rows, rows * (1 + S)])
    if families.centred:
        R = R - CENTRE * private.N_sa.ravel()  # what post-processing has added
    true_N, true_M, true_R = np.split(run.state.sum, [rows, rows * (1 + S)])
    return np.zeros(0) if families.summed else N - true_N, M - true_M, R - true_R


def deviations(noise, variance, kurtosis):
    """How far the mean square is from this variance, in its own standard deviations."""
    return (np.mean(np.square(noise)) / variance - 1.0) / math.sqrt(kurtosis / noise.size)


def released_at(stream, t):
    return t // getattr(stream.privatizer, "every", 1)


@pytest.mark.parametrize("t", TIMES)
@each
def test_the_noise_has_the_variance_that_theory_says_and_no_other(name, t, released):
    stream = STREAMS[name]
    item = released_at(stream, t)
    if item == 0:
        assert all(not noise.size or (noise <= 0).all() for noise in released[name, t][:2])  # nothing released
        return
    if t % getattr(stream.privatizer, "every", 1):
        pytest.fail("choose times of releases")
    for noise, scale in zip(released[name, t], scales(setup_of(stream)), strict=True):
        assert (noise.size == 0) == (scale == 0.0)
        if noise.size:
            assert noise.size >= 15_360
            v = stream.unit * scale**2 * stream.variance(item)
            assert abs(deviations(noise, v, stream.kurtosis)) < DEVIATIONS
            for wrong in (0.9, 1.1):  # control
                assert abs(deviations(noise, wrong**2 * v, stream.kurtosis)) > DEVIATIONS


@pytest.mark.parametrize("t", TIMES)
@each
def test_the_reported_sd_is_the_true_one(name, t, released):
    """To rounding, in both engines' bookkeeping; the largest of a run is what `noise` reports, or below it."""
    stream = STREAMS[name]
    setup, item = setup_of(stream), released_at(STREAMS[name], t)
    expected = scales(setup).M * math.sqrt(stream.unit * stream.variance(item))
    assert released[name, "sd", t] == pytest.approx(expected, rel=1e-9, abs=0.0)
    assert expected <= setup.noise.sd * (1 + 1e-12)


def test_a_release_counts_the_first_visits_only_if_clipped():
    """One user who meets (0,0) three times and (1,0) once: with clip 2 the third visit is not counted."""
    problem = dp.Problem(4, 2, 1, 8, 0.1)
    user = Trajectory(np.array([0, 0, 0, 1, 1]), np.zeros(4, dtype=np.int64), np.ones(4))
    given = user_of(user, np.zeros((4, 2), dtype=np.int64))
    release = dp.Toeplitz(1e9, clip=2).release(problem, 1, np.random.SeedSequence(0))
    released = release.release(given)
    assert released == pytest.approx([0, 0, 2, 0, 0, 1, 1.0, 0.5], abs=1e-3)
    assert release.state.sum == pytest.approx([0, 0, 2, 0, 0, 1, 1.0, 0.5], abs=0)
