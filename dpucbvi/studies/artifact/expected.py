"""What conf/exp says of an experiment, to compare results with before they are called the paper's."""

from typing import Any

from dpucbvi.errors import InputError
from dpucbvi.lab.compose import CONF, composed, experiments
from dpucbvi.lab.experiment import experiment_from
from dpucbvi.lab.runner import index
from dpucbvi.studies import names
from dpucbvi.studies.shared.printed import printed_curves


def expected_arms(name: str) -> dict[str, dict[str, Any]]:
    """Every arm with the ids of its runs, as `+exp=<name>` would store them."""
    if name not in experiments():
        raise InputError(f"{name}: no such experiment; it must be one of {', '.join(experiments())}")
    return index(experiment_from(composed(name), CONF.parent, names(), printed_curves()))


def check_ids(name: str, found: dict[str, list[str]]) -> None:
    """Raise InputError unless these are the arms and run ids of `+exp=<name>`."""
    wanted = {key: arm["runs"] for key, arm in expected_arms(name).items()}
    arms = [key for key in {**wanted, **found} if wanted.get(key) != found.get(key)]
    if arms:
        more = f" and {len(arms) - 3} more arms" if len(arms) > 3 else ""
        raise InputError(
            f"{name}: has other settings than conf/exp/{name}.yaml ({', '.join(arms[:3])}{more}); "
            f"run it again (experiments/run.py +exp={name}; what is stored is kept), then `make ship`"
        )
