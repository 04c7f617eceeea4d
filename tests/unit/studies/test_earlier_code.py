"""The habits of published code do what their file says, and certify no more than they keep."""

import math

import numpy as np
import pytest
from scipy.stats import kstest, laplace
from users import NOBODY, user_of

import dpucbvi as dp
from dpucbvi.privacy.laplace import seed_stream
from dpucbvi.simulate import set_up
from experiments.studies.explain.earlier_code import Redrawn, Shared, terms_at

SIZES = dp.Problem(H=5, S=4, A=2, K=64, beta=0.1)
WAITS = user_of(NOBODY, np.zeros((5, 4), dtype=np.int64))


def releases(privatizer, n, seed=0):
    made = privatizer.release(SIZES, 5, seed_stream(seed, "privacy"))
    return np.array([made.release(WAITS) for _ in range(n)])


def test_noise_is_redrawn_in_every_release():
    """The first two releases have one Lap(1/ε) each, and they are independent. Each KS test and the correlation
    fail by chance with probability 1e-4."""
    noise = releases(Redrawn(2.0), 2)
    for one in noise:
        assert kstest(one, laplace(scale=0.5).cdf).pvalue > 1e-4
    assert abs(np.corrcoef(noise)[0, 1]) < 3.9 / math.sqrt(noise.shape[1])
    assert terms_at(63) == 5 and terms_at(1) == 1 and terms_at(0) == 0


def test_the_noise_of_a_later_release_is_a_sum_of_so_many():
    """Variance 2·5/ε² after 63 users; its estimate from 240 counters is within 5 standard errors of it."""
    noise = releases(Redrawn(2.0), 63)[-1]
    assert noise.var() == pytest.approx(2 * 5 / 4, rel=5 * math.sqrt((2 + 3 / 5) / len(noise)))


def test_shared_noise_is_the_same_for_all_pairs_and_adds_up():
    """The counters are N, one block for every s', and R, each with the 5·4·2 pairs of all steps."""
    noise = releases(Shared(2.0), 10).reshape(10, 4 + 2, 5 * 4 * 2)
    assert (noise == noise[:, :, :1]).all() and (np.diff(noise[:, :, 0], axis=0) != 0.0).all()
    assert all(len(set(blocks)) == 6 for blocks in noise[:, :, 0])


def test_what_they_certify():
    """3H/b in each of K-1 releases; nothing where the difference of two counters is the truth."""
    redrawn, shared = Redrawn(2.0).certificate(SIZES, 5), Shared(2.0).certificate(SIZES, 5)
    assert redrawn.add_remove == pytest.approx(3 * 5 * 2.0 * 63)
    assert redrawn.replace_one == pytest.approx(2 * redrawn.add_remove)
    assert shared.add_remove == shared.replace_one == math.inf
    assert Redrawn(2.0).certificate(SIZES._replace(K=1), 5).add_remove == 0.0


@pytest.mark.parametrize("privatizer", [Redrawn(2.0), Shared(2.0)])
def test_E_covers_the_noise(privatizer):
    """|noise| ≤ E/4 in all releases of 50 runs; each fails with probability at most β/3, so half of them would
    be far beyond chance (< 1e-20)."""
    E = set_up(dp.riverswim(4, 5), dp.DPUCBVI(), privatizer, 64, beta=0.1).noise.E
    inside = [np.abs(releases(privatizer, 63, seed)).max() <= E / 4 for seed in range(50)]
    assert sum(inside) >= 45
    assert E < 4 * 40 * np.abs(releases(privatizer, 63)).max()  # and no wider than it must be


@pytest.mark.parametrize("habit", [Redrawn, Shared])
def test_they_are_compiled_at_the_size_of_figure_1(habit):
    """As anyone's own privatizer is whose compiled version does what Python does, scratch included."""
    run = dp.run(dp.riverswim(), dp.DPUCBVI(), habit(1.0), K=30, engine="fast", lp_checks=0)
    assert run.checks["own_parts"] == f"the privatizer {habit.__name__}: compiled"
