"""figure1.md and figure1.csv: the table beside Figure 1, from the runs of +exp=riverswim and matching.csv."""

import csv
import math
from pathlib import Path

from dpucbvi.errors import InputError
from dpucbvi.figure1 import LITERAL, PER_STEP, POOLED, PRIVATE_UCB_VI, Variant, compared, final, find
from dpucbvi.matching import SCALE
from dpucbvi.printed import final_regrets, printed_curves
from dpucbvi.reports.files import markdown, write_csv
from dpucbvi.stats import three_digits
from dpucbvi.store import StoredArm, StoredExperiment
from dpucbvi.verdicts import SENTENCES, verdicts

NAMES = {
    "non_private": "non-private",
    "jdp_eps2": "JDP, ε = 2",
    "jdp_eps1": "JDP, ε = 1",
    "ldp_eps2": "LDP, ε = 2",
}
COLUMNS = {
    "(a) DP-UCBVI": ("a", PER_STEP),
    "(a) literal constants": ("a", LITERAL),
    "(a) pooled": ("a", POOLED),
    "(a) Private-UCB-VI": ("a", PRIVATE_UCB_VI),
    "(b) DP-UCBVI": ("b", PER_STEP),
    "(b) pooled": ("b", POOLED),
    "(b) Private-UCB-VI": ("b", PRIVATE_UCB_VI),
}
JUDGED = ("(a) DP-UCBVI", "(a) pooled", "(b) DP-UCBVI", "(b) pooled")
HEADER = (
    *("arm", "panel", "printed_curve", "algorithm", "bonus_scale", "confidence_scale", "model"),
    *("epsilon_add_remove", "epsilon_replace_one", "runs", "regret", "half_width"),
)


def write_figure1(experiment: StoredExperiment, folder: Path) -> list[Path]:
    matching = folder / "matching.csv"
    if not matching.exists():
        raise InputError(f"{matching.name}: not there yet; run +exp=epsilon and write its table first")
    parts = [
        "<!-- Written by experiments/tables.py from stored results; do not edit. -->",
        "### Regret after 50,000 episodes, mean ± half the 95% interval\n",
        _regrets(experiment),
        "\n### Where the regret is the printed one, with 95% intervals\n",
        _matching(matching),
        "\n### The four sentences of Section 7, measured\n",
        _verdicts(experiment),
        "\n" + NOTES,
    ]
    text = folder / "figure1.md"
    text.write_text("\n".join(parts))
    return [text, write_csv(folder / "figure1.csv", HEADER, [_record(arm) for arm in experiment.arms])]


NOTES = """\
(a): noise as proven at the ε of the printed legend. (b): the ε, and for UCBVI the factor on its bonus, at which
the final regret is the printed one; found on other seeds than those run here. The final values of (b) are thus
fitted, its verdicts tell whether the order and the shape of the curves then agree too. Pooled rows are compared
with pooled UCBVI in (b), with UCBVI per step in (a). What the verdicts test is in `dpucbvi/verdicts.py`.
"""


def _regrets(experiment: StoredExperiment) -> str:
    printed = final_regrets(experiment.arms[0].runs[0].config)
    rows = [
        [name, f"{printed[curve]:,.0f}", *(_cell(experiment, *place, curve) for place in COLUMNS.values())]
        for curve, name in NAMES.items()
    ]
    return markdown(("printed curve", "printed", *COLUMNS), rows)


def _cell(experiment: StoredExperiment, panel: str, variant: Variant, curve: str) -> str:
    arm = find(experiment, panel, variant, curve)
    if arm is None:
        return "-"
    mean, half_width = final(arm)
    return f"{mean:,.0f} ± {half_width:,.0f}"


def _matching(path: Path) -> str:
    """From the written file: the same numbers that the config of panel b quotes."""
    with path.open() as file:
        rows = [[NAMES[row["curve"]], row["algorithm"], *_matched(row)] for row in csv.DictReader(file)]
    header = ("printed curve", "algorithm", "matched at, a user added or removed", "the same, a user replaced")
    return markdown(header, rows)


def _matched(row: dict[str, str]) -> tuple[str, str]:
    if not row["value"]:
        return "nowhere", "nowhere"
    x, low, high = (float(row[key]) for key in ("value", "low", "high"))
    if row["setting"] == SCALE:
        return f"bonus × {_with_interval(x, low, high)}", "not private"
    return f"ε = {_with_interval(x, low, high)}", f"ε = {_with_interval(2 * x, 2 * low, 2 * high)}"


def _with_interval(x: float, low: float, high: float) -> str:
    return f"{three_digits(x)} ({three_digits(low)} to {three_digits(high)})"


def _verdicts(experiment: StoredExperiment) -> str:
    columns = {name: compared(experiment, *COLUMNS[name]) for name in JUDGED}
    judged = {name: verdicts(curves) if curves else {} for name, curves in columns.items()}
    rows = [[s, *(found.get(s, "-") for found in judged.values())] for s in SENTENCES]
    return markdown(("the paper's sentence", *JUDGED), rows)


def _record(arm: StoredArm) -> tuple[object, ...]:
    config, (model, *epsilons) = arm.runs[0].config, arm.runs[0].certificate
    confidence = config["confidence"]["scale"] if model != "none" else ""
    certified = ["" if math.isinf(value) else f"{value:.4g}" for value in epsilons]
    numbers = [f"{value:.1f}" for value in final(arm)]
    who = (arm.key, arm.panel, arm.printed, arm.label, config["bonus"]["scale"], confidence, model)
    return (*who, *certified, len(arm.runs), *numbers)


assert set(NAMES) == set(printed_curves())
