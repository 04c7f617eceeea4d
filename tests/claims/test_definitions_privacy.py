"""Definitions 2.1-2.3 and the certified ε: sensitivity by enumerating every pair of trajectories.

Laplace noise of scale b on a vector that changes by Δ in ℓ1 is exactly (Δ/b)-DP. So the certificate is right if
its Δ is the largest change over all pairs of neighbours; here the largest is found by trying all.
Rewards enter linearly, so their extremes 0 and 1 are enough.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import laplace
from users import Silence

import dpucbvi as dp
from dpucbvi.counts import as_counts, statistics
from dpucbvi.mdp import Trajectory
from dpucbvi.mechanisms.binary import BinaryMechanism, levels
from dpucbvi.privacy.accounting import round_up
from dpucbvi.privacy.certificate import Scales
from dpucbvi.privacy.sensitivity import SENSITIVITY_FACTOR
from dpucbvi.simulate import set_up

SIZES = [(1, 2, 2), (2, 2, 2), (1, 1, 2), (2, 1, 2), (2, 3, 1)]  # (H, S, A)


def all_statistics(H, S, A, G):
    """σ of every trajectory with rewards in {0, 1}, one row each: columns N(s,a), N(s,a,s'), R(s,a)."""
    vectors = []
    for s in product(range(S), repeat=H + 1):
        for a in product(range(A), repeat=H):
            for r in product((0.0, 1.0), repeat=H):
                trajectory = Trajectory(np.array(s), np.array(a), np.array(r))
                counts = as_counts(statistics(trajectory, G, S, A), G, S, A)
                vectors.append(np.concatenate([family.ravel() for family in counts]))
    return np.array(vectors)


def certify(privatizer, scale, H, K=100):
    """What the privatizer certifies if its noise has this scale."""

    class WithScale(privatizer):
        def scales(self, problem, G=1):
            return Scales(scale, scale, scale)

    return WithScale(epsilon=1.0).certificate(dp.Problem(H, 2, 2, K, 0.1), H)


def families(G, S, A):
    """Where N(s,a), N(s,a,s') and R(s,a) sit in a row."""
    n = G * S * A
    return slice(0, n), slice(n, n + n * S), slice(n + n * S, None)


def largest_change(sigma, other):
    """max over all pairs of the ℓ1 distance."""
    return max(float(np.abs(other - row).sum(axis=1).max()) for row in sigma)


@pytest.mark.parametrize("pooled", [False, True], ids=["per step", "pooled"])
@pytest.mark.parametrize(("H", "S", "A"), SIZES)
def test_sensitivity_of_each_family_and_of_all(H, S, A, pooled):
    """H per family if a user is added or removed, 2H if her trajectory is replaced; 3H and 6H in all."""
    G = 1 if pooled else H
    sigma = all_statistics(H, S, A, G)
    nobody = np.zeros((1, sigma.shape[1]))
    for family in families(G, S, A):
        assert largest_change(sigma[:, family], nobody[:, family]) == H
        assert largest_change(sigma[:, family], sigma[:, family]) == 2 * H
    assert largest_change(sigma, nobody) == 3 * H
    assert largest_change(sigma, sigma) == 6 * H


def test_a_known_first_state_and_policy_leave_less_to_hide():
    """The exception that proves the rule: with s_1 fixed and a public deterministic policy N(s,a) of step 1 is
    public, so replacing a trajectory changes it by 2(H-1) only."""
    sigma = all_statistics(2, 2, 1, 2)  # A = 1: the policy decides nothing
    from_0 = sigma[sigma[:, 0] == 1.0]  # N_1(0, 0) = 1
    N_sa = families(2, 2, 1)[0]
    assert largest_change(from_0[:, N_sa], from_0[:, N_sa]) == 2


@pytest.mark.parametrize("pooled", [False, True], ids=["per step", "pooled"])
@pytest.mark.parametrize(("H", "S", "A"), SIZES)
@pytest.mark.parametrize("scale", [0.7, 3.0, 60.0])
def test_local_certificate_is_the_enumerated_change_over_the_scale(H, S, A, pooled, scale):
    sigma = all_statistics(H, S, A, 1 if pooled else H)
    certificate = certify(dp.Local, scale, H)
    assert certificate.model == "LDP"
    b = Fraction(scale)  # exactly the quotient, rounded up to the next double
    assert certificate.add_remove == round_up(Fraction(largest_change(sigma, np.zeros_like(sigma[:1]))) / b)
    assert certificate.replace_one == round_up(Fraction(largest_change(sigma, sigma)) / b)


def test_the_certified_epsilon_is_attained_and_never_exceeded():
    """log of the density ratio of σ + Lap(b): 6H/b at y = σ for the worst pair, not above it elsewhere."""
    H, scale = 2, 3.0
    sigma = all_statistics(H, 2, 2, H)
    epsilon = certify(dp.Local, scale, H).replace_one
    distances = np.abs(sigma[:, None] - sigma[None]).sum(axis=2)
    x, x_other = sigma[list(np.unravel_index(distances.argmax(), distances.shape))]

    def log_ratio(y):
        return (laplace.logpdf(y, x, scale) - laplace.logpdf(y, x_other, scale)).sum(axis=-1)

    assert log_ratio(x) == pytest.approx(epsilon, rel=1e-12)
    y = x + np.random.default_rng(0).laplace(0, scale, size=(10_000, len(x)))
    assert log_ratio(y).max() <= epsilon + 1e-9
    assert log_ratio(y).max() > epsilon / 3  # the sample does look where the ratio is large


def node_sums(items, K):
    """The sums of all blocks that K-1 releases give away: release(t) - release(t without its lowest bit)."""
    tree = BinaryMechanism(items.shape[1], levels(K), 1.0, Silence())
    releases = [np.zeros(items.shape[1])] + [tree.release(item) for item in items]
    return np.array([releases[t] - releases[t & (t - 1)] for t in range(1, K)])


def blocks_with_item(i, K):
    """How many of the dyadic blocks closed by time K-1 hold item i: block t is (t - lowest bit, t]."""
    return sum((t & (t - 1)) < i <= t for t in range(1, K))


def test_no_item_lies_in_more_blocks_than_levels_and_the_first_lies_in_as_many():
    for K in range(2, 140):
        held = [blocks_with_item(i, K) for i in range(1, K)]
        assert max(held) == held[0] == levels(K)


@pytest.mark.parametrize("K", [2, 3, 4, 5, 8, 9, 17])
@pytest.mark.parametrize(("H", "S", "A"), [(1, 2, 2), (2, 2, 2)])
def test_central_certificate_is_the_enumerated_change_of_all_blocks(H, S, A, K):
    """One user replaced (or removed) at every place in turn: the change of all block sums over the scale."""
    sigma = all_statistics(H, S, A, H)
    distances = np.abs(sigma[:, None] - sigma[None]).sum(axis=2)
    i, j = np.unravel_index(distances.argmax(), distances.shape)
    rng = np.random.default_rng(K)
    users = sigma[rng.integers(len(sigma), size=K - 1)]
    replaced, removed = [], []
    for place in range(K - 1):
        one, other, none = users.copy(), users.copy(), users.copy()
        one[place], other[place], none[place] = sigma[i], sigma[j], 0.0
        replaced.append(np.abs(node_sums(one, K) - node_sums(other, K)).sum())
        removed.append(np.abs(node_sums(one, K) - node_sums(none, K)).sum())
    scale = 5.0
    certificate = certify(dp.Central, scale, H, K)
    assert certificate.model == "JDP"
    assert certificate.replace_one == pytest.approx(max(replaced) / scale, rel=1e-12)
    assert certificate.add_remove == pytest.approx(max(removed) / scale, rel=1e-12)


def test_fewer_levels_than_the_tree_has_would_certify_too_little():
    """Control: the printed ln K, and log2 K without rounding up, give noise that does not cover the blocks."""
    H, K, epsilon = 20, 50_000, 1.0
    for log_K in (np.log(K), np.log2(K)):
        assert certify(dp.Central, 3 * H * log_K / epsilon, H, K).add_remove > epsilon
    assert certify(dp.Central, 3 * H * np.log(K), H, K).replace_one == pytest.approx(2.96, abs=0.005)
    assert certify(dp.Central, 3 * H * np.log2(K), H, K).replace_one == pytest.approx(2.05, abs=0.005)


def certificate(privatizer, K=50_000, pooled=False):
    """What a run of DP-UCBVI on RiverSwim certifies."""
    return set_up(dp.riverswim(), dp.DPUCBVI(pooled=pooled), privatizer, K).certificate


@pytest.mark.parametrize("pooled", [False, True], ids=["per step", "pooled"])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 7.0])
@pytest.mark.parametrize(
    ("privatizer", "model"), [(dp.Central, "JDP"), (dp.Local, "LDP")], ids=["central", "local"]
)
def test_a_run_certifies_epsilon_for_the_relation_it_was_calibrated_to(privatizer, model, epsilon, pooled):
    """`paper`: ε if users are added or removed, 2ε if replaced. `replace_one`: ε/2 and ε."""
    paper = certificate(privatizer(epsilon), pooled=pooled)
    assert paper == certificate(privatizer(epsilon, sensitivity="paper"), pooled=pooled)
    assert paper.model == model
    assert (paper.add_remove, paper.replace_one) == pytest.approx((epsilon, 2 * epsilon), rel=1e-12)
    ours = certificate(privatizer(epsilon, sensitivity="replace_one"), pooled=pooled)
    assert (ours.add_remove, ours.replace_one) == pytest.approx((epsilon / 2, epsilon), rel=1e-12)


