"""The audit: of every privatizer what it declares, and what a replay and attacks have found of it."""

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpucbvi.audit.audit import Finding
from dpucbvi.privacy.certificate import at_most
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Rows, Stored, Study
from experiments.studies.shared.arms import check_same_grid
from experiments.studies.shared.style import BLACK, MARKER, PRIVACY, SMALL, legend_below, new_panels
from experiments.studies.shared.tables import markdown, write_csv

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
DEFECTS = ("mechanism", "caught by the replay from", "by the attack on releases from")


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
    def acts(self) -> bool:
        return self.checks["attack"] == "actions"

    @property
    def claimed(self) -> float:
        return float(self.checks["claimed"])

    @property
    def certified(self) -> float:
        """ε if a user is replaced; a broken one only pretends it."""
        return max(one.declared for one in self.of("replace_one") if one.measure == "ε")

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


def false_alarms(made: list[Row]) -> float:
    """The probability that any bound of the experiment is too large, at most."""
    return sum(row.bounds * row.checks["alpha"] for row in made)


# --- the figure -----------------------------------------------------------------------------------------------


def draw(experiment: StoredExperiment) -> Figure:
    """A row for each of the mechanisms that are shown, or for all if these are not there."""
    check_same_grid(experiment)
    made = shown(experiment)
    figure, (axes,) = new_panels([0.7 + 0.25 * len(made)])
    for y, row in enumerate(made):
        hue = PRIVACY[row.arm.certificate.model]
        axes.plot([0.0, row.audited], [y, y], color=hue, linewidth=2.2, alpha=0.35, zorder=2)
        axes.plot(row.certified, y, **MARKS["certified"])
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
    marks = [Line2D([], [], linestyle="", label=name, **mark) for name, mark in MARKS.items()]
    models = sorted({row.arm.certificate.model for row in made})
    marks += [
        Line2D([], [], linestyle="", marker="o", color=PRIVACY[model], label=AUDITED[model], **MARKER)
        for model in models
    ]
    legend_below(figure, marks, 3)
    return figure


def shown(experiment: StoredExperiment) -> list[Row]:
    """The rows of the figure."""
    made = rows(experiment)
    return [row for row in made if row.arm.key in SHOWN] or made


def _confidence(made: list[Row]) -> str:
    return f"1 - {max(row.checks['alpha'] for row in made):.0e}"


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
        certified = max((one.declared for one in found if one.measure == "ε"), default=math.nan)
        cells = [_cell([one for one in found if one.attack in attacks]) for attacks in _COLUMNS]
        verdict = "caught" if any(one.caught for one in found) else "below"
        made.append((name, words, f"{row.checks['delta']:g}", at_most(certified), *cells, verdict))
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
        texts.append(f"{one.measure} {sign} {'∞' if math.isinf(one.found) else f'{one.found:.3f}'}{of}")
    return ", ".join(texts)


def report(experiment: StoredExperiment, folder: Path, _stored: Stored) -> list[Path]:
    """audit.md for readers, audit.csv for programs."""
    made = rows(experiment)
    text = folder / "audit.md"
    text.write_text(f"{_verdict(made)}\n\n{_tables(made)}\n", "utf-8")
    return [text, write_csv(folder / "audit.csv", (line for row in made for line in _records(row)))]


