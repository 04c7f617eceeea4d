"""What a session computes, without tickets and files: from batches of users to releases and policies.

Places are cut into batches by a public rule: those of Batches, Windows and OneQuestion as these say, and for
running sums the users between two releases. A batch is a vector of integers to which its users add; it is
released when all of its places are settled, never in part, and in order. A release is made by the privatizer's
own functions, the ones that a simulation calls, on integers with exact noise; it is then post-processed and
planned on by the compiled engine.
"""

from typing import Any, NamedTuple

import numpy as np

from dpucbvi.agents.own import OwnAgent, checked_plan
from dpucbvi.agents.plans import Values, first_values
from dpucbvi.counts import (
    FAMILIES,
    NO_STEPS,
    add_user,
    as_counts,
    counters,
    sanitised,
    shape_of,
    summed,
)
from dpucbvi.errors import InputError
from dpucbvi.mechanisms.binary import BinaryTree
from dpucbvi.mechanisms.kary import KaryTree as KaryNoise
from dpucbvi.privacy.exact import uniform_below
from dpucbvi.privacy.laplace import seed_stream
from dpucbvi.privatizers import windows
from dpucbvi.privatizers.arrays import to_grid
from dpucbvi.privatizers.batches import Batches, show
from dpucbvi.privatizers.central import Central
from dpucbvi.privatizers.kary_tree import KaryTree
from dpucbvi.privatizers.one_question import SHARES, OneQuestion, may_ask, question, released
from dpucbvi.privatizers.windows import Windows
from dpucbvi.protocol import Counts, Floats, Ints, Noisy, Setup, User

# What each takes part with, and the version of what it stores: another one cannot go on with it.
VERSIONS: dict[type, int] = {Batches: 1, Windows: 1, Central: 1, KaryTree: 1, OneQuestion: 1}
MAY_STAY_OPEN = (Batches, Windows, OneQuestion)  # sessions without a K
NOISES = {BinaryTree: ("t", "cumulative"), KaryNoise: ("digits", "S")}  # what changes during a stream


class Row(NamedTuple):
    """A part of the state that has changed: row `at` of the array of this name."""

    name: str
    at: int
    value: np.ndarray


class NoisySums:
    """Batches and running sums: a batch is the sum of its users' statistics."""

    def __init__(self, setup: Setup, seed: int):
        privatizer: Any = setup.privatizer
        self._setup, self.ends = setup, privatizer.ends(setup.problem)
        self._seed, self._filling = seed, isinstance(privatizer, Batches)
        self._masked = getattr(privatizer, "policy_cells", isinstance(privatizer, Windows))
        self.begin(0, np.zeros(counters(*privatizer.shape(setup.problem, setup.G))))

    def begin(self, first: int, base: Floats) -> None:
        """New noise from batch `first` on; `base` are the counts that what it releases is added to."""
        setup: Any = self._setup
        from dpucbvi.engine.exact import compiled_draws  # numba is slow to import

        stream = seed_stream(self._seed, "privacy")
        self._release = setup.privatizer.release(setup.problem, setup.G, stream, compiled_draws)
        self.first, self.base, self.counts = first, base, base.copy()
        self.state, self._published = self._release.state.inner, self._release.state.released.counts
        self.size, self.grid = base.size, self._release.state.grid
        self._shadow: dict[str, np.ndarray] = {}

    def ask(self, pi: Ints) -> int:
        return 0  # a user is asked for her whole trajectory

    def mask(self, shown: Ints, pi: Ints) -> None:
        """The rows that a user who follows an issued policy may visit get noise; others are not released."""
        if self._masked:
            show(pi, self._setup.G, self._setup.problem.A, shown)
        else:
            shown[:] = 1

    def add(self, sums: Ints, _question: int, sent: tuple[Any, ...]) -> None:
        """What a user sent into the sums of her batch."""
        problem = self._setup.problem
        s, a, r = sanitised(*sent, problem.H, problem.S, problem.A) if len(sent) == 3 else NO_STEPS
        joint = self.state.counting.joint
        grid = 1 if joint else self.grid  # a symbol has a reward of one bit
        words = self._release.state.words  # none of which the noise reads
        units: Any = np.array([to_grid(one, grid, words) for one in r], dtype=np.int64)
        place = s[1:] + problem.S * units if joint else s[1:]
        add_user(self.state.counting, sums, User(s, a, units, np.zeros(0), place))

    def release(self, batch: int, sums: Ints, shown: Ints) -> Ints:
        """The integers that are published of a batch; `counts` are then the noisy counts so far."""
        before = self.ends[self.first - 1] if self.first and not self._filling else 0
        self._release.t = int(self.ends[batch] - before) - 1
        if self._filling:
            self.state.batch[:], self.state.shown[:], self.state.closed[0] = sums, shown, batch
        else:
            self.state.sum[:] += sums
        nobody, no_policy = np.zeros(0, np.int64), np.zeros((0, self._setup.problem.S), np.int64)
        released = self._release.release(User(nobody, nobody, np.zeros(0), no_policy, nobody))
        assert released is not None, "a batch has ended"
        self.counts = self.base + released
        return self._published.copy()

    def replay(self, integers: Ints) -> Floats:
        """The counts that the next published integers amount to, without the truth behind them."""
        counts = integers.astype(np.float64)
        rows = self._setup.G * self._setup.problem.S * self._setup.problem.A
        counts[-rows:] /= self.grid
        return counts if self._filling else self.base + counts

    def restart(self, batch: int, counts: Floats) -> None:
        """Go on after a loss: Batches with its total, running sums with new noise on top of what is known."""
        if not self._filling:
            return self.begin(batch, counts)
        rows = self.state.shown.size
        units = counts.copy()
        units[-rows:] *= self.grid
        self.state.total[:], self.counts = np.rint(units).astype(np.int64), counts

    # --- what lasts -------------------------------------------------------------------------------------------

    def _arrays(self) -> dict[str, np.ndarray]:
        """What changes at a release, as arrays [row, counter]."""
        state = self.state
        if self._filling:
            found = {"total": state.total, "variance": state.variance}
        else:
            noise = state.mechanism
            found = {"sum": state.sum, **{name: getattr(noise, name) for name in NOISES[type(noise)]}}
        found |= {"counts": self.counts, "base": self.base}
        return {name: array.reshape(-1, array.shape[-1]) for name, array in found.items()}

    def changed(self) -> list[Row]:
        """The rows that are not as they were when this was last called."""
        rows = []
        for name, array in self._arrays().items():
            old = self._shadow.get(name)
            which = range(len(array)) if old is None else np.flatnonzero((array != old).any(axis=1))
            rows += [Row(name, int(i), array[i]) for i in which]
            self._shadow[name] = array.copy()
        return rows

    def load(self, stored: dict[tuple[str, int], bytes], first: int, batch: int) -> None:
        """The state as it was stored: noise since batch `first`, and `batch` is the next one."""
        self.first = first
        self.counts, self.base = np.zeros(self.size), np.zeros(self.size)
        for name, array in self._arrays().items():
            for i in range(len(array)):
                if (name, i) in stored:
                    array[i] = np.frombuffer(stored[name, i], array.dtype)


