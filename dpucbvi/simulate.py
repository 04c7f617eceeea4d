"""One run: an MDP, an agent and a privatizer in, a trace out.

    run = dp.run(dp.riverswim(), dp.DPUCBVI(bonus_scale=1e-4), dp.Central(epsilon=50), K=20_000, seed=0)

`set_up` checks that the parts fit together and works out every number that does not depend on the seed. Then
one of two engines runs it: `reference` is the plain loop below, the truth; `fast` is compiled (engine/) and
gives the same plans, counts, visits and regret bit for bit. A plan, a bonus or a `take` of your
own is compiled if it compiles, and runs in Python between compiled parts if not; the trace says which it was.
Without a choice the fast one is taken where it can be. No seed determines
exact noise (privatizers/arrays.py).
"""

import math
import os
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import fields, is_dataclass
from itertools import islice
from types import NoneType
from typing import Any, cast

import numpy as np

from dpucbvi.agents.own import OwnAgent, checked_plan, has_plan
from dpucbvi.confidence import RAW_SUMMED
from dpucbvi.counts import FAMILIES, PrivateCounts, Rounding, Turnstile, Visitor
from dpucbvi.errors import InputError, check_flag, check_name, check_number, whole
from dpucbvi.mdp import TabularMDP, rollout, uniforms_per_episode
from dpucbvi.planning import optimal_values, policy_values, uniform_loss
from dpucbvi.privacy.certificate import MODELS, READ, check_certificate
from dpucbvi.privacy.laplace import privacy_stream, seed_stream
from dpucbvi.privatizers import Certificate, NonPrivate
from dpucbvi.privatizers.arrays import AddedNoise, has_take, is_exact, take_of
from dpucbvi.projection import POSTPROCESSES, CvxpyPostprocess
from dpucbvi.protocol import (
    Agent,
    Algorithm,
    Counts,
    Episode,
    Plan,
    Postprocess,
    Privatizer,
    Problem,
    Release,
    Setup,
)
from dpucbvi.support import support_of
from dpucbvi.trace import Runs, Trace, recorded_episodes

LEAST_BETA = 1e-100  # its share for each of many counters and episodes must be a number above 0
MOST_EPISODES = 2**31 - 1  # some hours of the compiled engine
MOST_RUNS = MOST_POINTS = MOST_CHECKS = 1_000_000  # seeds, recorded episodes, LPs that are solved again
WORTH_COMPILING = 1_000  # episodes of the reference take as long as compiling a part of one's own
Watch = Callable[[int, Plan, Counts], object]
OwnAlgorithm = Callable[[Problem, PrivateCounts], Algorithm]
# What protocol.py asks of them.
AGENT = ("raw", "pooled", "models", "constants", "algorithm")
PRIVATIZER = ("model", "families", "noise_of", "certificate", "release")


