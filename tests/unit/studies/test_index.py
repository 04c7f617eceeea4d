"""The index of studies: one entry per experiment, under its name, and what is made of it in the end."""

import subprocess
import sys
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from made_up import grid, stored_arm, stored_experiment
from matplotlib.figure import Figure

from dpucbvi.errors import InputError
from experiments import studies
from experiments.studies import (
    CAPTIONS,
    Study,
    caption,
    draw,
    drawn,
    names,
    sections,
    study,
    table,
)
from experiments.studies.artifact.figures import read_captions
from experiments.studies.shared.tables import finals

ROOT = Path(__file__).resolve().parents[3]
EXPERIMENTS = sorted(path.stem for path in (ROOT / "conf" / "exp").glob("*.yaml"))


def test_every_study_has_the_experiment_of_its_name_and_regret_draws_the_rest():
    assert set(names()) - {"regret"} <= set(EXPERIMENTS)
    for name in EXPERIMENTS:
        with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
            config = compose("config", [f"+exp={name}"])
        wanted = name if name in names() else "calibrate" if name.startswith("calibrate") else "regret"
        assert (config.name, config.study, set(config.figure)) == (name, wanted, {"x", "y"})
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        assert compose("config").study == "regret"


@pytest.mark.parametrize("name", names())
def test_an_entry_is_whole(name):
    entry = study(name)
    assert isinstance(entry, Study) and all(map(callable, (entry.caption, entry.table)))
    assert entry.draw is None or callable(entry.draw)
    assert set(entry.needs) <= set(EXPERIMENTS) - {name}
    assert entry.folder in ("results", "tables")
    assert entry.report is not None or not entry.needs


def test_the_figures_that_are_kept_are_in_the_paper():
    kept = {path.stem for path in (ROOT / "paper" / "figures").glob("*.png")}
    assert {name for name in names() if study(name).draw is not None} - {"regret"} | {"summary"} == kept
    assert set(read_captions(ROOT / "paper" / "figures")) == set(sections(CAPTIONS)) == kept


def test_an_unknown_name_is_refused_and_never_a_default(tmp_path):
    with pytest.raises(
        InputError,
        match=r"study: 'pie' is not accepted; it must be one of ablation, audit, calibrate, .*, windows$",
    ):
        study("pie")
    with pytest.raises(InputError):
        study("shared")
    with pytest.raises(InputError):
        draw(stored_experiment("pie", []), tmp_path / "figures")
    assert list(tmp_path.iterdir()) == []


def test_the_names_are_listed_without_matplotlib():
    code = "import sys, experiments.studies as s; s.names(); sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_new_file_is_a_new_study(tmp_path, monkeypatch):
    (tmp_path / "pie.py").write_text(
        "from matplotlib.figure import Figure\n"
        "from experiments.studies import Study\n"
        "STUDY = Study(lambda experiment: Figure())\n"
    )
    monkeypatch.setattr(studies, "__path__", [*studies.__path__, str(tmp_path)])
    names.cache_clear()
    try:
        assert "pie" in names() and isinstance(study("pie").draw(stored_experiment("pie", [])), Figure)
        assert study("pie").table is finals
    finally:
        names.cache_clear()
        sys.modules.pop("experiments.studies.pie", None)


def test_a_figure_is_two_files_and_the_same_results_give_the_same_bytes(tmp_path):
    made = stored_experiment("regret", [stored_arm("a", grid(50_000) ** 0.5)])._replace(name="mine")
    first = {path.name: path.read_bytes() for path in draw(made, tmp_path / "one")}
    second = {path.name: path.read_bytes() for path in draw(made, tmp_path / "two")}
    assert first == second and list(first) == ["mine.png", "mine.pdf"]
    assert first["mine.png"].startswith(b"\x89PNG") and first["mine.pdf"].startswith(b"%PDF")
    assert b"CreationDate" not in first["mine.pdf"]
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == ["mine.md", "mine.pdf", "mine.png"]
    words = (tmp_path / "one" / "mine.md").read_text()
    assert words.startswith("3 runs of each arm. ") and words.endswith(" Seeded simulation; ε pure.\n")


def test_an_experiment_that_was_changed_says_so_in_its_figure_and_beside_it():
    made = stored_experiment("regret", [stored_arm("a", grid(50_000) ** 0.5)])._replace(changed=("K=200",))
    assert drawn(made).get_suptitle() == "changed: K=200" and " Changed: K=200. " in caption(made)
    assert drawn(made._replace(changed=())).get_suptitle() == ""


def test_the_table_is_that_of_the_study():
    made = stored_experiment("regret", [stored_arm("a", 100.0)])
    header, row = table(made).splitlines()
    told = "arm regret 95% ± bonus × E × counts privacy δ ε (a user added or removed) ε (replaced)"
    assert " ".join(header.split()) == told
    assert row.split() == ["a", "101", "19.9", "1", "1", "per", "step", "JDP", "0", "1", "2"]


@pytest.mark.parametrize("name", ["explain", "explain_fit", "riverswim", "horizon"])
def test_a_study_that_interpolates_ships_every_point(name):
    """From thinned traces it would say something else than from those that are stored."""
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        assert study(name).points >= compose("config", [f"+exp={name}"]).trace_points
