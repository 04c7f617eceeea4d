"""Where randomness comes from: named streams, and standard Laplace noise from raw 64-bit words.

Streams. A run has one seed and independent streams derived from it by name (`environment`, `privacy`, `audit`,
and `rewards`, by which users round theirs to bits): arms that share a seed meet the same environment, whatever
their noise, and no result depends on which worker computes it.

Laplace. One word of numpy's SFC64 generator gives one variate. Its top 52 bits give
U = 1 - j/2^52 in (0, 1], its lowest bit a sign; then

    X = ± (-ln U),   so   P(|X| > x) = e^{-x}  and  X ~ Lap(1).

Magnitudes lie on the grid of -ln(multiples of 2^-52), up to 52 ln 2 = 36.04; the tail beyond has
probability 2^-52. The logarithm is written out so that every machine gives the same bits: U = 2^e m with m in
[√½, √2), and

    ln m = 2 artanh(z) = 2z (1 + z²/3 + z⁴/5 + ...),   z = (m-1)/(m+1),  |z| < 0.172,

whose terms beyond z²⁰/21 are below 1e-18. The functions take one word or an array of them: numpy calls them on
whole vectors, and the engine compiles them for one word at a time (engine/noise.py).

Idealised numerics: floating-point Laplace noise does not give exact differential privacy (Mironov,
2012), and a seeded generator gives none against who knows the seed. Runs are experiments; what they
certify is the privacy of the ideal mechanism they simulate. Off the lattice of draws.py the lowest bits give
users away (tests/unit/audit/test_attack.py); noise to publish is in exact.py.
"""

import hashlib
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpucbvi.protocol import Floats

if TYPE_CHECKING:
    from dpucbvi.protocol import Setup

Words = NDArray[np.uint64]

STREAMS = ("environment", "privacy", "audit", "rewards")

LN2 = 0.6931471805599453
ONE_BITS = np.uint64(0x3FF0000000000000)  # the bits of 1.0
SQRT_HALF_BITS = np.uint64(0x3FE6A09E667F3BCD)  # the bits of √½
MANTISSA = np.uint64(0x000FFFFFFFFFFFFF)
TWO52_BITS = np.uint64(0x4330000000000000)  # the bits of 2^52: OR-ing an integer i < 2^52 gives 2^52 + i
TWO52 = 4503599627370496.0
EXPONENT_BIAS = 1023.0
ARTANH_SERIES = tuple(1.0 / n for n in range(21, 0, -2))  # 1/21, 1/19, ..., 1/3, 1


def seed_stream(seed: int, stream: str) -> np.random.SeedSequence:
    """The named stream of a run's seed."""
    return np.random.SeedSequence(seed, spawn_key=(STREAMS.index(stream),))


def privacy_stream(setup: "Setup", seed: int) -> np.random.SeedSequence:
    """The privacy stream of a run.

    It belongs to all that the run is made of, so that two arms with one seed have noises of their
    own: from a shared one, 2 N̂ of ε = 2 minus N̂ of ε = 1 are the true counts. Exact noise is from the system;
    where a test seeds it, a session, which knows no MDP, has that of the run that simulates it.
    """
    if getattr(setup.privatizer, "exact", False):
        return seed_stream(seed, "privacy")
    digest = hashlib.sha256(repr(_content(setup)).encode()).digest()
    key = np.frombuffer(digest, np.uint32).tolist()
    return np.random.SeedSequence(seed, spawn_key=(STREAMS.index("privacy"), *key))


def _content(setup: "Setup") -> tuple[Any, ...]:
    """What a run is made of, as plain data: not its seed, its engine, or what is only recorded or checked."""
    support = None if setup.support is None else setup.support.next.tolist()
    parts = [_plain(part) for part in (setup.agent, setup.privatizer, setup.postprocess)]
    return setup.mdp.sha256, *parts, tuple(setup.problem), setup.G, setup.zero, setup.known_rewards, support


def _plain(part: Any) -> Any:
    """A part by its name, with its settings; of a function its name, which is the same in every process."""
    if isinstance(part, str | int | float | None):
        return part
    name = getattr(part, "__name__", type(part).__name__)
    settings = fields(part) if is_dataclass(part) else ()
    return name, *((one.name, _plain(getattr(part, one.name))) for one in settings)


def bits_of(x: Any) -> Any:
    """The 64 bits of each double."""
    return x.view(np.uint64)


def double_of(bits: Any) -> Any:
    """The doubles that these bits encode."""
    return bits.view(np.float64)


def minus_log(words: Any) -> Any:
    """-ln U of the top 52 bits of each word: a standard exponential variate (formula above)."""
    U = 2.0 - double_of((words >> np.uint64(12)) | ONE_BITS)
    shifted = bits_of(U) + (ONE_BITS - SQRT_HALF_BITS)
    exponent = double_of((shifted >> np.uint64(52)) | TWO52_BITS) - (TWO52 + EXPONENT_BIAS)
    m = double_of((shifted & MANTISSA) + SQRT_HALF_BITS)
    z = (m - 1.0) / (m + 1.0)
    q = z * z
    series = ARTANH_SERIES[0]
    for coefficient in ARTANH_SERIES[1:]:
        series = series * q + coefficient
    return -(exponent * LN2 + 2.0 * z * series)


def laplace_from_words(words: Any) -> Any:
    """Standard Laplace variates, one per 64-bit word: -ln U with the sign of the lowest bit."""
    return double_of(bits_of(minus_log(words)) ^ (words << np.uint64(63)))


class LaplaceStream:
    """Independent Lap(1) variates from one seeded SFC64 generator, in the order they are asked for."""

    def __init__(self, seed: np.random.SeedSequence):
        self._words = np.random.SFC64(seed)

    def draw(self, n: int) -> Floats:
        return laplace_from_words(self._words.random_raw(n))
