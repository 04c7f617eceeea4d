"""Make the page: python experiments/page.py writes results/page/index.html, one file that loads nothing.

The executed notebooks go beside it, as HTML in results/page/notebooks: they load nothing either.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    # In place of this folder, which python -P leaves out: every module has one name.
    sys.path[: not sys.flags.safe_path] = [str(Path(__file__).resolve().parents[1])]

import argparse
import base64
import html
import io
import json
from collections.abc import Sequence
from typing import Any

from PIL import Image

from dpucbvi.errors import InputError
from experiments.lab.provenance import provenance
from experiments.studies.artifact.figures import read_captions
from experiments.studies.artifact.formulas import with_formulas
from experiments.studies.artifact.page import page_data

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
ASSETS = ROOT / "experiments" / "studies" / "artifact" / "assets"
MOST_BYTES = 2_000_000
COLOURS = 64  # of a figure


def page(paper: Path, notebooks: Sequence[Path] = ()) -> str:
    """The whole page, with links to the notebooks beside it."""
    data, captions = page_data(paper), read_captions(paper / "figures")
    for experiment in data["experiments"]:
        figure = paper / "figures" / f"{experiment['name']}.png"
        experiment["figure"] = as_url(figure) if figure.is_file() else None
        experiment["caption"] = captions.get(experiment["name"], "")
    parts = {
        "UPLOT_CSS": (ASSETS / "uPlot.min.css").read_text(),
        "UPLOT_JS": (ASSETS / "uPlot.iife.min.js").read_text(),
        "PAGE_JS": (ASSETS / "page.js").read_text(),
        "NOTEBOOKS": "".join(notebook_link(path) for path in notebooks),
        "COMMIT": commit(),
        "DATA": as_json(data),
    }
    return filled("index.html", parts)


def filled(template: str, parts: dict[str, str]) -> str:
    """The template with every part in its place."""
    text = (ASSETS / template).read_text()
    for name, part in parts.items():
        text = text.replace(f"/*{name}*/", part)
    return text


def notebook_link(path: Path) -> str:
    name = html.escape(path.stem.replace("_", " "))
    return f'<li><a href="notebooks/{html.escape(path.stem)}.html">{name}</a></li>'


def commit() -> str:
    origin = provenance()
    return (
        f"{origin['commit']}{' with local changes' * bool(origin['dirty'])}" if origin["commit"] else "unknown"
    )


def as_json(data: dict[str, Any]) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("</", "<\\/")


def as_url(figure: Path) -> str:
    """The figure inside the page: with few colours and nothing lost it is smaller than one that is shrunk."""
    with Image.open(figure) as image:
        few, buffer = image.convert("RGB").quantize(COLOURS).convert("RGB"), io.BytesIO()
    few.save(buffer, "WEBP", lossless=True)
    return f"data:image/webp;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def notebook_page(path: Path) -> str:
    """An executed notebook as one file that loads nothing."""
    import nbformat
    from nbconvert import HTMLExporter
    from pygments.formatters import HtmlFormatter

    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = with_formulas(cell.source)
    body, _ = HTMLExporter(template_name="basic").from_notebook_node(notebook)
    title, colours = html.escape(path.stem.replace("_", " ")), HtmlFormatter().get_style_defs(".highlight")
    return filled("notebook.html", {"TITLE": title, "COLOURS": colours, "BODY": body})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--paper", type=Path, default=Path("paper"), help="relative to the repository")
    parser.add_argument("--output", type=Path, default=Path("results/page"), help="relative to the repository")
    arguments = parser.parse_args()
    try:
        text = page(ROOT / arguments.paper, NOTEBOOKS)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    size = len(text.encode())
    if size > MOST_BYTES:
        print(f"error: the page has {size:,} bytes, more than {MOST_BYTES:,}", file=sys.stderr)
        sys.exit(1)
    folder = ROOT / arguments.output
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text(text)
    print(f"{folder / 'index.html'} ({size / 1000:,.0f} kB)", flush=True)
    (folder / "notebooks").mkdir(exist_ok=True)
    for notebook in NOTEBOOKS:
        written = folder / "notebooks" / f"{notebook.stem}.html"
        written.write_text(notebook_page(notebook))
        print(f"{written} ({written.stat().st_size / 1000:,.0f} kB)", flush=True)


if __name__ == "__main__":
    main()
