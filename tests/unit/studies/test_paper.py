"""experiments/paper.py: everything stored is drawn once and paper/ is written from it, in the right order."""

from pathlib import Path

import pytest
from made_up import grid, stored_arm, stored_experiment

from dpucbvi.errors import InputError
from experiments import paper
from experiments.lab.store import StoredExperiment
from experiments.studies.artifact.figures import read_captions, write_captions


def own(name: str, study: str) -> StoredExperiment:
    """An experiment of its user's."""
    return stored_experiment(study, [stored_arm("a", 1.0 * grid(50_000))])._replace(name=name)


def calibration(name: str, K: int = 50_000) -> StoredExperiment:
    points = [{"bonus.scale": bonus} for bonus in (0.1, 1.0)]
    settings = {"label": "PLAIN", "model": "non_private", "K": K}
    arms = [stored_arm(f"p{i}", 5.0 + i, point=point, **settings) for i, point in enumerate(points)]
    return stored_experiment("calibrate", arms)._replace(name=name)


@pytest.fixture
def press(monkeypatch, tmp_path, cli):
    """Run the script on what is said to have shipped and to be stored; gives (exit code, stdout, stderr).

    conf/exp has what has shipped and `also`; `other` are experiments whose settings are not those that shipped.
    """

    def call(shipped, *arguments: str, stored=None, also=(), other=()):
        stored = stored or {}

        class FakeStore:
            def __init__(self, folder: Path):
                self.folder, self.has = (
                    folder,
                    shipped if folder.name == "results" and "paper" in str(folder) else stored,
                )

            def experiments(self) -> list[str]:
                return sorted(self.has)

            def load_experiment(self, name: str) -> StoredExperiment:
                return self.has[name]

        def check(name, found):
            if name in other:
                raise InputError(f"{name}: has other settings than conf/exp/{name}.yaml")

        monkeypatch.setattr(paper, "Store", FakeStore)
        monkeypatch.setattr(paper, "Shipped", FakeStore)
        monkeypatch.setattr(paper, "experiments", lambda: [*shipped, *also])
        monkeypatch.setattr(paper, "check_index", check)
        for last in ("write_claims", "write_data"):
            monkeypatch.setattr(paper.Publisher, last, lambda self: [])
        folders = ["--results", str(tmp_path / "results"), "--paper", str(tmp_path / "paper")]
        return cli(*arguments, *folders, script="paper")

    return call


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_what_has_shipped_is_written_and_the_rest_only_drawn(press, tmp_path):
    code, out, err = press({"calibrate": calibration("calibrate")}, stored={"single": own("single", "regret")})
    assert (code, err) == (0, "")
    wanted = [
        *(f"paper/figures/calibrate.{kind}" for kind in ("pdf", "png")),
        "paper/figures/captions.md",
        "paper/results/calibrate.csv",
        *(f"results/figures/single.{kind}" for kind in ("pdf", "png")),
    ]
    assert files(tmp_path) == sorted([*wanted, "results/figures/single.md"])
    assert sorted(out.splitlines()) == sorted(str(tmp_path / name) for name in wanted)


def test_what_is_missing_is_said_and_ends_in_exit_code_1(press, tmp_path):
    """Nothing at all, and one that was run but has not shipped: it is drawn, but not into paper/."""
    code, out, err = press({}, also=["calibrate"])
    assert (code, out) == (1, "") and err.startswith(
        "error: calibrate: has not shipped, and is not stored; run"
    )
    code, _, err = press({}, also=["calibrate"], stored={"calibrate": calibration("calibrate")})
    assert code == 1 and "`make ship`" in err
    assert files(tmp_path) == [f"results/figures/calibrate.{kind}" for kind in ("md", "pdf", "png")]


def test_a_changed_experiment_of_the_same_study_leaves_paper_alone(press, tmp_path):
    changed = calibration("calibrate-1a2b3c")._replace(changed=("K=200",))
    code, *_ = press({}, stored={"calibrate-1a2b3c": changed})
    assert code == 0 and not (tmp_path / "paper").exists()
    assert files(tmp_path) == [f"results/figures/calibrate-1a2b3c.{kind}" for kind in ("md", "pdf", "png")]


def test_results_of_other_settings_than_the_config_has_are_not_written(press, tmp_path):
    stored = {name: calibration(name) for name in ("calibrate", "calibrate_table1")}
    code, _, err = press(stored, other=["calibrate"])
    assert (code, err) == (1, "error: calibrate: has other settings than conf/exp/calibrate.yaml\n")
    assert files(tmp_path / "paper") == ["results/calibrate_table1.csv"]


def test_a_failing_one_is_named_and_does_not_stop_the_others(press):
    twice = own("twice", "regret")
    broken = twice._replace(arms=[twice.arms[0]._replace(runs=[twice.arms[0].runs[0]] * 2)])
    stored = {"odd": own("odd", "pie"), "twice": broken, "zebra": own("zebra", "regret")}
    code, out, err = press({}, stored=stored)
    assert code == 1 and "zebra.png" in out and "AssertionError" in err
    assert "error: odd: study: 'pie' is not one of " in err
    assert err.endswith("error: twice: AssertionError: a: a seed twice\n")


def test_only_the_named_ones_are_made_and_a_name_must_be_known(press, tmp_path):
    stored = {"one": own("one", "regret"), "two": own("two", "regret")}
    code, _, err = press({}, "two", "three", stored=stored)
    assert (code, err.count("\n")) == (2, 1) and err.startswith("error: three: neither shipped nor stored in ")
    assert files(tmp_path) == [f"results/figures/two.{kind}" for kind in ("md", "pdf", "png")]


def test_captions_are_kept_and_those_of_other_figures_stay(press, tmp_path):
    folder = tmp_path / "paper" / "figures"
    write_captions(folder, {"zebra": "Stripes.", "calibrate": "Older words."})
    press({"calibrate": calibration("calibrate")})
    found = read_captions(folder)
    assert list(found) == ["calibrate", "zebra"] and found["zebra"] == "Stripes."
    assert found["calibrate"].startswith("How the factors on the bonus and on E were chosen.")
