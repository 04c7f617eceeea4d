"""What the page shows, as plain data: claims, experiments and their curves, Table 1, deviations, provenance."""

import csv
import re
from pathlib import Path
from typing import Any

import numpy as np

from dpucbvi.lab.compose import CONF, experiments
from dpucbvi.lab.shipped import Shipped, thinned
from dpucbvi.lab.store import StoredArm, StoredExperiment
from dpucbvi.studies import study
from dpucbvi.studies.artifact.claims import read
from dpucbvi.studies.artifact.numbers import filled, numbers
from dpucbvi.studies.shared.arms import certificate_of, mean_and_half_width_of, regret_of
from dpucbvi.studies.shared.printed import printed_beside
from dpucbvi.studies.shared.style import PALETTE

POINTS = 40  # of every curve
SEEDS = 5  # of every arm, where the arms are few
FEW_ARMS, MOST_ARMS = 40, 200
FIRST = "riverswim"
# The whole in three sentences; {names} are those of numbers.py.
SUMMARY = (
    "The algorithm is as the paper says: its lemmas hold where we could test them, but for a factor 2 in the"
    " privacy of Lemmas 5.1 and 5.6 and steps of the appendix.",
    "Figure 1 does not follow from it: with the proven noise at JDP ε = 1 (a user added or removed) the regret"
    " is {riverswim.jdp_eps1}, and {printed.jdp_eps1} is printed.",
    "Other privatizers do it, certified for a user who is replaced, with pooled counts and factors chosen on"
    " other seeds: {headline.certified_jdp_eps1} at pure JDP ε = 1, {headline.certified_ldp_eps2} at pure LDP"
    " ε = 2 (printed: {printed.ldp_eps2}).",
)
MINUTES = re.compile(r"^# (python .*?)\s+\(about (\d+) min on 2 cores\)\n#\n((?:# .*\n)+)", re.MULTILINE)
DEVIATION = re.compile(r"^## (D\d+)\. (.+)\n\n((?:.+\n?)+)", re.MULTILINE)


def page_data(paper: Path) -> dict[str, Any]:
    """All of it, from paper/ and conf/exp."""
    shipped = Shipped(paper / "results")
    names = shipped.experiments()
    manifest = shipped.manifest()
    loaded = {name: shipped.load_experiment(name) for name in names}
    found = numbers(loaded.get, names)
    claims = read(paper / "claims.yaml", found, names)
    return {
        "palette": PALETTE,
        "summary": [filled(sentence, found, names) for sentence in SUMMARY],
        "claims": [{**claim._asdict(), "main": claim.main} for claim in claims],
        "experiments": [experiment_data(name, loaded.get(name)) for name in in_order()],
        "table1": rows_of(paper / "tables" / "table1.csv"),
        "deviations": [
            {"id": id, "title": title, "text": " ".join(body.split())}
            for id, title, body in DEVIATION.findall((paper / "DEVIATIONS.md").read_text())
        ],
        "provenance": [
            {
                "name": name,
                **{key: manifest[name][key] for key in ("sha256", "runs", "episodes", "seconds", "origins")},
            }
            for name in names
        ],
    }


def in_order() -> list[str]:
    """All experiments, the paper's figure first."""
    return sorted(experiments(), key=lambda name: (name != FIRST, name))


def experiment_data(name: str, experiment: StoredExperiment | None) -> dict[str, Any]:
    """What its file says of it and, if its curves have shipped, its arms with them and their final regrets."""
    found = MINUTES.search((CONF / "exp" / f"{name}.yaml").read_text())
    assert found is not None, f"{name}: its file must begin with its command, its minutes and what it asks"
    command, minutes, text = found.groups()
    said: dict[str, Any] = {
        "name": name,
        "command": command,
        "minutes": int(minutes),
        "asks": _prose(text),
        "arms": [],
    }
    if experiment is None or len(experiment.arms) > MOST_ARMS or study(experiment.study).points < POINTS:
        return said
    if experiment.arms[0].runs[0].config["engine"]["name"] == "audit":
        return said
    seeds = SEEDS if len(experiment.arms) <= FEW_ARMS else 0
    return {**said, "arms": [arm_data(arm, seeds) for arm in experiment.arms]}


def arm_data(arm: StoredArm, seeds: int) -> dict[str, Any]:
    mean, half_width = mean_and_half_width_of(arm)
    certificate, printed = certificate_of(arm), printed_beside(arm)
    few = arm._replace(runs=[run._replace(trace=thinned(run.trace, POINTS)) for run in arm.runs])
    regret = regret_of(few)
    return {
        "key": arm.key,
        "of": arm.of,
        "label": arm.label,
        "panel": arm.panel or "",
        "runs": len(arm.runs),
        "epsilon": arm.point["privatizer.epsilon"] if list(arm.point) == ["privatizer.epsilon"] else None,
        "model": certificate.model,
        "add_remove": _number(certificate.add_remove),
        "replace_one": _number(certificate.replace_one),
        "delta": certificate.delta,
        "regret": _number(mean, 6),
        "half_width": _number(half_width, 6),
        "printed": _number(float(printed.regret[-1])) if printed is not None else None,
        "printed_curve": [column.tolist() for column in printed] if printed is not None else None,
        "episodes": few.runs[0].trace.episodes.tolist(),
        "mean": [_number(value) for value in regret.mean(axis=0)],
        "seeds": [[_number(value) for value in run] for run in regret[:seeds]],
    }


def rows_of(path: Path) -> list[dict[str, str]]:
    """A CSV file as it lies there; none if it is not there."""
    if not path.is_file():
        return []
    with path.open() as file:
        return list(csv.DictReader(file))


def _number(value: float, digits: int = 4) -> float | None:
    """Rounded for display; JSON has neither nan nor infinity."""
    return float(f"{value:.{digits}g}") if np.isfinite(value) else None


def _prose(comment: str) -> str:
    return " ".join(comment.replace("\n# ", " ").removeprefix("# ").split())
