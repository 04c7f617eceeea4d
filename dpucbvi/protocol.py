"""The shared nouns: what an algorithm is handed, what it hands back, and what a run is made of.

    TabularMDP, Agent, Privatizer --set_up--> Setup --run--> Trace

An agent turns private counts into plans; a privatizer turns the trajectories of users into private counts. Both
are described here by what they must offer (`Agent`, `Privatizer`); the package's own are in agents/ and
privatizers/, and a class of your own with the same methods is as good as they are.

The step axis h leads every array and is 0-based: `V[H]` is the paper's V_{H+1}. Counts have a leading axis of
length G: H as in the paper, or 1 if they are pooled over h, and step h reads entry h mod G.
"""

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from dpucbvi.counts import PrivateCounts
    from dpucbvi.mdp import TabularMDP, Trajectory
    from dpucbvi.privacy.certificate import Certificate
    from dpucbvi.support import Support

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Problem(NamedTuple):
    """The sizes that every bound depends on; T = KH.

    Parameters
    ----------
    H : int
        Steps of an episode.
    S : int
        States.
    A : int
        Actions.
    K : int
        Episodes.
    beta : float
        The failure probability of the bounds.
    D : int, optional
        How many next states of a pair are counted; None: all S.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> dp.Problem(H=20, S=6, A=2, K=50_000, beta=0.05).T
    1000000
    """

    H: int
    S: int
    A: int
    K: int
    beta: float
    D: int | None = None

    @property
    def T(self) -> int:
        return self.K * self.H

    @property
    def next_states(self) -> int:
        return self.S if self.D is None else self.D

    def shape(self, G: int) -> "Shape":
        """The shape of the counters."""
        return G, self.S, self.A, self.next_states


Shape = tuple[int, int, int, int]  # G, S, A, and how many next states of a pair are counted


class Counts(NamedTuple):
    """The counts that an agent plans on, each with a leading step axis of length G: H, or 1 if pooled.

    Parameters
    ----------
    N_sa : array (G, S, A)
        N(s,a).
    N_sas : array (G, S, A, S)
        N(s,a,s').
    R : array (G, S, A)
        R(s,a), the sum of the rewards.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> import numpy as np
    >>> dp.Counts(np.zeros((4, 3, 2)), np.zeros((4, 3, 2, 3)), np.zeros((4, 3, 2))).G
    4
    """

    N_sa: Floats
    N_sas: Floats
    R: Floats

    @property
    def G(self) -> int:
        return self.N_sa.shape[0]


class Plan(NamedTuple):
    """What an algorithm has decided before an episode: its policy and the values behind it.

    Parameters
    ----------
    pi : array
        `pi[h, s]` is an action, or `pi[h, s, a]` a probability.
    Q : array (H, S, A)
        The values of pairs.
    V : array (H+1, S)
        The values of states.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> import numpy as np
    >>> plan = dp.Plan(pi=np.zeros((4, 3), dtype=int), Q=np.zeros((4, 3, 2)), V=np.zeros((5, 3)))
    >>> plan.pi.shape
    (4, 3)
    """

    pi: np.ndarray
    Q: Floats
    V: Floats


Algorithm = Generator[Plan, Any, None]  # yields the plan of an episode, is sent its user: a handle, no data


class Episode(NamedTuple):
    """One episode as an observer sees it: the counts it was planned on, the plan, and what the user met."""

    k: int
    plan: Plan
    counts: Counts
    trajectory: "Trajectory"
    fallbacks: int  # infeasible LPs before this episode


class Noise(NamedTuple):
    """How large a privatizer's noise is.

    Parameters
    ----------
    scale : float
        Of one noise that is drawn.
    E : float
        The E_{ε,β} of Assumption 3.1, times `factor`.
    terms : int
        The most noises of this scale in a released counter. Algorithms on raw counts compute the widths of
        their own papers from `scale` and `terms`.
    printed : float, optional
        Multiplies these widths; None: the algorithms take E times `raw` instead.
    factor : float
        What E was multiplied by.
    cell : float
        A bound on the noise of all released N(s,a,s') at once, with probability 1 - β/3.
    sd : float
        The largest standard deviation that the noise of a released N(s,a,s') has.
    proven : bool
        At factor 1, Assumption 3.1 holds in every episode after the first release, with probability 1 - β/3 for
        all; otherwise E bounds the noise of what was released and no more.
    raw : float
        E times this bounds the noise of all that is read of raw counts (`confidence.bound_to_E`).

    Examples
    --------
    >>> import dpucbvi as dp
    >>> dp.Noise(scale=2.0, E=30.0).proven
    True
    """

    scale: float
    E: float
    terms: int = 1
    printed: float | None = None
    factor: float = 1.0
    cell: float = 0.0
    sd: float = 0.0
    proven: bool = True
    raw: float = 0.25

    def widened(self, D: int, tau: float) -> "Noise":
        """The same noise with a wider E, for rows of D cells of which those below τ·sd are set to 0.

        A cell is then off by at most cell + τ·sd, a row by D times that, and E ≥ 4 × the latter is enough for
        Lemma 5.4 (confidence.bound_to_E).
        """
        if tau == 0.0:
            return self
        return self._replace(E=max(self.E, self.factor * 4.0 * D * (self.cell + tau * self.sd)))


