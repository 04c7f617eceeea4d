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
import numpy as np
import pictures.privatizers as draw

import dpucbvi as dp
from dpucbvi.mechanisms.binary import BinaryMechanism, levels
from dpucbvi.privacy.laplace import LaplaceStream, seed_stream

# %% [markdown]
# ## 1. A tree that grows
#
# A running sum of $T$ numbers could be released with fresh noise every time; then every user is in up to $T$
# releases and the noise of each must be $T$ times as large. The Binary Mechanism does with
# $\lceil \log_2 (T+1) \rceil$ times: it keeps noisy sums of blocks of $1, 2, 4, \ldots$ users, and the release
# after user $t$ adds the blocks that make up $1, \ldots, t$, one for every 1 in the binary form of $t$. When a
# block closes it takes the place of the smaller ones inside it, and gets a noise of its own.

# %%
USERS = 8
tree = BinaryMechanism(size=1, L=levels(USERS + 1), scale=1.0, stream=LaplaceStream(seed_stream(0, "privacy")))
releases = {}  # t -> the blocks of the release after user t, as (level, last user): noise
for t in range(1, USERS + 1):
    released = tree.release(np.zeros(1))[0]  # of a stream of zeros: nothing but noise
    releases[t] = {(i, (t >> i) << i): tree.noise[i, 0] for i in range(tree.L) if t >> i & 1}
    assert np.isclose(released, sum(releases[t].values())) and len(releases[t]) == t.bit_count()
draw.the_tree_grows(tree.L, releases)

# %% [markdown]
# A user lies in at most $L = \lceil \log_2 K \rceil$ blocks of each of her counts, so
# $\mathrm{Lap}(3HL/\epsilon)$ on every block is enough for all three families of counts [D5]. The mechanism
# itself, on a sum of ones:

# %%
L, T, COUNTERS = 4, 15, 400
mechanism = BinaryMechanism(size=COUNTERS, L=L, scale=1.0, stream=LaplaceStream(seed_stream(0, "privacy")))
errors = np.array([mechanism.release(np.ones(COUNTERS)) - t for t in range(1, T + 1)])
noises = [t.bit_count() for t in range(1, T + 1)]
assert max(noises) == L
assert np.allclose(errors.std(axis=1), np.sqrt(2.0 * np.array(noises)), rtol=0.25)  # Var Lap(1) = 2
draw.error_of_the_tree(errors.std(axis=1), noises, COUNTERS)

# %% [markdown]
# ## 2. Error against $k$: Central and Local
#
# Local adds $\mathrm{Lap}(3H/\epsilon)$ to every user's message. The sum of $k$ messages has the noise of $k$
# users: it grows like $\sqrt{k}$, where Central's is at most $\sqrt{L}$ times that of one block. Beside the
# standard deviation stands $E/4$: a bound on the error of all counts and all $k$ at once, with probability
# $1 - \beta/3$.

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
for name, values in deviation.items():
    last = f"{values[-1]:,.0f} at k = {K:,}"
    print(f"{name:8} standard deviation {values[0]:,.0f} at k = 1, {last}; E/4 = {noise[name].E / 4:,.0f}")
assert noise["Local"].E > noise["Central"].E > K / 6  # at ε = 1 the allowed error is more than any such count
draw.error_against_k(k, deviation, {name: of.E / 4 for name, of in noise.items()}, k / 6)

# %% [markdown]
# At $\epsilon = 1$ even Central's $E/4$ is above the count of a pair that every sixth episode meets, to the
# very last episode. This is why nothing is learnt at the printed $\epsilon$. Local begins with less noise than
# Central and ends with more.
#
# ## 3. Pooled counts
#
# If the MDP does not depend on the step, all $H$ steps can share their counters. A user still adds $H$ ones,
# so the noise is the same, but every counter sees $H$ times as many visits, and there are $H$ times fewer
# counters.

# %%
ratio, E = {}, {}
for G, name in ((H, "per step"), (1, "pooled")):
    E[name] = central.noise_of(problem, G).E
    visits = k / 6 * (H // G)
    ratio[f"{name}: E = {E[name]:,.0f}, {visits[-1]:,.0f} visits in the end"] = E[name] / visits
assert E["pooled"] < E["per step"]
draw.pooled_counts(k, ratio)

# %% [markdown]
# Even pooled, such a pair has only about as many visits as $E$ after all 50,000 episodes. The algorithm needs
# smaller factors, or a larger $\epsilon$, all the same; it needs much less of both.

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
    print(f"{name:9} {privatizer.certificate(problem, 1)}")

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
