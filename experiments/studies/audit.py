"""The audit: of every mechanism the ε that it claims, that it certifies, and that an attack has found."""

import re
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Rows, Stored, Study
from experiments.studies.shared.arms import check_same_grid
from experiments.studies.shared.style import BLACK, MARKER, PRIVACY, QUIET, SMALL, legend_below, new_panels
from experiments.studies.shared.tables import markdown, write_csv

TITLES = {
    "released": "What is released",
    "broken": "Broken on purpose",
    "actions": "What the other users are shown",
}
LOGARITHMIC = " (log axis)"
A_LINE, AROUND = 0.145, 0.5  # inches: a line of names; title and axis of a panel
LETTERS = 30  # of a name: then it has two lines
WORDS = {  # of labels, as other studies have them
    "tuned split": "tuned families",
    "KaryTree": "k-ary tree",
    "GaussianTree": "Gaussian tree",
    "LocalGaussian": "Gaussian user noise",
    "OneStep": "one step",
    "OneQuestion": "one question",
}
ADDED = " · user added or not"
HEADER = ("arm", "attack", "ε claimed", "ε certified", "ε audited", "ε audited by μ", "δ", "caught")
COLUMNS = (
    "arm",
    "panel",
    "label",
    "broken",
    "attack",
    "score",
    "relation",
    "delta",
    "claimed",
    "certified_add_remove",
    "certified",
    "audited",
    "hits",
    "false",
    "trials",
    "certified_mu",
    "audited_mu",
    "audited_by_mu",
    "alpha",
    "caught",
)


class Row(NamedTuple):
    """One arm: what its best run found. `certified` is what a broken release only pretends."""

    arm: StoredArm
    name: str
    found: dict[str, Any]
    bounds: int  # how many were taken, over all runs
    caught: bool

    @property
    def broken(self) -> bool:
        return self.found["broken"] is not None

    @property
    def claimed(self) -> float:
        return float(self.found["claimed"])

    @property
    def certified(self) -> float:
        return float(self.found["pretended"])

    @property
    def audited(self) -> float:
        return float(self.found["audited"])

    @property
    def added(self) -> bool:
        """The user is there or not; else she is replaced."""
        return self.found["relation"] == "add_remove"

    @property
    def by_mu(self) -> float | None:
        return self.found["audited_by_mu"]


def rows(experiment: StoredExperiment) -> list[Row]:
    """An arm with several runs shows its largest bound: each of them holds with probability 1 - α."""
    made = []
    for arm in experiment.arms:
        checks = [run.trace.checks for run in arm.runs]
        best = max(checks, key=lambda found: (found["audited_by_mu"] or 0.0, found["audited"]))
        label = in_words(arm.label)
        name = label if best["broken"] is None else f"{best['words']} · {label}"
        name += ADDED if best["relation"] == "add_remove" else ""
        bounds = sum(1 + (found["audited_mu"] is not None) for found in checks)
        made.append(Row(arm, name, best, bounds, any(found["caught"] for found in checks)))
    return made


def in_words(label: str) -> str:
    """`k-ary tree, k = 3` for `KaryTree, k = 3`."""
    for stored, words in WORDS.items():
        label = label.replace(stored, words)
    return label


def false_alarms(made: list[Row]) -> float:
    """The probability that any bound of the experiment is too large, at most."""
    return sum(row.bounds * row.found["alpha"] for row in made)


def draw(experiment: StoredExperiment) -> Figure:
    """A row for every arm: honest mechanisms, broken ones, the attack on actions."""
    check_same_grid(experiment)
    made = rows(experiment)
    panels = {panel: [row for row in made if row.arm.panel == panel] for panel in TITLES}
    heights = [AROUND + A_LINE * _places(_names(panels[panel]))[1] for panel in TITLES]
    figure, axes = new_panels(heights)
    legend_below(figure, _handles(), 3)
    for one, panel in zip(axes, TITLES, strict=True):
        _draw_panel(one, TITLES[panel], panels[panel])
        one.set_xlabel(f"ε, a user replaced{LOGARITHMIC * (panel == 'broken')}", labelpad=2)
    axes[1].set_xscale("log")
    return figure


