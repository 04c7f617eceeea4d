"""The pictures of 01_algorithm_1_step_by_step."""

import numpy as np
from matplotlib.patches import Polygon, Rectangle

from dpucbvi.drawing.style import BLACK, BLUE, GREEN, ORANGE, QUIET, SKY, VERMILLION
from dpucbvi.environments import LEFT, RIGHT
from pictures import canvas, heading, picture, write_into_cells

ARROW = {LEFT: "←", RIGHT: "→"}
TERMS = {
    "variance": (SKY, None),
    "reward": (GREEN, "xx"),
    "privacy": (VERMILLION, "///"),
    "next value": (BLUE, "..."),
}


def pair_names(S):
    return [f"{s}{ARROW[a]}" for s in range(S) for a in (LEFT, RIGHT)]


@picture
def the_river(mdp, V_star, pi_star):
    """Where the actions lead, and the best value and action of every step and state."""
    figure = canvas(11.5, 3.7)
    river, values = figure.subplots(1, 2, width_ratios=(1.15, 1))
    colour, dash = {LEFT: VERMILLION, RIGHT: BLUE}, {LEFT: "--", RIGHT: "-"}
    for s, a, s_next in np.argwhere(mdp.P[0] > 0):
        p = f"{mdp.P[0, s, a, s_next]:g}"
        if s_next == s:
            river.text(
                s, 0.33 if a == RIGHT else -0.33, f"stays: {p}", color=colour[a], ha="center", va="center"
            )
            continue
        bend, height = (-0.45, 0.38) if s_next > s else (-0.15, -0.03) if a == RIGHT else (-0.6, -0.47)
        style = {"arrowstyle": "-|>", "color": colour[a], "linestyle": dash[a], "lw": 1.5}
        style |= {"shrinkA": 19, "shrinkB": 19, "connectionstyle": f"arc3,rad={bend}"}
        river.annotate("", (s_next, 0), (s, 0), arrowprops=style)
        river.text((s + s_next) / 2, height, p, color=colour[a], ha="center", va="center")
    river.scatter(range(mdp.S), np.zeros(mdp.S), s=1100, facecolor="white", edgecolor=BLACK, zorder=3)
    for s in range(mdp.S):
        river.text(s, 0, f"$s={s}$", ha="center", va="center", zorder=4)
    river.set(xlim=(-0.5, 2.5), ylim=(-0.8, 0.75), xticks=[], yticks=[])
    river.spines[:].set_visible(False)
    river.set_title("Right (solid, blue) often fails, left (dashed, red) never does")
    H = mdp.H
    image = values.imshow(V_star[:H].T, cmap="Blues", vmin=0, vmax=V_star.max(), aspect="auto")
    label = [[f"{V_star[h, s]:.3f} {ARROW[pi_star[h, s]]}" for h in range(H)] for s in range(mdp.S)]
    write_into_cells(values, image, label)
    values.set(
        xticks=range(H), xticklabels=range(1, H + 1), yticks=range(mdp.S), xlabel="step h", ylabel="state s"
    )
    values.set_title(r"$V^\star_h(s)$ and the best action")
    figure.colorbar(image, ax=values, label=r"$V^\star_h(s)$")
    return figure


@picture
def counts_by_step(N_sa, users):
    """N_h(s,a) as a heat map for every step."""
    figure = canvas(10.5, 3.3)
    panels = figure.subplots(1, len(N_sa), sharey=True)
    for h, axes in enumerate(panels):
        image = axes.imshow(N_sa[h], cmap="Blues", vmin=0, vmax=N_sa.max(), aspect="auto")
        write_into_cells(axes, image, [[f"{n:.0f}" for n in row] for row in N_sa[h]])
        axes.set(xticks=range(2), xticklabels=["left", "right"], xlabel="action a", title=f"step h = {h + 1}")
        axes.set(yticks=range(len(N_sa[h])))
    panels[0].set_ylabel("state s")
    figure.colorbar(image, ax=panels, label=f"$N_h(s,a)$ after {users} users")
    heading(figure, "Counts are kept apart for every step, and far states are rarely seen")
    return figure