class NoisyWindows(NoisySums):
    """Windows: a batch is the sum of its users' symbols, step by step, and is released at one level."""

    def release(self, batch: int, sums: Ints, shown: Ints) -> Ints:
        """The integers that are published: the rest of a release is to replay them."""
        self.state.batch[:], self.state.shown[:], self.state.closed[0] = sums, shown, batch + 1
        integers = windows.release(self.state, windows.level_of(self.state)).ravel().copy()
        self.replay(integers)
        return integers

    def replay(self, integers: Ints) -> Floats:
        released = integers.reshape(self.state.counting.D, -1, self.state.counting.pairs)
        noisy = Noisy(np.zeros(self.size), np.zeros(self.state.shown.size))
        windows.learn(self.state, released, noisy)
        self.counts = noisy.counts
        return self.counts

    def restart(self, batch: int, counts: Floats) -> None:
        """Nothing is lost but open batches: what is known is made of what was published."""

    def _arrays(self) -> dict[str, np.ndarray]:
        Y, variance = self.state.levels.Y, self.state.levels.variance
        return {"Y": Y.reshape(len(Y), -1), "variance": variance, "counts": self.counts[None]}

    def load(self, stored: dict[tuple[str, int], bytes], first: int, batch: int) -> None:
        super().load(stored, first, batch)
        self.state.seek(int(self.ends[batch - 1]) if batch else 0)


