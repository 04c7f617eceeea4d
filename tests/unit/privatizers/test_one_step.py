"""OneStep: the law of a report is enumerated bit by bit, so is its privacy; estimates have the right mean."""

import math
from itertools import product

import numpy as np
import pytest
from answers_by_hand import ReportsByHand

import dpucbvi as dp
from dpucbvi.counts import as_counts
from dpucbvi.privatizers.one_step import HOT

EPSILONS = (0.5, 1.0, 2.0)


class Chosen:
    """Coins that are chosen: word i gives the uniform values[i]."""

    def __init__(self, values):
        self.values = list(values)

    def words(self, n):
        given, self.values = self.values[:n], self.values[n:]
        return [np.uint64(int(u * 2**53) << 11) for u in given]


def reports(epsilon, S, coins, H=2, G=1, **given):
    return ReportsByHand(dp.OneStep(epsilon, **given), dp.Problem(H, S, 1, 1000, 0.1), G, coins)


def chances(epsilon, S, hot, width):
    """P(bit = 1) for every bit, read off the code: the bit is 1 below its chance and 0 from there on."""
    q = dp.OneStep(epsilon).cold()
    expected = np.full((S, width), q)
    expected[hot] = HOT
    tick = 2.0**-53
    below = reports(epsilon, S, Chosen((np.floor(expected / tick) * tick - tick).ravel())).bits(hot, width)
    above = reports(epsilon, S, Chosen((np.ceil(expected / tick) * tick).ravel())).bits(hot, width)
    assert below.all() and not above.any()
    return expected


def law(chance):
    """The probability of every report."""
    each = np.array(list(product((0, 1), repeat=chance.size)))
    flat = chance.ravel()
    return np.prod(np.where(each == 1, flat, 1 - flat), axis=1)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("S", [2, 3])
def test_the_worst_log_ratio_of_a_report_is_epsilon(S, epsilon):
    """Over all pairs of what two users may have at the public step and all reports, for both kinds.

    A user's part in a report is the hot bit alone: (s_h, s_{h+1}) or (s_h, reward), all of which some
    trajectory has. Against a user who is not there (no hot bit) the ratio is the certified (1 + e^ε)/2.
    """
    for width in (S, 2):
        hots = list(product(range(S), range(width)))
        laws = np.log([law(chances(epsilon, S, hot, width)) for hot in hots])
        assert (laws[:, None] - laws[None]).max() == pytest.approx(epsilon, abs=1e-12)
        nobody = np.log(law(np.full((S, width), dp.OneStep(epsilon).cold())))
        apart = np.abs(laws - nobody).max()
        certificate = dp.OneStep(epsilon).certificate(dp.Problem(2, S, 1, 1000, 0.1), 1)
        assert (certificate.add_remove, certificate.replace_one) == pytest.approx((apart, epsilon), abs=1e-12)


def test_a_bit_that_is_hot_too_often_is_noticed():
    """Control: a hot bit sent with 3/4 in place of 1/2 costs more than ε."""
    q = dp.OneStep(1.0).cold()
    one, other = (np.full((2, 2), q) for _ in range(2))
    one[0, 0] = other[1, 1] = 0.75
    assert np.log(law(one) / law(other)).max() > 1.5


def test_a_large_epsilon_has_a_certificate():
    """ln((1 + e^ε)/2) where e^ε is not a float any more."""
    certificate = dp.OneStep(1000.0, noise="exact").certificate(dp.Problem(2, 2, 1, 1000, 0.1), 1)
    truth = 1000 - math.log(2)
    assert truth <= certificate.add_remove <= truth * (1 + 1.1e-12)  # rounded up by 1e-12


@pytest.mark.parametrize("G", [1, 2])
@pytest.mark.parametrize("S", [2, 3])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_estimates_have_the_right_mean_exactly(S, epsilon, G):
    """Linear in the tallies: at their expectation over step, kind and bits they are the user's own
    statistics."""
    H, share = 2, dp.OneStep(epsilon).transitions
    for s in product(range(S), repeat=H + 1):
        server = reports(epsilon, S, Chosen([]), H, G)
        N_sas, R = np.zeros((G, S, 1, S)), np.zeros((G, S, 1))
        for h, r in enumerate((1, 0)):
            server.moved[h % G, :, 0] += share / H * chances(epsilon, S, (s[h], s[h + 1]), S)
            server.asked[h % G, :, 0] += share / H
            server.earned[h % G, :, 0] += (1 - share) / H * chances(epsilon, S, (s[h], r), 2)
            N_sas[h % G, s[h], 0, s[h + 1]] += 1.0
            R[h % G, s[h], 0] += r - 0.5
        counts = as_counts(server.estimates(), G, S, 1)
        assert counts.N_sas == pytest.approx(N_sas, abs=1e-11)
        assert counts.R == pytest.approx(R, abs=1e-11)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_variance_of_a_cold_cell_is_the_one_stated(epsilon):
    privatizer, H = dp.OneStep(epsilon), 4
    q = 1 / (math.exp(epsilon) + 1)
    assert privatizer.cold() == pytest.approx(q, rel=1e-12)
    assert privatizer.cell_sd(H) ** 2 == pytest.approx(
        q * (1 - q) / (0.5 - q) ** 2 * (H / 0.75) ** 2, rel=1e-12
    )
