"""Private-UCB-VI on numbers worked out by hand and, without noise, against Hoeffding value iteration."""

import math

import numpy as np
import pytest
from hand_worked import USERS, non_private, plans, table
from users import Fixed

import dpucbvi as dp
from dpucbvi.agents.private_ucb_vi import printed_widths, private_ucb_vi_constants
from dpucbvi.counts import PrivateCounts, as_counts, counters
from dpucbvi.projection import no_postprocess

# 4SAT = 4·2·2·10 = 160, so ℓ = ln(160/β) = 8 and √(2ℓ) = 4.
PRIVATE_HAND = dp.Problem(2, 2, 2, K=5, beta=160 * math.exp(-8))


def test_private_ucb_vi_by_hand():
    """E1 = 2, E2 = 3: b = (1 + H)·4/√D + (3·2 + 2·(2·3 + 2·2))/D = 12/√D + 26/D, times .01."""
    constants = private_ucb_vi_constants(PRIVATE_HAND, E1=2.0, E2=3.0, scale=0.01)
    assert (constants.root, constants.width) == pytest.approx((12.0, 26.0))
    made = plans(dp.PrivateUCBVI().algorithm(PRIVATE_HAND, non_private(), constants), USERS)
    # k = 1: D = 2 everywhere: .01·(8.4852814 + 13) = .2148528, the same at both steps since P̃ = 0
    assert made[0].Q == table(np.full((2, 2, 2), 0.2148528)) and not made[0].pi.any()
    # k = 2: step 2 (1,0): D = 3: 0 + .01·(6.9282032 + 8.6666667) = .1559487
    assert made[1].Q[1] == table([[0.2148528, 0.2148528], [0.1559487, 0.2148528]])
    # step 1 (0,0): D = 3: .5/3 + (1/3)·.2148528 + .1559487 = .3942330: P̃ sums to 1/3, not to 1
    assert made[1].Q[0] == table([[0.3942330, 0.2148528], [0.2148528, 0.2148528]])
    assert made[1].pi.tolist() == [[0, 0], [0, 1]]
    # k = 3: step 2 (1,1): .25/3 + .1559487 = .2392820; step 1 (0,0): D = 4: .25 + .5·.2392820 + .125 =
    # .4946410, more than before: there is no minimum with the last episode's Q
    assert made[2].Q[1, 1] == table([0.1559487, 0.2392820])
    assert made[2].Q[0, 0] == table([0.4946410, 0.2148528])


def test_private_ucb_vi_cuts_to_what_is_left():
    """As printed b > 21 everywhere, so Q_h = H - h + 1 exactly: 2 at step 1, 1 at step 2."""
    constants = private_ucb_vi_constants(PRIVATE_HAND, E1=2.0, E2=3.0)
    for plan in plans(dp.PrivateUCBVI().algorithm(PRIVATE_HAND, non_private(), constants), USERS):
        assert plan.Q[0].tolist() == [[2, 2], [2, 2]] and plan.Q[1].tolist() == [[1, 1], [1, 1]]


def test_private_ucb_vi_on_counts_that_noise_has_made_absurd():
    """Negative rewards cut Q at 0; D is at least 1; negative N̂(s,a,s') count against their state."""
    flat = np.zeros(counters(2, 2, 2))
    counts = as_counts(flat, 2, 2, 2)  # views
    counts.N_sa[...] = 6.0
    counts.R[1, 0, 0], counts.R[1, 0, 1] = -80.0, 0.8  # D = 8: -10 and .1
    counts.N_sa[1, 1, 0], counts.R[1, 1, 0] = -70.0, 0.3  # D = max(-68, 1) = 1
    counts.N_sas[0, 0, 0] = [-4.0, 2.0]
    constants = private_ucb_vi_constants(PRIVATE_HAND, E1=2.0, E2=3.0, scale=0.001)
    b_8, b_1 = 0.001 * (12 / math.sqrt(8) + 26 / 8), 0.001 * (12 + 26)
    private = PrivateCounts(Fixed(flat), no_postprocess, 0.0, 2, 2, 2)
    plan = plans(dp.PrivateUCBVI().algorithm(PRIVATE_HAND, private, constants), USERS[:1])[1]
    assert plan.Q[1] == table([[0.0, 0.1 + b_8], [0.3 + b_1, b_8]])
    V = [0.1 + b_8, 0.3 + b_1]
    assert plan.Q[0, 0, 0] == pytest.approx(-0.5 * V[0] + 0.25 * V[1] + b_8, abs=1e-12)


def test_printed_widths():
    """E1 = B √(8 n ln(6SAT/β)), E2 with another S inside. S=6, A=2, T=10^6, β=.05: 6SAT/β = 1.44e9."""
    problem = dp.Problem(20, 6, 2, 50_000, 0.05)
    E1, E2 = printed_widths(problem, dp.Noise(scale=960.0, E=0.0, terms=16))
    assert pytest.approx(960 * math.sqrt(128 * math.log(1.44e9))) == E1
    assert pytest.approx(960 * math.sqrt(128 * math.log(8.64e9))) == E2
    # Central in the paper's letters: (3H/ε) √(8 log³K ln(6SAT/β)) with log K = L = 16, ε = 1
    assert pytest.approx(60 * math.sqrt(8 * 16**3 * math.log(1.44e9))) == E1
