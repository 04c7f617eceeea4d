"""dp.plot: the regret of runs as a figure, and the words in it.

    runs = {name: dp.run(mdp, agent, private, K=5_000, seed=range(8)) for name, agent in agents.items()}
    dp.plot(runs, mdp, "regret.png")

matplotlib is imported when a figure is drawn.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dpucbvi.errors import InputError, check_name, extra
from dpucbvi.mdp import TabularMDP
from dpucbvi.privacy.certificate import Certificate, rounded_up
from dpucbvi.trace import Runs, Trace, none_learnt

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot(
    runs: Mapping[str, Runs] | Runs,
    mdp: TabularMDP | None = None,
    path: str | Path | None = None,
    x: str = "log",
    y: str = "log",
) -> "Figure":
    """Draw the regret of runs against episodes: a curve per name with its 95% interval.

    Parameters
    ----------
    runs
        Runs over several seeds as dp.run gives them, by name, or alone.
    mdp
        Their MDP; with it, the regret of the uniform policy is drawn beside them.
    path
        Where the figure is also written, in the format of its suffix.
    x, y
        `log` or `linear`.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    InputError
        For other runs or scales, and if matplotlib is not installed.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> mdp = dp.riverswim(S=3, H=4)
    >>> figure = dp.plot({"UCBVI": dp.run(mdp, dp.UCBVI(), K=50, seed=range(3))}, mdp)
    >>> len(figure.axes) > 0
    True
    """
    for key, value in (("x", x), ("y", y)):
        check_name(key, value, ("log", "linear"))
    named = {"": runs} if isinstance(runs, Runs) else runs
    if not (isinstance(named, Mapping) and named and all(isinstance(of, Runs) for of in named.values())):
        raise InputError(
            "plot: it takes runs over several seeds by name, as dp.run gives them for seed=range(5)"
        )
    with extra("plot", "dp.plot"):
        from dpucbvi.drawing.regret import Panel, curve, draw
        from dpucbvi.drawing.style import house_style

    curves = []
    for i, (label, of) in enumerate(named.items()):
        name, detail = certified(label, of.certificate)
        curves.append(curve(of.episodes, of.regret, name, with_learnt(detail, of.runs), i))
    H, S, A = next(iter(named.values())).runs[0].N_sa.shape
    title = f"Regret on {mdp.name if mdp else 'own MDP'}, $S={S}$, $A={A}$, $H={H}$"
    private = any(of.certificate.model != "none" for of in named.values())
    said = caption([len(of.runs) for of in named.values()], private)
    with house_style():
        figure = draw(curves, Panel(title, said, x, y, mdp))
        if path is not None:
            figure.savefig(path, dpi=200)
    return figure


def certified(label: str, certificate: Certificate) -> tuple[str, str]:
    """The label with what is certified, and the same under the other neighbour relation."""
    model, add_remove, replace_one = certificate[:3]
    if math.isinf(add_remove):
        return label, "no privacy"
    delta = f", δ = {as_written(certificate.delta)}" if certificate.delta else ""
    return (
        f"{label}, {model} ε = {as_written(rounded_up(add_remove, 3))}",
        f"ε = {as_written(rounded_up(replace_one, 3))} if a user is replaced{delta}",
    )


def with_learnt(detail: str, runs: Sequence[Trace]) -> str:
    """The second line of a label; it says so if the runs are known to have learnt nothing."""
    return f"{detail}; nothing was learnt" if none_learnt(runs) else detail


def caption(runs: Sequence[int], private: bool, factors: Mapping[str, Sequence[float]] | None = None) -> str:
    """How many runs each curve has, the factors on bonus and E that are not the paper's, what ε means."""
    number = span(runs)
    parts = [f"{number} run{'s' * (number != '1')} of each arm."]
    changed = [f"{name} × {span(values)}" for name, values in (factors or {}).items() if set(values) - {1.0}]
    if changed:
        parts.append(f"Factors: {', '.join(changed)} (1 in the paper).")
    if private:
        parts.append("ε: as certified if a user is added or removed.")
    return " ".join(parts)


def span(values: Sequence[float]) -> str:
    """`5`, or `5 to 20`."""
    low, high = as_written(min(values)), as_written(max(values))
    return low if low == high else f"{low} to {high}"


def as_written(value: float) -> str:
    """A number as people write it, to three digits: 0.5, 1,000, 1e-6."""
    if value == 0.0 or 1e-4 <= abs(value) < 1e7:
        return f"{float(f'{value:.3g}'):,.10g}"
    mantissa, _, exponent = f"{value:.3g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if exponent else mantissa
