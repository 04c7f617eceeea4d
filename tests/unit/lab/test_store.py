"""Results on disk: exact, complete or absent, named by what was run."""

import io
import json
import os
import random
import stat
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from dpucbvi.errors import InputError
from dpucbvi.protocol import Setup
from dpucbvi.trace import Trace
from experiments.lab.assemble import assemble
from experiments.lab.run_files import ARRAYS, Missing, Unreadable, _sums, checksum
from experiments.lab.settings import (
    BonusSettings,
    ConfidenceSettings,
    EngineSettings,
    PostprocessSettings,
    RunSettings,
    canonical,
    run_settings,
)
from experiments.lab.store import YOUNGER, Store, canonical_json, identity, run_id, settings_of

ENV = {"name": "random", "S": 2, "A": 2, "H": 2}
CENTRAL = {"name": "central", "epsilon": 1.0}
SETTINGS = RunSettings(env=ENV, privatizer=CENTRAL, engine=EngineSettings("reference"), K=3, beta=1e-5)
PUBLIC = replace(
    SETTINGS,
    agent={"name": "ucbvi_bf"},
    privatizer={"name": "non_private"},
    postprocess=PostprocessSettings("none"),
)
ORIGIN = {"commit": "abc", "dirty": False}
FILES = ("config.yaml", "provenance.json", "trace.npz", "SHA256SUMS")


def trace(setup: Setup) -> Trace:
    """Numbers that any rounding would change."""
    rng = np.random.default_rng(7)
    return Trace(
        np.arange(1, 4),
        np.cumsum(rng.random(3) / 3),
        np.array([0, 1, 1]),
        np.array([0, 0, 2]),
        rng.random((2, 2, 2)),
        rng.random((2, 2, 2)) * 1e-17,
        {"lp_checked": 200, "lp_value_error": 1 / 3},
        setup.certificate,
        setup.noise.scale,
        setup.noise.E,
    )


def named(settings: RunSettings = SETTINGS, seed: int = 4) -> dict:
    """The identity of a run, as the runner has it."""
    return identity(canonical(settings), assemble(settings).mdp, seed)


def saved(store: Store, settings: RunSettings = SETTINGS, seed: int = 4) -> str:
    tree = named(settings, seed)
    store.save(tree, trace(assemble(settings)), 1.5, ORIGIN)
    return run_id(tree)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results")


@pytest.mark.parametrize("settings", [SETTINGS, PUBLIC], ids=["private", "public"])
def test_round_trip_is_exact(store, settings):
    run, setup = store.load(saved(store, settings)), assemble(settings)
    for name, value in trace(setup)._asdict().items():
        loaded = getattr(run.trace, name)
        np.testing.assert_array_equal(loaded, value)
        if name in ARRAYS:
            assert loaded.dtype == value.dtype
        else:
            assert type(loaded) is type(value)
    assert run.config == named(settings)
    assert run.certificate == setup.certificate
    assert {key: run.provenance[key] for key in ("seed", "seconds", "E", "noise_scale", "commit", "dirty")} == {
        "seed": 4,
        "seconds": 1.5,
        "E": setup.noise.E,
        "noise_scale": setup.noise.scale,
        **ORIGIN,
    }
    assert set(run.provenance["streams"]) == {"environment", "privacy", "audit"}


def test_the_json_is_strict(store):
    text = (store.run_folder(saved(store, PUBLIC)) / "provenance.json").read_text()

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    json.loads(text, parse_constant=refuse)


