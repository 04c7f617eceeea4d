"""The cells of Table 1 that its Markdown and its LaTeX share: numbers, captions, footnotes."""

from experiments.studies.table1.bounds import BY_AGENT
from experiments.studies.table1.measurements import ENVIRONMENT_NAMES, Disagreement, Measurement, Table

NA = "NA"


def thousands(value: float) -> str:
    """Three digits of value/1000 or so: 9.59, 12.3, 164."""
    value /= 1000.0
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def regret_cell(m: Measurement | None, to: str) -> str:
    """Mean and 95% interval, in thousands with the same decimals; NA if there is no such system."""
    if m is None:
        return NA
    mean = thousands(m.regret)
    if len(m.runs) == 1:
        return mean
    decimals = len(mean.partition(".")[2])
    low, high = (f"{value / 1000:,.{decimals}f}" for value in (m.low, m.high))
    return f"{mean} ({low}{to}{high})"


def environments_text(table: Table) -> str:
    sizes = []
    for env in table.environments:
        at = table.sizes(env)
        sizes.append(f"{ENVIRONMENT_NAMES[env]} S={at.S}, A={at.A}, H={at.H}")
    return "; ".join(sizes)


def own_noise_text(table: Table) -> str:
    """`, but for LDP-OBI with its own noise (250; 500)`: ε if a user is added or removed; if replaced."""
    own = [m for m in table.measurements if m.row.own_noise]
    said = [f"{BY_AGENT[m.row.agent].name} with its own noise ({m.at.epsilon:g}; {m.replaced:g})" for m in own]
    return "".join(f", but for {one}" for one in dict.fromkeys(said))


def disagreement_text(pair: Disagreement) -> str:
    """Which system has the smaller bound and the larger regret, and by how much."""
    a, b = pair.better, pair.worse
    return (
        f"{a.row.name} has a smaller bound ({thousands(a.bound)} < {thousands(b.bound)}) and a larger regret "
        f"({thousands(a.regret)} > {thousands(b.regret)}) than {b.row.name}"
    )
