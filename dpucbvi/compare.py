"""dp.compare: which of two sets of runs has less regret, and how sure that is.

runs = dp.load("paper/results/riverswim.npz")   # arm -> its runs, as dp.run gives them for several seeds
dp.compare(runs["jdp_eps1"], runs["ucbvi"])     # paired over seeds
dp.compare(runs)                                # every pair, with Holm's p-values
"""

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from dpucbvi.errors import InputError, extra
from dpucbvi.trace import Runs

if TYPE_CHECKING:
    from pandas import DataFrame

    from dpucbvi.stats import Paired


def compare(a: Runs | Mapping[str, Runs], b: Runs | None = None) -> "Paired | DataFrame":
    """Compare final regrets, seed by seed.

    Parameters
    ----------
    a, b
        Runs over the same seeds as dp.run gives them, or `a` alone: a mapping of two or more of them.

    Returns
    -------
    Paired or pandas.DataFrame
        For two: the mean difference with its 95% interval, the probability that a run of the first has less
        regret, and the p-value of a permutation test. For a mapping: a row per pair, its last column being
        Holm's p-values.

    Raises
    ------
    InputError
        For seeds or numbers of episodes that differ, and for a mapping if pandas is not installed.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> river = dp.riverswim(S=3, H=4)
    >>> one, two = (dp.run(river, dp.UCBVI(bonus_scale=c), K=50, seed=range(5)) for c in (0.01, 1.0))
    >>> dp.compare(one, two).difference < 0
    True
    """
    if isinstance(a, Runs) and isinstance(b, Runs):
        return _paired(a, b)
    if isinstance(a, Mapping) and b is None and len(a) >= 2:
        with extra("pandas", "compare: a table of several pairs"):
            from pandas import DataFrame

        from dpucbvi.stats import holm

        pairs = list(combinations(a, 2))
        found = [_paired(a[one], a[other]) for one, other in pairs]
        frame = DataFrame(found).assign(holm=holm(np.array([one.p for one in found])))
        frame.insert(0, "a", [one for one, _ in pairs])
        frame.insert(1, "b", [other for _, other in pairs])
        return frame
    raise InputError("compare: it takes two runs over several seeds, or a mapping with two or more of them")


def _paired(a: Runs, b: Runs) -> "Paired":
    from dpucbvi.stats import paired  # scipy is slow to import: `import dpucbvi` does without

    if a.seeds != b.seeds:
        raise InputError(f"compare: the seeds {list(a.seeds)} and {list(b.seeds)} differ; pairs need the same")
    if a.episodes[-1] != b.episodes[-1]:
        raise InputError(f"compare: one has {a.episodes[-1]} episodes, the other {b.episodes[-1]}")
    return paired(a.regret[:, -1], b.regret[:, -1])
