"""Runs in a file: exact, complete or absent, and one line for what is not what was written."""

import csv
import io
import json
import os
import random
import stat
import sys
import zipfile

import numpy as np
import pytest

import dpucbvi as dp
from dpucbvi.archive import PER_EPISODE, Results, Unreadable, checksum, load, write
from dpucbvi.privacy.certificate import Certificate
from dpucbvi.trace import Trace


def trace(seed: int = 7, K: int = 3, policy: str | None = "actions") -> Trace:
    """Numbers that any rounding would change."""
    rng = np.random.default_rng(seed)
    policies = {"actions": rng.integers(2, size=(2, 2)), "probabilities": rng.dirichlet([1, 1], (2, 2))}
    return Trace(
        np.arange(1, K + 1),
        np.cumsum(rng.random(K) / 3),
        np.arange(K) // 2,
        np.sort(rng.integers(5, size=K)),
        np.full((2, 2, 2), K / 4),
        rng.random((2, 2, 2)) * 1e-17,
        {"lp_checked": 200, "lp_value_error": 1 / 3},
        Certificate("JDP", 1 / 3, np.inf, rho_replace_one=0.1),
        2.5,
        7.25,
        policy=policies.get(policy),
        about={"K": K, "seed": seed, "of": "ε"},
    )


def assert_same(found: Trace, wanted: Trace, declared: bool = True) -> None:
    """The certificate of a run that says nothing of its agent cannot be worked out again, which is said."""
    assert found.certificate.declared == declared == ("declared" in str(found.certificate))
    found = found._replace(certificate=found.certificate._replace(declared=False))
    for name, value in wanted._asdict().items():
        if isinstance(value, np.ndarray):
            assert getattr(found, name).dtype == value.dtype, name
            np.testing.assert_array_equal(getattr(found, name), value)
        else:
            assert getattr(found, name) == value and type(getattr(found, name)) is type(value), name


def test_a_run_comes_back_as_it_was(tmp_path):
    trace().save(tmp_path / "run.npz")
    assert_same(dp.load(tmp_path / "run.npz"), trace())


def test_runs_of_several_lengths_and_policies_come_back(tmp_path):
    made = (trace(1, 3), trace(2, 5, "probabilities"), trace(3, 4, None))
    dp.Runs((1, 2, 3), made).save(tmp_path / "runs.npz")
    found = dp.load(f"{tmp_path}/runs")  # without .npz
    assert isinstance(found, dp.Runs) and found.seeds == (1, 2, 3)
    for ours, theirs in zip(found, made, strict=True):
        assert_same(ours, theirs)


def test_what_was_run_comes_back(tmp_path):
    runs = dp.run(dp.riverswim(S=3, H=4), dp.DPUCBVI(), dp.Central(epsilon=1), K=9, seed=[4, 5])
    runs.save(tmp_path / "runs.npz")
    found = dp.load(tmp_path / "runs.npz")
    for ours, theirs in zip(found, runs, strict=True):
        assert_same(ours, theirs, declared=False)
    assert repr(found) == repr(runs)


def test_equal_runs_give_equal_bytes_and_only_their_owner_reads_them(tmp_path):
    for name in ("one.npz", "two.npz"):
        trace().save(tmp_path / name)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    assert stat.S_IMODE((tmp_path / "one.npz").stat().st_mode) == 0o600


# --- experiments ----------------------------------------------------------------------------------------------

IDS = ["0123456789abcdef", "fedcba9876543210"]
ARM = {"of": "a", "point": {}, "label": "A", "printed": None, "panel": None}


def experiment(folder, inside, **changes):
    """Two runs in one arm, the second in another too; those in `inside` are in the file, others beside it."""
    runs = dict(zip(IDS, (trace(0), trace(1)), strict=True))
    (folder / "runs").mkdir(exist_ok=True)
    for id in set(IDS) - set(inside):
        runs[id].save(folder / "runs" / f"{id}.npz")
    arms = {"a": {**ARM, "runs": IDS}, "b": {**ARM, "of": "b", "point": {"K": 3}, "runs": IDS[1:]}}
    write(folder / "mine.npz", {"ids": inside, "arms": arms, **changes}, [runs[id] for id in inside])
    return folder / "mine.npz"


