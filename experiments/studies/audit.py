"""The audit: of every privatizer what it declares, and what a replay and attacks have found of it."""

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from dpucbvi.audit.audit import Finding
from dpucbvi.drawing.style import BLACK, MARKER, SMALL
from dpucbvi.privacy.certificate import at_most
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Rows, Stored, Study
from experiments.studies.shared.arms import check_same_grid
from experiments.studies.shared.style import PRIVACY, entry, legend_below, new_panels
from experiments.studies.shared.tables import markdown

TITLES = {
    "small": "The smallest problems: H = 1, S = 2, A = 1",
    "released": "Every privatizer: H = S = A = 2",
    "broken": "Broken on purpose",
    "actions": "What the other users are shown",
}
SHOWN = ("central_paper", "local_paper", "batches", "one_question")  # in the figure
EXACT = ("replay", "message")  # what is found is the loss itself, and no bound
MARKS: dict[str, dict[str, Any]] = {
    "claimed": {**MARKER, "marker": "o", "color": BLACK, "markerfacecolor": "white", "markeredgecolor": BLACK},
    "certified": {"marker": "|", "color": BLACK, "markersize": 11, "markeredgewidth": 1.6},
    "replayed": {"marker": "x", "color": BLACK, "markersize": 5},
}
AUDITED = {"none": "attacked, broken", "JDP": "attacked, JDP", "LDP": "attacked, LDP"}
NEIGHBOURS = {"replace_one": "replaced", "add_remove": "added or removed"}
HEADER = ("mechanism", "a user is", "δ", "ε certified", "replay", "releases", "lowest bits", "verdict")


class Row(NamedTuple):
    """One arm: what was found of it, in all of its runs."""

    arm: StoredArm
    name: str
    checks: dict[str, Any]  # of its first run
    findings: tuple[Finding, ...]

    @property
    def broken(self) -> bool:
        return self.checks["broken"] is not None

    @property
    def caught(self) -> bool:
        return any(one.caught for one in self.findings)

    @property
    def claimed(self) -> float:
        return float(self.checks["claimed"])

    def certified(self, relation: str = "replace_one") -> float:
        """The ε under a relation; a broken one only pretends it."""
        return max((one.declared for one in self.of(relation) if one.measure == "ε"), default=math.nan)

    @property
    def audited(self) -> float:
        """The ε that an attack on the sizes of releases, or on actions, has shown for a user replaced."""
        return self.largest("replace_one", "releases", "actions")

    @property
    def bounds(self) -> int:
        """How many bounds were taken that can be wrong."""
        return sum(one.attack not in EXACT for one in self.findings)

    def of(self, relation: str, *attacks: str) -> list[Finding]:
        return [
            one for one in self.findings if one.relation == relation and (not attacks or one.attack in attacks)
        ]

    def largest(self, relation: str, *attacks: str) -> float:
        """The largest ε found; nan if nothing was tried."""
        return max((one.found for one in self.of(relation, *attacks) if one.measure == "ε"), default=math.nan)


def rows(experiment: StoredExperiment) -> list[Row]:
    made = []
    for arm in experiment.arms:
        checks = [run.trace.checks for run in arm.runs]
        findings = [
            Finding(**{**one, "found": float(one["found"])}) for found in checks for one in found["findings"]
        ]
        made.append(Row(arm, name_of(arm, checks[0]), checks[0], tuple(findings)))
    return made


def name_of(arm: StoredArm, checks: dict[str, Any]) -> str:
    """The label, after the name of the privatizer if the arm has several, or of the mistake."""
    parts = [str(value).replace("_", " ").capitalize() for value in arm.point.values()]
    return ", ".join(part for part in (*parts, checks["words"], arm.label) if part)


# --- the figure -----------------------------------------------------------------------------------------------


def draw(experiment: StoredExperiment) -> Figure:
    """A row for each of the mechanisms that are shown, or for all if these are not there."""
    check_same_grid(experiment)
    made = shown(experiment)
    figure, (axes,) = new_panels([0.7 + 0.25 * len(made)])
    for y, row in enumerate(made):
        hue = PRIVACY[row.arm.certificate.model]
        axes.plot([0.0, row.audited], [y, y], color=hue, linewidth=2.2, alpha=0.35, zorder=2)
        axes.plot(row.certified(), y, **MARKS["certified"])
        axes.plot(row.claimed, y, **MARKS["claimed"])
        replayed = row.largest("replace_one", *EXACT)
        if math.isfinite(replayed):
            axes.plot(replayed, y, zorder=6, **MARKS["replayed"])
        axes.plot(row.audited, y, marker="o", color=hue, zorder=5, **MARKER)
    axes.set_yticks(range(len(made)), [row.name for row in made])
    axes.tick_params(axis="y", length=0, labelcolor="black", labelsize=SMALL)
    axes.invert_yaxis()
    axes.margins(y=0.5 / len(made))
    axes.grid(False, axis="y")
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("ε, a user replaced")
    marks = [entry(name, linestyle="", **mark) for name, mark in MARKS.items()]
    models = sorted({row.arm.certificate.model for row in made})
    marks += [entry(AUDITED[m], linestyle="", marker="o", color=PRIVACY[m], **MARKER) for m in models]
    legend_below(figure, marks, 3)
    return figure


