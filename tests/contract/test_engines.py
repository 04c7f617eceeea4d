"""The fast engine is the reference: the same plans, counts, users, visits and regret, bit for bit."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from own_privatizers import Fresh

import dpucbvi as dp
from dpucbvi.agents import AGENTS
from dpucbvi.agents.dp_ucbvi import CAPS
from dpucbvi.agents.own import has_plan
from dpucbvi.bonus import bernstein_terms
from dpucbvi.engine import fast
from dpucbvi.engine.compiled import cacheable, compiled, is_the_packages
from dpucbvi.engine.noise import next_words
from dpucbvi.privacy.draws import generator
from dpucbvi.privacy.laplace import LaplaceStream, laplace_from_words, seed_stream
from dpucbvi.privatizers import PRIVATIZERS
from dpucbvi.privatizers.arrays import has_take
from dpucbvi.privatizers.one_question import MOST_SIMULATED
from dpucbvi.projection import CvxpyPostprocess, closed_form
from dpucbvi.protocol import Episode, Setup
from dpucbvi.simulate import episodes, run_setup, set_up

RIVER = dp.riverswim(S=4, H=6)
slow = pytest.mark.slow
Pair = tuple[str, str, str]
OF_MODEL = {"JDP": "central", "LDP": "local", "none": "non_private"}  # the paper's privatizers


def pairs_of(name: str) -> list[Pair]:
    """An agent with a privatizer of every model that it takes, on the counts that it reads."""
    agent = AGENTS[name]()
    raw = {model: agent.raw or model == "none" for model in agent.models}
    return [(name, OF_MODEL[model], "none" if raw[model] else "closed_form") for model in agent.models]


PAIRS = [*(pair for name in AGENTS for pair in pairs_of(name)), ("dp_ucbvi", "non_private", "closed_form")]


class Variant(NamedTuple):
    """A pair, with settings that are not the paper's if any are given."""

    pair: Pair
    private: Mapping[str, Any] = {}
    agent: Mapping[str, Any] = {}
    zero: float = 0.0
    pooled: tuple[bool, ...] = (False, True)
    known_rewards: bool = False


def dp_ucbvi_with(privatizer: str, zero: float = 0.0, cap: str = "H", **private: Any) -> Variant:
    pooled = (True,) if "clip" in private else (False, True)
    return Variant(("dp_ucbvi", privatizer, "closed_form"), private, {"cap": cap}, zero, pooled)


JDP, LDP = dp_ucbvi_with("central"), dp_ucbvi_with("local")
LEFT: dict[str, Any] = {"zero": 2.0, "cap": "steps_left"}
BATCHED: dict[str, Any] = {"first": 5, "growth": 1.2}


def ablated(privatizer: str, postprocess: str = "closed_form", known: bool = False, **agent: Any) -> Variant:
    return Variant(("dp_ucbvi", privatizer, postprocess), {}, {"cap": "H", **agent}, known_rewards=known)


