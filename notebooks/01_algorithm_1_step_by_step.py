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
# Letters: a bare letter is true ($N$), a hat is noisy ($\widehat N$), a tilde is post-processed
# ($\widetilde N$). The code writes them `N`, `N_hat`, `N_tilde`. Steps are counted from 1 in the text and from
# 0 in the arrays.

# %%
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

import dpucbvi as dp
from dpucbvi.studies.shared.style import BLACK, BLUE, GREEN, ORANGE, QUIET, SKY, VERMILLION, notebook_style

notebook_style()


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
from dpucbvi.environments import LEFT, RIGHT

mdp = dp.riverswim(S=3, H=4)
H, S, A = mdp.H, mdp.S, mdp.A
V_star, Q_star = dp.optimal_values(mdp)
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
        river.text(s, 0.3 if a == RIGHT else -0.3, f"stays: {p}", color=COLOUR[a], ha="center", va="center")
        continue
    bend, height = (-0.45, 0.38) if s_next > s else (-0.15, 0.02) if a == RIGHT else (-0.6, -0.47)
    style = {"arrowstyle": "-|>", "color": COLOUR[a], "linestyle": DASH[a], "lw": 1.5}
    style |= {"shrinkA": 19, "shrinkB": 19, "connectionstyle": f"arc3,rad={bend}"}
    river.annotate("", (s_next, 0), (s, 0), arrowprops=style)
    river.text((s + s_next) / 2, height, p, color=COLOUR[a], ha="center", va="center")
river.scatter(range(S), np.zeros(S), s=1100, facecolor="white", edgecolor=BLACK, zorder=3)
for s in range(S):
    river.text(s, 0, f"$s={s}$", ha="center", va="center", zorder=4)
river.set(xlim=(-0.5, 2.5), ylim=(-0.8, 0.75), xticks=[], yticks=[])
river.spines[:].set_visible(False)
river.set_title("Swimming right (solid blue) often fails, left (dashed red) never")

image = values.imshow(V_star[:H].T, cmap="Blues", vmin=0, vmax=V_star.max(), aspect="auto")
label = [[f"{V_star[h, s]:.3f} {ARROW[pi_star[h, s]]}" for h in range(H)] for s in range(S)]
annotate(values, V_star[:H].T, np.array(label), light_above=1.5)
values.set(xticks=range(H), xticklabels=range(1, H + 1), yticks=range(S), xlabel="step h", ylabel="state s")
values.set_title(r"$V^\star_h(s)$ and the best action: swim right while it can pay")
fig.colorbar(image, ax=values, label=r"$V^\star_h(s)$")
plt.show()

assert pi_star[0, 0] == RIGHT  # at the start it pays to swim
assert pi_star[2, 0] == LEFT  # two steps from the end the right bank is out of reach

# %% [markdown]
# ## 2. What one user adds to the counts (lines 2 and 16)
#
# Each episode is one user. Her trajectory $(s_1,a_1,r_1,\dots,s_{H+1})$ enters three families of counters
# (Section 3):
#
# $$N^k_h(s,a) = \sum_{i<k} \mathbb 1(s^i_h,a^i_h = s,a), \quad
#   N^k_h(s,a,s') = \sum_{i<k} \mathbb 1(s^i_h,a^i_h,s^i_{h+1} = s,a,s'), \quad
#   R^k_h(s,a) = \sum_{i<k} \mathbb 1(s^i_h,a^i_h = s,a)\, r^i_h.$$
#
# At $k = 1$ all are 0 (line 2). Here 300 users come one after another. To fill all cells, they follow the
# uniformly random policy in sections 2 to 5; from section 6 on the algorithm chooses.

# %%
from dpucbvi.counts import as_counts, statistics
from dpucbvi.mdp import rollout, uniforms_per_episode
from dpucbvi.privatizers.laplace import LaplaceStream, seed_stream

K, USERS, SEED = 400, 300, 1
environment = np.random.default_rng(seed_stream(SEED, "environment"))
uniform_policy = np.full((H, S, A), 1 / A)
users = [rollout(mdp, uniform_policy, environment.random(uniforms_per_episode(H))) for _ in range(USERS)]
sigma = [statistics(user, H, S, A) for user in users]  # one vector per user, all counters of the three families
N = as_counts(np.sum(sigma, axis=0), H, S, A)

print("user 1: states", users[0].s, "actions", users[0].a, "rewards", users[0].r)
assert (N.N_sa.sum(axis=(1, 2)) == USERS).all()  # every user is counted once in every step ...
assert (N.N_sas.sum(axis=-1) == N.N_sa).all()  # ... and her next state once in every row

# %%
fig, axes = plt.subplots(1, H, figsize=(10, 3.2), sharey=True)
for h, ax in enumerate(axes):
    image = ax.imshow(N.N_sa[h], cmap="Blues", vmin=0, vmax=N.N_sa.max(), aspect="auto")
    annotate(ax, N.N_sa[h], np.array([[f"{n:.0f}" for n in row] for row in N.N_sa[h]]), light_above=90)
    ax.set(xticks=range(A), xticklabels=["left", "right"], yticks=range(S), xlabel="action a")
    ax.set_title(f"step h = {h + 1}")
