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
# # The privatizers
#
# What stands between the users and the algorithm: *Central* (Section 5.1, joint DP) and *Local* (Section 5.2,
# local DP). A user is one episode. She adds to the counts of the pairs that she met, and a privatizer
# releases these counts with noise. This notebook draws how the noise of Central is made, compares the errors
# of both, shows what pooling the steps buys, and reads the certificates.

# %%
import matplotlib.pyplot as plt
import numpy as np

import dpucbvi as dp
from dpucbvi.privatizers.laplace import LaplaceStream, seed_stream
from dpucbvi.privatizers.tree import BinaryMechanism
from dpucbvi.studies.shared.style import BLACK, BLUE, GREEN, QUIET, VERMILLION, notebook_style

notebook_style()

# %% [markdown]
# ## 1. A tree that grows
#
# A running sum of $T$ numbers could be released with fresh noise every time; then every user is in up to $T$
# releases and the noise of each must be $T$ times as large. The binary mechanism does with $\log_2 T$: it
# keeps noisy sums of blocks of $1, 2, 4, \ldots$ users, and a release at time $t$ adds the blocks that make
# up $1, \ldots, t$, one for every 1 in the binary form of $t$. The picture has a column for every release:
# its blocks, and the count of Laplace variables in it.

# %%
L, T = 4, 15
fig, axes = plt.subplots(2, 1, figsize=(7.5, 4.6), sharex=True, height_ratios=(3, 1))
for t in range(1, T + 1):
    start = 0
    for level in reversed(range(L)):
        if t >> level & 1:
            axes[0].bar(
                t, 2**level, 0.82, bottom=start, color=BLUE, alpha=0.25 + 0.2 * level, edgecolor="white"
            )
            start += 2**level
blocks = [t.bit_count() for t in range(1, T + 1)]
axes[1].bar(range(1, T + 1), blocks, 0.82, color=QUIET)
axes[0].set(ylabel="users in the blocks")
axes[1].set(xlabel="release $t$", ylabel="noises", xticks=range(1, T + 1), yticks=[0, 2, 4])
axes[0].set_title("Every release is made of at most four blocks")
plt.show()

assert max(blocks) == L and start == T

# %% [markdown]
# A user lies in at most $L = \lceil \log_2 K \rceil$ blocks of each of her counts, so
# $\mathrm{Lap}(3HL/\epsilon)$ on every block is enough for all three families of counts [D5]. The mechanism
# itself, on a sum of ones:

# %%
mechanism = BinaryMechanism(size=400, L=L, scale=1.0, stream=LaplaceStream(seed_stream(0, "privacy")))
errors = np.array([mechanism.release(np.ones(400)) - t for t in range(1, T + 1)])
fig, ax = plt.subplots(figsize=(7.5, 3.2))
ax.plot(range(1, T + 1), errors.std(axis=1), color=BLUE, marker="o", label="400 counters, measured")
ax.plot(range(1, T + 1), np.sqrt(2.0 * np.array(blocks)), color=BLACK, ls=":", label=r"$\sqrt{2 \cdot}$ noises")
ax.set(xlabel="release $t$", ylabel="standard deviation / scale", ylim=(0, None), xticks=range(1, T + 1))
ax.legend()
plt.show()

# %% [markdown]
# ## 2. Error against $k$: Central and Local
#
# Local adds $\mathrm{Lap}(3H/\epsilon)$ to every user's message. The sum of $k$ messages has the noise of $k$
# users: it grows like $\sqrt{k}$, where Central's stays within $\sqrt{L}$ of one block. Beside the standard
# deviation stands $E/4$, what Assumption 3.1 allows: a bound for all counts and all $k$ at once, with
# probability $1 - \beta/3$.

# %%
H, S, A, K, epsilon = 20, 6, 2, 50_000, 1.0
problem = dp.Problem(H, S, A, K, beta=0.05)
central, local = dp.Central(epsilon=epsilon), dp.Local(epsilon=epsilon)
noise = {"Central": central.noise_of(problem, H), "Local": local.noise_of(problem, H)}
k = np.unique(np.geomspace(1, K, 200).astype(int))
deviation = {
    "Central": noise["Central"].scale * np.sqrt([2.0 * int(n).bit_count() for n in k]),
    "Local": noise["Local"].scale * np.sqrt(2.0 * k),
}
fig, ax = plt.subplots(figsize=(7.5, 4))
for (name, values), hue in zip(deviation.items(), (BLUE, VERMILLION), strict=True):
    ax.plot(k, values, color=hue, label=f"{name}: standard deviation")
    ax.axhline(noise[name].E / 4, color=hue, ls=":", label=f"{name}: $E/4$")
ax.plot(k, k / 6, color=QUIET, lw=0.8, label="visits of a pair met in every sixth episode")
ax.set(xscale="log", yscale="log", xlabel="episode $k$", ylabel="error of a count")
ax.legend(fontsize=8)
plt.show()

assert noise["Local"].E > noise["Central"].E > K / 6  # at ε = 1 the allowed error is more than any such count

# %% [markdown]
# At $\epsilon = 1$ even Central's $E$ is above the count of a pair that every sixth episode meets, to the
# very last episode. This is why nothing is learnt at the printed $\epsilon$.
#
# ## 3. Pooled counts
#
# If the MDP does not depend on the step, all $H$ steps can share their counters. A user still adds $H$ ones,
# so the noise is the same, but every counter sees $H$ times as many visits, and there are $H$ times fewer
# counters.

# %%
fig, ax = plt.subplots(figsize=(7.5, 3.4))
for G, hue, name in ((H, BLUE, "per step"), (1, GREEN, "pooled")):
    E = central.noise_of(problem, G).E
    visits = k / 6 * (H // G)
    ax.plot(k, E / visits, color=hue, label=f"{name}: $E$ = {E:,.0f}")
ax.axhline(1.0, color=QUIET, ls=":")
ax.set(xscale="log", yscale="log", xlabel="episode $k$", ylabel="$E$ over the visits of a pair")
ax.legend()
plt.show()

assert central.noise_of(problem, 1).E < central.noise_of(problem, H).E

# %% [markdown]
# ## 4. What is certified
#
# Every run says which $\epsilon$ it certifies and for which neighbours. With the paper's noise it is
# $\epsilon$ if a user is added or removed, and $2\epsilon$ if she is replaced, as Definitions 2.2 and 2.3
# have it [D8]. Other privatizers are set up for the user who is replaced.

# %%
others = {
    "Central": central,
    "Local": local,
    "Batches": dp.Batches(epsilon=1.0),
    "Toeplitz": dp.Toeplitz(epsilon=1.0),
}
for name, privatizer in others.items():
    c = privatizer.certificate(problem, 1)
    delta = f", δ = {c.delta:g}" if c.delta else ""
    print(
        f"{name:9} {c.model}: ε = {c.add_remove:.3f} (added or removed), {c.replace_one:.3f} (replaced){delta}"
    )

# %% [markdown]
# ## Exercises, with solutions
#
# 1. *How many noises has the release at $t = 2^{16} - 1$, and at $t = 2^{16}$?* Sixteen, and one: the binary
#    form of $t$ counts them. The error of the tree is not monotone in $t$.
# 2. *From which $\epsilon$ on is Central's $E$ below 1,000 per step at $K = 50{,}000$?* $E$ is proportional
#    to $1/\epsilon$, so at $E(1)/1000$:

# %%
least = central.noise_of(problem, H).E / 1000
print(f"ε = {least:.0f}")
assert dp.Central(epsilon=1.01 * least).noise_of(problem, H).E < 1000
