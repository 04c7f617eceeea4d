"""privatizer.noise=exact from the command line to the stored run, its provenance and its figure."""

from pathlib import Path

import pytest

from dpucbvi.errors import InputError
from experiments.lab.compose import config_of
from experiments.lab.experiment import experiment_from
from experiments.lab.runner import run_experiment
from experiments.lab.settings import canonical, run_settings
from experiments.lab.store import Store
from experiments.studies import draw
from experiments.studies.shared.arms import noise_of

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = ("engine=reference", "K=20", "runs=1", "env.S=3", "env.H=3", "runtime.workers=1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A release and a simulation that differ in nothing else."""
    folder = tmp_path_factory.mktemp("results")
    for name, noise in (("released", "exact"), ("simulated", "simulation")):
        overrides = (*SETTINGS, f"runtime.results={folder}", f"name={name}", f"privatizer.noise={noise}")
        run_experiment(experiment_from(config_of(overrides), ROOT, ["regret"]))
    return folder


def stored(folder, name):
    return Store(folder).load_experiment(name)


def test_a_release_says_so_in_config_and_certificate(folder):
    released, simulated = (stored(folder, name).arms[0].runs[0] for name in ("released", "simulated"))
    assert released.config["privatizer"]["noise"] == "exact"
    assert "noise" not in simulated.config["privatizer"]  # as in results that are older than the choice
    assert (released.certificate.noise, simulated.certificate.noise) == ("release", "simulation")


def test_figures_carry_it_and_are_drawn(folder, tmp_path):
    assert noise_of(stored(folder, "released")) == "release: exact noise; ε pure"
    assert noise_of(stored(folder, "simulated")) == "seeded simulation; ε pure"
    both = stored(folder, "released")
    both.arms.append(stored(folder, "simulated").arms[0])
    assert noise_of(both) == "seeded simulation; release: dp_ucbvi; ε pure"
    one = stored(folder, "released")
    assert all(path.stat().st_size > 0 for path in draw(one, tmp_path))


REFUSED = {
    "privatizer.noise=exakt": "privatizer.noise: exakt is not accepted; it must be one of simulation, exact",
    "+privatizer.words=seeded": "privatizer.words: no such key",
}


@pytest.mark.parametrize("override", REFUSED)
def test_what_cannot_be_is_refused_in_one_line(override, cli, tmp_path):
    code, _, err = cli(*SETTINGS, f"runtime.results={tmp_path}", "privatizer.noise=exact", override)
    assert code == 2
    assert err.startswith(f"error: {REFUSED[override]}") and err.count("\n") == 1


@pytest.mark.parametrize("name", ["Redrawn", "Shared"])
def test_exact_noise_is_never_dropped_silently(name):
    """A setting of another privatizer is dropped; this one is a promise."""
    name = f"experiments.studies.explain.earlier_code:{name}"
    settings = run_settings({"privatizer": {"name": name, "epsilon": 1.0, "noise": "exact"}})
    with pytest.raises(
        InputError, match=rf"^privatizer\.noise: {name} has no exact noise; it takes simulation$"
    ):
        canonical(settings)
    canonical(run_settings({"privatizer": {"name": name, "epsilon": 1.0, "noise": "simulation"}}))
