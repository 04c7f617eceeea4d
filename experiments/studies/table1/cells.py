"""Table 1 for readers and in LaTeX: every cell is made once, with its text in both.

The first part has the paper's columns, the measured regret beside each bound; the second part evaluates the
bounds and ranks the systems by them and by measurement; the third has the factors. The LaTeX needs booktabs,
graphicx and natbib, nothing else.
"""

import re
from collections.abc import Sequence
from math import log10
from typing import NamedTuple

from dpucbvi.calibrate import Calibration
from experiments.studies.shared.labels import SHORT_ENVIRONMENTS
from experiments.studies.shared.tables import markdown
from experiments.studies.table1.bounds import (
    BY_AGENT,
    LOWER_BOUND,
    PRIVATE_LOWER_BOUND,
    ROWS,
    SUPERSCRIPTS,
    Row,
)
from experiments.studies.table1.measurements import (
    MODELS,
    Chosen,
    Disagreement,
    Measurement,
    Table,
    disagreements,
    local_beats_central,
)

NOTES = """\
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
instance over √(SAH²T), the lower bound without its constant. The bounds are the printed ones: that of DP-UCBVI
leaves out the S²AH³ with which its proof ends (DEVIATIONS.md, D36), 576 thousand on RiverSwim."""

FACTORS_CAPTION = """\
Factor on the bonus; factor on E (none without privacy), chosen for every system in every environment on other
seeds and by one rule (+exp=calibrate_table1): 12 points, 7 without privacy, with 5 runs of 20,000 episodes each
and, where a system's choice lay at an edge of them, further by decades until it does not. The choice is the
middle of the points within 10% of the least objective; in brackets: how many these are. Bold: still at an edge,
so that a better factor may lie outside."""
TEX_NOTES = (
    r"$\star$: for more discussions about this bound see \citet{chowdhury2021differentially}. "
    r"$\dagger$: the original bound is for a stationary MDP; $\sqrt{H}$ more in the first term gives the one "
    r"stated; $\ddagger$: the same for UCBVI. $\S$: reconstructed, not checked against the primary document. "
    r"Own noise: for $2H$ per family, so that it certifies half of $\epsilon$ if a user is added or removed; "
    "in no ranking. The constants of the lower bounds are unknown."
)

TEX_FACTORS = (
    r"The factors of Table~\ref{tab:table1-measured}: on the bonus; on $E$. Chosen for every system in every "
    "environment on other seeds: 12 points (7 without privacy) with five runs of 20{,}000 episodes each "
    "and, where a system's choice lay at an edge, further by decades until it does not. In brackets: how many "
    "points are within 10\\% of the least objective. Bold: still at an edge."
)

TEX_ORDER = (
    "Order of the bounds and order of the measurements. Bound: its value in thousands, every constant 1 "
    "and no logarithms. Rank: by bound $\\to$ by mean regret, among the algorithms of the same model, bold "
    "where no order of equal bounds explains it. Last column: regret on the hard instance over "
    "$\\sqrt{SAH^2T}$."
)


class Cell(NamedTuple):
    """What a cell holds, in Markdown and in LaTeX."""

    md: str
    tex: str


Cells = list[Cell]
Group = list[Cells]  # rows between two rules


def plain(text: str) -> Cell:
    return Cell(text, text)


def number(text: str) -> Cell:
    return Cell(text, f"${text}$")


NA = plain("NA")
MODEL_CELLS = {
    "JDP": Cell("JDP", r"$\epsilon$-JDP"),
    "LDP": Cell("LDP", r"$\epsilon$-LDP"),
    "none": Cell("none", "no privacy"),
}


def thousands(value: float) -> str:
    """Three digits of value/1000 or so: 9.59, 12.3, 164."""
    value /= 1000.0
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def regret_cell(m: Measurement | None) -> Cell:
    """Mean and 95% interval, in thousands with the same decimals; NA if there is no such system."""
    if m is None:
        return NA
    mean = thousands(m.regret)
    if len(m.runs) == 1:
        return plain(mean)
    decimals = len(mean.partition(".")[2])
    low, high = (f"{value / 1000:,.{decimals}f}" for value in (m.low, m.high))
    return Cell(f"{mean} ({low}–{high})", f"{mean} ({low}--{high})")


