"""privatizer.noise=exact from the command line to the stored run, its provenance and its figure."""

from pathlib import Path

import pytest

from dpucbvi.errors import InputError
from experiments.lab.compose import config_of
from experiments.lab.experiment import experiment_from
from experiments.lab.runner import run_experiment
from experiments.lab.settings import canonical, run_settings
from experiments.lab.store import Store
from experiments.studies.shared.arms import noise_of

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = ("engine=reference", "K=20", "runs=1", "env.S=3", "env.H=3", "runtime.workers=1")


def test_a_release_says_so_in_config_certificate_and_caption(tmp_path):
    """Beside a simulation that differs in nothing else."""
    for name, noise in (("released", "exact"), ("simulated", "simulation")):
        overrides = (*SETTINGS, f"runtime.results={tmp_path}", f"name={name}", f"privatizer.noise={noise}")
        run_experiment(experiment_from(config_of(overrides), ROOT, ["regret"]))
    released, simulated = (Store(tmp_path).load_experiment(name) for name in ("released", "simulated"))
    one, other = released.arms[0].runs[0], simulated.arms[0].runs[0]
    assert [run.config["privatizer"]["noise"] for run in (one, other)] == ["exact", "simulation"]
    assert (one.certificate.noise, other.certificate.noise) == ("release", "simulation")
    assert noise_of(released) == "release: exact noise; ε pure"
    assert noise_of(simulated) == "seeded simulation; ε pure"
    both = released._replace(arms=[*released.arms, *simulated.arms])
    assert noise_of(both) == "seeded simulation; release: dp_ucbvi; ε pure"


def test_where_the_words_come_from_is_no_setting(cli, tmp_path):
    seeded = ("privatizer.noise=exact", "+privatizer.words=seeded")
    code, _, err = cli(*SETTINGS, f"runtime.results={tmp_path}", *seeded)
    assert code == 2 and err.startswith("error: privatizer.words: no such key")


def test_exact_noise_is_never_dropped_silently():
    """A setting of another privatizer is dropped; this one is a promise."""
    name = "experiments.studies.explain.earlier_code:Redrawn"
    settings = run_settings({"privatizer": {"name": name, "epsilon": 1.0, "noise": "exact"}})
    with pytest.raises(InputError, match=r"^privatizer\.noise: .* has no exact noise; it takes simulation$"):
        canonical(settings)
