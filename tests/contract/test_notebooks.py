"""The notebooks run from top to bottom, leave nothing behind, and show the package's code, not a copy of it."""

import ast

import jupytext
import pytest

import dpucbvi
from experiments.notebooks import NOTEBOOKS, executed

notebooks = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
SLOW = {"04_your_own_mdp"}  # its first run compiles for most of a minute


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.slow] if path.stem in SLOW else []) for path in NOTEBOOKS],
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
    assert [cell.source for cell in executed.cells] == [cell.source for cell in jupytext.read(path).cells]
    outputs = [output for cell in executed.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert [output for output in outputs if output.output_type == "error"] == []
    assert file.stat().st_size < 500_000


@notebooks
def test_comes_in_by_the_public_door(path):
    """`import dpucbvi as dp`, and what the door offers is not taken from a room behind it."""
    tree = ast.parse(path.read_text())
    doors = [alias for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    assert ("dpucbvi", "dp") in {(alias.name, alias.asname) for alias in doors}
    rooms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    behind = {alias.name for node in rooms if node.module.startswith("dpucbvi") for alias in node.names}
    assert behind & set(dpucbvi.__all__) == set()
