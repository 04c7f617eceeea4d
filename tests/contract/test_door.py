"""The door, `import dpucbvi as dp`: the first lines, what is offered, and one line for bad input."""

import ast
import re
import textwrap
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from own_privatizers import Mine

import dpucbvi as dp
from dpucbvi.planning import uniform_loss

ROOT = Path(__file__).resolve().parents[2]
RIVER = dp.riverswim(S=3, H=4)
RANDOM = dp.random_mdp(S=2, A=2, H=3)  # not stationary
CENTRAL = dp.Central(epsilon=1.0)


# --- the ten lines -------------------------------------------------------------------------------------------


def from_the_readme(holding: str = "import dpucbvi") -> str:
    """The first of its blocks that holds this."""
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    return next(block for block in blocks if holding in block)


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
    assert 0 < regret < 1.1 * run.regret[half]  # it learns: the second half costs next to nothing
    random = 20_000 * uniform_loss(dp.riverswim(S=6, H=20))
    assert f"# {regret:,.0f} (random actions: {random:,.0f}); JDP: pure ε = 50\n" in from_the_readme()


def test_the_session_of_the_readme_serves_its_users(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = from_the_readme("dp.Session(").replace("1_000", "200")
    exec(compile(text, "README.md", "exec"), names := {})
    with names["ses"] as ses:
        assert ses.left == 0 and ses.published.number == 1
    assert "JDP: pure ε = 5 if her trajectory is replaced, 2.5" in capsys.readouterr().out


# --- what is offered -----------------------------------------------------------------------------------------

NAMES = sorted(dp.__all__)


def test_what_is_offered_is_what_the_door_imports_by_name():
    """`X as X`: type checkers take a name for offered only if it is imported as itself."""
    tree = ast.parse(Path(dp.__file__).read_text())
    imported = [alias for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    offered = [alias.name for alias in imported if alias.asname == alias.name]
    assert sorted(offered) == NAMES == dir(dp)
    assert all(alias.asname[0] == "_" for alias in imported if alias.asname != alias.name)


def test_every_agent_and_privatizer_of_the_package_is_public():
    from dpucbvi.agents import AGENTS
    from dpucbvi.environments import ENVIRONMENTS
    from dpucbvi.privatizers import PRIVATIZERS

    for registry in (AGENTS, PRIVATIZERS, ENVIRONMENTS):
        for name in registry:
            assert registry[name].__name__ in dp.__all__


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


# --- bad input -----------------------------------------------------------------------------------------------


def run(mdp=RIVER, agent=dp.DPUCBVI(), privatizer=CENTRAL, K=5, **settings):  # noqa: B008  (it has no state)
    return dp.run(mdp, agent, privatizer, K=K, **settings)


# What is told, and what is given to dp.run in the place of something right. Environments and arrays that are
# none are in reliability/test_bad_input.py, the settings of a command line in contract/test_cli.py, privatizers
# that are none in unit/privatizers/.
BAD_RUNS = {
    "K: 0 is not accepted; it must be an integer from 1 to 2147483647": {"K": 0},
    "K: 5.0 is not accepted; it must be an integer": {"K": 5.0},
    "beta: 0 is not accepted; it must be a number from 1e-100 to below 1": {"beta": 0},
    "trace_points: 1 is not accepted; it must be an integer from 2 to 1000000": {"trace_points": 1},
    "seed: 1.0 is not accepted; it must be an integer >= 0": {"seed": 1.0},
    "seed: -1 is not accepted": {"seed": [0, -1]},
    "seed: none of 1 to 1,000,000 integers >= 0 are given": {"seed": []},
    "seed: more than 1 to 1,000,000 integers": {"seed": count()},
    "known_rewards: 'no' is not accepted; it must be True or False": {"known_rewards": "no"},
    "mdp: ndarray is not accepted; it must be a TabularMDP": {"mdp": RANDOM.P},
    "agent: DPUCBVI is not accepted": {"agent": dp.DPUCBVI},
    "privatizer: UCBVI takes none and Central is JDP": {"agent": dp.UCBVI()},
    "postprocess: DPUCBVI takes closed_form, clip or cvxpy when counts are noisy": {"postprocess": "none"},
    "pooled: true needs an environment whose P and r do not depend on h": {
        "mdp": RANDOM,
        "agent": dp.DPUCBVI(pooled=True),
    },
    "engine: 'gpu' is not one of reference, fast": {"engine": "gpu"},
}
BAD_PARTS = {
    "epsilon: -1 is not accepted; it must be a number >= 1e-100": lambda: dp.Central(epsilon=-1),
    "confidence_scale: -1 is not accepted; it must be a number >= 0": (
        lambda: dp.Central(epsilon=1, confidence_scale=-1)
    ),
    "printed_constant: 0 is not accepted; it must be a number > 0": (
        lambda: dp.Local(epsilon=1, printed_constant=0)
    ),
    "bonus_scale: 0 is not accepted; it must be a number > 0": lambda: dp.DPUCBVI(bonus_scale=0),
}
BAD = {
    **{told: partial(run, **given) for told, given in BAD_RUNS.items()},
    **BAD_PARTS,
}


@pytest.mark.parametrize("told", BAD)
def test_bad_input_is_one_clear_line(told):
    with pytest.raises(dp.InputError) as error:
        BAD[told]()
    assert str(error.value).startswith(told) and "\n" not in str(error.value)


# --- user code that misbehaves -------------------------------------------------------------------------------


SIZE = 4 * 3 * 2 * (3 + 2)
BAD_ANSWERS = {
    "certificate: it must have ε": {"certificate": dp.Certificate("JDP", -1.0, float("nan"))},
    "certificate: it must have ε, μ and ρ >= 0, and δ in [0, 1]": {
        "certificate": dp.Certificate("JDP", 1, 2, 1.5)
    },
    "certificate: its noise: 'loud' is not one of": {"certificate": dp.Certificate("JDP", 1, 2, noise="loud")},
    "privatizer: its E: -5.0 is not accepted; it must be a number >= 0": {"noise": dp.Noise(1.0, -5.0)},
    "epsilon: the noise of Mine is not finite": {"noise": dp.Noise(1.0, float("nan"))},
    "privatizer: its release is not finite everywhere": {"released": np.full(SIZE, np.nan)},
    "privatizer: its release must be an array of numbers of shape (120,)": {"released": np.zeros(SIZE - 1)},
    "privatizer: its release must be": {"released": [0.0] * SIZE},
}


@pytest.mark.parametrize("engine", ["reference", "fast"])
@pytest.mark.parametrize("told", BAD_ANSWERS)
def test_hostile_answers_of_a_privatizer_are_one_line(told, engine):
    with pytest.raises(dp.InputError) as error:
        run(privatizer=Mine(**BAD_ANSWERS[told]), engine=engine)
    assert str(error.value).startswith(told) and "\n" not in str(error.value)


NO_POLICY = "its plan of episode 1 is no policy"
HOSTILE_PLANS = {
    "nothing": (None, 0.0, 0.0, NO_POLICY),
    "another shape": (np.zeros((2, 2), int), 0.0, 0.0, NO_POLICY),
    "an action that is not there": (np.full((4, 3), 2), 0.0, 0.0, NO_POLICY),
    "no probabilities": (np.ones((4, 3, 2)), 0.0, 0.0, NO_POLICY),
    "policy rows that sum to more than 1": (np.full((4, 3, 2), 0.5 + 1e-5), 0.0, 0.0, NO_POLICY),
    "Q is not finite": (np.zeros((4, 3), int), np.nan, 0.0, "its plan of episode 1"),
    "V is not finite": (np.zeros((4, 3), int), 0.0, np.inf, "its plan of episode 1"),
}


@pytest.mark.parametrize("name", HOSTILE_PLANS)
def test_hostile_plans_are_one_line(name):
    pi, Q, V, said = HOSTILE_PLANS[name]
    with pytest.raises(dp.InputError, match=rf"^agent: [^\n]*{said}[^\n]*$"):
        run(agent=dp.planner(lambda _: dp.Plan(pi, np.full((4, 3, 2), Q), np.full((5, 3), V))))


def test_hostile_watches_and_agents_that_write_into_what_they_see_change_nothing(one_stream):
    def spoil(k, plan, counts):
        for array in (*plan, *counts):
            array[...] = 1

    for engine in ("reference", "fast"):
        watched, alone = (run(K=40, engine=engine, watch=watch) for watch in (spoil, None))
        np.testing.assert_array_equal(watched.regret, alone.regret)
        np.testing.assert_array_equal(watched.policy, alone.policy)

    def greedy(counts):
        best = counts.N_sas.sum(axis=-1).argmin(axis=-1)
        for array in counts:
            array[...] = -1.0
        return best

    def fresh(counts):
        return dp.Plan(greedy(counts), np.zeros((4, 3, 2)), np.zeros((5, 3)))

    buffer = dp.Plan(np.zeros((4, 3), int), np.zeros((4, 3, 2)), np.zeros((5, 3)))

    def reuse(counts):
        buffer.pi[...] = greedy(counts)
        return buffer

    one, other = (run(agent=dp.planner(plan), K=40, engine="reference") for plan in (fresh, reuse))
    assert one.policy_changes[-1] == other.policy_changes[-1] > 0
    np.testing.assert_array_equal(one.regret, other.regret)


@pytest.mark.parametrize("engine", ["reference", pytest.param("fast", marks=pytest.mark.slow)])
def test_hostile_bonuses_are_one_line(engine):
    def bonus(N, P, V_next, gap_next, c):
        return np.nan

    with pytest.raises(dp.InputError, match=r"^bonus: it is not finite$"):
        run(agent=dp.DPUCBVI(bonus=bonus), privatizer=dp.NonPrivate(), engine=engine)


def test_hostile_agents_that_end_are_one_line():
    def short(problem, private):
        yield dp.Plan(np.zeros((4, 3), int), np.zeros((4, 3, 2)), np.zeros((5, 3)))

    with pytest.raises(dp.InputError, match=r"^agent: it ended after episode 1 of 5$"):
        run(agent=short)
    with pytest.raises(dp.InputError, match="is neither a generator"):
        run(agent=lambda problem, private: None)