class User(NamedTuple):
    """One user as a privatizer meets her: what she did, and the policy she was shown.

    Parameters
    ----------
    s : array (H+1,)
        Her states.
    a : array (H,)
        Her actions.
    r : array (H,)
        Her rewards.
    pi : array
        The policy.
    place : array (H,)
        `place[h]` is the counter of the pair (s_h, a_h) to which her next state belongs: the state itself where
        all S have one.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> import numpy as np
    >>> s, a = np.array([0, 1, 1]), np.array([1, 0])
    >>> her = dp.User(s, a, r=np.array([0.0, 1.0]), pi=np.ones((2, 2), dtype=int), place=s[1:])
    >>> her.r.sum()
    np.float64(1.0)
    """

    s: Ints
    a: Ints
    r: Floats
    pi: np.ndarray
    place: Ints


class Noisy(NamedTuple):
    """Room for what is released: the counters in the order of counts.as_counts, and their sd by row."""

    counts: np.ndarray
    sd: Floats


class Release(Protocol):
    """Takes users one by one and gives the noisy counts of all so far, or None where nothing is released.

    `sd`, which only zeroing reads, is the standard deviation of the noise of N(s,a,s'), the same for all s', as
    an array [g, s, a].
    """

    def release(self, user: User) -> Floats | None: ...


class Privatizer(Protocol):
    """Everything about a way of releasing counts, in one class.

    With `sparse = True` it counts as many next states of a pair as the problem says (support.py), else all S.
    """

    @property
    def model(self) -> str:
        """ "JDP", "LDP" or "none"."""
        ...

    @property
    def families(self) -> str:
        """Which counters are released, a name of counts.FAMILIES."""
        ...

    def noise_of(self, problem: Problem, G: int) -> Noise: ...

    def certificate(self, problem: Problem, G: int) -> "Certificate": ...

    def release(self, problem: Problem, G: int, seed: np.random.SeedSequence) -> Release:
        """The release at work; it is compiled if it is made of arrays (privatizers/arrays.py)."""
        ...


class Agent(Protocol):
    """An algorithm: `raw` ones read the noisy counts as they are, without post-processing."""

    @property
    def raw(self) -> bool: ...

    @property
    def pooled(self) -> bool: ...

    @property
    def models(self) -> tuple[str, ...]:
        """The models of privacy it is defined for."""
        ...

    def constants(self, problem: Problem, noise: Noise) -> Any:
        """All that does not change during a run, multiplied in."""
        ...

    def algorithm(self, problem: Problem, private: "PrivateCounts", constants: Any) -> Algorithm: ...


class Postprocessed(NamedTuple):
    """Ñ(s,a), Ñ(s,a,s') and how many LPs were infeasible."""

    N_sa: Floats
    N_sas: Floats
    fallbacks: int


Postprocess = Callable[[Floats, Floats, float], Postprocessed]  # N̂(s,a), N̂(s,a,s'), E


class Setup(NamedTuple):
    """Everything a run is made of except its randomness; both engines start from it."""

    mdp: "TabularMDP"
    agent: Agent
    privatizer: Privatizer
    problem: Problem
    G: int  # steps counted apart: H, or 1 if pooled
    postprocess: str | Postprocess  # a name of projection.POSTPROCESSES, or a function of one's own
    zero: float  # τ: noisy N(s,a,s') below τ standard deviations are set to 0 first
    known_rewards: bool
    noise: Noise
    constants: Any
    certificate: "Certificate"
    trace_points: int
    lp_checks: int  # LPs of a compiled run that cvxpy solves again
    support: "Support | None" = None  # which next states are counted; None: all


def depth_of(part: Any, name: str) -> float:
    """How far up the classes of a part the name is defined; infinite if it is not.

    By it the fast engine knows what it may run by its plan or its `take` alone: a class that changes more would
    lose what it changes.
    """
    return next((i for i, c in enumerate(type(part).__mro__) if name in vars(c)), float("inf"))


def expectation(p: Floats, V: Floats) -> float:
    """Σ_{s'} p(s') V(s'), added in order so that the compiled twin gives the same bits."""
    total = 0.0
    for s in range(len(p)):
        total += p[s] * V[s]
    return total


def cut_to_unit(x: float) -> float:
    """x cut to [0, 1], written so that it compiles without branches."""
    x = x if x > 0.0 else 0.0
    return x if x < 1.0 else 1.0
