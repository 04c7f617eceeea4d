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
# Algorithm 1 and Section 5; each section below names the lines it shows. The formulas are written out here, as
# the paper has them, and set against what `dp.run` does: their numbers must agree with the package's.
#
# | section | lines of Algorithm 1 | what it shows |
# |---|---|---|
# | 1 | line 1 | the MDP and its optimal value |
# | 2 | lines 2 and 16 | what one user adds to the counts, and what is to be hidden of it |
# | 3 | line 17 | the Central Privatizer: true counts $N$ become noisy counts $\widehat N$; what $E$ is |
# | 4 | line 17 | the LP of Section 5.1: $\widehat N$ become private counts $\widetilde N$; its geometry |
# | 5 | line 6 | the private estimates $\widetilde P$ and $\widetilde r$ |
# | 6 | line 7 | the bonus and its four terms |
# | 7 | lines 4, 5 and 8-15 | optimistic value iteration |
# | 8 | lines 3 and 16-18 | the whole algorithm, and its regret |
# | 9 | line 17 | what $\epsilon$ such a run certifies |
#
# Letters: a bare letter is true ($N$), a hat is noisy ($\widehat N$), a tilde is post-processed
# ($\widetilde N$). The code writes them `N`, `N_hat`, `N_tilde`. Steps are counted from 1 in the text and from
# 0 in the arrays. The rest of the paper's alphabet:
#
# | letter | means |
# |---|---|
# | $H, S, A, K$ | steps of an episode, states, actions, episodes (one user each) |
# | $T = KH$ | steps of all episodes together; regret bounds are stated in $T$ |
# | $\sigma^k$ | what user $k$ adds to the counters: $\sigma^k_h(s,a) = \mathbb 1(s^k_h,a^k_h = s,a)$, ... |
# | $\epsilon$ | the privacy budget: smaller hides more (section 2) |
# | $\beta$ | the probability with which the guarantees may fail; a third of it is for the noise (section 3) |
# | $E_{\epsilon,\beta}$, or $E$ | how far a private count may be from the truth (Assumption 3.1, section 3) |
# | $\iota = \log(30HSAT/\beta)$ | the logarithm of every confidence width (section 6) |
#
# A cell that ends in `draw.` shows its picture.

# %%
try:
    import dpucbvi as dp
except ModuleNotFoundError as missing:
    raise SystemExit("run `pip install '.[paper,notebooks]'` in a copy of the repository first") from missing

# %%
from functools import cache
from itertools import product
from math import ceil, log, log2, sqrt
from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pictures.algorithm1 as draw

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
LEFT, RIGHT = 0, 1
mdp = dp.riverswim(S=3, H=4)
H, S, A = mdp.H, mdp.S, mdp.A
V_star, Q_star = dp.optimal_values(mdp)
pi_star = Q_star.argmax(axis=-1)
print(f"V*_1(s_1) = {V_star[0, 0]:.4f}")

assert V_star.shape == (H + 1, S)
assert pi_star[0, 0] == RIGHT  # at the start it pays to swim
assert pi_star[2, 0] == LEFT  # two steps from the end the right bank is out of reach
draw.the_river(mdp, V_star, pi_star)

# %% [markdown]
# ## 2. What one user adds to the counts, and what is to be hidden of it (lines 2 and 16)
#
# Each episode is one user. Her trajectory $(s_1,a_1,r_1,\dots,s_{H+1})$ enters three families of counters
# (Section 3); $\sigma^i$ is what user $i$ adds to all of them:
#
# $$N^k_h(s,a) = \sum_{i<k} \mathbb 1(s^i_h,a^i_h = s,a), \quad
#   N^k_h(s,a,s') = \sum_{i<k} \mathbb 1(s^i_h,a^i_h,s^i_{h+1} = s,a,s'), \quad
#   R^k_h(s,a) = \sum_{i<k} \mathbb 1(s^i_h,a^i_h = s,a)\, r^i_h.$$
#
# At $k = 1$ all are 0 (line 2). Here 300 users come one after another. To fill all cells, they follow the
# uniformly random policy in sections 2 to 5; from section 6 on the algorithm chooses.

# %%
K, USERS, SEED, EPSILON = 400, 300, 1, 300.0


