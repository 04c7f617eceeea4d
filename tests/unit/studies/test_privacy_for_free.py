"""What the figures of the long runs say is true of the runs they draw."""

import numpy as np
import pytest

from dpucbvi.drawing.horizon import draw_horizon, scalings
from dpucbvi.drawing.literal import check_engines_agree, check_literal, draw_literal, learned
from dpucbvi.drawing.literal_learns import draw_literal_learns, per_episode
from dpucbvi.drawing.privacy_for_free import costs, draw_privacy_for_free, episodes_until_free
from dpucbvi.store import StoredArm, StoredExperiment, StoredRun
from dpucbvi.trace import Trace

MODELS = {"non_private": "none", "central": "JDP", "local": "LDP"}


def stored(seed=0, power=0.5, model="central", epsilon=1.0, agent="dp_ucbvi", K=10_000, H=4, Q=None, scale=1.0):
    """A run whose regret is (seed + 1) k^power."""
    privatizer = {"name": model} | ({} if model == "non_private" else {"epsilon": epsilon})
    config = {
        "env": {"name": "riverswim", "S": 2, "H": H},
        "agent": {"name": agent, "pooled": False},
        "privatizer": privatizer,
        "bonus": {"scale": scale},
        "confidence": {"scale": scale},
        "K": K,
        "beta": 0.05,
        "seed": seed,
    }
    episodes = np.unique(np.geomspace(1, K, 200).astype(np.int64))
    zeros = np.zeros_like(episodes)
    Q = np.full((H, 2, 2), float(H)) if Q is None else Q
    trace = Trace(episodes, (seed + 1) * episodes**power, zeros, zeros, np.zeros((H, 2, 2)), Q, {})
    values = dict.fromkeys(("add_remove", "replace_one"), None if model == "non_private" else epsilon)
    return StoredRun(config, {"certificate": {"model": MODELS[model], **values}}, trace)


def arm(of, panel=None, point=None, runs=2, **settings) -> StoredArm:
    point = point or {}
    key = "@".join([of, *(f"{name}={value}" for name, value in point.items())])
    return StoredArm(key, of, point, of, None, panel, [stored(seed, **settings) for seed in range(runs)])


def experiment(*arms: StoredArm) -> StoredExperiment:
    return StoredExperiment("name", {}, list(arms))


def texts(axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


LONG = [
    arm(name, "counts per step", {"K": K}, model=model, power=power, K=K, epsilon=10.0, H=20)
    for name, model, power in (("ucbvi", "non_private", 0.0), ("jdp", "central", 0.1), ("ldp", "local", 0.5))
    for K in (1000, 4000, 16_000)
]


def test_the_cost_is_beyond_the_same_seed_at_the_same_K():
    jdp, ldp = costs(LONG)
    np.testing.assert_array_equal(jdp.episodes, [1000, 4000, 16_000])
    for seed in range(2):
        np.testing.assert_allclose(ldp.excess[seed], (seed + 1) * (np.sqrt(ldp.episodes) - 1))


def test_unpaired_seeds_are_refused():
    other = LONG[0]._replace(
        runs=[stored(7, model="non_private", K=1000), stored(8, model="non_private", K=1000)]
    )
    with pytest.raises(AssertionError):
        costs([other, *LONG[1:]])


def test_the_slope_of_the_cost_is_written_beside_it():
    left, right = draw_privacy_for_free(experiment(*LONG)).axes
    wanted = np.log((126.49110640673518 - 1) / (63.245553203367585 - 1)) / np.log(4)
    assert f"slope {wanted:.2f} ± 0.00" in texts(right)
    assert {"ucbvi", "JDP ε = 10", "LDP ε = 10"} <= set(texts(left))


def test_the_threshold_is_the_papers():
    K = episodes_until_free(10.0, S=6, A=2, H=20)
    assert 6**1.5 * 2**0.5 * 20**2 / np.sqrt(K * 20) == pytest.approx(10.0)


def test_learned_counts_what_left_its_limit():
    Q = np.full((4, 2, 2), 4.0)
    Q[3, 0] = 1.0
    np.testing.assert_array_equal(learned(arm("a", Q=Q)), [0, 0, 0, 0.5])
    cut = np.tile(np.arange(4, 0, -1.0)[:, None, None], (1, 2, 2))
    assert not learned(arm("a", agent="private_ucb_vi", Q=cut)).any()


def test_a_scaled_arm_is_not_literal():
    with pytest.raises(AssertionError, match="scaled"):
        check_literal(experiment(arm("a", scale=0.5)))


def test_exact_arms_that_differ_are_refused():
    same = arm("a", "exact"), arm("b", "exact")
    check_engines_agree(experiment(*same, arm("c", power=1.0)))
    with pytest.raises(AssertionError, match="another regret"):
        check_engines_agree(experiment(*same, arm("c", "exact", power=1.0)))


def test_the_literal_figure_says_where_nothing_was_learned():
    Q = np.full((4, 2, 2), 4.0)
    Q[3] = 1.0
    left, _ = draw_literal(experiment(arm("a", Q=Q), arm("b"), arm("c", "exact"))).axes
    assert texts(left) == ["all", "none, at any step"]


def test_regret_per_episode():
    k = np.arange(1.0, 1001.0)
    at, rate = per_episode(k, np.array([3 * k, k**2]), 10.0)
    np.testing.assert_allclose(rate[0], 3.0)
    np.testing.assert_allclose(rate[1], 2 * at, rtol=0.05)


def test_a_linear_and_a_flattening_curve_are_told_apart():
    curves = arm("a", power=1.0), arm("b", model="non_private", power=0.1)
    _, right = draw_literal_learns(experiment(*curves)).axes
    assert {"slope 1.00 ± 0.00", "slope 0.10 ± 0.00"} <= set(texts(right))


HORIZONS = [
    arm(of, "river", {"env.H": H}, agent=agent, model=model, epsilon=5.0, H=H, K=H**2, power=1.0)
    for of, agent, model in (("x", "ucbvi_bf", "non_private"), ("y", "dp_ucbvi", "central"))
    for H in (10, 5, 20)
]


def test_horizons_are_gathered_in_order_and_fitted():
    first, _ = scalings(HORIZONS)
    np.testing.assert_array_equal(first.H, [5, 10, 20])
    np.testing.assert_allclose(first.regret, [[25, 100, 400], [50, 200, 800]])
    (axes,) = draw_horizon(experiment(*HORIZONS)).axes
    assert texts(axes).count("exponent 2.00 ± 0.00") == 2