def _names(made: list[Row]) -> list[str]:
    """What stands beside the rows, in lines: of a broken release its words alone, if no other has them."""
    words = [row.found["words"] if row.broken else row.name for row in made]
    names = [row.name if words.count(word) > 1 else word for row, word in zip(made, words, strict=True)]
    return [_in_lines(name) for name in names]


def _in_lines(name: str) -> str:
    """A long name in two, broken after a comma or a dot if there is one."""
    if len(name) <= LETTERS:
        return name
    stops = [found.end() for found in re.finditer(r"[,·](?= )", name[: LETTERS + 1])]
    at = stops[-1] if stops else name.rfind(" ", 0, LETTERS + 1)
    return f"{name[:at]}\n{name[at + 1 :]}" if at > 0 else name


def _places(names: list[str]) -> tuple[list[float], int]:
    """The middle of every name, and the end of the last, counted in lines."""
    lines = [name.count("\n") + 1 for name in names]
    ends = list(accumulate(lines))
    return [end - (count + 1) / 2 for end, count in zip(ends, lines, strict=True)], ends[-1] if ends else 1


def _draw_panel(axes: Axes, title: str, made: list[Row]) -> None:
    names = _names(made)
    places, end = _places(names)
    for y, row in zip(places, made, strict=True):
        hue = PRIVACY[row.arm.certificate.model]
        axes.plot([0.0, row.audited], [y, y], color=hue, linewidth=2.2, alpha=0.35, zorder=2)
        axes.plot(row.certified, y, marker="|", color=BLACK, markersize=11, markeredgewidth=1.6, zorder=3)
        axes.plot(row.claimed, y, marker="o", color=BLACK, markerfacecolor="white", markersize=5.5, zorder=3)
        axes.plot(row.audited, y, marker="o", color=hue, zorder=5, **MARKER)
        if row.by_mu is not None:
            axes.plot(row.by_mu, y, marker="D", color=hue, zorder=4, **{**MARKER, "markersize": 4.5})
        if row.broken:
            said = "caught" if row.caught else "missed"
            axes.text(
                1.01, y, said, transform=axes.get_yaxis_transform(), va="center", fontsize=SMALL, color=QUIET
            )
    axes.set_yticks(places, names)
    axes.tick_params(axis="y", length=0, labelcolor="black", labelsize=SMALL)
    axes.set_ylim(end - 0.4, -0.6)
    axes.grid(False, axis="y")
    axes.spines["left"].set_visible(False)
    axes.set_title(title)


def _handles() -> list[Line2D]:
    bare: dict[str, Any] = {"linestyle": ""}
    return [
        Line2D([], [], marker="o", color=BLACK, markerfacecolor="white", label="claimed", **bare),
        Line2D([], [], marker="|", color=BLACK, markersize=10, label="certified", **bare),
        Line2D([], [], marker="o", color=PRIVACY["JDP"], label="audited, JDP", **bare),
        Line2D([], [], marker="o", color=PRIVACY["LDP"], label="audited, LDP", **bare),
        Line2D([], [], marker="o", color=PRIVACY["none"], label="audited, broken", **bare),
        Line2D([], [], marker="D", color=QUIET, markersize=4.5, label="through μ", **bare),
    ]


def caption(experiment: StoredExperiment) -> str:
    made = rows(experiment)
    deltas = sorted({row.found["delta"] for row in made if row.found["delta"] > 0.0})
    gaussian = "".join(f", at δ = {delta:g} where it is Gaussian" for delta in deltas)
    return (
        "What is claimed, certified, and shown by an attack on the compiled engine. "
        f"Claimed: the ε of the settings, under their own relation; pure{gaussian}. Paper's noise is "
        "calibrated for a user who is added or removed, all others for one who is replaced; certified and "
        "audited: if she is replaced, or as the name says. Broken on purpose: what it would certify if it were "
        "not broken. "
        f"Audited: ε is at least this, through μ if the noise is Gaussian, with probability "
        f"{_confidence(made)} each. The bound is that of one attack: what an attack does not find may still "
        "be there."
    )


def _confidence(made: list[Row]) -> str:
    return f"1 - {max(row.found['alpha'] for row in made):.0e}"


def table(experiment: StoredExperiment) -> Rows:
    header = ("arm", "a user is", *HEADER[1:])
    return [header, *((row.arm.key, _neighbour(row), *_cells(row)) for row in rows(experiment))]


