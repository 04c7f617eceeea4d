"""The runs of +exp=riverswim by what they are compared with: panel, algorithm and printed curve.

Panel a has the ε of the printed legend, panel b the ε at which the regret is the printed one, panel c the ε of
the printed legend with other privatizers, certified for a user who is replaced. An algorithm is
named by its arms' label. The comparison within a variant, e.g. pooled counts, has a non-private member too.
"""

from typing import NamedTuple

import numpy as np

from dpucbvi.lab.store import StoredArm, StoredExperiment
from dpucbvi.studies.riverswim.verdicts import Regret
from dpucbvi.studies.shared.arms import finals_of
from dpucbvi.studies.shared.printed import printed_curves


class Variant(NamedTuple):
    """A comparison of four curves as in the printed figure."""

    private: str  # label of the private arms
    reference: dict[str, str]  # label of the non-private arm, by panel


PER_STEP = Variant("DP-UCBVI", {"a": "UCBVI", "b": "UCBVI"})
# In panel a the pooled runs are compared with UCBVI per step: that has the factor which was calibrated.
POOLED = Variant("DP-UCBVI, pooled", {"a": "UCBVI", "b": "UCBVI, pooled"})
PRIVATE_UCB_VI = Variant("Private-UCB-VI", {"a": "UCBVI", "b": "UCBVI"})
LITERAL = Variant("DP-UCBVI, literal", {"a": "UCBVI, literal"})
OTHERS = Variant("DP-UCBVI, pooled, other privatizers", {"c": "DP-UCBVI, pooled, not private"})


def find(experiment: StoredExperiment, panel: str, variant: Variant, curve: str) -> StoredArm | None:
    """The arm that stands for a printed curve, if there is one."""
    label = variant.private if curve != "non_private" else variant.reference.get(panel)
    arms = [arm for arm in experiment.arms if (arm.panel, arm.label, arm.printed) == (panel, label, curve)]
    assert len(arms) <= 1, f"panel {panel}: {label} stands for {curve} twice"
    return arms[0] if arms else None


def compared(experiment: StoredExperiment, panel: str, variant: Variant) -> dict[str, Regret] | None:
    """What the verdicts are computed from; None if an arm is missing or has a single run."""
    arms = {curve: find(experiment, panel, variant, curve) for curve in printed_curves()}
    present = {curve: arm for curve, arm in arms.items() if arm is not None and len(arm.runs) > 1}
    return {curve: regret(arm) for curve, arm in present.items()} if len(present) == len(arms) else None


def regret(arm: StoredArm) -> Regret:
    """The regret of every run at half its episodes and at the end."""
    episodes = arm.runs[0].trace.episodes
    half = np.array([np.interp(episodes[-1] / 2, episodes, run.trace.regret) for run in arm.runs])
    return Regret(half, finals_of(arm))
