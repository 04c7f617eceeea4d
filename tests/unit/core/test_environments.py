"""The environments are the published ones, at any size, and a user's file is read or refused in one line."""

from itertools import product

import numpy as np
import pytest

from dpucbvi import (
    alternating_river,
    chain,
    describe,
    drifting_river,
    flipping_river,
    from_file,
    garnet,
    grid_world,
    hard_tree,
    hidden_shortcut,
    optimal_values,
    policy_values,
    random_mdp,
    riverswim,
    six_arms,
)
from dpucbvi.environments import LEFT, RIGHT


def test_chowdhury_zhou_has_the_published_optimal_values():
    """V*_1 of every state at H = 20, as printed to four decimals."""
    V = optimal_values(riverswim())[0][0]
    assert V == pytest.approx([3.3973, 4.0527, 5.3019, 6.6784, 8.0940, 9.5214], abs=5e-5)


def test_roles_change_at_the_named_steps():
    """Renaming the actions of the steps that are exchanged gives RiverSwim back."""
    river = riverswim()
    for mdp, steps in (
        (flipping_river(at=7), range(7, 20)),
        (alternating_river(every=6), [*range(6, 12), *range(18, 20)]),
    ):
        for h in range(20):
            order = [RIGHT, LEFT] if h in steps else [LEFT, RIGHT]
            assert np.array_equal(mdp.P[h][:, order], river.P[h])
            assert np.array_equal(mdp.r[h][:, order], river.r[h])
        assert not mdp.stationary
        assert optimal_values(mdp)[0][0] == pytest.approx(optimal_values(river)[0][0])


def test_the_current_grows_inside_the_river():
    mdp, river = drifting_river(H=11, drift=0.1), riverswim(H=11)
    for h in range(11):
        assert mdp.P[h, 3, RIGHT] == pytest.approx([0, 0, 0.05 + h / 100, 0.6, 0.35 - h / 100, 0])
    assert np.array_equal(mdp.P[:, [0, 5]], river.P[:, [0, 5]])
    assert np.array_equal(mdp.P[:, :, LEFT], river.P[:, :, LEFT])


def test_one_entry_is_hidden():
    """All but one row is RiverSwim's, and who plans with the mean over the steps does not find it."""
    mdp, river = hidden_shortcut(), riverswim()
    different = np.argwhere((mdp.P != river.P).any(axis=-1))
    assert different.tolist() == [[8, 1, LEFT]]
    assert mdp.P[8, 1, LEFT].tolist() == [0, 0, 0, 0, 0, 1]
    told = describe(mdp)
    assert told.optimal == pytest.approx(5.17, abs=0.005)
    assert told.blurred < describe(river).optimal < told.optimal


def test_strehl_littman_table():
    mdp = riverswim(variant="strehl_littman")
    right = np.array(
        [
            [0.7, 0.3, 0, 0, 0, 0],
            [0.1, 0.6, 0.3, 0, 0, 0],
            [0, 0.1, 0.6, 0.3, 0, 0],
            [0, 0, 0.1, 0.6, 0.3, 0],
            [0, 0, 0, 0.1, 0.6, 0.3],
            [0, 0, 0, 0, 0.7, 0.3],
        ]
    )
    assert np.array_equal(mdp.P[7, :, RIGHT], right)
    assert np.array_equal(mdp.P[7, :, LEFT], riverswim().P[0, :, LEFT])
    assert mdp.r[7, 0, LEFT] * 10_000 == pytest.approx(5)
    assert mdp.r[7, 5, RIGHT] * 10_000 == 10_000
    assert np.count_nonzero(mdp.r[7]) == 2
    assert mdp.initial.tolist() == [0, 0.5, 0.5, 0, 0, 0]


@pytest.mark.parametrize(
    ("S", "A", "H", "branching"), [(6, 2, 20, 3), (5, 3, 4, 1), (4, 2, 3, 4), (1, 1, 1, 1)]
)
def test_a_garnet_leads_from_a_pair_to_so_many_states(S, A, H, branching):
    mdp = garnet(S, A, H, branching, seed=3)
    assert mdp.P.shape == (H, S, A, S) and mdp.r.shape == (H, S, A) and mdp.stationary
    assert (np.count_nonzero(mdp.P, axis=3) == branching).all()
    assert mdp.P.sum(axis=3) == pytest.approx(np.ones((H, S, A)), abs=1e-15)
    assert ((mdp.r > 0) & (mdp.r < 1)).all()
    assert mdp.initial.tolist() == np.eye(S)[0].tolist()
    assert (mdp.P == mdp.P[:1]).all() and (mdp.r == mdp.r[:1]).all()


