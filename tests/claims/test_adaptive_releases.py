"""Users act on policies made from earlier noise: what is released is private all the same (paper/PRIVACY.md).

The proof moves the noise. Whole runs of the reference are played twice: once as they are, once with one user
replaced and the noises that hold her moved by C e_j (σ - σ')/b. Then every release, and with it every policy
and every other user's trajectory, must be the same. How far the noise was moved is the privacy loss: in ℓ1 at
most the certified ε, for Gaussian noise in ℓ2 at most the certified μ.
"""

from contextlib import ExitStack
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
import pytest
from theory import noises, sums
from users import user_of

import dpucbvi as dp
from dpucbvi.counts import FAMILIES, statistics
from dpucbvi.mdp import Trajectory, rollout, uniforms_per_episode
from dpucbvi.privacy.draws import Draws
from dpucbvi.privacy.laplace import LaplaceStream, seed_stream
from dpucbvi.privatizers.noisy_sums import by_counter
from dpucbvi.simulate import private_counts, set_up

K = 14
PAIRS = {"first": 2, "growth": 1.5, "confidence_scale": 1e-3}
SHARP = {"confidence_scale": 1e-3}  # E so small that policies follow the counts
# Privatizer, pooled counts, and settings of the run.
CASES = {
    "central": (dp.Central(30.0, **SHARP), False, {}),
    "central, every 3, zeroed": (dp.Central(30.0, families="tuned", every=3, **SHARP), True, {"zero": 1.0}),
    "central, known support": (dp.Central(30.0, **SHARP), False, {"known_support": True}),
    "kary_tree": (dp.KaryTree(30.0, k=3, **SHARP), False, {}),
    "toeplitz, pooled": (dp.Toeplitz(30.0, **SHARP), True, {}),
    "toeplitz, clip, every 2": (dp.Toeplitz(30.0, clip=2, every=2, **SHARP), True, {}),
    "toeplitz": (dp.Toeplitz(30.0, **SHARP), False, {}),
    "toeplitz, clip": (dp.Toeplitz(30.0, clip=1, **SHARP), True, {}),
    "batches": (dp.Batches(30.0, **PAIRS), False, {}),
    "batches, all cells": (dp.Batches(30.0, policy_cells=False, drop_empty=False, **PAIRS), True, {}),
    "batches, gaussian, clip": (dp.Batches(30.0, delta=1e-6, clip=2, **PAIRS), True, {"zero": 1.0}),
    "batches, known support": (dp.Batches(30.0, **PAIRS), True, {"known_support": True}),
    "local": (dp.Local(30.0, **SHARP), False, {}),
}


class Played(NamedTuple):
    policies: list[np.ndarray]
    users: list[Trajectory]
    released: list[np.ndarray]  # N̂(s,a,s') and R̂(s,a) that every user's policy was made of


def setup_of(name):
    privatizer, pooled, settings = CASES[name]
    mdp = dp.riverswim(S=4, H=3, rewards="bernoulli")
    return set_up(mdp, dp.DPUCBVI(bonus_scale=1e-3, pooled=pooled, cap="steps_left"), privatizer, K, **settings)


def play(setup, seed, replaced=None, moved=None):
    """A run as simulate.episodes has it; `replaced` is (user, trajectory), `moved` is added to the noises."""
    mdp = setup.mdp
    with ExitStack() as stack:
        if moved is not None:
            for kind in (LaplaceStream, Draws):
                stack.enter_context(patch.object(kind, "draw", moving(kind.draw, iter(moved))))
        environment = np.random.default_rng(seed_stream(seed, "environment"))
        private = private_counts(setup, seed)
        algorithm = setup.agent.algorithm(setup.problem, private, setup.constants)
        played, plan = Played([], [], []), next(algorithm)
        for k in range(K):
            private.show(plan.pi)
            user = rollout(mdp, plan.pi, environment.random(uniforms_per_episode(mdp.H)))
            if replaced is not None and k == replaced[0]:
                user = replaced[1]
            played.policies.append(plan.pi.copy())
            played.users.append(user)
            played.released.append(np.append(private.N_hat.N_sas, private.N_hat.R))
            if k + 1 < K:
                plan = algorithm.send(user)
    return played


def moving(draw, rows):
    """Streams draw standard noise, Draws have its scale in them."""
    return lambda source, n: draw(source, n) + getattr(source, "scale", 1.0) * next(rows)


def columns(privatizer, T):
    """C with B C = A, B as theory.py writes it down: how much of an item each noise hides."""
    return np.linalg.solve(noises(privatizer, T), sums(T))


