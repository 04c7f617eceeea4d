# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Algorithm 1, step by step
#
# DP-UCBVI (Qiao and Wang, 2023) on an MDP small enough to look at every number. Read it beside the paper's
# Algorithm 1 and Section 5; each section below names the lines it shows. Every number comes from the functions
# of the package, so what you see is what the experiments run.
#
# | section | lines of Algorithm 1 | what it shows |
# |---|---|---|
# | 1 | line 1 | the MDP and its optimal value |
# | 2 | lines 2 and 16 | what one user adds to the counts |
# | 3 | line 17 | the Central Privatizer: true counts $N$ become noisy counts $\widehat N$ |
# | 4 | line 17 | the LP of Section 5.1: $\widehat N$ become private counts $\widetilde N$ |
# | 5 | line 6 | the private estimates $\widetilde P$ and $\widetilde r$ |
# | 6 | line 7 | the bonus and its four terms |
# | 7 | lines 4, 5 and 8-15 | optimistic value iteration |
# | 8 | lines 3 and 16-18 | the whole algorithm, and its regret |
# | 9 | line 17 | what $\epsilon$ such a run certifies |
#
# Letters: a bare letter is true ($N$), a hat is noisy ($\widehat N$), a tilde is post-processed ($\widetilde N$).
# The code writes them `N`, `N_hat`, `N_tilde`. Steps are counted from 1 in the text and from 0 in the arrays.

# %%
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"  # Okabe and Ito's palette:
BLUE, VERMILLION, PURPLE, GREY = "#0072B2", "#D55E00", "#CC79A7", "#999999"  # safe for colour-blind readers
plt.rcParams.update(
    {
        "figure.dpi": 110,
        "font.size": 10,
        "axes.titlesize": 11,
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
        "figure.constrained_layout.use": True,
    }
)


def annotate(ax, matrix, text, light_above):
    """Write `text[i, j]` into every cell of a heat map, white on dark cells."""
    for (i, j), label in np.ndenumerate(text):
        ax.text(j, i, label, ha="center", va="center", color="white" if matrix[i, j] > light_above else BLACK)


# %% [markdown]
# ## 1. The MDP and its optimal value (line 1)
#
# RiverSwim with three states and $H = 4$ steps. Swimming `right` goes against the current and often fails;
# `left` always succeeds. A reward of 0.005 waits at the left end, a reward of 1 at the right end. Backward
# induction (Section 2.1) gives the value to compare with:
#
# $$Q^\star_h(s,a) = r_h(s,a) + \sum_{s'} P_h(s'|s,a)\, V^\star_{h+1}(s'), \qquad
#   V^\star_h(s) = \max_a Q^\star_h(s,a), \qquad V^\star_{H+1} = 0.$$

# %%
from dpucbvi.environments import LEFT, RIGHT, riverswim
from dpucbvi.planning import optimal_values, policy_values

mdp = riverswim(S=3, H=4)
H, S, A = mdp.H, mdp.S, mdp.A
V_star, Q_star = optimal_values(mdp)
pi_star = Q_star.argmax(axis=-1)
print(f"V*_1(s_1) = {V_star[0, 0]:.4f}")

ARROW = {LEFT: "←", RIGHT: "→"}
PAIRS = [(s, a) for s in range(S) for a in range(A)]
PAIR_NAMES = [f"{s}{ARROW[a]}" for s, a in PAIRS]

# %%
fig, (river, values) = plt.subplots(1, 2, figsize=(10.5, 3.4), width_ratios=(1.15, 1))
COLOUR, DASH = {LEFT: VERMILLION, RIGHT: BLUE}, {LEFT: "--", RIGHT: "-"}
for s, a, s_next in np.argwhere(mdp.P[0] > 0):
    p = f"{mdp.P[0, s, a, s_next]:g}"
    if s_next == s:
        river.text(s, 0.42 if a == RIGHT else -0.42, f"stays: {p}", color=COLOUR[a], ha="center", va="center")
        continue
    bend, height = (-0.45, 0.72) if s_next > s else (-0.2, -0.22) if a == RIGHT else (-0.6, -0.93)
    style = {"arrowstyle": "-|>", "color": COLOUR[a], "linestyle": DASH[a], "lw": 1.5, "shrinkA": 19, "shrinkB": 19}
    river.annotate("", (s_next, 0), (s, 0), arrowprops=style | {"connectionstyle": f"arc3,rad={bend}"})
    river.text((s + s_next) / 2, height, p, color=COLOUR[a], ha="center", va="center")
river.scatter(range(S), np.zeros(S), s=1100, facecolor="white", edgecolor=BLACK, zorder=3)
for s in range(S):
    river.text(s, 0, f"$s={s}$", ha="center", va="center", zorder=4)
river.set(xlim=(-0.5, 2.5), ylim=(-1.15, 1), xticks=[], yticks=[])
river.spines[:].set_visible(False)
river.set_title("right (solid blue) often fails, left (dashed red) never")

image = values.imshow(V_star[:H].T, cmap="cividis_r", vmin=0, vmax=V_star.max(), aspect="auto")
label = [[f"{V_star[h, s]:.3f} {ARROW[pi_star[h, s]]}" for h in range(H)] for s in range(S)]
annotate(values, V_star[:H].T, np.array(label), light_above=1.2)
values.set(xticks=range(H), xticklabels=range(1, H + 1), yticks=range(S), xlabel="step h", ylabel="state s")
values.set_title(r"$V^\star_h(s)$ and the best action: swim right while it can pay")
fig.colorbar(image, ax=values, label=r"$V^\star_h(s)$")
plt.show()

assert pi_star[0, 0] == RIGHT  # at the start it pays to swim
assert pi_star[2, 0] == LEFT  # two steps from the end the right bank is out of reach