def random_users(epsilon):
    """Users who act at random; the noisy and the private counts after each of them (sections 3 and 4)."""
    users, noisy, private = [], [], []

    def uniform_policy(problem, counts):
        plan = dp.Plan(np.full((H, S, A), 1 / A), np.zeros((H, S, A)), np.zeros((H + 1, S)))
        while True:
            user = yield plan
            counts.update(user)
            users.append(user)
            noisy.append(counts.N_hat)
            private.append(counts.counts)

    uniform_policy.reads_trajectories = True  # so that we can look at the users; nothing is certified then
    dp.run(mdp, uniform_policy, dp.Central(epsilon), K=K, seed=SEED)
    return users[:USERS], noisy[:USERS], private[:USERS]


def added_by(user, H, S, A):
    """What one user adds to the three families."""
    N_sa, N_sas, R = np.zeros((H, S, A)), np.zeros((H, S, A, S)), np.zeros((H, S, A))
    for h in range(H):
        s, a = user.s[h], user.a[h]
        N_sa[h, s, a] += 1
        N_sas[h, s, a, user.s[h + 1]] += 1
        R[h, s, a] += user.r[h]
    return dp.Counts(N_sa, N_sas, R)


users, noisy, private = random_users(EPSILON)
sigma = [added_by(user, H, S, A) for user in users]
N = dp.Counts(*(sum(family) for family in zip(*sigma, strict=True)))

print("user 1: states", users[0].s, "actions", users[0].a, "rewards", users[0].r)
assert (N.N_sa.sum(axis=(1, 2)) == USERS).all()  # every user is counted once in every step ...
assert (N.N_sas.sum(axis=-1) == N.N_sa).all()  # ... and her next state once in every row

draw.counts_by_step(N.N_sa, USERS)

# %% [markdown]
# **What is to be hidden.** Her states and rewards are her own. Two promises are possible, and $e^\epsilon$
# measures both:
#
# - *Joint differential privacy* (JDP, Definition 2.2) trusts the algorithm, not the other users. Replace the
#   data of one user by any other data. Then no event in what *all the others together* are told to do becomes
#   more than $e^\epsilon$ times as likely. Her own actions are left out: they must be allowed to depend on
#   her states.
# - *Local differential privacy* (LDP, Definition 2.3) trusts nobody. A user adds noise to $\sigma^k$ herself
#   and sends nothing else. For any two trajectories no message is more than $e^\epsilon$ times as likely under
#   one as under the other.
#
# LDP asks for more, and costs more: every user brings noise of her own (notebook 03). Here it is JDP.
#
# **How much can one user change?** This decides the noise. Against an absent user (all zeros) each family
# changes by $H$ in the $\ell_1$ norm. Against another user it changes by up to $2H$: $H$ ones leave their cells
# and $H$ ones arrive elsewhere. The paper calibrates with $H$; its Definitions 2.2 and 2.3 compare one user
# with another. Section 9 says what this means for $\epsilon$. For a tiny MDP we can try every pair of
# trajectories.


# %%
def every_trajectory(H, S, A):
    """All trajectories with rewards 0 or 1."""
    rewards = product((0, 1), repeat=H)
    for s, a, r in product(product(range(S), repeat=H + 1), product(range(A), repeat=H), rewards):
        yield SimpleNamespace(s=s, a=a, r=r)


def as_vector(counts):
    return np.concatenate([family.ravel() for family in counts])


for steps in (1, 2):
    vectors = np.array([as_vector(added_by(t, steps, 2, 2)) for t in every_trajectory(steps, 2, 2)])
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
# three families. Below, the noise of a tree for $K = 16$ users.


# %%
def levels(K):
    return ceil(log2(K))


K_TREE, T_TREE = 16, 13
rng = np.random.default_rng(SEED)
noise = {}  # of every block, as (level, last user): drawn when the block closes, and kept
releases = {}  # t -> the blocks of the release after user t, with their noise
for t in range(1, K_TREE):
    blocks = [(i, (t >> i) << i) for i in range(levels(K_TREE)) if t >> i & 1]
    releases[t] = {block: noise.setdefault(block, rng.laplace()) for block in blocks}

assert len(noise) == K_TREE - 1  # every release closes one block, and draws one noise
assert len(releases[T_TREE]) == T_TREE.bit_count() == 3
draw.tree(levels(K_TREE), noise, releases[T_TREE], T_TREE)

