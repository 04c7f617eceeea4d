"""From counts of an attack to lower bounds on ε: one function per inequality.

An attacker calls "this one" in a region F of the outcomes. With X and X' two neighbouring data sets,

    P(F | X) ≤ e^ε P(F | X') + δ      so      ε ≥ ln((P(F | X) - δ) / P(F | X')),

and, if the mechanism is μ-GDP, P(F | X) ≤ Φ(Φ⁻¹(P(F | X')) + μ), so μ ≥ Φ⁻¹(P(F | X)) - Φ⁻¹(P(F | X')). Both
probabilities are bounded by Clopper and Pearson from independent trials, each with probability α/2 of error: a
bound is too large with probability at most ALPHA, whatever the mechanism, if F was chosen without a look at
these trials. Sources: Ding et al. 2018 (arXiv 1805.10559); Nasr et al. 2023 (arXiv 2302.07956) for μ.

An attack is a lower bound and no more: what it does not find may still be there.
"""

import numpy as np
from scipy.special import ndtri

from dpucbvi.protocol import Floats
from dpucbvi.stats import at_least, at_most

ALPHA = 1e-9  # the probability that one bound is wrong


def epsilon_bound(true: Floats, false: Floats, trials: int, delta: float, alpha: float = ALPHA) -> Floats:
    """ln((P(F|X) - δ)/P(F|X')) from the hits of F in so many trials of X and of X'; at least 0."""
    surplus = at_least(true, trials, alpha / 2.0) - delta
    return np.log(np.maximum(surplus / at_most(false, trials, alpha / 2.0), 1.0))


def mu_bound(true: Floats, false: Floats, trials: int, alpha: float = ALPHA) -> Floats:
    """Φ⁻¹(P(F|X)) - Φ⁻¹(P(F|X')) from the same; at least 0."""
    high, low = at_least(true, trials, alpha / 2.0), at_most(false, trials, alpha / 2.0)
    return np.where(high > low, ndtri(np.maximum(high, 1e-300)) - ndtri(np.maximum(low, 1e-300)), 0.0)