def bounds_part(table: Table) -> list[Group]:
    """The paper's columns, a number per environment beside every bound; lower bounds; what has no privacy."""
    blank = [plain("")] * (1 + len(table.environments))
    private = [
        [_name(row), *_half(table, row, "JDP"), *_half(table, row, "LDP"), plain(row.bonus)]
        for row in ROWS
        if row.none is None
    ]
    lower = [
        [
            Cell(row.name, _name(row).tex),
            *_lower_half(table, row, "JDP"),
            *_lower_half(table, row, "LDP"),
            plain(row.bonus),
        ]
        for row in (LOWER_BOUND, PRIVATE_LOWER_BOUND)
    ]
    free = [
        [
            Cell(f"{row.name}, no privacy", f"{_name(row).tex}, no privacy"),
            *_half(table, row, "none"),
            *blank,
            plain(row.bonus),
        ]
        for row in ROWS
        if row.none
    ]
    uniform = [number(thousands(table.uniform[env])) for env in table.environments]
    free.append([plain("Uniformly random policy"), plain(""), *uniform, *blank, NA])
    return [private, lower, free]


def order_part(table: Table) -> list[Group]:
    """The bounds' values and both ranks, a group for each model."""
    groups: list[Group] = [[] for _ in MODELS]
    for group, model in zip(groups, MODELS, strict=True):
        for row in ROWS:
            found = [table.find(row, model, env) for env in table.environments]
            made = [m for m in found if m is not None and not row.own_noise]
            if made:
                ranks = [cell for m in made for cell in (number(thousands(m.bound)), _ranks(m))]
                over = number(f"{made[-1].over_lower_bound:.2f}")
                group.append([plain(row.name), MODEL_CELLS[model], *ranks, over])
    return groups


def factors_part(table: Table, factors: Chosen) -> list[Group]:
    """The chosen factors, how flat their valley is, and whether they lie at an edge, by model."""
    return [
        [
            [
                plain(row.name),
                MODEL_CELLS[model],
                *(factors_cell(factors[row, model, env]) for env in table.environments),
            ]
            for row in ROWS
            if table.find(row, model, table.environments[0]) is not None
        ]
        for model in MODELS
    ]


def factors_cell(made: Calibration) -> Cell:
    """Powers of ten, bold at an edge; in brackets, how many points are as good."""
    powers = [f"{round(log10(factor), 1):g}" for factor in made.choice]
    md = "; ".join("10" + power.translate(SUPERSCRIPTS) for power in powers)
    tex = "; ".join(f"10^{{{power}}}" for power in powers)
    good = f" ({len(made.valley)})"
    return (
        Cell(f"**{md}**{good}", rf"$\mathbf{{{tex}}}${good}")
        if made.at_edge
        else Cell(md + good, f"${tex}${good}")
    )


def _name(row: Row) -> Cell:
    mark = r"$^\S$" if row.reconstructed else ""
    return Cell(
        f"{row.name}{'§' * row.reconstructed} ({row.source})", rf"{row.name}{mark} \citep{{{row.citation}}}"
    )


def _half(table: Table, row: Row, model: str) -> Cells:
    bound = row.bound(model)
    if bound is None:
        return [NA] * (1 + len(table.environments))
    cells = [regret_cell(table.find(row, model, env)) for env in table.environments]
    return [Cell(bound.text().replace("*", "\\*"), bound.latex()), *cells]


def _lower_half(table: Table, row: Row, model: str) -> Cells:
    """The value of a lower bound, with the constant 1, stands where others have their regret."""
    bound = row.bound(model)
    assert bound is not None
    sizes = [table.sizes(env)._replace(epsilon=table.epsilon) for env in table.environments]
    values = [thousands(bound.value(at)) for at in sizes]
    return [Cell(bound.text(), bound.latex()), *(Cell(f"*{v}*", rf"$\mathit{{{v}}}$") for v in values)]


