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
# From arrays, or from an environment of gymnasium, to a figure: describe the problem, choose factors on seeds
# of their own, run, compare, draw.

# %%
try:
    import dpucbvi as dp
except ModuleNotFoundError as missing:
    raise SystemExit(
        "run `pip install '.[gymnasium,paper,notebooks]'` in a copy of the repository first"
    ) from missing

# %%
import numpy as np
import pictures.own_mdp as draw
from pictures import Picture

# %% [markdown]
# ## 1. Arrays
#
# A tutor chooses between an easy and a hard exercise. A student has one of three levels. An easy exercise keeps
# it; a hard one raises it with probability 0.6, else lowers it. An easy exercise at the top level pays 1.
# You give $P[h, s, a, s']$, $r[h, s, a]$ in $[0, 1]$, and where a student begins. One episode is one student,
# whose data must stay private.

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
# The best policy raises the level first, then stays. A hard exercise pays off only if there are enough steps
# left to reach the top and be paid there.

# %%
V_star, Q_star = dp.optimal_values(tutor)
assert Q_star[:, S - 1].argmax(axis=-1).tolist() == [0] * H  # at the top: easy
draw.best_exercise(Q_star, V_star)

# %% [markdown]
# ## 2. Factors on seeds of their own
#
# With the printed constants (both factors 1) a problem of this size learns nothing in a few thousand
# episodes. `dp.calibrate` tries a grid on seeds 1000 and up, which nothing else uses. `P` and `r` do not
# depend on the step, so counts can be pooled. The grid is small, to be quick; `calibrate` says if the choice
# lies at its edge. Two ways to be private are tried: the paper's tree, and batches, which release the counts
# only now and then.

# %%
K, grid = 1_500, {"bonus": (1e-4, 1e-3, 1e-2), "confidence": (1e-3, 1e-2)}
agent = dp.DPUCBVI(pooled=True, cap="steps_left")
arms = {"batches": dp.Batches(epsilon=4.0), "the paper's tree": dp.Central(epsilon=4.0)}
chosen = {}
for name, privatizer in arms.items():
    chosen[name] = dp.calibrate(tutor, agent, privatizer, K=K, seed=(1000,), lp_checks=0, **grid)
    print(f"{name}: {chosen[name]}\n")

# %% [markdown]
# ## 3. Run and compare
#
# The runs have other seeds than those of the choice. All arms share them, and are compared seed by seed. With
# $n$ seeds a p-value is at least $2/2^n$, and Holm's, for three pairs, is three times that. So seven seeds are
# the fewest with which all can be below 0.05.

# %%
SEEDS = range(8)
runs = {
    name: dp.run(tutor, found.agent, found.privatizer, K=K, seed=SEEDS, lp_checks=0)
    for name, found in chosen.items()
}
runs["no privacy"] = dp.run(tutor, dp.UCBVI(pooled=True, bonus_scale=0.01), dp.NonPrivate(), K=K, seed=SEEDS)
table = dp.compare(runs)
print(table.drop(columns="improvement").round(3).to_string(index=False))
for name, traces in runs.items():
    print(f"{name}: {traces.certificate}")

# %% [markdown]
# A row is the mean regret of `a` minus that of `b`, with its 95% interval, the p-value, and Holm's p-value,
# which takes into account that there are three pairs. The two private arms do not promise the same: batches
# certify $\epsilon = 4$ for a student who is replaced by another, the tree for one who is added or removed,
# which is 8 if she is replaced. Batches have less regret all the same.

# %%
uniform = dp.policy_values(tutor, np.full((H, S, A), 1.0 / A))[0, 0]
by_chance = (V_star[0, 0] - uniform) * K
last = {name: traces.regret[:, -1].mean() for name, traces in runs.items()}
print(
    ", ".join(f"{name}: {regret:,.0f}" for name, regret in last.items()), f"; a random policy: {by_chance:,.0f}"
)
assert last["no privacy"] < last["batches"] < last["the paper's tree"] < by_chance

# %% [markdown]
# ## 4. A figure
#
# `dp.plot` draws the means with 95% intervals, writes what is certified beside every curve, and says "nothing
# was learnt" where that is so. With a third argument, `dp.plot(runs, tutor, "tutor.png")`, it also writes a
# file.

# %%
Picture(dp.plot(runs, tutor))

# %% [markdown]
# ## 5. The same with an environment of gymnasium
#
# `dp.from_gymnasium` takes an id, or an environment, that has a transition table: FrozenLake, Taxi,
# CliffWalking. An episode has exactly $H$ steps here; where theirs ends, the state is absorbing. Now all four
# steps at once:

# %%
lake = dp.from_gymnasium("FrozenLake-v1", H=20)
print(dp.describe(lake), "\n")
grid = {"bonus": (1e-5, 1e-4, 1e-3), "confidence": (1e-4,)}
found = dp.calibrate(lake, agent, dp.Batches(epsilon=20.0), K=3_000, seed=(1000,), lp_checks=0, **grid)
print(found)
on_ice = {
    "batches": dp.run(lake, found.agent, found.privatizer, K=3_000, seed=SEEDS, lp_checks=0),
    "no privacy": dp.run(lake, dp.UCBVI(pooled=True, bonus_scale=1e-3), K=3_000, seed=SEEDS),
}
print(dp.compare(on_ice).drop(columns="improvement").round(3).to_string(index=False))
Picture(dp.plot(on_ice, lake))

# %% [markdown]
# On the command line of `experiments/run.py` this environment is
# `env=gymnasium env.id=FrozenLake-v1 env.H=20`, and `+exp=calibrate` chooses factors.
#
# ## Exercises, with solutions
#
# 1. *What does the tree certify for a student who is replaced, and what would make it certify 4?* Twice its
#    $\epsilon$; noise that is set up for the replaced student, which is twice as large:

# %%
problem = dp.Problem(H, S, A, K, beta=0.05)
for privatizer in (dp.Central(epsilon=4.0), dp.Central(epsilon=4.0, sensitivity="replace_one")):
    print(f"noise scale {privatizer.scales(problem).M:.0f}: {privatizer.certificate(problem, 1)}")

# %% [markdown]
# 2. *Why can the counts be pooled in both environments, and what does it buy?* `P` and `r` are the same at
#    every step. All $H$ steps share one set of counters, which see $H$ times the visits with the same noise:

# %%
print(tutor.stationary, lake.stationary)
per_step, pooled = (dp.Central(epsilon=4.0).noise_of(problem, G).E for G in (H, 1))
print(f"E = {per_step:,.0f} per step and {pooled:,.0f} pooled, for 1 and {H} visits of each student")
