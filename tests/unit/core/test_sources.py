"""The hash that checkpoints, provenance and the compiled cache trust covers all code a result can depend on."""

import shutil
from pathlib import Path

import pytest

import dpucbvi
from dpucbvi import sources

PACKAGE = Path(dpucbvi.__file__).resolve().parent
SETTINGS = {"lab/settings.py", "lab/assemble.py", "lab/strict.py"}


def names():
    return {source.relative_to(PACKAGE).as_posix() for source in sources.sources()}


def test_every_file_outside_lab_and_studies_is_a_source():
    files = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py")}
    around = {name for name in files if name.startswith(("lab/", "studies/"))}
    assert names() == (files - around) | SETTINGS
    assert SETTINGS <= around and around - SETTINGS


def test_the_files_that_were_once_forgotten_are_sources():
    """E and the noise change results as much as the engine does."""
    assert {"confidence.py", "planning.py", "bonus.py", "simulate.py", "engine/fast.py"} <= names()
    for room in ("privatizers", "agents", "engine", "engine/releases"):
        assert {f"{room}/{path.name}" for path in (PACKAGE / room).glob("*.py")} <= names()
    assert {"privatizers/central.py", "privatizers/tree.py", "privatizers/laplace.py"} <= names()


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """The sources in another folder, and the hash taken there."""
    for name in names():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PACKAGE / name, tmp_path / name)
    here = uncached()
    monkeypatch.setattr(sources, "PACKAGE", tmp_path)
    assert uncached() == here, "the hash depends on where the package lies"
    return tmp_path


def uncached():
    return sources.code.__wrapped__()


def test_what_only_stores_or_draws_results_does_not_change_the_hash(copy):
    before = uncached()
    (copy / "lab" / "runner.py").write_text("changes no number\n")
    (copy / "studies").mkdir()
    (copy / "studies" / "figure.py").write_text("changes no number\n")
    assert uncached() == before


def test_a_change_in_any_source_changes_the_hash(copy):
    seen = {uncached()}
    for source in sources.sources():
        text = source.read_bytes()
        source.write_bytes(text + b"\n")
        seen.add(uncached())
        source.write_bytes(text)
    assert len(seen) == 1 + len(sources.sources())


def test_a_new_renamed_or_removed_file_changes_the_hash(copy):
    seen = {uncached()}
    (copy / "privatizers" / "mine.py").write_text("")
    seen.add(uncached())
    (copy / "privatizers" / "mine.py").rename(copy / "privatizers" / "ours.py")
    seen.add(uncached())
    (copy / "privatizers" / "tree.py").unlink()
    seen.add(uncached())
    assert len(seen) == 4
