"""Central with tuned families, KaryTree, Toeplitz: noise with the variance that theory says, which is reported.

Let n noises x of variance v and kurtosis κ be independent. Then Σx²/(nv) is 1 up to about √((κ-1)/n). κ is 3
for Gaussian noise and at most 6 for a sum of Laplace noises. A test refuses beyond five of these deviations: a
right mechanism with probability below 6e-7 (all is seeded). Power: a scale that is off by 10% moves the mean by
19% or more; with 7,680 noises a deviation is at most 2.6%. The compiled engine releases the same bits.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from theory import digits
from users import user_of

import dpucbvi as dp
from dpucbvi.counts import FAMILIES, statistics
from dpucbvi.mdp import Trajectory
from dpucbvi.mechanisms.blt import parameters
from dpucbvi.privacy.laplace import seed_stream

H, S, A, K = 20, 4, 24, 64
PROBLEM = dp.Problem(H, S, A, K, 0.05)
TIMES = (1, 14, 49, 63)  # users after whom the noise is looked at
LAPLACE, GAUSSIAN = 5.0, 2.0  # κ - 1


def toeplitz(t, T=K - 1):
    """Σ_{j<t} b_j² of the row of B, written out: b_j = Σ_i w_i x_i^j."""
    blt = parameters(T)
    return sum(sum(w * x**j for w, x in zip(blt.w, blt.x, strict=True)) ** 2 for j in range(t))


class Stream(NamedTuple):
    privatizer: Any
    variance: Any  # from the number of a release to its variance in units of the scale's
    kurtosis: float  # less one


STREAMS = {
    "central": Stream(dp.Central(5.0, families="tuned", sensitivity="replace_one"), int.bit_count, LAPLACE),
    "kary_tree": Stream(dp.KaryTree(5.0, k=5), lambda t: sum(map(abs, digits(t, 5, 4))), LAPLACE),
    "toeplitz": Stream(dp.Toeplitz(5.0), toeplitz, GAUSSIAN),
    "toeplitz, every 7": Stream(dp.Toeplitz(5.0, every=7), lambda t: toeplitz(t, 9), GAUSSIAN),
}


def people():
    rng = np.random.default_rng(1)
    for _ in range(K - 1):
        user = Trajectory(rng.integers(S, size=H + 1), rng.integers(A, size=H), np.zeros(H))
        yield user_of(user, np.zeros((H, S), dtype=np.int64))


@pytest.mark.parametrize("name", STREAMS)
def test_the_noise_has_the_variance_that_theory_says_and_no_other(name):
    private, variance, kurtosis = STREAMS[name]
    given = (PROBLEM,) if hasattr(private, "levels") else (PROBLEM, H)
    scale, unit = private.scales(*given).M, 2.0 if kurtosis == LAPLACE else 1.0
    release, total = private.release(PROBLEM, H, seed_stream(0, "privacy")), 0.0
    cells = slice(H * S * A, -H * S * A)
    for t, user in enumerate(people(), start=1):
        total = total + statistics(user, H, S, A, FAMILIES[private.families])
        released, every = release.release(user), getattr(private, "every", 1)
        assert (released is None) == (t % every > 0)
        if t not in TIMES or released is None:
            continue
        noise, v = (released - total)[cells], unit * scale**2 * variance(t // every)

        def deviations(v, noise=noise):
            """How far the mean square is from this variance, in its own standard deviations."""
            return abs(np.mean(np.square(noise)) / v - 1.0) / math.sqrt(kurtosis / noise.size)

        assert deviations(v) < 5.0
        assert min(deviations(0.81 * v), deviations(1.21 * v)) > 5.0  # control
        np.testing.assert_allclose(release.sd, math.sqrt(v), rtol=1e-9)


def test_a_release_counts_the_first_visits_only_if_clipped():
    """One user who meets (0,0) three times and (1,0) once: with clip 2 the third visit is not counted."""
    problem = dp.Problem(4, 2, 1, 8, 0.1)
    user = Trajectory(np.array([0, 0, 0, 1, 1]), np.zeros(4, dtype=np.int64), np.ones(4))
    given = user_of(user, np.zeros((4, 2), dtype=np.int64))
    release = dp.Toeplitz(1e9, clip=2).release(problem, 1, np.random.SeedSequence(0))
    released = release.release(given)
    assert released == pytest.approx([0, 0, 2, 0, 0, 1, 1.0, 0.5], abs=1e-3)
    assert release.state.sum == pytest.approx([0, 0, 2, 0, 0, 1, 1.0, 0.5], abs=0)
