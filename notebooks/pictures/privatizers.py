"""The pictures of 03_privatizers."""

import numpy as np

from dpucbvi.drawing.style import BLACK, BLUE, GREEN, QUIET, VERMILLION
from pictures import canvas, heading, picture
from pictures.algorithm1 import draw_blocks


@picture
def the_tree_grows(L, releases):
    """A panel for every release, `releases[t]` being its blocks as (level, last user): noise."""
    figure = canvas(11.5, 4.8)
    users = len(releases)
    noise = {block: value for blocks in releases.values() for block, value in blocks.items()}
    panels = figure.subplots(2, users // 2, sharex=True, sharey=True)
    for axes, (t, blocks) in zip(panels.flat, releases.items(), strict=True):
        draw_blocks(axes, L, users, noise, blocks, seen=t, number="")
        axes.axvline(t + 0.5, color=VERMILLION, lw=1.2, linestyle="--", zorder=0)
        axes.set(xticks=range(1, users + 1))
        axes.set_title(f"t = {t} = {t:b} in binary: {len(blocks)} noise{'s' * (len(blocks) > 1)}", fontsize=10)
    for axes in panels[-1]:
        axes.set_xlabel("user")
    for axes in panels[:, 0]:
        axes.set_ylabel("level: $2^i$ users")
    heading(
        figure,
        "The tree after users 1 to 8. Orange: blocks of the release; pale: of earlier ones, no longer needed;"
        "\ndotted: still to come, or never released",
    )
    return figure


@picture
def error_of_the_tree(measured, noises, counters):
    figure = canvas(8.5, 3.7)
    axes, t = figure.subplots(), np.arange(1, len(measured) + 1)
    axes.plot(t, measured, color=BLUE, marker="o", label=f"measured on {counters} counters")
    axes.plot(
        t, np.sqrt(2.0 * np.array(noises)), color=BLACK, ls=":", label=r"$\sqrt{2 \times \mathrm{noises}}$"
    )
    axes.set(xlabel="release $t$", ylabel="standard deviation / scale", ylim=(0, None), xticks=t)
    axes.set_title("The error of a release follows the number of its blocks, not $t$")
    axes.legend(loc="lower right")
    return figure


@picture
def error_against_k(k, deviation, bounds, visits):
    """Standard deviations by name over the episodes k, with the bound E/4 of each."""
    figure = canvas(10, 4.6)
    axes = figure.subplots()
    for (name, values), hue in zip(deviation.items(), (BLUE, VERMILLION), strict=True):
        axes.plot(k, values, color=hue)
        axes.text(k[-1] * 1.15, values[-1], f"{name}: standard deviation", color=hue, va="center", fontsize=9)
        axes.axhline(bounds[name], color=hue, ls=":")
        axes.text(k[-1] * 1.15, bounds[name], f"{name}: $E/4$", color=hue, va="center", fontsize=9)
    axes.plot(k, visits, color=QUIET, lw=1.2, ls="--")
    label = "visits of a pair that\nevery sixth episode meets"
    axes.text(k[len(k) // 2], visits[len(k) // 2] / 2, label, color=QUIET, va="top", fontsize=9)
    axes.set(xscale="log", yscale="log", xlim=(1, k[-1]), xlabel="episode $k$", ylabel="error of a count")
    axes.set_title(r"At $\epsilon = 1$ the error that is allowed for is above the count to the end")
    return figure


@picture
def pooled_counts(k, ratio):
    """E over the visits of a pair, for every name; below 1 the count says more than E allows to be wrong."""
    figure = canvas(9, 4)
    axes = figure.subplots()
    for (name, values), hue in zip(ratio.items(), (BLUE, GREEN), strict=True):
        axes.plot(k, values, color=hue, label=name)
    axes.axhline(1.0, color=QUIET, ls=":")
    axes.text(1.2, 1.2, "E = visits", color=QUIET)
    axes.set(xscale="log", yscale="log", xlim=(1, k[-1]), xlabel="episode $k$", ylabel="$E$ / visits of a pair")
    axes.set_title("Pooling the steps: about the same error, against $H$ times the visits")
    axes.legend()
    return figure
