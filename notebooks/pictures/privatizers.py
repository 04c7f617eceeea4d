"""The pictures of 03_privatizers."""

import numpy as np

from dpucbvi.drawing.style import BLUE, GREEN, QUIET, VERMILLION
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


@picture
def batches_of_users(ends, k, error):
    """Above, where batches end; below, the standard deviation of a count by name over the users k."""
    figure = canvas(10, 4.6)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[1, 5])
    for i, (first, last) in enumerate(zip([1, *ends[:-1]], ends, strict=True)):
        upper.axvspan(first, last, color=(BLUE, GREEN)[i % 2], alpha=0.35, lw=0)
    upper.set(yticks=[])
    upper.set_title(f"{len(ends)} batches; every user lies in one of them, and each is released once")
    for (name, values), hue in zip(error.items(), (VERMILLION, BLUE, GREEN), strict=True):
        lower.plot(k, np.where(values > 0, values, np.nan), color=hue)
        lower.text(k[-1] * 1.15, values[-1], name, color=hue, va="center", fontsize=9)
    lower.set(
        xscale="log", yscale="log", xlim=(100, k[-1]), xlabel="user", ylabel="standard deviation\nof a count"
    )
    return figure


@picture
def three_factorisations(relative):
    """Standard deviations of every release, by the name of the factorisation."""
    figure = canvas(9, 3.8)
    axes = figure.subplots()
    for (name, values), hue in zip(relative.items(), (QUIET, BLUE, VERMILLION), strict=True):
        t = np.arange(1, len(values) + 1)
        axes.plot(t, values, color=hue, drawstyle="steps-mid")
        axes.text(t[-1] + 1, values[-2:].mean(), name, color=hue, va="center", fontsize=9)
    axes.set(xlabel="release $t$", ylabel="standard deviation", ylim=(0, None), xlim=(1, len(values)))
    axes.set_title("The same privacy, three ways to make the noise of running sums")
    return figure


@picture
def one_question(p, q, d, k, share):
    """Left, how likely every answer is if the truth is the third; right, the error of an estimated share."""
    figure = canvas(10, 3.8)
    left, right = figure.subplots(1, 2, width_ratios=[1, 2])
    chances = [p if i == 2 else q for i in range(d)]
    left.bar(range(d), chances, color=[VERMILLION if i == 2 else BLUE for i in range(d)])
    left.set(xticks=range(d), xticklabels=[*map(str, range(d - 1)), "no\nvisit"], ylabel="probability")
    left.set_title("Her answer, if the truth is 2")
    for (name, values), hue in zip(share.items(), (VERMILLION, BLUE), strict=True):
        right.plot(k, values, color=hue)
        right.text(k[-1] * 1.15, values[-1], name, color=hue, va="center", fontsize=9)
    right.set(xscale="log", yscale="log", xlim=(100, k[-1]), xlabel="users", ylabel="error of a share")
    right.axhline(1.0, color=QUIET, ls=":")
    right.text(120, 1.15, "a share is at most 1", color=QUIET, fontsize=9)
    return figure


@picture
def windows_of_steps(H, shown):
    """For every name the windows (cut, first step, length, estimate, whether it differs), coarse above fine."""
    figure = canvas(10, 3.2)
    panels = figure.subplots(1, len(shown), sharey=True)
    cuts = sorted({cut for of in shown.values() for cut, *_ in of})
    for axes, (name, of) in zip(panels, shown.items(), strict=True):
        for cut, first, length, estimate, differs in of:
            y = cuts.index(cut)
            edge = {"edgecolor": VERMILLION if differs else QUIET, "linewidth": 2.5 if differs else 0.8}
            axes.barh(y, length - 0.2, left=first + 0.6, height=0.7, color=BLUE, alpha=0.15)
            axes.barh(y, length - 0.2, left=first + 0.6, height=0.7, fill=False, **edge)
            axes.text(first + length / 2 + 0.5, y, f"{estimate:.2f}", ha="center", va="center")
        axes.set(
            xlabel="step $h$",
            xlim=(0.4, H + 0.6),
            xticks=[1, *range(5, H + 1, 5)],
            yticks=range(len(cuts)),
            yticklabels=map(str, cuts),
        )
        axes.set_ylim(len(cuts) - 0.5, -0.5)
        axes.set_title(name)
    panels[0].set_ylabel("windows")
    heading(
        figure,
        "Estimates of a probability in 1, 2 and 4 windows. Orange: differs from the window around it",
    )
    return figure