def run(
    mdp: TabularMDP,
    agent: Agent | OwnAlgorithm,
    privatizer: Privatizer = NonPrivate(),  # noqa: B008  (it has no state)
    *,
    K: int,
    seed: int | Iterable[int] = 0,
    engine: str | None = None,
    watch: Watch | None = None,
    beta: float = 0.05,
    postprocess: str | Postprocess | None = None,
    zero: float = 0.0,
    known_rewards: bool = False,
    known_support: bool = False,
    trace_points: int = 2_000,
    lp_checks: int = 200,
) -> Trace | Runs:
    """Run K episodes of the agent on the MDP, its counts released by the privatizer.

    Parameters
    ----------
    mdp
        The problem: `dp.riverswim()`, `dp.TabularMDP(P=P, r=r, initial=p0)`, ...
    agent
        The algorithm, one of the package's or your own (`dp.planner`, or a generator function). It never holds
        a trajectory; a generator function with `reads_trajectories = True` is sent them, and certifies nothing.
    privatizer
        What releases the counts; by default the true counts are released.
    K
        The number of episodes; each is one user.
    seed
        One seed for one run, or several for as many runs.
    engine
        `reference` (plain loops) or `fast` (compiled); without a choice, the fast one where it can be.
    watch
        Called in every episode as `watch(k, plan, counts)`, with its number, its plan and the counts that it
        was planned on.
    beta
        The failure probability of the confidence bounds.
    postprocess
        How noisy counts become private counts: `none`, `closed_form`, `clip`, `cvxpy`, or a function of your
        own. By default the closed form of the LP if the agent wants post-processed counts of a private release,
        else `none`.
    zero
        Noisy N(s,a,s') below this many standard deviations of their noise are first set to 0; not in the paper.
    known_rewards
        Hand r(s,a) to the agent, which in the paper learns them.
    known_support
        It is public which transitions the MDP has, so that only they are counted; in the paper all are.
    trace_points
        If K is larger than this, only about this many episodes are recorded.
    lp_checks
        How many LPs of a compiled run cvxpy solves again.

    Returns
    -------
    Trace or Runs
        A `Trace` for one seed, `Runs` for several.

    Raises
    ------
    InputError
        In one line, before anything is run, for parts that do not fit together.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> run = dp.run(dp.riverswim(S=3, H=4), dp.DPUCBVI(), dp.Central(epsilon=1), K=100, seed=0)
    >>> run.certificate.add_remove, run.certificate.replace_one
    (1.0, 2.0)
    """
    settings = beta, postprocess, zero, known_rewards, known_support, trace_points, lp_checks
    setup = set_up(mdp, agent, privatizer, K, *settings)
    check_engine(engine, setup)
    if isinstance(seed, Iterable) and not isinstance(seed, str | bytes):
        seeds = tuple(whole("seed", one, 0) for one in islice(seed, MOST_RUNS + 1))
        if not 1 <= len(seeds) <= MOST_RUNS:
            few = "more than" if seeds else "none of"
            raise InputError(f"seed: {few} 1 to {MOST_RUNS:,} integers >= 0 are given")
        return Runs(seeds, tuple(run_setup(setup, one, engine, watch) for one in seeds))
    return run_setup(setup, whole("seed", seed, 0), engine, watch)


def set_up(
    mdp: TabularMDP,
    agent: Agent | OwnAlgorithm,
    privatizer: Privatizer,
    K: int,
    beta: float = 0.05,
    postprocess: str | Postprocess | None = None,
    zero: float = 0.0,
    known_rewards: bool = False,
    known_support: bool = False,
    trace_points: int = 2_000,
    lp_checks: int = 200,
) -> Setup:
    """Check the parts of a run, described at `run`, and work out every number that no seed changes."""
    K, trace_points = whole("K", K, 1, MOST_EPISODES), whole("trace_points", trace_points, 2, MOST_POINTS)
    lp_checks = whole("lp_checks", lp_checks, 0, MOST_CHECKS)
    check_number("beta", beta, lambda beta: LEAST_BETA <= beta < 1, f"a number from {LEAST_BETA} to below 1")
    check_number("zero", zero, lambda zero: zero >= 0.0, "a number >= 0")
    check_flag("known_rewards", known_rewards)
    check_flag("known_support", known_support)
    if not isinstance(mdp, TabularMDP):
        raise InputError(f"mdp: {type(mdp).__name__} is not accepted; it must be a TabularMDP")
    chosen: Any = OwnAgent(agent) if callable(agent) and not hasattr(agent, "algorithm") else agent
    postprocess = _checked_parts(mdp.stationary, chosen, privatizer, postprocess, zero)
    support = support_of(mdp, 1 if chosen.pooled else mdp.H) if known_support else None
    if support is not None and not getattr(privatizer, "sparse", False):
        raise InputError(f"known_support: {_name(privatizer)} counts all next states; it must be false here")
    problem = Problem(mdp.H, mdp.S, mdp.A, K, beta, None if support is None else support.D)
    setup = _worked_out(mdp, chosen, privatizer, problem, postprocess, zero)
    return setup._replace(
        known_rewards=known_rewards, trace_points=trace_points, lp_checks=lp_checks, support=support
    )


