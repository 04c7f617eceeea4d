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
# A privatizer stands between the users and the algorithm. The paper has two: *Central* (Section 5.1, joint
# DP) and *Local* (Section 5.2, local DP). A user is one episode. She adds to the counts of the pairs that
# she met, and a privatizer releases these counts with noise. This notebook draws how the noise of Central
# is made, compares the errors of both, and shows what pooling the steps buys. It then explains the five ideas
# behind the mechanisms that do better (batches, symbols, Toeplitz, one question, windows), and reads the
# certificates.

# %%
try:
    import dpucbvi as dp
except ModuleNotFoundError as missing:
    raise SystemExit("run `pip install '.[paper,notebooks]'` in a copy of the repository first") from missing

# %%
import numpy as np
import pictures.privatizers as draw

# %% [markdown]
# ## 1. A tree that grows
#
# A running sum of $T$ numbers could be released with fresh noise every time; then every user is in up to
# $T$ releases and the noise of each must be $T$ times as large. The Binary Mechanism needs only
# $\lceil \log_2 (T+1) \rceil$ times as much: it keeps noisy sums of blocks of $1, 2, 4, \ldots$ users, and the
# release after user $t$ adds the blocks that make up $1, \ldots, t$, one for every 1 in the binary form of
# $t$. When a block closes it takes the place of the smaller ones inside it, and gets a noise of its own.

# %%
USERS, L = 8, 4
rng = np.random.default_rng(0)
noise = {}  # of every block, as (level, last user): drawn when the block closes, and kept
releases = {}  # t -> the blocks of the release after user t, with their noise
for t in range(1, USERS + 1):
    blocks = [(i, (t >> i) << i) for i in range(L) if t >> i & 1]  # a block for every 1 of t in binary
    releases[t] = {block: noise.setdefault(block, rng.laplace()) for block in blocks}
    assert len(blocks) == t.bit_count()
draw.the_tree_grows(L, releases)

# %% [markdown]
# A user lies in at most $L = \lceil \log_2 K \rceil$ blocks of each of her counts, so
# $\mathrm{Lap}(3HL/\epsilon)$ on every block is enough for all three families of counts [D5].
#
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
# At $\epsilon = 1$ even Central's $E/4$ exceeds the count of a pair that every sixth episode meets, up to the
# last episode. This is why nothing is learnt at the reported $\epsilon$. Local begins with less noise than
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
# Even pooled, such a pair has only about as many visits as $E$ after all 50,000 episodes. So the algorithm
# still needs smaller factors or a larger $\epsilon$, but far less of either.

# %% [markdown]
# ## 4. Five ideas behind the other mechanisms
#
# Other mechanisms reach the regrets that the paper reports, at its $\epsilon$. Five ideas make the
# difference. From here on a user is *replaced*, as Definitions 2.2 and 2.3 have it: $H$ counts leave
# and $H$ arrive, so that the counts of one family change by $2H$.
#
# **Batches.** Why release after every user? Close a batch from time to time, release its counts once with
# fresh noise, and add up the batches. A user lies in one batch, so $L$ disappears from the noise. Batches grow
# with the number of users, so the counts never lack more than a constant share of them.

# %%
FIRST, GROWTH = 1_000, 1.25
ends, e = [], 0
while (e := e + max(FIRST, int((GROWTH - 1) * e))) < K:
    ends.append(e)
closed = np.searchsorted(ends, k, side="right")  # batches that have ended after k users
L = int(np.ceil(np.log2(K)))
error = {
    "tree, 3 families": 3 * 2 * H * L / epsilon * np.sqrt([2.0 * int(n).bit_count() for n in k]),
    "batches, 3 families": 3 * 2 * H / epsilon * np.sqrt(2.0 * closed),
    "batches, symbols": 2 * H / epsilon * np.sqrt(2.0 * closed),
}
for name, values in error.items():
    print(f"{name:20} standard deviation of a count at k = {K:,}: {values[-1]:7,.0f}")
assert error["batches, 3 families"][-1] * 3 == 3 * 3 * error["batches, symbols"][-1]
draw.batches_of_users(ends, k, error)

# %% [markdown]
# **Symbols.** The paper counts $N(s,a)$, $N(s,a,s')$ and the sum of rewards apart, and shares $\epsilon$ among
# these three families. But if the reward is rounded to 0 or 1 at random, with the right mean, all that a visit
# of $(s,a)$ says is one symbol $(s', \text{reward bit})$. Count symbols: one family has the whole budget, and
# the noise is a third. The other two families are sums of symbols.
#
# **Toeplitz.** If counts must be released all the time, noise can be *correlated*: the noise of a release
# cancels a part of the noise before it. Write the running sums as a matrix $A = BC$, add noise to $C x$,
# and release $B(Cx + z)$. The tree is one such pair. The best one with equal diagonals is
# $B = C = \sqrt A$, whose entries are $\binom{2j}{j}/4^j$. Its noise is Gaussian, so its
# guarantee has a $\delta$.