# %% [markdown]
# Now all 120 counters of our MDP at once, for $K = 400$ users and $\epsilon = 300$. So large an $\epsilon$
# protects nobody; it is chosen because at $\epsilon = 1$ the noise would bury 300 users completely (the last
# line printed).
#
# How far may all this noise lead the algorithm astray? What it needs to know is **Assumption 3.1**: with
# probability at least $1-\beta/3$, for all $(h,s,a,s')$ and all $k$ at once,
#
# 1. no private count is further than $E_{\epsilon,\beta}$ from the true one:
#    $|\widetilde N(s,a,s') - N(s,a,s')|$, $|\widetilde N(s,a) - N(s,a)|$ and $|\widetilde R(s,a) - R(s,a)|$
#    are at most $E_{\epsilon,\beta}$;
# 2. the private counts fit together and never underestimate:
#    $\widetilde N(s,a) = \sum_{s'} \widetilde N(s,a,s') \ge N(s,a)$ and $\widetilde N(s,a,s') > 0$.
#
# Nothing else about privacy enters the analysis of the regret. $\widehat N$ cannot satisfy it, because
# noise has both signs. Section 4 turns it into a $\widetilde N$ that does, with $E$ four times a bound on
# $|\widehat N - N|$ (Lemma 5.4).
#
# **How $E$ follows from the noise.** The paper prints its order only,
# $\widetilde O(H/\epsilon)$; `confidence.py` proves a value. A release of a counter is off by a sum of at most
# $L$ draws of $\mathrm{Lap}(b)$. Chernoff's method bounds it: with probability $1-p$ the sum is at most
# $b \min_{0<\theta<1} \big(\log\tfrac 2p - L\log(1-\theta^2)\big)/\theta$ in absolute value. There are 120
# counters and $K-1$ releases, so with $p = (\beta/3) / (120\,(K-1))$ none exceeds the bound with probability
# $1-\beta/3$; and $E$ is four times this bound.

# %%
BETA = 0.05  # what dp.run takes, too
problem = dp.Problem(H, S, A, K, BETA)
size = H * S * A * (S + 2)
b, E, *_ = dp.Central(EPSILON).noise_of(problem, H)

p = BETA / 3 / (size * (K - 1))
theta = np.linspace(0, 1, 100_001)[1:-1]
bound = b * ((log(2 / p) - levels(K) * np.log(1 - theta**2)) / theta).min()
print(f"L and b             L = {levels(K)} levels, b = 3HL/epsilon = {b:.2f}")
print(f"one draw of Lap(b)  standard deviation {np.sqrt(2) * b:.2f}")
print(f"one release         {levels(K)} draws: standard deviation {np.sqrt(2 * levels(K)) * b:.2f}")
print(f"all releases        {size} x {K - 1} of them, each above its bound with probability p = {p:.1e}")
print(f"the bound           {bound:.1f}, so E = 4 x {bound:.1f} = {E:.1f}")
b_1, E_1, *_ = dp.Central(1.0).noise_of(problem, H)
print(f"at epsilon = 1      b = {b_1:.0f} and E = {E_1:,.0f}, with {USERS} users")
assert np.isclose(b, 3 * H * levels(K) / EPSILON) and np.isclose(E, 4 * bound)

# %%
cell = (1, 0, RIGHT)  # step 2, state 0, action right
true = np.cumsum([user.N_sa[cell] for user in sigma])
N_hat_k = np.array([counts.N_sa[cell] for counts in noisy])
N_tilde_k = np.array([counts.N_sa[cell] for counts in private])

assert (np.abs(N_hat_k - true) <= E / 4).all()
assert ((true <= N_tilde_k) & (N_tilde_k <= true + E)).all()  # Assumption 3.1 for this counter
print(f"largest |N_hat - N| of this counter: {np.abs(N_hat_k - true).max():.1f}; the bound is {E / 4:.1f}")
draw.one_counter(true, N_hat_k, N_tilde_k, E, levels(K))

# %% [markdown]
# The noise grows with $k$ only logarithmically: a release after $k-1$ users carries one draw for every 1 in the
# binary form of $k-1$. At $k - 1 = 2^i$ a single block remains.
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
# **The picture in two dimensions.** With two next states a row is a point of the plane. The constraint on the
# sum is a band of slope $-1$, $x \ge 0$ is a quadrant; together they are the blue area. A box of half-width $t$
# around the noisy point holds all $x$ that move no entry by more than $t$. The LP blows the box up until it
# touches the blue area: the least $t$ is its optimal value, the orange points are its solutions. At the left,
# $-3$ must rise to 0, so $t = 3$, and a whole segment is optimal; the package takes its point nearest to
# $\widehat N$. At the right the counts are fine but their sum is too large, and both must fall by 3.