DIFFERENT = {
    "K": replace(SETTINGS, K=4),
    "beta": replace(SETTINGS, beta=0.1),
    "trace_points": replace(SETTINGS, trace_points=10),
    "env": replace(SETTINGS, env={**ENV, "seed": 1}),
    "pooled": replace(
        SETTINGS, env={"name": "riverswim", "S": 2, "H": 2}, agent={"name": "dp_ucbvi", "pooled": True}
    ),
    "epsilon": replace(SETTINGS, privatizer={**CENTRAL, "epsilon": 2.0}),
    "model": replace(SETTINGS, privatizer={**CENTRAL, "name": "local"}),
    "sensitivity": replace(SETTINGS, privatizer={**CENTRAL, "sensitivity": "replace_one"}),
    "postprocess": replace(SETTINGS, postprocess=PostprocessSettings("cvxpy")),
    "bonus": replace(SETTINGS, bonus=BonusSettings(0.5)),
    "confidence": replace(SETTINGS, confidence=ConfidenceSettings("printed")),
    "confidence.scale": replace(SETTINGS, confidence=ConfidenceSettings(scale=0.5)),
    "engine": replace(SETTINGS, engine=EngineSettings("fast")),
}


def test_the_name_tells_settings_and_seeds_apart():
    names = {run_id(named(settings, 0)) for settings in [SETTINGS, *DIFFERENT.values()]}
    names.add(run_id(named(SETTINGS, 1)))
    assert len(names) == len(DIFFERENT) + 2


def test_the_name_of_a_run_is_the_one_it_always_had():
    """Results outlive the code that made them. These were stored before the settings moved into the lab."""
    assert run_id(named(RunSettings(), 0)) == "2a448f114edc38d3"
    assert run_id(named(PUBLIC, 4)) == "7b9ac939f8bf3627"


YOUNGER_SETTINGS = {
    "cap": replace(SETTINGS, agent={"name": "dp_ucbvi", "cap": "steps_left"}),
    "families": replace(SETTINGS, privatizer={**CENTRAL, "families": "tuned"}),
    "every": replace(SETTINGS, privatizer={**CENTRAL, "every": 2}),
    "noise": replace(SETTINGS, privatizer={**CENTRAL, "noise": "exact"}),
    "zero": replace(SETTINGS, postprocess=PostprocessSettings("closed_form", 2.0)),
    "known_support": replace(SETTINGS, postprocess=PostprocessSettings(known_support=True)),
}


def test_settings_younger_than_the_first_results_name_a_run_where_they_differ():
    """At the value that all runs had before, they are left out; any other value is part of the name."""
    assert {(group, key) for group, before in YOUNGER.items() for key in before} == {
        ("agent", "cap"),
        ("agent", "minimum"),
        ("privatizer", "families"),
        ("privatizer", "every"),
        ("privatizer", "noise"),
        ("privatizer", "factorisation"),
        ("postprocess", "zero"),
        ("postprocess", "known_rewards"),
        ("postprocess", "known_support"),
    }
    assert named()["agent"] == {"name": "dp_ucbvi", "pooled": False}
    assert named()["privatizer"] == {**CENTRAL, "sensitivity": "paper"}
    assert named()["postprocess"] == {"name": "closed_form"}
    names = {run_id(named(settings)) for settings in (SETTINGS, *YOUNGER_SETTINGS.values())}
    assert len(names) == 1 + len(YOUNGER_SETTINGS)


def test_a_privatizer_whose_own_default_is_another_says_so():
    """Left out always means the old value, never a default that differs from class to class."""
    tuned = replace(SETTINGS, privatizer={"name": "honaker", "epsilon": 1.0})
    assert named(tuned)["privatizer"]["families"] == "tuned"
    paper = replace(SETTINGS, privatizer={"name": "honaker", "epsilon": 1.0, "families": "paper"})
    assert "families" not in named(paper)["privatizer"] and run_id(named(paper)) != run_id(named(tuned))


def test_settings_that_are_not_read_do_not_change_the_name():
    same = replace(
        PUBLIC, privatizer={"name": "non_private", "epsilon": 9.0}, confidence=ConfidenceSettings(scale=2.0)
    )
    assert run_id(named(same)) == run_id(named(PUBLIC))


