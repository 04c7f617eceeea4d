"""Results on disk: exact, complete or absent, named by what was run."""

import json
from dataclasses import replace

import numpy as np
import pytest

from dpucbvi.config import (
    AgentConfig,
    ConfidenceConfig,
    EngineConfig,
    EnvConfig,
    PostprocessConfig,
    PrivatizerConfig,
    RunConfig,
)
from dpucbvi.errors import InputError
from dpucbvi.factory import set_up
from dpucbvi.store import UNREADABLE, Store, identity, run_id
from dpucbvi.trace import Trace

CONFIG = RunConfig(env=EnvConfig("random", S=2, A=2, H=2), engine=EngineConfig("reference"), K=3, beta=1e-5)
PUBLIC = replace(
    CONFIG,
    agent=AgentConfig("ucbvi_bf"),
    privatizer=PrivatizerConfig("non_private"),
    postprocess=PostprocessConfig("none"),
)
ORIGIN = {"commit": "abc", "dirty": False}
FILES = ("config.yaml", "provenance.json", "trace.npz")


def trace() -> Trace:
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
    )


def saved(store: Store, config: RunConfig = CONFIG, seed: int = 4) -> str:
    setup = set_up(config)
    store.save(setup, seed, trace(), 1.5, ORIGIN)
    return run_id(identity(setup, seed))


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results")


@pytest.mark.parametrize("config", [CONFIG, PUBLIC], ids=["private", "public"])
def test_round_trip_is_exact(store, config):
    run, setup = store.load(saved(store, config)), set_up(config)
    for name, value in trace()._asdict().items():
        loaded = getattr(run.trace, name)
        np.testing.assert_array_equal(loaded, value)
        if name != "checks":
            assert loaded.dtype == value.dtype
    assert run.config == identity(setup, 4)
    assert run.certificate == setup.certificate
    assert {key: run.provenance[key] for key in ("seed", "seconds", "E", "noise_scale", "commit", "dirty")} == {
        "seed": 4,
        "seconds": 1.5,
        "E": setup.E,
        "noise_scale": setup.noise_scale,
        **ORIGIN,
    }
    assert set(run.provenance["streams"]) == {"environment", "privacy", "audit"}


def test_the_json_is_strict(store):
    text = (store.run_folder(saved(store, PUBLIC)) / "provenance.json").read_text()

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    json.loads(text, parse_constant=refuse)


DIFFERENT = {
    "K": replace(CONFIG, K=4),
    "beta": replace(CONFIG, beta=0.1),
    "trace_points": replace(CONFIG, trace_points=10),
    "env": replace(CONFIG, env=replace(CONFIG.env, seed=1)),
    "pooled": replace(CONFIG, env=EnvConfig("riverswim", S=2, H=2), agent=AgentConfig(pooled=True)),
    "epsilon": replace(CONFIG, privatizer=PrivatizerConfig(epsilon=2.0)),
    "model": replace(CONFIG, privatizer=PrivatizerConfig("local")),
    "sensitivity": replace(CONFIG, privatizer=PrivatizerConfig(sensitivity="replace_one")),
    "postprocess": replace(CONFIG, postprocess=PostprocessConfig("cvxpy")),
    "confidence": replace(CONFIG, confidence=ConfidenceConfig("printed")),
    "confidence.scale": replace(CONFIG, confidence=ConfidenceConfig(scale=0.5)),
    "engine": replace(CONFIG, engine=EngineConfig("fast")),
}


def test_the_name_tells_settings_and_seeds_apart():
    names = {run_id(identity(set_up(config), 0)) for config in [CONFIG, *DIFFERENT.values()]}
    names.add(run_id(identity(set_up(CONFIG), 1)))
    assert len(names) == len(DIFFERENT) + 2


def test_settings_that_are_not_read_do_not_change_the_name():
    same = replace(
        PUBLIC, privatizer=PrivatizerConfig("non_private", epsilon=9.0), confidence=ConfidenceConfig(scale=2.0)
    )
    assert run_id(identity(set_up(same), 0)) == run_id(identity(set_up(PUBLIC), 0))


def test_an_mdp_from_a_file_is_named_by_its_content(tmp_path):
    path = tmp_path / "mdp.npz"
    config = replace(CONFIG, env=EnvConfig("file", path=str(path)))
    names = []
    for r in (0.5, 0.5, 0.6):
        np.savez(path, P=np.ones((2, 1, 1, 1)), r=np.full((2, 1, 1), r), initial=np.ones(1))
        names.append(run_id(identity(set_up(config), 0)))
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
    id = run_id(identity(set_up(CONFIG), 4))
    assert not store.has(id)
    (store.folder / "runs" / f".{id}-1").mkdir()  # left by another process
    saved(store)
    assert [path.name for path in (store.folder / "runs").iterdir()] == [id]


def test_saving_drops_the_checkpoint(store):
    checkpoint = store.checkpoint(run_id(identity(set_up(CONFIG), 4)))
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
    store.save_experiment("both", {"kind": "regret"}, arms)
    assert store.experiments() == ["both"]
    experiment = store.load_experiment("both")
    assert [(arm.key, arm.label, arm.printed, len(arm.runs)) for arm in experiment.arms] == [
        ("b", "B", "jdp_eps1", 2),
        ("a", "A", None, 1),
    ]
    assert [run.provenance["seed"] for run in experiment.arms[0].runs] == [4, 5]
    assert experiment.figure == {"kind": "regret"}


def test_an_incomplete_experiment_is_refused(store):
    with pytest.raises(InputError, match="nowhere"):
        store.load_experiment("nowhere")
    id = saved(store)
    store.save_experiment("one", {}, {"a": {**ARM, "runs": [id]}})
    store.remove(id)
    with pytest.raises(InputError, match="run it again"):
        store.load_experiment("one")