def draw_blocks(axes, L, users, noise, used, seen, number="{:+.1f}"):
    """The blocks of the tree, level by level; `noise[level, last user]` holds those that are ever released.

    Orange: part of the release. Pale blue: drawn, and not part of it. Dotted: never released, or still to come.
    """
    for i in range(L):
        for last in range(2**i, users + 1, 2**i):
            chosen, noised, closed = (i, last) in used, (i, last) in noise, last <= seen
            face = ORANGE if chosen else "#D9ECF7" if noised and closed else "white"
            edge, line = (BLACK, "-") if noised and closed else (QUIET, ":")
            corner = (last - 2**i + 0.54, i - 0.36)
            axes.add_patch(Rectangle(corner, 2**i - 0.08, 0.72, facecolor=face, edgecolor=edge, linestyle=line))
            if not number:
                continue
            text, ink = (number.format(noise[i, last]), BLACK) if noised and closed else ("–", QUIET)
            weight = "bold" if chosen else "normal"
            axes.text(last - 2**i / 2 + 0.5, i, text, ha="center", va="center", color=ink, weight=weight)
    axes.set(xlim=(0.4, users + 0.7), ylim=(-0.6, L - 0.4), yticks=range(L))


@picture
def tree(L, noise, used, t):
    """The tree of the Binary Mechanism with the blocks of one release."""
    figure = canvas(10.5, 3.9)
    axes = figure.subplots()
    users = 2**L - 1
    draw_blocks(axes, L, users, noise, used, seen=users)
    axes.axvline(t + 0.5, color=VERMILLION, lw=1.5, linestyle="--", zorder=0)
    axes.text(t + 0.6, L - 0.95, f"after user {t}\n= {t:b} in binary", color=VERMILLION, va="center")
    axes.set(xticks=range(1, users + 1), xlabel="user", ylabel="level i: blocks of $2^i$ users")
    axes.set_title(
        f"{len(used)} blocks (orange) cover users 1 to {t}: the release carries {len(used)} noises, not {t}.\n"
        "A number is the noise of a block, drawn once when the block closes; dotted blocks are never released"
    )
    return figure


@picture
def one_counter(true, N_hat, N_tilde, E, L):
    """A counter over the episodes: true, noisy, private; and its noise alone."""
    k = np.arange(2, len(true) + 2)
    figure = canvas(10.5, 5.4)
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1.1))
    label = r"$[N,\ N+E]$: where $\widetilde N$ must lie"
    top.fill_between(k, true, true + E, color=SKY, alpha=0.25, lw=0, label=label)
    top.plot(k, N_tilde, color=BLUE, lw=1.2, label=r"$\widetilde N$: after the LP and the shift (section 4)")
    top.plot(k, N_hat, color=VERMILLION, lw=1, label=r"$\widehat N$: noisy")
    top.plot(k, true, color=BLACK, lw=1.5, linestyle="--", label="$N$: true")
    top.set(ylabel="count of (step 2, state 0, right)")
    top.legend(loc="upper left")
    top.set_title(
        r"The noisy count follows the truth, and the private count $\widetilde N$ never falls below it"
    )
    bottom.axhline(0, color=BLACK, lw=1, linestyle="--")
    bottom.plot(k, N_hat - true, color=VERMILLION, lw=1)
    for power in 2 ** np.arange(5, L):
        bottom.axvline(power + 1, color=QUIET, lw=0.8, linestyle=":")
    bottom.set(xlabel="episode k (dotted: k-1 is a power of 2)", ylabel=r"$\widehat N^k - N^k$")
    bottom.set_title(
        f"The noise alone: a sum of at most L = {L} Laplace draws, the same draws for many episodes"
    )
    return figure


@picture
def the_lp_in_two_dimensions(examples, w):
    """Eq. (4) for S = 2: `examples` are (title, y, n, x, t), x the projected row and t the LP's value."""
    figure = canvas(11.5, 5.4)
    panels = figure.subplots(1, len(examples), sharey=True)
    for axes, (title, y, n, x, t) in zip(panels, examples, strict=True):
        draw_lp(axes, y, n, w, x, t)
        axes.set(xlabel="$x_1$", xlim=(-4, 20), ylim=(-7, 12), yticks=range(-5, 11, 5), aspect="equal")
        axes.set_title(title)
    panels[0].set_ylabel("$x_2$")
    handles = {label: handle for handle, label in zip(*panels[0].get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), ncols=3, loc="outside lower center")
    return figure


