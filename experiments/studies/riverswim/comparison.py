"""The runs of +exp=riverswim by what they are compared with: panel, algorithm and printed curve.

Panel a has the ε of the printed legend, panel b the noise and the factors of the hypothesis that is nearest
to the printed curves, panel c the ε of the printed legend with other privatizers, certified for a user who is
replaced. The panel `matched`, in the table only, has the ε at which the regret is the printed one. An
algorithm is named by its arms' label.
"""

from typing import NamedTuple

from experiments.lab.store import StoredArm, StoredExperiment


class Variant(NamedTuple):
    """A comparison of four curves as in the printed figure."""

    private: str  # label of the private arms
    reference: dict[str, str]  # label of the non-private arm, by panel


PER_STEP = Variant("DP-UCBVI", {"a": "UCBVI", "matched": "UCBVI", "b": "DP-UCBVI, not private"})
# In panel a the pooled runs are compared with UCBVI per step: that has the factor which was calibrated.
POOLED = Variant("DP-UCBVI, pooled", {"a": "UCBVI", "matched": "UCBVI, pooled"})
PRIVATE_UCB_VI = Variant("Private-UCB-VI", {"a": "UCBVI", "matched": "UCBVI"})
LITERAL = Variant("DP-UCBVI, literal", {"a": "UCBVI, literal"})
OTHERS = Variant("DP-UCBVI, pooled, other privatizers", {"c": "DP-UCBVI, pooled, not private"})


def find(experiment: StoredExperiment, panel: str, variant: Variant, curve: str) -> StoredArm | None:
    """The arm that stands for a printed curve, if there is one."""
    label = variant.private if curve != "non_private" else variant.reference.get(panel)
    arms = [arm for arm in experiment.arms if (arm.panel, arm.label, arm.printed) == (panel, label, curve)]
    assert len(arms) <= 1, f"panel {panel}: {label} stands for {curve} twice"
    return arms[0] if arms else None
