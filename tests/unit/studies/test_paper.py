"""experiments/paper.py: everything stored is drawn once and paper/ is written from it, in the right order."""

import importlib.util
import sys
from pathlib import Path

import pytest
from made_up import grid, stored_arm, stored_experiment
from PIL import Image

from dpucbvi.errors import InputError
from dpucbvi.lab.store import StoredExperiment

ROOT = Path(__file__).resolve().parents[3]
spec = importlib.util.spec_from_file_location("cli_paper", ROOT / "experiments" / "paper.py")
paper = importlib.util.module_from_spec(spec)
spec.loader.exec_module(paper)


def own(name: str, study: str) -> StoredExperiment:
    """An experiment of its user's."""
    return stored_experiment(study, [stored_arm("a", 1.0 * grid(50_000))])._replace(name=name)


def calibration(name: str, K: int = 50_000) -> StoredExperiment:
    points = [{"bonus.scale": bonus} for bonus in (0.1, 1.0)]
    settings = {"label": "PLAIN", "model": "non_private", "K": K}
    arms = [stored_arm(f"p{i}", 5.0 + i, point=point, **settings) for i, point in enumerate(points)]
    return stored_experiment("calibrate", arms)._replace(name=name, study=name)


@pytest.fixture
def press(monkeypatch, tmp_path, capsys):
    """Run the script on what is said to be stored; gives (exit code, stdout, stderr, the names loaded)."""

    def call(stored: dict[str, StoredExperiment], *arguments: str):
        loaded = []

        class FakeStore:
            def __init__(self, folder: Path):
                self.folder = folder

            def experiments(self) -> list[str]:
                return sorted(stored)

            def load_experiment(self, name: str) -> StoredExperiment:
                loaded.append(name)
                if name not in stored:
                    raise InputError(f"{name}: not (completely) stored in {self.folder}; run it again")
                return stored[name]

        monkeypatch.setattr(paper, "Store", FakeStore)
        folders = ["--results", str(tmp_path / "results"), "--paper", str(tmp_path / "paper")]
        monkeypatch.setattr(sys, "argv", ["paper.py", *arguments, *folders])
        try:
            paper.main()
            code = 0
        except SystemExit as stopped:
            code = stopped.code
        return code, *capsys.readouterr(), loaded

    return call


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_nothing_stored_is_said_in_one_line(press, tmp_path):
    code, out, err, _ = press({})
    assert (code, out, err) == (
        1,
        "",
        f"error: nothing is stored in {tmp_path}/results; run an experiment first\n",
    )


def test_what_is_kept_is_written_and_the_rest_only_drawn(press, tmp_path):
    stored = {"single": own("single", "regret"), "calibrate": calibration("calibrate")}
    code, out, err, loaded = press(stored)
    assert (code, err, sorted(loaded)) == (0, "", ["calibrate", "single"])
    wanted = [
        *("paper/figures/calibrate.png", "paper/results/calibrate.csv"),
        *(f"results/figures/{name}.{kind}" for name in ("calibrate", "single") for kind in ("pdf", "png")),
    ]
    assert files(tmp_path) == wanted
    assert sorted(out.splitlines()) == sorted(str(tmp_path / name) for name in wanted)


def test_the_kept_figure_is_the_drawn_one_with_a_palette(press, tmp_path):
    press({"calibrate": calibration("calibrate")})
    kept, drawn = (Image.open(tmp_path / f / "figures" / "calibrate.png") for f in ("paper", "results"))
    assert kept.mode == "P" and kept.size == drawn.size


def test_a_table_of_table1s_folder_keeps_no_figure(press, tmp_path):
    code, *_ = press({"calibrate_table1": calibration("calibrate_table1")})
    assert code == 0 and files(tmp_path / "paper") == ["tables/calibrate_table1.csv"]


def test_a_run_of_another_name_is_not_the_one_that_the_paper_quotes(press, tmp_path):
    code, *_ = press({"mine": calibration("mine")._replace(study="calibrate")})
    assert code == 0 and files(tmp_path) == ["results/figures/mine.pdf", "results/figures/mine.png"]


def test_a_failing_one_is_named_and_does_not_stop_the_others(press, tmp_path):
    stored = {
        "calibrate": calibration("calibrate", K=40_000),
        "calibrate_table1": calibration("calibrate_table1"),
        "odd": own("odd", "pie"),
    }
    code, _, err, _ = press(stored)
    assert code == 2 and len(err.splitlines()) == 2
    assert "error: calibrate: stored at another size than the paper's; run it again as it is\n" in err
    assert "error: odd: study: 'pie' is not accepted; it must be one of " in err
    assert files(tmp_path / "paper") == ["tables/calibrate_table1.csv"]


def test_a_mistake_in_a_study_is_shown_and_does_not_stop_the_others(press, tmp_path):
    twice = own("twice", "regret")
    broken = twice._replace(arms=[twice.arms[0]._replace(runs=[twice.arms[0].runs[0]] * 2)])
    code, out, err, _ = press({"twice": broken, "zebra": own("zebra", "regret")})
    assert code == 1 and "AssertionError" in err and err.endswith("error: twice: a: a seed twice\n")
    assert "zebra.png" in out


def test_only_the_named_ones_are_made_and_a_name_must_be_stored(press, tmp_path):
    stored = {"one": own("one", "regret"), "two": own("two", "regret")}
    code, _, err, loaded = press(stored, "two", "three")
    assert (code, sorted(loaded)) == (2, ["three", "two"])
    assert err.startswith("error: three: not (completely) stored in ") and len(err.splitlines()) == 1
    assert files(tmp_path) == ["results/figures/two.pdf", "results/figures/two.png"]


def test_a_study_comes_after_those_that_it_needs():
    order = paper.in_order(["table1", "riverswim", "single", "epsilon", "calibrate_environments"])
    assert sorted(order) == ["calibrate_environments", "epsilon", "riverswim", "single", "table1"]
    assert order.index("epsilon") < order.index("riverswim")
    assert order.index("calibrate_environments") < order.index("table1")
    assert paper.in_order(["table1"]) == ["table1"]


def test_a_report_is_handed_what_it_needs_if_it_is_stored(monkeypatch, press, tmp_path):
    seen = {}

    def report(experiment, folder, stored):
        seen.update({name: stored(name) for name in ("single", "epsilon")})
        return []

    study = paper.study
    entry = study("calibrate")._replace(report=report, keeps_figure=False)
    monkeypatch.setattr(paper, "study", lambda name: entry if name == "calibrate" else study(name))
    single = own("single", "regret")
    code, _, _, loaded = press({"calibrate": calibration("calibrate"), "single": single})
    assert code == 0 and seen["single"] is single and seen["epsilon"] is None
    assert sorted(loaded) == ["calibrate", "single"]  # each once
