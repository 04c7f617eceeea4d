"""Panel c: the ε of the printed legend, certified for a user who is replaced, with other privatizers."""

from matplotlib.axes import Axes

from dpucbvi.lab.stats import three_digits
from dpucbvi.lab.store import StoredArm, StoredExperiment
from dpucbvi.studies.riverswim.comparison import OTHERS, find
from dpucbvi.studies.riverswim.curves import HUES, draw_all, draw_printed, set_log_axes, set_ticks
from dpucbvi.studies.shared.arms import certificate_of, config_of, episodes_of, mean_of
from dpucbvi.studies.shared.end_labels import EndLabel, draw_end_labels
from dpucbvi.studies.shared.finals import as_regret

POINTS_A_LABEL = 36.0  # three lines of text and some air
NAMES = {"batches": "batches", "one_question": "one question"}


def draw_certified(axes: Axes, experiment: StoredExperiment) -> None:
    axes.set_title("(c) ε as printed, other privatizers", loc="left", fontsize=9)
    draw_all(axes, experiment, "c", (OTHERS,))
    labels = []
    for curve, hue in HUES.items():
        arm = find(experiment, "c", OTHERS, curve)
        if arm is not None:
            draw_printed(axes, arm)
            labels.append(EndLabel(*_names(arm), hue, "", episodes_of(arm), mean_of(arm)))
    set_log_axes(axes, experiment, "c", 50)
    set_ticks(axes)
    axes.set_ylabel("cumulative regret", labelpad=1)
    if labels:
        draw_end_labels(axes, labels, POINTS_A_LABEL)


def _names(arm: StoredArm) -> tuple[str, str]:
    """What the arm certifies if a user is replaced; below, by which privatizer, and its last mean."""
    certificate, mean = certificate_of(arm), as_regret(mean_of(arm))
    if certificate.model == "none":
        return "DP-UCBVI", f"not private\nends at {mean}"
    privatizer = NAMES[config_of(arm)["privatizer"]["name"]]
    return f"{certificate.model} ε = {three_digits(certificate.replace_one)}", f"{privatizer}\nends at {mean}"