# %%
T = 64
root = np.cumprod([1.0, *((2 * j - 1) / (2 * j) for j in range(1, T))])  # binom(2j, j)/4^j
B = np.array([[root[t - j] if j <= t else 0.0 for j in range(T)] for t in range(T)])
assert np.allclose(B @ B, np.tril(np.ones((T, T))))  # the running sums
levels = int(np.ceil(np.log2(T + 1)))
relative = {  # standard deviation of a release, for the same privacy of Gaussian noise
    "fresh noise every time": np.full(T, np.sqrt(T)),
    "tree": np.sqrt(levels) * np.sqrt([t.bit_count() for t in range(1, T + 1)]),
    "square root": np.linalg.norm(B[:, 0]) * np.linalg.norm(B, axis=1),
}
largest = {name: values.max() for name, values in relative.items()}
print(", ".join(f"{name}: at most {value:.1f}" for name, value in largest.items()))
assert largest["square root"] < largest["tree"] < largest["fresh noise every time"]
draw.three_factorisations(relative)

# %% [markdown]
# **One question.** Under local DP every user of the paper sends all her counts, each with noise. Ask her one
# question instead: "where did you go after your first visit of $(s,a)$?" She answers by randomised response:
# the truth with probability $p = e^\epsilon/(e^\epsilon + d - 1)$, any other of the $d = S + 1$ answers with
# $q = 1/(e^\epsilon + d - 1)$. Only one user in $SA$ is asked about a given pair, but her answer is worth more
# than that many noisy messages.

# %%
budget, d = 2.0, S + 1
p, q = np.exp(budget) / (np.exp(budget) + d - 1), 1.0 / (np.exp(budget) + d - 1)
asked = k / (S * A)
share = {  # standard deviation of the estimated share of users who did a given thing
    "noise on all counts": 3 * 2 * H / budget * np.sqrt(2.0 * k) / k,
    "one question": np.sqrt(q * (1.0 - q) / asked) / (p - q),
}
print(f"truth {p:.2f}, each other answer {q:.2f}; {share['noise on all counts'][-1]:.3f} against", end=" ")
print(f"{share['one question'][-1]:.4f} at k = {K:,}")
draw.one_question(p, q, d, k, share)

# %% [markdown]
# **Windows.** Pooling the steps is the largest gain of all, and it is wrong if the MDP depends on the step.
# Windows find out. The horizon is cut into 1, 2, 4 and $H$ windows. Counts are noisy at every level, so the
# server may compare a window with the one around it at no further cost: that is post-processing. Where they
# differ by more than noise and chance explain, the larger one is split. Below, one pair is tried 300 times at
# every step. Left, it succeeds with 0.6 at every step; right, with 0.6 in the first half and 0.2 after that.

# %%
visits, sd = 300, np.sqrt(2 * H) * 4.5  # of a step; Gaussian noise, about ε = 1 at δ = 1e-6
rng = np.random.default_rng(3)
worlds = {"the same at every step": np.full(H, 0.6), "other in the second half": np.repeat([0.6, 0.2], H // 2)}
shown = {}
for name, success in worlds.items():
    noisy = rng.binomial(visits, success) + rng.normal(0.0, sd, H)
    shown[name] = []
    for cut in (1, 2, 4):
        length = H // cut
        for first in range(0, H, length):
            n, whole = visits * length, 2 * length if cut > 1 else length
            start = first // whole * whole
            estimate, around = (
                noisy[first : first + length].sum() / n,
                noisy[start : start + whole].mean() / visits,
            )
            error_of = np.sqrt((length * sd**2 + n / 4) / n**2)
            shown[name].append((cut, first, length, estimate, abs(estimate - around) > 3 * error_of))
split = {name: int(sum(differs for *_, differs in of)) for name, of in shown.items()}
print("windows that differ from the one around them:", split)
assert split == {"the same at every step": 0, "other in the second half": 2}
draw.windows_of_steps(H, shown)

# %% [markdown]
# `dp.Windows` keeps the halves apart on the right, and pools everything on the left. `dp.LocalWindows` does the
# same with answers to one question. Where it fails, and by how much, is in
# [windows.md](../paper/results/windows.md).
#
# ## 5. What is certified
#
# Every run says which $\epsilon$ it certifies and for which neighbours. With the paper's noise it is
# $\epsilon$ if a user is added or removed, and $2\epsilon$ if she is replaced [D8]. The other privatizers are
# set up for the user who is replaced.

# %%
others = {
    "Central": central,
    "Local": local,
    "Batches": dp.Batches(epsilon=1.0),
    "Toeplitz": dp.Toeplitz(epsilon=1.0),
    "OneQuestion": dp.OneQuestion(epsilon=1.0),
    "Windows": dp.Windows(epsilon=1.0),
    "LocalWindows": dp.LocalWindows(epsilon=1.0),
}
for name, privatizer in others.items():
    print(f"{name:13} {privatizer.certificate(problem, H)}")

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