axes[0].set_ylabel("state s")
fig.colorbar(image, ax=axes, label=f"$N_h(s,a)$ after {USERS} users")
fig.suptitle("Counts are kept apart for every step, and far states are rarely seen", x=0.01, ha="left")
plt.show()

# %% [markdown]
# **How much can one user change?** This decides the noise. Against an absent user (all zeros) each family
# changes by $H$ in the $\ell_1$ norm. Against another user it changes by up to $2H$: $H$ ones leave their cells
# and $H$ ones arrive elsewhere. The paper calibrates with $H$; its Definitions 2.2 and 2.3 compare one user
# with another. Section 9 says what this means for $\epsilon$. For a tiny MDP we can try every pair of
# trajectories.

# %%
from itertools import product

from dpucbvi.mdp import Trajectory


def every_trajectory(H, S, A):
    """All trajectories with rewards 0 or 1."""
    rewards = product((0, 1), repeat=H)
    for s, a, r in product(product(range(S), repeat=H + 1), product(range(A), repeat=H), rewards):
        yield Trajectory(np.array(s), np.array(a), np.array(r, dtype=float))


for steps in (1, 2):
    vectors = np.array([statistics(t, steps, 2, 2) for t in every_trajectory(steps, 2, 2)])
    absent = np.abs(vectors).sum(axis=1).max()
    replaced = np.abs(vectors[:, None] - vectors).sum(axis=2).max()
    print(f"H = {steps}: {len(vectors)} trajectories, all three families together change by at most")
    print(f"       {absent:.0f} = 3H if a user is added or removed, {replaced:.0f} = 6H if she is replaced")
    assert (absent, replaced) == (3 * steps, 6 * steps)

# %% [markdown]
# ## 3. The Central Privatizer: from $N$ to $\widehat N$ (line 17, Section 5.1 (1))
#
# Every counter is a running sum of a stream with one item per user. Releasing it $K$ times with fresh noise
# each time would cost $K$ times the privacy. The Binary Mechanism (Chan, Shi and Song, 2011, Algorithm 2) cuts
# the users $1..t$ into blocks of lengths $2^i$, one for every 1 in the binary form of $t$, and gives each
# *block* one noise:
#
# $$\widehat N^{t+1} = \sum_{i:\ \text{bit } i \text{ of } t \text{ is } 1}
#   \Big( \sum_{j \in \text{block}_i} \sigma^j + \mathrm{Lap}(b) \Big), \qquad b = \frac{3HL}{\epsilon},
#   \qquad L = \lceil \log_2 K \rceil .$$
#
# A user lies in at most $L$ blocks, so the cost grows with $\log K$ only; the 3 shares $\epsilon$ among the
# three families. Below, a tree for $K = 16$. The mechanism runs on a stream of zeros, so that its output *is*
# its noise.

# %%
from dpucbvi.privatizers.tree import BinaryMechanism, levels

K_TREE, T_TREE = 16, 13
tree = BinaryMechanism(size=1, L=levels(K_TREE), scale=1.0, stream=LaplaceStream(seed_stream(SEED, "privacy")))
kept = {}  # (level, last user of the block) -> its noise, as it was at every release that used it
for t in range(1, K_TREE):
    released = tree.release(np.zeros(1))[0]
    used = [i for i in range(tree.L) if t >> i & 1]
    for i in used:
        kept.setdefault((i, (t >> i) << i), []).append(tree.noise[i, 0])
    assert np.isclose(released, sum(tree.noise[i, 0] for i in used))
    if t == T_TREE:
        nodes_of_t = [(i, (t >> i) << i) for i in used]

assert all(len(set(values)) == 1 for values in kept.values())  # a block's noise never changes ...
assert (
    len({values[0] for values in kept.values()}) == len(kept) == K_TREE - 1
)  # ... and no two blocks share one
assert len(nodes_of_t) == T_TREE.bit_count() == 3

# %%
fig, ax = plt.subplots(figsize=(10, 3.6))
for i in range(tree.L):
    for last in range(2**i, K_TREE, 2**i):
        chosen, noised = (i, last) in nodes_of_t, (i, last) in kept
        face = ORANGE if chosen else "#D9ECF7" if noised else "white"
        edge, line = (BLACK, "-") if noised else (QUIET, ":")
        ax.add_patch(
            Rectangle(
                (last - 2**i + 0.54, i - 0.36),
                2**i - 0.08,
                0.72,
                facecolor=face,
                edgecolor=edge,
                linestyle=line,
            )
        )
        text = f"{kept[i, last][0]:+.1f}" if noised else "–"
        ax.text(
            last - 2**i / 2 + 0.5,
            i,
            text,
            ha="center",
            va="center",
            color=BLACK if noised else QUIET,
            weight="bold" if chosen else "normal",
        )
ax.axvline(T_TREE + 0.5, color=VERMILLION, lw=1.5, linestyle="--", zorder=0)
ax.text(T_TREE + 0.6, 3.05, f"after user {T_TREE}\n= 1101 in binary", color=VERMILLION, va="center")
ax.set(xlim=(0.4, K_TREE - 0.3), ylim=(-0.6, 3.6), xticks=range(1, K_TREE), yticks=range(tree.L))
ax.set(xlabel="user", ylabel="level i: blocks of $2^i$ users")
ax.set_title(
    f"Three blocks (orange) cover users 1..{T_TREE}: the release carries three noises, not {T_TREE}.\n"
    "A number is the noise of a block, drawn once when the block closes; dotted blocks are never released"
)
plt.show()

