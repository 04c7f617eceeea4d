"""An audit as a run of the lab: a setup and a seed in, a trace out whose `checks` hold what was found.

The trace has no episodes to speak of: the regret is nan after its one recorded episode, K. An honest privatizer
keeps its certificate; a broken one certifies nothing, whatever it pretends.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.audit import actions, audit
from dpucbvi.audit.attack import ALPHA
from dpucbvi.audit.audit import Finding
from dpucbvi.counts import add_user
from dpucbvi.errors import InputError, check_name, whole
from dpucbvi.privacy.certificate import SIMULATION
from dpucbvi.privacy.draws import fill
from dpucbvi.privacy.laplace import seed_stream
from dpucbvi.privatizers import Batches, Central, Certificate, Local, Toeplitz, Windows
from dpucbvi.privatizers.arrays import Arrays, Take, is_exact
from dpucbvi.privatizers.batches import ended, show
from dpucbvi.privatizers.local import SentSums
from dpucbvi.privatizers.windows import add_counts, learn
from dpucbvi.protocol import Noisy, Problem, Setup, User
from dpucbvi.simulate import described
from dpucbvi.trace import Trace

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


# --- privatizers that are broken on purpose: an audit that lets one of them pass is broken itself ------------
#
# Each pretends to be the privatizer that it was made from, with its certificate, and does one thing wrong: its
# `take` makes a mistake that has been made, or its noise is too small. None of them has a name in conf/.


class Mistake(NamedTuple):
    """What is wrong in words, made of which privatizer: another `take` than its own, or smaller noise."""

    words: str
    of: type
    take: Callable[..., bool] | None = None  # is handed the privatizer's own first
    factor: Callable[[Problem], float] = lambda _: 1.0  # of the noise


@dataclass(frozen=True)
class Broken(Arrays):
    """A privatizer with a mistake; all that it says of itself is what the privatizer says."""

    inner: Any
    mistake: Mistake

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    @property
    def take(self) -> Take:  # type: ignore[override]
        take, mistaken = self.inner.take, self.mistake.take
        if mistaken is None:
            return take

        def broken(state: Any, t: int, user: User, noisy: Noisy) -> bool:
            return mistaken(take, state, t, user, noisy)

        return broken

    def start(self, problem: Problem, G: int, seed: np.random.SeedSequence) -> Any:
        state = self.inner.start(problem, G, seed)
        if not hasattr(state, "source"):  # windows have two
            return state
        scale = np.ascontiguousarray(state.source.scale * self.mistake.factor(problem))
        return state._replace(source=state.source._replace(scale=scale))


def fresh_noise(take: Take, state: Any, t: int, user: User, noisy: Noisy) -> bool:
    """The tree forgets its nodes: every release has new noise, as if nothing composed."""
    state.mechanism.cumulative[:] = 0.0
    return take(state, t, user, noisy)


def one_noise(_take: Take, state: SentSums, t: int, user: User, noisy: Noisy) -> bool:
    """One noise for all counters."""
    first = state.counting.first
    fill(state.source, state.sent[first:])
    state.sent[first:] = state.sent[first]
    add_user(state.counting, state.sent, user)
    state.sum[:] += state.sent
    noisy.counts[first:] = state.sum[first:]
    return True


def claimed_policy(take: Take, state: Any, t: int, user: User, noisy: Noisy) -> bool:
    """The cells that get noise are those of the actions that a message claims, not of the policy issued."""
    H, S = user.pi.shape
    claimed = np.zeros((H, S, state.counting.A))
    for h in range(user.a.size):
        claimed[h, user.s[h], user.a[h]] = 1.0
    return take(state, t, User(user.s, user.a, user.r, claimed, user.place), noisy)


def count_her(state: Any, user: User) -> None:
    """The user goes into the batch that fills."""
    add_user(state.counting, state.batch, user)
    show(user.pi, state.counting.G, state.counting.A, state.shown)


def two_batches(take: Take, state: Any, t: int, user: User, noisy: Noisy) -> bool:
    """The last user of a batch is counted in the next one too."""
    new = take(state, t, user, noisy)
    if new:
        count_her(state, user)
    return new


def released_again(take: Take, state: Any, t: int, user: User, noisy: Noisy) -> bool:
    """A backup from before the first release is restored: its batch is released again, with fresh noise."""
    batch, total = state.batch.copy(), state.total.copy()
    new = take(state, t, user, noisy)
    if new and state.closed[0] == 1:
        state.batch[:], state.total[:] = batch, total
        count_her(state, user)
    return new


def retried(take: Take, state: Any, t: int, user: User, noisy: Noisy) -> bool:
    """A planner fails on a negative count, and the release is tried again until it does not."""
    batch, total, shown = state.batch.copy(), state.total.copy(), state.shown.copy()
    closed, cell = state.closed[0], state.counting.first
    new = take(state, t, user, noisy)
    while new and state.total[cell] - total[cell] < 0.0:
        state.batch[:], state.total[:], state.shown[:], state.closed[0] = batch, total, shown, closed
        new = take(state, t, user, noisy)
    return new


def chosen_by_its_data(take: Take, state: Any, t: int, user: User, noisy: Noisy) -> bool:
    """A batch is released for all steps together if there are many visits of the first pair in it."""
    visits, rows = 0.0, state.counting.G * state.counting.pairs
    for d in range(state.counting.D):
        visits += state.batch[(1 + d) * rows]
    return take(state._replace(pooled=state.ends.size if visits > 0.0 else 0), t, user, noisy)


def noise_of_a_pair(_take: Take, state: Any, t: int, user: User, noisy: Noisy) -> bool:
    """Counts per step with the noise of pooled counts: one for all steps of a pair."""
    D, H, pairs = state.counting.D, state.counting.G, state.counting.pairs
    count_her(state, user)
    if not ended(t, state.ends, state.closed):
        return False
    fill(state.coarse, state.coarse_noise)
    of_pair, of_step = state.coarse_noise.reshape((D, pairs)), state.fine_noise.reshape((D, H, pairs))
    for h in range(H):
        of_step[:, h] = of_pair
    learn(state, add_counts(state, state.levels.tree.level[-1], state.fine_noise), noisy)
    return True


BROKEN = {
    "ten_percent": Mistake("noise 10% too small", Central, factor=lambda _: 0.9),
    "three_percent": Mistake("noise 3% too small", Batches, factor=lambda _: 0.97),
    "pooled_as_per_step": Mistake(
        "ℓ2 sensitivity √H too small (pooled)", Toeplitz, factor=lambda problem: 1.0 / math.sqrt(problem.H)
    ),
    "fresh_noise": Mistake("fresh noise in every release", Central, fresh_noise),
    "one_noise": Mistake("one noise for all counters", Local, one_noise),
    "claimed_policy": Mistake("cells of the claimed policy", Batches, claimed_policy),
    "two_batches": Mistake("a user in two batches", Batches, two_batches),
    "released_again": Mistake("a batch released again after a restore", Batches, released_again),
    "retried": Mistake("a release tried again when planning fails", Batches, retried),
    "two_windows": Mistake("a user in two batches of windows", Windows, two_batches),
    "chosen_by_its_data": Mistake("a level that a batch's own data choose", Windows, chosen_by_its_data),
    "noise_of_a_pair": Mistake("pooled noise on counts per step", Windows, noise_of_a_pair),
}


def broken(name: str, setup: Setup) -> Setup:
    """The setup with this mistake in its privatizer; InputError if there is none of it."""
    check_name("broken", name, BROKEN)
    mistake = BROKEN[name]
    if type(setup.privatizer) is not mistake.of or is_exact(setup.privatizer):
        raise InputError(f"broken: {name} needs {mistake.of.__name__} with simulated noise")
    if name == "pooled_as_per_step" and (setup.G > 1 or setup.problem.H == 1):
        raise InputError("broken: pooled_as_per_step needs pooled counts and H >= 2")
    return setup._replace(privatizer=Broken(setup.privatizer, mistake))