def fitted(agent: Agent, privatizer: Privatizer, problem: Problem) -> Setup:
    """The parts of a session with real users, checked: a setup without an MDP, which nobody knows."""
    postprocess = _checked_parts(True, agent, privatizer, None, 0.0)
    return _worked_out(cast(TabularMDP, None), agent, privatizer, problem, postprocess, 0.0)


def _worked_out(
    mdp: TabularMDP,
    agent: Agent,
    privatizer: Privatizer,
    problem: Problem,
    postprocess: str | Postprocess,
    zero: float,
) -> Setup:
    """The numbers of parts that fit together; InputError if the noise is too large for numbers."""
    G, families = 1 if agent.pooled else problem.H, FAMILIES[privatizer.families]
    noise = privatizer.noise_of(problem, G).widened(families.cells(problem.next_states), zero)
    if families.summed:
        noise = noise._replace(raw=RAW_SUMMED)
    for key, value in (("scale", noise.scale), ("E", noise.E)):
        if isinstance(value, float) and not math.isfinite(value):
            name = _name(privatizer)
            raise InputError(f"epsilon: the noise of {name} is not finite; a larger epsilon is needed")
        check_number(f"privatizer: its {key}", value, lambda number: number >= 0.0, "a number >= 0")
    noise = noise._replace(scale=float(noise.scale), E=float(noise.E))
    try:
        constants = agent.constants(problem, noise)
    except OverflowError:  # of E², from ε = 1e-150 on
        raise InputError(
            "epsilon: the bonus of so much noise is not finite; a larger epsilon is needed"
        ) from None
    parts, certificate = (mdp, agent, privatizer), certificate_of(agent, privatizer, problem, G)
    return Setup(*parts, problem, G, postprocess, zero, False, noise, constants, certificate, 2, 0)


def run_setup(
    setup: Setup,
    seed: int,
    engine: str | None = None,
    watch: Watch | None = None,
) -> Trace:
    """One run of parts that fit together."""
    if engine == "reference" or (engine is None and (why_not_compiled(setup) or too_short_to_compile(setup))):
        trace = run_reference(setup, seed, watch)
    else:
        from dpucbvi.engine.fast import run_fast  # here, because compiling is slow

        trace = run_fast(setup, seed, watch)
    return trace._replace(about=described(setup, seed))


def described(setup: Setup, seed: int) -> dict[str, Any]:
    """A run as plain data: its parts by name with the parameters that were given, its sizes, its seed.

    The uniform policy's regret is the mean over first states.
    """
    mdp, K = setup.mdp, setup.problem.K
    return {
        "agent": _described(setup.agent),
        "privatizer": _described(setup.privatizer),
        **{"mdp": mdp.name, "H": mdp.H, "S": mdp.S, "A": mdp.A, "K": K, "seed": seed},
        "uniform_regret": K * uniform_loss(mdp),
    }


def _described(part: Any) -> dict[str, Any]:
    given = {}
    for field in fields(part) if is_dataclass(part) and not isinstance(part, OwnAgent) else ():
        value = getattr(part, field.name)
        if value != field.default:
            plain = isinstance(value, str | int | float | NoneType)
            given[field.name] = value if plain else getattr(value, "__name__", repr(value))
    return {"name": _name(part), **given}


def check_engine(engine: str | None, setup: Setup) -> None:
    """Raise InputError if the engine cannot run this: nothing of one's own is ever silently left out."""
    if engine is not None:
        check_name("engine", engine, ("reference", "fast"))
    if engine == "fast" and (reason := why_not_compiled(setup)):
        raise InputError(f"engine: fast has no compiled twin of {reason}; it takes engine=reference")