class Questions:
    """The local model, the server's half: a batch is the tally of its users' answers."""

    def __init__(self, setup: Setup, seed: int):
        privatizer: Any = setup.privatizer
        problem, G, stream = setup.problem, setup.G, seed_stream(seed, "privacy")
        self._setup, self.ends = setup, privatizer.ends(problem)
        coins = privatizer.start(problem, G, stream)
        self._words, self._share, tallies = coins.words, coins.share, coins.inner.tallies
        parts = {name: getattr(tallies, name) for name in ("moved", "earned", "asked")}
        self._ends = np.cumsum([part.size for part in parts.values()])  # where each ends in the sums of all
        self.size = int(self._ends[-1])
        self._sums = np.zeros(self.size, np.int64)
        views = zip(parts.items(), np.split(self._sums, self._ends[:-1]), strict=True)
        self._tallies = tallies._replace(**{name: view.reshape(part.shape) for (name, part), view in views})
        self.state = coins.inner._replace(tallies=self._tallies)
        self.counts, self.grid = np.zeros(counters(*privatizer.shape(problem, G))), 1

    def ask(self, pi: Ints) -> int:
        """The question of a place: twice its row, and one more if it is about the reward. Public coins."""
        row = question(self.state, uniform_below(may_ask(self.state, pi), self._words))
        return 2 * row + int(uniform_below(SHARES, self._words) >= self._share)

    def mask(self, shown: Ints, pi: Ints) -> None:
        """Nothing is hidden here: answers are private when they come."""

    def add(self, sums: Ints, asked: int, sent: tuple[Any, ...]) -> None:
        """An answer into the tally of its batch; what is no answer adds nothing."""
        row, about_reward = divmod(asked, 2)
        moved, earned, _ = self._ends
        alphabet = 3 if about_reward else self._setup.problem.S + 1
        answer = sent[0] if len(sent) == 1 else None
        if isinstance(answer, int) and not isinstance(answer, bool) and 0 <= answer < alphabet:
            sums[(moved if about_reward else 0) + row * alphabet + answer] += 1
            if not about_reward:
                sums[earned + row] += 1

    def release(self, batch: int, sums: Ints, shown: Ints) -> Ints:
        self._sums += sums
        self._estimate(batch)
        return self._sums.copy()

    def _estimate(self, batch: int) -> None:
        self._tallies.released[0] = batch
        noisy = Noisy(np.zeros(self.counts.size), np.zeros(self._tallies.asked.size))
        released(self._tallies, self._setup.problem.S, int(self.ends[batch]), noisy)
        self.counts = noisy.counts

    def begin(self, first: int, base: Floats) -> None:
        """There is no noise here to begin anew."""

    def replay(self, integers: Ints) -> Floats:
        self._sums[:] = integers
        self._estimate(0)
        return self.counts

    def restart(self, batch: int, counts: Floats) -> None:
        """Nothing is lost but the answers of open batches."""

    def changed(self) -> list[Row]:
        arrays = {"tallies": self._sums, "N_hat": self._tallies.N_hat, "counts": self.counts}
        return [Row(name, 0, array) for name, array in arrays.items()]

    def load(self, stored: dict[tuple[str, int], bytes], first: int, batch: int) -> None:
        if ("tallies", 0) in stored:
            self._sums[:] = np.frombuffer(stored["tallies", 0], np.int64)
            self._tallies.N_hat[:] = np.frombuffer(stored["N_hat", 0])
            self.counts = np.frombuffer(stored["counts", 0]).copy()


def source(setup: Setup, seed: int) -> Any:
    """Where the releases of a session come from."""
    kinds: dict[type, Any] = {OneQuestion: Questions, Windows: NoisyWindows}
    return kinds.get(type(setup.privatizer), NoisySums)(setup, seed)


class Planner:
    """From noisy counts to a policy, by the compiled parts of the engine; Q lasts from plan to plan."""

    def __init__(self, setup: Setup):
        from dpucbvi.engine.compiled import cacheable, compiled
        from dpucbvi.engine.fast import by_step, first_Q, no_counts, processing
        from dpucbvi.engine.kernel import process
        from dpucbvi.engine.projection import Rows

        self._setup, agent = setup, setup.agent
        self._ceiling, self._private = first_Q(setup), no_counts(setup)
        self.values = first_values(self._ceiling, setup.problem.S, setup.problem.A, False)
        self._read = by_step(setup, self._private)
        steps, scratch = processing(setup), Rows.empty()
        made = compiled(process)
        self._process = lambda: made(steps, self._private, scratch)
        if not isinstance(agent, OwnAgent):
            plan: Any = agent.plan  # type: ignore[attr-defined]
            self._compiled = compiled(plan) if cacheable(plan) else plan

    def plan(self, counts: Floats | None, k: int) -> None:
        """The plan of place k on noisy counts, or on none before the first release."""
        private = self._private
        if counts is not None:
            private.flat[:] = counts
            self._process()
        if isinstance(self._setup.agent, OwnAgent):
            return self._own(k)
        if not getattr(self._setup.agent, "minimum", True):
            self.values.Q[:] = self._ceiling[:, None]
        with np.errstate(all="ignore"):
            self._compiled(self._setup.constants, self._read, self.values, k)

    def _own(self, k: int) -> None:
        from dpucbvi.engine.fast import copied_counts

        counts = copied_counts(self._setup, self._private)
        made = checked_plan(self._setup.agent.planner(counts), k, self._setup.problem)  # type: ignore[attr-defined]
        if made.pi.ndim == 3:
            raise InputError("agent: a session takes policies that choose one action per state")
        self.values.pi[:], self.values.V[:] = made.pi, made.V
        self.values.Q[:] = made.Q.reshape(self.values.Q.shape)

    def changed(self) -> list[Row]:
        return [Row(name, 0, value) for name, value in zip(Values._fields, self.values, strict=True)]

    def load(self, stored: dict[tuple[str, int], bytes]) -> None:
        for name, array in zip(Values._fields, self.values, strict=True):
            array[...] = np.frombuffer(stored[name, 0], array.dtype).reshape(array.shape)


def noisy_counts(setup: Setup, counts: Floats) -> Counts:
    """What was released; what has no counter of its own is a sum."""
    families = setup.privatizer.families
    found = as_counts(counts.copy(), *shape_of(setup.problem, setup.G, families))
    return summed(found, FAMILIES[families])
