"""The algorithms by name: which privatizers each takes, how its constants are made, and its reference code."""

from collections.abc import Callable
from typing import Any, NamedTuple

from dpucbvi.algorithm1 import Algorithm, dp_ucbvi
from dpucbvi.baselines.dp_nash_vi import DpNashViConstants, dp_nash_vi, dp_nash_vi_constants
from dpucbvi.baselines.ldp_obi import LdpObiConstants, ldp_obi, ldp_obi_constants
from dpucbvi.baselines.private_ucb_po import PrivateUcbPoConstants, private_ucb_po, private_ucb_po_constants
from dpucbvi.baselines.private_ucb_vi import (
    PrivateUcbViConstants,
    printed_widths,
    private_ucb_vi,
    private_ucb_vi_constants,
)
from dpucbvi.baselines.pucb import PucbConstants, printed_width, pucb, pucb_constants
from dpucbvi.baselines.ucbvi import UcbviConstants, hoeffding_constants, ucbvi, ucbvi_bernstein_constants
from dpucbvi.binary_mechanism import levels
from dpucbvi.bonus import BernsteinConstants, bernstein_constants
from dpucbvi.confidence import Problem
from dpucbvi.config import RunConfig
from dpucbvi.privatizers import Privatizer

Constants = (
    BernsteinConstants
    | UcbviConstants
    | PrivateUcbViConstants
    | PrivateUcbPoConstants
    | PucbConstants
    | LdpObiConstants
    | DpNashViConstants
)


class Noise(NamedTuple):
    """How large the noise is: one Laplace draw, how many are summed, and E of Assumption 3.1."""

    scale: float
    terms: int
    E: float


class Agent(NamedTuple):
    """An algorithm: `raw` ones read the noisy counts as they are, without post-processing."""

    privatizers: tuple[str, ...]
    raw: bool
    constants: Callable[[RunConfig, Problem, Noise], Constants]
    algorithm: Callable[[Problem, Privatizer, Any], Algorithm]


def _dp_ucbvi(problem: Problem, privatizer: Privatizer, c: BernsteinConstants) -> Algorithm:
    return dp_ucbvi(problem, privatizer, c.scale)


def widths(config: RunConfig, problem: Problem, noise: Noise) -> tuple[float, float]:
    """E1 and E2 of the raw-count algorithms: printed, or the proven bound on the raw noise, E/4."""
    c = config.confidence
    if c.constant is None:
        return noise.E / 4.0, noise.E / 4.0
    E1, E2 = printed_widths(problem, noise.scale, noise.terms)
    return c.scale * c.constant * E1, c.scale * c.constant * E2


def pucb_width(config: RunConfig, problem: Problem, noise: Noise) -> float:
    """PUCB's E: printed, or the proven bound on the raw noise, E/4."""
    c = config.confidence
    if c.constant is None:
        return noise.E / 4.0
    return c.scale * c.constant * printed_width(problem, noise.scale, levels(problem.K))


NONE = ("non_private",)
JDP = ("non_private", "central")
LDP = ("non_private", "local")
ANY = ("non_private", "central", "local")
REFUSALS = {
    NONE: "is not private; it takes non_private",
    JDP: "has no local version; it takes central or non_private",
    LDP: "has no central version; it takes local or non_private",
}

AGENTS = {
    "dp_ucbvi": Agent(ANY, False, lambda c, p, n: bernstein_constants(p, n.E, c.bonus.scale), _dp_ucbvi),
    "ucbvi_ch": Agent(NONE, False, lambda c, p, n: hoeffding_constants(p, c.bonus.scale), ucbvi),
    "ucbvi_bf": Agent(NONE, False, lambda c, p, n: ucbvi_bernstein_constants(p, c.bonus.scale), ucbvi),
    "private_ucb_vi": Agent(
        ANY, True, lambda c, p, n: private_ucb_vi_constants(p, *widths(c, p, n), c.bonus.scale), private_ucb_vi
    ),
    "private_ucb_po": Agent(
        ANY, True, lambda c, p, n: private_ucb_po_constants(p, *widths(c, p, n), c.bonus.scale), private_ucb_po
    ),
    "pucb": Agent(JDP, True, lambda c, p, n: pucb_constants(p, pucb_width(c, p, n), c.bonus.scale), pucb),
    "ldp_obi": Agent(LDP, True, lambda c, p, n: ldp_obi_constants(p, *widths(c, p, n), c.bonus.scale), ldp_obi),
    "dp_nash_vi": Agent(ANY, False, lambda c, p, n: dp_nash_vi_constants(p, n.E, c.bonus.scale), dp_nash_vi),
}