def _verdict(made: list[Row]) -> str:
    honest, wrong = [row for row in made if not row.broken], [row for row in made if row.broken]
    above = [row.name for row in honest if row.caught]
    missed = [row.name for row in wrong if not row.caught]
    by_replay = sum(any(one.caught and one.attack == "replay" for one in row.findings) for row in wrong)
    doubled = [
        row
        for row in honest
        if row.certified > 1.5 * row.claimed and row.audited > row.claimed and not row.acts
    ]
    lines = [
        "# What an audit finds",
        "",
        f"- {len(honest) - len(above)} of {len(honest)} audits of honest privatizers stay below the certificate"
        + (f"; above it: {', '.join(above)}." if above else "."),
        f"- {len(wrong) - len(missed)} of {len(wrong)} mistakes that are made on purpose are caught, "
        f"{by_replay} of them by the replay, without a trial"
        + (f"; missed: {', '.join(missed)}." if missed else "."),
    ]
    for row in doubled:
        added = row.largest("add_remove", "releases")
        lines.append(
            f"- {row.name}: claims ε = {row.claimed:g} (a user added or removed), where the attack finds at "
            f"least {added:.2f}. It certifies {row.certified:g} if she is replaced, and the attack shows at "
            f"least {row.audited:.2f} there: the factor 2 of [D8](../DEVIATIONS.md)."
        )
    lines += _low_bits(honest)
    for row in (row for row in honest if row.acts):
        share = 100.0 * row.audited / row.certified
        lines.append(
            f"- Actions, {row.name}: an attacker who sees only the other users' policies shows at least "
            f"{row.audited:.2f} of ε = {row.certified:g} ({share:.0f}%; {_delta(row)}, a user replaced), on a "
            "problem made for the attack."
        )
    lines += [
        "- Releases are attacked as they leave, not rounded. In the column `releases` the attacker rounds the "
        "score that decides to 1e-9, and so uses the size of numbers alone; in `lowest bits` their last bits.",
        f"- All {sum(row.bounds for row in made)} bounds hold together with probability at least "
        f"1 - {false_alarms(made):.1e}; each alone with {_confidence(made)}. A bound below the certificate "
        "proves nothing about the mechanism.",
    ]
    return "\n".join(lines)


def _low_bits(honest: list[Row]) -> list[str]:
    """Where the lowest bits give more away than is certified, by the kind of noise."""
    lines = []
    for words, exact in (("floating-point noise", False), ("exact noise", True)):
        found = [
            one
            for row in honest
            if (row.arm.config["privatizer"].get("noise") == "exact") == exact
            for one in row.findings
            if one.attack == "lowest bits"
        ]
        if not found:
            continue
        leaks = [one for one in found if one.found > one.declared]
        worst = f", the largest {max(one.found for one in leaks):.2f}" if leaks else ""
        advice = ": simulation only; release with exact noise" if leaks else ""
        lines.append(
            f"- Lowest bits of {words}: {len(leaks)} of {len(found)} attacks show more than is certified"
            f"{worst}{advice}."
        )
    return lines


def _delta(row: Row) -> str:
    return "pure" if row.checks["delta"] == 0.0 else f"δ = {row.checks['delta']:g}"


def _tables(made: list[Row]) -> str:
    parts = [
        "`replay` says how far the noise must move, with one user replaced or removed, for all releases to "
        "stay as they were; where users answer with exact coins, it is the largest ratio of their messages' "
        "laws. `=` is the loss itself, `≥` the bound of an attack. Gaussian noise also has the μ of Gaussian "
        "differential privacy. `caught` means more than is certified; a broken mechanism has the certificate "
        "that it would have without its mistake."
    ]
    for panel, title in TITLES.items():
        inside = [line for row in made if row.arm.panel == panel for line in _lines(row, row.name)]
        if inside:
            parts.append(f"## {title}\n\n{markdown(HEADER, inside)}")
    defects = [
        (row.name, _percent(row.checks["defect_replay"]), _percent(row.checks["defect_attack"]))
        for row in made
        if row.checks.get("defect_attack") is not None
        or (row.checks.get("defect_replay") is not None and not row.broken)
    ]
    if defects:
        parts.append(
            "## The smallest defect that is caught\n\nNoise that is so much smaller than it should be. The "
            "replay's is worked out from its loss, which is in proportion to 1/scale; that of the attack on "
            f"releases is a search by halves, a user replaced.\n\n{markdown(DEFECTS, defects)}"
        )
    return "\n\n".join(parts)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{abs(100.0 * share):.2g}%"


def _records(row: Row) -> list[dict[str, object]]:
    checks = row.checks
    about = {"arm": row.arm.key, "panel": row.arm.panel, "name": row.name, "broken": checks["broken"] or ""}
    return [{**about, "delta": checks["delta"], "claimed": row.claimed, **asdict(one)} for one in row.findings]


STUDY = Study(draw, table, report)
