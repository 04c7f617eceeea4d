"""Every privatizer at equal certified ε: regret, where it is the printed one, what each lever buys, elsewhere.

The figure has the regret after K episodes against the certified ε of a user who is replaced, the printed ones
as stars; mechanisms.md has the tables.
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from dpucbvi.drawing.end_labels import EndLabel, draw_end_labels
from dpucbvi.drawing.style import BLACK, MARKER, SMALL, thousands
from dpucbvi.plot import as_written
from dpucbvi.privacy.certificate import rounded_up
from dpucbvi.stats import bootstrap, three_digits
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Rows, Stored, Study
from experiments.studies.ablation import times, variants
from experiments.studies.epsilon import EPSILON, match, series
from experiments.studies.shared.arms import grouped, uniform_regret
from experiments.studies.shared.printed import DIGITISATION, final_regrets
from experiments.studies.shared.style import PAGE, PRIVACY, PRIVATIZERS, band, new_panels
from experiments.studies.shared.tables import as_regret, finals, interval_of, markdown, spread_of

MODELS = {"JDP": "jdp", "LDP": "ldp"}  # a certificate's name, and how a printed curve's begins
COUNTS = {"pooled": "pooled counts", "step": "counts per step"}  # the panels
DELTA = 1e-6  # where it is not 0


def check_certified(experiment: StoredExperiment) -> None:
    """The horizontal axis is what every run certifies if a user is replaced, pure or at the one δ.

    A run of few episodes may end before anything is released: it certifies 0.
    """
    for arm in experiment.arms:
        found, delta = arm.certificate.replace_one, arm.certificate.delta
        as_told = found == 0.0 or np.isclose(found, arm.point[EPSILON], rtol=1e-6)
        assert as_told, f"{arm.key}: certifies ε = {found}"
        assert delta in (0.0, DELTA), f"{arm.key}: certifies δ = {delta}"


def curves(experiment: StoredExperiment, panel: str, model: str) -> list[list[StoredArm]]:
    """The arms of the config that belong there, each along its grid."""
    here = [arm for arm in experiment.arms if (arm.panel, arm.certificate.model) == (panel, model)]
    return [
        sorted(arms, key=lambda arm: arm.point[EPSILON]) for arms in grouped(here, lambda arm: arm.of).values()
    ]


def is_papers(arm: StoredArm) -> bool:
    """Whether it is Algorithm 1 with a Privatizer of Section 5: Q̃ at most H and three families."""
    cap, families = arm.config["agent"].get("cap", "H"), arm.config["privatizer"].get("families", "paper")
    return arm.config["privatizer"]["name"] in ("central", "local") and (cap, families) == ("H", "paper")


def printed_of(experiment: StoredExperiment, model: str) -> dict[float, float]:
    """The final regrets that the paper prints for this model, by their ε."""
    found = final_regrets(experiment.arms[0].config)
    return {float(name[-1]): regret for name, regret in found.items() if name.startswith(MODELS[model])}


def reached(arms: list[StoredArm], wanted: float) -> tuple[str, str]:
    """The ε at which the mean regret falls to the wanted one, or that this is below or above all of them."""
    x, regret = series(arms, EPSILON)
    found = match(x, regret, wanted, DIGITISATION)
    if found is None:
        return (f"below {x[0]:g}" if arms[0].mean < wanted else f"above {x[-1]:g}"), "-"
    if np.isnan(found.low):
        return f"about {three_digits(found.x)}", "not by all resamples"
    return three_digits(found.x), f"{three_digits(found.low)} to {three_digits(found.high)}"


PAPERS_MARK = "o"
MARKS = {  # of the others, by the privatizer's name and whether its noise is Gaussian
    ("central", False): "X",
    ("kary_tree", False): "^",
    ("toeplitz", True): "D",
    ("batches", False): "s",
    ("batches", True): "P",
    ("local", False): "<",
    ("one_question", False): "s",
}
POINTS_A_NAME = 12.0  # a line of text and some air
STAR: dict[str, Any] = {
    "color": BLACK,
    "marker": "*",
    "markersize": 11,
    "markerfacecolor": "white",
    "markeredgecolor": BLACK,
    "linestyle": "none",
}


def draw(experiment: StoredExperiment) -> Figure:
    """Both models, pooled counts above counts per step, one regret axis; every curve named at its end."""
    check_certified(experiment)
    places = [(panel, counts, model) for panel, counts in COUNTS.items() for model in MODELS]
    figure, panels = new_panels([2.5, 2.5], len(MODELS), width=PAGE, sharex=True, sharey=True)
    labels = []
    for axes, (panel, counts, model) in zip(panels, places, strict=True):
        labels.append(_draw_panel(axes, experiment, panel, model))
        axes.set(title=f"{model}, {counts}", ylabel="regret")
        axes.set_xlabel("certified ε, a user replaced", fontsize=SMALL)
        _set_axes(axes, experiment)
        axes.label_outer()
    for axes, names in zip(panels, labels, strict=True):  # where they stand depends on the limits of the axes
        draw_end_labels(axes, names, POINTS_A_NAME)
    return figure


def hue(arm: StoredArm) -> str:
    """The paper's own have the colour of their model."""
    return PRIVACY[arm.certificate.model] if is_papers(arm) else PRIVATIZERS[arm.config["privatizer"]["name"]]