def _neighbour(row: Row) -> str:
    return "there or not" if row.added else "replaced"


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.found["attack"] if not row.broken else f"{row.found['attack']} (broken)",
        f"{row.claimed:g}",
        f"{row.certified:.3f}" if not row.broken else f"pretends {row.certified:.3f}",
        f"{row.audited:.3f}",
        "-" if row.by_mu is None else f"{row.by_mu:.3f}",
        f"{row.found['delta']:g}",
        "yes" if row.caught else "no",
    )


def report(experiment: StoredExperiment, folder: Path, _stored: Stored) -> list[Path]:
    """audit.md for readers, audit.csv for programs."""
    made = rows(experiment)
    text = folder / "audit.md"
    text.write_text(f"{_verdict(made)}\n\n{_tables(made)}\n")
    return [text, write_csv(folder / "audit.csv", COLUMNS, (_record(row) for row in made))]


def _verdict(made: list[Row]) -> str:
    honest, wrong = [row for row in made if not row.broken], [row for row in made if row.broken]
    above = [row.name for row in honest if row.caught]
    missed = [row.name for row in wrong if not row.caught]
    doubled = [row for row in honest if row.certified > 1.5 * row.claimed and row.audited > row.claimed]
    added = [row for row in honest if row.added]
    lines = [
        "# What an attacker gets out of the compiled engine",
        "",
        f"- {len(honest) - len(above)} of {len(honest)} attacks on honest mechanisms stay below the certificate"
        + (f"; above it: {', '.join(above)}." if above else "."),
        f"- {len(wrong) - len(missed)} of {len(wrong)} releases that are broken on purpose are caught"
        + (f"; missed: {', '.join(missed)}." if missed else "."),
    ]
    for row in doubled:
        lines.append(
            f"- {row.name}: claims ε = {row.claimed:g} (a user added or removed), certifies {row.certified:g} "
            f"if she is replaced, and the attack shows at least {row.audited:.2f} there: the factor 2 of "
            "[D8](../DEVIATIONS.md)."
        )
    for row in added:
        lines.append(
            f"- {row.name}: certifies {row.certified:g} under this relation, {_delta(row)}, the attack "
            f"finds at least {row.audited:.2f} of it."
        )
    actions = [row for row in honest if row.found["attack"] == "actions"]
    for row in actions:
        share = 100.0 * row.audited / row.certified
        lines.append(
            f"- Actions, {row.name}: who sees only the policies of the other users recovers at least "
            f"{row.audited:.2f} of ε = {row.certified:g} ({share:.0f}%; {_delta(row)}, a user "
            "replaced). One attack's lower bound, on a problem made to be attacked."
        )
    lines.append(
        f"- All {sum(row.bounds for row in made)} bounds hold together with probability at least "
        f"1 - {false_alarms(made):.1e}; each alone with {_confidence(made)}. A bound below the certificate "
        "proves nothing about the mechanism."
    )
    return "\n".join(lines)


def _delta(row: Row) -> str:
    return "pure" if row.found["delta"] == 0.0 else f"δ = {row.found['delta']:g}"


def _tables(made: list[Row]) -> str:
    parts = [
        "All ε are for a user who is replaced, where no other relation stands beside the name; δ = 0 is pure. "
        "`caught`: above what is certified."
    ]
    for panel, title in TITLES.items():
        inside = [(row.name, *_cells(row)) for row in made if row.arm.panel == panel]
        if inside:
            parts.append(f"## {title}\n\n{markdown(('mechanism', *HEADER[1:]), inside)}")
    return "\n\n".join(parts)


def _record(row: Row) -> tuple[object, ...]:
    found = row.found
    return (
        row.arm.key,
        row.arm.panel,
        row.arm.label,
        found["broken"] or "",
        found["attack"],
        found["counts"]["score"],
        found["relation"],
        found["delta"],
        found["claimed"],
        found["pretended_add_remove"],
        found["pretended"],
        found["audited"],
        found["counts"]["hits"],
        found["counts"]["false"],
        found["counts"]["trials"],
        "" if found["pretended_mu"] is None else found["pretended_mu"],
        "" if found["audited_mu"] is None else found["audited_mu"],
        "" if found["audited_by_mu"] is None else found["audited_by_mu"],
        found["alpha"],
        row.caught,
    )


STUDY = Study(draw, caption, table, report)
