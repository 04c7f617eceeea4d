"""What a run certifies: the privacy of its releases under both neighbour relations, each ε with its δ.

    add_remove   a user is there or not
    replace_one  her trajectory against any other, as Definitions 2.2 (JDP) and 2.3 (LDP) have it

How far a user can move the counters is in sensitivity.py. Laplace noise Lap(b_f) on family f, each item of
which lies in L noisy sums, is exactly ε-DP with

    ε = Σ_f L · Δ_f / b_f        the ratio of densities is at most e^ε, attained where the Δ_f are

and Gaussian noise of variance σ_f² on sums that an item moves by a factor C in ℓ2 is μ-GDP with

    μ² = Σ_f C² · Δ_f² / σ_f²    Δ_f² the squared ℓ2 sensitivity; then (ε, δ) exactly by
    accounting.gaussian_delta

The paper calibrates its noise for a user who is added or removed, and so certifies 2ε under replace_one [D8].

Formal guarantees: exact for the ideal mechanism (real-valued noise); see laplace.py for what floating point and
seeding take away, and law.py for noise that has neither. A JDP certificate is the DP of the released
counters; JDP of the actions follows by post-processing and the billboard lemma (Hsu et al., 2014), as in the
proof of Lemma 5.1. paper/PRIVACY.md has the arguments for data that depend on earlier releases.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from dpucbvi.counts import FAMILIES
from dpucbvi.errors import InputError, check_name, check_number
from dpucbvi.privacy.accounting import (
    epsilon_of_zcdp,
    gaussian_epsilon,
    gdp_of_pure,
    round_up,
    zcdp_of_gdp,
    zcdp_of_pure,
)
from dpucbvi.privacy.sensitivity import SENSITIVITY_FACTOR, l1, l2_squared

MARGIN = 1e-12
LEAST = 1e-100  # ε, and δ unless it is 0: what is made of them stays a number
SIMULATION, RELEASE = "simulation", "release"
READ = "trajectories"  # an agent has read them: whatever noise there was hides nothing
HOW = {SIMULATION: "simulated with seeded noise", RELEASE: "released with exact noise"}
MOST = 1e300  # ε that is not infinite
MODELS = ("JDP", "LDP", "none")
RELATIONS = {"add_remove": "if a user is added or removed", "replace_one": "if her trajectory is replaced"}


class Certificate(NamedTuple):
    """The ε that the released counters have at this δ, by neighbour relation.

    δ = 0 is pure differential privacy. The two μ describe Gaussian noise completely. For discrete Gaussian
    noise ε follows from the two ρ.

    Parameters
    ----------
    model : str
        `JDP`, `LDP` or `none`.
    add_remove : float
        ε if a user is added or removed.
    replace_one : float
        ε if her trajectory is replaced.
    delta : float
        Of both.
    mu_add_remove : float, optional
        μ of Gaussian differential privacy.
    mu_replace_one : float, optional
        The same measure, if she is replaced.
    noise : str
        `simulation` (seeded floating point) or `release` (exact integers, unpredictable words).
    rho_add_remove : float, optional
        ρ of zero-concentrated differential privacy.
    rho_replace_one : float, optional
        The same measure, if she is replaced.
    declared : bool
        True if a file states it and it was not worked out again from the settings.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> print(dp.Certificate("JDP", add_remove=1.0, replace_one=2.0).epsilon("replace_one"))
    2.0
    """

    model: str  # "JDP", "LDP" or "none"
    add_remove: float
    replace_one: float
    delta: float = 0.0
    mu_add_remove: float | None = None
    mu_replace_one: float | None = None
    noise: str = SIMULATION
    rho_add_remove: float | None = None
    rho_replace_one: float | None = None
    declared: bool = False  # by a file, and not worked out again from its settings

    def epsilon(self, relation: str) -> float:
        """ε under "add_remove" or "replace_one", at δ."""
        return {"add_remove": self.add_remove, "replace_one": self.replace_one}[relation]

    def mu(self, relation: str) -> float:
        """μ of Gaussian differential privacy; for pure privacy, what ε implies; infinite if none is known."""
        mu = {"add_remove": self.mu_add_remove, "replace_one": self.mu_replace_one}[relation]
        if mu is None:
            return gdp_of_pure(self.epsilon(relation)) if self.delta == 0.0 else math.inf
        return mu

    def rho(self, relation: str) -> float:
        """ρ of zero-concentrated differential privacy; for pure privacy, what ε implies."""
        rho = {"add_remove": self.rho_add_remove, "replace_one": self.rho_replace_one}[relation]
        if rho is not None:
            return rho
        return zcdp_of_pure(self.epsilon(relation)) if self.delta == 0.0 else zcdp_of_gdp(self.mu(relation))

    def group(self, m: int) -> "Certificate":
        """What holds for a person who is m users: mε if it is pure; mμ or m²ρ where one is known, then ε at δ.

        Where none is, ε becomes mε and δ becomes Σ_{i<m} e^{iε} δ. Source: Bun & Steinke Prop. 1.9 for ρ.
        """
        if m == 1:
            return self
        of_m = self._replace(
            add_remove=math.nextafter(m * self.add_remove, math.inf),
            replace_one=math.nextafter(m * self.replace_one, math.inf),
            mu_add_remove=_times(m, self.mu_add_remove),
            mu_replace_one=_times(m, self.mu_replace_one),
            rho_add_remove=_times(m * m, self.rho_add_remove),
            rho_replace_one=_times(m * m, self.rho_replace_one),
        )
        if self.delta == 0.0:
            return of_m
        if self.mu_replace_one is None and self.rho_replace_one is None:
            times = sum(math.exp(i * self.replace_one) for i in range(m)) * (1.0 + MARGIN)
            return of_m._replace(delta=self.delta * times)
        apart, replaced = (epsilon_of(of_m.mu(name), of_m.rho(name), self.delta) for name in RELATIONS)
        return of_m._replace(add_remove=apart, replace_one=replaced)

    def __str__(self) -> str:
        if self.noise == READ:
            return "none: the agent reads trajectories"
        if math.isinf(self.add_remove):
            return "no privacy is certified"
        kind = "pure ε" if self.delta == 0.0 else f"at δ = {self.delta:g}, ε"
        each = ", ".join(f"{at_most(self.epsilon(relation))} {words}" for relation, words in RELATIONS.items())
        declared = " (declared, not recomputed)" if self.declared else ""
        return f"{self.model}: {kind} = {each}; {HOW[self.noise]}{declared}"


def check_certificate(certificate: Certificate) -> None:
    """Raise InputError for a certificate that could not be one: whatever made it, it is shown to people."""
    model, *epsilons, delta, mu_1, mu_2, noise, rho_1, rho_2, _ = certificate
    given = [*epsilons, delta, *(number for number in (mu_1, mu_2, rho_1, rho_2) if number is not None)]
    numbers = all(isinstance(x, float | int) and (0.0 <= x < MOST or x == math.inf) for x in given)
    if not (numbers and delta <= 1.0) or any(isinstance(x, bool) for x in given):
        raise InputError("certificate: it must have ε, μ and ρ >= 0, and δ in [0, 1]")
    check_name("certificate: its model", model, MODELS)
    check_name("certificate: its noise", noise, (SIMULATION, RELEASE, READ))
    if model == "none" and not all(map(math.isinf, epsilons)):
        raise InputError("certificate: without a model of privacy its ε must be infinite")


def rounded_up(epsilon: float, digits: int = 4) -> float:
    """ε to so many digits, rounded up; what floats add to such a number (1e-12 of it) is not shown."""
    nearest = float(f"{epsilon:.{digits}g}")
    if nearest * (1.0 + MARGIN) >= epsilon:
        return nearest
    last = 10.0 ** (math.floor(math.log10(nearest)) + 1 - digits)
    return float(f"{nearest + last:.{digits}g}")


def at_most(epsilon: float) -> str:
    """ε as it is printed: to four digits, rounded up."""
    return "∞" if math.isinf(epsilon) else f"{rounded_up(epsilon):,.10g}"


def epsilon_of(mu: float, rho: float, delta: float) -> float:
    """ε at δ of what is μ-GDP and ρ-zCDP: the less of the two."""
    return min(gaussian_epsilon(mu, delta), epsilon_of_zcdp(rho, delta) * (1.0 + MARGIN))


def _times(m: int, measure: float | None) -> float | None:
    return None if measure is None else math.nextafter(m * measure, math.inf)


class Scales(NamedTuple):
    """The noise scale of each family: b of Lap(b), or the σ of a Gaussian."""

    N: float
    M: float  # of N(s,a,s')
    R: float


NOTHING = Scales(0.0, 0.0, 0.0)


def laplace_certificate(model: str, families: str, H: int, L: int, scales: Scales) -> Certificate:
    """ε = Σ_f L Δ_f / b_f under both relations, worked out exactly and rounded up."""

    def epsilon(replaced: bool) -> float:
        change = l1(FAMILIES[families], H, replaced)
        moved = [(d, b) for d, b in zip(change, scales, strict=True) if d]
        if not all(b for _, b in moved):
            return math.inf  # a family without noise
        return round_up(sum((L * d / Fraction(b) for d, b in moved), Fraction(0)))

    return Certificate(model, epsilon(False), epsilon(True))


def gaussian_certificate(
    model: str, families: str, V: int, C: float, scales: Scales, delta: float, together: float = 1.0
) -> Certificate:
    """μ² = Σ_f C² Δ_f² / σ_f² under both relations, and the ε that each has at δ.

    `together`: the share of the sum that a user who is replaced can reach (sensitivity.reached_together).
    """

    def mu(replaced: bool) -> float:
        change = l2_squared(FAMILIES[families], V, replaced)
        moved = [(float(d2), sigma) for d2, sigma in zip(change, scales, strict=True) if d2]
        if not all(sigma for _, sigma in moved):
            return math.inf  # a family without noise
        return C * math.sqrt(sum(d2 / sigma**2 for d2, sigma in moved))

    apart, replaced = mu(False), mu(True) * math.sqrt(together)
    epsilons = gaussian_epsilon(apart, delta), gaussian_epsilon(replaced, delta)
    return Certificate(model, *epsilons, delta, apart, replaced)


def worst(kinds: Sequence[Certificate]) -> Certificate:
    """The certificate of a user who is in one of several releases, none of which she chooses.

    Every number is that of the worst: ε at the one δ (a pure ε holds at every δ), μ and ρ.
    """
    if len(kinds) == 1:
        return kinds[0]
    delta = max(one.delta for one in kinds)
    if delta == 0.0:
        return kinds[0]._replace(
            add_remove=max(one.add_remove for one in kinds), replace_one=max(one.replace_one for one in kinds)
        )
    most = {
        f"{name}{relation}": max(getattr(one, how)(relation) for one in kinds)
        for name, how in (("", "epsilon"), ("mu_", "mu"), ("rho_", "rho"))
        for relation in RELATIONS
    }
    return Certificate(kinds[0].model, delta=delta, noise=kinds[0].noise, **most)


def nothing_released(model: str) -> Certificate:
    """No user's data is ever read by another's policy; under LDP, none is ever sent."""
    return Certificate(model, 0.0, 0.0)


def check_budget(epsilon: float, sensitivity: str, families: str, confidence_scale: float) -> None:
    """Raise InputError for what no privatizer accepts."""
    check_number("epsilon", epsilon, lambda epsilon: epsilon >= LEAST, f"a number >= {LEAST:g}")
    check_name("sensitivity", sensitivity, SENSITIVITY_FACTOR)
    check_name("families", families, FAMILIES)
    check_number("confidence_scale", confidence_scale, lambda scale: scale >= 0.0, "a number >= 0")


def check_delta(delta: float, pure: bool = False) -> None:
    """Raise InputError for a δ that is no number in (0, 1), or far too small; with `pure`, 0 is one too."""
    accepted = f"{'0, or ' if pure else ''}a number in [{LEAST:g}, 1)"
    check_number("delta", delta, lambda delta: (pure and delta == 0.0) or LEAST <= delta < 1.0, accepted)


def positive(value: float) -> bool:
    return value > 0.0
