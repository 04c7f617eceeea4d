"""Any command line, MDP file, stored run or call of the library: a right answer or one line, and never a hang.

Every case has a seed of its own, so that a failure names it. `make test` tries 25 cases of each kind, the slow
tests 600.
"""

import inspect
import io
import json
import math
import random
import signal
import string
import zipfile
from contextlib import contextmanager
from dataclasses import fields
from fractions import Fraction

import numpy as np
import pytest
from own_privatizers import Mine

import dpucbvi as dp
from dpucbvi.agents import AGENTS
from dpucbvi.archive import checksum, encode
from dpucbvi.environments import ENVIRONMENTS
from dpucbvi.errors import InputError
from dpucbvi.privatizers import PRIVATIZERS
from dpucbvi.trace import grows

FEW, MANY, SECONDS = 25, 600, 300
NAN, INF = float("nan"), float("inf")
NUMBERS = [*(0, 1, -1, 3, 7, 0.5, 1.5, -0.25, NAN, INF, -INF, 1e308, 5e-324), *(2**31, 2**63, 10**20)]
NUMBERS += [10**400, -(10**400)]
LEFT = np.zeros((4, 3), int)  # a policy
OBJECTS = [
    *(None, True, False, "", "x", "é\0\n", "1", b"ab", [], [1, "a"], [[1, 2], [3]], {}, {"a": 1}, (), set()),
    *(1 + 2j, Fraction(1, 3), object(), lambda *_: None, range(3), np.float32(3), np.int8(2)),
    *(np.zeros(0), np.zeros((2, 2)), np.full((4, 3, 2), NAN), np.array("x"), np.array([{}], dtype=object)),
    *(LEFT, np.full((4, 3, 2), 0.5 + 1e-5), np.datetime64("2023-01-01"), iter([1, 2]), NotImplemented),
]
RIVER, CENTRAL = dp.riverswim(S=3, H=4), dp.Central(epsilon=1.0)


def hostile(rng: random.Random):
    return rng.choice(NUMBERS + OBJECTS)


@contextmanager
def bounded(case: str):
    """A case that takes longer than five minutes hangs."""

    def hangs(*_):
        raise TimeoutError(case)

    before = signal.signal(signal.SIGALRM, hangs)
    signal.alarm(SECONDS)
    try:
        yield
    except InputError as error:
        assert str(error) and "\n" not in str(error) and len(str(error)) < 2_000, case
    except Exception as error:
        raise AssertionError(f"{case}: {error!r}") from error
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def check_run(run: dp.Trace) -> None:
    """What is true of every run."""
    H = len(run.Q)
    assert grows(run.regret, H * run.episodes) and grows(run.policy_changes, run.episodes - 1)
    assert np.isfinite(run.regret).all() and run.E >= 0.0 and run.noise_scale >= 0.0
    assert run.certificate.add_remove >= 0.0 and 0.0 <= run.certificate.delta <= 1.0
    assert repr(run) and "\0" not in repr(run.certificate)


# --- the library ----------------------------------------------------------------------------------------------


def right_call(rng: random.Random):
    """A function of the door, and arguments that it accepts."""
    kind = rng.choice(("run", "own agent", "own privatizer", "agent", "privatizer", "environment", "others"))
    if kind == "run":
        return dp.run, {
            **{"mdp": RIVER, "agent": dp.DPUCBVI(), "privatizer": CENTRAL, "K": 3, "seed": 0},
            **{"engine": "reference", "beta": 0.05, "postprocess": None, "zero": 0.0, "known_rewards": False},
            **{"known_support": False, "trace_points": 2_000, "lp_checks": 200},
        }
    if kind == "own agent":
        return run_planner, {"pi": LEFT, "Q": np.zeros((4, 3, 2)), "V": np.zeros((5, 3)), "K": 3}
    if kind == "own privatizer":
        declared = {"model": "JDP", "add_remove": 1.0, "replace_one": 2.0, "delta": 0.0, "noise": "simulation"}
        released = {"families": "paper", "scale": 1.0, "E": 3.0, "released": np.zeros(4 * 3 * 2 * 5)}
        return run_privatizer, {**declared, **released, "certificate": ...}
    if kind == "others":
        name, given = rng.choice(
            (
                ("TabularMDP", {"P": RIVER.P, "r": RIVER.r, "initial": RIVER.initial, "rewards": "bernoulli"}),
                ("load", {"path": "paper/results/riverswim.npz"}),
                ("from_file", {"path": "mdp.npz"}),
                ("compare", {"a": {}, "b": None}),
                ("from_gymnasium", {"id": Table([[[(1.0, 0, 1.0, False)]]]), "H": 3}),
            )
        )
        return getattr(dp, name), given
    registry = {"agent": AGENTS, "privatizer": PRIVATIZERS, "environment": ENVIRONMENTS}[kind]
    made = registry[rng.choice([name for name in registry if name not in ("file", "gymnasium")])]
    needed = {"epsilon": 1.0, "delta": 1e-6}
    return made, {key: needed[key] for key in inspect.signature(made).parameters if key in needed}


