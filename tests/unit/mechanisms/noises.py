"""The mechanisms as streams of noise vectors, for tests."""

from dpucbvi.mechanisms import binary, blt, kary


class Scaled:
    """A stream of standard variates times a scale."""

    def __init__(self, scale, stream):
        self._scale, self._stream = scale, stream

    def draw(self, n):
        return self._scale * self._stream.draw(n)


class Noises:
    """One noise vector after another; `variance` is that of the last one."""

    def __init__(self, state, next_noise, source):
        self.state, self._next, self._source = state, next_noise, source

    def next(self):
        noise, self.variance = self._next(self.state, self._source)
        return noise.copy()


def binary_noise(size, L, scale, stream):
    return Noises(binary.start(size, L), binary.next_noise, Scaled(scale, stream))


def kary_noise(size, k, L, scale, stream):
    return Noises(kary.start(size, k, L), kary.next_noise, Scaled(scale, stream))


def blt_noise(size, numbers, scale, stream, T=10**9):
    return Noises(blt.start(size, numbers, T), blt.next_noise, Scaled(scale, stream))
