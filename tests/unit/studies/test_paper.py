"""experiments/paper.py: everything stored is drawn once and paper/ is written from it, in the right order."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from made_up import grid, stored_arm, stored_experiment
from PIL import Image

from dpucbvi.errors import InputError
from experiments import studies
from experiments.lab.store import StoredExperiment
from experiments.studies.artifact.figures import read_captions, write_captions

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
    return stored_experiment("calibrate", arms)._replace(name=name)


@pytest.fixture
def press(monkeypatch, tmp_path, capsys):
    """Run the script on what is said to have shipped and to be stored; gives (exit code, stdout, stderr).

    conf/exp has what has shipped and `also`; `other` are experiments whose settings are not those that shipped.
    """

    def call(shipped, *arguments: str, stored=None, also=(), other=(), workers=0):
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
        monkeypatch.setattr(paper.Publisher, "write_claims", lambda self: [])
        folders = ["--results", str(tmp_path / "results"), "--paper", str(tmp_path / "paper")]
        monkeypatch.setattr(sys, "argv", ["paper.py", *arguments, *folders, "--workers", str(workers)])
        with pytest.raises(SystemExit) as stopped:
            paper.main()
        return stopped.value.code, *capsys.readouterr()

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


def test_the_kept_figure_has_a_palette(press, tmp_path):
    press({"calibrate": calibration("calibrate")})
    with Image.open(tmp_path / "paper" / "figures" / "calibrate.png") as kept:
        assert kept.mode == "P"


def test_captions_are_kept_and_those_of_other_figures_stay(press, tmp_path):
    folder = tmp_path / "paper" / "figures"
    write_captions(folder, {"zebra": "Stripes.", "calibrate": "Older words."})
    press({"calibrate": calibration("calibrate")})
    found = read_captions(folder)
    assert list(found) == ["calibrate", "zebra"] and found["zebra"] == "Stripes."
    assert found["calibrate"].startswith("How the factors on the bonus and on E were chosen.")


@pytest.mark.slow
def test_other_processes_draw_the_same_files_and_a_mistake_in_one_costs_only_itself(press, tmp_path):
    # The study `privacy_for_free` cannot draw it.
    shipped = {
        "calibrate": calibration("calibrate"),
        "privacy_for_free": calibration("privacy_for_free")._replace(study="privacy_for_free"),
    }
    drawn = {}
    for workers in (0, 2):
        code, out, err = press(shipped, workers=workers)
        assert code == 1 and "error: privacy_for_free: " in err and err.count("error: ") == 1
        assert "figures/calibrate.png" in out and "privacy_for_free.png" not in out
        drawn[workers] = {name: (tmp_path / "paper" / name).read_bytes() for name in files(tmp_path / "paper")}
    assert drawn[0] == drawn[2] and len(drawn[0]) == 4


def test_only_the_experiment_with_the_studys_name_keeps_its_figure(press, tmp_path):
    code, *_ = press({"calibrate_table1": calibration("calibrate_table1")})
    assert code == 0 and files(tmp_path / "paper") == ["results/calibrate_table1.csv"]


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


def test_a_failing_one_is_named_and_does_not_stop_the_others(press, tmp_path):
    twice = own("twice", "regret")
    broken = twice._replace(arms=[twice.arms[0]._replace(runs=[twice.arms[0].runs[0]] * 2)])
    stored = {"odd": own("odd", "pie"), "twice": broken, "zebra": own("zebra", "regret")}
    code, out, err = press({}, stored=stored)
    assert code == 1 and "zebra.png" in out and "AssertionError" in err
    assert "error: odd: study: 'pie' is not accepted; it must be one of " in err
    assert err.endswith("error: twice: AssertionError: a: a seed twice\n")


@pytest.mark.parametrize("mistake", [SyntaxError("invalid syntax"), AttributeError("no attribute 'STUDY'")])
def test_a_study_that_cannot_be_imported_costs_only_itself(press, tmp_path, monkeypatch, mistake):
    imported = studies.import_module

    def broken(module):
        if module.endswith(".literal"):
            raise mistake
        return imported(module)

    monkeypatch.setattr(studies, "import_module", broken)
    shipped = {name: calibration(name) for name in ("literal", "calibrate_table1")}
    shipped["literal"] = shipped["literal"]._replace(study="literal")
    code, _, err = press(shipped)
    assert code == 1 and files(tmp_path / "paper") == ["results/calibrate_table1.csv"]
    assert err.endswith(f"error: literal: {type(mistake).__name__}: {mistake}\n")
    assert err.count("error: ") == 1


def test_the_script_itself_imports_no_study():
    """Then a mistake in any of them is told with its name, and the others are drawn."""
    code = f"""if 1:
        import sys
        sys.path.insert(0, {str(ROOT / "experiments")!r})
        import paper, ship, reproduce
        studies = paper.names()
        print([name for name in studies if f"experiments.studies.{{name}}" in sys.modules])"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_only_the_named_ones_are_made_and_a_name_must_be_known(press, tmp_path):
    stored = {"one": own("one", "regret"), "two": own("two", "regret")}
    code, _, err = press({}, "two", "three", stored=stored)
    assert (code, err.count("\n")) == (2, 1) and err.startswith("error: three: neither shipped nor stored in ")
    assert files(tmp_path) == [f"results/figures/two.{kind}" for kind in ("md", "pdf", "png")]


def test_a_study_comes_after_those_that_it_needs():
    order = paper.in_order(["table1", "riverswim", "single", "table1_private", "calibrate_table1"])
    assert sorted(order) == ["calibrate_table1", "riverswim", "single", "table1", "table1_private"]
    assert max(order.index("calibrate_table1"), order.index("table1_private")) < order.index("table1")
    assert paper.in_order(["table1"]) == ["table1"]


def test_a_report_is_handed_what_it_needs_if_it_has_shipped(monkeypatch, press):
    seen = {}

    def report(experiment, folder, shipped):
        seen.update({name: shipped(name) for name in ("calibrate_table1", "epsilon")})
        return []

    study = paper.study
    entry = study("calibrate")._replace(report=report)
    monkeypatch.setattr(paper, "study", lambda name: entry if name == "calibrate" else study(name))
    monkeypatch.setattr(paper, "keeps_figure", lambda name, of: False)
    other = calibration("calibrate_table1")
    code, *_ = press({"calibrate": calibration("calibrate"), "calibrate_table1": other})
    assert code == 0 and seen == {"calibrate_table1": other, "epsilon": None}