@pytest.mark.parametrize("inside", [IDS, IDS[1:], []], ids=["all", "one", "none"])
def test_the_runs_of_an_experiment_are_in_its_file_or_beside_it(tmp_path, inside):
    found = dp.load(experiment(tmp_path, inside))
    assert isinstance(found, Results) and {key: runs.seeds for key, runs in found.items()} == {
        "a": (0, 1),
        "b": (1,),
    }
    assert_same(found["a"][1], trace(1))
    assert found["b"][0] is found["a"][1]


MALFORMED = {
    "a path for a run": ({"arms": {"a": {**ARM, "runs": ["../../x"]}}}, "'../../x' is no run"),
    "no such run": ({"arms": {"a": {**ARM, "runs": ["0" * 16]}}}, "no such file"),
    "no ids": ({"ids": None}, "cannot be read"),
}


@pytest.mark.parametrize(("changes", "message"), MALFORMED.values(), ids=MALFORMED)
def test_an_experiment_that_is_none_is_one_line(tmp_path, changes, message):
    with pytest.raises(dp.InputError, match=f"mine.npz: .*{message}") as error:
        load(experiment(tmp_path, IDS, **changes))
    assert "\n" not in str(error.value)


# --- damage ---------------------------------------------------------------------------------------------------


def a_link(path):
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


def zipped_again(path):
    """The same arrays, written by numpy."""
    arrays = dict(np.load(path))
    np.savez(path, **arrays)


DAMAGE = {
    "a link": a_link,
    "empty": lambda path: path.write_bytes(b""),
    "a pipe": lambda path: (path.unlink(), os.mkfifo(path)),
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:-40]),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"\0"),
    "zipped again": zipped_again,
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_is_one_line(tmp_path, damage):
    trace().save(tmp_path / "run.npz")
    damage(tmp_path / "run.npz")
    with pytest.raises(dp.InputError, match=r"run\.npz") as error:
        load(tmp_path / "run.npz")
    assert "\n" not in str(error.value)


def test_no_flipped_bit_is_accepted(tmp_path, faults):
    faults(600)
    path, rng = tmp_path / "run.npz", random.Random(0)
    trace().save(path)
    whole = path.read_bytes()
    for _ in range(600):
        at, bit = rng.randrange(len(whole)), rng.randrange(8)
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :])
        with pytest.raises(Unreadable):
            load(path)
    path.write_bytes(whole)
    load(path)


def forged(path, change):
    """The file with its members changed, and with the right checksum."""
    with zipfile.ZipFile(path) as archive:
        members = {member.filename: archive.read(member) for member in archive.infolist()}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in change(members):
            archive.writestr(name, content)
        archive.comment = b"0" * 64
    content = buffer.getvalue()[:-64]
    path.write_bytes(content + checksum(content))


def npy(array, allow_pickle=False):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=allow_pickle)
    return buffer.getvalue()


def arrays_with(**changes):
    """Other arrays in the place of its own; None leaves one out."""
    given = {f"{key}.npy": None if array is None else npy(array, True) for key, array in changes.items()}
    return lambda members: [(key, value) for key, value in {**members, **given}.items() if value is not None]


def about_with(text=None, part=None, **changes):
    """Another JSON, other facts of its run, or other parameters of a part of that."""

    def change(members):
        about = json.loads(np.load(io.BytesIO(members["about.npy"])).tobytes())
        facts = about["facts"][0]
        (facts["about"][part] if part else facts).update(changes)
        content = np.frombuffer(text or json.dumps(about).encode(), dtype=np.uint8)
        return {**members, "about.npy": npy(content)}.items()

    return change


def run_with(part, **parameters):
    """A run of DPUCBVI and Central that says that a part of it had other parameters."""
    return about_with(part=part, **parameters)


PAPERS = {"model": "JDP", "add_remove": 1.0, "replace_one": 2.0}
OF_A_RUN = {
    "a better ε": about_with(certificate={**PAPERS, "add_remove": 0.001}),
    "another model": about_with(certificate={**PAPERS, "model": "LDP"}),
    "exact noise": about_with(certificate={**PAPERS, "noise": "release"}),
    "a parameter that there is not": run_with("privatizer", secret=3),
    "a parameter of another kind": run_with("privatizer", epsilon="much"),
    "less regret than none": arrays_with(regret=np.array([-940.0, -1.0, 0.0])),
    "a regret that falls": arrays_with(regret=np.array([1.0, 0.5, 0.6])),
    "more regret than there is": arrays_with(regret=np.array([0.0, 4.0, 13.0])),
    "more changes than episodes": arrays_with(policy_changes=np.array([0, 1, 3])),
    "visits of nobody": arrays_with(N_sa=np.full(24, 0.25)),
    "an action that there is not": arrays_with(policy=np.full(12, 7.0)),
}


