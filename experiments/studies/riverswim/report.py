"""riverswim.md and riverswim.csv: the tables beside Figure 1, from the stored runs and epsilon.csv."""

import csv
import math
from pathlib import Path

from dpucbvi.errors import InputError
from dpucbvi.privacy.certificate import rounded_up
from dpucbvi.stats import three_digits
from experiments.lab.store import StoredArm, StoredExperiment
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
from experiments.studies.shared.tables import WRITTEN, markdown, write_csv

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
NOTES = """\
(a): noise as proven at the ε of the printed legend, pure, certified if a user is added or removed (twice if
replaced). (b): one factor on the bonus and one on E for all four curves, and the noise, fitted to the printed
curves on other seeds (`explain.md`): its values are thus no evidence that the printed ε are right. (c): the ε
of the printed legend, pure and certified if a user is replaced, with batches (JDP) and one question per user
(LDP) in place of the paper's noise, pooled counts, the changes D29 to D31 to the algorithm, and DP-UCBVI itself
without privacy as the non-private curve (`mechanisms.md` has more runs). matched: the ε, and for UCBVI the
factor on its bonus, at which the final regret is the printed one, with calibrated factors; found on other seeds
than those run here (nowhere: not up to ε = 10,000). The paper's 5 runs say little of heavy tails: `headline.md`
has 50 runs, what each comparison is worth, and the verdicts on the sentences of Section 7.
"""


def write(experiment: StoredExperiment, folder: Path, _: Stored) -> list[Path]:
    """Both files; the matches are read from the file that the study `epsilon` has written beside them."""
    matching = folder / "epsilon.csv"
    if not matching.exists():
        raise InputError(f"riverswim: its report needs {matching}; run +exp=epsilon, then experiments/paper.py")
    parts = [
        WRITTEN,
        "### Regret after 50,000 episodes, mean ± half the 95% interval\n",
        _regrets(experiment),
        "\n### Where the regret is the printed one, with 95% intervals\n",
        _matching(matching),
        "\n" + NOTES,
    ]
    text = folder / "riverswim.md"
    text.write_text("\n".join(parts))
    return [text, write_csv(folder / "riverswim.csv", map(_record, experiment.arms))]


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


def _record(arm: StoredArm) -> dict[str, object]:
    config, (model, *epsilons) = arm.config, arm.certificate[:3]
    add_remove, replace_one = ("" if math.isinf(value) else f"{rounded_up(value):g}" for value in epsilons)
    regret, half_width = (f"{value:.1f}" for value in arm.interval)
    return {
        **{"arm": arm.key, "panel": arm.panel, "printed_curve": arm.printed, "algorithm": arm.label},
        "bonus_factor": config["bonus"]["scale"],
        "confidence_factor": config["confidence"]["scale"] if model != "none" else "",
        **{"model": model, "epsilon_add_remove": add_remove, "epsilon_replace_one": replace_one},
        **{"runs": len(arm.runs), "regret": regret, "half_width": half_width},
    }
