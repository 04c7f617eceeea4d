"""The fast engine is the reference: same random numbers, same policies, same visits, same regret."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpucbvi import engine, factory
from dpucbvi.config import (
    AgentConfig,
    BonusConfig,
    ConfidenceConfig,
    EngineConfig,
    EnvConfig,
    PostprocessConfig,
    PrivatizerConfig,
    RunConfig,
)
from dpucbvi.engine import fast
from dpucbvi.engine.lp_check import LpSample
from dpucbvi.engine.noise import laplace_from_word, next_words
from dpucbvi.errors import InputError, LpError
from dpucbvi.noise import LaplaceStream, laplace_from_words, seed_stream
from dpucbvi.projection import CvxpyPostprocess
from dpucbvi.trace import Trace

PAIRS = [
    ("dp_ucbvi", "central", "closed_form"),
    ("dp_ucbvi", "local", "closed_form"),
    ("dp_ucbvi", "non_private", "closed_form"),
    ("dp_ucbvi", "non_private", "none"),
    ("ucbvi_ch", "non_private", "none"),
    ("ucbvi_bf", "non_private", "none"),
    ("private_ucb_vi", "central", "none"),
    ("private_ucb_vi", "local", "none"),
    ("private_ucb_vi", "non_private", "none"),
    ("private_ucb_po", "central", "none"),
    ("private_ucb_po", "local", "none"),
    ("private_ucb_po", "non_private", "none"),
    ("pucb", "central", "none"),
    ("pucb", "non_private", "none"),
    ("ldp_obi", "local", "none"),
    ("ldp_obi", "non_private", "none"),
    ("dp_nash_vi", "central", "closed_form"),
    ("dp_nash_vi", "local", "closed_form"),
    ("dp_nash_vi", "non_private", "none"),
]


def config(pair: tuple[str, str, str], **changes: Any) -> RunConfig:
    """A run that learns within a few dozen episodes: large ε, small bonus, narrow band."""
    agent, privatizer, postprocess = pair
    base = RunConfig(
        env=EnvConfig(name="riverswim", S=4, H=6),
        agent=AgentConfig(agent),
        privatizer=PrivatizerConfig(privatizer, 200.0),
        postprocess=PostprocessConfig(postprocess),
        bonus=BonusConfig(0.003),
        confidence=ConfidenceConfig(scale=0.05),
        K=60,
    )
    return replace(base, **changes)


def run(settings_: RunConfig, name: str, seed: int = 0) -> Trace:
    return engine.run(factory.set_up(replace(settings_, engine=EngineConfig(name, 20))), seed)


def assert_same(reference: Trace, compiled: Trace) -> None:
    np.testing.assert_array_equal(reference.Q, compiled.Q)
    np.testing.assert_array_equal(reference.N_sa, compiled.N_sa)
    np.testing.assert_array_equal(reference.policy_changes, compiled.policy_changes)
    np.testing.assert_array_equal(reference.fallbacks, compiled.fallbacks)
    np.testing.assert_array_equal(reference.episodes, compiled.episodes)
    np.testing.assert_allclose(reference.regret, compiled.regret, rtol=0, atol=1e-9)


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_engines_agree_on_riverswim(pair: tuple[str, str, str], pooled: bool) -> None:
    settings_ = config(pair, agent=AgentConfig(pair[0], pooled))
    reference = run(settings_, "reference")
    assert_same(reference, run(settings_, "fast"))
    assert reference.policy_changes[-1] > 0, "a run that never changes its policy compares nothing"


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    pair=st.sampled_from(PAIRS),
    S=st.integers(1, 5),
    A=st.integers(1, 3),
    H=st.integers(1, 5),
    K=st.integers(1, 33),
    rewards=st.sampled_from(["bernoulli", "deterministic"]),
    epsilon=st.sampled_from([1.0, 50.0, 1e4]),
    width=st.sampled_from([0.0, 0.01, 0.3, 1.0]),
    bonus=st.sampled_from([1e-5, 1e-3, 1.0]),
    seed=st.integers(0, 10**6),
)
def test_engines_agree_on_random_mdps(
    pair: tuple[str, str, str],
    S: int,
    A: int,
    H: int,
    K: int,
    rewards: str,
    epsilon: float,
    width: float,
    bonus: float,
    seed: int,
) -> None:
    settings_ = config(
        pair,
        env=EnvConfig(name="random", S=S, A=A, H=H, seed=seed, rewards=rewards),
        privatizer=PrivatizerConfig(pair[1], epsilon),
        confidence=ConfidenceConfig(scale=width),
        bonus=BonusConfig(bonus),
        K=K,
    )
    assert_same(run(settings_, "reference", seed), run(settings_, "fast", seed))


@pytest.mark.parametrize("privatizer", ["central", "local"])
def test_fast_counts_are_cvxpys_to_solver_tolerance(privatizer: str) -> None:
    """The reference run with cvxpy follows the same path: same policies, Q̃ to the solver's tolerance."""
    settings_ = config(("dp_ucbvi", privatizer, "closed_form"))
    exact = replace(settings_, postprocess=PostprocessConfig("cvxpy"))
    cvxpy_run, compiled = run(exact, "reference"), run(settings_, "fast")
    np.testing.assert_array_equal(cvxpy_run.N_sa, compiled.N_sa)
    np.testing.assert_array_equal(cvxpy_run.fallbacks, compiled.fallbacks)
    np.testing.assert_allclose(cvxpy_run.Q, compiled.Q, rtol=1e-6)


