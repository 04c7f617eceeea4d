"""An audit as a run of the lab: a setup and a seed in, a trace out whose `checks` hold what was found.

The trace has no episodes to speak of: the regret is nan after its one recorded episode, K. An honest privatizer
keeps its certificate; a broken release certifies nothing, whatever it pretends.
"""

import math
from typing import Any

import numpy as np

from dpucbvi.audit import actions, one_run, released
from dpucbvi.audit.attack import Finding, Verdict
from dpucbvi.audit.bounds import ALPHA
from dpucbvi.audit.broken import BROKEN, broken
from dpucbvi.errors import InputError, whole
from dpucbvi.privacy.accounting import gaussian_epsilon
from dpucbvi.privacy.certificate import SIMULATION
from dpucbvi.privacy.laplace import seed_stream
from dpucbvi.privatizers import PRIVATIZERS, Certificate
from dpucbvi.protocol import Setup
from dpucbvi.simulate import described
from dpucbvi.trace import Trace

ATTACKS = ("released", "one_run", "actions")
RELATIONS = ("replace_one", "add_remove")  # the second for the attack `released` alone


def check(setup: Setup, attack: str, variant: str | None, trials: int, relation: str | None = None) -> None:
    """Raise InputError, before anything is run, for an audit that cannot be made."""
    from dpucbvi.engine.twins import has_plan

    whole("trials", trials, 100)
    if attack not in ATTACKS:
        raise InputError(f"attack: {attack!r} is not accepted; it must be one of {', '.join(ATTACKS)}")
    if not has_plan(setup.agent) or type(setup.privatizer) not in {PRIVATIZERS[name] for name in PRIVATIZERS}:
        raise InputError("privatizer: an audit is of the compiled engine, which has no twin of this")
    if setup.support is not None:
        raise InputError("known_support: an audit counts all next states; it must be false here")
    if broken(variant, setup) is not None and attack != "released":
        raise InputError(f"broken: the attack {attack} is on honest releases; it must be null")
    if relation not in (None, *RELATIONS):
        raise InputError(f"relation: {relation!r} is not accepted; it must be one of {', '.join(RELATIONS)}")
    if relation == "add_remove" and attack != "released":
        raise InputError(f"relation: the attack {attack} replaces a user; it must be replace_one")
    {"released": released.check, "one_run": one_run.check, "actions": actions.check}[attack](setup)
    if attack == "released":  # a law for so many releases, or an error
        released.prepare(setup, broken(variant, setup), relation or RELATIONS[0])


def run(
    setup: Setup, seed: int, attack: str, variant: str | None, trials: int, relation: str | None = None
) -> Trace:
    """The audit with this seed; without a relation, a user is replaced."""
    relation = relation or RELATIONS[0]
    rng = np.random.default_rng(seed_stream(seed, "audit"))
    if attack == "one_run":
        found = Verdict(one_run.attack(setup, rng), None)
    elif attack == "actions":
        found = actions.attack(setup, trials, rng)
    else:
        found = released.attack(setup, broken(variant, setup), trials, rng, relation)
    shape = (setup.problem.H, setup.problem.S, setup.problem.A)
    return Trace(
        np.array([setup.problem.K]),
        np.array([math.nan]),
        np.zeros(1, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros(shape),
        np.zeros(shape),
        checks(setup, attack, variant, found, relation),
        # Exact noise is drawn from seeded words here
        setup.certificate._replace(noise=SIMULATION)
        if variant is None
        else Certificate("none", math.inf, math.inf),
        setup.noise.scale,
        setup.noise.E,
        about=described(setup, seed),
    )


def checks(
    setup: Setup, attack: str, variant: str | None, found: Verdict, relation: str = RELATIONS[0]
) -> dict[str, Any]:
    """All numbers of an audit by name, ready for JSON.

    `pretended` is what the privatizer certifies under `relation`, at `delta`; `audited` the lower bound
    found; `caught` that it lies above. Where the noise is Gaussian, `audited_by_mu` is the ε at δ of the lower
    bound on μ: sharper, but an ε of this mechanism only if its noise is Gaussian.
    """
    certificate, mu = setup.certificate, found.mu
    above = found.epsilon.bound > certificate.epsilon(relation)
    above_mu = mu is not None and mu.bound > certificate.mu(relation)
    return {
        "attack": attack,
        "broken": variant,
        "words": None if variant is None else BROKEN[variant].words,
        "relation": relation,
        "alpha": ALPHA,
        "claimed": getattr(setup.privatizer, "epsilon", None),
        "pretended": certificate.epsilon(relation),
        "pretended_add_remove": certificate.add_remove,
        "delta": certificate.delta,
        "audited": found.epsilon.bound,
        "counts": _counts(found.epsilon),
        "pretended_mu": None if mu is None else certificate.mu(relation),
        "audited_mu": None if mu is None else mu.bound,
        "audited_by_mu": None if mu is None else gaussian_epsilon(mu.bound, certificate.delta),
        "counts_mu": None if mu is None else _counts(mu),
        "caught": bool(above or above_mu),
    }


def _counts(found: Finding) -> dict[str, Any]:
    return {"score": found.score, "hits": found.hits, "false": found.false, "trials": found.trials}