def ends_of(privatizer, problem):
    """After how many users each release comes."""
    if isinstance(privatizer, dp.Batches):
        return privatizer.ends(problem)
    every = getattr(privatizer, "every", 1)
    return np.arange(every, K, every)


def another(setup, pi, rng):
    """A user who follows the policy and else does what she likes."""
    S, H = setup.mdp.S, setup.mdp.H
    s = np.full(H + 1, rng.integers(S)) if rng.random() < 0.5 else rng.integers(S, size=H + 1)
    return Trajectory(s, pi[np.arange(H), s[:-1]], rng.integers(2, size=H).astype(float))


def moved_noise(setup, one, other, j):
    """C e_j (σ - σ')/b for every noise and counter; nothing for a user who is in no release."""
    privatizer, problem, G = setup.privatizer, setup.problem, setup.G
    families, ends = FAMILIES[privatizer.families], ends_of(privatizer, problem)
    sigma = [
        statistics(
            user_of(user, None) if setup.support is None else dp.User(*user, None, setup.support.moves(user)),
            *problem.shape(G)[:3],
            families,
            getattr(privatizer, "clip", None),
            problem.D,
        )[families.released(*problem.shape(G))]
        for user in (one, other)
    ]
    scales = privatizer.scales(problem, G)
    change = (sigma[0] - sigma[1]) / by_counter(scales, privatizer.families, *problem.shape(G))
    C, item = columns(privatizer, len(ends)), int(np.searchsorted(ends, j + 1))
    column = C[:, item] if item < len(ends) else np.zeros(len(C))
    return np.outer(column, change)


def still(setup, pi, state):
    """A user who stays in one state and earns all there is: two of them are as far apart as any in ℓ1."""
    H = setup.mdp.H
    return Trajectory(np.full(H + 1, state), pi[:, state].copy(), np.ones(H))


def worst_place(setup):
    """The first user of the item that is in most noises."""
    ends = ends_of(setup.privatizer, setup.problem)
    item = int(np.abs(columns(setup.privatizer, len(ends))).sum(axis=0).round(9).argmax())
    return int(ends[item - 1]) if item else 0


@pytest.mark.parametrize("name", CASES)
def test_moving_the_noise_hides_a_replaced_user_at_the_certified_price(name):
    setup, noticed, losses = setup_of(name), 0, []
    certificate = setup.certificate
    for seed in range(6):
        rng = np.random.default_rng(seed)
        before, j = play(setup, seed), int(rng.integers(K - 1))
        user = another(setup, before.policies[j], rng)
        if seed == 0:
            j = worst_place(setup)
            before = play(setup, seed, (j, still(setup, before.policies[j], 0)))
            user = still(setup, before.policies[j], setup.mdp.S - 1)
        moved = moved_noise(setup, before.users[j], user, j)
        after, unmoved = play(setup, seed, (j, user), moved), play(setup, seed, (j, user))
        for k in range(K):
            np.testing.assert_array_equal(after.policies[k], before.policies[k])
            np.testing.assert_allclose(after.released[k], before.released[k], atol=1e-8)
            if k != j:
                for mine, hers in zip(after.users[k], before.users[k], strict=True):
                    np.testing.assert_array_equal(mine, hers)
        noticed += not np.allclose(unmoved.released, before.released, atol=1e-8)
        pure = certificate.delta == 0.0
        losses.append(np.abs(moved).sum() if pure else np.linalg.norm(moved))
    most = certificate.replace_one if certificate.delta == 0.0 else certificate.mu_replace_one
    attained = 1 - 1e-9 if certificate.delta == 0.0 else 0.7  # μ² adds up what no pair attains at once
    assert noticed > 0 and attained * most < max(losses) <= most * (1 + 1e-9)


def test_policies_do_depend_on_what_is_released():
    """Control: in these runs a replaced user does change what others are shown, if no noise is moved."""
    changed = 0
    for name in ("central", "batches", "local"):
        setup = setup_of(name)
        for seed in range(6):
            before = play(setup, seed)
            user = another(setup, before.policies[0], np.random.default_rng(seed))
            after = play(setup, seed, (0, user))
            changed += any((a != b).any() for a, b in zip(after.policies, before.policies, strict=True))
    assert changed > 3


def test_noise_that_is_moved_too_little_is_noticed():
    """Control: half of the move, or the move of another user's place, does not hide her."""
    setup = setup_of("kary_tree")
    before = play(setup, 0)
    user = another(setup, before.policies[3], np.random.default_rng(1))
    right = moved_noise(setup, before.users[3], user, 3)
    for wrong in (right / 2, moved_noise(setup, before.users[3], user, 7)):
        after = play(setup, 0, (3, user), wrong)
        assert not np.allclose(after.released, before.released, atol=1e-3)
