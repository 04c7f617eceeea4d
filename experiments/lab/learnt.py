"""Whether a run learnt anything at all: with noise too large or factors too careful, no Q leaves its start."""

from dpucbvi.trace import none_learnt
from experiments.lab.store import StoredExperiment
from experiments.lab.tell import few


def learnt_nothing(experiment: StoredExperiment) -> list[str]:
    """A line that names the arms no run of which learnt anything, and what to do; none if there are none."""
    arms = [arm.key for arm in experiment.arms if none_learnt([run.trace for run in arm.runs])]
    if not arms:
        return []
    choosing = any("bonus.scale" in arm.point for arm in experiment.arms)  # a grid of factors
    return [
        f"{few(arms)}: nothing was learnt, no Q left H; a larger K or privatizer.epsilon, or factors below 1 "
        f"(bonus.scale, confidence.scale{'' if choosing else '; +exp=calibrate chooses them'}), would let it"
    ]