# %% [markdown]
# Now all 120 counters of our MDP at once, for $K = 400$ users and $\epsilon = 300$. So large an $\epsilon$
# protects nobody; it is chosen because at $\epsilon = 1$ the noise would bury 300 users completely (the last
# line printed).
#
# $E_{\epsilon,\beta}$ is four times a bound on $|\widehat N - N|$ that holds for all counters and all $k$ at
# once with probability $1-\beta/3$. The paper prints its order only; `confidence.py` proves a value by
# Chernoff's method.

# %%
from dpucbvi.bonus import log_iota
from dpucbvi.counts import PrivateCounts, counters
from dpucbvi.projection import closed_form, no_postprocess

EPSILON, BETA = 300.0, 0.05
problem = dp.Problem(H, S, A, K, BETA)
size = counters(H, S, A)


class RecordedCounts(PrivateCounts):
    """Private counts that keep a copy of the noisy and the private ones, for the pictures."""

    def update(self, trajectory):
        N_tilde = super().update(trajectory)
        self.history = [*getattr(self, "history", []), (self.N_hat, N_tilde)]
        return N_tilde


def counts_for(epsilon, seed):
    """Central with the proven E and the LP's closed form; the true counts and E = 0 if epsilon is infinite."""
    privatizer = dp.NonPrivate() if np.isinf(epsilon) else dp.Central(epsilon)
    release = privatizer.release(problem, H, seed_stream(seed, "privacy"))
    postprocess = no_postprocess if np.isinf(epsilon) else closed_form
    return RecordedCounts(release, postprocess, privatizer.noise_of(problem, H).E, H, S, A)


privatizer = counts_for(EPSILON, SEED)
b, E, *_ = dp.Central(EPSILON).noise_of(problem, H)
for user in users:
    privatizer.update(user)  # line 17
noisy, private = zip(*privatizer.history, strict=True)

print(f"{size} counters, L = {levels(K)} levels, b = {b:.2f}, E = {E:.1f}, iota = {log_iota(problem):.1f}")
b_1, E_1, *_ = dp.Central(1.0).noise_of(problem, H)
print(f"at epsilon = 1: b = {b_1:.0f}, E = {E_1:,.0f}")

# %%
cell = (1, 0, RIGHT)  # step 2, state 0, action right
true = np.cumsum([as_counts(x, H, S, A).N_sa[cell] for x in sigma])
N_hat_k = np.array([counts.N_sa[cell] for counts in noisy])
N_tilde_k = np.array([counts.N_sa[cell] for counts in private])
k = np.arange(2, USERS + 2)

fig, (top, bottom) = plt.subplots(2, 1, figsize=(10, 5), sharex=True, height_ratios=(3, 1))
top.fill_between(
    k, true, true + E, color=SKY, alpha=0.25, lw=0, label=r"$[N,\ N+E]$: where $\widetilde N$ must lie"
)
top.plot(k, N_tilde_k, color=BLUE, lw=1.2, label=r"$\widetilde N$: after the LP and the shift (section 4)")
top.plot(k, N_hat_k, color=VERMILLION, lw=1, label=r"$\widehat N$: noisy")
top.plot(k, true, color=BLACK, lw=1.5, linestyle="--", label="$N$: true")
top.set(ylabel="count of (step 2, state 0, right)")
top.legend(loc="upper left")
top.set_title(r"The noisy count follows the truth, and the private count $\widetilde N$ never falls below it")
bottom.axhline(0, color=BLACK, lw=1, linestyle="--")
bottom.plot(k, N_hat_k - true, color=VERMILLION, lw=1)
for power in 2 ** np.arange(5, levels(K)):
    bottom.axvline(power + 1, color=QUIET, lw=0.8, linestyle=":")
bottom.set(xlabel="episode k (dotted: k-1 is a power of 2)", ylabel=r"$\widehat N^k - N^k$")
bottom.set_title(
    f"The noise alone: a sum of at most L = {levels(K)} Laplace draws, the same draws for many episodes"
)
plt.show()

assert max(int(t).bit_count() for t in range(1, K)) <= levels(K) == 9
assert (np.abs(N_hat_k - true) <= E / 4).all()
assert ((true <= N_tilde_k) & (N_tilde_k <= true + E)).all()  # Assumption 3.1 for this counter