def test_compiled_noise_is_numpys_bits() -> None:
    stream = LaplaceStream(seed_stream(3, "privacy"))
    state, words = stream.state(), np.zeros(1000, dtype=np.uint64)
    next_words(state, words)
    np.testing.assert_array_equal(words, np.random.SFC64(seed_stream(3, "privacy")).random_raw(1000))
    expected = laplace_from_words(words)
    np.testing.assert_array_equal([laplace_from_word(word) for word in words], expected)
    np.testing.assert_array_equal(stream.draw(1000), expected)


def test_a_run_goes_on_from_its_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped after a chunk and started again, a run ends as if it had never stopped."""
    setup = factory.set_up(config(PAIRS[0], engine=EngineConfig("fast", 20)))
    whole = fast.run_fast(setup, 5, lambda _: None)
    monkeypatch.setattr(fast, "CHUNK_MOST", 7)
    monkeypatch.setattr(fast, "CHECKPOINT_SECONDS", 0.0)
    path, seen = tmp_path / "checkpoint.npz", []

    def stop_midway(done: int) -> None:
        seen.append(done)
        if sum(seen) > 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fast.run_fast(setup, 5, stop_midway, path)
    assert path.is_file()
    told: list[int] = []
    resumed = fast.run_fast(setup, 5, told.append, path)
    assert told[0] > 0 and sum(told) == setup.problem.K
    assert_same(whole, resumed)
    assert whole.checks == resumed.checks


@pytest.mark.parametrize("damage", ["truncated", "other code"])
def test_a_checkpoint_that_cannot_be_trusted_is_not_used(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = factory.set_up(config(PAIRS[0], engine=EngineConfig("fast", 20)))
    half, path = fast.start(setup, 5), tmp_path / "checkpoint.npz"
    next(fast.run_chunks(half, 5))
    fast.save_checkpoint(half, path)
    if damage == "truncated":
        path.write_bytes(path.read_bytes()[:500])
    else:
        monkeypatch.setattr(fast, "SOURCES", "0" * 16)
    told: list[int] = []
    assert_same(fast.run_fast(setup, 5, lambda _: None), fast.run_fast(setup, 5, told.append, path))
    assert told[0] == 0 and sum(told) == setup.problem.K


def test_the_trace_does_not_grow_with_K() -> None:
    settings_ = config(PAIRS[1], K=3000, trace_points=50)
    trace = run(settings_, "fast")
    assert len(trace.regret) <= 50 and trace.episodes[0] == 1 and trace.episodes[-1] == 3000
    every = run(replace(settings_, trace_points=3000), "fast")
    np.testing.assert_array_equal(every.regret[trace.episodes - 1], trace.regret)


def test_lp_checks_are_spread_recorded_and_can_fail() -> None:
    trace = run(config(PAIRS[0]), "fast")
    assert trace.checks["lp_checked"] == 20
    assert max(trace.checks["lp_value_error"], trace.checks["lp_feasibility_error"]) < 1e-9
    sample = LpSample.empty(20, 3, 100)
    assert sample.moments[0] == 1 and sample.moments[-1] == 99
    y, n, one = np.array([[5.0, 2.0, 1.0]]), np.array([10.0]), np.ones(1, dtype=np.int64)
    nearest = CvxpyPostprocess().solve(y, n, 1.0)[0]  # moves each entry up by 1/3, to a sum of 9
    assert LpSample(sample.moments, y, n, nearest, one).check(4.0)["lp_checked"] == 1
    for wrong in (y, np.array([[6.0, 2.0, 1.0]])):  # infeasible (sum 8); feasible but moved by 1
        with pytest.raises(LpError, match="not the LP's"):
            LpSample(sample.moments, y, n, wrong, one).check(4.0)


def test_the_fast_engine_does_not_take_cvxpy() -> None:
    with pytest.raises(InputError, match="closed_form"):
        factory.set_up(config(("dp_ucbvi", "central", "cvxpy")))
