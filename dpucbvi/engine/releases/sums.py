"""What the releases share: a user's statistics added to the sums."""

from dpucbvi.engine.compiled import jit
from dpucbvi.protocol import Floats, Ints


@jit
def add(total: Floats, sigma: Floats, cells: Ints) -> None:
    """total += sigma, then sigma = 0; `cells` holds every place where sigma is not zero, some twice."""
    for i in range(cells.size):
        c = cells[i]
        total[c] += sigma[c]
        sigma[c] = 0.0
