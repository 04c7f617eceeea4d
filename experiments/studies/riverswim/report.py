"""riverswim.md: the tables beside Figure 1, from the stored runs and epsilon.csv."""

import csv
from pathlib import Path

from dpucbvi.errors import InputError
from dpucbvi.stats import three_digits
from experiments.lab.store import StoredExperiment
from experiments.studies import Stored
from experiments.studies.epsilon import FACTOR
from experiments.studies.riverswim.panels import (
    LITERAL,
    OTHERS,
    PER_STEP,
    POOLED,
    PRIVATE_UCB_VI,
    Variant,
    find,
)
from experiments.studies.shared.printed import final_regrets
from experiments.studies.shared.tables import markdown, write_page

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
    "(b) explained": ("b", PER_STEP),
    "(c) other privatizers": ("c", OTHERS),
    "matched": ("matched", PER_STEP),
    "matched, pooled": ("matched", POOLED),
    "matched, Private-UCB-VI": ("matched", PRIVATE_UCB_VI),
}


def write(experiment: StoredExperiment, folder: Path, _: Stored) -> list[Path]:
    """The page; the matches are read from the file that the study `epsilon` has written beside them."""
    matching = folder / "epsilon.csv"
    if not matching.exists():
        raise InputError(f"riverswim: its report needs {matching}; run +exp=epsilon, then experiments/paper.py")
    return [write_page(folder, "riverswim", regrets=_regrets(experiment), matching=_matching(matching))]


def _regrets(experiment: StoredExperiment) -> str:
    printed = final_regrets(experiment.arms[0].config)
    rows = [
        [name, f"{printed[curve]:,.0f}", *(_cell(experiment, *place, curve) for place in COLUMNS.values())]
        for curve, name in NAMES.items()
    ]
    return markdown(("printed curve", "printed", *COLUMNS), rows)


def _cell(experiment: StoredExperiment, panel: str, variant: Variant, curve: str) -> str:
    arm = find(experiment, panel, variant, curve)
    if arm is None:
        return "-"
    mean, half_width = arm.interval
    return f"{mean:,.0f} ± {half_width:,.0f}"


def _matching(path: Path) -> str:
    """From the written file: the same numbers that the config of the panel `matched` quotes."""
    with path.open() as file:
        rows = [[NAMES[row["curve"]], row["algorithm"], *_matched(row)] for row in csv.DictReader(file)]
    header = ("printed curve", "algorithm", "matched at, a user added or removed", "the same, a user replaced")
    return markdown(header, rows)


def _matched(row: dict[str, str]) -> tuple[str, str]:
    if not row["value"]:
        return "nowhere", "nowhere"
    x, low, high = (float(row[key]) for key in ("value", "low", "high"))
    if row["setting"] == FACTOR:
        return f"bonus × {_with_interval(x, low, high)}", "not private"
    return f"ε = {_with_interval(x, low, high)}", f"ε = {_with_interval(2 * x, 2 * low, 2 * high)}"


def _with_interval(x: float, low: float, high: float) -> str:
    return f"{three_digits(x)} ({three_digits(low)} to {three_digits(high)})"
