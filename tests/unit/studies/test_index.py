"""The index of studies: one entry per experiment, under its name, and what is made of it in the end."""

from pathlib import Path

import pytest
from made_up import grid, stored_arm, stored_experiment

from dpucbvi.errors import InputError
from experiments.lab.compose import composed, config_of
from experiments.studies import CAPTIONS, caption, draw, drawn, names, sections, study
from experiments.studies.artifact.figures import read_captions

ROOT = Path(__file__).resolve().parents[3]
EXPERIMENTS = sorted(path.stem for path in (ROOT / "conf" / "exp").glob("*.yaml"))


def test_every_study_has_the_experiment_of_its_name_and_regret_draws_the_rest():
    assert set(names()) - {"regret"} <= set(EXPERIMENTS)
    for name in EXPERIMENTS:
        config = composed(name)
        wanted = name if name in names() else "calibrate" if name.startswith("calibrate") else "regret"
        assert (config.name, config.study) == (name, wanted)
    assert config_of([]).study == "regret"


def test_the_figures_that_are_kept_are_in_the_paper():
    kept = {path.stem for path in (ROOT / "paper" / "figures").glob("*.png")}
    assert {name for name in names() if study(name).draw is not None} - {"regret"} | {"summary"} == kept
    assert set(read_captions(ROOT / "paper" / "figures")) == set(sections(CAPTIONS)) == kept


def test_an_unknown_name_is_refused_and_never_a_default(tmp_path):
    for name in ("pie", "shared"):
        with pytest.raises(InputError, match=rf"^study: '{name}' is not one of "):
            study(name)
    with pytest.raises(InputError):
        draw(stored_experiment("pie", []), tmp_path / "figures")
    assert list(tmp_path.iterdir()) == []


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


@pytest.mark.parametrize("name", ["explain", "explain_fit", "riverswim", "horizon"])
def test_a_study_that_interpolates_ships_every_point(name):
    """From thinned traces it would say something else than from those that are stored."""
    assert study(name).points >= composed(name).trace_points
