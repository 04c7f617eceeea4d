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
# # Be the attacker
#
# Differential privacy is a promise about a game. You are the attacker: you know every user but one, you see
# what the mechanism gives away, and you guess which of two people she was. The promise says how well the
# best attacker can do. This notebook plays the game for joint DP and for local DP, lets `dp.audit` play it,
# and ends with two mechanisms that break their promise and are caught.

# %%
try:
    import dpucbvi as dp
except ModuleNotFoundError as missing:
    raise SystemExit("run `pip install '.[paper,notebooks]'` in a copy of the repository first") from missing

# %%
import numpy as np
import pictures.attacker as draw

# %% [markdown]
# ## 1. The game for joint DP
#
# A server releases one count with $\mathrm{Lap}(1/\epsilon)$. The others add a number that you know, so you
# subtract it. What is left is noise if the user was not there, and $1 +$ noise if she was. Nobody guesses
# better than by the likelihood ratio: say "there" if the release is nearer to 1 than to 0.

# %%
epsilon, rounds = 1.0, 20_000
rng = np.random.default_rng(0)
absent, present = rng.laplace(0.0, 1.0 / epsilon, rounds), 1.0 + rng.laplace(0.0, 1.0 / epsilon, rounds)
right, wrong = np.mean(present > 0.5), np.mean(absent > 0.5)
print(f"says 'there' in {right:.1%} of the rounds where she was, and in {wrong:.1%} where she was not")
draw.two_worlds(absent, present, 0.5, epsilon)

# %% [markdown]
# The promise is that no event is more than $e^\epsilon$ times as likely in one world as in the other. So
# every event gives you a lower bound: $\epsilon \ge \log(\text{right}/\text{wrong})$. A guess at 0.5 proves
# little. A bolder threshold, which says "there" more rarely, proves more, and above 1 the ratio is exactly
# $e^\epsilon$.

# %%
for threshold in (0.5, 0.75, 1.0, 1.5):
    right, wrong = np.mean(present > threshold), np.mean(absent > threshold)
    at_least = np.log(right / wrong)
    print(f"from {threshold:4.2f} on: right {right:.3f}, wrong {wrong:.3f}, so ε is at least {at_least:.2f}")
assert abs(at_least - epsilon) < 0.1

# %% [markdown]
# These numbers have an error of their own: 20,000 rounds are not infinitely many. `dp.audit` therefore
# chooses the event on some rounds and bounds the two probabilities on others, so that its $\epsilon$ is too
# large with probability $10^{-9}$ at most.
#
# ## 2. The game for local DP
#
# Now nobody is trusted, and you see what each user sends. `dp.OneQuestion` asks one question with $d$
# possible answers. She tells the truth with probability $p = e^\epsilon/(e^\epsilon + d - 1)$ and gives
# each other answer with $q = 1/(e^\epsilon + d - 1)$. You see the answer "state 3". Was she in state 3?

# %%
S, budget = 6, 2.0
answers = S + 1  # one of S next states, or "I was never there"
p, q = np.exp(budget) / (np.exp(budget) + answers - 1), 1.0 / (np.exp(budget) + answers - 1)
print(f"truth {p:.3f}, every other answer {q:.3f}, ratio {p / q:.3f} = e^{budget:g}")
print(f"if all answers are equally likely beforehand, she was in state 3 with probability {p:.3f}")
assert np.isclose(p / q, np.exp(budget)) and np.isclose(p + (answers - 1) * q, 1.0)

# %% [markdown]
# With $\epsilon = 2$ you would be right more often than not, for this user and this question. That is what
# $\epsilon = 2$ means under local DP. The promise holds with equality: no cleverer reading of the answer
# helps.
#
# ## 3. Let the package play
#
# `dp.audit` replaces and removes users in a small problem. Where it can record all noise it needs no rounds
# at all: it asks how far the noise must move so that no release changes. That distance *is*
# the privacy loss. `trials=0` asks for this replay alone.

# %%
honest = {"Batches": dp.Batches(1.0, first=2, growth=1.0), "Central, the paper's noise": dp.Central(1.0)}
found = {name: dp.audit(privatizer, trials=0) for name, privatizer in honest.items()}
for name, audit in found.items():
    print(f"{name}\n  {audit}\n")
assert not any(audit.caught for audit in found.values())

# %% [markdown]
# Batches lose exactly the $\epsilon = 1$ that they certify for a user who is replaced. Central with the
# paper's noise loses 2 there, and says so: its 1 is for a user who is added or removed.
#
# ## 4. Two mistakes
#
# The first mechanism has the paper's noise, and claims $\epsilon$ for a user who is *replaced*, as Lemma
# 5.1 does. The second forgets that a user enters three families of counters, and gives each of them the
# whole budget.

# %%


class AsPrinted(dp.Central):
    """The paper's noise with the paper's claim."""

    def certificate(self, problem, G):
        return super().certificate(problem, G)._replace(replace_one=self.epsilon)


class NotShared(dp.Batches):
    """Noise for a budget of ε in every family, where there are three."""

    def certificate(self, problem, G):
        claimed = dp.Batches(self.epsilon / 3, first=self.first, growth=self.growth)
        return claimed.certificate(problem, G)


found["the paper's claim"] = dp.audit(AsPrinted(1.0), trials=0)
found["budget not shared"] = dp.audit(NotShared(1.5, first=2, growth=1.0, families="paper"), trials=0)
for name in ("the paper's claim", "budget not shared"):
    print(f"{name}: {found[name].verdict}")
    assert found[name].caught

rows = []
for name, audit in found.items():
    (replaced,) = [one for one in audit.findings if one.attack == "replay" and one.relation == "replace_one"]
    rows.append((name, replaced.declared, replaced.found))
draw.found_and_certified(rows)

# %% [markdown]
# An audit can prove that a certificate is wrong. An audit that finds nothing proves nothing: the mistake may
# lie where it did not look. The proofs are in [PRIVACY.md](../paper/PRIVACY.md); the larger audits, with a
# million rounds, in [audit.md](../paper/results/audit.md).
#
# ## Exercises, with solutions
#
# 1. *You may say "there" in at most 1% of the rounds where she was not. How often are you right at
#    $\epsilon = 1$?* At most $e$ times as often:

# %%
threshold = np.quantile(absent, 0.99)
print(f"right in {np.mean(present > threshold):.1%} of the rounds, at most {0.01 * np.e:.1%}")

# %% [markdown]
# 2. *What must the noise of `AsPrinted` be so that its claim is true?* Twice as large: that is
#    `sensitivity="replace_one"`.

# %%
print(dp.audit(dp.Central(1.0, sensitivity="replace_one"), trials=0).verdict)
