"""Make the page: python experiments/page.py writes results/page/index.html, one file that loads nothing."""

import sys
from pathlib import Path

if __name__ == "__main__":
    # In place of this folder, which python -P leaves out: every module has one name.
    sys.path[: not sys.flags.safe_path] = [str(Path(__file__).resolve().parents[1])]

import base64
import csv
import io
import json
import re
from typing import Any

import numpy as np
from PIL import Image

from dpucbvi.errors import InputError
from dpucbvi.privacy.certificate import rounded_up
from experiments.lab.process import NOTHING_STORED, ROOT, guarded, parser
from experiments.lab.shipped import Shipped, thinned
from experiments.lab.store import StoredArm, StoredExperiment, provenance
from experiments.studies import ablation, mechanisms, study
from experiments.studies.artifact.claims import read
from experiments.studies.artifact.conf import in_order, stated
from experiments.studies.artifact.figures import read_captions
from experiments.studies.artifact.numbers import numbers
from experiments.studies.shared.printed import printed_beside
from experiments.studies.shared.style import HUES, PRIVACY

ASSETS = ROOT / "experiments" / "studies" / "artifact" / "assets"
MOST_BYTES = 2_000_000
COLOURS = 64  # of a figure
POINTS = 40  # of every curve
SEEDS = 5  # of every arm, where the arms are few
FEW_ARMS, MOST_ARMS = 40, 200


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


def page_data(paper: Path) -> dict[str, Any]:
    """All of it, from paper/ and conf/exp."""
    shipped = Shipped(paper / "results")
    names = shipped.experiments()
    loaded = {name: shipped.load_experiment(name) for name in names}
    found = numbers(loaded.get, names)
    claims = read(paper / "claims.yaml", found, names)
    return {
        "summary": verdict((ROOT / "README.md").read_text("utf-8")),
        "claims": [{**claim._asdict(), "main": claim.main} for claim in claims],
        "experiments": [experiment_data(name, loaded.get(name)) for name in in_order()],
        "table1": rows_of(paper / "tables" / "table1.csv"),
    }


def verdict(readme: str) -> list[str]:
    """The README's findings, a line each: question, answer and number, without links."""
    table = readme.partition("## What we found\n")[2].partition("\n\n!")[0]
    rows = [row.strip("| ").split(" | ") for row in table.splitlines() if row.startswith("| ")][1:]
    said = [f"{question} {answer} Measured: {number}." for question, answer, number in rows]
    return [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", line).replace("*", "") for line in said]


def experiment_data(name: str, experiment: StoredExperiment | None) -> dict[str, Any]:
    """What its file says of it and, if its curves have shipped, its arms with them and their final regrets."""
    said: dict[str, Any] = {"name": name, **stated(name)._asdict(), "arms": []}
    if experiment is None or len(experiment.arms) > MOST_ARMS or study(experiment.study).points < POINTS:
        return said
    if experiment.arms[0].config["engine"]["name"] == "audit":
        return said
    seeds = SEEDS if len(experiment.arms) <= FEW_ARMS else 0
    return {**said, "arms": [arm_data(arm, seeds, hue_of(experiment, arm)) for arm in experiment.arms]}


def hue_of(experiment: StoredExperiment, arm: StoredArm) -> str:
    """The colour that the arm has in the experiment's figure: shared/style.py says what colours mean."""
    if experiment.study == "ablation":
        return ablation.panel_hues(experiment)[str(arm.panel)]
    if experiment.study == "mechanisms":
        return mechanisms.hue(arm)
    return HUES.get(str(arm.printed), PRIVACY[arm.certificate.model])


def arm_data(arm: StoredArm, seeds: int, hue: str) -> dict[str, Any]:
    mean, low, high = arm.interval
    certificate, printed = arm.certificate, printed_beside(arm)
    few = arm._replace(runs=[run._replace(trace=thinned(run.trace, POINTS)) for run in arm.runs])
    regret = few.regret
    return {
        "key": arm.key,
        "of": arm.of,
        "label": arm.label,
        "hue": hue,
        "panel": arm.panel or "",
        "runs": len(arm.runs),
        "epsilon": arm.point["privatizer.epsilon"] if list(arm.point) == ["privatizer.epsilon"] else None,
        "model": certificate.model,
        "add_remove": _number(rounded_up(certificate.add_remove, 3)),
        "replace_one": _number(rounded_up(certificate.replace_one, 3)),
        "delta": certificate.delta,
        "regret": _number(mean, 6),
        "low": _number(low, 6),
        "high": _number(high, 6),
        "printed": _number(float(printed.regret[-1])) if printed is not None else None,
        "printed_curve": [column.tolist() for column in printed] if printed is not None else None,
        "episodes": few.episodes.tolist(),
        "mean": [_number(value) for value in regret.mean(axis=0)],
        "seeds": [[_number(value) for value in run] for run in regret[:seeds]],
    }


def rows_of(path: Path) -> list[dict[str, str]]:
    """A CSV file as it lies there; none if it is not there."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _number(value: float, digits: int = 4) -> float | None:
    """Rounded for display; JSON has neither nan nor infinity."""
    return float(f"{value:.{digits}g}") if np.isfinite(value) else None


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
