"""Execute notebooks/*.py into the notebooks/*.ipynb beside them: python experiments/notebooks.py [name ...]

The same notebook gives the same file: cells are numbered, and nothing says when or by which Python it was run.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    # In place of this folder, which python -P leaves out: every module has one name.
    sys.path[: not sys.flags.safe_path] = [str(Path(__file__).resolve().parents[1])]

import os

import jupytext
import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from experiments.lab.process import ROOT, parser

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.py"))
SECONDS = 600  # that a cell may take, on a machine that is busy with other things


def executed(path: Path, folder: Path) -> NotebookNode:
    """The notebook run from top to bottom in this folder; it raises what a cell raises."""
    notebook = nbformat.v4.upgrade(jupytext.read(path))
    client = NotebookClient(
        notebook,
        timeout=SECONDS,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,  # else a slow machine prints in more pieces
        resources={"metadata": {"path": str(folder)}},
    )
    found = [str(path.parent), str(ROOT), os.environ.get("PYTHONPATH", "")]  # pictures/ lies beside it
    client.execute(env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, found))})
    for number, cell in enumerate(notebook.cells, 1):
        cell.id = f"cell-{number}"
    del notebook.metadata["language_info"]
    del notebook.metadata["jupytext"]
    return notebook


def main() -> None:
    made = parser(__doc__, "notebooks")
    names = made.parse_args().names
    if unknown := set(names) - {path.stem for path in NOTEBOOKS}:
        made.error(f"{', '.join(sorted(unknown))}: no such notebook")
    for path in NOTEBOOKS:
        if not names or path.stem in names:
            nbformat.write(executed(path, path.parent), path.with_suffix(".ipynb"))
            print(path.with_suffix(".ipynb").relative_to(ROOT), flush=True)


if __name__ == "__main__":
    main()