# %% [markdown]
# The noise does not grow with $k$ but for the logarithm: a release after $k-1$ users carries one draw for every
# 1 in the binary form of $k-1$. At $k - 1 = 2^i$ a single block remains.
#
# ## 4. The LP of Section 5.1: from $\widehat N$ to $\widetilde N$ (line 17)
#
# Noisy counts can be negative and $\sum_{s'} \widehat N(s,a,s') \ne \widehat N(s,a)$: they give no probability
# distribution. For every $(h,s,a)$ the paper solves
#
# $$\min_{x} \max_{s'} \big|x_{s'} - \widehat N(s,a,s')\big| \quad\text{such that}\quad
#   \Big|\sum_{s'} x_{s'} - \widehat N(s,a)\Big| \le \tfrac{E}{4}, \quad x \ge 0, \tag{4}$$
#
# and then shifts, so that $\widetilde N(s,a)$ is never below the true count (Eq. 5):
#
# $$\widetilde N(s,a,s') = x_{s'} + \tfrac{E}{2S}, \qquad \widetilde N(s,a) = \sum_{s'} x_{s'} + \tfrac{E}{2}.$$
#
# **One row of our counts.** `left` from state 0 always stays, so two of the three true counts are 0, and noise
# makes one of them negative.

# %%
from dpucbvi.projection import CvxpyPostprocess, project_row

h, s, a = 1, 0, LEFT
N_hat, N_tilde = noisy[-1], private[-1]
y, n = N_hat.N_sas[h, s, a], N_hat.N_sa[h, s, a]
x = project_row(y, n, E / 4)
row = {
    "true N": N.N_sas[h, s, a],
    "noisy N_hat": y,
    "projected x": x,
    "shifted N_tilde": N_tilde.N_sas[h, s, a],
}
for name, counts in row.items():
    print(f"{name:20s}", " ".join(f"{count:8.2f}" for count in counts), f"   sum {counts.sum():7.2f}")
print(f"{'N_hat of (s,a)':20s} {n:8.2f}")

assert (y < 0).any() and not np.isclose(y.sum(), n)  # what the LP is for
assert (x >= 0).all() and abs(x.sum() - n) <= E / 4
assert np.allclose(x + E / (2 * S), N_tilde.N_sas[h, s, a])
assert np.isclose(N_tilde.N_sas[h, s, a].sum(), N_tilde.N_sa[h, s, a])

# %% [markdown]
# The package has the LP twice: solved by cvxpy, and as a closed form,
# $x_{s'} = \max(\widehat N(s,a,s') - \lambda, 0)$ with the $\lambda$ of least $|\lambda|$ that meets the
# constraint on the sum (`projection.py` has the proof). They agree on all 24 rows of an episode:

# %%
by_cvxpy = CvxpyPostprocess(solver="HIGHS")(N_hat.N_sa, N_hat.N_sas, E)
by_closed_form = closed_form(N_hat.N_sa, N_hat.N_sas, E)
difference = np.abs(by_cvxpy.N_sas - by_closed_form.N_sas).max()
print(f"largest difference on {by_closed_form.N_sa.size} rows: {difference:.1e}")
assert np.allclose(by_cvxpy.N_sas, by_closed_form.N_sas, atol=1e-5)

# %% [markdown]
# **The LP has many minimisers.** It looks only at the largest move. Take
# $\widehat N(s,a,\cdot) = (30,-4,12,-7,5)$, $\widehat N(s,a) = 38$ and $E/4 = 20$. The entry $-7$ must rise to
# 0, so the largest move is at least 7, and then every other entry may move by up to 7 for free. The package
# takes the minimiser nearest to $\widehat N$ in the Euclidean norm: it moves nothing without need, it is
# unique, and no solver decides it (deviation D6).

# %%
y_example, n_example, w = np.array([30.0, -4.0, 12.0, -7.0, 5.0]), 38.0, 20.0
nearest = project_row(y_example, n_example, w)
other = np.array([23.0, 0.0, 5.0, 0.0, 0.0])
solver_x, solver_t = CvxpyPostprocess(solver="HIGHS", canonical=False).solve(
    y_example[None], np.array([n_example]), w
)
print("nearest           ", nearest, "largest move", np.abs(nearest - y_example).max())
print("another minimiser ", other, "largest move", np.abs(other - y_example).max())
print("HiGHS returns     ", solver_x[0].round(6), "optimal value", solver_t.round(6))

for candidate in (nearest, other, solver_x[0]):
    assert (candidate >= -1e-9).all() and abs(candidate.sum() - n_example) <= w + 1e-9  # feasible
    assert np.isclose(np.abs(candidate - y_example).max(), 7.0)  # and optimal
assert np.isclose(solver_t[0], 7.0) and nearest.tolist() == [30, 0, 12, 0, 5]

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), width_ratios=(1.4, 1))
position, shift_by = np.arange(5), 4 * w / (2 * 5)
left.errorbar(
    position,
    y_example,
    yerr=7,
    fmt="o",
    color=BLACK,
    capsize=6,
    label=r"$\widehat N(s,a,s')$ and the free range $\pm 7$",
)
left.bar(position - 0.22, nearest, 0.2, color=BLUE, label="nearest minimiser, sum 47")
left.bar(
    position + 0.22, other, 0.2, color=ORANGE, hatch="///", edgecolor=BLACK, label="another minimiser, sum 28"
)
left.axhline(0, color=BLACK, lw=0.8)
left.set(xlabel="next state s'", ylabel="count", xticks=position)
left.set_title("Two minimisers of one LP: both move by at most 7")
left.legend()
for offset, candidate, colour, hatch in ((-0.2, nearest, BLUE, None), (0.2, other, ORANGE, "///")):
    P_row = (candidate + shift_by) / (candidate + shift_by).sum()
    right.bar(position + offset, P_row, 0.36, color=colour, hatch=hatch, edgecolor=BLACK)