@pytest.mark.parametrize(("depth", "A", "H"), [(1, 2, 4), (1, 2, 9), (2, 2, 9), (1, 3, 6), (2, 3, 12)])
def test_one_triple_of_the_hard_tree_is_better_than_all_others(depth, A, H):
    """Of all (moment of entry, path to a leaf, last action) one earns 1/2 + gap of what the last part pays, all
    others one half."""
    mdp = hard_tree(depth, A, H, gap=0.25)
    waiting = max(1, H // 3)
    paid = H - (waiting + depth + 1)
    values = []
    for entry in range(waiting):
        for actions in product(range(A), repeat=depth + 1):
            pi = np.zeros((H, mdp.S), dtype=int)
            pi[entry:, 0] = 1
            node = 1
            for level, a in enumerate(actions):
                pi[entry + 1 + level, node] = a
                node = A * (node - 1) + 2 + a
            values.append(policy_values(mdp, pi)[0, 0])
    assert len(values) == waiting * A ** (depth + 1)
    assert sorted(values)[:-1] == pytest.approx([0.5 * paid] * (len(values) - 1))
    assert max(values) == pytest.approx(0.75 * paid) == optimal_values(mdp)[0][0, 0]


def test_a_file_gives_back_the_mdp_that_was_saved(tmp_path):
    mdp = random_mdp(S=3, A=2, H=4, seed=1)
    path = tmp_path / "mine.npz"
    np.savez(path, P=mdp.P, r=mdp.r, initial=mdp.initial)
    read = from_file(str(path), rewards="bernoulli")
    assert read.name == "mine" and read.rewards == "bernoulli"
    for key in ("P", "r", "initial"):
        assert np.array_equal(getattr(read, key), getattr(mdp, key))


# --- the chain, the six arms, the grid ------------------------------------------------------------------------


def test_the_chain_table():
    mdp = chain()
    assert (mdp.S, mdp.A, mdp.H) == (5, 2, 20) and mdp.stationary
    assert mdp.P[3, 1].tolist() == [[0.2, 0, 0.8, 0, 0], [0.8, 0, 0.2, 0, 0]]
    assert mdp.P[3, 4].tolist() == [[0.2, 0, 0, 0, 0.8], [0.8, 0, 0, 0, 0.2]]
    # 10 for staying at the end, 2 for going back, the other one happening with probability 0.2; a tenth of it
    np.testing.assert_allclose(10 * mdp.r[0, 4], [0.8 * 10 + 0.2 * 2, 0.2 * 10 + 0.8 * 2])
    np.testing.assert_allclose(10 * mdp.r[0, :4], [[0.2 * 2, 0.8 * 2]] * 4)


def test_the_chain_has_the_published_best_average():
    """Always going on is best, with an average reward of 3.677 a step (Strens, 2000: 3677 in 1,000 steps)."""
    V = optimal_values(chain(H=2000))[0][:, 0]
    assert 10 * (V[0] - V[1000]) / 1000 == pytest.approx(3.677, abs=5e-4)


def test_the_six_arms_table():
    mdp = six_arms(H=2)
    assert (mdp.S, mdp.A) == (7, 6) and mdp.stationary
    assert [mdp.P[0, 0, a, a + 1] for a in range(6)] == [1, 0.15, 0.1, 0.05, 0.03, 0.01]
    np.testing.assert_allclose(mdp.P[0, 0, :, 0], [0, 0.85, 0.9, 0.95, 0.97, 0.99])
    assert [round(6000 * mdp.r[0, s].max()) for s in range(7)] == [0, 50, 133, 300, 800, 1660, 6000]
    stays = [[a for a in range(6) if mdp.P[0, s, a, s] == 1] for s in range(1, 7)]
    assert stays == [[0, 1, 2, 3, 5], [1], [2], [3], [4], [5]]
    np.testing.assert_array_equal(mdp.r[0, 1:] > 0, mdp.P[0, np.arange(1, 7), :, np.arange(1, 7)] == 1)


def test_the_grid_moves_as_in_the_book():
    """0.8 ahead and 0.1 to each side; against a wall one stays."""
    mdp = grid_world(rows=2, columns=3)
    up, right, _, left = range(4)
    assert mdp.S == 6 and mdp.initial[0] == 1
    np.testing.assert_allclose(mdp.P[0, 0, right], [0.1, 0.8, 0, 0.1, 0, 0])  # the wall above, and down
    np.testing.assert_allclose(mdp.P[0, 4, up], [0, 0.8, 0, 0.1, 0, 0.1])
    np.testing.assert_allclose(mdp.P[0, 3, left], [0.1, 0, 0, 0.9, 0, 0])
    assert (mdp.P[0, 5, :, 5] == 1).all() and mdp.r[0].sum() == mdp.r[0, 5].sum() == 4
    straight = grid_world(rows=1, columns=4, H=10, slip=0.0)
    assert optimal_values(straight)[0][0, 0] == 10 - 3
