"""Table 1 in Markdown, for readers.

The first part has the paper's columns, the measured regret beside each bound; the second part evaluates the
bounds and ranks the systems by them and by measurement; the third says how much hangs on the factors.
"""

import math

from dpucbvi.studies.shared.files import markdown
from dpucbvi.studies.table1.bounds import LOWER_BOUND, PRIVATE_LOWER_BOUND, ROWS, SUPERSCRIPTS, Row
from dpucbvi.studies.table1.cells import NA, disagreement_text, environments_text, regret_cell, thousands
from dpucbvi.studies.table1.factors import BestFactors
from dpucbvi.studies.table1.measurements import (
    ENVIRONMENT_NAMES,
    MODELS,
    Measurement,
    Table,
    disagreements,
)

FOOTNOTES = """\
- \\* For more discussions about this bound see Chowdhury & Zhou (2022).
- † The original bound is for a stationary MDP; √H more in the first term gives the one stated.
- ‡ The same for UCBVI's bounds.
- § Reconstructed: paper/DEVIATIONS.md D10, D23, D24, D25."""
ORDER_CAPTION = """\
Bound: its value in thousands with every constant 1 and no logarithms. Rank: by bound → by mean regret, among
the systems of the same model, bold where no order of equal bounds explains it. Last column: regret on the hard
instance over √(SAH²T), the lower bound without its constant."""

FACTORS_CAPTION = """\
The table's factors were chosen on RiverSwim. Here every system has, in the environment itself, the best of five
factors on its bonus (+exp=calibrate_environments: fewer runs, on other seeds; the factor on E as in the table).
Rank: by the table's regret → by the best."""


def as_markdown(table: Table, best: BestFactors) -> str:
    """All parts, the footnotes and the disagreements."""
    parts = [
        "# Table 1 with every row running",
        caption(table),
        bounds_part(table),
        FOOTNOTES,
        "## The order of the bounds and the order of the measurements",
        ORDER_CAPTION,
        order_part(table),
        disagreements_part(table),
    ]
    if best:
        parts += ["## How much hangs on the factors", FACTORS_CAPTION, factors_part(table, best)]
    return "\n\n".join(parts) + "\n"


def caption(table: Table) -> str:
    return (
        f"Bounds as in the paper's Table 1; regret after K = {table.K:,} episodes in thousands, mean ± half of "
        f"the 95% interval over {table.runs} runs.\nEvery private run certifies ε = {table.epsilon:g} if a "
        f"user is added or removed ({2 * table.epsilon:g} if she is replaced).\n{environments_text(table)}.\n"
        "Factors on bonus and E as calibrated on RiverSwim with equal budgets (conf/arm). Written by "
        "`python experiments/paper.py`."
    )


def bounds_part(table: Table) -> str:
    """The paper's table, with a number per environment beside every bound."""
    names = [ENVIRONMENT_NAMES[env] for env in table.environments]
    header = ["Algorithm", "Regret under ε-JDP", *names, "Regret under ε-LDP", *names, "Type of bonus"]
    rows = [
        [_name(row), *_half(table, row, "JDP"), *_half(table, row, "LDP"), row.bonus]
        for row in ROWS
        if row.none is None
    ]
    for row in (LOWER_BOUND, PRIVATE_LOWER_BOUND):
        rows.append([row.name, *_lower_half(table, row, "JDP"), *_lower_half(table, row, "LDP"), row.bonus])
    blank = [""] * (1 + len(names))
    rows += [
        [f"{row.name}, no privacy", *_half(table, row, "none"), *blank, row.bonus] for row in ROWS if row.none
    ]
    uniform = [thousands(table.uniform[env]) for env in table.environments]
    rows.append(["Uniformly random policy", "", *uniform, *blank, NA])
    return markdown(header, rows)


def order_part(table: Table) -> str:
    """The bounds' values and both ranks."""
    names = [ENVIRONMENT_NAMES[env] for env in table.environments]
    columns = [f"{name}: {what}" for name in names for what in ("bound", "rank")]
    rows = []
    for model in MODELS:
        for row in ROWS:
            found = [table.find(row, model, env) for env in table.environments]
            if made := [m for m in found if m is not None]:
                cells = [cell for m in made for cell in (thousands(m.bound), _ranks(m))]
                rows.append([row.name, model, *cells, f"{made[-1].over_lower_bound:.2f}"])
    return markdown(["System", "Model", *columns, "over √(SAH²T)"], rows)


def disagreements_part(table: Table) -> str:
    """Every pair about which the orders disagree, those within the intervals said to be so."""
    lines = [
        f"- {ENVIRONMENT_NAMES[pair.better.env]}, {pair.better.model}: {disagreement_text(pair)}"
        f"{'' if pair.clear else ' (the intervals meet)'}."
        for pair in disagreements(table)
    ]
    return "Where the orders disagree:\n\n" + ("\n".join(lines) or "- nowhere")


def factors_part(table: Table, best: BestFactors) -> str:
    """The table's regret beside the least over the factors on the bonus, with both ranks."""
    environments = [env for env in table.environments if any(key[2] == env for key in best)]
    columns = [
        f"{ENVIRONMENT_NAMES[env]}: {what}"
        for env in environments
        for what in ("table", "best", "factor", "rank")
    ]
    rows = []
    for model in MODELS:
        for row in ROWS:
            if table.find(row, model, environments[0]) is not None:
                cells = [cell for env in environments for cell in _factor_cells(table, best, row, model, env)]
                rows.append([row.name, model, *cells])
    return markdown(["System", "Model", *columns], rows)


def _factor_cells(table: Table, best: BestFactors, row: Row, model: str, env: str) -> tuple[str, ...]:
    m, b = table.find(row, model, env), best[row, model, env]
    assert m is not None
    factor = "10" + f"{math.log10(b.factor):.0f}".translate(SUPERSCRIPTS)
    return thousands(m.regret), thousands(b.regret), factor, f"{m.rank_measured} → {b.rank}"


def _name(row: Row) -> str:
    return f"{row.name}{'§' * row.reconstructed} ({row.source})"


def _half(table: Table, row: Row, model: str) -> list[str]:
    bound = row.bound(model)
    if bound is None:
        return [NA] * (1 + len(table.environments))
    cells = [regret_cell(table.find(row, model, env), " ± ") for env in table.environments]
    return [bound.text().replace("*", "\\*"), *cells]


def _lower_half(table: Table, row: Row, model: str) -> list[str]:
    """The value of a lower bound stands where others have their regret."""
    bound = row.bound(model)
    assert bound is not None
    sizes = [table.sizes(env)._replace(epsilon=table.epsilon) for env in table.environments]
    return [bound.text(), *(f"*{thousands(bound.value(at))}*" for at in sizes)]


def _ranks(m: Measurement) -> str:
    text = f"{m.rank_bound} → {m.rank_measured}"
    return text if m.in_order else f"**{text}**"
