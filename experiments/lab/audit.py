"""An audit as a run of the lab: a setup and a seed in, a trace out whose `checks` hold what was found.

The trace has no episodes to speak of: the regret is nan after its one recorded episode, K. An honest privatizer
keeps its certificate; a broken one certifies nothing, whatever it pretends.
"""

import math
from dataclasses import asdict
from typing import Any

import numpy as np

from dpucbvi.audit import actions, audit, replay, worlds
from dpucbvi.audit.attack import ALPHA, Attack
from dpucbvi.audit.audit import Finding
from dpucbvi.errors import InputError, whole
from dpucbvi.privacy.certificate import SIMULATION
from dpucbvi.privacy.laplace import seed_stream
from dpucbvi.privatizers import Certificate
from dpucbvi.privatizers.noisy_sums import NoisySums
from dpucbvi.privatizers.release_mode import is_exact
from dpucbvi.protocol import Setup
from dpucbvi.simulate import described
from dpucbvi.trace import Trace
from experiments.lab.mistakes import BROKEN, Broken, Mistake, broken

ATTACKS = ("released", "actions")
STEPS = 4  # of the search for the smallest defect
SEARCHING = 40_000  # trials at each step
DIGITS = 9  # of what is stored
LEAST = 0.3  # of the noise; smaller noise is not tried


def check(setup: Setup, attack: str, variant: str | None, trials: int) -> None:
    """Raise InputError, before anything is run, for an audit that cannot be made."""
    whole("trials", trials, 100)
    if attack not in ATTACKS:
        raise InputError(f"attack: {attack!r} is not accepted; it must be one of {', '.join(ATTACKS)}")
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
    shape = (setup.problem.H, setup.problem.S, setup.problem.A)
    return Trace(
        np.array([setup.problem.K]),
        np.array([math.nan]),
        np.zeros(1, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros(shape),
        np.zeros(shape),
        checks(setup, entropy, attack, variant, trials),
        # Exact noise is drawn from seeded words here
        setup.certificate._replace(noise=SIMULATION)
        if variant is None
        else Certificate("none", math.inf, math.inf),
        setup.noise.scale,
        setup.noise.E,
        about=described(setup, seed),
    )


def checks(setup: Setup, seed: int, attack: str, variant: str | None, trials: int) -> dict[str, Any]:
    """What was found, ready for JSON: every finding, and the smallest defect of scale that would be.

    `defect_attack` is None where no noise is scaled, or nothing that was tried is caught.
    """
    certificate, defect, notes = setup.certificate, None, list[str]()
    if attack == "actions":
        bounded = actions.attack(setup, trials, np.random.default_rng(seed))
        limit = certificate.replace_one
        how = f"{bounded.score}: {bounded.hits:,} against {bounded.false:,} of {trials:,} trials"
        findings = [Finding("actions", "replace_one", "ε", limit, bounded.bound, how, bounded.bound > limit)]
    else:
        chosen = setup if variant is None else broken(variant, setup)
        made = audit.audit_setup(chosen, trials, seed, is_stochastic(setup))
        findings, notes = list(made.findings), list(made.notes)
        scaled = isinstance(setup.privatizer, NoisySums) and not is_exact(setup.privatizer)
        if variant is None and scaled and trials >= SEARCHING:  # with fewer it would find nothing
            defect = smallest_defect(setup, seed)
    return {
        "attack": attack,
        "broken": variant,
        "words": None if variant is None else BROKEN[variant].words,
        "alpha": ALPHA,
        "claimed": getattr(setup.privatizer, "epsilon", None),
        "delta": certificate.delta,
        "findings": [{**asdict(one), "found": _number(one.found)} for one in findings],
        "notes": notes,
        "defect_replay": replayed_defect(findings),
        "defect_attack": defect,
        "caught": any(one.caught for one in findings),
    }


def _number(found: float) -> float | str:
    """JSON has no infinity; what differs in the tenth digit differs by rounding."""
    return "inf" if math.isinf(found) else round(found, DIGITS)


def replayed_defect(findings: list[Finding]) -> float | None:
    """How much too small a noise is that a replay catches: its loss is in proportion to 1/scale."""
    shares = [one.found / one.declared for one in findings if one.attack == "replay"]
    return round(1.0 - max(shares), DIGITS) if shares and max(shares) <= 1.0 + replay.EXACTLY else None


def smallest_defect(setup: Setup, seed: int, trials: int = SEARCHING) -> float | None:
    """How much too small a noise is that the attack on releases catches, by bisection; a user replaced."""
    rng = np.random.default_rng(seed)
    stochastic = is_stochastic(setup)
    world = worlds.world(setup, rng, stochastic)
    attack = Attack(setup, world, replay.replay(setup, world, rng), "replace_one", rng)
    limits = [setup.certificate.replace_one, math.inf, replay.declared(setup.certificate, "replace_one")]

    def caught(factor: float) -> bool:
        less = Broken(setup.privatizer, Mistake("", type(setup.privatizer), factor=lambda _: factor))
        found = attack.of(setup._replace(privatizer=less)).bounds(trials)
        return any(one.bound > limit for one, limit in zip(found, limits, strict=False))

    low, high = LEAST, 1.0
    if not caught(low):
        return None
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if caught(middle) else (low, middle)
    return 1.0 - low
