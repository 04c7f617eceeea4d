"""The constants as printed: every cell is what the runs have learned, every range what the bonus needs."""

from functools import cache

import numpy as np
import pytest
from drawn import across, cells, is_log, lines, said, texts_at, ticks
from made_up import RIVER, stored_arm, stored_experiment
from mutants import test_no_falsified_figure_passes  # noqa: F401  (they run here)

from dpucbvi.bonus import bernstein_terms, next_value_gap
from dpucbvi.protocol import Setup
from experiments.lab.assemble import assemble
from experiments.lab.settings import run_settings
from experiments.lab.store import StoredExperiment
from experiments.studies.literal import (
    STUDY,
    check_engines_agree,
    check_literal,
    episodes_needed,
    least_bonus,
    with_episodes,
)
from experiments.studies.shared.style import PRIVACY

H, S = 4, 2
ENV = {**RIVER, "S": S, "H": H}


def Q(below: dict[int, int], most: np.ndarray | None = None) -> np.ndarray:
    """At its greatest value but for so many of the four pairs (s,a) at the given steps."""
    most = np.full(H, float(H)) if most is None else most
    made = np.tile(most[:, None], (1, S * 2))
    for h, pairs in below.items():
        made[h, :pairs] -= 0.5
    return made.reshape(H, S, 2)


LEARNED = {  # per step, by the name of the row
    "UCBVI, not private": {1: 1, 2: 2, 3: 4},
    "DP-UCBVI, JDP ε = 2": {3: 3},
    "DP-UCBVI, LDP ε = 0.5": {},
    "Private-UCB-VI, JDP ε = 1": {2: 1, 3: 2},
}


def experiment(**exact) -> StoredExperiment:
    ends = {"env": ENV, "K": 3000, "runs": 2}
    remaining = np.arange(H, 0, -1.0)
    first, second, third, fourth = LEARNED.values()
    arms = [
        stored_arm("a", 5.0, label="UCBVI", agent="ucbvi_bf", model="non_private", Q=Q(first), **ends),
        stored_arm("b", 6.0, label="DP-UCBVI", epsilon=2.0, Q=Q(second), **ends),
        stored_arm("c", 7.0, label="DP-UCBVI", model="local", epsilon=0.5, Q=Q(third), **ends),
        stored_arm("d", 8.0, label="Private-UCB-VI", agent="private_ucb_vi", Q=Q(fourth, remaining), **ends),
        stored_arm("e", 9.0, label="exact", panel="exact", env=ENV, K=40, runs=2),
        stored_arm(
            "f", exact.get("regret", 9.0), label="short", panel="exact", env=ENV, K=40, runs=2, Q=exact.get("Q")
        ),
    ]
    return stored_experiment("literal", arms)


@pytest.fixture(scope="module")
def figure():
    return STUDY.draw(experiment())


def test_every_cell_is_the_share_that_was_learned(figure):
    axes = figure.axes[0]
    _, names = ticks(axes)
    assert [names[row] for row in range(4)] == list(LEARNED)
    shown = {(names[y], x): value for (x, y), value in cells(axes).items()}
    wanted = {(name, h + 1): of.get(h, 0) / 4 for name, of in LEARNED.items() for h in range(H)}
    assert shown == pytest.approx(wanted)
    written = {(names[y], x): text for (x, y), text in texts_at(axes).items()}
    assert written == {
        ("UCBVI, not private", 1): "$h\\geq2$",
        ("UCBVI, not private", H + 0.3): "100%",
        ("DP-UCBVI, JDP ε = 2", 1): "$h\\geq4$",
        ("DP-UCBVI, JDP ε = 2", H + 0.3): "75%",
        ("DP-UCBVI, LDP ε = 0.5", H / 2 + 0.5): "none, at any step",
        ("Private-UCB-VI, JDP ε = 1", 1): "$h\\geq3$",
        ("Private-UCB-VI, JDP ε = 1", H + 0.3): "50%",
    }
    assert (
        axes.get_title("right").endswith("at $K$ = 3,000")
        and "K = 3,000" in said(figure).split("at $K$ = 3,000")[1]
    )


@cache
def needed(pooled: bool, model: str, epsilon: float, level: float) -> int | None:
    return episodes_needed(literal_of(model, epsilon, pooled, ENV), level)


