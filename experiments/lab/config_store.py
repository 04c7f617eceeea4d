"""An environment is one function: without a yaml file of its own, its signature is its config."""

from inspect import Parameter
from pathlib import Path

from hydra.core.config_store import ConfigStore

from dpucbvi.environments import ENVIRONMENTS
from experiments.lab.strict import MISSING, arguments


def offer_environments(conf: Path) -> None:
    """Let Hydra take env=<name> for every environment that has no conf/env/<name>.yaml."""
    for name in ENVIRONMENTS:
        if not (conf / "env" / f"{name}.yaml").is_file():
            accepted = arguments(ENVIRONMENTS[name]).items()
            node = {key: MISSING if a.default is Parameter.empty else a.default for key, a in accepted}
            ConfigStore.instance().store(group="env", name=name, node={"name": name, **node})