# %%
def lp(y, n, w):
    """A minimiser and the optimal value of Eq. 4, with w = E/4, by the solver HiGHS."""
    x, t = cp.Variable(len(y), nonneg=True), cp.Variable()
    cp.Problem(cp.Minimize(t), [cp.abs(x - y) <= t, cp.abs(cp.sum(x) - n) <= w]).solve(solver="HIGHS")
    return x.value, float(t.value)


def nearest_minimiser(y, n, w):
    """max(y - λ, 0) with the λ of least |λ| that meets the constraint on the sum; 0 if no x meets it."""
    x, n = np.maximum(y, 0.0), max(n, -w)
    if abs(x.sum() - n) <= w:
        return x
    wanted = n + w if x.sum() > n else n - w
    largest_first = np.sort(y)[::-1]
    lam = ((np.cumsum(largest_first) - wanted) / np.arange(1, len(y) + 1)).max()
    return np.maximum(y - lam, 0.0)


W_PLANE = 4.0  # E/4
examples = []
for title, y, n in (
    ("A negative count: many minimisers", np.array([14.0, -3.0]), 9.0),
    ("Too large a sum: one minimiser", np.array([9.0, 6.0]), 5.0),
):
    x = nearest_minimiser(y, n, W_PLANE)
    _, t = lp(y, n, W_PLANE)
    print(
        f"noisy {y}, N_hat(s,a) = {n:g}: projected {x}, sum {x.sum():g}, largest move {np.abs(x - y).max():g}"
    )
    assert np.isclose(t, np.abs(x - y).max()) and np.isclose(t, 3.0)
    examples.append((title, y, n, x, t))
draw.the_lp_in_two_dimensions(examples, W_PLANE)

# %% [markdown]
# **One row of our counts.** `left` from state 0 always stays, so two of the three true counts are 0, and noise
# makes one of them negative.

# %%
h, s, a = 1, 0, LEFT
N_hat, N_tilde = noisy[-1], private[-1]
y, n = N_hat.N_sas[h, s, a], N_hat.N_sa[h, s, a]
x = nearest_minimiser(y, n, E / 4)
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
# The package does not call a solver in every episode: it has the closed form of `nearest_minimiser`,
# $x_{s'} = \max(\widehat N(s,a,s') - \lambda, 0)$ (`projection.py` has the proof). On all 24 rows of this
# episode it attains the optimal value of the LP, and shifted it is the $\widetilde N$ of the package:

# %%
worse = 0
for row in np.ndindex(H, S, A):
    y, n = N_hat.N_sas[row], N_hat.N_sa[row]
    x = nearest_minimiser(y, n, E / 4)
    worse += np.abs(x - y).max() > lp(y, n, E / 4)[1] + 1e-6
    assert np.allclose(x + E / (2 * S), N_tilde.N_sas[row])
print(f"rows that move further than the LP's optimum: {worse} of {H * S * A}")
assert worse == 0

# %% [markdown]
# **The LP has many minimisers.** It looks only at the largest move. Take
# $\widehat N(s,a,\cdot) = (30,-4,12,-7,5)$, $\widehat N(s,a) = 38$ and $E/4 = 20$. The entry $-7$ must rise to
# 0, so the largest move is at least 7, and then every other entry may move by up to 7 for free. The package
# takes the minimiser nearest to $\widehat N$ in the Euclidean norm: it moves nothing without need, it is
# unique, and no solver decides it (deviation D6).

# %%
y_example, n_example, w = np.array([30.0, -4.0, 12.0, -7.0, 5.0]), 38.0, 20.0
nearest = nearest_minimiser(y_example, n_example, w)
other = np.array([23.0, 0.0, 5.0, 0.0, 0.0])
solver_x, solver_t = lp(y_example, n_example, w)
print("nearest           ", nearest, "largest move", np.abs(nearest - y_example).max())
print("another minimiser ", other, "largest move", np.abs(other - y_example).max())
print("HiGHS returns     ", solver_x.round(6), "optimal value", round(solver_t, 6))