def look(arm: StoredArm) -> dict[str, Any]:
    """How an arm is drawn: dashed where its noise is Gaussian."""
    privatizer = arm.config["privatizer"]
    gaussian = privatizer.get("delta", 0.0) > 0.0
    mark = PAPERS_MARK if is_papers(arm) else MARKS[privatizer["name"], gaussian]
    dashes = (0, (4, 1.5)) if gaussian else "-"
    return {"color": hue(arm), "marker": mark, "linestyle": dashes, "linewidth": 1.3, **MARKER}


def _draw_panel(axes: Axes, experiment: StoredExperiment, panel: str, model: str) -> list[EndLabel]:
    """All its curves; their names, at their last ε."""
    labels = []
    for arms in curves(experiment, panel, model):
        x, regret = series(arms, EPSILON)
        label, style = arms[0].label, look(arms[0])
        band(axes, x, *bootstrap(regret.T), label=label, **style)
        end = float(x[-1]), float(regret.mean(axis=1)[-1])
        labels.append(EndLabel(label, "", style["color"], style["marker"], *end))
    for epsilon, regret_printed in printed_of(experiment, model).items():
        axes.plot([epsilon], [regret_printed], label="printed", zorder=6, **STAR)
    if (panel, model) == ("step", "LDP") and printed_of(experiment, model):  # where there is room
        below: Any = {"xytext": (0, -9), "textcoords": "offset points", "ha": "center", "va": "top"}
        axes.annotate("reported\nin Figure 1", (epsilon, regret_printed), fontsize=SMALL, **below)
    return labels


def _set_axes(axes: Axes, experiment: StoredExperiment) -> None:
    """The same for all panels."""
    shown = [arm for arm in experiment.arms if arm.panel in COUNTS]
    means = [arm.mean for arm in shown]
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(sorted({float(arm.point[EPSILON]) for arm in shown}))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(thousands))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_ylim(0.8 * np.min(means), 1.5 * np.max(means))


def matched(experiment: StoredExperiment) -> Rows:
    """For every mechanism the ε at which it has a printed regret; the final regrets at another size."""
    if not any(printed_of(experiment, model) for model in MODELS):
        return finals(experiment)
    rows: Rows = [("reported curve", "counts", "mechanism", "reached at ε (replaced)", "95% interval")]
    for model in MODELS:
        for epsilon, wanted in printed_of(experiment, model).items():
            for panel, counts in COUNTS.items():
                name = f"{model} ε = {epsilon:g}: {as_regret(wanted)}"
                for arms in curves(experiment, panel, model):
                    rows.append((name, counts, arms[0].label, *reached(arms, wanted)))
    return rows


def parts(experiment: StoredExperiment, _: Stored) -> dict[str, str]:
    check_certified(experiment)
    regrets = [
        f"### {model}, {counts}: mean regret (median; largest)\n\n{_regrets(experiment, panel, model)}\n"
        for panel, counts in COUNTS.items()
        for model in MODELS
    ]
    return {
        "regrets": "\n".join(regrets),
        "levers": _levers(experiment),
        "elsewhere": _elsewhere(experiment),
    }


def _regrets(experiment: StoredExperiment, panel: str, model: str) -> str:
    epsilons = sorted({arm.point[EPSILON] for arm in experiment.arms if arm.panel == panel})
    rows = [("mechanism", *(f"ε = {epsilon:g}" for epsilon in epsilons))]
    rows += [(arms[0].label, *map(spread_of, arms)) for arms in curves(experiment, panel, model)]
    return markdown(rows)


def _levers(experiment: StoredExperiment) -> str:
    arms = [arm for arm in experiment.arms if arm.panel == "levers"]
    header = ("batches with", "mean regret (median; largest)", "95% interval", "× all levers (95%)", "p")
    rows = [(one.label, spread_of(one.arm), interval_of(one.arm), *times(one)) for one in variants(arms)]
    return markdown([header, *rows])


def _elsewhere(experiment: StoredExperiment) -> str:
    arms = [arm for arm in experiment.arms if arm.panel == "elsewhere"]
    regret = ("mean regret (median; largest)", "95% interval")
    return markdown([("environment", "mechanism", "certified", *regret, "uniform policy"), *map(_there, arms)])


def _there(arm: StoredArm) -> tuple[str, ...]:
    env, (model, _, epsilon, delta, *_) = arm.config["env"], arm.certificate
    name = f"{env['name']} {env['variant'] if 'variant' in env else env['seed']}"
    pure = f"δ = {as_written(delta)}" if delta else "pure"
    certified = f"{model} ε = {rounded_up(epsilon, 3):g}, {pure}"
    return (name, arm.label, certified, spread_of(arm), interval_of(arm), f"{uniform_regret(arm):,.0f}")


STUDY = Study(draw, matched, parts, points=60)
