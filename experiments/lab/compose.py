"""The experiments of conf/exp as their files say them, with nothing changed."""

import hashlib
import json
from functools import cache
from typing import Any

from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf

from dpucbvi.sources import PACKAGE
from experiments.lab.config_store import offer_environments

CONF = PACKAGE.parent / "conf"


def experiments() -> list[str]:
    """The names of all of them."""
    return sorted(path.stem for path in (CONF / "exp").glob("*.yaml"))


@cache
def composed(name: str) -> DictConfig:
    """The config of `+exp=<name>`, to be read only."""
    offer_environments(CONF)
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = compose("config", [f"+exp={name}"])
    OmegaConf.set_readonly(config, True)
    return config


def fingerprint(config: DictConfig) -> str:
    """A hash of all that can change a result or a figure: of everything but how runs are computed."""
    tree: Any = OmegaConf.to_container(config, resolve=True)
    del tree["runtime"]
    return hashlib.sha256(json.dumps(tree, sort_keys=True).encode()).hexdigest()[:16]