for candidate in (nearest, other, solver_x):
    assert (candidate >= -1e-9).all() and abs(candidate.sum() - n_example) <= w + 1e-9  # feasible
    assert np.isclose(np.abs(candidate - y_example).max(), 7.0)  # and optimal
assert np.isclose(solver_t, 7.0) and nearest.tolist() == [30, 0, 12, 0, 5]
draw.two_minimisers(y_example, nearest, other, 4 * w / (2 * 5))

# %% [markdown]
# ## 5. The private estimates (line 6, Eq. 1)
#
# $$\widetilde P_h(s'|s,a) = \frac{\widetilde N_h(s,a,s')}{\widetilde N_h(s,a)}, \qquad
#   \widetilde r_h(s,a) = \Big(\frac{\widetilde R_h(s,a)}{\widetilde N_h(s,a)}\Big)_{[0,1]}.$$
#
# Compare four versions of $P_3(\cdot|s,a)$, step 3, where every state has been seen. The raw quotient
# $\widehat N(s,a,s')/\widehat N(s,a)$ is what earlier algorithms use (Remark 3.2).


# %%
def private_estimates(counts, h):
    """P_tilde and r_tilde of step h; 0 where nothing was counted."""
    P, r = np.zeros((S, A, S)), np.zeros((S, A))
    for s, a in np.argwhere(counts.N_sa[h] > 0):
        P[s, a] = counts.N_sas[h, s, a] / counts.N_sa[h, s, a]
        r[s, a] = np.clip(counts.R[h, s, a] / counts.N_sa[h, s, a], 0, 1)
    return P, r


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
draw.four_estimates(versions)

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
# `dp.run` runs the algorithm. Its `watch` is handed the plan of every episode and the counts that it was made
# from, so that we can work out each term again.


# %%
@cache
def trained(epsilon, scale, seed):
    """K episodes of Algorithm 1: the plans, the counts behind them, the regret after each episode, and E."""
    plans, counts = [], []

    def watch(k, plan, behind):
        plans.append(plan)
        counts.append(behind)

    privatizer = dp.NonPrivate() if np.isinf(epsilon) else dp.Central(epsilon)
    agent = dp.DPUCBVI(bonus_scale=scale)
    run = dp.run(mdp, agent, privatizer, K=K, seed=seed, engine="reference", watch=watch)
    return SimpleNamespace(plans=plans, counts=counts, regret=run.regret, E=run.E)


SCALE, SCALE_NON_PRIVATE = 3e-4, 0.02
literal_non_private = trained(np.inf, 1.0, SEED)
literal_central = trained(EPSILON, 1.0, SEED)
scaled_non_private = trained(np.inf, SCALE_NON_PRIVATE, SEED)
scaled_central = trained(EPSILON, SCALE, SEED)

# %%
iota = log(30 * H * S * A * problem.T / BETA)


def gap(n, E):
    """min{g(n), H^2}."""
    if n == 0:
        return H**2
    g = H**3 * S * A * iota**2 / n + H**4 * S**4 * A**2 * iota**4 * (E**2 + H**2) / n**2
    return min(1000**2 * g, H**2)


def four_terms(counts, E, V_next, h, s, a):
    """The four terms of line 7: variance, reward, privacy, next value. It takes a count above 0."""
    n, P = counts.N_sa[h, s, a], private_estimates(counts, h)[0][s, a]
    variance = P @ (V_next - P @ V_next) ** 2
    gaps = np.zeros(S)  # there is no step after the last one, and nothing to make up for (D2)
    if h + 1 < H:
        gaps = np.array([gap(visits, E) for visits in counts.N_sa[h + 1].sum(axis=-1)])
    privacy = 20 * H * S * E * iota / n
    return np.array(
        [2 * sqrt(variance * iota / n), sqrt(2 * iota / n), privacy, 4 * sqrt(iota * (P @ gaps) / n)]
    )


EPISODES = [10, 25, 50, 100, 200, 400]


def in_episode(run, scale, k, a):
    """The terms, scaled, at the first step and state in episode k of a run."""
    return scale * four_terms(run.counts[k - 1], run.E, run.plans[k - 1].V[1], 0, 0, a)


