"""Is the noise where the proof has it? An exact check of one run, with no false alarms.

The compiled releases must be A x + B z for the matrix B of laws.py and noises z that are the claimed scale
times what the generator's words stand for, every word used once and in order: each noise drawn once, kept as
long as it is used, its own for every counter, of the right size. Where an attack needs a million runs, this
needs one, and the generator's state.
"""

import numpy as np

from dpucbvi.audit import neighbours
from dpucbvi.audit.broken import Broken
from dpucbvi.audit.drive import begin, fed, generators, on_tape
from dpucbvi.audit.laws import noises
from dpucbvi.audit.released import broken_state, faults_of, is_gaussian, when_seen
from dpucbvi.privacy.gaussian import gaussian_from_words
from dpucbvi.privacy.laplace import Words, laplace_from_words
from dpucbvi.protocol import Floats, Setup


def largest_gap(setup: Setup, broken: Broken | None, rng: np.random.Generator) -> float:
    """The largest difference between what is released and A x + B z, over all releases and counters."""
    run = begin(setup)
    candidates = neighbours.all_users(setup.problem.H, setup.problem.S, run.memory.pi)
    n, scale, seen_after = setup.problem.K - 1, run.state.source.scale.copy(), when_seen(setup)
    rows = rng.integers(len(candidates.s), size=n)
    shown = np.resize(rows[: n // 2], n) if broken is not None and broken.twice else rows
    features = neighbours.features(setup, candidates)
    tape = on_tape(broken_state(setup, run.state, broken, features[shown]))
    words = generators(rng, 1)
    out = fed(run, tape, candidates.pick(shown), words, faults_of(broken, tape))
    B = noises(setup.privatizer, len(seen_after))
    z = np.array(drawn(words[0], B.shape[1], scale.size, is_gaussian(setup)))
    expected = np.cumsum(features[rows], axis=0)[seen_after] + B @ (scale * z)
    return float(np.abs(out[0, seen_after] - expected).max())


def drawn(state: Words, vectors: int, size: int, gaussian: bool) -> list[Floats]:
    """The standard noise vectors that a generator in this state gives, one after the other."""
    source = np.random.SFC64()
    source.state = {
        "bit_generator": "SFC64",
        "state": {"state": state},
        "has_uint32": 0,
        "uinteger": 0,
    }
    if gaussian:
        return [gaussian_from_words(source.random_raw(2 * ((size + 1) // 2)))[:size] for _ in range(vectors)]
    return [laplace_from_words(source.random_raw(size)) for _ in range(vectors)]
