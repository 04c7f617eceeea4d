"""The four sentences on runs that are made up, so that the answers are known."""

import numpy as np
import pytest

from experiments.studies.riverswim.verdicts import (
    CANNOT,
    DOES_NOT,
    FITTED,
    REPRODUCES,
    SENTENCES,
    Curves,
    Regret,
    judge,
    verdict,
)

JITTER = np.linspace(-2.0, 2.0, 14)  # of 14 runs: every p is exact and at least 2/2¹⁴, before Holm's correction


def verdicts(curves: Curves) -> dict[str, str]:
    return judge({"one column": curves})["one column"]


def curve(half: float, full: float, spread: float = 1.0) -> Regret:
    return Regret(half + spread * JITTER / 2, full + spread * JITTER[::-1])


# About the regrets that the paper prints at K/2 and K.
PRINTED = {
    "non_private": curve(4030, 4280),
    "jdp_eps2": curve(4880, 5170),
    "jdp_eps1": curve(5520, 5970),
    "ldp_eps2": curve(13_000, 15_120),
}
BEST, CONSTANT, LARGER, LDP = SENTENCES


def test_the_printed_curves_say_what_the_paper_says():
    assert set(verdicts(PRINTED).values()) == {REPRODUCES}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"jdp_eps2": curve(4000, 4200)}, BEST),
        ({"jdp_eps1": curve(4030, 5970)}, CONSTANT),  # all of the cost comes after K/2
        ({"jdp_eps1": curve(9030, 9280)}, CONSTANT),  # constant, and more than UCBVI's own regret
        ({"jdp_eps1": curve(4800, 5000)}, LARGER),
        ({"ldp_eps2": curve(6000, 8000)}, LDP),  # less than twice the non-private regret
        ({"ldp_eps2": curve(15_000, 15_020)}, LDP),  # high, but it has converged
    ],
)
def test_a_curve_that_contradicts_a_sentence_refutes_it(change, sentence):
    assert verdicts({**PRINTED, **change})[sentence] == DOES_NOT


def test_the_cost_may_grow_up_to_the_square_root_of_k():
    grown = lambda power: {**PRINTED, "jdp_eps1": curve(4030 + 2000 * 0.5**power, 6280)}  # noqa: E731
    assert verdicts(grown(0.4))[CONSTANT] == REPRODUCES
    assert verdicts(grown(0.6))[CONSTANT] == DOES_NOT


def test_a_fitted_column_tells_of_shape_only():
    """What it says of levels may be anything; a cost that grows late still refutes."""
    low = {**PRINTED, "jdp_eps2": curve(4000, 4200)}
    judged = judge({"one": low}, fitted=["one"])["one"]
    assert (judged[BEST], judged[LARGER], judged[LDP]) == (FITTED, FITTED, REPRODUCES)
    late = {**PRINTED, "jdp_eps1": curve(4030, 5970)}
    assert judge({"one": late}, fitted=["one"])["one"][CONSTANT] == DOES_NOT


def test_noise_leaves_it_open():
    noisy = {**PRINTED, "jdp_eps1": curve(5520, 5970, spread=2000.0)}
    assert verdicts(noisy)[LARGER] == CANNOT
    assert verdict([1, 0]) == CANNOT and verdict([1, 1]) == REPRODUCES and verdict([1, 0, -1]) == DOES_NOT


def test_the_order_of_curves_that_learn_nothing_decides_nothing():
    """As in Section 5's setting: all private curves are straight lines, which differ a little at the end."""
    straight = {
        "jdp_eps1": curve(84_000, 168_000),
        "jdp_eps2": curve(83_900, 167_800),
        "ldp_eps2": curve(83_000, 166_000),
    }
    judged = verdicts({**PRINTED, **straight})
    assert (judged[BEST], judged[CONSTANT], judged[LARGER], judged[LDP]) == (
        REPRODUCES,
        DOES_NOT,
        CANNOT,
        CANNOT,
    )
    one_learns = verdicts({**PRINTED, **straight, "jdp_eps2": curve(4880, 5170)})
    assert (one_learns[LARGER], one_learns[LDP]) == (REPRODUCES, REPRODUCES)


def test_five_runs_tell_nothing():
    """Their sign-flip test has p ≥ 2/2⁵, whatever the runs."""
    few = {name: Regret(regret.half[:5], regret.full[:5]) for name, regret in PRINTED.items()}
    assert set(verdicts(few).values()) == {CANNOT}


def test_more_columns_need_more_evidence():
    """10 contrasts in a column. With 9 runs p ≥ 2/2⁹: enough for one column, not for 20."""
    nine = {name: Regret(regret.half[:9], regret.full[:9]) for name, regret in PRINTED.items()}
    assert verdicts(nine)[LARGER] == REPRODUCES
    assert judge({str(i): nine for i in range(20)})["0"][LARGER] == CANNOT
