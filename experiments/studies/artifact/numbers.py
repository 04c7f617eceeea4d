"""Every number that the claims, the report and the page quote, by name, as text, from the results that ship.

    literal.jdp_eps1                    final regret of an arm: mean and 95% interval
    riverswim.median.<arm>, .largest.   of all runs
    riverswim.verdict.<rule>            a sentence of Section 7, judged in every column of riverswim.md
    ablation.times.<arm>                regret over that of the whole algorithm
    epsilon.match.jdp_eps1.DP_UCBVI     the ε at which an algorithm has the printed regret
    privacy_for_free.slope.<counts>.JDP exponents of the cost of privacy in K, for every ε; pooled_counts, ...
    privacy_for_free.E.<counts>.JDP     the same exponents of E itself
    privacy_for_free.threshold          the K from which privacy is free, for ε ≥ 1, by the proof [D36]
    privacy_for_free.threshold_printed  by the abstract, for every ε of the experiment
    table1.rank.dp_ucbvi.JDP            rank by bound → rank by mean regret, in every environment
    table1.environments                 their names, in that order
    audit.honest, audit.broken          how many audits stay below a certificate, how many mistakes are caught
    audit.<arm>, audit.share            the ε that an attack has found; the most of ε that actions give away
    explain.near, explain.off           how many hypotheses come near the printed curves; the factor of the rest
    explain.nearest, explain.distance   the nearest of them, in words, and how far it is
    explain.inside, explain.wide        how many end in the printed bands; which of these are spread as widely
    explain.ucbvi                       how far UCBVI is from the non-private curve
    horizon.exponent.<arm>              of the regret in H
    printed.jdp_eps1                    final regret of a printed curve

What is not there was not shipped; a name that a shipped experiment does not have is a mistake.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from dpucbvi.errors import InputError
from dpucbvi.stats import exponent, exponent_text, tail, three_digits
from experiments.lab.store import StoredExperiment
from experiments.studies import Stored, ablation, audit, horizon, privacy_for_free
from experiments.studies.epsilon import printed_matches
from experiments.studies.explain.findings import summary
from experiments.studies.riverswim.report import FITTED, columns
from experiments.studies.riverswim.verdicts import SENTENCES, judge
from experiments.studies.shared.arms import SHORT_ENVIRONMENTS, panels_of
from experiments.studies.shared.printed import printed_curves
from experiments.studies.shared.tables import as_regret, with_bounds
from experiments.studies.table1 import systems
from experiments.studies.table1.measurements import tabulate

NAME = re.compile(r"\{([a-z]\w*\.[^{}\s]+)\}")
NOT_SHIPPED = "(not shipped yet)"

Numbers = dict[str, str]


def numbers(shipped: Stored, names: list[str]) -> Numbers:
    """All of them, in the order of their names."""
    found: Numbers = {f"printed.{name}": f"{curve.regret[-1]:,.0f}" for name, curve in printed_curves().items()}
    for name in names:
        experiment = shipped(name)
        if experiment is not None:
            found |= dict(_finals(experiment))
            found |= dict(MAKERS[name](experiment)) if name in MAKERS else {}
    return dict(sorted(found.items()))


def stored_numbers(paper: Path) -> Numbers:
    """Those that experiments/paper.py has written."""
    file = paper / "results" / "numbers.json"
    if not file.is_file():
        raise InputError(f"{file}: not there; experiments/paper.py writes it")
    found: Numbers = json.loads(file.read_text())
    return found


def filled(text: str, numbers: Numbers, shipped: list[str]) -> str:
    """The text with its {names} replaced; InputError if a shipped experiment has no such number."""

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name not in numbers and name.partition(".")[0] in (*shipped, "printed"):
            raise InputError(f"{name}: no such number; {', '.join(sorted(numbers)[:5])}, ... are there")
        return numbers.get(name, NOT_SHIPPED)

    return NAME.sub(value, text)


def _finals(experiment: StoredExperiment) -> Iterator[tuple[str, str]]:
    for arm in experiment.arms:
        if not arm.audits:
            yield f"{experiment.name}.{arm.key}", with_bounds(*arm.interval)


def _riverswim(experiment: StoredExperiment) -> Iterator[tuple[str, str]]:
    for arm in experiment.arms:
        yield f"riverswim.median.{arm.key}", as_regret(arm.median)
        yield f"riverswim.largest.{arm.key}", as_regret(arm.largest)
    judged = judge(columns(experiment), FITTED)
    for sentence, rule in SENTENCES.items():
        told = [f"{column}: {found[sentence]}" for column, found in judged.items()]
        yield f"riverswim.verdict.{rule.__name__}", "; ".join(told)


def _epsilon(experiment: StoredExperiment) -> Iterator[tuple[str, str]]:
    for one in printed_matches(experiment):
        x, low, high = map(three_digits, one.match or (0.0, 0.0, 0.0))
        yield (
            f"epsilon.match.{one.curve}.{_slug(one.label)}",
            f"{x} ({low} to {high})" if one.match else "nowhere",
        )


def _privacy_for_free(experiment: StoredExperiment) -> Iterator[tuple[str, str]]:
    for panel, arms in panels_of(experiment).items():
        slopes: dict[str, list[str]] = {}
        for cost in privacy_for_free.costs(arms):
            E = np.array([[arm.runs[0].trace.E for arm in cost.arms]])
            for what, grows in (("slope", cost.excess), ("E", E)):
                fit = exponent(*tail(cost.episodes, grows, privacy_for_free.LAST))
                name = f"privacy_for_free.{what}.{_slug(panel)}.{cost.arms[0].certificate.model}"
                slopes.setdefault(name, []).append(exponent_text(fit, "").strip())
        yield from ((name, ", ".join(found)) for name, found in slopes.items())

    H, S, A = experiment.arms[0].sizes
    epsilons = sorted({round(arm.certificate.add_remove, 9) for arm in experiment.arms} - {np.inf})
    least = [privacy_for_free.episodes_until_free(epsilon, S, A, H) for epsilon in epsilons]
    yield "privacy_for_free.threshold_printed", ", ".join(f"{K:,.0f}" for K in least)
    yield "privacy_for_free.threshold", f"{privacy_for_free.episodes_until_free(1.0, S, A, H):,.0f}"


def _table1(experiment: StoredExperiment) -> Iterator[tuple[str, str]]:
    table = tabulate(experiment)
    for row, model, found in systems(table):
        yield f"table1.rank.{row.agent}.{model}", ", ".join(m.ranks for m in found)
    yield "table1.environments", ", ".join(SHORT_ENVIRONMENTS[env] for env in table.environments)


def _audit(experiment: StoredExperiment) -> Iterator[tuple[str, str]]:
    found = audit.rows(experiment)
    told = audit.summary(found)
    yield from ((f"audit.{name}", told[name]) for name in ("honest", "broken", "share"))
    yield from ((f"audit.{row.arm.key}", audit.at_least(row.audited, 2)) for row in found)


def _slug(text: str) -> str:
    return re.sub(r"\W+", "_", text).strip("_") or "all"


MAKERS: dict[str, Callable[[StoredExperiment], Iterable[tuple[str, str]]]] = {
    "ablation": lambda made: (
        (f"ablation.times.{arm.key}", f"{one.ratio:.2f} ({one.low:.2f} to {one.high:.2f})")
        for arm, one in zip(made.arms, ablation.variants(made.arms), strict=True)
    ),
    "audit": _audit,
    "explain": lambda made: ((f"explain.{key}", value) for key, value in summary(made).items()),
    "riverswim": _riverswim,
    "horizon": lambda made: (
        (f"horizon.exponent.{of}", exponent_text(horizon.growth(arms), "").strip())
        for of, arms in horizon.worst(made).items()
    ),
    "epsilon": _epsilon,
    "privacy_for_free": _privacy_for_free,
    "table1": _table1,
}
