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
# # Real users
#
# A small clinic: patients come one by one, each follows the policy of the day for four weeks, and what happened
# to her comes back as states, actions and rewards. The policy learns from all of them; what is shown says
# little about any of them. The server is killed in the middle, and goes on. What is promised and what is not
# stands in [docs/real_users.md](../docs/real_users.md).

# %%
try:
    import dpucbvi as dp
except ModuleNotFoundError as missing:
    raise SystemExit("run `pip install '.[paper,notebooks]'` in a copy of the repository first") from missing

# %%
import os
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pictures.real_users as draw

home = tempfile.TemporaryDirectory()
folder = Path(home.name) / "clinic"

# %% [markdown]
# ## 1. A session
#
# Four weeks, three states of health, two treatments, 400 places. The noise must be exact: simulated noise is
# refused. The certificate is known before the first patient comes, and leads with the relation of the paper's
# definitions: what she did is replaced by anything else. It says who is protected from whom, and on which
# assumptions.

# %%
H, S, A, K = 4, 3, 2, 400
try:
    dp.Session(folder, H=H, S=S, A=A, K=K, agent=dp.DPUCBVI(), privatizer=dp.Batches(5))
except dp.InputError as error:
    print(error)

clinic = dp.Session(
    folder,
    H=H,
    S=S,
    A=A,
    K=K,
    agent=dp.DPUCBVI(bonus_scale=1e-3),
    privatizer=dp.Batches(5, first=40, confidence_scale=0.01, noise="exact"),
)
print(clinic.certificate)

# %% [markdown]
# ## 2. Patients
#
# `issue` gives a ticket, a place and the policy to follow, all of it: the clinic does not learn her states by
# being asked for each action. `record` returns a receipt when her data is safely on the disk, or when it cannot
# be read: the receipt does not say which.

# %%
world = dp.riverswim(S=S, H=H)
chance = np.random.default_rng(0)
true = np.zeros((S, A))  # what only a simulation knows


def month(policy):
    """What happens to a patient who follows the policy."""
    s, a, r = [0], [], []
    for h in range(H):
        a.append(int(policy[h, s[-1]]))
        r.append(float(world.r[h, s[-1], a[-1]]))
        true[s[-1], a[-1]] += 1
        s.append(int(chance.choice(S, p=world.P[h, s[-1], a[-1]])))
    return s, a, r


def patients(session, until):
    while session.places < until:
        visit = session.issue()
        session.record(visit.ticket, *month(visit.policy))


patients(clinic, 39)
visit = clinic.issue()
nonsense = clinic.record(visit.ticket, [7, -1], "both", float("nan"))
print(
    nonsense == clinic.record(visit.ticket, *month(visit.policy))
)  # the same receipt; the first message counts
print(clinic.published.number, clinic.places, clinic.left)  # 40 places are settled: one release

# %% [markdown]
# ## 3. Killed, and opened again
#
# Another process may serve the clinic, one at a time. This one is killed in the middle of its work. What was
# recorded is there, no release is made twice, and the policy is the one that was shown.

# %%
clinic.close()
with warnings.catch_warnings():  # newer Pythons warn of threads that a child lacks; this one needs none
    warnings.simplefilter("ignore", DeprecationWarning)
    child = os.fork()
if child == 0:
    patients(dp.Session.open(folder), 130)
    os.kill(os.getpid(), 9)
os.waitpid(child, 0)

clinic = dp.Session.open(folder)
print(clinic.places, clinic.published.number)
patients(clinic, K)
log = Path(f"{folder}.releases").read_text().splitlines()[1:]
print([int(line.split()[0]) for line in log] == list(range(1, clinic.published.number + 1)))

# %% [markdown]
# ## 4. What may be shown
#
# The policy, the released counts and the certificate are made of releases alone. The released counts lag behind
# (the last batch is open, and what the killed process saw is not in our tally of the truth), and have noise.

# %%
print(clinic.policy.shape, clinic.certificate)
draw.released(clinic.published.counts.N_sa.sum(axis=0), true)

# %% [markdown]
# ## Exercises, with solutions
#
# 1. *Restore the folder from a backup that is older than the last release. What happens, and why?* It is
#    refused: the store would release the same patients once more with fresh noise, and two releases cost twice
#    as much. `dp.Session.recover` goes on without what was not released.
# 2. *How many of her data may a patient send?* As much as she likes; at most H steps count.
# 3. *A patient comes a second time. What holds for her?* Twice the ε, as the certificate for two places says.
#    A clinic that expects this says `per_person=2` from the beginning.

# %%
private = dp.Batches(5, first=40, confidence_scale=0.01, noise="exact")
print(dp.certify(private, H=H, S=S, A=A, K=K, per_person=2))

# %%
clinic.delete()
print(sorted(path.name for path in Path(home.name).iterdir()))  # what was released stays public
home.cleanup()
