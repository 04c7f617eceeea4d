"""Panel b: one set of constants and the noise that explain the printed curves, which are dashed beside ours."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from dpucbvi.drawing.end_labels import EndLabel, draw_end_labels
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies.riverswim.comparison import PER_STEP, find
from experiments.studies.riverswim.curves import certified, draw_all, draw_printed, set_log_axes, show_printed
from experiments.studies.shared.arms import beside_bare, config_of, episodes_of, laplace_of, mean_of
from experiments.studies.shared.sheet import write_title
from experiments.studies.shared.style import HUES, QUIET, SMALL, set_ticks

POINTS_A_LABEL = 27.0  # two lines of text and some air
LOCAL = "ldp_eps2"
BARE = {"jdp_eps1": 1.0, "jdp_eps2": 0.5}  # b of Lap(b) in a node, if it is 1/ε for the printed ε


def draw_explained(axes: Axes, experiment: StoredExperiment) -> None:
    write_title(axes, f"(b) {_noise(experiment)}")
    style: dict[str, Any] = {"transform": axes.transAxes, "fontsize": SMALL, "color": QUIET}
    axes.text(0.985, 0.03, _factors(experiment), ha="right", **style)
    draw_all(axes, experiment, "b", (PER_STEP,))
    labels = []
    for curve, hue in HUES.items():
        arm = find(experiment, "b", PER_STEP, curve)
        if arm is not None:
            draw_printed(axes, arm)
            labels.append(EndLabel(*_names(arm), hue, "", episodes_of(arm), mean_of(arm)))
    set_log_axes(axes, experiment, "b", 50)
    show_printed(axes)
    set_ticks(axes)
    axes.set_ylabel("cumulative regret", labelpad=1)
    if labels:
        draw_end_labels(axes, labels, POINTS_A_LABEL)


def noise_in_words(experiment: StoredExperiment) -> str:
    """For the caption: where the noise of panel b is, and that of a user if it is not Lap(1/ε) too."""
    local = find(experiment, "b", PER_STEP, LOCAL)
    if not _is_bare(experiment):
        return ""
    users = f"; under LDP a user adds {beside_bare(local)}" if local is not None else ""
    return f"Noise in (b): Lap(1/ε) on every node for the printed ε{users}. "


def _noise(experiment: StoredExperiment) -> str:
    """What the title calls it: Lap(1/ε), for the printed ε, if both JDP arms have it in their nodes."""
    if not _is_bare(experiment):
        return "fitted to the figure"
    local = find(experiment, "b", PER_STEP, LOCAL)
    users = f", LDP: {laplace_of(local)}" if local is not None else ""
    return f"JDP: Lap(1/ε){users}, fitted"


def _is_bare(experiment: StoredExperiment) -> bool:
    arms = [find(experiment, "b", PER_STEP, curve) for curve in BARE]
    scales = [arm.runs[0].trace.noise_scale for arm in arms if arm is not None]
    return len(scales) == len(BARE) and np.allclose(scales, list(BARE.values()))


def _factors(experiment: StoredExperiment) -> str:
    """The factors that all arms of the panel share; E has none without privacy."""
    configs = [config_of(arm) for arm in experiment.arms if arm.panel == "b"]
    private = [config for config in configs if config["privatizer"]["name"] != "non_private"]
    bonus = _all({config["bonus"]["scale"] for config in configs})
    return f"bonus × {bonus}, $E$ × {_all({config['confidence']['scale'] for config in private})}"


def _all(values: set[float]) -> str:
    return ", ".join(f"{value:g}" for value in sorted(values))


def _names(arm: StoredArm) -> tuple[str, str]:
    """What the arm certifies; below, the printed ε."""
    curve = str(arm.printed)
    if curve == "non_private":
        return "DP-UCBVI", "not private"
    return certified(arm), f"printed as ε = {curve[-1]}"
