"""An audit as a run of the lab: a setup and a seed in, a trace out whose `checks` hold what was found.

The trace has no episodes to speak of: the regret is nan after its one recorded episode, K. An honest privatizer
keeps its certificate; a broken one certifies nothing, whatever it pretends.
"""

import math
from dataclasses import asdict
from typing import Any

import numpy as np

from dpucbvi.audit import actions, audit
from dpucbvi.audit.attack import ALPHA
from dpucbvi.audit.audit import Finding
from dpucbvi.errors import InputError, check_name, whole
from dpucbvi.privacy.certificate import SIMULATION
from dpucbvi.privacy.laplace import seed_stream
from dpucbvi.privatizers import Certificate
from dpucbvi.protocol import Setup
from dpucbvi.simulate import described
from dpucbvi.trace import Trace
from experiments.lab.mistakes import BROKEN, broken

ATTACKS = ("released", "actions")
DIGITS = 9  # of what is stored


def check(setup: Setup, attack: str, variant: str | None, trials: int) -> None:
    """Raise InputError, before anything is run, for an audit that cannot be made."""
    whole("trials", trials, 100)
    check_name("attack", attack, ATTACKS)
    if variant is not None and attack != "released":
        raise InputError(f"broken: the attack {attack} is on honest releases; it must be null")
    if attack == "actions":
        return actions.check(setup)
    audit.check(setup if variant is None else broken(variant, setup), is_stochastic(setup))


def is_stochastic(setup: Setup) -> bool:
    return bool(getattr(setup.agent, "stochastic", False))


def run(setup: Setup, seed: int, attack: str, variant: str | None, trials: int) -> Trace:
    """The audit with this seed."""
    entropy = int(seed_stream(seed, "audit").generate_state(1)[0])
    certificate = setup.certificate._replace(noise=SIMULATION)  # exact noise is drawn from seeded words here
    if variant is not None:
        certificate = Certificate("none", math.inf, math.inf)
    none, visits = np.zeros(1, dtype=np.int64), np.zeros(setup.problem.shape(setup.problem.H)[:3])
    episodes, regret = np.array([setup.problem.K]), np.array([math.nan])
    found, noise = checks(setup, entropy, attack, variant, trials), setup.noise
    about = described(setup, seed)
    return Trace(
        episodes, regret, none, none, visits, visits, found, certificate, noise.scale, noise.E, about=about
    )


def checks(setup: Setup, seed: int, attack: str, variant: str | None, trials: int) -> dict[str, Any]:
    """What was found, ready for JSON."""
    certificate, notes = setup.certificate, list[str]()
    if attack == "actions":
        bounded = actions.attack(setup, trials, np.random.default_rng(seed))
        limit = certificate.replace_one
        how = f"{bounded.score}: {bounded.hits:,} against {bounded.false:,} of {trials:,} trials"
        findings = [Finding("actions", "replace_one", "ε", limit, bounded.bound, how, bounded.bound > limit)]
    else:
        chosen = setup if variant is None else broken(variant, setup)
        made = audit.audit_setup(chosen, trials, seed, is_stochastic(setup))
        findings, notes = list(made.findings), list(made.notes)
    return {
        "attack": attack,
        "broken": variant,
        "words": None if variant is None else BROKEN[variant].words,
        "alpha": ALPHA,
        "claimed": getattr(setup.privatizer, "epsilon", None),
        "delta": certificate.delta,
        "findings": [{**asdict(one), "found": _number(one.found)} for one in findings],
        "notes": notes,
        "caught": any(one.caught for one in findings),
    }


def _number(found: float) -> float | str:
    """JSON has no infinity; what differs in the tenth digit differs by rounding."""
    return "inf" if math.isinf(found) else round(found, DIGITS)
