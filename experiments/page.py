"""Make the page: python experiments/page.py writes results/page/index.html, one file that loads nothing."""

import sys
from pathlib import Path

if __name__ == "__main__":
    # In place of this folder, which python -P leaves out: every module has one name.
    sys.path[: not sys.flags.safe_path] = [str(Path(__file__).resolve().parents[1])]

import base64
import io
import json
from typing import Any

from PIL import Image

from dpucbvi.errors import InputError
from experiments.lab.process import NOTHING_STORED, ROOT, guarded, parser
from experiments.lab.store import provenance
from experiments.studies.artifact.figures import read_captions
from experiments.studies.artifact.page import page_data

ASSETS = ROOT / "experiments" / "studies" / "artifact" / "assets"
MOST_BYTES = 2_000_000
COLOURS = 64  # of a figure


def page(paper: Path) -> str:
    """The whole page."""
    data, captions = page_data(paper), read_captions(paper / "figures")
    for experiment in data["experiments"]:
        figure = paper / "figures" / f"{experiment['name']}.png"
        experiment["figure"] = as_url(figure) if figure.is_file() else None
        experiment["caption"] = captions.get(experiment["name"], "")
    parts = {
        "UPLOT_CSS": (ASSETS / "uPlot.min.css").read_text("utf-8"),
        "UPLOT_JS": (ASSETS / "uPlot.iife.min.js").read_text("utf-8"),
        "PAGE_JS": (ASSETS / "page.js").read_text("utf-8"),
        "COMMIT": commit(),
        "DATA": as_json(data),
    }
    text = (ASSETS / "index.html").read_text("utf-8")
    for name, part in parts.items():
        text = text.replace(f"/*{name}*/", part)
    return text


def commit() -> str:
    origin = provenance()
    return (
        f"{origin['commit']}{' with local changes' * bool(origin['dirty'])}" if origin["commit"] else "unknown"
    )


def as_json(data: dict[str, Any]) -> str:
    """JSON without a `<`: nothing in it can end the script element it stands in, or begin a comment there."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def as_url(figure: Path) -> str:
    """The figure inside the page: with few colours and nothing lost it is smaller than one that is shrunk."""
    with Image.open(figure) as image:
        few, buffer = image.convert("RGB").quantize(COLOURS).convert("RGB"), io.BytesIO()
    few.save(buffer, "WEBP", lossless=True)
    return f"data:image/webp;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def main() -> None:
    arguments = parser(__doc__, paper="paper", output="results/page").parse_args()
    with guarded(NOTHING_STORED):
        if not (arguments.paper / "results").is_dir():
            raise InputError(f"--paper: {arguments.paper} has no results")
        text = page(arguments.paper)
        size = len(text.encode())
        if size > MOST_BYTES:
            raise InputError(f"the page has {size:,} bytes, more than {MOST_BYTES:,}")
    arguments.output.mkdir(parents=True, exist_ok=True)
    file = arguments.output / "index.html"
    file.write_text(text, "utf-8")
    print(f"{file} ({size / 1000:,.0f} kB)")


if __name__ == "__main__":
    main()
