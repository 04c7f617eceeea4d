"""Hundreds of malformed settings, MDPs and files: each is one line that names what is wrong.

What the command line itself gets wrong is in contract/test_cli.py. These cases begin one step later, with a
config that Hydra has composed, and are therefore cheap. Of arrays that are no MDP (unit/core/test_mdp.py) and
of files with bytes, types or shapes that are wrong (test_fuzz.py) here are those that neither meets.
"""

import io
import struct
import zipfile
from copy import deepcopy
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from omegaconf import OmegaConf

from dpucbvi.environments import ENVIRONMENTS, from_file
from experiments import studies
from experiments.lab.compose import config_of, is_bad_input, one_line
from experiments.lab.experiment import experiment_from
from experiments.studies.shared.printed import printed_curves

ROOT = Path(__file__).resolve().parents[2]

# --- settings -------------------------------------------------------------------------------------------------

TEXT, LIST, GROUP = "many", [1], {"a": 1}
NAN, INF = float("nan"), float("inf")
NO_NUMBER = (TEXT, True, None, LIST, GROUP)
NO_INTEGER = (*NO_NUMBER, 1.5)
NO_TEXT = (3, True, LIST, GROUP)
SETTINGS = {  # key: values that are not accepted
    "K": (*NO_INTEGER, 0, -5, 2**31, 1e20),
    "beta": (*NO_NUMBER, 0, 1, -0.1, 1.5, NAN, INF),
    "trace_points": (*NO_INTEGER, 0, -1),
    "runs": (*NO_INTEGER, 0, -1, 10**9),
    "seed": (*NO_INTEGER, -1),
    "name": (None, "", ".", "..", "a/b", "/etc/passwd", "é", "a b", "-x", "n" * 250, "a\nb", "a\0b", *NO_TEXT),
    "study": (None, "", "pie", "shared", "../regret", *NO_TEXT),
    "env": (None, 3, TEXT, LIST, {}, {"name": None}, {"name": 3}, {"name": "maze"}, {"name": ["riverswim"]}),
    "env.S": (*NO_INTEGER[:2], LIST, GROUP, 1.5, 0, 1, -3, 10**9, 10**18),
    "env.H": (*NO_INTEGER[:2], LIST, GROUP, 1.5, 0, -1, 10**12),
    "env.variant": ("nile", "", *NO_TEXT),
    "env.rewards": ("gauss", "", *NO_TEXT),
    "agent": (None, 3, TEXT, LIST, {}, {"name": None}, {"name": 3}, {"name": "dqn"}),
    "agent.pooled": (3, TEXT, LIST, GROUP),
    "agent.cap": ("V", "", *NO_TEXT),
    "privatizer": (None, 3, TEXT, LIST, {}, {"name": None}, {"name": 3}, {"name": "global"}),
    "privatizer.epsilon": (TEXT, True, LIST, GROUP, 0, -1, NAN, -INF, 1e-320, 1e-300, 1e-160),
    "privatizer.sensitivity": ("l2", "", *NO_TEXT),
    "privatizer.families": ("all", "", *NO_TEXT),
    "privatizer.noise": ("none", "", *NO_TEXT),
    "postprocess": (None, 3, TEXT, LIST, {"name": 3}, {"name": "lp"}),
    "postprocess.zero": (TEXT, True, LIST, -1, NAN, INF),
    "confidence": (None, 3, LIST, {"name": "hoped"}),
    "confidence.scale": (*NO_NUMBER, -1, NAN, INF),
    "bonus": (None, 3, LIST, TEXT),
    "bonus.scale": (*NO_NUMBER, -1, NAN, INF),
    "engine": (None, 3, LIST, {"name": "gpu"}),
    "engine.lp_checks": (*NO_INTEGER, -1),
    "runtime": (None, 3, LIST, TEXT),
    "runtime.workers": (*NO_INTEGER, 0, -2),
    "task": (None, "", "attack", *NO_TEXT),
    "attack": (3, TEXT, LIST, {"K": 3}),
    "runtime.results": (None, "", "  ", *NO_TEXT),
    "runtime.progress": (None, 1, TEXT, LIST),
    "runtime.name": (None, "", "cloud", *NO_TEXT),
    "arms": (3, TEXT, LIST, {"a": 3}, {"a": None}, {"a": {"printed": [1]}}, {"a": {"seed": 3}}, {5: {"K": 0}}),
    "arms.a.runs": (TEXT, True, LIST, 2.5, 0, -1, 10**9),
    "grid": (3, TEXT, LIST, {5: [1]}, {"K": 5}, {"K": []}, {"K": {"a": 1}}, {"runs": [1, 2]}),
}


@cache
def base():
    config = config_of([])
    OmegaConf.set_struct(config, False)
    return config


def told(call, case: object = "") -> str:
    """The one line that a user reads, whoever raised it."""
    try:
        call()
    except Exception as error:  # which kind is asserted next
        raised = error
    else:
        pytest.fail(f"{case!r} is accepted")
    assert is_bad_input(raised), (case, repr(raised))
    line = one_line(raised)
    assert line and "\n" not in line and len(line) < 600
    return line


@pytest.mark.parametrize("key", SETTINGS)
def test_a_bad_setting_is_named(key, tmp_path, faults):
    faults(len(SETTINGS[key]))
    for value in SETTINGS[key]:
        config = deepcopy(base())
        config.runtime.results = str(tmp_path / "results")
        OmegaConf.update(config, key, value, merge=False)
        line = told(lambda: experiment_from(config, ROOT, studies.names(), printed_curves()), value)  # noqa: B023
        assert key.rpartition(".")[2] in line or key.partition(".")[0] in line, value
        assert list(tmp_path.iterdir()) == [], value


