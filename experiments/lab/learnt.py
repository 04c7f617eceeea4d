"""Whether a run learnt anything at all: with noise too large or factors too careful, no Q leaves its start."""

from dpucbvi.trace import none_learnt, nothing_learnt
from experiments.lab.store import StoredExperiment
from experiments.lab.tell import few


def learnt_nothing(experiment: StoredExperiment) -> list[str]:
    """A line that names the arms no run of which learnt anything, and what to do; none if there are none."""
    arms = [arm for arm in experiment.arms if none_learnt([run.trace for run in arm.runs])]
    if not arms:
        return []
    bounds = [arm.runs[0].trace.about.get("least_K") for arm in arms]
    least = min((bound for bound in bounds if bound is not None), default=None)
    said = nothing_learnt(None if None in bounds else least)
    choosing = any("bonus.scale" in arm.point for arm in experiment.arms)  # a grid of factors
    return [
        f"{few([arm.key for arm in arms])}: {said}; a larger K or privatizer.epsilon, or factors below 1 "
        f"(bonus.scale, confidence.scale{'' if choosing else '; +exp=calibrate chooses them'}), would let it"
    ]
