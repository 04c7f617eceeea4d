"""Regret against episodes, for any experiment: what dp.plot draws, with the printed curves dashed beside it."""

from matplotlib.figure import Figure

from dpucbvi.drawing.regret import Panel, curve, draw as draw_curves
from dpucbvi.plot import caption as caption_of, with_learnt
from experiments.lab.assemble import stored_environment
from experiments.lab.store import StoredExperiment
from experiments.studies import Study
from experiments.studies.shared.arms import environment_name, names
from experiments.studies.shared.printed import printed_beside

PRINTED = "reported in the paper's Figure 1"


def draw(experiment: StoredExperiment) -> Figure:
    """One curve per arm, named at its end with the ε it certifies and with what else tells it from others."""
    arms, curves = experiment.arms, []
    for i, (arm, (name, detail)) in enumerate(zip(arms, names(arms), strict=True)):
        traces = [run.trace for run in arm.runs]
        said = name, with_learnt(detail, traces)
        curves.append(curve(traces[0].episodes, arm.regret, *said, i, printed_beside(arm)))
    environments = [arm.config["env"] for arm in arms]
    alike = all(env == environments[0] for env in environments)
    mdp = stored_environment(environments[0]) if alike else None
    H, S, A = arms[0].sizes
    one = f"Regret on {environment_name(environments[0])}, $S={S}$, $A={A}$, $H={H}$"
    title = one if alike else "Regret, several environments"
    return draw_curves(curves, Panel(title, "", mdp=mdp, dashed=PRINTED))


def caption(experiment: StoredExperiment) -> str:
    """How many runs, the factors where they are not the paper's, and what ε means."""
    configs = [arm.config for arm in experiment.arms]
    private = [config for config in configs if config["privatizer"]["name"] != "non_private"]
    factors = {
        "bonus": [config["bonus"]["scale"] for config in configs],
        "E": [config["confidence"]["scale"] for config in private],
    }
    return caption_of([len(arm.runs) for arm in experiment.arms], bool(private), factors)


STUDY = Study(draw, caption=caption)
