"""Results on disk: exact, complete or absent, named by what was run."""

import os
import stat
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import dpucbvi
import dpucbvi as dp
from dpucbvi.archive import Unreadable, write
from dpucbvi.errors import InputError
from dpucbvi.protocol import Setup
from dpucbvi.simulate import described
from dpucbvi.sources import code
from dpucbvi.trace import Trace
from experiments.lab.assemble import assemble, stored_environment
from experiments.lab.settings import (
    AttackSettings,
    BonusSettings,
    ConfidenceSettings,
    EngineSettings,
    PostprocessSettings,
    RunSettings,
    canonical,
    run_settings,
)
from experiments.lab.store import ROOT, Store, identity, named as with_settings, provenance, run_id, settings_of

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


def trace(setup: Setup) -> Trace:
    """Numbers that any rounding would change."""
    rng = np.random.default_rng(7)
    return Trace(
        np.arange(1, 4),
        np.cumsum(rng.random(3) / 3),
        np.array([0, 1, 1]),
        np.array([0, 0, 2]),
        np.full((2, 2, 2), 3 / 4),
        rng.random((2, 2, 2)) * 1e-17,
        {"lp_checked": 200, "lp_value_error": 1 / 3},
        setup.certificate,
        setup.noise.scale,
        setup.noise.E,
        about=described(setup, 4),
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
def test_a_run_comes_back_with_its_settings_and_origin(store, settings):
    run, setup = store.load(saved(store, settings)), assemble(settings)
    for name, value in trace(setup)._asdict().items():
        if name != "about":
            np.testing.assert_array_equal(getattr(run.trace, name), value)
    assert run.config == named(settings) and run.certificate == setup.certificate
    assert run.provenance == {**ORIGIN, "seconds": 1.5}


def test_the_name_of_a_run_stays_what_it_is():
    """Results outlive the code that made them: another name, and nobody finds them."""
    assert run_id(named(RunSettings(), 0)) == "6330c3c12f61e5aa"
    assert run_id(named(PUBLIC, 4)) == "bf6a2f963682225d"


OTHERS = [
    *({"K": 4}, {"beta": 0.1}, {"trace_points": 10}, {"env": {**ENV, "seed": 1}}),
    {"agent": {"name": "dp_ucbvi", "cap": "steps_left"}},
    *({"privatizer": {**CENTRAL, "epsilon": 2.0}}, {"privatizer": {**CENTRAL, "name": "local"}}),
    *({"privatizer": {**CENTRAL, "families": "tuned"}}, {"privatizer": {**CENTRAL, "noise": "exact"}}),
    *({"postprocess": PostprocessSettings("cvxpy")}, {"postprocess": PostprocessSettings(known_support=True)}),
    *({"bonus": BonusSettings(0.5)}, {"confidence": ConfidenceSettings(scale=0.5)}),
    {"engine": EngineSettings("fast")},
]


def test_any_other_value_and_seed_is_another_name():
    names = {run_id(named(replace(SETTINGS, **other))) for other in [{}, *OTHERS]} | {run_id(named(seed=5))}
    assert len(names) == len(OTHERS) + 2


def test_an_mdp_from_a_file_is_named_by_its_content(tmp_path):
    path = tmp_path / "mdp.npz"
    settings = replace(SETTINGS, env={"name": "file", "path": str(path)})
    names = []
    for r in (0.5, 0.5, 0.6):
        np.savez(path, P=np.ones((2, 1, 1, 1)), r=np.full((2, 1, 1), r), initial=np.ones(1))
        names.append(run_id(named(settings)))
    assert names[0] == names[1] != names[2]


def forged(path, about=None, settings=SETTINGS, **changes):
    """The run of these settings with other numbers, and with the right checksum."""
    made = trace(assemble(settings))
    made = made._replace(about={**made.about, **(about or {})}, **changes)
    with_settings(made, named(settings), {"seconds": 1.5}).save(path)


NOTHING = dp.Certificate("none", np.inf, np.inf)
NO_REGRET = np.full(3, np.nan)
IN_ITS_PLACE = {
    "a pipe": lambda path: (path.unlink(), os.mkfifo(path)),
    "another run": lambda path: path.with_name(f"{run_id(named(seed=5))}.npz").replace(path),
    "a run of no settings": lambda path: trace(assemble(SETTINGS)).save(path),
    "another E": lambda path: forged(path, E=0.5),
    "another noise": lambda path: forged(path, noise_scale=0.5),
    "the certificate of other settings": lambda path: forged(
        path,
        certificate=dp.Certificate("JDP", 0.001, 0.002),
        about={"agent": {"name": "DPUCBVI"}, "privatizer": {"name": "Central", "epsilon": 0.001}},
    ),
    "no certificate": lambda path: forged(path, certificate=NOTHING),
    "findings of an audit": lambda path: forged(path, checks={"findings": []}),
    "no regret": lambda path: forged(path, regret=NO_REGRET),
    "an audit": lambda path: forged(path, regret=NO_REGRET, checks={"findings": []}),
    "two runs": lambda path: dp.Runs((0, 1), (trace(assemble(SETTINGS)),) * 2).save(path),
}


@pytest.mark.parametrize("put", IN_ITS_PLACE.values(), ids=IN_ITS_PLACE)
def test_a_file_that_is_not_the_run_is_noticed_and_replaced(store, put):
    id = saved(store)
    saved(store, seed=5)
    assert store.has(id)
    put(store.run_file(id))
    with pytest.raises(Unreadable, match=id) as error:
        store.load(id)
    assert not store.has(id) and "\n" not in str(error.value)
    assert os.path.lexists(store.run_file(id))  # until there is a better one
    saved(store)
    assert store.has(id)
    assert all(path.suffix == ".npz" for path in (store.folder / "runs").iterdir())


def test_an_audit_is_what_its_settings_say(store):
    """With findings, without regret; and of a privatizer that is broken on purpose nothing is certified."""
    audit = {"engine": EngineSettings(), "attack": AttackSettings("released", 100, "ten_percent")}
    settings = replace(SETTINGS, **audit)
    file = store.run_file(run_id(named(settings)))
    file.parent.mkdir(parents=True)
    right = {"regret": NO_REGRET, "checks": {"findings": []}, "certificate": NOTHING}
    forged(file, settings=settings, **right)
    store.load(file.stem)
    for key in right:
        forged(file, settings=settings, **{name: right[name] for name in right if name != key})
        with pytest.raises(Unreadable, match="certificate" if key == "certificate" else "no audit"):
            store.load(file.stem)


@pytest.mark.parametrize("group", ["env", "agent", "privatizer"])
def test_nothing_that_a_stored_run_names_is_imported(store, group):
    """Its certificate is then what was declared, and says so; it cannot be run again from the file."""
    tree = named()
    tree[group]["name"] = "antigravity:Mine"
    store.save(tree, trace(assemble(SETTINGS)), 1.5, ORIGIN)
    run = store.load(run_id(tree))
    assert run.certificate == assemble(SETTINGS).certificate._replace(declared=True)
    with pytest.raises(InputError, match="is not imported"):
        settings_of(run.config)
    assert stored_environment({"name": "antigravity:river"}) is None
    assert stored_environment({"name": "gymnasium", "id": "antigravity:River-v0", "H": 3}) is None
    assert "antigravity" not in sys.modules


def test_an_mdp_from_elsewhere_is_not_opened_and_its_certificate_is_recomputed(store, tmp_path):
    path = tmp_path / "mdp.npz"
    np.savez(path, P=np.full((2, 2, 2, 2), 0.5), r=np.full((2, 2, 2), 0.5), initial=np.ones(2) / 2)
    settings = replace(SETTINGS, env={"name": "file", "path": str(path)})
    id = saved(store, settings)
    path.unlink()
    assert store.load(id).certificate == dp.Certificate("JDP", 1.0, 2.0)
    assert store.load(id).trace.E == assemble(SETTINGS).noise.E


def test_only_the_owner_can_read_true_counts(store):
    assert stat.S_IMODE(store.run_file(saved(store)).stat().st_mode) == 0o600


ARM = {"of": "a", "point": {}, "label": "A", "printed": None, "panel": None}


def test_an_experiment_is_its_arms_in_order(store):
    ids = [saved(store, seed=seed) for seed in (4, 5)]
    arms = {
        "b": {**ARM, "label": "B", "printed": "jdp_eps1", "runs": ids},
        "a": {**ARM, "label": "A", "runs": ids[:1]},
    }
    store.save_experiment("both", "regret", arms)
    assert store.experiments() == ["both"]
    experiment = store.load_experiment("both")
    found = [(arm.key, arm.label, arm.printed, len(arm.runs)) for arm in experiment.arms]
    assert found == [("b", "B", "jdp_eps1", 2), ("a", "A", None, 1)]
    assert [run.config["seed"] for run in experiment.arms[0].runs] == [4, 5]
    assert (experiment.name, experiment.study) == ("both", "regret")


def test_an_incomplete_experiment_is_refused(store):
    with pytest.raises(InputError, match="nowhere"):
        store.load_experiment("nowhere")
    id = saved(store)
    store.save_experiment("one", "regret", {"a": {**ARM, "runs": [id]}})
    store.run_file(id).unlink()
    with pytest.raises(InputError, match="run it again"):
        store.load_experiment("one")


@pytest.mark.parametrize("content", [b"", b"PK" + bytes(100)])
def test_a_file_that_is_no_experiment_is_one_line(store, content):
    store.folder.mkdir()
    store.file("one").write_bytes(content)
    with pytest.raises(InputError, match=r"^one: not \(completely\) stored[^\n]*$"):
        store.load_experiment("one")


@pytest.mark.parametrize("name", ["../one", "", "a/b", "/etc/passwd"])
def test_no_name_leads_out_of_the_folder(store, name):
    with pytest.raises(InputError, match="it must be letters"):
        store.load_experiment(name)


@pytest.mark.parametrize("families", ["paper", "tuned"])
def test_an_identity_gives_the_settings_back_that_made_it(families):
    """Whatever the default of the part that takes it."""
    privatizer = {"name": "batches", "epsilon": 1.0, "families": families}
    made = canonical(run_settings({"privatizer": privatizer, "postprocess": {"name": "closed_form"}}))
    tree = identity(made, assemble(made).mdp, 3)
    assert tree["privatizer"]["families"] == families
    assert canonical(settings_of(tree)) == made


# --- which code a result is said to come from -----------------------------------------------------------------


def test_provenance_says_code_packages_and_machine():
    told = provenance()
    assert told["code"] == code()
    assert set(told["versions"]) >= {"python", "numpy", "scipy", "numba", "cvxpy"}
    assert told["versions"]["dpucbvi"] == dpucbvi.__version__
    assert set(told["platform"]) == {"system", "machine"}
    if (ROOT / ".git").exists():
        head = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, text=True)
        assert told["commit"] == head.stdout.strip() and told["dirty"] in (True, False)
    else:
        assert told["commit"] is None and told["dirty"] is None


INDEXES = {
    "no study": (lambda about: about.pop("study"), "'study'"),
    "another name": (lambda about: about.update(name="../two"), "is another file"),
    "an arm too little": (lambda about: about["arms"]["a"].pop("of"), "of"),
}


@pytest.mark.parametrize(("change", "message"), INDEXES.values(), ids=INDEXES)
def test_an_experiment_that_is_none_is_refused(store, change, message):
    about = {"name": "one", "study": "regret", "changed": [], "ids": []}
    about["arms"] = {"a": {**ARM, "runs": [saved(store)]}}
    write(store.file("one"), about, [])
    store.load_experiment("one")
    change(about)
    write(store.file("one"), about, [])
    with pytest.raises(InputError, match=rf"^one: .*run it again \(.*{message}"):
        store.load_experiment("one")
