"""`dp.audit`: does a privatizer, anyone's, keep what it certifies? A search for a user whom it does not hide.

replay      the noise of all draws, moved so that nothing changes: its price is the privacy loss (replay.py)
releases    a likelihood-ratio attack on what is released, as it leaves (attack.py, scores.py, trials.py)
lowest bits the same, on how many binary digits a number has
message     the law of a local message, enumerated, where users answer with exact coins (message.py)
"""

import math
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from dpucbvi.agents import DPUCBVI
from dpucbvi.audit import replay, worlds
from dpucbvi.audit.replay import EXACTLY, RELATIONS, Replay
from dpucbvi.audit.worlds import World
from dpucbvi.errors import InputError, whole
from dpucbvi.privacy.certificate import RELATIONS as WORDS, SIMULATION, Certificate, at_most
from dpucbvi.privacy.words import SeededWords
from dpucbvi.privatizers import OneQuestion
from dpucbvi.privatizers.arrays import check_policy, is_exact
from dpucbvi.protocol import Privatizer, Problem, Setup
from dpucbvi.simulate import fitted

NOT_REPLAYED = "not replayed: {}; the attack on releases decides"
LEAKS = "simulation only: the lowest bits of its floating-point noise give more away; release with exact noise"


@dataclass(frozen=True)
class Finding:
    """One attack under one relation: what is declared, and what was found of it."""

    attack: str  # replay, releases, lowest bits or message
    relation: str
    measure: str  # ε, or μ of Gaussian differential privacy
    declared: float
    found: float
    how: str
    caught: bool

    def __str__(self) -> str:
        sign = "≥" if self.attack in ("releases", "lowest bits") else "="
        loss = f"{self.measure} {sign} {self.found:.4g} of {at_most(self.declared)}"
        words = WORDS[self.relation].removeprefix("if ")
        return f"{self.attack:<12}{loss}, {words}; {self.how}{'  CAUGHT' if self.caught else ''}"


@dataclass(frozen=True)
class Audit:
    """What an audit has tried and found; `print` shows it.

    Parameters
    ----------
    privatizer : str
        Its name.
    certificate : Certificate
        What it declares at this size.
    findings : tuple
        One entry for each attack and relation, with `declared`, `found` and `caught`.
    notes : tuple of str
        What else a reader should know.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> found = dp.audit(dp.Batches(1.0, first=2, growth=1.0), trials=0)
    >>> isinstance(found, dp.Audit), found.caught
    (True, False)
    """

    privatizer: str
    certificate: Certificate
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]

    @property
    def caught(self) -> bool:
        """Whether anything found is above what is declared."""
        return any(finding.caught for finding in self.findings)

    @property
    def verdict(self) -> str:
        """`below its certificate`, or `caught: ...`."""
        wrong = [finding for finding in self.findings if finding.caught]
        return f"caught: {wrong[0]}" if wrong else "below its certificate"

    def __str__(self) -> str:
        lines = [f"{self.privatizer}: {self.verdict}", f"declared    {self.certificate}"]
        return "\n  ".join([*lines, *map(str, self.findings), *self.notes])


def audit(
    privatizer: Privatizer,
    *,
    H: int = 2,
    S: int = 2,
    A: int = 2,
    K: int = 8,
    pooled: bool = False,
    stochastic: bool = False,
    trials: int = 20_000,
    seed: int = 0,
) -> Audit:
    """Search for a user whom a privatizer does not hide as well as it certifies; yours, or one of the package.

    The privatizer is *replayed* if all its noise comes from `dpucbvi.privacy.draws.seeded`, called with the
    seed that `start` or `release` is given: then every noise is on a tape, one user is replaced or removed, and
    the noise that leaves all releases as they were has moved by the privacy loss. Its releases are also
    *attacked*, unrounded, by somebody who knows everyone but her. An audit can prove that a
    certificate is wrong; that it finds nothing proves nothing.

    Parameters
    ----------
    privatizer
        An object with the methods of `dpucbvi.protocol.Privatizer`.
    H, S, A, K
        The size of the problem, which should be small: all that is released to K - 1 users is looked at.
    pooled
        Whether counts are pooled over h.
    stochastic
        Whether policies are probabilities.
    trials
        Runs of either world from which the bounds of the attacks are taken; 0 for the replay alone.
    seed
        Of the users, the policies and the trials.

    Returns
    -------
    Audit
        With `verdict`, `caught` and one entry in `findings` for each attack and relation; `print` shows them.
        The bound of an attack is too large with probability at most 1e-9.

    Raises
    ------
    InputError
        In one line, for a privatizer that certifies nothing, or that releases nothing within K users.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> found = dp.audit(dp.Batches(1.0, first=2, growth=1.0), trials=0)
    >>> found.verdict, [round(one.found, 9) for one in found.findings]
    ('below its certificate', [1.0, 0.5])
    """
    problem = Problem(whole("H", H, 1), whole("S", S, 1), whole("A", A, 1), whole("K", K, 2), 0.05)
    setup = fitted(DPUCBVI(pooled=pooled), privatizer, problem)
    return audit_setup(setup, whole("trials", trials, 0), whole("seed", seed, 0), stochastic)


