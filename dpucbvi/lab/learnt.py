"""Whether a run learnt anything at all: with noise too large or factors too careful, no Q leaves its start."""

from dpucbvi.lab.store import StoredArm, StoredExperiment, StoredRun
from dpucbvi.lab.tell import few


def learnt_nothing(experiment: StoredExperiment) -> list[str]:
    """A line that names the arms no run of which learnt anything, and what to do; none if there are none."""
    arms = [arm.key for arm in experiment.arms if _nothing(arm)]
    if not arms:
        return []
    choosing = any("bonus.scale" in arm.point for arm in experiment.arms)  # a grid of factors
    return [
        f"{few(arms)}: nothing was learnt, no Q left H; a larger K or privatizer.epsilon, or factors below 1 "
        f"(bonus.scale, confidence.scale{'' if choosing else '; +exp=calibrate chooses them'}), would let it"
    ]


def _nothing(arm: StoredArm) -> bool:
    return bool(arm.runs) and all(_at_the_start(run) for run in arm.runs)


def _at_the_start(run: StoredRun) -> bool:
    """An audit, and a run stored without its Q, tell nothing of it."""
    if run.config.get("engine", {}).get("name") == "audit" or run.trace.Q.size == 0:
        return False
    return not run.trace.learnt
