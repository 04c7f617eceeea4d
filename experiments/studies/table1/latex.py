"""Table 1 in LaTeX: table* environments that need booktabs, graphicx and natbib, nothing else."""

import re

from experiments.studies.table1.bounds import LOWER_BOUND, PRIVATE_LOWER_BOUND, ROWS, Row
from experiments.studies.table1.cells import NA, environments_text, own_noise_text, regret_cell, thousands
from experiments.studies.table1.factors import Chosen, exponents
from experiments.studies.table1.measurements import ENVIRONMENT_NAMES, MODELS, Measurement, Table

MODEL_NAMES = {"JDP": r"$\epsilon$-JDP", "LDP": r"$\epsilon$-LDP", "none": "no privacy"}
FOOTNOTES = (
    r"$\star$: for more discussions about this bound see \citet{chowdhury2021differentially}. "
    r"$\dagger$: the original bound is for a stationary MDP; $\sqrt{H}$ more in the first term gives the one "
    r"stated; $\ddagger$: the same for UCBVI. $\S$: reconstructed, not checked against the primary document. "
    r"Own noise: for $2H$ per family, so that it certifies half of $\epsilon$ if a user is added or removed; "
    "in no ranking. The constants of the lower bounds are unknown."
)

FACTORS_CAPTION = (
    r"The factors of Table~\ref{tab:table1-measured}: on the bonus; on $E$. Chosen for every system in every "
    "environment on other seeds: 12 points (7 without privacy) with five runs of 20{,}000 episodes each "
    "and, where a system's choice lay at an edge, further by decades until it does not. In brackets: how many "
    "points are within 10\\% of the least objective. Bold: still at an edge."
)


def latex(table: Table, factors: Chosen) -> str:
    """All parts of the table, ready to paste."""
    keys = sorted({row.citation for row in (*ROWS, LOWER_BOUND, PRIVATE_LOWER_BOUND)})
    text = "\n".join(
        [
            r"% Written by experiments/paper.py. \usepackage{booktabs,graphicx,natbib}",
            f"% cites {', '.join(keys)}",
            *_float(_bounds_rows(table), _caption(table), "tab:table1-measured"),
            "",
            *_float(_order_rows(table), _order_caption(), "tab:table1-orders"),
            "",
            *(_float(_factor_rows(table, factors), FACTORS_CAPTION, "tab:table1-factors") if factors else []),
            "",
        ]
    )
    return re.sub(r"(?<=\d),(?=\d{3})", "{,}", text)  # no space after the comma in math


def _float(tabular: list[str], caption: str, label: str) -> list[str]:
    return [
        r"\begin{table*}[t]",
        r"\centering",
        r"\resizebox{\linewidth}{!}{%",
        *tabular,
        "}",
        rf"\caption{{{caption}}}",
        rf"\label{{{label}}}",
        r"\end{table*}",
    ]


def _caption(table: Table) -> str:
    sizes = environments_text(table).replace("hard instance", "hard instance of the lower bound")
    return (
        "Comparison of regret bounds, and regret measured with every algorithm running. Numbers: regret after "
        f"$K={table.K:,}$ episodes in thousands, mean (95\\% bootstrap interval) over {table.runs} "
        "runs; in the rows of the lower bounds, their value without constants and logarithms. Every private "
        f"run certifies pure $\\epsilon={table.epsilon:g}$ if a user is added or removed "
        f"(${2 * table.epsilon:g}$ if she is replaced){own_noise_text(table)}. {_math(sizes)}. Factors on "
        "bonus and $E$ were chosen in each environment by one rule, on as many points, and more where a choice "
        "lay at an edge. " + FOOTNOTES
    )


def _order_caption() -> str:
    return (
        "Order of the bounds and order of the measurements. Bound: its value in thousands, every constant 1 "
        "and no logarithms. Rank: by bound $\\to$ by mean regret, among the algorithms of the same model, bold "
        "where no order of equal bounds explains it. Last column: regret on the hard instance over "
        "$\\sqrt{SAH^2T}$."
    )


def _math(text: str) -> str:
    """S=6 to $S=6$."""
    for letter in "SAH":
        text = text.replace(f"{letter}=", f"${letter}=")
    return text.replace(", $", "$, $").replace(";", "$;") + "$"