# --- environments ---------------------------------------------------------------------------------------------

ENVIRONMENT_CASES = [  # the last parameter is the one that is named
    ("riverswim", {"S": 1}, "must be an integer >= 2"),
    ("riverswim", {"S": 2.5}, "must be an integer"),
    ("riverswim", {"variant": "strehl_littman", "S": 2}, "must be an integer >= 3"),
    ("riverswim", {"variant": "nile"}, "'nile' is not one of chowdhury_zhou, strehl_littman"),
    ("flipping_river", {"at": 20}, "must be an integer from 1 to 19"),
    ("alternating_river", {"every": 0}, "must be an integer from 1 to 19"),
    ("drifting_river", {"drift": 0.4}, "must be a number in (0, 0.35]"),
    ("hidden_shortcut", {"at": 20}, "must be an integer from 1 to 19"),
    ("chain", {"slip": 0.5}, "must be a number in [0, 0.5)"),
    ("six_arms", {"rewards": "gauss"}, "is not one of deterministic, bernoulli"),
    ("grid_world", {"rows": 0}, "must be an integer >= 1"),
    ("grid_world", {"slip": 1.1}, "must be a number in [0, 1]"),
    ("random", {"S": 0}, "must be an integer >= 1"),
    ("random", {"seed": -1}, "must be an integer >= 0"),
    ("garnet", {"S": 2, "branching": 3}, "must be an integer from 1 to 2"),
    ("hard_tree", {"depth": 0}, "must be an integer >= 1"),
    ("hard_tree", {"depth": 30, "H": 20}, "needs H >"),
    ("hard_tree", {"gap": 0.0}, "must be a number in (0, 0.5]"),
    ("file", {"path": "no.npz"}, "no file 'no.npz'; it must be an .npz with P, r and initial"),
    ("file", {"path": "a\0b"}, ""),
    ("gymnasium", {"H": 5, "id": "NoSuch-v0"}, "is no environment of gymnasium"),
    ("gymnasium", {"H": 5, "id": "no_such_module:Bar-v0"}, "is no environment of gymnasium"),
    ("gymnasium", {"H": 5, "id": 7}, "int is not accepted; it must be an id"),
    ("gymnasium", {"H": 5, "id": "Blackjack-v1"}, "has no transition table"),
]


@pytest.mark.parametrize(("name", "given", "why"), ENVIRONMENT_CASES)
def test_an_environment_that_cannot_be_made_is_one_line(name, given, why):
    line = told(lambda: ENVIRONMENTS[name](**given))
    assert line.startswith(f"{[*given][-1]}: ") and why in line


# --- MDPs and their files -------------------------------------------------------------------------------------

RIGHT = {"P": np.full((2, 2, 1, 2), 0.5), "r": np.full((2, 2, 1), 0.5), "initial": np.array([0.5, 0.5])}


def with_entry(key, value):
    array = RIGHT[key].copy()
    array.flat[0] = value
    return {**RIGHT, key: array}


MDPS = {
    **{f"{key} with {value}": with_entry(key, value) for key in RIGHT for value in (NAN, INF, -0.25, 1.5)},
    **{f"{key} a text": {**RIGHT, key: np.array("x")} for key in RIGHT},
    **{f"{key} complex": {**RIGHT, key: array.astype(complex) + 1j} for key, array in RIGHT.items()},
    **{f"{key} records": {**RIGHT, key: np.zeros(2, [("a", float)])} for key in RIGHT},
    **{f"{key} missing": {k: array for k, array in RIGHT.items() if k != key} for key in RIGHT},
    **{f"{key} objects": {**RIGHT, key: np.array([{}, None])} for key in RIGHT},
    "no states": {"P": np.zeros((2, 0, 1, 0)), "r": np.zeros((2, 0, 1)), "initial": np.zeros(0)},
    "no actions": {"P": np.zeros((2, 2, 0, 2)), "r": np.zeros((2, 2, 0)), "initial": RIGHT["initial"]},
}


@pytest.mark.parametrize("arrays", MDPS.values(), ids=MDPS)
@pytest.mark.filterwarnings("ignore")  # a cast that only warns is none
def test_a_file_with_no_mdp_in_it_is_one_line(arrays, tmp_path):
    np.savez(tmp_path / "mdp.npz", **arrays)
    told(lambda: from_file(str(tmp_path / "mdp.npz")))


def npy(array) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def zipped(members) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


WHOLE = {f"{key}.npy": npy(array) for key, array in RIGHT.items()}


def header(shape: str, kind: str = "<f8") -> bytes:
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


FILES = {
    "half": zipped(WHOLE)[:400],
    "a path for P": zipped({"../P.npy": WHOLE["P.npy"], "r.npy": WHOLE["r.npy"]}),
    "P cut off": zipped({**WHOLE, "P.npy": WHOLE["P.npy"][:100]}),
    "P of huge shape": zipped({**WHOLE, "P.npy": header("(1000000, 1000000, 1000000)") + bytes(8)}),
    "P a pickle": zipped({**WHOLE, "P.npy": header("(1,)", "|O") + b"cos\nabort\n(tR."}),
    "empty": b"",
}


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_a_malformed_npz_is_one_line(content, tmp_path):
    path = tmp_path / "mdp.npz"
    path.write_bytes(content)
    assert "mdp.npz' is not an .npz with P, r and initial" in told(lambda: from_file(str(path)))
