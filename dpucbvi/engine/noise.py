"""What seeded noise needs in compiled code: the words of privacy/draws.py and the bits of a number, by hand.

The variates are those of privacy/laplace.py and gaussian.py, compiled: loops over them become SIMD code.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from dpucbvi.engine.compiled import by_hand, compiled
from dpucbvi.privacy import draws, laplace
from dpucbvi.privacy.draws import Draws, snapped
from dpucbvi.privacy.gaussian import gaussian_pair
from dpucbvi.privacy.laplace import Words, laplace_from_words
from dpucbvi.protocol import Floats

BLOCK = 1024  # words that are made before their variates are: they stay in the cache


@by_hand(laplace.bits_of)
@intrinsic
def bits_of(_context: Any, x: Any = None) -> Any:
    """The 64 bits of a double."""
    return types.uint64(types.float64), lambda _c, b, _s, args: b.bitcast(args[0], ir.IntType(64))


@by_hand(laplace.double_of)
@intrinsic
def double_of(_context: Any, x: Any = None) -> Any:
    """The double that 64 bits encode."""
    return types.float64(types.uint64), lambda _c, b, _s, args: b.bitcast(args[0], ir.DoubleType())


@intrinsic
def opaque(_context: Any, word: Any = None) -> Any:
    """The word itself, as a number of which LLVM knows nothing: code without instructions, on any processor."""
    kind = ir.FunctionType(ir.IntType(64), [ir.IntType(64)])
    return types.uint64(types.uint64), lambda _c, b, _s, args: b.asm(kind, "", "=r,0", args, False)


@by_hand(draws.next_words)
def next_words(state: Words, out: Words) -> None:
    """Fill `out` with the generator's next words (SFC64: Doty-Humphrey, PractRand) and advance its state."""
    a, b, c, counter = state[0], state[1], state[2], state[3]
    for i in range(out.size):
        word: Any = opaque(a + b + counter)  # else LLVM multiplies out sums of eight words: slower
        counter += np.uint64(1)
        a = b ^ (b >> np.uint64(11))
        b = c + (c << np.uint64(3))
        c = ((c << np.uint64(24)) | (c >> np.uint64(40))) + word
        out[i] = word
    state[0], state[1], state[2], state[3] = a, b, c, counter


@compiled
def fill_gaussian(state: Words, words: Words, out: Floats) -> None:
    """Fill `out` with the next n variates and advance the generator; `words` is scratch of length 2⌈n/2⌉."""
    next_words(state, words)
    m = (out.size + 1) // 2
    x, y, radius_words, angle_words = out[:m], out[m:], words[:m], words[m:]
    for i in range(y.size):
        x[i], y[i] = gaussian_pair(radius_words[i], angle_words[i])
    if out.size % 2:
        x[m - 1], _ = gaussian_pair(radius_words[m - 1], angle_words[m - 1])


@compiled
def fill_seeded(source: Draws, out: Floats) -> None:
    """Fill `out` with scale × the next variates, on the lattice."""
    if source.gaussian:
        fill_gaussian(source.generator, source.words, out)
        for c in range(out.size):
            out[c] = snapped(source.scale[c] * out[c])
    else:
        for first in range(0, out.size, BLOCK):
            block, scale = out[first : first + BLOCK], source.scale[first : first + BLOCK]
            words = source.words[first : first + BLOCK]  # all of them, as in Python: own parts are compared
            next_words(source.generator, words)
            for c in range(block.size):
                block[c] = snapped(scale[c] * laplace_from_words(words[c]))


@by_hand(draws.published)
def published(source: Any, values: Floats) -> Floats:
    """The values themselves: an audit has no eyes in compiled code."""
    return values
