"""The cells of Table 1: bounds beside measured regret, both orders, the factors; where the orders disagree."""

from collections.abc import Iterable
from math import log10

from dpucbvi.calibrate import Calibration
from experiments.studies.shared.arms import SHORT_ENVIRONMENTS
from experiments.studies.table1.bounds import LOWER_BOUND, PRIVATE_LOWER_BOUND, ROWS, SUPERSCRIPTS, Row
from experiments.studies.table1.measurements import (
    MODELS,
    Chosen,
    Disagreement,
    Measurement,
    Table,
    disagreements,
    local_beats_central,
)

Rows = list[list[str]]
NA = "NA"


def thousands(value: float) -> str:
    """Three digits of value/1000 or so: 9.59, 12.3, 164."""
    value /= 1000.0
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def regret_cell(m: Measurement | None) -> str:
    """Mean and 95% interval, in thousands with the same decimals; NA if there is no such system."""
    if m is None:
        return NA
    mean = thousands(m.regret)
    if len(m.runs) == 1:
        return mean
    decimals = len(mean.partition(".")[2])
    low, high = (f"{value / 1000:,.{decimals}f}" for value in (m.low, m.high))
    return f"{mean} ({low}–{high})"


def bounds_header(table: Table) -> list[str]:
    names = [SHORT_ENVIRONMENTS[env] for env in table.environments]
    return ["Algorithm", "Regret under ε-JDP", *names, "Regret under ε-LDP", *names, "Type of bonus"]


def bounds_rows(table: Table) -> Rows:
    """The paper's columns, a number per environment beside every bound; lower bounds; what has no privacy."""
    blank = [""] * (1 + len(table.environments))
    private, free = [row for row in ROWS if row.none is None], [row for row in ROWS if row.none]
    uniform = [thousands(table.uniform[env]) for env in table.environments]
    return [
        *([_name(row), *_half(table, row, "JDP"), *_half(table, row, "LDP"), row.bonus] for row in private),
        *(
            [row.name, *_lower_half(table, row, "JDP"), *_lower_half(table, row, "LDP"), row.bonus]
            for row in (LOWER_BOUND, PRIVATE_LOWER_BOUND)
        ),
        *([f"{row.name}, no privacy", *_half(table, row, "none"), *blank, row.bonus] for row in free),
        ["Uniformly random policy", "", *uniform, *blank, NA],
    ]


def orders_header(table: Table) -> list[str]:
    columns = [f"{SHORT_ENVIRONMENTS[env]}: {what}" for env in table.environments for what in ("bound", "rank")]
    return ["System", "Model", *columns, "over √(SAH²T)"]


def orders_rows(table: Table) -> Rows:
    """The bounds' values and both ranks, model by model."""
    made = []
    for model, row in _systems(table):
        found = [m for env in table.environments if (m := table.find(row, model, env)) is not None]
        ranks = [cell for m in found for cell in (thousands(m.bound), _ranks(m))]
        made.append([row.name, model, *ranks, f"{found[-1].over_lower_bound:.2f}"])
    return made


def factors_rows(table: Table, factors: Chosen) -> Rows:
    """The chosen factors, how flat their valley is, and whether they lie at an edge, by model."""
    return [
        [row.name, model, *(factors_cell(factors[row, model, env]) for env in table.environments)]
        for model, row in _systems(table)
    ]


def factors_cell(made: Calibration) -> str:
    """Powers of ten, bold at an edge; in brackets, how many points are as good."""
    powers = [f"{round(log10(factor), 1):g}" for factor in made.choice]
    text = "; ".join("10" + power.translate(SUPERSCRIPTS) for power in powers)
    return f"{f'**{text}**' if made.at_edge else text} ({len(made.valley)})"


def _systems(table: Table) -> list[tuple[str, Row]]:
    first = table.environments[0]
    return [(model, row) for model in MODELS for row in ROWS if table.find(row, model, first) is not None]


def _name(row: Row) -> str:
    return f"{row.name}{'§' * row.reconstructed} ({row.source})"


def _half(table: Table, row: Row, model: str) -> list[str]:
    bound = row.bound(model)
    if bound is None:
        return [NA] * (1 + len(table.environments))
    cells = [regret_cell(table.find(row, model, env)) for env in table.environments]
    return [bound.text().replace("*", "\\*"), *cells]


def _lower_half(table: Table, row: Row, model: str) -> list[str]:
    """The value of a lower bound, with the constant 1, stands where others have their regret."""
    bound = row.bound(model)
    assert bound is not None
    sizes = [table.sizes(env)._replace(epsilon=table.epsilon) for env in table.environments]
    return [bound.text(), *(f"*{thousands(bound.value(at))}*" for at in sizes)]


def _ranks(m: Measurement) -> str:
    text = f"{m.rank_bound} → {m.rank_measured}"
    return text if m.in_order else f"**{text}**"


def environments_text(table: Table) -> str:
    """The environments and their sizes."""
    sizes = {env: table.sizes(env) for env in table.environments}
    return "; ".join(f"{SHORT_ENVIRONMENTS[env]} S={at.S}, A={at.A}, H={at.H}" for env, at in sizes.items())


def disagreement_lines(table: Table) -> str:
    """Every pair about which the orders disagree, those within the intervals said to be so."""
    return _lines(
        f"{SHORT_ENVIRONMENTS[pair.better.env]}, {pair.better.model}: {disagreement_text(pair)}{_meet(pair)}"
        for pair in disagreements(table)
    )


def reversal_lines(table: Table) -> str:
    """Every system that has less regret under LDP than under JDP."""
    return _lines(
        f"{SHORT_ENVIRONMENTS[pair.worse.env]}: {pair.worse.row.name}, {thousands(pair.worse.regret)} under "
        f"LDP and {thousands(pair.better.regret)} under JDP{_meet(pair)}"
        for pair in local_beats_central(table)
    )


def disagreement_text(pair: Disagreement) -> str:
    """Which system has the smaller bound and the larger regret, and by how much."""
    a, b = pair.better, pair.worse
    return (
        f"{a.row.name} has a smaller bound ({thousands(a.bound)} < {thousands(b.bound)}) and a larger regret "
        f"({thousands(a.regret)} > {thousands(b.regret)}) than {b.row.name}"
    )


def _meet(pair: Disagreement) -> str:
    return "" if pair.clear else " (the intervals meet)"


def _lines(sentences: Iterable[str]) -> str:
    return "\n".join(f"- {sentence}." for sentence in sentences) or "- nowhere"