def run_planner(pi, Q, V, K):
    return dp.run(RIVER, dp.planner(lambda counts: dp.Plan(pi, Q, V)), CENTRAL, K=K)


def run_privatizer(model, families, scale, E, released, certificate, noise, **epsilons):
    declared = dp.Certificate(model, **epsilons, noise=noise) if certificate is ... else certificate
    mine = Mine(dp.Noise(scale, E), declared, released)
    mine.model, mine.families = model, families
    return dp.run(RIVER, dp.DPUCBVI(), mine, K=3, engine="reference")


class Table:
    """What from_gymnasium reads of an environment."""

    spec = None

    def __init__(self, P):
        self.unwrapped, self.P, self.initial_state_distrib = self, P, np.ones(1)


def a_call_of_the_library(rng: random.Random, _) -> None:
    function, given = right_call(rng)
    names = sorted({*given, *inspect.signature(function).parameters} - {"watch", "words", "epsilons"})
    for name in rng.sample(names, min(len(names), rng.choice((1, 1, 2)))):
        given[name] = hostile(rng)
    if function is getattr(dp, "from_gymnasium") and rng.random() < 0.7:  # noqa: B009
        p, to = rng.choice((0.5, 1.0, NAN, "x")), rng.choice((0, 1, 9, -1, None))
        row = [p, to, rng.choice((1.0, INF, None)), False]
        given["id"] = Table(rng.choice(([[[row]]], [[[row]], []], {0: {}}, [[3]], [], 3, [[[row[:2]]]])))
    with bounded(f"{getattr(function, '__name__', function)}({ {k: given[k] for k in sorted(given)} })"[:800]):
        made = function(**given)
        for run in made if isinstance(made, dp.Runs) else [made] if isinstance(made, dp.Trace) else []:
            check_run(run)


# --- files ----------------------------------------------------------------------------------------------------


def edited(rng: random.Random, array: np.ndarray) -> np.ndarray:
    """The array with an entry, its type or its shape changed."""
    how = rng.randrange(5)
    if how == 0:
        return rng.choice(
            (array[:-1], array.ravel(), array[None], np.append(array, array), array.reshape(-1)[:0])
        )
    if how == 1:
        return array.astype(rng.choice(("f4", "i8", "c16", "?", "U3")))
    changed = array.astype(np.float64) if array.dtype.kind == "f" or how == 2 else array.copy()
    if changed.size:
        numbers = [0, 1, 2, 99] + [-1, 0.5, 1e9, NAN, INF, -940.0, 1e-320] * (changed.dtype.kind == "f")
        changed.flat[rng.randrange(changed.size)] = rng.choice(numbers)
    return changed


def an_mdp_file(rng: random.Random, folder) -> None:
    """Its arrays changed, or its bytes."""
    mdp = dp.random_mdp(S=2, A=2, H=2, seed=rng.randrange(100))
    arrays = {"P": mdp.P, "r": mdp.r, "initial": mdp.initial}
    if rng.random() < 0.5:
        key = rng.choice(list(arrays))
        arrays[key] = edited(rng, arrays[key])
    buffer = io.BytesIO()
    rng.choice((np.savez, np.savez_compressed))(buffer, **arrays)
    data = bytearray(buffer.getvalue())
    for _ in range(rng.choice((0, 1, 4))):
        data[rng.randrange(len(data))] = rng.randrange(256)
    (folder / "mdp.npz").write_bytes(data[: rng.choice((None, None, rng.randrange(len(data))))])
    with bounded("an MDP file"):
        made = dp.from_file(str(folder / "mdp.npz"))
        assert np.abs(made.P.sum(axis=-1) - 1.0).max() <= 1e-9 and made.P.min() >= 0.0
        assert made.r.min() >= 0.0 and made.r.max() <= 1.0 and abs(made.initial.sum() - 1.0) <= 1e-9


RUN = dp.run(RIVER, dp.DPUCBVI(), CENTRAL, K=30, engine="reference")
JSON = [*(None, True, 0, -1, 0.001, 1e308, 10**400, "", "x", "<!--", [], {}, [1]), {"name": "os:system"}]
JSON += ["Local", "JDP"]