def test_every_range_is_what_the_bonus_needs(figure):
    axes = figure.axes[1]
    assert is_log(axes) == (True, False) and is_log(figure.axes[0]) == (False, False)
    _, names = ticks(axes)
    rows = [("non_private", 1.0), *((model, e) for model in ("central", "local") for e in (1.0, 10.0, 100.0))]
    said_there = ["not private", *(f"{model} ε = {e}" for model in ("JDP", "LDP") for e in (1, 10, 100))]
    assert [names[row] for row in range(7)] == said_there
    marks = {(round(float(m.y[0]), 3), m.marker): m for m in lines(axes) if len(m.x) == 1}
    assert len(marks) == 7 * 2 * 2
    for row, (model, epsilon) in enumerate(rows):
        for pooled, shift in ((False, -0.17), (True, 0.17)):
            for marker, level in (("o", H), ("D", H / 10)):
                mark = marks[round(row + shift, 3), marker]
                assert mark.x[0] == needed(pooled, model, epsilon, level)
                assert mark.filled != pooled
                assert (
                    mark.colour
                    == PRIVACY[{"non_private": "none", "central": "JDP", "local": "LDP"}[model]].lower()
                )
    joined = sorted((float(line.y[0]), *line.x) for line in lines(axes, 2) if len(set(line.y)) == 1)
    both = sorted((y, marks[y, "o"].x[0], marks[y, "D"].x[0]) for y, marker in marks if marker == "o")
    np.testing.assert_allclose(joined, both, atol=1e-6)
    assert across(axes)["x"] == [3000.0]
    hues = {round(float(line.y[0]), 3): line.colour for line in lines(axes, 2)}
    assert hues == {y: marks[y, "o"].colour for y, marker in marks if marker == "o"}
    assert axes.get_title("left") == "bonus below $H$ (●) and $H/10$ (◆)"


def test_exact_arms_that_differ_are_refused():
    check_engines_agree(experiment())
    with pytest.raises(AssertionError, match="another regret"):
        STUDY.draw(experiment(regret=9.5))
    with pytest.raises(AssertionError, match="another Q"):
        STUDY.draw(experiment(Q=Q({0: 1})))


# --- the least K at which the literal bonus is below a level: against brute force -----------------------------


SMALL = {"name": "riverswim", "S": 2, "H": 2}


def literal_of(model="central", epsilon=1.0, pooled=False, env=SMALL) -> Setup:
    private = {} if model == "non_private" else {"epsilon": epsilon}
    agent, privatizer = {"name": "dp_ucbvi", "pooled": pooled}, {"name": model, **private}
    return assemble(run_settings({"env": env, "agent": agent, "privatizer": privatizer}))


def with_factors(model: str) -> Setup:
    factors = {"bonus": {"scale": 0.01}, "confidence": {"scale": 0.5}}
    return assemble(run_settings({"env": SMALL, **factors, "privatizer": {"name": model, "epsilon": 500.0}}))


def bonus_at(setup: Setup, K: int) -> float:
    return least_bonus(with_episodes(setup, K))


@pytest.mark.parametrize("pooled", [False, True])
def test_it_is_line_7_at_the_most_visits(pooled):
    setup = with_episodes(literal_of(pooled=pooled), 10**6)
    visits = 2 * 10**6 if pooled else 10**6
    gap = np.full(2, next_value_gap(visits + 2 * setup.noise.E, setup.constants))
    terms = bernstein_terms(visits + setup.noise.E, np.full(2, 0.5), np.ones(2), gap, setup.constants)
    assert terms.variance == 0.0
    assert least_bonus(setup) == pytest.approx(sum(terms))


BRUTE = {
    "not private": (literal_of("non_private"), 2.0),
    "JDP": (with_factors("central"), 0.5),
    "LDP": (with_factors("local"), 0.1),
}


@pytest.mark.parametrize("case", BRUTE)
def test_brute_force_finds_the_same(case):
    c, level = BRUTE[case]
    found = episodes_needed(c, level)
    assert 32 < found < 3000
    assert found == next(K for K in range(2, 3001) if bonus_at(c, K) < level)


def test_privacy_costs_one_over_epsilon_centrally_and_its_square_locally():
    """E ∝ 1/ε and b ≈ 20HSEι/K: K ∝ 1/ε; locally E ∝ √K/ε as well, so K ∝ 1/ε². Logarithms add to both."""
    for model, power in (("central", 1), ("local", 2)):
        ratio = episodes_needed(literal_of(model, 1.0), 2.0) / episodes_needed(literal_of(model, 10.0), 2.0)
        assert 10**power < ratio < 2 * 10**power


def test_an_arm_with_a_factor_is_not_literal():
    check_literal(stored_experiment("literal", [stored_arm("a", 1.0)]))
    for factor in ({"bonus": 0.5}, {"confidence": 0.5}):
        with pytest.raises(AssertionError, match="a factor is not 1"):
            check_literal(stored_experiment("literal", [stored_arm("a", 1.0, **factor)]))
