"""Execute notebooks/*.py into the notebooks/*.ipynb beside them: python experiments/notebooks.py [name ...]

An .ipynb can be taken away: it needs the package and no other file of this folder, because a collapsed cell
holds its drawing code from notebooks/pictures/. The same notebook gives the same file: cells are numbered, and
nothing says when or by which Python it was run.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    # In place of this folder, which python -P leaves out: every module has one name.
    sys.path[: not sys.flags.safe_path] = [str(Path(__file__).resolve().parents[1])]

import os
import re
from typing import Any

import jupytext
import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from experiments.lab.process import ROOT, parser

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.py"))
SECONDS = 600  # that a cell may take, on a machine that is busy with other things


CARRIED = """# How the pictures of this notebook are drawn. No formula of the algorithm stands here.
import sys
from types import ModuleType

DRAWING = {}
%s
for name, source in DRAWING.items():
    sys.modules[name] = ModuleType(name)
    exec(source, vars(sys.modules[name]))"""


def with_pictures(path: Path) -> NotebookNode:
    """The notebook with the modules of pictures/ that it imports, in a collapsed cell before their import."""
    notebook = nbformat.v4.upgrade(jupytext.read(path))
    at = next(i for i, cell in enumerate(notebook.cells) if "import pictures." in cell.source)
    sources = drawing(path.parent, notebook.cells[at].source)
    carried = "".join(f"DRAWING[{name!r}] = r'''{source}'''\n" for name, source in sources.items())
    hidden = {"jupyter": {"source_hidden": True}, "tags": ["remove-input"]}  # in JupyterLab, and on the site
    notebook.cells.insert(at, nbformat.v4.new_code_cell(CARRIED % carried, metadata=hidden))
    return notebook


def drawing(folder: Path, code: str) -> dict[str, str]:
    """The modules of pictures/ that this code needs, each after those that it needs itself."""
    found = {"pictures": (folder / "pictures" / "__init__.py").read_text("utf-8")}
    for name in re.findall(r"^(?:import|from) (pictures\.\w+)", code, re.MULTILINE):
        source = (folder / f"{name.replace('.', '/')}.py").read_text("utf-8")
        found |= {**drawing(folder, source), name: source}
    return found


def executed(path: Path, folder: Path) -> NotebookNode:
    """The notebook run from top to bottom in this folder; it raises what a cell raises."""
    notebook = with_pictures(path)
    where = {"metadata": {"path": str(folder)}}
    options: Any = {"record_timing": False, "coalesce_streams": True}  # a slow machine prints in more pieces
    client = NotebookClient(notebook, timeout=SECONDS, kernel_name="python3", resources=where, **options)
    found = [str(ROOT), os.environ.get("PYTHONPATH", "")]  # the package of this copy
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