def why_not_compiled(setup: Setup) -> str | None:
    """The first part of a run that only the reference engine knows; None if there is none."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return "anything while NUMBA_DISABLE_JIT is set"
    if not has_plan(setup.agent):
        return f"the agent {_name(setup.agent)}"
    if setup.postprocess not in ("none", "closed_form", "clip"):
        cvxpy = setup.postprocess == "cvxpy" or isinstance(setup.postprocess, CvxpyPostprocess)
        return "the post-processing by cvxpy" if cvxpy else "a post-processing of your own"
    return None


def too_short_to_compile(setup: Setup) -> bool:
    """Whether something of one's own would be compiled, which is not cached, for a few episodes."""
    if setup.problem.K >= WORTH_COMPILING:
        return False
    from dpucbvi.engine.compiled import cacheable, is_the_packages  # numba is slow to import

    agent: Any = setup.agent
    privatizer: Any = setup.privatizer
    if isinstance(agent, OwnAgent) or not has_take(privatizer) or not is_the_packages(take_of(privatizer)):
        return True
    return not cacheable(agent.plan)


def run_reference(setup: Setup, seed: int, watch: Watch | None) -> Trace:
    """The plain loop: evaluate each policy exactly, and add up."""
    mdp = setup.mdp
    V_star = optimal_values(mdp)[0]
    N_sa = np.zeros((mdp.H, mdp.S, mdp.A))
    recorded = recorded_episodes(setup.problem.K, setup.trace_points)
    records: list[tuple[float, int, int]] = []
    regret, changes, last = 0.0, 0, None
    for k, plan, counts, trajectory, fallbacks in episodes(setup, seed):
        if watch is not None:
            watch(k, Plan(*map(np.copy, plan)), Counts(*map(np.copy, counts)))
        s1 = trajectory.s[0]
        regret += V_star[0, s1] - policy_values(mdp, plan.pi)[0, s1]
        changes += last is not None and not np.array_equal(last, plan.pi)
        last = plan.pi
        N_sa[np.arange(mdp.H), trajectory.s[:-1], trajectory.a] += 1
        if k == recorded[len(records)]:
            records.append((regret, changes, fallbacks))
    regrets, policy_changes, infeasible = (np.array(column) for column in zip(*records, strict=True))
    return Trace(
        recorded,
        regrets,
        policy_changes,
        infeasible,
        N_sa,
        plan.Q,
        {},
        setup.certificate,
        setup.noise.scale,
        setup.noise.E,
        policy=plan.pi,
    )


def episodes(setup: Setup, seed: int) -> Iterator[Episode]:
    """K episodes of the reference, one after another, exactly as the algorithm's file says."""
    mdp, problem = setup.mdp, setup.problem
    environment = np.random.default_rng(seed_stream(seed, "environment"))
    private = private_counts(setup, seed)
    turnstile: Any = Turnstile(private)
    algorithm = setup.agent.algorithm(problem, turnstile, setup.constants)
    reads = reads_trajectories(setup.agent)
    if not isinstance(algorithm, Generator):
        raise InputError(f"agent: {_name(setup.agent)} is neither a generator nor made by dp.planner")
    made = next(algorithm, None)
    for k in range(1, problem.K + 1):
        plan = checked_plan(made, k, mdp)
        private.show(plan.pi)
        trajectory = rollout(mdp, plan.pi, environment.random(uniforms_per_episode(mdp.H)))
        yield Episode(k, plan, private.counts, trajectory, private.fallbacks)
        if k < problem.K:  # the counts after the last episode are never released [D4]
            try:
                made = algorithm.send(turnstile.admit(trajectory if reads else Visitor(k), trajectory))
            except StopIteration:
                raise InputError(f"agent: it ended after episode {k} of {problem.K}") from None


def private_counts(setup: Setup, seed: int) -> PrivateCounts:
    """The privatizer at work, on the run's privacy stream."""
    problem, G = setup.problem, setup.G
    release = _release(setup.privatizer, problem, G, privacy_stream(setup, seed))
    process = setup.postprocess
    process = POSTPROCESSES[process]() if isinstance(process, str) else process
    if setup.zero > 0.0 and not hasattr(release, "sd"):
        raise InputError(f"zero: the release of {_name(setup.privatizer)} has no sd, so nothing can be zeroed")
    families = FAMILIES[setup.privatizer.families]
    known = setup.mdp.r[:G] if setup.known_rewards else None
    sizes, rounding = (G, problem.S, problem.A), Rounding.start(setup.privatizer.families, problem.H, seed)
    return PrivateCounts(
        release, process, setup.noise.E, *sizes, families, setup.zero, known, setup.support, problem.H, rounding
    )


