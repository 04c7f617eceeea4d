"""Results on disk: exact, complete or absent, named by what was run."""

import json
from dataclasses import replace

import numpy as np
import pytest

from dpucbvi.errors import InputError
from dpucbvi.lab.assemble import assemble
from dpucbvi.lab.settings import (
    BonusSettings,
    ConfidenceSettings,
    EngineSettings,
    PostprocessSettings,
    RunSettings,
    canonical,
)
from dpucbvi.lab.store import ARRAYS, UNREADABLE, YOUNGER, Store, identity, run_id
from dpucbvi.protocol import Setup
from dpucbvi.trace import Trace

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
FILES = ("config.yaml", "provenance.json", "trace.npz")


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
}


def test_settings_younger_than_the_first_results_name_a_run_where_they_differ():
    """At the value that all runs had before, they are left out; any other value is part of the name."""
    assert {(group, key) for group, before in YOUNGER.items() for key in before} == {
        ("agent", "cap"),
        ("privatizer", "families"),
        ("privatizer", "every"),
        ("privatizer", "noise"),
        ("postprocess", "zero"),
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


def flip_a_bit_of_the_regret(path):
    data = bytearray(path.read_bytes())
    data[data.index(b"regret.npy") + 80] ^= 1  # past the file's header, in its compressed content
    path.write_bytes(bytes(data))


DAMAGE = {
    **{f"no {name}": lambda folder, name=name: (folder / name).unlink() for name in FILES},
    **{f"{name} empty": lambda folder, name=name: (folder / name).write_text("") for name in FILES},
    "trace truncated": lambda folder: truncate(folder / "trace.npz"),
    "trace damaged": lambda folder: flip_a_bit_of_the_regret(folder / "trace.npz"),
    "provenance truncated": lambda folder: truncate(folder / "provenance.json"),
    "settings edited": lambda folder: (folder / "config.yaml").write_text("K: 5\nseed: 4\n"),
    "settings not YAML": lambda folder: (folder / "config.yaml").write_text("K: [5"),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_run_is_detected_and_removed(store, damage):
    id = saved(store)
    assert store.has(id)
    damage(store.run_folder(id))
    with pytest.raises(UNREADABLE):
        store.load(id)
    assert not store.has(id)
    assert not store.run_folder(id).exists()
    saved(store)
    assert store.has(id)


def test_an_interrupted_save_leaves_no_run(store, monkeypatch):
    def killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(np, "savez_compressed", killed)
        with pytest.raises(KeyboardInterrupt):
            saved(store)
    id = run_id(named())
    assert not store.has(id)
    (store.folder / "runs" / f".{id}-1").mkdir()  # left by another process
    saved(store)
    assert [path.name for path in (store.folder / "runs").iterdir()] == [id]


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
    store.remove(id)
    with pytest.raises(InputError, match="run it again"):
        store.load_experiment("one")


def test_an_index_that_names_no_study_is_refused(store):
    """As those were that an earlier layout wrote: the runs are kept and only the index is written again."""
    id = saved(store)
    store.save_experiment("old", "regret", {}, {"a": {**ARM, "runs": [id]}})
    index = json.loads(store.index("old").read_text())
    del index["study"]
    store.index("old").write_text(json.dumps(index))
    with pytest.raises(InputError, match=r"old: .*run it again \('study'\)"):
        store.load_experiment("old")
    assert store.has(id)