right.set(xlabel="next state s'", ylabel=r"$\widetilde P(s'|s,a)$ after the shift", xticks=position)
right.set_title(r"They give different $\widetilde P$")
plt.show()

# %% [markdown]
# ## 5. The private estimates (line 6, Eq. 1)
#
# $$\widetilde P_h(s'|s,a) = \frac{\widetilde N_h(s,a,s')}{\widetilde N_h(s,a)}, \qquad
#   \widetilde r_h(s,a) = \Big(\frac{\widetilde R_h(s,a)}{\widetilde N_h(s,a)}\Big)_{[0,1]}.$$
#
# Compare four versions of $P_3(\cdot|s,a)$, step 3, where every state has been seen. The raw quotient
# $\widehat N(s,a,s')/\widehat N(s,a)$ is what earlier algorithms use (Remark 3.2).

# %%
from dpucbvi.algorithm1 import private_estimates

h = 2
with np.errstate(all="raise"):
    P_empirical = private_estimates(N, h)[0]
    P_raw = N_hat.N_sas[h] / N_hat.N_sa[h][..., None]
    P_tilde, r_tilde = private_estimates(N_tilde, h)
versions = {
    r"true $P$": mdp.P[h],
    r"from true counts $N$": P_empirical,
    r"raw $\widehat N(s,a,s')/\widehat N(s,a)$": P_raw,
    r"private $\widetilde P$": P_tilde,
}
assert np.allclose(P_tilde.sum(axis=-1), 1) and (P_tilde > 0).all()  # a distribution with full support
assert (P_raw < 0).any() and not np.allclose(P_raw.sum(axis=-1), 1)  # the raw quotient is none
assert ((r_tilde >= 0) & (r_tilde <= 1)).all()

# %%
fig, axes = plt.subplots(1, 4, figsize=(11, 3.7), sharey=True)
for ax, (name, P) in zip(axes, versions.items(), strict=True):
    table = P.reshape(S * A, S)
    image = ax.imshow(table, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    annotate(ax, table, np.array([[f"{p:.2f}" for p in line] for line in table]), light_above=0.6)
    for i, j in np.argwhere((table < 0) | (table > 1)):
        ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, edgecolor=VERMILLION, lw=2))
    ax.set(xticks=range(S), yticks=range(S * A), yticklabels=PAIR_NAMES, xlabel="next state s'")
    ax.set_title(name)
axes[0].set_ylabel("state and action (s, a)")
fig.colorbar(image, ax=axes, label="probability")
fig.suptitle(
    r"$\widetilde P$ is a distribution, at the price of a pull towards uniform where visits are few"
    "\n(framed: not a probability)",
    x=0.01,
    ha="left",
)
plt.show()

# %% [markdown]
# The shift adds $E/(2S)$ imaginary visits to every next state. Where $N \gg E$ this is little; at `2→`, seen 3
# times, almost nothing of $\widetilde P$ comes from data. This bias is what the third term of the bonus pays
# for.

# %% [markdown]
# ## 6. The bonus and its four terms (line 7)
#
# $$b_h(s,a) = \underbrace{2\sqrt{\tfrac{\mathrm{Var}_{\widetilde P}(\widetilde V_{h+1})\,\iota}
#     {\widetilde N}}}_{\text{variance}}
#  + \underbrace{\sqrt{\tfrac{2\iota}{\widetilde N}}}_{\text{reward}}
#  + \underbrace{\tfrac{20HSE\,\iota}{\widetilde N}}_{\text{privacy}}
#  + \underbrace{4\sqrt{\iota}\sqrt{\tfrac{\sum_{s'}\widetilde P(s')\,\min\{g(\widetilde N_{h+1}(s')),\,H^2\}}
#     {\widetilde N}}}_{\text{next value}}, \qquad \iota = \log\tfrac{30HSAT}{\beta},$$
#
# $$g(n) = 1000^2\Big(\frac{H^3SA\,\iota^2}{n} + \frac{H^4S^4A^2E^2\iota^4}{n^2}
#  + \frac{H^6S^4A^2\iota^4}{n^2}\Big).$$
#
# The first term is the Bernstein width, the second covers the reward, the third the bias seen in section 5, and
# the fourth the use of $\mathrm{Var}(\widetilde V)$ in place of $\mathrm{Var}(V^\star)$. With $1000^2$ inside,
# $g$ is above $H^2$ in every run of ordinary length, so the fourth term is
# $4\sqrt{\iota}\,H/\sqrt{\widetilde N}$.
#
# The loop below is all there is around the algorithm: `dp_ucbvi` yields a policy, the user plays it, her
# trajectory goes back in.

# %%
from functools import cache

from dpucbvi.algorithm1 import dp_ucbvi
from dpucbvi.bonus import bernstein_bonus, bernstein_constants, bernstein_terms, next_value_gap