WINDOWS = dp_ucbvi_with("windows", zero=2.0, first=5, growth=1.2, pooled=9)._replace(
    agent={"cap": "steps_left", "minimum": False}, pooled=(False,)
)
VARIANTS = {
    "central, left": dp_ucbvi_with("central", **LEFT),
    "central, tuned": dp_ucbvi_with("central", families="tuned", sensitivity="replace_one", every=7),
    "central, symbols": dp_ucbvi_with("central", **LEFT, families="symbols", every=7),
    "local, symbols": dp_ucbvi_with("local", families="symbols"),
    "local, tuned": dp_ucbvi_with("local", **LEFT, families="tuned"),
    "kary_tree": dp_ucbvi_with("kary_tree"),
    "kary_tree, k=3": dp_ucbvi_with("kary_tree", **LEFT, k=3, families="paper"),
    "kary_tree, symbols": dp_ucbvi_with("kary_tree", **LEFT, families="symbols", every=7),
    "kary_tree, every 7": dp_ucbvi_with("kary_tree", **LEFT, every=7),
    "toeplitz": dp_ucbvi_with("toeplitz", **LEFT),
    "toeplitz, every 7": dp_ucbvi_with("toeplitz", families="paper", every=7),
    "toeplitz, symbols": dp_ucbvi_with("toeplitz", **LEFT, families="symbols", every=7),
    "toeplitz, clip 2": dp_ucbvi_with("toeplitz", **LEFT, every=7, clip=2),
    "batches": dp_ucbvi_with("batches", **LEFT, **BATCHED),
    "batches, paper": dp_ucbvi_with("batches", families="paper", drop_empty=False, **BATCHED),
    "batches, symbols": dp_ucbvi_with("batches", **LEFT, families="symbols", per_epsilon=True, **BATCHED),
    "batches, every cell": dp_ucbvi_with("batches", policy_cells=False, first=9, growth=1.0),
    "batches, gaussian": dp_ucbvi_with("batches", **LEFT, delta=1e-6, **BATCHED),
    "batches, clip 2": dp_ucbvi_with("batches", **LEFT, delta=1e-6, clip=2, **BATCHED),
    "windows": WINDOWS,
    "windows, gaussian": WINDOWS._replace(
        private={**WINDOWS.private, "delta": 1e-6, "zero": 2.0, **dict.fromkeys(("power", "z"), 3.0)}
        | {"tolerance": 0.05, "theta": 0.2, "most": 7}
    ),
    "local_windows": WINDOWS._replace(
        pair=("dp_ucbvi", "local_windows", "closed_form"),
        private={**BATCHED, "pooled": 30, "want": 3, "power": 1.0, "z": 1.0, "tolerance": 0.0}
        | {"theta": 0.2, "zero": 2.0},
    ),
    "one_question": dp_ucbvi_with("one_question", **LEFT, **BATCHED),
    "one_question, symbols": dp_ucbvi_with("one_question", **LEFT, symbols=True, **BATCHED),
    "one_question, want 3": dp_ucbvi_with(
        "one_question", cap="steps_left", want=3, transitions=0.7, first=4, growth=1.1
    ),
    **{f"central without {term}": ablated("central", bonus_without=term) for term in dp.DPUCBVI.terms},
    "central, no minimum": ablated("central", minimum=False),
    "local, clip": ablated("local", "clip"),
    "central, known rewards": ablated("central", known=True),
    "batches, known rewards": dp_ucbvi_with("batches", **LEFT, **BATCHED)._replace(known_rewards=True),
}
OTHER_AGENTS = {  # on noisy counts that are not new after every user; and without a term
    "private_ucb_po, batches": Variant(("private_ucb_po", "batches", "none"), BATCHED),
    **{
        f"ucbvi without {term}": Variant(("ucbvi_bf", "non_private", "none"), {}, {"bonus_without": term})
        for term in dp.UCBVI.terms
    },
}
CASES = [  # what is compared; in make test each variant is, pooled or per step by turns
    *(("-".join(pair), Variant(pair), pooled, True) for pair in PAIRS for pooled in (False, True)),
    *(
        (name, variant, pooled, quick and pooled is variant.pooled[i % len(variant.pooled)])
        for variants, quick in ((VARIANTS, True), (OTHER_AGENTS, False))
        for i, (name, variant) in enumerate(variants.items())
        for pooled in variant.pooled
    ),
]
every_case = pytest.mark.parametrize(
    ("variant", "pooled"),
    [
        pytest.param(
            variant, pooled, id=f"{name}, {'pooled' if pooled else 'per step'}", marks=[] if quick else [slow]
        )
        for name, variant, pooled, quick in CASES
    ],
)
pooled_or_not = pytest.mark.parametrize("pooled", [False, True], ids=["per step", "pooled"])


def setup_of(
    variant: Variant,
    mdp: dp.TabularMDP = RIVER,
    *,
    pooled: bool = False,
    bonus: float = 0.001,
    epsilon: float = 1000.0,
    width: float = 1e-4,
    K: int = 90,
    **changes: Any,
) -> Setup:
    """A run that learns within a few dozen episodes: large ε, small bonus, narrow band."""
    agent, privatizer, postprocess = variant.pair
    epsilon = min(epsilon, MOST_SIMULATED) if PRIVATIZERS[privatizer].model == "LDP" else epsilon
    private = {} if privatizer == "non_private" else {"epsilon": epsilon, "confidence_scale": width}
    options = {"postprocess": postprocess, "lp_checks": 20, "zero": variant.zero, **changes}
    options["known_rewards"] = variant.known_rewards
    made = PRIVATIZERS[privatizer](**private, **variant.private)
    return set_up(mdp, AGENTS[agent](bonus, pooled, **variant.agent), made, K, **options)


