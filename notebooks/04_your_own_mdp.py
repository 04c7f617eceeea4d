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
# # Your own MDP
#
# From arrays to a figure: describe the problem, choose factors on seeds of their own, run, compare, draw. An
# environment of gymnasium that has a table (FrozenLake, Taxi, CliffWalking) comes in by `dp.from_gymnasium`.

# %%
import matplotlib.pyplot as plt
import numpy as np

import dpucbvi as dp
from dpucbvi.studies.shared.style import BLACK, BLUE, QUIET, notebook_style

notebook_style()

# %% [markdown]
# ## 1. Arrays
#
# A tutor who chooses between an easy and a hard exercise. A student has three levels; an easy exercise keeps
# hers, a hard one raises it with probability 0.6 and else lowers it; at the top level an exercise pays 1.
# $P[h, s, a, s']$ and $r[h, s, a]$ in $[0, 1]$, and where a student begins. The data of a student, one
# episode, are what is to be private.

# %%
H, S, A = 6, 3, 2
P, r = np.zeros((H, S, A, S)), np.zeros((H, S, A))
for s in range(S):
    P[:, s, 0, s] = 1.0
    P[:, s, 1, min(s + 1, S - 1)] += 0.6
    P[:, s, 1, max(s - 1, 0)] += 0.4
r[:, S - 1, 0] = 1.0
tutor = dp.TabularMDP(P, r, initial=np.array([1.0, 0.0, 0.0]), name="tutor")
print(dp.describe(tutor))

# %% [markdown]
# The optimal policy raises the level first, then stays; how good the first hard exercise is depends on the
# steps left.

# %%
V, Q = dp.optimal_values(tutor)
fig, ax = plt.subplots(figsize=(6, 3))
ax.imshow(Q.argmax(axis=-1).T, cmap="Greys", vmin=-0.5, vmax=1.8, origin="lower", aspect="auto")
for h in range(H):
    for s in range(S):
        hard = Q[h, s, 1] > Q[h, s, 0]
        ax.text(h, s, "hard" if hard else "easy", ha="center", va="center", color="white" if hard else BLACK)
ax.set(xlabel="step", ylabel="level", xticks=range(H), xticklabels=range(1, H + 1), yticks=range(S))
ax.set_title(f"The best exercise; the value at the start is {V[0, 0]:.2f}")
plt.show()

# %% [markdown]
# ## 2. Factors on seeds of their own
#
# With the printed constants (both factors 1) a problem of this size learns nothing in a few thousand
# episodes. `dp.calibrate` tries a grid on seeds 1000 and up, which nothing else uses. P and r do not depend
# on the step, so counts can be pooled.

# %%
K, grid = 1_500, {"bonus": (1e-4, 1e-3, 1e-2), "confidence": (1e-3, 1e-2)}
agent = dp.DPUCBVI(pooled=True, cap="steps_left")
arms = {"batches, ε = 4": dp.Batches(epsilon=4.0), "the paper's tree, ε = 4": dp.Central(epsilon=4.0)}
chosen = {}
for name, privatizer in arms.items():
    chosen[name] = dp.calibrate(tutor, agent, privatizer, K=K, seed=(1000,), lp_checks=0, **grid)
    print(f"{name}: {chosen[name]}\n")

# %% [markdown]
# ## 3. Run and compare
#
# Other seeds than those of the choice; seeds are shared by the arms, so that they are compared pair by pair.

# %%
runs = {
    name: dp.run(tutor, found.agent, found.privatizer, K=K, seed=range(4), lp_checks=0)
    for name, found in chosen.items()
}
runs["no privacy"] = dp.run(tutor, dp.UCBVI(pooled=True, bonus_scale=0.01), dp.NonPrivate(), K=K, seed=range(4))
print(dp.compare(runs))
for name, traces in runs.items():
    print(f"{name}: {traces.certificate}")

# %% [markdown]
# ## 4. A figure

# %%
fig, ax = plt.subplots(figsize=(7, 4))
uniform = dp.policy_values(tutor, np.full((H, S, A), 1.0 / A))[0, 0]
for (name, traces), hue in zip(runs.items(), (BLUE, "#D55E00", BLACK), strict=True):
    ax.plot(traces.episodes, traces.regret.mean(axis=0), color=hue, label=name)
    ax.fill_between(
        traces.episodes, traces.regret.min(axis=0), traces.regret.max(axis=0), color=hue, alpha=0.15, lw=0
    )
ax.plot(traces.episodes, (V[0, 0] - uniform) * traces.episodes, color=QUIET, ls=":", label="a random policy")
ax.set(xlabel="episode", ylabel="cumulative regret", ylim=(0, None))
ax.set_title("Mean and range of four runs")
ax.legend()
plt.show()

assert runs["no privacy"].regret[:, -1].mean() < (V[0, 0] - uniform) * K

# %% [markdown]
# `dp.plot(runs, tutor, "tutor.png")` draws the same in the house style, with intervals, and says "nothing was
# learnt" where that is so. `chosen[name].save("conf/arm/mine.yaml")` keeps the choice for
# `experiments/run.py`.
#
# ## Exercises, with solutions
#
# 1. *What does the certificate say if a student is replaced by another?* Batches certify 4 for that; the
#    paper's tree certifies 4 if she is added or removed and 8 if she is replaced.
# 2. *Why can the counts be pooled here?* P and r are the same at every step:

# %%
print(tutor.stationary)
