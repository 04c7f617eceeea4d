"""Lemma 5.4 and the sensitivity where only possible transitions are counted (dpucbvi/support.py, D35).

As in test_lemma_5_4_postprocessing.py the claim is about every noise within its bounds. Outside the support the
true count is 0, and so is what the algorithm gets.
"""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from private_counts import assumption_3_1, assumption_3_1_holds, reached
from users import NOBODY, Fixed

import dpucbvi as dp
from dpucbvi.confidence import bound_to_E
from dpucbvi.counts import FAMILIES, PrivateCounts, as_counts, counters, statistics
from dpucbvi.mdp import Trajectory
from dpucbvi.projection import closed_form
from dpucbvi.simulate import set_up
from dpucbvi.support import support_of

CHECKED = settings(max_examples=150, deadline=None, derandomize=True, database=None)

COUNTED = [
    name for name in FAMILIES if not FAMILIES[name].joint
]  # symbols: tests/unit/privatizers/test_symbols.py


@st.composite
def instances(draw):
    """A sparse MDP, true counts on its transitions, and noise within ±1 at every counter, often at its ends."""
    S = draw(st.integers(3, 7))
    D = draw(st.integers(1, S - 1))
    mdp = dp.garnet(S, 2, 2, D, draw(st.integers(0, 10**6)))
    G = draw(st.sampled_from([1, 2]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    N_sas = rng.integers(0, draw(st.sampled_from([1, 3, 1000])), (G, S, 2, S)) * (mdp.P[:G] > 0)
    noise = rng.uniform(-1, 1, counters(G, S, 2, D))
    ends = draw(st.sampled_from([0.0, 0.5, 1.0]))
    return mdp, G, N_sas.astype(float), np.where(rng.random(noise.shape) < ends, np.sign(noise), noise)


def through_the_package(mdp, G, N_sas, noise, families, factor=1.0):
    """Ñ and R̃, N and R, E and which s' are counted; no rewards, so R is 0, or -N/2 if it is centred."""
    support = support_of(mdp, G)
    D, (_, S, A) = support.D, mdp.r.shape
    flat = noise.copy()
    noisy, N_sa = as_counts(flat, G, S, A, D), N_sas.sum(axis=-1)
    row = 1.0
    if families.summed:
        noisy.N_sa[:] = 0.0
        row = max(float(np.abs(noisy.N_sas.sum(axis=-1)).max()), 1e-6)
        noisy.R[:] -= N_sa / 2
    else:
        noisy.N_sa[:] += N_sa
    noisy.N_sas[:] += np.take_along_axis(N_sas, support.next, axis=-1)
    E = factor * bound_to_E(D, families.summed, 1.0, row, 1.0)
    private = PrivateCounts(Fixed(flat), closed_form, E, G, S, A, families, support=support)
    true = private.counts._replace(N_sa=N_sa, N_sas=N_sas, R=np.zeros_like(N_sa))
    return private.update(NOBODY), true, E, reached(support)


@pytest.mark.parametrize("name", COUNTED)
def test_noise_within_the_bounds_gives_assumption_3_1(name):
    @CHECKED
    @given(instances())
    def check(instance):
        assert assumption_3_1(*through_the_package(*instance, FAMILIES[name]))

    check()


@pytest.mark.parametrize("name", COUNTED)
def test_a_smaller_e_is_not_enough(name):
    """Control: all noises at -1 and 0.4 of E, so that Ñ(s,a) is below N(s,a)."""
    mdp = dp.garnet(5, 2, 2, 3, 0)
    N_sas = 100.0 * (mdp.P > 0)
    low = -np.ones(counters(2, 5, 2, 3))
    assert assumption_3_1(*through_the_package(mdp, 2, N_sas, low, FAMILIES[name]))
    assert not assumption_3_1(*through_the_package(mdp, 2, N_sas, low, FAMILIES[name], factor=0.4))


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("privatizer", [dp.Central(1.0), dp.Local(1.0), dp.KaryTree(1.0), dp.Toeplitz(1.0)])
def test_assumption_3_1_holds_along_runs(privatizer, pooled):
    """Ten runs; each fails with probability β/3 < 0.01 at most, so a right one fails here in under one of ten;
    by Chernoff's slack in E far more rarely. The seeds are fixed."""
    mdp = dp.garnet(6, 2, 3, 2, 1)
    setup = set_up(mdp, dp.DPUCBVI(pooled=pooled), privatizer, 24, beta=0.02, known_support=True)
    assert all(assumption_3_1_holds(setup, seed) for seed in range(10))


def test_e_and_the_noise_are_not_larger_and_the_certificate_is_the_same():
    mdp = dp.garnet(8, 2, 3, 2, 1)
    for privatizer in (dp.Central(1.0), dp.Local(1.0), dp.KaryTree(1.0), dp.Toeplitz(1.0), dp.Batches(1.0)):
        every, possible = (
            set_up(mdp, dp.DPUCBVI(), privatizer, 200, known_support=known) for known in (False, True)
        )
        assert possible.certificate == every.certificate
        assert possible.noise.scale == every.noise.scale and possible.noise.E < every.noise.E


@CHECKED
@given(st.integers(2, 6), st.integers(1, 3), st.sampled_from([True, False]), st.integers(0, 10**6))
def test_no_user_moves_the_counters_further_than_if_all_were_counted(S, H, pooled, seed):
    """Any two trajectories, also such as the MDP cannot have: privacy does not rest on the declaration."""
    rng = np.random.default_rng(seed)
    mdp = dp.garnet(S, 2, H, int(rng.integers(1, S)), seed)
    G = 1 if pooled else H
    support = support_of(mdp, G)
    sigma = []
    for _ in range(2):
        user = Trajectory(rng.integers(S, size=H + 1), rng.integers(2, size=H), rng.random(H))
        counted = dp.User(*user, None, support.moves(user))
        sigma.append([statistics(user, G, S, 2), statistics(counted, G, S, 2, D=support.D)])
    (dense, sparse), (other_dense, other_sparse) = sigma
    change, most = np.abs(sparse - other_sparse), np.abs(dense - other_dense)
    assert change.sum() <= most.sum() + 1e-9
    assert sparse.sum() == pytest.approx(dense.sum())  # nothing is lost
    cells = as_counts(sparse, G, S, 2, support.D)
    assert (cells.N_sas.sum(axis=-1) == cells.N_sa).all()
    assert (cells.N_sas**2).sum() <= (H if G > 1 else H * H)  # the V of sensitivity.py
