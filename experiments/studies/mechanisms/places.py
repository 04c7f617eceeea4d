"""Where the arms of +exp=mechanisms belong: which model, which counts, and which printed regrets they may
have."""

import numpy as np

from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies.epsilon.matching import EPSILON, Match, match, series
from experiments.studies.shared.arms import certificate_of, config_of
from experiments.studies.shared.printed import DIGITISATION, final_regrets

MODELS = {"JDP": "jdp", "LDP": "ldp"}  # a certificate's name, and how a printed curve's begins
COUNTS = {"pooled": "pooled counts", "step": "counts per step"}  # the panels
PAPERS = ("central", "local")  # the paper's own privatizers
DELTA = 1e-6  # where it is not 0


def check_certified(experiment: StoredExperiment) -> None:
    """The horizontal axis is what every run certifies if a user is replaced, pure or at the one δ.

    A run of few episodes may end before anything is released: it certifies 0.
    """
    for arm in experiment.arms:
        found, delta = certificate_of(arm).replace_one, certificate_of(arm).delta
        as_told = found == 0.0 or np.isclose(found, arm.point[EPSILON], rtol=1e-6)
        assert as_told, f"{arm.key}: certifies ε = {found}"
        assert delta in (0.0, DELTA), f"{arm.key}: certifies δ = {delta}"


def members(experiment: StoredExperiment, panel: str, model: str) -> list[str]:
    """The arms of the config that belong there, in its order."""
    here = [arm.of for arm in experiment.arms if arm.panel == panel and certificate_of(arm).model == model]
    return list(dict.fromkeys(here))


def first(experiment: StoredExperiment, of: str) -> StoredArm:
    return next(arm for arm in experiment.arms if arm.of == of)


def is_papers(arm: StoredArm) -> bool:
    return config_of(arm)["privatizer"]["name"] in PAPERS


def printed_of(experiment: StoredExperiment, model: str) -> dict[float, float]:
    """The final regrets that the paper prints for this model, by their ε."""
    found = final_regrets(config_of(experiment.arms[0]))
    return {float(name[-1]): regret for name, regret in found.items() if name.startswith(MODELS[model])}


def reached(experiment: StoredExperiment, of: str, wanted: float) -> tuple[str, Match | None]:
    """Where the arm's mean regret falls to the wanted one: "at" an ε, "below" or "above" all that were run."""
    x, regret = series(experiment.arms, of, EPSILON)
    found = match(x, regret, wanted, DIGITISATION)
    if found is not None:
        return "at", found
    return ("below" if regret.mean(axis=1)[0] < wanted else "above"), None
