"""The pictures of 06_be_the_attacker."""

import numpy as np

from dpucbvi.drawing.style import BLACK, BLUE, QUIET, VERMILLION
from pictures import canvas, picture


@picture
def two_worlds(first, second, threshold, epsilon):
    """Histograms of what the attacker sees in either world, and where the guess changes."""
    figure = canvas(9, 3.8)
    axes = figure.subplots()
    bins = np.linspace(-6.0, 7.0, 66)
    for values, hue, label in ((first, BLUE, "she was not there"), (second, VERMILLION, "she was there")):
        axes.hist(values, bins, density=True, histtype="step", color=hue, lw=1.6, label=label)
    axes.axvline(threshold, color=BLACK, ls="--", lw=1.0)
    axes.text(threshold + 0.08, axes.get_ylim()[1] * 0.93, "guess “there” from here on", fontsize=9)
    axes.set(xlabel="released count, less what the others add", ylabel="density")
    axes.set_title(rf"Two worlds that differ in one user, $\epsilon = {epsilon:g}$")
    axes.legend(loc="center right")
    return figure


@picture
def found_and_certified(rows):
    """For every privatizer what it certifies, as an upright line, and what was found, as a dot."""
    figure = canvas(9, 0.9 + 0.5 * len(rows))
    axes = figure.subplots()
    for y, (_, declared, found) in enumerate(rows):
        caught = found > declared * (1.0 + 1e-9)
        axes.plot([0, found], [y, y], color=VERMILLION if caught else BLUE, lw=3, alpha=0.4)
        axes.plot([found], [y], "o", color=VERMILLION if caught else BLUE)
        axes.plot([declared], [y], "|", color=BLACK, markersize=20, markeredgewidth=2)
        words = "caught" if caught else "within its certificate"
        axes.text(max(found, declared) + 0.06, y, words, va="center", color=VERMILLION if caught else QUIET)
    axes.set(yticks=range(len(rows)), yticklabels=[name for name, *_ in rows], ylim=(len(rows) - 0.5, -0.5))
    axes.set(xlim=(0, 1.5 * max(max(row[1:]) for row in rows)), xlabel=r"$\epsilon$, a user replaced")
    axes.set_title("Upright: certified. Dot: the privacy loss that the audit finds")
    return figure
