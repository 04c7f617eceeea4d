"""The settings of one run, as typed data: what Hydra composes and the factory builds from.

Every field that can change a result is here and nothing else, so the hash of the canonical form plus the seed
names the result (store.py). Fields that a choice does not read are None in the canonical form: two configs that
mean the same run have the same name.
"""

import math
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from dpucbvi.errors import InputError
from dpucbvi.projection import LP_OPTIONS


@dataclass
class EnvConfig:
    """An environment by name and the parameters it takes (None: not given)."""

    name: str = "riverswim"
    S: int | None = None
    A: int | None = None
    H: int | None = None
    variant: str | None = None
    seed: int | None = None
    path: str | None = None
    depth: int | None = None
    gap: float | None = None
    rewards: str | None = None


@dataclass
class AgentConfig:
    """An algorithm by name; `pooled` counts over h together, for stationary MDPs."""

    name: str = "dp_ucbvi"
    pooled: bool = False


@dataclass
class PrivatizerConfig:
    """How counts are released. `sensitivity`: H per family as in the paper, or 2H (replace_one)."""

    name: str = "central"
    epsilon: float | None = 1.0
    sensitivity: str | None = "paper"


@dataclass
class PostprocessConfig:
    """How noisy counts become private counts; the last two are cvxpy's."""

    name: str = "closed_form"
    solver: str | None = "HIGHS"
    canonical: bool | None = True


@dataclass
class BonusConfig:
    """One factor on the whole bonus; 1 is the paper."""

    scale: float = 1.0


@dataclass
class ConfidenceConfig:
    """E_{ε,β}: `proven`, or `printed` with its constant; `scale` multiplies it and is 1 in the paper."""

    name: str = "proven"
    constant: float | None = 1.0
    scale: float = 1.0


@dataclass
class EngineConfig:
    """`reference` (plain loops) or `fast` (compiled); cvxpy solves `lp_checks` LPs of a fast run again."""

    name: str = "fast"
    lp_checks: int | None = 200


@dataclass
class RunConfig:
    """One run but for its seed."""

    env: EnvConfig = field(default_factory=EnvConfig)
    agent: AgentConfig = field(default_factory=AgentConfig)
    privatizer: PrivatizerConfig = field(default_factory=PrivatizerConfig)
    postprocess: PostprocessConfig = field(default_factory=PostprocessConfig)
    bonus: BonusConfig = field(default_factory=BonusConfig)
    confidence: ConfidenceConfig = field(default_factory=ConfidenceConfig)
    engine: EngineConfig = field(default_factory=EngineConfig)
    K: int = 50_000
    beta: float = 0.05
    trace_points: int = 2_000


PRIVATIZERS = ("non_private", "central", "local")
POSTPROCESSES = ("none", "closed_form", "cvxpy")
CONFIDENCES = ("proven", "printed")
SENSITIVITIES = ("paper", "replace_one")
ENGINES = ("reference", "fast")


def canonical(config: RunConfig) -> RunConfig:
    """The same run with every unread field None; raises InputError for a value that is not accepted."""
    _one_of("privatizer.name", config.privatizer.name, PRIVATIZERS)
    _one_of("postprocess.name", config.postprocess.name, POSTPROCESSES)
    _one_of("confidence.name", config.confidence.name, CONFIDENCES)
    _one_of("engine.name", config.engine.name, ENGINES)
    _at_least("K", config.K, 1)
    _at_least("trace_points", config.trace_points, 2)
    _require("beta", config.beta, 0 < config.beta < 1, "a number in (0, 1)")
    _positive("bonus.scale", config.bonus.scale)
    _require(
        "confidence.scale",
        config.confidence.scale,
        _finite(config.confidence.scale) and config.confidence.scale >= 0,
        "a number >= 0",
    )
    return replace(
        config,
        privatizer=_canonical_privatizer(config.privatizer),
        postprocess=_canonical_postprocess(config.postprocess),
        confidence=_canonical_confidence(config.confidence, config.privatizer),
        engine=_canonical_engine(config.engine),
    )


def to_dict(config: RunConfig) -> dict[str, Any]:
    """The settings as plain data, unread fields left out."""
    return _without_none(asdict(config))


def _canonical_privatizer(c: PrivatizerConfig) -> PrivatizerConfig:
    if c.name == "non_private":
        return PrivatizerConfig(c.name, None, None)
    _positive("privatizer.epsilon", c.epsilon)
    _one_of("privatizer.sensitivity", c.sensitivity, SENSITIVITIES)
    return c


def _canonical_postprocess(c: PostprocessConfig) -> PostprocessConfig:
    if c.name != "cvxpy":
        return PostprocessConfig(c.name, None, None)
    _one_of("postprocess.solver", c.solver, tuple(LP_OPTIONS))
    _require("postprocess.canonical", c.canonical, c.canonical is not None, "true or false")
    return c


def _canonical_confidence(c: ConfidenceConfig, p: PrivatizerConfig) -> ConfidenceConfig:
    if p.name == "non_private":  # E = 0: there is no noise to bound
        return ConfidenceConfig("proven", None, 1.0)
    if c.name == "proven":
        return replace(c, constant=None)
    _positive("confidence.constant", c.constant)
    return c


def _canonical_engine(c: EngineConfig) -> EngineConfig:
    if c.name == "reference":
        return EngineConfig(c.name, None)
    _at_least("engine.lp_checks", c.lp_checks, 0)
    return c


def _require(key: str, value: object, good: bool, accepted: str) -> None:
    if not good:
        raise InputError(f"{key}: {value} is not accepted; it must be {accepted}")


def _one_of(key: str, value: object, accepted: tuple[str, ...]) -> None:
    _require(key, value, value in accepted, f"one of {', '.join(accepted)}")


def _positive(key: str, value: float | None) -> None:
    _require(key, value, _finite(value) and value is not None and value > 0, "a number > 0")


def _at_least(key: str, value: int | None, least: int) -> None:
    _require(key, value, value is not None and value >= least, f"an integer >= {least}")


def _finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _without_none(tree: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _without_none(value) if isinstance(value, dict) else value
        for key, value in tree.items()
        if value is not None
    }