def _release(privatizer: Any, problem: Problem, G: int, stream: np.random.SeedSequence) -> Release:
    """Exact noise is drawn by compiled code: the same integers from the same words."""
    if not (is_exact(privatizer) and isinstance(privatizer, AddedNoise)):
        return privatizer.release(problem, G, stream)
    from dpucbvi.engine.exact import compiled_draws

    return privatizer.release(problem, G, stream, compiled_draws)


def check_offers(key: str, part: object, wanted: tuple[str, ...]) -> None:
    """Raise InputError unless the part is an object with all that is wanted of it."""
    if isinstance(part, type) or not all(hasattr(part, name) for name in wanted):
        name = part.__name__ if isinstance(part, type) else _name(part)
        raise InputError(f"{key}: {name} is not accepted; it must be an object with {', '.join(wanted)}")


def check_privatizer(privatizer: Privatizer) -> None:
    """Raise InputError unless it has a privatizer's methods and a model of privacy."""
    check_offers("privatizer", privatizer, PRIVATIZER)
    check_name("privatizer: its model", privatizer.model, MODELS)


def reads_trajectories(agent: Any) -> bool:
    """Whether the agent says that it reads what users did; then nothing is certified."""
    return bool(getattr(agent, "reads_trajectories", False))


def certificate_of(agent: Agent, privatizer: Privatizer, problem: Problem, G: int) -> Certificate:
    """What the privatizer certifies; anything but a certificate of its own model is an error."""
    if reads_trajectories(agent):
        return Certificate("none", math.inf, math.inf, noise=READ)
    certificate = privatizer.certificate(problem, G)
    if not isinstance(certificate, Certificate) or certificate.model != privatizer.model:
        raise InputError(f"privatizer: {_name(privatizer)} has no certificate of {privatizer.model}")
    check_certificate(certificate)
    return certificate


def _checked_parts(
    stationary: bool, agent: Agent, privatizer: Privatizer, chosen: str | Postprocess | None, zero: float
) -> str | Postprocess:
    """The post-processing of parts that fit together.

    Without a choice it is the closed form of the LP where the agent wants post-processed counts of a private
    release.
    """
    check_offers("agent", agent, AGENT)
    check_privatizer(privatizer)
    unchanged = agent.raw or privatizer.model == "none"
    postprocess = chosen if chosen is not None else "none" if unchanged else "closed_form"
    name, private = _name(agent), privatizer.model != "none"
    if privatizer.model not in agent.models:
        takes = " or ".join(agent.models)
        raise InputError(f"privatizer: {name} takes {takes} and {_name(privatizer)} is {privatizer.model}")
    if not callable(postprocess):
        check_name("postprocess", postprocess, tuple(POSTPROCESSES))
    if agent.raw and postprocess != "none":
        raise InputError(f"postprocess: {name} uses the noisy counts; it takes none")
    if not agent.raw and private and postprocess == "none":
        raise InputError(f"postprocess: {name} takes closed_form, clip or cvxpy when counts are noisy")
    check_name("families", privatizer.families, FAMILIES)
    if zero > 0.0 and not (private and postprocess != "none"):
        raise InputError("zero: only noisy counts that are post-processed can be zeroed; it must be 0 here")
    if agent.pooled and not stationary and not getattr(agent, "anyway", False):
        raise InputError("pooled: true needs an environment whose P and r do not depend on h")
    return postprocess


def _name(part: object) -> str:
    own = part.generator if isinstance(part, OwnAgent) else None
    return getattr(own, "__name__", type(part).__name__)
