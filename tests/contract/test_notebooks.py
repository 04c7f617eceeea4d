"""The notebooks run from top to bottom in any folder, leave nothing behind, and need no file but themselves."""

import re

import jupytext
import pytest
from test_imports import imports

from experiments.notebooks import NOTEBOOKS, executed, with_pictures

notebooks = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
QUICK = {"03_privatizers"}  # others compile, attack or draw


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[] if path.stem in QUICK else [pytest.mark.slow]) for path in NOTEBOOKS],
    ids=lambda path: path.stem,
)
def test_runs_and_shows_what_the_executed_one_shows(path, tmp_path):
    """From another folder, which it leaves empty; `make notebooks` writes the executed one again."""
    notebook = executed(path, tmp_path)
    assert shown(notebook) == shown(jupytext.read(path.with_suffix(".ipynb")))
    assert list(tmp_path.iterdir()) == []


def shown(notebook) -> list[list[tuple[str, str]]]:
    """Of every cell what it prints, on which stream, and its pictures by their titles."""
    return [
        [(output.get("name", "result"), output.get("text") or output.data["text/plain"]) for output in outputs]
        for outputs in (cell.outputs for cell in notebook.cells if cell.cell_type == "code")
    ]


@notebooks
def test_the_executed_one_beside_it_has_the_same_cells_and_pictures(path):
    """`make notebooks` writes it, for sites that show notebooks without running them."""
    file = path.with_suffix(".ipynb")
    executed = jupytext.read(file)
    assert [cell.source for cell in executed.cells] == [cell.source for cell in with_pictures(path).cells]
    outputs = [output for cell in executed.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert [output for output in outputs if output.output_type == "error"] == []
    assert file.stat().st_size < 500_000


YEARS = {"2011", "2023"}  # of papers
IN_WORDS = re.compile(r"(?<![\w.,^/-])\d{1,3}(?:(?:\{,\}|,)\d{3})+|(?<![\w.,^/])\d{3,}(?![\w.])")


@notebooks
def test_numbers_in_its_words_are_those_of_its_cells(path):
    """Every number of three digits or more stands in its code, or in what that prints."""
    assert unfounded(jupytext.read(path.with_suffix(".ipynb"))) <= YEARS


def test_a_number_in_words_that_no_cell_has_is_noticed():
    notebook = jupytext.read(NOTEBOOKS[0].with_suffix(".ipynb"))
    notebook.cells[0].source += " 12{,}345 visits"
    assert unfounded(notebook) - YEARS == {"12345"}


def unfounded(notebook) -> set[str]:
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    shown = [cell.source.replace("_", "") for cell in code]
    shown += [output.get("text", "") for cell in code for output in cell.outputs]
    words = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    there = {re.sub(r"\D", "", number) for number in re.findall(r"\d[\d,]*", "\n".join(shown))}
    return {re.sub(r"\D", "", number) for number in IN_WORDS.findall(words)} - there


@notebooks
def test_comes_in_by_the_public_door(path):
    """`import dpucbvi as dp`, with a word on how to install it, and nothing else of this repository."""
    assert re.search(r"^ *import dpucbvi as dp$", path.read_text(), re.MULTILINE)
    assert "pip install" in jupytext.read(path).cells[1].source
    modules = {one.name for one in imports(path.read_text())}
    assert {name for name in modules if name.startswith(("dpucbvi.", "experiments"))} == set()