def draw_lp(axes, y, n, w, x, t):
    band = [(max(n - w, 0), 0), (n + w, 0), (0, n + w), (0, max(n - w, 0))]
    label = r"feasible: $x \geq 0$ and $|x_1 + x_2 - \widehat N(s,a)| \leq E/4$"
    axes.add_patch(Polygon(band, facecolor=SKY, alpha=0.35, lw=0, label=label))
    line = np.array([-9.0, 30.0])
    for side in (n - w, n + w):
        axes.plot(line, side - line, color=SKY, lw=1.2)
    axes.plot(line, n - line, color=SKY, lw=1.2, ls=":", label=r"$x_1 + x_2 = \widehat N(s,a)$")
    axes.axhline(0, color=QUIET, lw=0.8)
    axes.axvline(0, color=QUIET, lw=0.8)
    style = {"fill": False, "edgecolor": VERMILLION, "lw": 1.5, "linestyle": "--"}
    label = r"box $\max_{s'} |x_{s'} - \widehat N(s,a,s')| \leq t$ with the least $t$"
    axes.add_patch(Rectangle(tuple(y - t), 2 * t, 2 * t, label=label, **style))
    axes.annotate("", (y[0] + t, y[1]), y, arrowprops={"arrowstyle": "<->", "color": VERMILLION})
    axes.text(y[0] + t / 2, y[1] + 0.3, f"t = {t:g}", color=VERMILLION, ha="center", va="bottom")
    best = {"facecolor": ORANGE, "edgecolor": ORANGE, "lw": 6, "alpha": 0.8, "joinstyle": "round"}
    axes.add_patch(Polygon(minimisers(y, n, w, t), label="all minimisers of Eq. (4)", **best))
    axes.plot(*np.array([y, x]).T, color=BLUE, lw=1)
    axes.plot(*y, "o", color=VERMILLION, ms=8, label=r"noisy point $\widehat N(s,a,\cdot)$")
    axes.plot(*x, "s", color=BLUE, ms=8, label="projected point $x$: the nearest minimiser")


def minimisers(y, n, w, t):
    """The corners of what the box |x - y| ≤ t and the feasible set have in common."""
    corners = [y + t * np.array(signs) for signs in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    for normal, bound in (((1, 0), 0.0), ((0, 1), 0.0), ((1, 1), n - w), ((-1, -1), -n - w)):
        corners = cut(corners, np.array(normal), bound)
    return corners


def cut(corners, normal, bound):
    """A polygon without the part in which normal · x < bound."""
    over = [corner @ normal - bound for corner in corners]
    over = [0.0 if abs(height) < 1e-9 else height for height in over]
    kept = []
    for i, (corner, height) in enumerate(zip(corners, over, strict=True)):
        before, depth = corners[i - 1], over[i - 1]
        if height * depth < 0:
            kept.append(before + (corner - before) * depth / (depth - height))
        if height >= 0:
            kept.append(corner)
    return kept


@picture
def two_minimisers(y, nearest, other, shift_by):
    """Two solutions of one LP, and the estimates they lead to."""
    figure = canvas(10.5, 3.9)
    left, right = figure.subplots(1, 2, width_ratios=(1.4, 1))
    position, free = np.arange(len(y)), np.abs(nearest - y).max()
    label = rf"$\widehat N(s,a,s')$ and the free range $\pm {free:g}$"
    left.errorbar(position, y, yerr=free, fmt="o", color=BLACK, capsize=6, label=label)
    left.bar(position - 0.22, nearest, 0.2, color=BLUE, label=f"nearest minimiser, sum {nearest.sum():g}")
    hatched = {"color": ORANGE, "hatch": "///", "edgecolor": BLACK}
    left.bar(position + 0.22, other, 0.2, label=f"another minimiser, sum {other.sum():g}", **hatched)
    left.axhline(0, color=BLACK, lw=0.8)
    left.set(xlabel="next state s'", ylabel="count", xticks=position)
    left.set_title(f"Two minimisers of one LP: both move by at most {free:g}")
    left.legend()
    for offset, candidate, style in (
        (-0.2, nearest, {"color": BLUE, "edgecolor": BLACK}),
        (0.2, other, hatched),
    ):
        P_row = (candidate + shift_by) / (candidate + shift_by).sum()
        right.bar(position + offset, P_row, 0.36, **style)
    right.set(xlabel="next state s'", ylabel=r"$\widetilde P(s'|s,a)$ after the shift", xticks=position)
    right.set_title(r"They give different $\widetilde P$")
    return figure


@picture
def four_estimates(versions):
    """P_h(.|s,a) in several versions; what is no probability is framed."""
    figure = canvas(11.5, 4)
    panels = figure.subplots(1, len(versions), sharey=True)
    for axes, (name, P) in zip(panels, versions.items(), strict=True):
        S = P.shape[-1]
        table = P.reshape(-1, S)
        image = axes.imshow(table, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        write_into_cells(axes, image, [[f"{p:.2f}" for p in line] for line in table])
        for i, j in np.argwhere((table < 0) | (table > 1)):
            axes.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, edgecolor=VERMILLION, lw=2))
        axes.set(xticks=range(S), yticks=range(len(table)), yticklabels=pair_names(S), xlabel="next state s'")
        axes.set_title(name)
    panels[0].set_ylabel("state and action (s, a)")
    figure.colorbar(image, ax=panels, label="probability")
    heading(
        figure,
        r"$\widetilde P$ is a distribution, at the price of a pull towards uniform where visits are few"
        "\n(framed: not a probability)",
    )
    return figure