def test_an_mdp_from_a_file_is_named_by_its_content(tmp_path):
    path = tmp_path / "mdp.npz"
    settings = replace(SETTINGS, env={"name": "file", "path": str(path)})
    names = []
    for r in (0.5, 0.5, 0.6):
        np.savez(path, P=np.ones((2, 1, 1, 1)), r=np.full((2, 1, 1), r), initial=np.ones(1))
        names.append(run_id(named(settings)))
    assert names[0] == names[1] != names[2]


def truncate(path):
    path.write_bytes(path.read_bytes()[:-40])


def zipped_again(path):
    """The same arrays, stored without compression."""
    arrays = dict(np.load(path))
    np.savez(path, **arrays)


def certify_less(path):
    path.write_text(path.read_text().replace('"add_remove": 1.0', '"add_remove": 0.5'))


def a_pipe(path):
    path.unlink()
    os.mkfifo(path)


def a_link(path):
    moved = path.parent.parent / "elsewhere"
    os.replace(path, moved)
    path.symlink_to(moved)


def a_folder(path):
    path.unlink()
    path.mkdir()


IN_PLACE_OF_A_FILE = {"a pipe": a_pipe, "a link": a_link, "a folder": a_folder, "nothing": lambda p: p.unlink()}
DAMAGE = {
    **{
        f"{what} for {name}": lambda folder, name=name, put=put: put(folder / name)
        for name in FILES
        for what, put in IN_PLACE_OF_A_FILE.items()
    },
    **{f"{name} empty": lambda folder, name=name: (folder / name).write_text("") for name in FILES},
    **{f"{name} truncated": lambda folder, name=name: truncate(folder / name) for name in FILES},
    "trace zipped again": lambda folder: zipped_again(folder / "trace.npz"),
    "certificate edited": lambda folder: certify_less(folder / "provenance.json"),
    "settings edited": lambda folder: (folder / "config.yaml").write_text("K: 5\nseed: 4\n"),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_run_is_noticed_and_replaced(store, damage):
    id = saved(store)
    assert store.has(id)
    damage(store.run_folder(id))
    with pytest.raises(Unreadable, match=id):
        store.load(id)
    assert not store.has(id)
    assert store.run_folder(id).exists()  # until there is a better one
    saved(store)
    assert store.has(id)
    assert {path.name for path in (store.folder / "runs").iterdir()} - {"elsewhere"} == {id}


@pytest.mark.parametrize(
    "in_its_place", [lambda p: p.write_text("x"), os.mkfifo, lambda p: p.symlink_to("/tmp")]
)
def test_anything_in_a_runs_place_is_replaced(store, in_its_place):
    id = run_id(named())
    store.run_folder(id).parent.mkdir(parents=True)
    in_its_place(store.run_folder(id))
    with pytest.raises(Unreadable, match="not a folder"):
        store.load(id)
    saved(store)
    assert store.has(id)


def test_no_flipped_bit_is_accepted(store, faults):
    """All files, 150 bits of each."""
    faults(150 * len(FILES))
    id, rng = saved(store), random.Random(0)
    for name in FILES:
        path = store.run_folder(id) / name
        whole = path.read_bytes()
        for _ in range(150):
            at, bit = rng.randrange(len(whole)), rng.randrange(8)
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :])
            assert not store.has(id), (name, at, bit)
        path.write_bytes(whole)
    assert store.has(id)


def arrays_with(**changes):
    """A trace.npz with other arrays in the place of its own; None leaves one out."""

    def change(content):
        arrays = {**dict(np.load(io.BytesIO(content))), **changes}
        buffer = io.BytesIO()
        np.savez(buffer, **{key: array for key, array in arrays.items() if array is not None})
        return buffer.getvalue()

    return change


def provenance_with(**changes):
    return lambda content: json.dumps({**json.loads(content), **changes}).encode()