def _bounds_rows(table: Table) -> list[str]:
    """The paper's columns, a number per environment beside every bound."""
    n = len(table.environments)
    names = " & ".join(ENVIRONMENT_NAMES[env] for env in table.environments)
    halves = (
        rf"\multicolumn{{{n + 1}}}{{c}}{{Regret under $\epsilon$-JDP}} & "
        rf"\multicolumn{{{n + 1}}}{{c}}{{Regret under $\epsilon$-LDP}}"
    )
    private = [row for row in ROWS if row.none is None]
    blank = [""] * (n + 1)
    uniform = [f"${thousands(table.uniform[env])}$" for env in table.environments]
    return [
        rf"\begin{{tabular}}{{l {'l' + 'r' * n} {'l' + 'r' * n} l}}",
        r"\toprule",
        rf"& {halves} & \\",
        rf"\cmidrule(lr){{2-{n + 2}}}\cmidrule(lr){{{n + 3}-{2 * n + 3}}}",
        rf"Algorithm & bound & {names} & bound & {names} & Type of bonus \\",
        r"\midrule",
        *(_line(_name(row), _half(table, row, "JDP"), _half(table, row, "LDP"), row.bonus) for row in private),
        r"\midrule",
        *(
            _line(_name(row), _lower_half(table, row, "JDP"), _lower_half(table, row, "LDP"), row.bonus)
            for row in (LOWER_BOUND, PRIVATE_LOWER_BOUND)
        ),
        r"\midrule",
        *(
            _line(f"{_name(row)}, no privacy", _half(table, row, "none"), blank, row.bonus)
            for row in ROWS
            if row.none
        ),
        _line("Uniformly random policy", ["", *uniform], blank, NA),
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _order_rows(table: Table) -> list[str]:
    """The bounds' values and both ranks."""
    n = len(table.environments)
    heads = " & ".join(rf"\multicolumn{{2}}{{c}}{{{ENVIRONMENT_NAMES[env]}}}" for env in table.environments)
    rules = "".join(rf"\cmidrule(lr){{{3 + 2 * i}-{4 + 2 * i}}}" for i in range(n))
    lines = [
        rf"\begin{{tabular}}{{ll {'rc' * n} r}}",
        r"\toprule",
        rf"& & {heads} & hard instance \\",
        rules,
        rf"Algorithm & Model & {'bound & rank & ' * n}over $\sqrt{{SAH^2T}}$ \\",
    ]
    for model in MODELS:
        lines.append(r"\midrule")
        for row in ROWS:
            made = [m for env in table.environments if (m := table.find(row, model, env)) is not None]
            if made and not row.own_noise:
                cells = [cell for m in made for cell in (f"${thousands(m.bound)}$", _ranks(m))]
                lines.append(_line(row.name, [MODEL_NAMES[model]], cells, f"${made[-1].over_lower_bound:.2f}$"))
    return [*lines, r"\bottomrule", r"\end{tabular}"]


def _factor_rows(table: Table, factors: Chosen) -> list[str]:
    """The chosen factors, how flat their valley is, and whether they lie at an edge."""
    names = " & ".join(ENVIRONMENT_NAMES[env] for env in table.environments)
    lines = [
        rf"\begin{{tabular}}{{ll {'r' * len(table.environments)}}}",
        r"\toprule",
        rf"Algorithm & Model & {names} \\",
    ]
    for model in MODELS:
        lines.append(r"\midrule")
        for row in ROWS:
            if table.find(row, model, table.environments[0]) is not None:
                cells = [_factors_cell(factors, row, model, env) for env in table.environments]
                lines.append(_line(row.name, [MODEL_NAMES[model]], cells[:-1], cells[-1]))
    return [*lines, r"\bottomrule", r"\end{tabular}"]


def _factors_cell(factors: Chosen, row: Row, model: str, env: str) -> str:
    made = factors[row, model, env]
    text = "; ".join(f"10^{{{power:g}}}" for power in exponents(made.choice))
    bold = rf"\mathbf{{{text}}}" if made.at_edge else text
    return f"${bold}$ ({len(made.valley)})"


def _line(first: str, left: list[str], right: list[str], last: str) -> str:
    return " & ".join([first, *left, *right, last]) + r" \\"


def _name(row: Row) -> str:
    mark = r"$^\S$" if row.reconstructed else ""
    return rf"{row.name}{mark} \citep{{{row.citation}}}"


def _half(table: Table, row: Row, model: str) -> list[str]:
    bound = row.bound(model)
    if bound is None:
        return [NA] * (1 + len(table.environments))
    return [bound.latex(), *(regret_cell(table.find(row, model, env), "--") for env in table.environments)]


def _lower_half(table: Table, row: Row, model: str) -> list[str]:
    bound = row.bound(model)
    assert bound is not None
    sizes = [table.sizes(env)._replace(epsilon=table.epsilon) for env in table.environments]
    return [bound.latex(), *(rf"$\mathit{{{thousands(bound.value(at))}}}$" for at in sizes)]


def _ranks(m: Measurement) -> str:
    text = rf"{m.rank_bound}\to{m.rank_measured}"
    return f"${text}$" if m.in_order else rf"$\mathbf{{{text}}}$"