@picture
def bonus_by_term(panels, episodes, H):
    """The four terms of line 7 as bars; a panel is (title, action, terms[episode, term])."""
    figure = canvas(13, 4.3)
    for axes, (name, a, values) in zip(figure.subplots(1, len(panels)), panels, strict=True):
        base = np.zeros(len(episodes))
        for (term, (colour, hatch)), height in zip(TERMS.items(), values.T, strict=True):
            style = {"color": colour, "hatch": hatch, "edgecolor": BLACK, "label": term}
            axes.bar(range(len(episodes)), height, bottom=base, **style)
            base += height
        axes.axhline(H, color=BLACK, lw=1.5, linestyle="--", label=f"H = {H}: no value is larger")
        axes.set(xticks=range(len(episodes)), xticklabels=episodes, xlabel="episode k")
        axes.set_title(f"{name}\nb of (step 1, 0{ARROW[a]}): {base[0]:,.1f} to {base[-1]:,.1f}")
    figure.axes[0].set_ylabel("bonus b")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), ncols=5, loc="outside lower center")
    heading(figure, "Printed constants (left two) and a factor that brings the bonus below H (mind the scales)")
    return figure


@picture
def optimistic_values(Q_star, series, literal):
    """Q̃ of the last episode beside Q*, for every step, state and action."""
    H, S, A = Q_star.shape
    figure = canvas(11.5, 4.6)
    axes, position = figure.subplots(), np.arange(H * S * A)
    axes.axhline(H, color=QUIET, lw=1.5, linestyle="--", label=rf"$\widetilde Q$, {literal}: H everywhere")
    for (name, Q), colour, marker, offset in zip(
        series.items(), (VERMILLION, BLUE), "s^", (-0.16, 0.16), strict=True
    ):
        axes.vlines(position + offset, Q_star.ravel(), Q.ravel(), color=colour, lw=0.8, alpha=0.6)
        label = rf"$\widetilde Q$, {name}"
        axes.scatter(position + offset, Q.ravel(), color=colour, marker=marker, s=32, label=label, zorder=3)
    axes.scatter(position, Q_star.ravel(), color=BLACK, marker="_", s=200, lw=2, label=r"$Q^\star$", zorder=4)
    for h in range(1, H):
        axes.axvline(h * S * A - 0.5, color=QUIET, lw=0.6)
    for h in range(H):
        axes.text((h + 0.5) * S * A - 0.5, H + 0.25, f"step h = {h + 1}", ha="center")
    axes.set(xticks=position, xticklabels=pair_names(S) * H, xlabel="state and action", ylabel="value")
    axes.set(ylim=(-0.1, H + 0.6), xlim=(-0.6, H * S * A - 0.4))
    axes.legend(ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.16))
    axes.set_title(
        r"$\widetilde Q \geq Q^\star$: nearest where many users came, H or close to it where none came"
    )
    return figure


@picture
def regret_curves(curves):
    """Mean, least and most regret of the seeds, one curve per name."""
    figure = canvas(10, 4.6)
    axes = figure.subplots()
    styles = ((QUIET, "--"), (VERMILLION, "-"), (ORANGE, "-."), (BLUE, (0, (6, 1))), (BLACK, ":"))
    for (name, regret), (colour, line) in zip(curves.items(), styles, strict=True):
        k, mean = np.arange(1, regret.shape[1] + 1), regret.mean(axis=0)
        axes.fill_between(k, regret.min(axis=0), regret.max(axis=0), color=colour, alpha=0.2, lw=0)
        axes.plot(k, mean, color=colour, linestyle=line, lw=1.8)
        axes.text(len(k) + 4, mean[-1], name, va="center")
    axes.set(xlabel="episode k", ylabel="regret", xlim=(0, len(k)), ylim=(0, None))
    axes.set_title(
        f"Less privacy, less regret; the printed constants learn nothing in {len(k)} episodes\n"
        f"(mean, least and most of {len(regret)} seeds)"
    )
    return figure
