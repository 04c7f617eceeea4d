"""The door, `import dpucbvi as dp`: what is offered, what it costs to come in, and one line for bad input."""

import ast
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import dpucbvi as dp

ROOT = Path(__file__).resolve().parents[2]
RIVER = dp.riverswim(S=3, H=4)
RANDOM = dp.random_mdp(S=2, A=2, H=3)  # not stationary
CENTRAL = dp.Central(epsilon=1.0)


# --- the ten lines -------------------------------------------------------------------------------------------


def from_the_readme() -> str:
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    return next(block for block in blocks if "import dpucbvi" in block)


def from_the_docstring() -> str:
    indented = re.search(r"(?:^    .+\n)+", dp.__doc__, re.MULTILINE)
    return textwrap.dedent(indented.group())


@pytest.mark.parametrize("text", [from_the_readme, from_the_docstring])
def test_the_first_lines_run_as_they_stand(text):
    *statements, last = ast.parse(text()).body
    assert isinstance(last, ast.Expr), "the last line says what comes out"
    names: dict[str, object] = {}
    exec(compile(ast.Module(statements, []), "first lines", "exec"), names)
    regret, certificate = eval(compile(ast.Expression(last.value), "first lines", "eval"), names)
    run = names["run"]
    assert isinstance(regret, float) and regret == run.regret[-1] and run.episodes[-1] == 20_000
    assert certificate == dp.Certificate("JDP", pytest.approx(50.0), pytest.approx(100.0))
    assert str(certificate).startswith("JDP: pure ε = 50 ")
    half = np.searchsorted(run.episodes, 10_000)
    assert 0 < regret < 2 * run.regret[half]  # it learns: the second half costs less


def test_the_readme_and_the_docstring_say_the_same():
    def bare(text: str) -> list[str]:
        return [line.split("#")[0].rstrip() for line in text.splitlines()]

    first, second = bare(from_the_readme()), bare(from_the_docstring())
    assert (first[:2], first[-1]) == (second[:2], second[-1])


# --- what is offered -----------------------------------------------------------------------------------------

NAMES = sorted(dp.__all__)