def edit_json(rng: random.Random, tree: dict) -> None:
    """Another value somewhere in it, or a key too few or too many."""
    key = rng.choice([*tree, "more"])
    if isinstance(tree.get(key), dict) and tree[key] and rng.random() < 0.8:
        edit_json(rng, tree[key])
    elif rng.random() < 0.2:
        tree.pop(key, None)
    else:
        tree[key] = rng.choice(JSON)


def a_stored_run(rng: random.Random, folder) -> None:
    """Its facts or one of its arrays changed, and the checksum right."""
    with np.load(io.BytesIO(encode({}, [RUN])), allow_pickle=False) as data:
        arrays = dict(data)
    if rng.random() < 0.5:
        about = json.loads(arrays["about"].tobytes())
        facts = about["facts"][0]
        edit_json(rng, rng.choice((about, facts, facts, facts["certificate"])))
        arrays["about"] = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
    else:
        key = rng.choice(list(arrays))
        arrays[key] = edited(rng, arrays[key])
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for key, array in arrays.items():
            member = io.BytesIO()
            np.save(member, array)
            archive.writestr(f"{key}.npy", member.getvalue())
        archive.comment = b"0" * 64
    content = buffer.getvalue()[:-64]
    (folder / "run.npz").write_bytes(content + checksum(content))
    with bounded("a stored run"):
        read = dp.load(folder / "run.npz")
        for run in read if isinstance(read, dp.Runs) else [read]:
            check_run(run)
            same = run.certificate._replace(declared=False) == RUN.certificate
            assert same or run.certificate.declared or run.certificate.model == "none"


# --- command lines --------------------------------------------------------------------------------------------

SETTINGS = """
K beta runs seed name study task trace_points save_arms grid arms +arms.a env env.S env.H env.name agent
agent.pooled agent.cap privatizer privatizer.epsilon privatizer.every privatizer.families privatizer.name
postprocess.zero confidence.scale bonus.scale bonus.without engine engine.lp_checks runtime runtime.workers
runtime.address runtime.results attack.name attack.trials grid.K grid.env.H hydra.run.dir +exp
~bonus.scale ~env ++new.key +arms.a.K +arms.a.privatizer.epsilon = -m --cfg
"""
KEYS = [*SETTINGS.split(), ""]
VALUES = """
0 1 3 -1 1.5 nan inf 1e400 null true many é [] [1,2] {} 1,2 range(1,4) range(5,1) ??? ${K} ${no.such} ~
~nobody/x a/b ' os:system nowhere:Mine local central riverswim audit certify dask fast ..
"""
TEXTS = [*VALUES.split(), "", "9" * 400, "x" * 300, "{a: 1}"]


def a_command_line(rng: random.Random, folder, cli) -> None:
    words = [f"{rng.choice(KEYS)}={rng.choice(TEXTS)}" for _ in range(rng.choice((1, 1, 2, 3)))]
    if rng.random() < 0.2:
        words.append("".join(rng.choices(string.printable[:95], k=rng.randrange(1, 12))))
    words = [word.rstrip("=") if word.startswith("-") else word for word in words]
    case = f"run.py {words}"
    with bounded(case):
        code, out, err = cli(
            "env.S=3", "env.H=3", *words, "task=certify", f"runtime.results={folder / 'results'}"
        )
        assert code in (0, 2) and "Traceback" not in out + err, f"{case}: {code} {err}"
        assert code == 0 or (err.startswith("error: ") and err.count("\n") <= 1), f"{case}: {err}"
        assert not (folder / "results").exists(), case


# --- all of them ----------------------------------------------------------------------------------------------

KINDS = {
    "calls of the library": a_call_of_the_library,
    "MDP files": an_mdp_file,
    "stored runs with right checksums": a_stored_run,
    "command lines": a_command_line,
}


@pytest.mark.parametrize("cases", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore")
def test_any_input_is_a_right_answer_or_one_line(kind, cases, faults, tmp_path, request):
    faults({kind: cases})
    more = [request.getfixturevalue("cli")] if kind == "command lines" else []
    for case in range(cases):
        rng = random.Random(f"{kind} {case}")
        KINDS[kind](rng, tmp_path, *more)


def test_the_fuzzer_notices_what_it_looks_for():
    """A traceback, a number that is wrong, and a hang."""
    for wrong in (ZeroDivisionError, AssertionError, TimeoutError):
        with pytest.raises(AssertionError, match=wrong.__name__), bounded("case"):
            raise wrong
    with pytest.raises(AssertionError):
        check_run(RUN._replace(regret=-RUN.regret))
    assert {field.name for field in fields(dp.Central)} >= {"epsilon"} and not math.isnan(RUN.regret[-1])