@cache
def trained(epsilon, scale, seed):
    """K episodes of Algorithm 1: the plans, the exact regret after each episode, the privatizer."""
    privatizer = counts_for(epsilon, seed)
    environment = np.random.default_rng(seed_stream(seed, "environment"))
    algorithm = dp_ucbvi(problem, privatizer, bernstein_constants(problem, privatizer.E, scale))
    plans, regret = [next(algorithm)], []
    for k in range(1, K + 1):
        trajectory = rollout(mdp, plans[-1].pi, environment.random(uniforms_per_episode(H)))  # line 16
        s_1 = trajectory.s[0]
        regret.append(V_star[0, s_1] - dp.policy_values(mdp, plans[-1].pi)[0, s_1])
        if k < K:  # nobody plans on the counts after the last user: they are not released (D4)
            plans.append(algorithm.send(trajectory))  # line 17, then lines 4-15 of the next episode
    return plans, np.cumsum(regret), privatizer


SCALE, SCALE_NON_PRIVATE = 3e-4, 0.02
literal_non_private = trained(np.inf, 1.0, SEED)
literal_central = trained(EPSILON, 1.0, SEED)
scaled_non_private = trained(np.inf, SCALE_NON_PRIVATE, SEED)
scaled_central = trained(EPSILON, SCALE, SEED)

# %%
EPISODES = [10, 25, 50, 100, 200, 400]
TERMS = {
    "variance": (SKY, None),
    "reward": (GREEN, "xx"),
    "privacy": (VERMILLION, "///"),
    "next value": (BLUE, "..."),
}


def four_terms(run, scale, k, h, s, a):
    """The four terms of line 7, scaled, as episode k of a run computed them."""
    plans, _, privatizer = run
    _, counts = privatizer.history[k - 2]  # what line 17 of episode k - 1 returned
    constants = bernstein_constants(problem, privatizer.E, scale)
    P, _ = private_estimates(counts, h)
    gap = np.array([next_value_gap(n, constants) for n in counts.N_sa[h + 1].sum(axis=-1)])
    V_next, n = plans[k - 1].V[h + 1], counts.N_sa[h, s, a]
    terms = scale * np.array(bernstein_terms(n, P[s, a], V_next, gap, constants))
    assert np.isclose(terms.sum(), bernstein_bonus(n, P[s, a], V_next, gap, constants))
    assert (gap == H**2).all()  # the minimum in the fourth term is H^2, always
    return terms


panels = [  # a literal run never tries right in step 1: its ties go to the lowest action (D3)
    ("literal, non-private", literal_non_private, 1.0, LEFT),
    (rf"literal, $\epsilon = {EPSILON:g}$", literal_central, 1.0, LEFT),
    (f"times {SCALE_NON_PRIVATE:g}, non-private", scaled_non_private, SCALE_NON_PRIVATE, RIGHT),
    (rf"times {SCALE:g}, $\epsilon = {EPSILON:g}$", scaled_central, SCALE, RIGHT),
]
fig, axes = plt.subplots(1, 4, figsize=(12.5, 4))
for ax, (name, run, scale, a) in zip(axes, panels, strict=True):
    values = np.array([four_terms(run, scale, k, 0, 0, a) for k in EPISODES])
    base = np.zeros(len(EPISODES))
    for (term, (colour, hatch)), height in zip(TERMS.items(), values.T, strict=True):
        ax.bar(
            range(len(EPISODES)), height, bottom=base, color=colour, hatch=hatch, edgecolor=BLACK, label=term
        )
        base += height
    ax.axhline(H, color=BLACK, lw=1.5, linestyle="--", label=f"H = {H}: no value is larger")
    ax.set(xticks=range(len(EPISODES)), xticklabels=EPISODES, xlabel="episode k")
    ax.set_title(f"{name}\nb of (step 1, 0{ARROW[a]}): {base[0]:,.1f} to {base[-1]:,.1f}")
axes[0].set_ylabel("bonus b")
fig.legend(*axes[0].get_legend_handles_labels(), ncols=5, loc="outside lower center")
fig.suptitle(
    "Printed constants (left two) keep Q of step 1 at H; a factor brings the bonus below H (note the scales)",
    x=0.01,
    ha="left",
)
plt.show()

# %%
print("the terms of the last bar      " + "".join(f"{name:>12s}" for name in TERMS))
for name, run, scale, a in panels:
    plain = name.replace("$", "").replace("\\", "")
    print(f"{plain:30s} " + "".join(f"{term:12.4f}" for term in four_terms(run, scale, EPISODES[-1], 0, 0, a)))

iota = log_iota(problem)
print(f"\nvisits before the privacy term alone is below H, 20 S E iota:   {20 * S * E * iota:12,.0f}")
print(f"the same at epsilon = 1:                                        {20 * S * EPSILON * E * iota:12,.0f}")
print(
    f"visits of s' before the minimum is below H^2, 1000^2 H S A iota^2: {1000**2 * H * S * A * iota**2:,.0f}"
)

final = {name: run[0][-1] for name, run, _, _ in panels}
non_private_plan, central_plan = final["literal, non-private"], final[rf"literal, $\epsilon = {EPSILON:g}$"]
assert (central_plan.Q == H).all()  # after 400 episodes nothing has been learned
assert (non_private_plan.Q[0] == H).all() and (non_private_plan.Q[H - 1] < H).any()