def run(setup: Setup, engine: str, seed: int = 0, watch: Any = None) -> dp.Trace:
    return run_setup(setup, seed, engine, watch)


def assert_same(reference: dp.Trace, compiled: dp.Trace) -> None:
    np.testing.assert_array_equal(reference.Q, compiled.Q)
    np.testing.assert_array_equal(reference.N_sa, compiled.N_sa)
    np.testing.assert_array_equal(reference.policy_changes, compiled.policy_changes)
    np.testing.assert_array_equal(reference.fallbacks, compiled.fallbacks)
    np.testing.assert_array_equal(reference.episodes, compiled.episodes)
    np.testing.assert_array_equal(reference.regret, compiled.regret)
    for name in ("certificate", "noise_scale", "E"):
        assert getattr(reference, name) == getattr(compiled, name)


# --- the same runs ------------------------------------------------------------------------------------


def test_dp_ucbvi_is_compared_with_every_privatizer() -> None:
    """And with every parameter that changes a release, zeroed or not, under both caps."""
    pairs = {*PAIRS, *(variant.pair for variant in VARIANTS.values())}
    assert {privatizer for agent, privatizer, _ in pairs if agent == "dp_ucbvi"} == set(PRIVATIZERS)
    assert {variant.zero > 0.0 for variant in VARIANTS.values()} == {False, True}
    assert {variant.agent["cap"] for variant in VARIANTS.values()} == set(CAPS)
    elsewhere = {"epsilon", "delta", "confidence_scale", "printed_constant", "sensitivity"}
    exact = {"noise", "words"}  # tests/unit/privatizers/test_release_mode.py
    for name in set(PRIVATIZERS) - {"non_private"}:
        tried = {key for variant in VARIANTS.values() if variant.pair[1] == name for key in variant.private}
        assert {field.name for field in fields(PRIVATIZERS[name])} - elsewhere - exact <= tried, name


def test_all_of_the_package_is_compiled_and_cached() -> None:
    assert all(has_plan(AGENTS[name]()) and cacheable(AGENTS[name]().plan) for name in AGENTS)
    made = [PRIVATIZERS[name](**({} if name == "non_private" else {"epsilon": 1.0})) for name in PRIVATIZERS]
    assert all(has_take(one) and is_the_packages(one.take) for one in made)
    assert not cacheable(MyPlan().plan) and not is_the_packages(Fewer(1.0).take)


@every_case
def test_engines_agree_on_riverswim(variant: Variant, pooled: bool) -> None:
    """In the trace; and in every episode, bit for bit, in all that is planned, counted and met."""
    setup = setup_of(variant, pooled=pooled)
    reference = run(setup, "reference")
    assert_same(reference, run(setup, "fast"))
    assert reference.policy_changes[-1] > 0, "a run that never changes its policy compares nothing"
    random = setup_of(variant, dp.riverswim(4, 6, rewards="bernoulli"), pooled=pooled, K=60)
    assert_same_episodes(episodes(random, 4), fast.episodes(fast.start(random, 4), 4))


def assert_same_episodes(reference: Iterable[Episode], compiled: Iterable[Episode]) -> None:
    """Number, plan, the counts it was made on, what the user met and the infeasible LPs so far."""
    for one, other in zip(reference, compiled, strict=True):
        assert (one.k, one.fallbacks) == (other.k, other.fallbacks)
        assert_same_arrays(
            (*one.plan, *one.counts, *one.trajectory), (*other.plan, *other.counts, *other.trajectory)
        )


def assert_same_arrays(one: Iterable[np.ndarray], other: Iterable[np.ndarray]) -> None:
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype


OTHERS = [name for name in PRIVATIZERS if getattr(PRIVATIZERS[name], "sparse", False)]
SPARSE = [*PAIRS, *(dp_ucbvi_with(name).pair for name in OTHERS if name not in OF_MODEL.values())]


@slow  # it compiles all of them once more, for other counters
@pytest.mark.parametrize("pair", SPARSE, ids="-".join)
@pooled_or_not
def test_engines_agree_where_only_possible_transitions_are_counted(pair: Pair, pooled: bool) -> None:
    changes = BATCHED if pair[1] == "batches" else {}
    setup = setup_of(Variant(pair, changes), dp.garnet(7, 2, 5, 2, 3), pooled=pooled, K=60, known_support=True)
    assert setup.problem.D == 2
    assert_same(run(setup, "reference"), run(setup, "fast"))
    assert_same_episodes(episodes(setup, 0), fast.episodes(fast.start(setup, 0), 0))


