"""A small clinic for tests: sessions, their users, what strangers send, and a process to be killed."""

import json
import math
import os
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

import dpucbvi as dp
from dpucbvi.mdp import rollout, uniforms_per_episode

H, S, A = 4, 3, 2
BATCH = 7
MDP = dp.riverswim(S=S, H=H)
AGENT = dp.DPUCBVI(bonus_scale=1e-4)
PRIVATIZERS = {
    "batches": dp.Batches(5.0, first=20, noise="exact"),
    "gaussian batches": dp.Batches(5.0, delta=1e-6, first=20, noise="exact"),
    "windows": dp.Windows(5.0, first=100, pooled=200, noise="exact"),
    "gaussian windows": dp.Windows(5.0, delta=1e-6, first=100, pooled=200, noise="exact"),
    "central": dp.Central(5.0, every=3, noise="exact"),
    "kary": dp.KaryTree(5.0, every=3, noise="exact"),
    "one question": dp.OneQuestion(3.0, first=20, noise="exact"),
}


def session(folder, name, K=200, **settings):
    return dp.Session(folder, H=H, S=S, A=A, K=K, agent=AGENT, privatizer=PRIVATIZERS[name], **settings)


def follow(visit, k):
    """What user k does who follows the policy of her visit."""
    return rollout(MDP, visit.policy, np.random.default_rng(k).random(uniforms_per_episode(H)))


def message(ses, visit, k, folder):
    """What she sends: her trajectory, or in the local model what her device says."""
    if visit.question is None:
        return tuple(follow(visit, k))
    client = dp.Client(Path(folder) / f"{visit.ticket[:20]}.json", session=ses.id, epsilon=3.0, H=H, S=S, A=A)
    return (client.answer(visit.question, *follow(visit, k)),)


def serve(ses, folder, until):
    while ses.places < until:
        visit = ses.issue()
        ses.record(visit.ticket, *message(ses, visit, visit.place, folder))


def serve_and_tell(folder, K, begun):
    """Serve, and write down every ticket that was issued and every one whose record returned."""
    ses = dp.Session.open(folder)
    with open(f"{folder}.told", "a", buffering=1) as told:
        begun.send("begun")
        while ses.places < K:
            visit = ses.issue()
            told.write(json.dumps(["issued", visit.place]) + "\n")
            at = (visit.place - 1) % BATCH  # everybody of a batch stays in a state of her own
            ses.record(visit.ticket, [at] * (H + 1), visit.policy[:, at].tolist(), [1.0] * H)
            told.write(json.dumps(["recorded", visit.place]) + "\n")
    ses.close()


def ended(calls):
    """How processes end, forked one after another, in which each makes its call: 0, or 7 if it is refused."""
    children = []
    for call in calls:
        child = os.fork()
        if child == 0:
            try:
                call()
                os._exit(0)
            except dp.InputError:
                os._exit(7)
            finally:
                os._exit(1)
        children.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


# --- what strangers send: trajectories as they should be, and anything else -----------------------------------

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.just(1j),
    st.just(np.int64(1)),
    st.just(np.float32(0.25)),
    st.just(math.nan),
)
STATES, ACTIONS = st.integers(0, S - 1), st.integers(0, A - 1)
REWARDS = st.one_of(st.floats(0.0, 1.0), st.sampled_from([-1, 50, 1e300, math.inf, math.nan, True]))


def lists(good, most):
    """Mostly readable, of any length up to far beyond H; sometimes with something odd among them."""
    return st.one_of(st.lists(good, max_size=most), st.lists(st.one_of(good, ODD), max_size=most))


def arrays(values):
    return values.map(lambda found: np.array(found, dtype=object) if found else np.zeros(0))


MESSAGES = st.tuples(
    *(
        st.one_of(lists(good, 3 * H + 1), lists(good, 3 * H + 1).map(tuple), arrays(lists(good, 3 * H)), ODD)
        for good in (STATES, ACTIONS, REWARDS)
    )
)