# %% [markdown]
# Three lessons:
#
# - **Privacy decides.** At $\epsilon = 300$ the third term needs $\widetilde N > 44{,}926$ at one pair to fall
#   below $H$; at $\epsilon = 1$, 300 times as much. Until then line 9 returns $H$ for every pair:
#   $\widetilde Q = H$ exactly, all actions tie, and the regret is linear.
# - **Without privacy the constants still wait.** The bonus itself falls below $H$ after about 320 visits, but
#   line 9 adds $\widetilde P\widetilde V_{h+1}$, and that is $H$ as long as the *next* step knows nothing.
#   Knowledge comes from the last step backwards, one step after the other: after 400 episodes step 4 has
#   learned something, step 1 nothing.
# - **The Bernstein term is invisible.** $\mathrm{Var}(\widetilde V) \le H^2/4$, so the first term is at most a
#   quarter of the fourth while the fourth's minimum is $H^2$, and that lasts for billions of visits.
#
# This is no error of the theory: the constants are there to make a proof work, and the guarantee is about large
# $K$. But an experiment of ordinary length must scale the bonus. The package has one factor for this,
# `bonus.scale` (deviation D12), and optimism is then observed, not proven.
#
# ## 7. Optimistic value iteration (lines 4, 5 and 8-15)
#
# $$\widetilde Q^k_h(s,a) = \min\big\{\widetilde Q^{k-1}_h(s,a),\ H,\ \widetilde r_h(s,a)
#    + \textstyle\sum_{s'} \widetilde P_h(s'|s,a)\widetilde V^k_{h+1}(s') + b_h(s,a)\big\}, \qquad
#    \widetilde V^k_h(s) = \max_a \widetilde Q^k_h(s,a).$$
#
# *Optimism*, $\widetilde Q \ge Q^\star$ (Lemma C.11), makes the algorithm explore: an action whose value is not
# known yet looks good, gets tried, and its bonus falls. The minimum with the last episode's $\widetilde Q$
# makes $\widetilde Q$ non-increasing in $k$.

# %%
for plans, _, _ in (literal_non_private, literal_central, scaled_non_private, scaled_central):
    Q = np.array([plan.Q for plan in plans])
    assert (np.diff(Q, axis=0) <= 0).all() and (Q <= H).all()  # line 9
    assert all(np.array_equal(plan.V[:H], plan.Q.max(axis=-1)) for plan in plans)  # line 12
    assert all(np.array_equal(plan.pi, plan.Q.argmax(axis=-1)) for plan in plans)  # line 13
for plans, _, _ in (literal_non_private, literal_central):
    assert all((plan.Q >= Q_star).all() for plan in plans)  # optimism with the constants of the paper
for name, run in (("non-private", scaled_non_private), ("Central", scaled_central)):
    share = (run[0][-1].Q >= Q_star).mean()
    print(f"scaled, {name}: the last Q is at least Q* at {share:.0%} of all (h, s, a)")

# %%
fig, ax = plt.subplots(figsize=(11, 4))
position = np.arange(H * S * A)
series = [
    (rf"bonus times {SCALE:g}, $\epsilon = {EPSILON:g}$", scaled_central, VERMILLION, "s", -0.16),
    (f"bonus times {SCALE_NON_PRIVATE:g}, non-private", scaled_non_private, BLUE, "^", 0.16),
]
ax.axhline(
    H,
    color=QUIET,
    lw=1.5,
    linestyle="--",
    label=rf"$\widetilde Q$, literal, $\epsilon = {EPSILON:g}$: H everywhere",
)
for name, run, colour, marker, offset in series:
    Q_last = run[0][-1].Q.ravel()
    ax.vlines(position + offset, Q_star.ravel(), Q_last, color=colour, lw=0.8, alpha=0.6)
    ax.scatter(
        position + offset, Q_last, color=colour, marker=marker, s=32, label=rf"$\widetilde Q$, {name}", zorder=3
    )
ax.scatter(position, Q_star.ravel(), color=BLACK, marker="_", s=200, lw=2, label=r"$Q^\star$", zorder=4)
for h in range(1, H):
    ax.axvline(h * S * A - 0.5, color=QUIET, lw=0.6)
for h in range(H):
    ax.text((h + 0.5) * S * A - 0.5, 4.25, f"step h = {h + 1}", ha="center")
ax.set(xticks=position, xticklabels=PAIR_NAMES * H, xlabel="state and action", ylabel="value", ylim=(-0.1, 4.6))
ax.legend(ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.16))
ax.set_title(
    rf"After {K} episodes: $\widetilde Q \geq Q^\star$, close where many users came, near H where none came"
)
plt.show()

# %% [markdown]
# With privacy the unvisited pairs of step 2 are a little below $H$: $\widetilde N \ge E/2 > 0$ even where
# nobody ever was, so the bonus is finite there. Without privacy $\widetilde N = 0$, the bonus is infinite
# (deviation D1) and $\widetilde Q = H$.
#
# ## 8. The whole algorithm and its regret (lines 3 and 16-18)
#
# The regret is computed, not sampled: $\mathrm{Regret}(K) = \sum_k V^\star_1(s_1^k) - V^{\pi_k}_1(s_1^k)$ with
# the exact value of every policy. Three seeds per curve; a seed fixes the environment's randomness, so all
# curves meet the same users.
#
# The private curves share one factor on the bonus. The non-private curve has a larger one: with $E = 0$ there
# is no privacy term, and the small factor would leave it almost no bonus at all (exercise 3).