SIZES = {
    "K": st.integers(1, 33),
    "epsilon": st.sampled_from([1.0, 50.0, 1e4]),
    "width": st.sampled_from([0.0, 0.01, 0.3, 1.0]),
    "bonus": st.sampled_from([1e-5, 1e-3, 1.0]),
}


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    variant=st.sampled_from([*VARIANTS.values(), *(Variant(pair) for pair in PAIRS)]),
    shape=st.tuples(st.integers(1, 5), st.integers(1, 3), st.integers(1, 5)),
    sizes=st.fixed_dictionaries(SIZES),
    rewards=st.sampled_from(["bernoulli", "deterministic"]),
    seed=st.integers(0, 10**6),
)
def test_engines_agree_on_random_mdps(
    variant: Variant, shape: tuple[int, int, int], sizes: dict[str, Any], rewards: str, seed: int
) -> None:
    S, A, H = shape
    assume("clip" not in variant.private or H > 2)
    only_pooled = False not in variant.pooled
    mdp = dp.garnet(S, A, H, min(3, S), seed) if only_pooled else dp.random_mdp(S, A, H, seed)
    mdp = dp.TabularMDP(P=mdp.P, r=mdp.r, initial=mdp.initial, rewards=rewards)
    setup = setup_of(variant, mdp, pooled=only_pooled, **sizes)
    assert_same(run(setup, "reference", seed), run(setup, "fast", seed))


@pytest.mark.usefixtures("one_stream")
@pytest.mark.parametrize("privatizer", ["central", "local"])
def test_fast_counts_are_cvxpys_to_solver_tolerance(privatizer: str) -> None:
    """The reference run with cvxpy follows the same path on the same noise: Q̃ to the solver's tolerance."""
    wide: Any = {"bonus": 0.003, "epsilon": 200.0, "width": 0.05, "K": 60}
    cvxpy_run = run(setup_of(Variant(("dp_ucbvi", privatizer, "cvxpy")), **wide), "reference")
    compiled = run(setup_of(dp_ucbvi_with(privatizer), **wide), "fast")
    np.testing.assert_array_equal(cvxpy_run.N_sa, compiled.N_sa)
    np.testing.assert_array_equal(cvxpy_run.fallbacks, compiled.fallbacks)
    np.testing.assert_allclose(cvxpy_run.Q, compiled.Q, rtol=1e-6)


def test_compiled_noise_is_numpys_bits() -> None:
    stream = LaplaceStream(seed_stream(3, "privacy"))
    state, words = generator(seed_stream(3, "privacy")), np.zeros(1000, dtype=np.uint64)
    next_words(state, words)
    np.testing.assert_array_equal(words, np.random.SFC64(seed_stream(3, "privacy")).random_raw(1000))
    expected = laplace_from_words(words)
    one_by_one = compiled(laplace_from_words)
    np.testing.assert_array_equal([one_by_one(word) for word in words], expected)
    np.testing.assert_array_equal(stream.draw(1000), expected)


def test_the_trace_does_not_grow_with_k() -> None:
    long = setup_of(LDP, K=3000, trace_points=50)
    trace = run(long, "fast")
    assert len(trace.regret) <= 50 and trace.episodes[0] == 1 and trace.episodes[-1] == 3000
    every = run(long._replace(trace_points=3000), "fast")
    np.testing.assert_array_equal(every.regret[trace.episodes - 1], trace.regret)


# --- watched ------------------------------------------------------------------------------------------


def watched(setup: Setup, engine: str, seed: int) -> tuple[dp.Trace, list[tuple[int, dp.Plan, dp.Counts]]]:
    seen: list[tuple[int, dp.Plan, dp.Counts]] = []
    return run(setup, engine, seed, lambda *episode: seen.append(episode)), seen


@pytest.mark.parametrize(
    "variant", [JDP, Variant(("private_ucb_po", "local", "none"))], ids=["JDP", "random policies"]
)
def test_both_engines_show_a_watcher_the_same(variant: Variant) -> None:
    """And watching changes nothing; what is shown is a copy that later episodes leave alone."""
    setup = setup_of(variant, K=30)
    (reference, slow), (compiled, quick) = (watched(setup, engine, 9) for engine in ("reference", "fast"))
    assert_same(reference, compiled)
    assert_same(run(setup, "fast", 9), compiled)
    assert compiled.checks == run(setup, "fast", 9).checks
    assert [k for k, _, _ in slow] == [k for k, _, _ in quick] == list(range(1, 31))
    for (_, plan, counts), (_, other_plan, other_counts) in zip(slow, quick, strict=True):
        assert_same_arrays(plan, other_plan)
        assert_same_arrays(counts, other_counts)


