"""mechanisms.md and mechanisms.csv: the tables beside the figure, from the stored runs and epsilon.csv."""

import csv
from pathlib import Path

import numpy as np

from dpucbvi.errors import InputError
from dpucbvi.stats import bootstrap, three_digits
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Rows, Stored
from experiments.studies.epsilon.matching import EPSILON
from experiments.studies.mechanisms.places import (
    COUNTS,
    MODELS,
    check_certified,
    first,
    is_papers,
    members,
    printed_of,
    reached,
)
from experiments.studies.shared.arms import certificate_of, config_of, finals_of, uniform_regret
from experiments.studies.shared.files import markdown, write_csv
from experiments.studies.shared.finals import as_regret, finals

EARLIER = {"pooled": "DP-UCBVI, pooled", "step": "DP-UCBVI"}  # the paper's mechanism in epsilon.csv
HEADER = (
    *("arm", "panel", "mechanism", "env", "model", "epsilon_replace_one", "delta", "bonus_factor"),
    *("confidence_factor", "runs", "mean", "low", "high", "median", "max"),
)
NOTES = """\
ε is certified for a user who is replaced, pure or at δ = 1e-6 where the mechanism says so. Intervals: 95%,
percentile bootstrap over runs. All factors on bonus and E are calibrated on other seeds of RiverSwim, far below
1: no bound of the paper covers these runs.

*Before* is the paper's mechanism as `epsilon.csv` has it, its ε doubled for a user who is replaced. *Before*
and *after* differ in more than the noise. *Before* has the factors that were calibrated for counts per step
(bonus × 0.0001, E × 0.01), for pooled counts too; Q at most H; no zeroing; the paper's families; and a release
after every user. *After* has factors of its own for each mechanism; Q at most H-h+1; cells below 3 standard
deviations of their noise set to 0; tuned families; streams (the trees and Toeplitz) that are released every 50
users; and, with Gaussian noise on pooled counts, clipped counts: only a user's first 4 visits of a pair count.

"not told": the mean falls to the printed regret, but many resamples of the runs do not. Of Gaussian batches per
step at ε = 8 `headline.md` has 50 runs, whose mean is above both printed ones.

The schedules of batches (first 150 users, then growth 1.3; per step 100 and 1.15), zeroing at 3 and the 1,000
counts that one question wants of every pair were chosen by hand on RiverSwim, beforehand: no calibration chose
them, and the rows *elsewhere* have them as they are.

Assumption 3.1 is kept with a wider E if cells are zeroed and if a stream is released every 50 users. It does
not hold for batches, one step, one question and clipped counts (paper/PRIVACY.md).
"""


def matched(experiment: StoredExperiment) -> Rows:
    """For every mechanism the ε at which it has a printed regret; the final regrets at another size."""
    if not any(printed_of(experiment, model) for model in MODELS):
        return finals(experiment)
    rows: Rows = [("printed curve", "counts", "mechanism", "reached at ε (replaced)", "95% interval")]
    for model in MODELS:
        for epsilon, wanted in printed_of(experiment, model).items():
            for panel, counts in COUNTS.items():
                for of in members(experiment, panel, model):
                    name = f"{model} ε = {epsilon:g}: {as_regret(wanted)}"
                    rows.append((name, counts, first(experiment, of).label, *_where(experiment, of, wanted)))
    return rows


def write(experiment: StoredExperiment, folder: Path, _: Stored) -> list[Path]:
    """Both files; *before* is read from the file that the study `epsilon` has written beside them."""
    check_certified(experiment)
    earlier = folder / "epsilon.csv"
    if not earlier.exists():
        raise InputError(f"mechanisms: its report needs {earlier}; run +exp=epsilon, then experiments/paper.py")
    parts = ["<!-- Written by experiments/paper.py from stored results; do not edit. -->"]
    for panel, counts in COUNTS.items():
        for model in MODELS:
            parts += [
                f"### {model}, {counts}: mean regret (median; largest)\n",
                _regrets(experiment, panel, model),
            ]
    parts += [
        "### The ε at which the regret is the printed one, a user replaced\n",
        _crossings(experiment, earlier),
    ]
    parts += ["### What each lever buys: pooled batches, pure ε = 1, a user replaced\n", _levers(experiment)]
    parts += ["### Elsewhere, with the factors chosen on RiverSwim\n", _elsewhere(experiment), NOTES]
    text = folder / "mechanisms.md"
    text.write_text("\n".join(f"{part}\n" if part.startswith("|") else part for part in parts))
    return [text, write_csv(folder / "mechanisms.csv", HEADER, [_record(arm) for arm in experiment.arms])]