@pytest.mark.parametrize("change", OF_A_RUN.values(), ids=OF_A_RUN)
def test_a_run_made_up_with_its_checksum_must_be_that_of_its_settings(tmp_path, change):
    path, made = tmp_path / "run.npz", dp.run(dp.riverswim(S=3, H=4), dp.DPUCBVI(), dp.Central(1.0), K=3)
    made.save(path)
    forged(path, dict.items)
    assert_same(load(path), made, declared=False)
    forged(path, change)
    with pytest.raises(Unreadable, match=r"run\.npz: [^\n]+$"):
        load(path)


def test_nothing_that_a_file_names_is_imported(tmp_path):
    """A part that is not the package's is declared, whatever its name."""
    path = tmp_path / "run.npz"
    dp.run(dp.riverswim(S=3, H=4), dp.DPUCBVI(), dp.Central(1.0), K=3).save(path)
    for name in ("Mine", "os:system", "antigravity"):
        forged(path, run_with("privatizer", name=name))
        assert load(path).certificate == Certificate("JDP", 1.0, 2.0, declared=True)
    assert "antigravity" not in sys.modules


def test_an_interrupted_save_leaves_nothing(tmp_path, monkeypatch):
    def killed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("dpucbvi.archive.encode", killed)
    with pytest.raises(KeyboardInterrupt):
        trace().save(tmp_path / "run.npz")
    assert list(tmp_path.iterdir()) == []


FORMULAS = ("=1+1", "+1", "@SUM(A1)", "-x", "-2+3+cmd|' /C calc'!A0", "\t=1", "\r=1")
TEXTS = ("-", "-0.5", "ε = 1", "a=b", "")


@pytest.mark.parametrize("label", [*FORMULAS, *TEXTS])
def test_a_label_is_no_formula_of_a_spreadsheet(tmp_path, label):
    """An apostrophe stands before it; a negative number, and what no spreadsheet computes, stays as it is."""
    run = dp.run(dp.riverswim(H=2, S=2), dp.DPUCBVI(), dp.Central(1.0), K=2, engine="reference")
    arms = {"a": {"of": "a", "label": label, "point": {}, "runs": ["0" * 16]}}
    Results({"arms": arms}, {"a": dp.Runs((0,), (run,))}).to_csv(tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(newline="", encoding="utf-8") as file:
        cell = next(csv.DictReader(file))["label"]
    assert cell == (f"'{label}" if label in FORMULAS else label).replace("\r", " ")


MADE_UP = {
    "NaN": arrays_with(regret=np.array([0.0, np.nan, 1.0])),
    "other length": arrays_with(regret=np.zeros(2)),
    "other shape": arrays_with(Q_shape=np.array([[2, 2, 3]])),
    "pickle": arrays_with(regret=np.array([{}, {}, {}])),
    "no episodes": arrays_with(lengths=np.array([0]), **dict.fromkeys(PER_EPISODE, np.zeros(0))),
    "episodes of another K": arrays_with(episodes=np.array([1, 2, 9])),
    "Q infinite": arrays_with(Q=np.full(8, np.inf)),
    "more runs than facts": arrays_with(lengths=np.array([2, 1])),
    "array missing": arrays_with(Q=None),
    "array too many": arrays_with(R=np.zeros(3)),
    "member twice": lambda members: [*members.items(), ("regret.npy", b"")],
    "not UTF-8": about_with(b"\xff\xfe"),
    "deep JSON": about_with(b"[" * 100_000),
    "another version": about_with(b'{"format": 0, "facts": []}'),
    "no certificate": about_with(certificate=None),
    "ε a text": about_with(certificate={"model": "JDP", "add_remove": "1", "replace_one": 2.0}),
    "E is NaN": about_with(E=float("nan")),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("change", MADE_UP.values(), ids=MADE_UP)
def test_a_file_made_up_with_its_checksum_must_still_be_a_run(tmp_path, change):
    trace().save(tmp_path / "run.npz")
    forged(tmp_path / "run.npz", dict.items)
    load(tmp_path / "run.npz")
    forged(tmp_path / "run.npz", change)
    with pytest.raises(Unreadable, match=r"run\.npz: ") as error:
        load(tmp_path / "run.npz")
    assert "\n" not in str(error.value)