def twice(content):
    """A zip with a second member of the same name."""
    buffer = io.BytesIO(content)
    with pytest.warns(UserWarning), zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr("regret.npy", b"")
    return buffer.getvalue()


MADE_UP = {
    "NaN": ("trace.npz", arrays_with(regret=np.array([0.0, np.nan, 1.0]))),
    "infinite Q": ("trace.npz", arrays_with(Q=np.full((2, 2, 2), np.inf))),
    "other length": ("trace.npz", arrays_with(regret=np.zeros(2))),
    "other shape": ("trace.npz", arrays_with(Q=np.zeros((2, 2, 3)))),
    "too few axes": ("trace.npz", arrays_with(Q=np.zeros(8), N_sa=np.zeros(8))),
    "other kind": ("trace.npz", arrays_with(regret=np.array(["a", "b", "c"]))),
    "pickle": ("trace.npz", arrays_with(regret=np.array([{}, {}, {}]))),
    "no episodes": ("trace.npz", arrays_with(**{k: np.zeros(0, int) for k in ("episodes", "fallbacks")})),
    "episodes of another K": ("trace.npz", arrays_with(episodes=np.array([1, 2, 9]))),
    "episodes backwards": ("trace.npz", arrays_with(episodes=np.array([2, 1, 3]))),
    "array missing": ("trace.npz", arrays_with(Q=None)),
    "array too many": ("trace.npz", arrays_with(R=np.zeros(3))),
    "member twice": ("trace.npz", twice),
    "no zip": ("trace.npz", lambda _: b"PK not a zip"),
    "not UTF-8": ("config.yaml", lambda _: b"\xff\xfe"),
    "deep YAML": ("config.yaml", lambda _: b"[" * 100_000),
    "a list": ("config.yaml", lambda _: b"[1, 2]"),
    "deep JSON": ("provenance.json", lambda _: b"[" * 100_000),
    "JSON of a list": ("provenance.json", lambda _: b"[]"),
    "no certificate": ("provenance.json", provenance_with(certificate=None)),
    "a certificate of nothing": ("provenance.json", provenance_with(certificate={"model": "DP"})),
    "ε a text": (
        "provenance.json",
        provenance_with(certificate={"model": "JDP", "add_remove": "1", "replace_one": 2.0}),
    ),
    "E a text": ("provenance.json", provenance_with(E="large")),
    "E is NaN": ("provenance.json", provenance_with(E=float("nan"))),
}


@pytest.mark.parametrize(("name", "change"), MADE_UP.values(), ids=MADE_UP)
def test_a_file_made_up_with_its_checksum_must_still_be_a_run(store, name, change):
    id = saved(store)
    folder = store.run_folder(id)
    (folder / name).write_bytes(change((folder / name).read_bytes()))
    content = {file: (folder / file).read_bytes() for file in FILES[:3]}
    (folder / "SHA256SUMS").write_bytes(_sums(content))
    with pytest.raises(Unreadable, match=id):
        store.load(id)


def test_the_checksums_are_those_of_sha256sum(store):
    lines = (store.run_folder(saved(store)) / "SHA256SUMS").read_text().splitlines()
    assert [line.split("  ")[1] for line in lines] == list(FILES[:3])


def test_a_run_of_before_there_were_checksums_says_so(store):
    id = saved(store)
    (store.run_folder(id) / "SHA256SUMS").unlink()
    with pytest.raises(Unreadable, match="SHA256SUMS is missing"):
        store.load(id)


def test_a_run_that_is_not_there_is_missing(store):
    with pytest.raises(Missing):
        store.load(run_id(named()))


def test_only_the_owner_can_read_true_counts(store):
    folder = store.run_folder(saved(store))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_an_interrupted_save_leaves_no_run(store, monkeypatch):
    def killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(np, "savez_compressed", killed)
        with pytest.raises(KeyboardInterrupt):
            saved(store)
    assert list((store.folder / "runs").iterdir()) == []