# --- what is one's own --------------------------------------------------------------------------------


def swim(counts: dp.Counts) -> dp.Plan:
    return dp.Plan(np.ones((6, 4), dtype=np.int64), np.zeros((6, 4, 2)), np.zeros((7, 4)))


def always_right(problem: dp.Problem, private: Any) -> Any:
    for _ in range(problem.K):
        user = yield swim(private.counts)
        private.update(user)


def same_bonus(N: float, P: Any, V_next: Any, gap_next: Any, c: Any) -> float:
    """The paper's, term by term, in the order of its sum."""
    variance, reward, privacy, next_value = bernstein_terms(N, P, V_next, gap_next, c)
    return c.scale * (reward + privacy + next_value + variance)


class Fewer(Fresh):
    """CONTRIBUTING's privatizer, which leaves the first users out."""

    @staticmethod
    def take(state: Any, t: int, user: dp.User, noisy: Any) -> bool:
        return t > 4 and FRESH(state, t, user, noisy)


class Careful(dp.KaryTree):
    """Has a block that numba does not compile."""

    @staticmethod
    def take(state: Any, t: int, user: dp.User, noisy: Any) -> bool:
        with np.errstate(all="raise"):
            return TAKE(state, t, user, noisy)


FRESH, TAKE = Fresh.take, dp.KaryTree.take


class Plain(dp.Local):
    """Makes its release in a way of its own."""

    def release(self, problem: dp.Problem, G: int, seed: Any, *draws: Any) -> Any:
        return super().release(problem, G, seed, *draws)


def my_shift(N_sa: Any, N_sas: Any, E: float) -> Any:
    return closed_form(N_sa, N_sas, E)


def careful(N: float, P: Any, V_next: Any, gap_next: Any, c: Any) -> float:
    """Has a block that numba does not compile."""
    with np.errstate(all="raise"):
        return same_bonus(N, P, V_next, gap_next, c)


def most_counted(counts: dp.Counts) -> dp.Plan:
    """The action with the largest mean reward, in plain loops."""
    pi, Q, V = np.zeros((6, 4), dtype=np.int64), np.zeros((6, 4, 2)), np.zeros((7, 4))
    for h in range(6):
        for s in range(4):
            for a in range(2):
                n = counts.N_sa[h, s, a]
                Q[h, s, a] = counts.R[h, s, a] / n if n > 0.0 else 1.0
            pi[h, s] = 1 if Q[h, s, 1] >= Q[h, s, 0] else 0
            V[h, s] = Q[h, s, pi[h, s]]
    return dp.Plan(pi, Q, V)


def undecided(counts: dp.Counts) -> dp.Plan:
    return dp.Plan(np.full((6, 4, 2), 0.5), np.zeros((6, 4, 2)), np.zeros((7, 4)))


class MyPlan(dp.UCBVI):
    """Another plan in the same loop."""

    @staticmethod
    def plan(c: Any, counts: Any, values: Any, k: int) -> None:
        values.pi[:] = 0


class MyLoop(dp.UCBVI):
    """Changes more than its plan."""

    def algorithm(self, problem: Any, private: Any, constants: Any) -> Any:
        return super().algorithm(problem, private, constants)