# %%
SEEDS = range(3)
arms = [
    (rf"$\epsilon = {EPSILON:g}$, bonus as printed", EPSILON, 1.0, QUIET, "--"),
    (rf"$\epsilon = {EPSILON:g}$, bonus times {SCALE:g}", EPSILON, SCALE, VERMILLION, "-"),
    (rf"$\epsilon = 1000$, bonus times {SCALE:g}", 1000.0, SCALE, ORANGE, "-."),
    (rf"$\epsilon = 3000$, bonus times {SCALE:g}", 3000.0, SCALE, BLUE, (0, (6, 1))),
    (f"non-private, bonus times {SCALE_NON_PRIVATE:g}", np.inf, SCALE_NON_PRIVATE, BLACK, ":"),
]
curves = {name: np.array([trained(eps, scale, seed)[1] for seed in SEEDS]) for name, eps, scale, *_ in arms}

fig, ax = plt.subplots(figsize=(9, 4.2))
k = np.arange(1, K + 1)
for name, _, _, colour, line in arms:
    mean = curves[name].mean(axis=0)
    ax.fill_between(k, curves[name].min(axis=0), curves[name].max(axis=0), color=colour, alpha=0.2, lw=0)
    ax.plot(k, mean, color=colour, linestyle=line, lw=1.8)
    ax.text(K + 4, mean[-1], name, va="center")
ax.set(xlabel="episode k", ylabel="regret", xlim=(0, K), ylim=(0, None))
ax.set_title(
    "Less privacy, less regret; the printed constants learn nothing in 400 episodes\n"
    "(mean, least and most of 3 seeds)"
)
plt.show()

last = [curves[name][:, -1].mean() for name, *_ in arms]
print("regret:", ", ".join(f"{value:.1f}" for value in last))
assert last == sorted(last, reverse=True)  # in the order of the list
assert np.allclose(
    curves[arms[0][0]][0], k * curves[arms[0][0]][0, 0]
)  # literal: the same regret in every episode

# %% [markdown]
# ## 9. What does such a run certify? (line 17, Lemma 5.1)
#
# Laplace noise $\mathrm{Lap}(b)$ on values that change by at most $\Delta$ in $\ell_1$ is exactly $\Delta/b$
# differentially private. The counters of one run pass through $3$ families and $L$ levels:
#
# $$\epsilon = \frac{3 L \Delta}{b}, \qquad \Delta = H \text{ (a user is added or removed)}, \qquad
#   \Delta = 2H \text{ (a user is replaced by another)}.$$
#
# The actions shown to other users are computed from these counters alone, so joint DP (Definition 2.2) follows
# by post-processing and the billboard lemma. But Definition 2.2 *replaces* a user, and section 2 counted $2H$
# for that.

# %%
print("calibration        noise scale b   certified: add/remove   replace one")
for kind in ("paper", "replace_one"):
    calibrated = dp.Central(EPSILON, sensitivity=kind)
    certificate, scales = calibrated.certificate(problem, H), calibrated.scales(problem)
    assert scales.N == scales.M == scales.R  # one scale for the three families
    b_kind, add_remove, replaced = scales.M, certificate.add_remove, certificate.replace_one
    print(f"{kind:12s} {b_kind:19.2f} {add_remove:23.0f} {replaced:13.0f}")
    assert np.isclose(replaced, 2 * add_remove)

paper = dp.Central(EPSILON).certificate(problem, H)
print(paper)
assert np.isclose(paper.add_remove, EPSILON) and np.isclose(paper.replace_one, 2 * EPSILON)

# %% [markdown]
# With the paper's calibration the curve labelled $\epsilon = 300$ has $\epsilon = 300$ if users are added or
# removed and $\epsilon = 600$ if one is replaced by another (deviation D8). Doubling the noise
# (`sensitivity: replace_one`) gives $\epsilon = 300$ as Definition 2.2 has it. Every run of this project
# records both numbers.
#
# Two things this certificate does not say. $\epsilon = 300$ allows likelihood ratios up to $e^{300}$: it
# protects nobody, and stands here only because 400 users are few. And the noise above comes from a seeded
# generator in floating point: a simulation of the private mechanism, not a release of anybody's data (deviation
# D15).
#
# ## Exercises
#
# 1. Set `EPSILON = 30` and run sections 3 to 5 again. Where is $\widetilde P$ nearly uniform, and why exactly
#    there?
# 2. In section 4, which $\widehat N(s,a)$ makes the LP infeasible? What does `project_row` return then
#    (deviation D7)?
# 3. In section 8, give the non-private curve the factor `SCALE` and more seeds. Which seeds get stuck, and
#    which pair $(h,s,a)$ has $\widetilde Q < Q^\star$ in them?
# 4. The tree has $L = \lceil\log_2 K\rceil$ levels. Which $K$ would need one more if the counts after the last
#    user were released too (deviation D4)?
