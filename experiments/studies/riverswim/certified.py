"""Panel c: the ε of the printed legend, certified for a user who is replaced, with other privatizers."""

from typing import Any

from matplotlib.axes import Axes

from dpucbvi.drawing.end_labels import EndLabel, draw_end_labels
from dpucbvi.stats import three_digits
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies.riverswim.comparison import OTHERS, find
from experiments.studies.riverswim.curves import draw_all, draw_printed, set_log_axes, show_printed
from experiments.studies.riverswim.proven import LEGEND
from experiments.studies.shared.arms import certificate_of, config_of, episodes_of, mean_of
from experiments.studies.shared.finals import as_regret
from experiments.studies.shared.sheet import write_title
from experiments.studies.shared.style import HUES, QUIET, SMALL, set_ticks

POINTS_A_LABEL = 36.0  # three lines of text and some air


def as_printed(experiment: StoredExperiment) -> bool:
    """Whether every private arm certifies what the printed legend says, if a user is replaced."""
    arms = [arm for arm in experiment.arms if arm.panel == "c" and arm.printed != "non_private"]
    return bool(arms) and all(_certified(arm) == LEGEND[str(arm.printed)] for arm in arms)


def is_pure(experiment: StoredExperiment) -> bool:
    """Whether every δ is 0."""
    return all(certificate_of(arm).delta == 0.0 for arm in experiment.arms if arm.panel == "c")


def draw_certified(axes: Axes, experiment: StoredExperiment) -> None:
    title = "(c) " + "ε as printed, " * as_printed(experiment) + "other privatizers"
    write_title(axes, title)
    draw_all(axes, experiment, "c", (OTHERS,))
    labels = []
    for curve, hue in HUES.items():
        arm = find(experiment, "c", OTHERS, curve)
        if arm is None:
            continue
        draw_printed(axes, arm)
        if curve == "non_private":  # far below: it would squeeze the others
            text = f"without privacy: ends at\n{as_regret(mean_of(arm))}, below this axis"
            style: dict[str, Any] = {"transform": axes.transAxes, "fontsize": SMALL, "color": QUIET}
            axes.text(0.985, 0.03, text, ha="right", **style)  # the curves begin at the left
        else:
            labels.append(EndLabel(*_names(arm), hue, "", episodes_of(arm), mean_of(arm)))
    set_log_axes(axes, _private(experiment), "c", 50)
    show_printed(axes)
    set_ticks(axes)
    axes.set_ylabel("cumulative regret", labelpad=1)
    if labels:
        draw_end_labels(axes, labels, POINTS_A_LABEL)


def _private(experiment: StoredExperiment) -> StoredExperiment:
    arms = [arm for arm in experiment.arms if arm.panel != "c" or arm.printed != "non_private"]
    return experiment._replace(arms=arms)


def _names(arm: StoredArm) -> tuple[str, str]:
    """What the arm certifies if a user is replaced; below, by which privatizer, and its last mean."""
    certificate, mean = certificate_of(arm), as_regret(mean_of(arm))
    privatizer = config_of(arm)["privatizer"]["name"].replace("_", " ")
    delta = f", δ = {certificate.delta:g}" if certificate.delta else ""
    return _certified(arm), f"{privatizer}{delta}\nends at {mean}"


def _certified(arm: StoredArm) -> str:
    certificate = certificate_of(arm)
    return f"{certificate.model} ε = {three_digits(certificate.replace_one)}"