def _regrets(experiment: StoredExperiment, panel: str, model: str) -> str:
    epsilons = sorted({arm.point[EPSILON] for arm in experiment.arms if arm.panel == panel})
    rows = []
    for of in members(experiment, panel, model):
        arms = {arm.point[EPSILON]: arm for arm in experiment.arms if arm.of == of}
        rows.append([first(experiment, of).label, *(_cell(arms[epsilon]) for epsilon in epsilons)])
    return markdown(("mechanism", *(f"ε = {epsilon:g}" for epsilon in epsilons)), rows)


def _cell(arm: StoredArm) -> str:
    values = finals_of(arm)
    return f"{values.mean():,.0f} ({np.median(values):,.0f}; {values.max():,.0f})"


def _where(experiment: StoredExperiment, of: str, wanted: float) -> tuple[str, str]:
    how, found = reached(experiment, of, wanted)
    ends = sorted(arm.point[EPSILON] for arm in experiment.arms if arm.of == of)
    if found is None:
        return (f"below {ends[0]:g}", "-") if how == "below" else (f"above {ends[-1]:g}", "-")
    if np.isnan(found.low):
        return f"about {three_digits(found.x)}", "not told"
    return three_digits(found.x), f"{three_digits(found.low)} to {three_digits(found.high)}"


def _crossings(experiment: StoredExperiment, earlier: Path) -> str:
    with earlier.open() as file:
        before = {(row["curve"], row["algorithm"]): row["value"] for row in csv.DictReader(file)}
    rows = []
    for model, start in MODELS.items():
        for epsilon, wanted in printed_of(experiment, model).items():
            for panel, counts in COUNTS.items():
                value = before[f"{start}_eps{epsilon:g}", EARLIER[panel]]
                doubled = three_digits(2.0 * float(value)) if value else "nowhere"
                for of in members(experiment, panel, model):
                    if not is_papers(first(experiment, of)):
                        after = _where(experiment, of, wanted)
                        name = f"{model} ε = {epsilon:g} ({wanted:,.0f})"
                        rows.append([name, counts, first(experiment, of).label, doubled, *after])
    return markdown(("printed", "counts", "mechanism", "before", "after", "95% interval"), rows)


def _levers(experiment: StoredExperiment) -> str:
    arms = [arm for arm in experiment.arms if arm.panel == "levers"]
    base = finals_of(arms[0]).mean()
    rows = [[arm.label, _cell(arm), _interval(arm), f"× {finals_of(arm).mean() / base:.2f}"] for arm in arms]
    return markdown(("batches with", "mean regret (median; largest)", "95% interval", "of all levers"), rows)


def _elsewhere(experiment: StoredExperiment) -> str:
    arms = [arm for arm in experiment.arms if arm.panel == "elsewhere"]
    rows = [
        [_env(arm), arm.label, _certified(arm), _cell(arm), _interval(arm), f"{uniform_regret(arm):,.0f}"]
        for arm in arms
    ]
    head = (
        "environment",
        "mechanism",
        "certified",
        "mean regret (median; largest)",
        "95% interval",
        "uniform policy",
    )
    return markdown(head, rows)


def _env(arm: StoredArm) -> str:
    env = config_of(arm)["env"]
    return f"{env['name']} {env['variant'] if 'variant' in env else env['seed']}"


def _certified(arm: StoredArm) -> str:
    certificate = certificate_of(arm)
    delta = f", δ = {certificate.delta:g}" if certificate.delta else ", pure"
    return f"{certificate.model} ε = {certificate.replace_one:.3g}{delta}"


def _interval(arm: StoredArm) -> str:
    _, low, high = bootstrap(finals_of(arm)[:, None])
    return f"{low[0]:,.0f} to {high[0]:,.0f}"


def _record(arm: StoredArm) -> tuple[object, ...]:
    config, certificate, values = config_of(arm), certificate_of(arm), finals_of(arm)
    _, (low,), (high,) = bootstrap(values[:, None])
    who = (arm.key, arm.panel, arm.label, _env(arm), certificate.model)
    privacy = (f"{certificate.replace_one:.4g}", f"{certificate.delta:g}")
    factors = (config["bonus"]["scale"], config["confidence"]["scale"], len(values))
    numbers = (values.mean(), low, high, np.median(values), values.max())
    return (*who, *privacy, *factors, *(f"{value:.1f}" for value in numbers))
