"""Table 1 in Markdown, for readers.

The first part has the paper's columns, the measured regret beside each bound; the second part evaluates the
bounds and ranks the systems by them and by measurement; the third has the factors.
"""

from experiments.studies.shared.files import markdown
from experiments.studies.table1.bounds import LOWER_BOUND, PRIVATE_LOWER_BOUND, ROWS, SUPERSCRIPTS, Row
from experiments.studies.table1.cells import (
    NA,
    disagreement_text,
    environments_text,
    own_noise_text,
    regret_cell,
    thousands,
)
from experiments.studies.table1.factors import Chosen, exponents
from experiments.studies.table1.measurements import (
    ENVIRONMENT_NAMES,
    MODELS,
    Measurement,
    Table,
    disagreements,
    local_beats_central,
)

FOOTNOTES = """\
- \\* For more discussions about this bound see Chowdhury & Zhou (2022).
- † The original bound is for a stationary MDP; √H more in the first term gives the one stated.
- ‡ The same for UCBVI's bounds.
- § Reconstructed: paper/DEVIATIONS.md D10, D23, D24, D25.
- Own noise: for 2H per family, as LDP-OBI's paper has it, while all others have the H of theirs. It certifies ε
  for a user who is replaced, half of it for one added or removed, and is in no ranking.
- Lower bounds: the values of their formulas with the constant 1; their constants are unknown, so that a regret
  below such a value contradicts nothing."""
ORDER_CAPTION = """\
Bound: its value in thousands with every constant 1 and no logarithms. Rank: by bound → by mean regret, among
the systems of the same model, bold where no order of equal bounds explains it. Last column: regret on the hard
instance over √(SAH²T), the lower bound without its constant."""

FACTORS_CAPTION = """\
Factor on the bonus; factor on E (none without privacy), chosen for every system in every environment on other
seeds and by one rule (+exp=calibrate_table1): 12 points, 7 without privacy, with 5 runs of 20,000 episodes each
and, where a system's choice lay at an edge of them, further by decades until it does not. The choice is the
middle of the points within 10% of the least objective; in brackets: how many these are. Bold: still at an edge,
so that a better factor may lie outside."""


def as_markdown(table: Table, factors: Chosen) -> str:
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
        "## LDP against JDP",
        models_part(table),
    ]
    if factors:
        parts += ["## The factors", FACTORS_CAPTION, factors_part(table, factors)]
    return "\n\n".join(parts) + "\n"


def caption(table: Table) -> str:
    return (
        "Bounds of the five algorithms and of the lower bound without DP as in the paper's Table 1; DP-Nash-VI "
        "and the lower bound with DP: Qiao & Wang (2024); UCBVI: Azar et al. (2017), refined: Drago et al. "
        "(2025).\n"
        f"Regret after K = {table.K:,} episodes in thousands, mean (95% "
        f"bootstrap interval) over {table.runs} runs.\nEvery private run certifies pure ε = {table.epsilon:g} "
        f"if a user is added or removed ({2 * table.epsilon:g} if she is replaced){own_noise_text(table)}.\n"
        f"{environments_text(table)}.\n"
        "Factors on bonus and E calibrated in each environment by one rule: 12 points for every private "
        "system, more where a choice lay at an edge (below). Written by "
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
            if made := [m for m in found if m is not None and not row.own_noise]:
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


def models_part(table: Table) -> str:
    """Every system that has less regret under LDP than under JDP."""
    lines = [
        f"- {ENVIRONMENT_NAMES[pair.worse.env]}: {pair.worse.row.name}, {thousands(pair.worse.regret)} under "
        f"LDP and {thousands(pair.better.regret)} under JDP{'' if pair.clear else ' (the intervals meet)'}."
        for pair in local_beats_central(table)
    ]
    return "Where a system has less regret under LDP than under JDP, at the same ε:\n\n" + (
        "\n".join(lines) or "- nowhere"
    )


def factors_part(table: Table, factors: Chosen) -> str:
    """The chosen factors, how flat their valley is, and whether they lie at an edge."""
    rows = [
        [row.name, model, *(_factors_cell(factors, row, model, env) for env in table.environments)]
        for model in MODELS
        for row in ROWS
        if table.find(row, model, table.environments[0]) is not None
    ]
    return markdown(["System", "Model", *(ENVIRONMENT_NAMES[env] for env in table.environments)], rows)


def _factors_cell(factors: Chosen, row: Row, model: str, env: str) -> str:
    made = factors[row, model, env]
    text = "; ".join("10" + f"{power:g}".translate(SUPERSCRIPTS) for power in exponents(made.choice))
    return f"{f'**{text}**' if made.at_edge else text} ({len(made.valley)})"


def _name(row: Row) -> str:
    return f"{row.name}{'§' * row.reconstructed} ({row.source})"


def _half(table: Table, row: Row, model: str) -> list[str]:
    bound = row.bound(model)
    if bound is None:
        return [NA] * (1 + len(table.environments))
    cells = [regret_cell(table.find(row, model, env), "–") for env in table.environments]
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