def test_what_is_offered_is_what_the_door_imports_by_name():
    """`X as X`: type checkers take a name for offered only if it is imported as itself."""
    tree = ast.parse(Path(dp.__file__).read_text())
    imported = [alias for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    offered = [alias.name for alias in imported if alias.asname == alias.name]
    assert sorted(offered) == NAMES == dir(dp)
    assert all(alias.asname[0] == "_" for alias in imported if alias.asname != alias.name)


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_says_what_it_is(name):
    said = getattr(dp, name).__doc__
    assert said and len(said) > 20
    assert not said.startswith(f"{name}("), "the docstring that Python makes up is none"


NOT_PRIVATE = {"redrawn", "shared"}  # habits of published code: by name for +exp=explain, never at the door


def test_every_agent_and_privatizer_of_the_package_is_public():
    from dpucbvi.agents import AGENTS
    from dpucbvi.environments import ENVIRONMENTS
    from dpucbvi.privatizers import PRIVATIZERS

    for registry in (AGENTS, PRIVATIZERS, ENVIRONMENTS):
        for name in registry:
            assert name in NOT_PRIVATE or registry[name].__name__ in dp.__all__


# --- several seeds, and tables -------------------------------------------------------------------------------

SEEDS = (3, 0, 7)


@pytest.fixture(scope="module")
def several():
    return dp.run(RANDOM, dp.DPUCBVI(bonus_scale=1e-3), CENTRAL, K=30, seed=SEEDS)


def test_several_seeds_are_the_single_runs(several):
    assert several.seeds == SEEDS and len(several.runs) == len(SEEDS)
    for seed, run in zip(SEEDS, several.runs, strict=True):
        single = dp.run(RANDOM, dp.DPUCBVI(bonus_scale=1e-3), CENTRAL, K=30, seed=seed)
        for name, value in single._asdict().items():
            np.testing.assert_array_equal(getattr(run, name), value)
    assert several.regret.shape == (len(SEEDS), 30)
    np.testing.assert_array_equal(several.regret[1], several.runs[1].regret)
    assert not np.array_equal(several.runs[0].N_sa, several.runs[1].N_sa)
    assert several.certificate == several.runs[2].certificate
    np.testing.assert_array_equal(several.episodes, np.arange(1, 31))


def test_runs_become_a_table(several):
    frame = several.to_frame()
    assert list(frame.columns) == ["seed", "episode", "regret", "policy_changes", "fallbacks"]
    assert len(frame) == len(SEEDS) * 30 and list(frame.index) == list(range(len(SEEDS) * 30))
    assert list(frame.seed.unique()) == list(SEEDS)
    for seed, run in zip(SEEDS, several.runs, strict=True):
        own, rows = run.to_frame(seed), frame[frame.seed == seed].reset_index(drop=True)
        assert own.equals(rows)
        np.testing.assert_array_equal(rows.episode, run.episodes)
        for name in ("regret", "policy_changes", "fallbacks"):
            np.testing.assert_array_equal(rows[name], getattr(run, name))


@pytest.mark.parametrize("seeds", [range(2), [0, 1], np.arange(2), (n for n in (0, 1))], ids=type)
def test_seeds_come_in_any_row(seeds):
    made = dp.run(RIVER, dp.UCBVI(), K=5, seed=seeds)
    assert made.seeds == (0, 1) and all(type(seed) is int for seed in made.seeds)


def test_numbers_of_numpy_are_numbers():
    own = dp.run(RIVER, dp.DPUCBVI(), CENTRAL, K=9, seed=2)
    given = dp.run(RIVER, dp.DPUCBVI(), dp.Central(epsilon=np.float64(1)), K=np.int64(9), seed=np.uint8(2))
    np.testing.assert_array_equal(own.regret, given.regret)
    assert dp.riverswim(S=np.int32(3), H=np.int64(4)).P.shape == RIVER.P.shape


def test_every_episode_is_watched_in_order_on_both_engines():
    seen: dict[str, list] = {"reference": [], "fast": []}
    for engine, calls in seen.items():
        dp.run(
            RIVER,
            dp.DPUCBVI(),
            CENTRAL,
            K=6,
            engine=engine,
            watch=lambda *call, calls=calls: calls.append(call),
        )
    for calls in seen.values():
        assert [k for k, _, _ in calls] == list(range(1, 7))
    for (_, plan, counts), (_, other, others) in zip(*seen.values(), strict=True):
        for one, two in zip((*plan, *counts), (*other, *others), strict=True):
            np.testing.assert_array_equal(one, two)


def test_the_engine_is_the_fast_one_where_it_can_be():
    """It alone checks LPs by cvxpy; what it has no twin of runs on the reference."""
    still = dp.planner(
        lambda counts: dp.Plan(np.zeros((4, 3), dtype=int), np.zeros((4, 3, 2)), np.zeros((5, 3)))
    )
    assert dp.run(RIVER, dp.DPUCBVI(), CENTRAL, K=9).checks["lp_checked"] > 0
    assert dp.run(RIVER, still, CENTRAL, K=9).checks == {}
    assert dp.run(RIVER, dp.DPUCBVI(), CENTRAL, K=3, postprocess="cvxpy").checks == {}


# --- bad input -----------------------------------------------------------------------------------------------


def run(mdp=RIVER, agent=dp.DPUCBVI(), privatizer=CENTRAL, K=5, **settings):  # noqa: B008  (it has no state)
    return dp.run(mdp, agent, privatizer, K=K, **settings)


def planned(pi):
    return run(agent=dp.planner(lambda counts: dp.Plan(pi, np.zeros((4, 3, 2)), np.zeros((5, 3)))))


P, R, P0 = RANDOM.P, RANDOM.r, RANDOM.initial
NAN, INF = float("nan"), float("inf")

BAD = {
    # how long, and how sure
    "K 0": (lambda: run(K=0), "K: 0 is not accepted; it must be an integer from 1 to 1000000000000000"),
    "K negative": (lambda: run(K=-3), "K: -3 is not accepted"),
    "K large": (lambda: run(K=10**20), f"K: {10**20} is not accepted"),
    "K fraction": (lambda: run(K=2.5), "K: 2.5 is not accepted; it must be an integer"),
    "K float": (lambda: run(K=5.0), "K: 5.0 is not accepted; it must be an integer"),
    "K text": (lambda: run(K="5"), "K: '5' is not accepted; it must be an integer"),
    "K None": (lambda: run(K=None), "K: None is not accepted"),
    "K True": (lambda: run(K=True), "K: True is not accepted"),
    "beta 0": (lambda: run(beta=0), "beta: 0 is not accepted; it must be a number in (0, 1)"),
    "beta tiny": (lambda: run(beta=1e-322), "beta: 1e-322 is not accepted; it must be 1e-100 or more"),
    "beta NaN": (lambda: run(beta=NAN), "beta: nan is not accepted"),
    "beta text": (lambda: run(beta="5%"), "beta: '5%' is not accepted"),
    "trace points": (
        lambda: run(trace_points=1),
        "trace_points: 1 is not accepted; it must be an integer >= 2",
    ),
    "trace points float": (lambda: run(trace_points=2.5), "trace_points: 2.5 is not accepted"),
    "LP checks": (lambda: run(lp_checks=-1), "lp_checks: -1 is not accepted; it must be an integer >= 0"),
    # seeds
    "seed negative": (lambda: run(seed=-1), "seed: -1 is not accepted; it must be an integer >= 0"),
    "seed float": (lambda: run(seed=1.0), "seed: 1.0 is not accepted; it must be an integer >= 0"),
    "seed text": (lambda: run(seed="7"), "seed: '7' is not accepted"),
    "seed None": (lambda: run(seed=None), "seed: None is not accepted"),
    "seeds negative": (lambda: run(seed=[0, -1]), "seed: -1 is not accepted"),
    "seeds float": (lambda: run(seed=[1.5]), "seed: 1.5 is not accepted"),
    "no seeds": (lambda: run(seed=[]), "seed: none is given"),
    # privatizers
    "epsilon negative": (
        lambda: dp.Central(epsilon=-1),
        "epsilon: -1 is not accepted; it must be a number > 0",
    ),
    "epsilon 0": (lambda: dp.Local(epsilon=0.0), "epsilon: 0.0 is not accepted; it must be a number > 0"),
    "epsilon infinite": (lambda: dp.Local(epsilon=INF), "epsilon: inf is not accepted"),
    "epsilon text": (lambda: dp.Central(epsilon="1"), "epsilon: '1' is not accepted; it must be a number > 0"),
    "epsilon None": (lambda: dp.Central(epsilon=None), "epsilon: None is not accepted"),
    "epsilon tiny": (
        lambda: run(privatizer=dp.Central(epsilon=1e-320)),
        "epsilon: the noise of Central is not finite; a larger epsilon is needed",
    ),
    "epsilon small": (
        lambda: run(privatizer=dp.Central(epsilon=1e-160)),
        "epsilon: the bonus of so much noise is not finite; a larger epsilon is needed",
    ),
    "sensitivity": (
        lambda: dp.Central(epsilon=1, sensitivity="replace-one"),
        "sensitivity: replace-one is not accepted; it must be one of paper, replace_one",
    ),
    "sensitivity number": (lambda: dp.Local(epsilon=1, sensitivity=2), "sensitivity: 2 is not accepted"),
    "E": (
        lambda: dp.Central(epsilon=1, confidence_scale=-1),
        "confidence_scale: -1 is not accepted; it must be a number >= 0",
    ),
    "E text": (lambda: dp.Local(epsilon=1, confidence_scale="1"), "confidence_scale: '1' is not accepted"),
    "printed": (
        lambda: dp.Local(epsilon=1, printed_constant=0),
        "printed_constant: 0 is not accepted; it must be a number > 0",
    ),
    "a class for a privatizer": (lambda: run(privatizer=dp.Central), "privatizer: Central is not accepted"),
    "a name for a privatizer": (lambda: run(privatizer="central"), "privatizer: str is not accepted"),
    # agents
    "bonus 0": (lambda: dp.DPUCBVI(bonus_scale=0), "bonus_scale: 0 is not accepted; it must be a number > 0"),
    "bonus NaN": (lambda: dp.UCBVI(bonus_scale=NAN), "bonus_scale: nan is not accepted"),
    "bonus text": (lambda: dp.PUCB(bonus_scale="1"), "bonus_scale: '1' is not accepted"),
    "a class for an agent": (lambda: run(agent=dp.DPUCBVI), "agent: DPUCBVI is not accepted"),
    "a name for an agent": (lambda: run(agent="dp_ucbvi"), "agent: str is not accepted"),
    "agent and privatizer exchanged": (
        lambda: run(agent=CENTRAL, privatizer=dp.DPUCBVI()),
        "agent: Central is not accepted",
    ),
    "a plan without a policy": (lambda: planned(None), "agent: its plan of episode 1 is no policy"),
    "a policy of another shape": (lambda: planned(np.zeros((2, 2), int)), "agent: its plan of episode 1 is no"),
    "an action that is not there": (lambda: planned(np.full((4, 3), 2)), "agent: its plan of episode 1 is no"),
    "a negative action": (lambda: planned(np.full((4, 3), -1)), "agent: its plan of episode 1 is no policy"),
    "actions that are floats": (lambda: planned(np.zeros((4, 3))), "agent: its plan of episode 1 is no policy"),
    "probabilities that are none": (lambda: planned(np.ones((4, 3, 2))), "agent: its plan of episode 1 is no"),
    # what does not fit together
    "a public agent in private": (
        lambda: run(agent=dp.UCBVI()),
        "privatizer: UCBVI takes none and Central is JDP",
    ),
    "a central agent under LDP": (
        lambda: run(agent=dp.PUCB(), privatizer=dp.Local(epsilon=1)),
        "privatizer: PUCB takes none or JDP and Local is LDP",
    ),
    "a local agent under JDP": (
        lambda: run(agent=dp.LDPOBI()),
        "privatizer: LDPOBI takes none or LDP and Central is JDP",
    ),
    "a raw agent, post-processed": (
        lambda: run(agent=dp.PrivateUCBVI(), postprocess="closed_form"),
        "postprocess: PrivateUCBVI uses the noisy counts; it takes none",
    ),
    "DP-UCBVI on raw counts": (
        lambda: run(postprocess="none"),
        "postprocess: DPUCBVI takes closed_form, clip or cvxpy when counts are noisy",
    ),
    "post-processing": (
        lambda: run(postprocess="clp"),
        "postprocess: 'clp' is not one of none, closed_form, clip, cvxpy",
    ),
    "post-processing number": (lambda: run(postprocess=3), "postprocess: 3 is not one of none, closed_form"),
    "pooled, not stationary": (
        lambda: run(mdp=RANDOM, agent=dp.DPUCBVI(pooled=True)),
        "pooled: true needs an environment whose P and r do not depend on h",
    ),
    "engine": (lambda: run(engine="gpu"), "engine: 'gpu' is not one of reference, fast"),
    "fast cvxpy": (
        lambda: run(engine="fast", postprocess="cvxpy"),
        "engine: fast has no compiled twin of the post-processing by cvxpy; it takes engine=reference",
    ),
    "fast post-processing of one's own": (
        lambda: run(engine="fast", postprocess=lambda N_sa, N_sas, E: None),
        "engine: fast has no compiled twin of a post-processing of your own",
    ),
    "fast bonus of one's own": (
        lambda: run(engine="fast", agent=dp.DPUCBVI(bonus=lambda *_: 1.0)),
        "engine: fast has no compiled twin of a bonus of your own",
    ),
    # environments
    "an array for an MDP": (lambda: run(mdp=P), "mdp: ndarray is not accepted; it must be a TabularMDP"),
    "P of a wrong shape": (
        lambda: dp.TabularMDP(P=P[0], r=R, initial=P0),
        "P: shape (2, 2, 2) is not (H, S, A, S) with H, S, A >= 1",
    ),
    "P not square": (lambda: dp.TabularMDP(P=P[..., :1], r=R, initial=P0), "P: shape (3, 2, 2, 1) is not"),
    "P in rows of several lengths": (
        lambda: dp.TabularMDP(P=[[1], [1, 2]], r=R, initial=P0),
        "P: it is no array of numbers",
    ),
    "P a text": (lambda: dp.TabularMDP(P="P", r=R, initial=P0), "P: it is no array of numbers"),
    "P None": (lambda: dp.TabularMDP(P=None, r=R, initial=P0), "P: shape () is not (H, S, A, S)"),
    "P NaN": (lambda: dp.TabularMDP(P=P * NAN, r=R, initial=P0), "P[0, 0, 0, 0] = nan: every entry must be"),
    "P negative": (lambda: dp.TabularMDP(P=-P, r=R, initial=P0), "P[0, 0, 0, 0] = -"),
    "P no distribution": (
        lambda: dp.TabularMDP(P=2 * P, r=R, initial=P0),
        "P[0, 0, 0] sums to 2: it must sum to 1",
    ),
    "r of a wrong shape": (
        lambda: dp.TabularMDP(P=P, r=R[0], initial=P0),
        "r: shape (2, 2) is not (H, S, A) = (3, 2, 2)",
    ),
    "r above 1": (lambda: dp.TabularMDP(P=P, r=R + 2, initial=P0), "r[0, 0, 0] = 2"),
    "initial": (lambda: dp.TabularMDP(P=P, r=R, initial=[1.0]), "initial: shape (1,) is not (S,) = (2,)"),
    "rewards": (
        lambda: dp.TabularMDP(P=P, r=R, initial=P0, rewards="gauss"),
        "rewards: 'gauss' is not one of deterministic, bernoulli",
    ),
    "S": (lambda: dp.riverswim(S=1), "S: 1 is not accepted; it must be an integer >= 2"),
    "S fraction": (lambda: dp.riverswim(S=2.5), "S: 2.5 is not accepted; it must be an integer"),
    "S text": (lambda: dp.riverswim(S="6"), "S: '6' is not accepted; it must be an integer"),
    "H": (lambda: dp.riverswim(H=0), "H: 0 is not accepted; it must be an integer >= 1"),
    "H float": (lambda: dp.riverswim(H=2.0), "H: 2.0 is not accepted; it must be an integer"),
    "variant": (lambda: dp.riverswim(variant="nile"), "variant: 'nile' is not one of chowdhury_zhou"),
    "A": (lambda: dp.random_mdp(A=0), "A: 0 is not accepted; it must be an integer >= 1"),
    "seed of an MDP": (lambda: dp.random_mdp(seed=-1), "seed: -1 is not accepted; it must be an integer >= 0"),
    "seed of an MDP, float": (lambda: dp.random_mdp(seed=1.5), "seed: 1.5 is not accepted"),
    "gap": (lambda: dp.hard_tree(gap=0), "gap: 0 is not accepted; it must be a number in (0, 0.5]"),
    "gap text": (lambda: dp.hard_tree(gap="a"), "gap: 'a' is not accepted"),
    "depth": (lambda: dp.hard_tree(depth=0), "depth: 0 is not accepted; it must be an integer >= 1"),
    "depth float": (lambda: dp.hard_tree(depth=2.5), "depth: 2.5 is not accepted"),
    "tree too short": (lambda: dp.hard_tree(H=2), "H: 2 is not accepted; hard_tree of depth 1 needs H > 3"),
    "tree H float": (lambda: dp.hard_tree(H=9.0), "H: 9.0 is not accepted; it must be an integer"),
    "file": (
        lambda: dp.from_file("no.npz"),
        "path: no file 'no.npz'; it must be an .npz with P, r and initial",
    ),
}


@pytest.mark.parametrize(("action", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_one_clear_line(action, message):
    with pytest.raises(dp.InputError) as error:
        action()
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_bad_input_is_told_before_anything_is_run():
    seen = []
    with pytest.raises(dp.InputError):
        run(seed=[0, -1], watch=lambda *episode: seen.append(episode))
    with pytest.raises(dp.InputError):
        run(engine="gpu", watch=lambda *episode: seen.append(episode))
    assert seen == []


# --- what it costs to come in --------------------------------------------------------------------------------

SLOW = (
    "numba",
    "llvmlite",
    "scipy",
    "cvxpy",
    "pandas",
    "matplotlib",
    "seaborn",
    "hydra",
    "omegaconf",
    "joblib",
    "gymnasium",
)


def python(code: str, **environment: str) -> str:
    """What a fresh interpreter prints."""
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_coming_in_is_quick_and_imports_nothing_slow():
    """In seconds of the processor, of which it takes some 0.3; numpy is most of it."""
    told = python(f"""
        import sys, time
        import dpucbvi
        print(time.process_time(), *[name for name in {SLOW} if name in sys.modules])
    """)
    seconds, *imported = told.split()
    assert imported == []
    assert float(seconds) < 1.0


def test_the_reference_runs_without_the_compiler():
    told = python("""
        import sys
        import dpucbvi as dp
        dp.run(dp.riverswim(S=3, H=3), dp.DPUCBVI(), dp.Central(epsilon=1), K=3, engine="reference")
        print(*[name for name in ("numba", "cvxpy", "pandas", "matplotlib", "hydra") if name in sys.modules])
    """)
    assert told == ""


def test_the_users_own_numba_cache_is_left_alone(tmp_path):
    """Also after a compiled run: a function of hers that is cached goes where she said, and only that."""
    (tmp_path / "hers.py").write_text(
        "import numba\n\n\n@numba.njit(cache=True)\ndef twice(x):\n    return 2 * x\n"
    )
    cache = tmp_path / "cache"
    told = python(
        f"""
        import sys
        sys.path.insert(0, {str(tmp_path)!r})
        import numba
        before = numba.config.CACHE_DIR
        import dpucbvi as dp
        print(numba.config.CACHE_DIR == before)
        dp.run(dp.riverswim(S=3, H=3), dp.DPUCBVI(), dp.Central(epsilon=1), K=3, engine="fast", lp_checks=0)
        print(numba.config.CACHE_DIR == before == {str(cache)!r})
        import hers
        print(hers.twice(2))
    """,
        NUMBA_CACHE_DIR=str(cache),
    )
    assert told.split() == ["True", "True", "4"]
    assert {path.name.split(".")[0] for path in cache.rglob("*.nb?")} == {"hers"}
