"""An MDP small enough for the constants as printed: regret, and how much of it is still paid in an episode."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from dpucbvi.drawing.end_labels import EndLabel, draw_end_labels
from dpucbvi.privacy.certificate import at_most
from dpucbvi.protocol import Floats
from dpucbvi.stats import exponent, exponent_text, summarise, tail
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Rows, Stored, Study
from experiments.studies.literal import check_literal, episodes_needed, literal_setup
from experiments.studies.shared.arms import check_same_grid, runs_text
from experiments.studies.shared.style import ALGORITHMS, PRIVACY, Line, band, new_panels
from experiments.studies.shared.tables import WRITTEN, as_regret, markdown

FIRST = 1e3  # episode shown
LAST = 10**0.5  # the slopes are over this last factor in k: half a decade
SECOND_LINE = (0, (5, 1.5))  # DP-UCBVI without privacy, beside UCBVI
POINTS = 40  # windows in which regret per episode is measured, evenly spaced in log k
HEADER = (
    "arm",
    "regret",
    "slope at the end",
    "bonus below H from",
    "regret of an episode: at first",
    "at the end",
)
NOTES = """\
Printed constants; regret after {K:,} episodes. Slope: of log regret against log k over the last half decade.
"bonus below H from": from this episode on DP-UCBVI's bonus can be below H, and no sooner. The regret of an
episode is the mean within the first and the last of {windows} windows that are even in log k, from episode
{first:,.0f} on. Until a bonus is below H, Q̃ = H everywhere and the tie goes to the first action, the worse one.
Once its Q̃ is below H, the better one alone is taken; when its Q̃ has fallen too, both are, ever less often the
worse. ε: if a user is added or removed.
"""


def draw(experiment: StoredExperiment) -> Figure:
    """Regret against episodes, a label with its slope at the end of every arm."""
    check_same_grid(experiment)
    check_literal(experiment)
    figure, (axes,) = new_panels([2.9])
    K = experiment.arms[0].K
    labels = []
    for arm in experiment.arms:
        hue, dashes = _look(arm)
        mean, half_width = summarise(arm.regret)
        band(axes, arm.episodes, mean, half_width, color=hue, linestyle=dashes)
        labels.append(EndLabel(_name(arm), f"slope {_slope(arm)}", hue, "", float(K), float(mean[-1])))
    axes.set(xscale="log", yscale="log", xlim=(min(FIRST, K / 4), K), xlabel="episode")
    axes.set_ylim(bottom=10.0)
    axes.set_ylabel("cumulative regret")
    draw_end_labels(axes, labels)
    return figure


def per_episode(arm: StoredArm) -> tuple[Floats, Floats]:
    """The mean regret of an episode within windows that are even in log k, and their middles."""
    episodes = arm.episodes.astype(np.float64)
    first = min(FIRST, episodes[-1] / 4)
    edges = np.unique(np.searchsorted(episodes, np.geomspace(first, episodes[-1], POINTS + 1)))
    edges = edges[edges < len(episodes)]
    k = episodes[edges]
    return np.sqrt(k[1:] * k[:-1]), np.diff(arm.regret.mean(axis=0)[edges]) / np.diff(k)


def bonus_below(arm: StoredArm) -> int | None:
    """The K from which the bonus of DP-UCBVI is below H."""
    config = arm.config
    if config["agent"]["name"] != "dp_ucbvi":
        return None
    model, pooled = config["privatizer"], config["agent"]["pooled"]
    setup = literal_setup(config, pooled, model["name"], model.get("epsilon", 1.0))
    return episodes_needed(setup, config["env"]["H"])


def table(experiment: StoredExperiment) -> Rows:
    """How far every arm has come."""
    return [HEADER, *(_row(arm) for arm in experiment.arms)]


def write(experiment: StoredExperiment, folder: Path, _: Stored) -> list[Path]:
    header, *rows = table(experiment)
    notes = NOTES.format(K=experiment.arms[0].K, windows=POINTS, first=FIRST)
    path = folder / "literal_learns.md"
    path.write_text("\n".join([WRITTEN, markdown(header, rows), "\n" + notes]))
    return [path]


def _row(arm: StoredArm) -> tuple[str, ...]:
    _, rate = per_episode(arm)
    needed = bonus_below(arm)
    from_ = "-" if needed is None else f"{needed:,}"
    return (_name(arm), as_regret(arm.mean), _slope(arm), from_, f"{rate[0]:.1g}", f"{rate[-1]:.1g}")


def _slope(arm: StoredArm) -> str:
    return exponent_text(exponent(*tail(arm.episodes.astype(np.float64), arm.regret, LAST)), "").strip()


def _look(arm: StoredArm) -> tuple[str, Line]:
    """Colour by privacy, line by algorithm."""
    model = arm.certificate.model
    dashes, *_ = ALGORITHMS[arm.label]
    return PRIVACY[model], SECOND_LINE if model == "none" and arm.label != "UCBVI" else dashes


def _name(arm: StoredArm) -> str:
    model, epsilon, _ = arm.certificate[:3]
    pooled = ", pooled" if arm.config["agent"]["pooled"] else ""
    return f"{arm.label}, not private" if model == "none" else f"{model} ε = {at_most(epsilon)}{pooled}"


def caption(experiment: StoredExperiment) -> str:
    H, S, A = experiment.arms[0].sizes
    runs = runs_text(experiment)
    of = f"{runs} of each arm" if runs == "1 run" else f"mean and 95% interval of {runs}"
    return (
        "An MDP small enough for the constants as printed. "
        f"RiverSwim with S = {S}, A = {A}, H = {H}, printed constants; {of}. "
        "Slope: of log regret against log k, last half decade. ε: if a user is added or removed (DP-UCBVI). "
        "literal_learns.md has the episodes that a bonus below H takes, and what is still paid in one."
    )


STUDY = Study(draw, caption, table, write, points=400)