panels = [  # a literal run never tries right in step 1: its ties go to the lowest action (D3)
    ("literal, non-private", literal_non_private, 1.0, LEFT),
    (rf"literal, $\epsilon = {EPSILON:g}$", literal_central, 1.0, LEFT),
    (f"times {SCALE_NON_PRIVATE:g}, non-private", scaled_non_private, SCALE_NON_PRIVATE, RIGHT),
    (rf"times {SCALE:g}, $\epsilon = {EPSILON:g}$", scaled_central, SCALE, RIGHT),
]
bars = [(name, a, np.array([in_episode(run, scale, k, a) for k in EPISODES])) for name, run, scale, a in panels]
draw.bonus_by_term(bars, EPISODES, H)

# %%
print("the terms of the last bar      " + "".join(f"{name:>12s}" for name in draw.TERMS))
for name, run, scale, a in panels:
    plain = name.replace("$", "").replace("\\", "")
    print(f"{plain:30s} " + "".join(f"{term:12.4f}" for term in in_episode(run, scale, EPISODES[-1], a)))

alone = (sqrt(2 * iota) / H + 4 * sqrt(iota)) ** 2  # without privacy and variance
print(f"\nvisits before the other terms are below H, without privacy:     {alone:12,.0f}")
print(f"visits before the privacy term alone is below H, 20 S E iota:   {20 * S * E * iota:12,.0f}")
print(f"the same at epsilon = 1:                                        {20 * S * EPSILON * E * iota:12,.0f}")
print(
    f"visits of s' before the minimum is below H^2, 1000^2 H S A iota^2: {1000**2 * H * S * A * iota**2:,.0f}"
)

for _, run, _, _ in panels:  # the minimum in the fourth term is H^2 to the end
    assert all(gap(visits, run.E) == H**2 for visits in run.counts[-1].N_sa.sum(axis=-1).flat)
final = {name: run.plans[-1] for name, run, _, _ in panels}
non_private_plan, central_plan = final["literal, non-private"], final[rf"literal, $\epsilon = {EPSILON:g}$"]
assert (central_plan.Q == H).all()  # after 400 episodes nothing has been learned
assert (non_private_plan.Q[0] == H).all() and (non_private_plan.Q[H - 1] < H).any()

# %% [markdown]
# Three lessons:
#
# - **Privacy decides.** At $\epsilon = 300$ the third term needs $\widetilde N > 44{,}926$ at one pair to fall
#   below $H$; at $\epsilon = 1$, 300 times as much. Until then line 9 returns $H$ for every pair:
#   $\widetilde Q = H$ exactly, all actions tie, and the regret is linear.
# - **Without privacy the constants still wait.** The bonus itself falls below $H$ after 321 visits, but
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
def planned(counts, E, scale, Q_before):
    """Lines 4 to 15: Q, V and the policy of an episode."""
    Q, V = np.empty((H, S, A)), np.zeros((H + 1, S))
    for h in reversed(range(H)):
        P, r = private_estimates(counts, h)
        for s, a in product(range(S), range(A)):
            bonus = np.inf  # without a count (D1)
            if counts.N_sa[h, s, a] > 0:
                bonus = scale * four_terms(counts, E, V[h + 1], h, s, a).sum()
            Q[h, s, a] = min(Q_before[h, s, a], H, r[s, a] + P[s, a] @ V[h + 1] + bonus)  # line 9
        V[h] = Q[h].max(axis=-1)  # line 12
    return dp.Plan(Q.argmax(axis=-1), Q, V)  # line 13


for _, run, scale, _ in panels:
    Q = np.full((H, S, A), float(H))
    for plan, counts in zip(run.plans, run.counts, strict=True):
        ours = planned(counts, run.E, scale, Q)
        assert np.allclose(ours.Q, plan.Q) and np.allclose(ours.V, plan.V)  # the package plans the same
        assert (plan.Q <= Q).all() and np.array_equal(plan.pi, plan.Q.argmax(axis=-1))
        Q = plan.Q
for run in (literal_non_private, literal_central):
    assert all((plan.Q >= Q_star).all() for plan in run.plans)  # optimism with the constants of the paper
for name, run in (("non-private", scaled_non_private), ("Central", scaled_central)):
    share = (run.plans[-1].Q >= Q_star).mean()
    print(f"scaled, {name}: the last Q is at least Q* at {share:.0%} of all (h, s, a)")
    assert share == 1
