"""The pictures of 02_reading_the_results."""

import numpy as np

from dpucbvi.drawing.style import BLACK, BLUE, GREEN, ORANGE, QUIET, VERMILLION
from pictures import canvas, picture

HUES = {"non_private": BLACK, "jdp_eps2": GREEN, "jdp_eps1": BLUE, "ldp_eps2": VERMILLION}
NAMES = {
    "non_private": "UCBVI",
    "jdp_eps1": r"JDP $\epsilon=1$",
    "jdp_eps2": r"JDP $\epsilon=2$",
    "ldp_eps2": r"LDP $\epsilon=2$",
}
APART = {"ldp_eps2": 1.0, "jdp_eps1": 1.2, "jdp_eps2": 0.9, "non_private": 0.66}  # labels, not curves
TERMS = {"variance": BLUE, "reward": GREEN, "privacy": VERMILLION, "next value": ORANGE}


@picture
def figure_1_three_times(printed, proven, fitted, epsilons):
    """Curves by key: (episodes, regret). Dashed is what the paper prints, in every panel."""
    figure = canvas(12.5, 4.2)
    panels = figure.subplots(1, 3, sharey=True)
    for axes, width in zip(panels, (1.6, 0.9, 0.9), strict=True):
        for key, curve in printed.items():
            axes.plot(*curve, color=HUES[key], lw=width, ls="--", alpha=1.0 if width > 1 else 0.6)
    for axes, curves in zip(panels[1:], (proven, fitted), strict=True):
        for key, curve in curves.items():
            axes.plot(*curve, color=HUES[key], lw=1.6)
    names = {key: "UCBVI" if key == "non_private" else rf"$\epsilon={epsilons[key]:g}$" for key in fitted}
    for axes, curves, labels in ((panels[0], printed, NAMES), (panels[2], fitted, names)):
        for key, (episodes, regret) in curves.items():
            place = (episodes[-1] * 1.08, regret[-1] * APART[key])
            axes.text(*place, labels[key], color=HUES[key], va="center", fontsize=9)
    episodes, regret = proven["non_private"]
    panels[1].text(episodes[-1] * 1.08, regret[-1], "UCBVI", va="center", fontsize=9)
    panels[1].text(2.2e3, 9e4, "all three private curves:\nnothing is learned", color=QUIET, fontsize=9)
    titles = ("As printed", r"As proven, at the printed $\epsilon$", r"As fitted, at another $\epsilon$")
    for axes, title in zip(panels, titles, strict=True):
        axes.set(xscale="log", yscale="log", xlim=(2e3, 5e4), ylim=(1e2, 3e5), xlabel="episode", title=title)
        axes.set_xticks([2e3, 5e3, 1e4, 2e4, 5e4], ["2k", "5k", "10k", "20k", "50k"])
        axes.minorticks_off()
    panels[0].set_ylabel("regret")
    return figure


@picture
def noise_against_counts(k, H, noise):
    """`noise[model][epsilon]` over the episodes k, beside the visits that a counter can have."""
    figure = canvas(11.5, 4.4)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (model, curves) in zip(panels, noise.items(), strict=True):
        axes.plot(k, k, color=BLACK, lw=1.8)
        axes.plot(k, H * k, color=BLACK, lw=1.8, ls=":")
        axes.text(k[-1] * 1.1, H * k[-1], "pooled counter:\nat most $kH$ visits", va="center", fontsize=9)
        axes.text(k[-1] * 1.1, 1.5 * k[-1], "counter of a step:\nat most $k$", va="center", fontsize=9)
        for (epsilon, curve), hue in zip(curves.items(), (VERMILLION, ORANGE, GREEN, BLUE), strict=True):
            axes.plot(k, curve, color=hue, lw=1.6)
            axes.text(k[-1] * 1.1, curve[-1], rf"$\epsilon={epsilon:g}$", color=hue, va="center", fontsize=9)
        axes.set(xscale="log", yscale="log", xlim=(1, k[-1]), xlabel="episode k")
        axes.set_title(f"{model}: noise (colours) against counts (black)")
    panels[0].set_ylabel("standard deviation of the noise, or visits")
    return figure


@picture
def bonus_terms(k, H, terms):
    """`terms[title]` is terms[episode, term] of line 7."""
    figure = canvas(13, 4.1)
    panels = figure.subplots(1, len(terms), sharey=True)
    for axes, (title, values) in zip(panels, terms.items(), strict=True):
        axes.plot(k, values.sum(axis=1), color="#CCCCCC", lw=5, label="sum")
        for term, (name, hue) in zip(values.T, TERMS.items(), strict=True):
            axes.plot(k, term, color=hue, lw=1.5, label=name)
        axes.axhline(H, color=QUIET, ls=":", lw=1)
        axes.set(xscale="log", yscale="log", xlim=(1, k[-1]), ylim=(1e-5, 1e6), xlabel="episode k")
        axes.set_title(title, fontsize=10)
    panels[0].text(1.3, H * 1.3, f"H = {H}", color=QUIET)
    panels[0].set_ylabel("bonus, term by term")
    panels[-1].legend(fontsize=8.5)
    return figure


@picture
def cost_of_privacy(budgets, cost, slopes, epsilon):
    """The regret beyond UCBVI's at the end of runs of K episodes, for every K."""
    figure = canvas(8.5, 4.6)
    axes = figure.subplots()
    for (name, excess), hue in zip(cost.items(), (BLUE, VERMILLION), strict=True):
        axes.plot(budgets, excess, color=hue, marker="o", lw=1.6)
        label = f"{name}\nlast slope {slopes[name]:.2f}"
        axes.text(budgets[-1] * 1.15, excess[-1], label, color=hue, va="center")
    root = cost["LDP"][-1] * np.sqrt(np.array(budgets) / budgets[-1])
    axes.plot(budgets, root, color=QUIET, ls=":", zorder=0)
    place = (budgets[-2] * 0.95, root[-2] * 1.15)
    axes.text(*place, r"slope of $\sqrt{K}$", color=QUIET, ha="right", va="bottom")
    axes.set(xscale="log", yscale="log", xlabel="K, the episodes of a run", ylabel="regret beyond UCBVI's")
    values = np.concatenate([*cost.values(), root])
    rounds = [digit * 10.0**power for power in range(1, 8) for digit in (1, 2, 5)]
    low, high = values.min() / 1.3, values.max() * 1.3
    ticks = [tick for tick in rounds if low <= tick <= high]
    axes.set_xticks(budgets, [in_short(K) for K in budgets])
    axes.set_yticks(ticks, [f"{tick:,.0f}" for tick in ticks])
    axes.set(ylim=(low, high))
    axes.minorticks_off()
    axes.set_title(rf"Pooled counts, $\epsilon = {epsilon}$: what privacy costs at the end of a run")
    return figure


def in_short(K):
    """4k for 4,000 and 1.6M for 1,600,000."""
    return f"{K / 1e6:g}M" if K >= 1e6 else f"{K / 1e3:g}k"
