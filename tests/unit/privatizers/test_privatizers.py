"""Noise scale, E, certificate and release of the paper's three privatizers fit together."""

import numpy as np
import pytest
from users import user_of

import dpucbvi as dp
from dpucbvi.counts import counters, statistics
from dpucbvi.engine import fast
from dpucbvi.engine.kernel import release_of
from dpucbvi.mdp import Trajectory
from dpucbvi.mechanisms.binary import levels
from dpucbvi.privacy.laplace import LaplaceStream, privacy_stream, seed_stream
from dpucbvi.privatizers.central import order_central
from dpucbvi.privatizers.local import order_local
from dpucbvi.protocol import Noisy
from dpucbvi.simulate import set_up

RIVER = dp.riverswim(4, 5)
FACTOR = {"paper": 1, "replace_one": 2}
LAPLACE = [dp.Central, dp.Local]


def made(privatizer, K, pooled=False):
    return set_up(RIVER, dp.DPUCBVI(pooled=pooled), privatizer, K, beta=0.1)


def some_user(rng=None):
    """A user of no steps; with a generator, one who goes anywhere."""
    steps = 0 if rng is None else 5
    s, a = np.zeros(steps + 1, dtype=np.int64), np.zeros(steps, dtype=np.int64)
    if rng is not None:
        s[:], a[:] = rng.integers(4, size=steps + 1), rng.integers(2, size=steps)
    r = np.zeros(steps) if rng is None else rng.random(steps)
    return user_of(Trajectory(s, a, r), np.zeros((5, 4), dtype=np.int64))


@pytest.mark.parametrize("pooled", [False, True])
def test_non_private_has_no_noise_no_e_and_no_certificate(pooled):
    setup = made(dp.NonPrivate(), 64, pooled)
    assert (setup.noise.scale, setup.noise.E) == (0.0, 0.0)
    assert setup.certificate == dp.Certificate("none", np.inf, np.inf) and setup.privatizer.model == "none"
    release = setup.privatizer.release(setup.problem, setup.G, seed_stream(0, "privacy"))
    users = [some_user(np.random.default_rng(i)) for i in range(5)]
    items = [statistics(one, setup.G, 4, 2) for one in users]
    assert np.array_equal([release.release(one) for one in users], np.cumsum(items, axis=0))


@pytest.mark.parametrize("kind", LAPLACE)
@pytest.mark.parametrize("sensitivity", FACTOR)
@pytest.mark.parametrize("pooled", [False, True])
def test_the_release_adds_noise_of_the_scale_that_is_certified(kind, sensitivity, pooled):
    """The first release of zeros is Lap(1) from the run's stream, one per counter, times the scale: to the bit,
    rounded to multiples of 2^-20. So it is in the compiled twin, and ε is the change over that scale.
    """
    setup = made(kind(3.0, sensitivity), 64, pooled)
    size = counters(5 if not pooled else 1, 4, 2)
    release = setup.privatizer.release(setup.problem, setup.G, privacy_stream(setup, 7))
    noise = release.release(some_user())
    expected = np.rint(2**20 * setup.noise.scale * LaplaceStream(privacy_stream(setup, 7)).draw(size)) / 2**20
    assert np.array_equal(noise, expected)

    run = fast.start(setup, 7)  # whose memory has a user who moved from 0 to 0 and earned nothing, H times
    take = release_of(setup.privatizer.take)
    after = fast.by_step(setup, run.private).after
    assert take(run.state, run.memory, Noisy(run.private.flat, run.private.sd), after, 1)
    still = np.zeros(setup.mdp.H + 1, dtype=np.int64)
    at_rest = Trajectory(still, still[1:], np.zeros(setup.mdp.H))
    assert np.array_equal(run.private.flat, statistics(at_rest, setup.G, 4, 2) + expected)

    families = 3 * 5 * (levels(64) if kind is dp.Central else 1)
    assert setup.certificate.add_remove == pytest.approx(families / setup.noise.scale, rel=1e-12)


@pytest.mark.parametrize("kind", LAPLACE)
def test_settings_of_e_change_neither_the_noise_nor_the_certificate(kind):
    plain, narrow = made(kind(2.0), 64), made(kind(2.0, confidence_scale=0.01), 64)
    assert narrow.noise.E == pytest.approx(0.01 * plain.noise.E, rel=1e-12)
    order = order_central if kind is dp.Central else order_local
    printed = made(kind(2.0, confidence_scale=0.5, printed_constant=3.0), 64)
    assert printed.noise.cell == plain.noise.cell > 0
    assert printed.noise.E == pytest.approx(0.5 * order(plain.problem, 2.0, 3.0), rel=1e-12)
    assert printed.noise.printed == pytest.approx(1.5)
    for other in (narrow, printed):
        assert other.noise.scale == plain.noise.scale and other.certificate == plain.certificate
