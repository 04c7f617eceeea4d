"""The audit: of every mechanism the ε that it claims, that it certifies, and that an attack has found."""

from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Rows, Stored, Study
from experiments.studies.shared.arms import check_same_grid
from experiments.studies.shared.style import BLACK, MARKER, PRIVACY, SMALL, legend_below, new_panels
from experiments.studies.shared.tables import markdown, write_csv

TITLES = {
    "released": "What is released",
    "broken": "Broken on purpose",
    "actions": "What the other users are shown",
}
SHOWN = ("central_paper", "local_paper", "batches", "one_question")  # the others are in audit.md
MARKS: dict[str, dict[str, Any]] = {
    "claimed": {**MARKER, "marker": "o", "color": BLACK, "markerfacecolor": "white", "markeredgecolor": BLACK},
    "certified": {"marker": "|", "color": BLACK, "markersize": 11, "markeredgewidth": 1.6},
}
AUDITED = {"none": "audited, broken", "JDP": "audited, JDP", "LDP": "audited, LDP"}
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
    """A row for each of the mechanisms that are shown, or for all if these are not there."""
    check_same_grid(experiment)
    made = shown(experiment)
    figure, (axes,) = new_panels([0.7 + 0.25 * len(made)])
    for y, row in enumerate(made):
        hue = PRIVACY[row.arm.certificate.model]
        audited = max(row.audited, row.by_mu or 0.0)
        axes.plot([0.0, audited], [y, y], color=hue, linewidth=2.2, alpha=0.35, zorder=2)
        axes.plot(row.certified, y, **MARKS["certified"])
        axes.plot(row.claimed, y, **MARKS["claimed"])
        axes.plot(audited, y, marker="o", color=hue, zorder=5, **MARKER)
    axes.set_yticks(range(len(made)), [row.name for row in made])
    axes.tick_params(axis="y", length=0, labelcolor="black", labelsize=SMALL)
    axes.invert_yaxis()
    axes.margins(y=0.5 / len(made))
    axes.grid(False, axis="y")
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("ε, a user replaced")
    marks = [Line2D([], [], linestyle="", label=name, **mark) for name, mark in MARKS.items()]
    models = sorted({row.arm.certificate.model for row in made})
    marks += [
        Line2D([], [], linestyle="", marker="o", color=PRIVACY[model], label=AUDITED[model], **MARKER)
        for model in models
    ]
    legend_below(figure, marks, 2)
    return figure


def shown(experiment: StoredExperiment) -> list[Row]:
    """The rows of the figure."""
    made = rows(experiment)
    return [row for row in made if row.arm.key in SHOWN] or made


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
    return [text, write_csv(folder / "audit.csv", map(_record, made))]


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


def _record(row: Row) -> dict[str, object]:
    found, counts = row.found, row.found["counts"]
    through_mu = {
        "certified_mu": found["pretended_mu"],
        "audited_mu": found["audited_mu"],
        "audited_by_mu": found["audited_by_mu"],
    }
    return {
        **{"arm": row.arm.key, "panel": row.arm.panel, "label": row.arm.label, "broken": found["broken"] or ""},
        **{"attack": found["attack"], "score": counts["score"], "relation": found["relation"]},
        **{"delta": found["delta"], "claimed": found["claimed"]},
        "certified_add_remove": found["pretended_add_remove"],
        **{"certified": found["pretended"], "audited": found["audited"]},
        **{key: counts[key] for key in ("hits", "false", "trials")},
        **{key: "" if value is None else value for key, value in through_mu.items()},
        **{"alpha": found["alpha"], "caught": row.caught},
    }


STUDY = Study(draw, table, report)