def shown(experiment: StoredExperiment) -> list[Row]:
    """The rows of the figure."""
    made = rows(experiment)
    return [row for row in made if row.arm.key in SHOWN] or made


# --- table and report -----------------------------------------------------------------------------------------


def table(experiment: StoredExperiment) -> Rows:
    return [("arm", *HEADER[1:]), *(line for row in rows(experiment) for line in _lines(row, row.arm.key))]


def _lines(row: Row, name: str) -> list[tuple[str, ...]]:
    """A line for each relation."""
    made = []
    for relation, words in NEIGHBOURS.items():
        found = row.of(relation)
        if not found:
            continue
        cells = [_cell([one for one in found if one.attack in attacks]) for attacks in _COLUMNS]
        verdict = "caught" if any(one.caught for one in found) else "below"
        made.append(
            (name, words, f"{row.checks['delta']:g}", at_most(row.certified(relation)), *cells, verdict)
        )
    return made


_COLUMNS = (EXACT, ("releases", "actions"), ("lowest bits",))


def _cell(found: list[Finding]) -> str:
    """`ε ≥ 0.41`, and `μ = 0.229 of 0.237` where it is compared with another number than ε."""
    if not found:
        return "-"
    texts = []
    for one in found:
        sign = "=" if one.attack in EXACT else "≥"
        of = f" of {one.declared:.3f}" if one.measure == "μ" else ""
        value = f"{one.found:.3f}" if sign == "=" and math.isfinite(one.found) else at_least(one.found, 3)
        texts.append(f"{one.measure} {sign} {value}{of}")
    return ", ".join(texts)


def at_least(bound: float, decimals: int) -> str:
    """A lower bound with so many decimals, rounded down."""
    if math.isinf(bound):
        return "∞"
    return f"{math.floor(bound * 10**decimals) / 10**decimals:.{decimals}f}"


def summary(made: list[Row]) -> dict[str, str]:
    """What is caught, what is not, and what the attacks have shown at most."""
    honest, broken = [row for row in made if not row.broken], [row for row in made if row.broken]
    above = [row.name for row in honest if row.caught]
    missed = [row.name for row in broken if not row.caught]
    acted = [row.audited / row.certified() for row in honest if row.checks["attack"] == "actions"]
    exact = [row for row in honest if row.arm.config["privatizer"].get("noise") == "exact"]
    return {
        "honest": f"{len(honest) - len(above)} of {len(honest)}",
        "above": f"; above it: {', '.join(above)}" * bool(above),
        "broken": f"{len(broken) - len(missed)} of {len(broken)}",
        "missed": f" (missed: {', '.join(missed)})" * bool(missed),
        "by_replay": str(sum(any(one.caught and one.attack == "replay" for one in r.findings) for r in broken)),
        "leaks": _leaks([row for row in honest if row not in exact]),
        "exact_leaks": _leaks(exact),
        "share": f"{math.floor(100 * max(acted, default=0.0))}%",
        "bounds": str(sum(row.bounds for row in made)),
        "false_alarms": f"{sum(row.bounds * row.checks['alpha'] for row in made):.2e}",
        "alpha": f"{max(row.checks['alpha'] for row in made):.0e}",
    }


def _leaks(made: list[Row]) -> str:
    """How many attacks on the lowest bits show more than is certified, of how many."""
    found = [one for row in made for one in row.findings if one.attack == "lowest bits"]
    return f"{sum(one.found > one.declared for one in found)} of {len(found)}"


def parts(experiment: StoredExperiment, _: Stored) -> dict[str, str]:
    """The findings by panel."""
    made = rows(experiment)
    tables = {
        title: [HEADER, *(line for row in made if row.arm.panel == panel for line in _lines(row, row.name))]
        for panel, title in TITLES.items()
    }
    return {
        "tables": "\n\n".join(f"## {title}\n\n{markdown(inside)}" for title, inside in tables.items()),
        **summary(made),
    }


def records(experiment: StoredExperiment) -> Iterator[dict[str, object]]:
    """A line for every finding."""
    for row in rows(experiment):
        broken = row.checks["broken"] or ""
        about = {"arm": row.arm.key, "panel": row.arm.panel, "name": row.name, "broken": broken}
        about |= {"delta": row.checks["delta"], "claimed": row.claimed}
        yield from ({**about, **asdict(one)} for one in row.findings)


STUDY = Study(draw, table, parts, records)