def check(setup: Setup, stochastic: bool = False) -> None:
    """Raise InputError for what has nothing to audit."""
    if math.isinf(setup.certificate.replace_one):
        raise InputError("privatizer: an audit needs one that certifies something")
    if setup.support is not None:
        raise InputError("known_support: an audit counts all next states; it must be false here")
    if hasattr(setup.privatizer, "one_action"):
        check_policy(setup.privatizer, stochastic)
    world = worlds.world(setup, np.random.default_rng(0), stochastic)
    if not replay.play(setup, world, replay.FAR).when:
        raise InputError(
            f"K: nothing is released to {setup.problem.K - 1} users; it takes a larger K, or earlier releases"
        )


def audit_setup(setup: Setup, trials: int, seed: int, stochastic: bool = False) -> Audit:
    """The audit of a setup that is made already."""
    if is_exact(setup.privatizer):  # the same audit every time, and every word on its tape
        setup = setup._replace(privatizer=replace(cast(Any, setup.privatizer), words=SeededWords))
    check(setup, stochastic)
    rng = np.random.default_rng(seed)
    world = worlds.world(setup, rng, stochastic)
    replayed, notes, findings = replay.replay(setup, world, rng), list[str](), list[Finding]()
    if replayed.not_replayed is not None:
        notes.append(NOT_REPLAYED.format(replayed.not_replayed))
    else:
        findings += _of_replay(setup, replayed)
    findings += _of_messages(setup, world, rng)
    for relation in RELATIONS if trials else ():
        findings += _of_attack(setup, world, replayed, relation, trials, rng)
    if any(one.attack == "lowest bits" and one.found > one.declared and not one.caught for one in findings):
        notes.append(LEAKS)
    return Audit(type(setup.privatizer).__name__, setup.certificate, tuple(findings), tuple(notes))


def _of_replay(setup: Setup, found: Replay) -> list[Finding]:
    certificate = setup.certificate
    measure = "ε" if certificate.delta == 0.0 else "μ"
    how = found.wrong or f"the worst of {found.tried:,} users"
    made = []
    for relation, pair in found.worst.items():
        limit = replay.declared(certificate, relation)
        caught = pair.found > limit * (1.0 + EXACTLY)
        made.append(Finding("replay", relation, measure, limit, pair.found, how, caught))
    return made


def _of_messages(setup: Setup, world: World, rng: np.random.Generator) -> list[Finding]:
    if not (isinstance(setup.privatizer, OneQuestion) and setup.privatizer.exact):
        return []
    from dpucbvi.audit import message  # brings the engine, which is slow to import

    made = []
    for relation, (found, pairs) in message.largest_ratios(setup, world.policies[0], rng).items():
        limit, how = setup.certificate.epsilon(relation), f"every message of {pairs:,} pairs of users"
        made.append(Finding("message", relation, "ε", limit, found, how, found > limit * (1.0 + EXACTLY)))
    return made


def _of_attack(
    setup: Setup, world: World, found: Replay, relation: str, trials: int, rng: np.random.Generator
) -> list[Finding]:
    """The attack on releases, and that on their lowest bits."""
    from dpucbvi.audit.attack import on_releases  # brings the engine, which is slow to import

    certificate = setup.certificate
    limit, mu = certificate.epsilon(relation), replay.declared(certificate, relation)
    tried = [("releases", "ε", limit), ("lowest bits", "ε", limit), ("releases", "μ", mu)]
    made = []
    for (name, measure, most), bounded in zip(
        tried, on_releases(setup, world, found, relation, trials, rng), strict=False
    ):
        how = f"{bounded.score}: {bounded.hits:,} against {bounded.false:,} of {trials:,} trials"
        counts = name == "releases" or certificate.noise != SIMULATION
        caught = counts and bounded.bound > most
        made.append(Finding(name, relation, measure, most, bounded.bound, how, caught))
    return made
