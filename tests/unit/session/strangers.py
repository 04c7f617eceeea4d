"""What strangers send: trajectories as they should be, and anything else."""

import math

import numpy as np
from hypothesis import strategies as st

H, S, A = 4, 3, 2

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