@pytest.mark.parametrize("K", [2, 3, 64, 65])
def test_a_central_run_certifies_epsilon_at_every_length(K):
    assert certificate(dp.Central(1.0), K).add_remove == pytest.approx(1.0, rel=1e-12)


def test_what_has_no_noise_certifies_nothing_and_what_releases_nothing_everything():
    assert certificate(dp.NonPrivate()) == dp.Certificate("none", np.inf, np.inf)
    assert certify(dp.Local, 0.0, 20).add_remove == certify(dp.Central, 0.0, 20).replace_one == np.inf
    assert certificate(dp.Central(1.0), K=1) == dp.Certificate("JDP", 0.0, 0.0)
    assert certificate(dp.Local(1.0), K=1) == dp.Certificate("LDP", 0.0, 0.0)


def test_sensitivity_names():
    assert {"paper": 1, "replace_one": 2} == SENSITIVITY_FACTOR
    with pytest.raises(KeyError):
        SENSITIVITY_FACTOR["add_remove"]
    for privatizer in (dp.Central, dp.Local):
        with pytest.raises(dp.InputError, match=r"^sensitivity: 'add_remove' is not one of"):
            privatizer(1.0, sensitivity="add_remove")


def test_a_trace_carries_the_certificate_of_its_run_and_says_its_relations():
    """Of the reference; contract/test_engines.py compares the certificates of both engines."""
    run = dp.run(dp.riverswim(4, 5), dp.DPUCBVI(), dp.Central(2.0), K=20, engine="reference")
    assert run.certificate == certificate(dp.Central(2.0))
    assert str(run.certificate) == (
        "JDP: pure ε = 2 if a user is added or removed, 4 if her trajectory is replaced; "
        "simulated with seeded noise"
    )
    nothing = dp.run(dp.riverswim(4, 5), dp.UCBVI(), K=20, engine="reference")
    assert str(nothing.certificate) == "no privacy is certified"