def _ranks(m: Measurement) -> Cell:
    md, tex = f"{m.rank_bound} → {m.rank_measured}", rf"{m.rank_bound}\to{m.rank_measured}"
    return Cell(md, f"${tex}$") if m.in_order else Cell(f"**{md}**", rf"$\mathbf{{{tex}}}$")


# --- Markdown ------------------------------------------------------------------------------------------------


def as_markdown(table: Table, factors: Chosen) -> str:
    """All parts, the footnotes and the disagreements."""
    names = [SHORT_ENVIRONMENTS[env] for env in table.environments]
    bounds = ["Algorithm", "Regret under ε-JDP", *names, "Regret under ε-LDP", *names, "Type of bonus"]
    columns = [f"{name}: {what}" for name in names for what in ("bound", "rank")]
    parts = [
        "# Table 1 with every row running",
        _caption(table),
        _as_markdown(bounds, bounds_part(table)),
        NOTES,
        "## The order of the bounds and the order of the measurements",
        ORDER_CAPTION,
        _as_markdown(["System", "Model", *columns, "over √(SAH²T)"], order_part(table)),
        disagreements_part(table),
        "## LDP against JDP",
        models_part(table),
    ]
    if factors:
        made = _as_markdown(["System", "Model", *names], factors_part(table, factors))
        parts += ["## The factors", FACTORS_CAPTION, made]
    return "\n\n".join(parts) + "\n"


def _as_markdown(header: Sequence[str], groups: list[Group]) -> str:
    return markdown(header, [[cell.md for cell in row] for group in groups for row in group])


def _caption(table: Table) -> str:
    return (
        "Bounds of the five algorithms and of the lower bound without DP as in the paper's Table 1; DP-Nash-VI "
        "and the lower bound with DP: Qiao & Wang (2024); UCBVI: Azar et al. (2017), refined: Drago et al. "
        "(2025).\n"
        f"Regret after K = {table.K:,} episodes in thousands, mean (95% "
        f"bootstrap interval) over {table.runs} runs.\nEvery private run certifies pure ε = {table.epsilon:g} "
        f"if a user is added or removed ({2 * table.epsilon:g} if she is replaced){own_noise_text(table)}.\n"
        f"{environments_text(table).md}.\n"
        "Factors on bonus and E calibrated in each environment by one rule: 12 points for every private "
        "system, more where a choice lay at an edge (below). Written by "
        "`python experiments/paper.py`."
    )


def disagreements_part(table: Table) -> str:
    """Every pair about which the orders disagree, those within the intervals said to be so."""
    lines = [
        f"- {SHORT_ENVIRONMENTS[pair.better.env]}, {pair.better.model}: {disagreement_text(pair)}"
        f"{'' if pair.clear else ' (the intervals meet)'}."
        for pair in disagreements(table)
    ]
    return "Where the orders disagree:\n\n" + ("\n".join(lines) or "- nowhere")


def models_part(table: Table) -> str:
    """Every system that has less regret under LDP than under JDP."""
    lines = [
        f"- {SHORT_ENVIRONMENTS[pair.worse.env]}: {pair.worse.row.name}, {thousands(pair.worse.regret)} under "
        f"LDP and {thousands(pair.better.regret)} under JDP{'' if pair.clear else ' (the intervals meet)'}."
        for pair in local_beats_central(table)
    ]
    return "Where a system has less regret under LDP than under JDP, at the same ε:\n\n" + (
        "\n".join(lines) or "- nowhere"
    )


def disagreement_text(pair: Disagreement) -> str:
    """Which system has the smaller bound and the larger regret, and by how much."""
    a, b = pair.better, pair.worse
    return (
        f"{a.row.name} has a smaller bound ({thousands(a.bound)} < {thousands(b.bound)}) and a larger regret "
        f"({thousands(a.regret)} > {thousands(b.regret)}) than {b.row.name}"
    )


def environments_text(table: Table) -> Cell:
    """The environments and their sizes."""
    md, tex = [], []
    for env in table.environments:
        at, name = table.sizes(env), SHORT_ENVIRONMENTS[env]
        md.append(f"{name} S={at.S}, A={at.A}, H={at.H}")
        tex.append(f"{name}{' of the lower bound' * (env == 'hard_tree')} $S={at.S}$, $A={at.A}$, $H={at.H}$")
    return Cell("; ".join(md), "; ".join(tex))