CENTRAL = dp.Central(200.0, confidence_scale=0.05)
OWN = {
    "planner": (dp.planner(most_counted), CENTRAL, "the agent most_counted: compiled"),
    "random policies": (
        dp.planner(undecided),
        CENTRAL,
        "the agent undecided: in Python (its policies are random)",
    ),
    "bonus and take": (
        dp.DPUCBVI(0.003, bonus=same_bonus),
        Fewer(200.0),
        "the bonus same_bonus: compiled; the privatizer Fewer: compiled",
    ),
    "bonus, not compiled": (
        dp.DPUCBVI(0.003, bonus=careful),
        CENTRAL,
        "the bonus careful: in Python (it does not",
    ),
    "privatizer": (dp.DPUCBVI(0.003), Plain(30.0), "the privatizer Plain: in Python (its release is)"),
    "take, not compiled": (dp.DPUCBVI(0.003), Careful(200.0), "the privatizer Careful: in Python (it does not"),
}
REFERENCE_ONLY = {
    "generator": (always_right, CENTRAL, None, "the agent always_right"),
    "more than a plan": (MyLoop(0.003), dp.NonPrivate(), None, "the agent MyLoop"),
    "post-processing": (dp.DPUCBVI(0.003), CENTRAL, my_shift, "a post-processing of your own"),
    "cvxpy": (dp.DPUCBVI(0.003), CENTRAL, "cvxpy", "the post-processing by cvxpy"),
    "a solver": (dp.DPUCBVI(0.003), CENTRAL, CvxpyPostprocess("SCIPY"), "the post-processing by cvxpy"),
}


@pytest.mark.parametrize(("agent", "privatizer", "report"), OWN.values(), ids=OWN)
def test_what_is_ones_own_runs_on_the_fast_engine_too(agent: Any, privatizer: Any, report: str) -> None:
    """Bit for bit the reference, past the calls that are compared; and the run says what ran how."""
    reference = dp.run(RIVER, agent, privatizer, K=60, seed=1, engine="reference")
    quick = dp.run(RIVER, agent, privatizer, K=60, seed=1, engine="fast")
    assert_same(reference, quick)
    assert reference.checks == {} and quick.checks["own_parts"].startswith(report)


def test_compiling_is_for_long_runs_only() -> None:
    """Where nothing is asked for: what is one's own is compiled again in every process."""
    assert dp.run(RIVER, dp.DPUCBVI(0.003, bonus=same_bonus), CENTRAL, K=12).checks == {}
    long = dp.run(RIVER, dp.DPUCBVI(0.003, bonus=same_bonus), CENTRAL, K=1_000, lp_checks=0)
    assert long.checks["own_parts"] == "the bonus same_bonus: compiled"


def test_a_plan_that_reads_what_may_change_stays_in_python() -> None:
    turns = np.zeros(1, dtype=np.int64)

    def in_turn(counts: dp.Counts) -> dp.Plan:
        return dp.Plan(np.full((6, 4), turns[0]), np.zeros((6, 4, 2)), np.zeros((7, 4)))

    def turn(k: int, plan: dp.Plan, counts: dp.Counts) -> None:
        turns[0] = k // 30 % 2

    run = dp.run(RIVER, dp.planner(in_turn), K=60, engine="fast", watch=turn)
    assert run.policy_changes[-1] >= 1
    assert (
        run.checks["own_parts"]
        == "the agent in_turn: in Python (it does not compile: turns may change while it runs)"
    )


def test_the_error_of_a_part_of_ones_own_reaches_python() -> None:
    """From compiled code too, after the calls that are compared."""

    def astray(counts: dp.Counts) -> dp.Plan:
        pi = np.zeros((6, 4), dtype=np.int64)
        pi[0, 0] = 2 if counts.N_sa.sum() >= 6 * 40 else 0
        return dp.Plan(pi, np.zeros((6, 4, 2)), np.zeros((7, 4)))

    with pytest.raises(dp.InputError, match="its plan of episode 41 is no policy"):
        dp.run(RIVER, dp.planner(astray), K=60, engine="fast")


@pytest.mark.parametrize(
    ("agent", "privatizer", "postprocess", "what"), REFERENCE_ONLY.values(), ids=REFERENCE_ONLY
)
def test_some_of_ones_own_runs_on_the_reference_and_fast_says_that_it_cannot(
    agent: Any, privatizer: Any, postprocess: Any, what: str
) -> None:
    given: Any = {"K": 12, "seed": 1, "postprocess": postprocess}
    chosen = dp.run(RIVER, agent, privatizer, **given)
    asked = dp.run(RIVER, agent, privatizer, **given, engine="reference")
    assert chosen.checks == asked.checks == {}  # the reference's
    assert_same(chosen, asked)
    assert chosen.N_sa.sum() == 12 * 6
    for watch in (None, lambda *_: pytest.fail("nothing is run")):
        with pytest.raises(dp.InputError) as error:
            dp.run(RIVER, agent, privatizer, **given, engine="fast", watch=watch)
        assert str(error.value) == f"engine: fast has no compiled twin of {what}; it takes engine=reference"
