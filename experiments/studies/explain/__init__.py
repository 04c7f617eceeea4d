"""Which noise explains the printed Figure 1? Named hypotheses, each with one set of constants.

The factors are those of +exp=explain_fit, the runs are others and more. What is said: which hypotheses the
printed curves rule out and which they leave possible; never what was done.
"""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpucbvi.drawing.end_labels import EndLabel, draw_end_labels
from dpucbvi.privacy.certificate import rounded_up
from dpucbvi.stats import holm, three_digits
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Rows, Stored, Study, regret
from experiments.studies.explain.findings import (
    POSSIBLE,
    Finding,
    at_printed,
    best,
    best_local,
    epsilon_text,
    findings,
    fit,
    in_words,
    local_arms,
    local_distance,
    summary,
)
from experiments.studies.shared.arms import check_same_grid, laplace_of, runs_text
from experiments.studies.shared.printed import at_printed_size, printed_beside, printed_curves
from experiments.studies.shared.style import BLACK, DASHED, HUES, QUIET, SMALL, new_panels, set_ticks
from experiments.studies.shared.tables import finals, markdown, write_page

FIRST = 1000  # episode


def draw(experiment: StoredExperiment) -> Figure:
    """The nearest hypothesis beside the printed curves; below, how far every hypothesis is from them.

    The regret of all arms, if they have another size than the printed figure: no distance means anything.
    """
    check_same_grid(experiment)
    if not at_printed_size(experiment):
        return regret.draw(experiment)
    found = findings(experiment)
    figure, (upper, lower) = new_panels([2.6, 0.5 + 0.29 * len(found)], aligned=False)
    _draw_distances(lower, found)
    _draw_curves(upper, experiment, best(found))
    return figure


def _draw_curves(axes: Axes, experiment: StoredExperiment, found: Finding) -> None:
    bonus, confidence = found.factors
    noise, _ = in_words(found.hypothesis)
    axes.set(title=f"(a) nearest: {noise}", xlabel="episode", ylabel="cumulative regret")
    factors = f"bonus × {bonus:g}, $E$ × {confidence:g}"
    axes.text(0.985, 0.02, factors, transform=axes.transAxes, ha="right", fontsize=SMALL, color=QUIET)
    local = best_local(experiment)
    labels = []
    for arm in [*found.arms.values(), *([] if local is None else [local])]:
        hue, episodes = HUES[str(arm.printed)], arm.episodes
        shown = episodes >= min(FIRST, episodes[-1] / 50)
        axes.plot(episodes[shown], arm.regret.mean(axis=0)[shown], color=hue, linewidth=1.6)
        printed = printed_beside(arm)
        if printed is not None:
            axes.plot(*printed, color=hue, linestyle=DASHED, linewidth=1.3)
        labels.append(EndLabel(*_names(arm), hue, "", float(episodes[-1]), arm.mean))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.margins(y=0.08)  # the highest label stays below the title
    set_ticks(axes)
    draw_end_labels(axes, labels)


def _names(arm: StoredArm) -> tuple[str, str]:
    """What the arm certifies; below, the printed ε, as in the figure riverswim."""
    certificate = arm.certificate
    if certificate.model == "none":
        return "DP-UCBVI", "not private"
    return f"{certificate.model} ε = {_short(certificate.add_remove)}", f"printed as ε = {str(arm.printed)[-1]}"


def _short(epsilon: float) -> str:
    millions = f"{rounded_up(epsilon / 1e6, 2):g} million"
    return three_digits(rounded_up(epsilon, 3)) if epsilon < 1e5 else millions


def _draw_distances(axes: Axes, found: list[Finding]) -> None:
    axes.set_title("(b) distance from the printed curves", loc="right")  # longer than the axes
    axes.set_xlabel("r.m.s. of log(ours/printed)")
    for y, one in enumerate(found):
        low, high = np.quantile(one.fit.by_chance, [0.025, 0.975])
        axes.plot([low, high], [y, y], color=QUIET, linewidth=3, alpha=0.35, solid_capstyle="butt")
        style = "full" if one.verdict == POSSIBLE else "none"
        axes.plot(one.fit.distance, y, "o", color=BLACK, fillstyle=style, markersize=5)
    axes.set_yticks(range(len(found)), [_name(one) for one in found], fontsize=SMALL)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.grid(False, axis="y")


def _name(one: Finding) -> str:
    """The hypothesis in two lines."""
    noise, counts = in_words(one.hypothesis)
    first, _, last = noise.partition(", ")
    return f"{first},\n{last}, {counts}"


HEADER = (
    *("noise", "counts", "ε certified", "bonus ×", "E ×"),
    *("distance", "by chance", "p", "printed figure"),
)


def table(experiment: StoredExperiment) -> Rows:
    """Every hypothesis; the final regrets, if the runs have another size than the printed ones."""
    if not at_printed_size(experiment):
        return finals(experiment)
    return [HEADER, *(_row(found) for found in findings(experiment))]


def write(experiment: StoredExperiment, folder: Path, _: Stored) -> list[Path]:
    found = findings(experiment)
    page = write_page(
        folder,
        "explain",
        hypotheses=markdown(HEADER, [_row(one) for one in found]),
        ratios=_ratios(experiment, best(found)),
        local=_local(experiment),
        runs=runs_text(experiment),
        **summary(found),
    )
    return [page]


def _row(found: Finding) -> tuple[str, ...]:
    bonus, confidence = found.factors
    return (
        *in_words(found.hypothesis),
        epsilon_text(found.certified[0]),
        f"{bonus:g}",
        f"{confidence:g}",
        f"{found.fit.distance:.3f}",
        f"{np.quantile(found.fit.by_chance, 0.95):.3f}",
        f"{found.p:.2g}",
        found.verdict,
    )


def _ratios(experiment: StoredExperiment, found: Finding) -> str:
    arms = dict(found.arms)
    local = best_local(experiment)
    if local is not None:
        arms["ldp_eps2"] = local
    episodes = next(iter(printed_curves().values())).episodes
    rows = [
        [curve, *(f"{ratio:.2f}" for ratio in at_printed(arm).mean(axis=0) / printed_curves()[curve].regret)]
        for curve, arm in arms.items()
    ]
    return markdown(("printed curve", *(f"{k:,.0f}" for k in episodes)), rows)


def _local(experiment: StoredExperiment) -> str:
    header = ("a user adds", "ε certified", "distance", "p", "ends at (printed: 15,120)")
    arms = local_arms(experiment)
    p = holm(np.array([fit({"ldp_eps2": at_printed(arm)}).p for arm in arms]))
    return markdown(header, [_local_row(arm, float(one)) for arm, one in zip(arms, p, strict=True)])


def _local_row(arm: StoredArm, p: float) -> tuple[str, ...]:
    regret = at_printed(arm)
    shared = ", the same for all pairs" * arm.config["privatizer"]["name"].endswith(":Shared")
    return (
        f"{laplace_of(arm)}{shared}",
        epsilon_text(arm.certificate.add_remove),
        f"{local_distance(arm):.3f}",
        f"{p:.2g}",
        f"{regret[:, -1].mean():,.0f}",
    )


STUDY = Study(draw, table, write, points=400)