def test_saving_drops_the_checkpoint(store):
    checkpoint = store.checkpoint(run_id(named()))
    checkpoint.parent.mkdir(parents=True)
    checkpoint.write_text("half a run")
    saved(store)
    assert not checkpoint.exists()


ARM = {"of": "a", "point": {}, "label": "A", "printed": None, "panel": None}


def test_an_experiment_is_its_arms_in_order(store):
    ids = [saved(store, seed=seed) for seed in (4, 5)]
    arms = {
        "b": {**ARM, "label": "B", "printed": "jdp_eps1", "runs": ids},
        "a": {**ARM, "label": "A", "runs": ids[:1]},
    }
    store.save_experiment("both", "regret", {"x": "log"}, arms)
    assert store.experiments() == ["both"]
    experiment = store.load_experiment("both")
    assert [(arm.key, arm.label, arm.printed, len(arm.runs)) for arm in experiment.arms] == [
        ("b", "B", "jdp_eps1", 2),
        ("a", "A", None, 1),
    ]
    assert [run.provenance["seed"] for run in experiment.arms[0].runs] == [4, 5]
    assert (experiment.name, experiment.study, experiment.figure) == ("both", "regret", {"x": "log"})


def test_an_incomplete_experiment_is_refused(store):
    with pytest.raises(InputError, match="nowhere"):
        store.load_experiment("nowhere")
    id = saved(store)
    store.save_experiment("one", "regret", {}, {"a": {**ARM, "runs": [id]}})
    (store.run_folder(id) / "trace.npz").unlink()
    with pytest.raises(InputError, match="run it again"):
        store.load_experiment("one")


def changed_index(store, change, sign=True):
    id = saved(store)
    store.save_experiment("one", "regret", {}, {"a": {**ARM, "runs": [id]}})
    index = json.loads(store.index("one").read_text())
    stated = index.pop("sha256")
    change(index)
    index["sha256"] = checksum(canonical_json(index)) if sign else stated
    store.index("one").write_text(json.dumps(index))
    return store


INDEXES = {
    "no study": (lambda index: index.pop("study"), "'study'"),
    "another name": (lambda index: index.update(name="../two"), r"its index is that of ../two"),
    "a path for a run": (lambda index: index["arms"]["a"].update(runs=["../../x"]), r"'../../x' is no run"),
    "a number for a run": (lambda index: index["arms"]["a"].update(runs=[5]), "5 is no run"),
    "an arm too little": (lambda index: index["arms"]["a"].pop("of"), "of"),
    "no arms": (lambda index: index.update(arms=3), ""),
}


@pytest.mark.parametrize(("change", "message"), INDEXES.values(), ids=INDEXES)
def test_an_index_that_is_none_is_refused(store, change, message):
    with pytest.raises(InputError, match=rf"one: .*run it again \(.*{message}"):
        changed_index(store, change).load_experiment("one")


def test_an_edited_index_is_refused(store):
    with pytest.raises(InputError, match="the checksum differs"):
        changed_index(store, lambda index: index["arms"]["a"].update(label="B"), sign=False).load_experiment(
            "one"
        )


@pytest.mark.parametrize("name", ["../one", "", "a/b", "/etc/passwd"])
def test_no_name_leads_out_of_the_folder(store, name):
    with pytest.raises(InputError, match="it must be letters"):
        store.load_experiment(name)


@pytest.mark.parametrize("families", ["paper", "tuned"])
def test_an_identity_gives_the_settings_back_that_made_it(families):
    """Batches has tuned families by default, and an identity without families means the paper's."""
    privatizer = {"name": "batches", "epsilon": 1.0, "families": families}
    made = canonical(run_settings({"privatizer": privatizer, "postprocess": {"name": "closed_form"}}))
    tree = identity(made, assemble(made).mdp, 3)
    assert ("families" in tree["privatizer"]) == (families == "tuned")
    assert canonical(settings_of(tree)) == made