def own_noise_text(table: Table) -> str:
    """`, but for LDP-OBI with its own noise (250; 500)`: ε if a user is added or removed; if replaced."""
    own = [m for m in table.measurements if m.row.own_noise]
    said = [f"{BY_AGENT[m.row.agent].name} with its own noise ({m.at.epsilon:g}; {m.replaced:g})" for m in own]
    return "".join(f", but for {one}" for one in dict.fromkeys(said))


# --- LaTeX ---------------------------------------------------------------------------------------------------


def as_latex(table: Table, factors: Chosen) -> str:
    """All parts of the table, ready to paste."""
    n = len(table.environments)
    names = " & ".join(SHORT_ENVIRONMENTS[env] for env in table.environments)
    heads = " & ".join(rf"\multicolumn{{2}}{{c}}{{{SHORT_ENVIRONMENTS[env]}}}" for env in table.environments)
    bounds = [
        rf"& \multicolumn{{{n + 1}}}{{c}}{{Regret under $\epsilon$-JDP}} & "
        rf"\multicolumn{{{n + 1}}}{{c}}{{Regret under $\epsilon$-LDP}} & \\",
        rf"\cmidrule(lr){{2-{n + 2}}}\cmidrule(lr){{{n + 3}-{2 * n + 3}}}",
        rf"Algorithm & bound & {names} & bound & {names} & Type of bonus \\",
    ]
    order = [
        rf"& & {heads} & hard instance \\",
        "".join(rf"\cmidrule(lr){{{3 + 2 * i}-{4 + 2 * i}}}" for i in range(n)),
        rf"Algorithm & Model & {'bound & rank & ' * n}over $\sqrt{{SAH^2T}}$ \\",
    ]
    half = "l" + "r" * n
    keys = sorted({row.citation for row in (*ROWS, LOWER_BOUND, PRIVATE_LOWER_BOUND)})
    parts = [
        r"% Written by experiments/paper.py. \usepackage{booktabs,graphicx,natbib}",
        f"% cites {', '.join(keys)}",
        *_float(f"l {half} {half} l", bounds, bounds_part(table), _tex_caption(table), "measured"),
        "",
        *_float(f"ll {'rc' * n} r", order, order_part(table), TEX_ORDER, "orders"),
        "",
    ]
    if factors:
        head = [rf"Algorithm & Model & {names} \\"]
        parts += _float(f"ll {'r' * n}", head, factors_part(table, factors), TEX_FACTORS, "factors")
    text = "\n".join([*parts, ""])
    return re.sub(r"(?<=\d),(?=\d{3})", "{,}", text)  # no space after the comma in math


def _float(columns: str, head: list[str], groups: list[Group], caption: str, label: str) -> list[str]:
    """A part as a table as wide as the page, a rule before every group."""
    rows = [
        line
        for group in groups
        for line in (r"\midrule", *(" & ".join(cell.tex for cell in row) + r" \\" for row in group))
    ]
    return [
        r"\begin{table*}[t]",
        r"\centering",
        r"\resizebox{\linewidth}{!}{%",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        *head,
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
        "}",
        rf"\caption{{{caption}}}",
        rf"\label{{tab:table1-{label}}}",
        r"\end{table*}",
    ]


def _tex_caption(table: Table) -> str:
    return (
        "Comparison of regret bounds, and regret measured with every algorithm running. Numbers: regret after "
        f"$K={table.K:,}$ episodes in thousands, mean (95\\% bootstrap interval) over {table.runs} "
        "runs; in the rows of the lower bounds, their value without constants and logarithms. Every private "
        f"run certifies pure $\\epsilon={table.epsilon:g}$ if a user is added or removed "
        f"(${2 * table.epsilon:g}$ if she is replaced){own_noise_text(table)}. "
        f"{environments_text(table).tex}. Factors on "
        "bonus and $E$ were chosen in each environment by one rule, on as many points, and more where a choice "
        "lay at an edge. " + TEX_NOTES
    )
