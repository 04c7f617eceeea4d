"""Panel b: the ε at which the regret is the printed one, the printed curves dashed beside ours."""

from matplotlib.axes import Axes

from dpucbvi.lab.stats import three_digits
from dpucbvi.lab.store import StoredArm, StoredExperiment
from dpucbvi.studies.riverswim.comparison import PER_STEP, POOLED, PRIVATE_UCB_VI, find
from dpucbvi.studies.riverswim.curves import HUES, certified, draw_all, draw_printed, set_log_axes, set_ticks
from dpucbvi.studies.shared.arms import certificate_of, config_of, episodes_of, mean_of
from dpucbvi.studies.shared.end_labels import EndLabel, draw_end_labels

POINTS_A_LABEL = 36.0  # three lines of text and some air
OTHERS = {"pooled ": POOLED, "P-UCB-VI ": PRIVATE_UCB_VI}


def draw_matched(axes: Axes, experiment: StoredExperiment) -> None:
    axes.set_title("(b) ε matched to the printed curves", loc="left", fontsize=9)
    draw_all(axes, experiment, "b", (PER_STEP, POOLED, PRIVATE_UCB_VI))
    labels = []
    for curve, hue in HUES.items():
        arm = find(experiment, "b", PER_STEP, curve)
        if arm is None:
            continue
        draw_printed(axes, arm)
        labels.append(EndLabel(*_names(experiment, arm), hue, "", episodes_of(arm), mean_of(arm)))
    set_log_axes(axes, experiment, "b", 50)
    set_ticks(axes)
    if labels:
        draw_end_labels(axes, labels, POINTS_A_LABEL)


def _names(experiment: StoredExperiment, arm: StoredArm) -> tuple[str, str]:
    """What the arm certifies; below, the printed ε and what the other algorithms certify at the same regret."""
    curve = str(arm.printed)
    others = [(name, find(experiment, "b", variant, curve)) for name, variant in OTHERS.items()]
    if curve == "non_private":
        both = [("", arm), *others[:1]]
        factors = [f"{name}{config_of(a)['bonus']['scale']:g}" for name, a in both if a is not None]
        return arm.label, f"not private\nbonus × {', '.join(factors)}"
    epsilons = [f"{name}{three_digits(certificate_of(a).add_remove)}" for name, a in others if a is not None]
    return certified(arm), f"printed as ε = {curve[-1]}\n{', '.join(epsilons)}"
