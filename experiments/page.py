"""Make the page of curves: python experiments/page.py.

It is one file that loads nothing, results/page/index.html.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    # In place of this folder, which python -P leaves out: every module has one name.
    sys.path[: not sys.flags.safe_path] = [str(Path(__file__).resolve().parents[1])]

import json
from typing import Any

import numpy as np

from dpucbvi.errors import InputError
from dpucbvi.privacy.certificate import rounded_up
from experiments.lab.process import NOTHING_STORED, ROOT, guarded, parser
from experiments.lab.shipped import Shipped, thinned
from experiments.lab.store import StoredArm, StoredExperiment, provenance
from experiments.studies import ablation, mechanisms, study
from experiments.studies.artifact.conf import in_order
from experiments.studies.shared.printed import printed_beside
from experiments.studies.shared.style import HUES, PRIVACY

ASSETS = ROOT / "experiments" / "studies" / "artifact" / "assets"
POINTS = 40  # of every curve
SEEDS = 5  # of every arm, where the arms are few
FEW_ARMS, MOST_ARMS = 40, 200


def page(paper: Path) -> str:
    """The whole page."""
    made = provenance()
    parts = {
        "UPLOT_CSS": (ASSETS / "uPlot.min.css").read_text("utf-8"),
        "UPLOT_JS": (ASSETS / "uPlot.iife.min.js").read_text("utf-8"),
        "PAGE_JS": (ASSETS / "page.js").read_text("utf-8"),
        "COMMIT": f"{made['commit'] or 'unknown'}{' with local changes' * bool(made['dirty'])}",
        "DATA": as_json(page_data(paper)),
    }
    text = (ASSETS / "index.html").read_text("utf-8")
    for name, part in parts.items():
        text = text.replace(f"/*{name}*/", part)
    return text


def as_json(data: Any) -> str:
    """JSON without a `<`: nothing in it can end the script element it stands in, or begin a comment there."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def page_data(paper: Path) -> list[dict[str, Any]]:
    """Every experiment whose curves have shipped; no audit, no grid that is only for its ends."""
    shipped, found = Shipped(paper / "results"), []
    for name in sorted(shipped.experiments(), key=in_order().index):
        one = shipped.load_experiment(name)
        if len(one.arms) <= MOST_ARMS and not one.arms[0].audits and study(one.study).points >= POINTS:
            seeds = SEEDS if len(one.arms) <= FEW_ARMS else 0
            arms = [arm_data(arm, seeds, hue_of(one, arm)) for arm in one.arms]
            found.append({"name": name, "arms": arms})
    return found


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
    regret, epsilon = few.regret, "privatizer.epsilon"
    return {
        **{"key": arm.key, "of": arm.of, "label": arm.label, "hue": hue, "panel": arm.panel or ""},
        "runs": len(arm.runs),
        "epsilon": arm.point[epsilon] if list(arm.point) == [epsilon] else None,
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


def _number(value: float, digits: int = 4) -> float | None:
    """Rounded for display; JSON has neither nan nor infinity."""
    return float(f"{value:.{digits}g}") if np.isfinite(value) else None


def main() -> None:
    arguments = parser(__doc__, paper="paper", output="results/page").parse_args()
    with guarded(NOTHING_STORED):
        if not (arguments.paper / "results").is_dir():
            raise InputError(f"--paper: {arguments.paper} has no results")
        text = page(arguments.paper)
    arguments.output.mkdir(parents=True, exist_ok=True)
    file = arguments.output / "index.html"
    file.write_text(text, "utf-8")
    print(f"{file} ({len(text.encode()) / 1000:,.0f} kB)")


if __name__ == "__main__":
    main()