Q_last = {
    rf"bonus times {SCALE:g}, $\epsilon = {EPSILON:g}$": scaled_central.plans[-1].Q,
    f"bonus times {SCALE_NON_PRIVATE:g}, non-private": scaled_non_private.plans[-1].Q,
}
draw.optimistic_values(Q_star, Q_last, rf"literal, $\epsilon = {EPSILON:g}$")

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
arms = {
    rf"$\epsilon = {EPSILON:g}$, bonus as printed": (EPSILON, 1.0),
    rf"$\epsilon = {EPSILON:g}$, bonus times {SCALE:g}": (EPSILON, SCALE),
    rf"$\epsilon = 1000$, bonus times {SCALE:g}": (1000.0, SCALE),
    rf"$\epsilon = 3000$, bonus times {SCALE:g}": (3000.0, SCALE),
    f"non-private, bonus times {SCALE_NON_PRIVATE:g}": (np.inf, SCALE_NON_PRIVATE),
}
curves = {
    name: np.array([trained(epsilon, scale, seed).regret for seed in SEEDS])
    for name, (epsilon, scale) in arms.items()
}
last = [regret[:, -1].mean() for regret in curves.values()]
print("regret:", ", ".join(f"{value:.1f}" for value in last))
assert last == sorted(last, reverse=True)  # in the order of the list
literal = next(iter(curves.values()))[0]
assert np.allclose(literal, literal[0] * np.arange(1, K + 1))  # literal: the same regret in every episode
draw.regret_curves(curves)

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
# ## Exercises, with solutions
#
# 1. *Set `EPSILON = 30` in sections 3 to 5. Where is $\widetilde P$ nearly uniform, and why exactly there?*
#    $E$ is ten times as large, and every row gets $E/2$ imaginary visits, spread evenly. So $\widetilde P$ is
#    nearly uniform where the true visits are few against $E/2$:

# %%
N_tilde_30 = random_users(30.0)[2][-1]
print(f"E = {dp.Central(30.0).noise_of(problem, H).E:.0f}. In step 3:")
for (s, a), visits in np.ndenumerate(N.N_sa[2]):
    probabilities = private_estimates(N_tilde_30, 2)[0][s, a]
    print(
        f"  (s, a) = ({s}, {['left', 'right'][a]:5s})  {visits:4.0f} visits   P_tilde {probabilities.round(2)}"
    )

# %% [markdown]
# 2. *In section 4, which $\widehat N(s,a)$ makes the LP infeasible, and what does `nearest_minimiser` return
#    then (deviation D7)?* One below $-E/4$: the sum of $x \ge 0$ cannot come near it. It returns 0, the nearest
#    it can do:

# %%
assert nearest_minimiser(np.array([1.0, 2.0]), -4.1, 4.0).tolist() == [0.0, 0.0]
assert not nearest_minimiser(np.array([1.0, 2.0]), -4.0, 4.0).any()  # at the border 0 is the only solution
assert nearest_minimiser(np.array([1.0, 2.0]), -3.0, 4.0).sum() > 0

# %% [markdown]
# 3. *In section 8, give the non-private curve the factor `SCALE` and more seeds. Which seeds get stuck, and
#    which pairs $(h,s,a)$ have $\widetilde Q < Q^\star$ in them?*

# %%
stuck = {}
for seed in range(6):
    run = trained(np.inf, SCALE, seed)
    plans, regret = run.plans, run.regret
    per_episode = (regret[-1] - regret[-101]) / 100
    below = [f"({h + 1}, {s}{draw.ARROW[a]})" for h, s, a in np.argwhere(plans[-1].Q < Q_star - 1e-9)]
    print(f"seed {seed}: regret {regret[-1]:6.1f}, {per_episode:.3f} in each of the last 100 episodes")
    print(f"        too low: {' '.join(below)}")
    stuck[seed] = per_episode > 0.3
assert [seed for seed in stuck if stuck[seed]] == [3]

# %% [markdown]
#    Seed 3: to the end it loses a third of a reward in every episode. $\widetilde Q$ is too low at $(1, 0→)$ in
#    every seed, also in those that learn: optimism makes sure that the best action is tried again, and without
#    it this is left to luck.
#
# 4. *The tree has $L = \lceil\log_2 K\rceil$ levels. Which $K$ would need one more if the counts after the
#    last user were released too (deviation D4)?* The powers of two: $K$ releases need
#    $\lceil\log_2(K+1)\rceil$ levels.

# %%
print([users for users in range(2, 600) if levels(users + 1) > levels(users)])
