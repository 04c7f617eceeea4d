"""A conf/ with two experiments that are over at once, for tests of the scripts that read conf/exp."""

import json
import shutil
from pathlib import Path

import pytest

from experiments.lab import compose
from experiments.lab.experiment import experiment_from
from experiments.lab.runner import run_experiment
from experiments.lab.store import Store
from experiments.studies import names
from experiments.studies.artifact import conf
from experiments.studies.shared.printed import printed_curves

ROOT = Path(__file__).resolve().parents[3]
TINY = """\
# @package _global_
# python experiments/run.py +exp=NAME     (about 1 min on 2 cores)
#
# Two runs that are over at once.
name: NAME
study: regret
K: 5
runs: 1
env: {S: 2, H: 2}
engine: {name: reference, lp_checks: null}
runtime: {workers: 1, progress: false}
arms:
  a: {label: A, panel: left, printed: jdp_eps1}
  b: {label: B, grid: {bonus.scale: [0.5]}}
"""


class House:
    """A folder with a conf/ of its own, in which `one` and `two` are all there is, results/ and paper/."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.exp = folder, folder / "conf" / "exp"
        self.results, self.store = folder / "results", Store(folder / "results")
        shutil.copytree(ROOT / "conf", folder / "conf", ignore=shutil.ignore_patterns("exp"))
        self.exp.mkdir()
        for name in ("one", "two"):
            (self.exp / f"{name}.yaml").write_text(TINY.replace("NAME", name))
        for module in (compose, conf):
            monkeypatch.setattr(module, "CONF", folder / "conf")
        compose.composed.cache_clear()  # of the house of another test

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.exp / f"{name}.yaml").read_text()
        assert old in text
        (self.exp / f"{name}.yaml").write_text(text.replace(old, new))
        compose.composed.cache_clear()

    def run(self, name: str) -> None:
        run_experiment(experiment_from(compose.composed(name), self.folder, names(), printed_curves()))

    @property
    def shipped(self) -> list[str]:
        manifest = self.folder / "paper" / "results" / "manifest.json"
        return sorted(json.loads(manifest.read_text())) if manifest.is_file() else []
