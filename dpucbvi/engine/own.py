"""Parts of one's own on the fast path: a plan, or the `take` of a privatizer, is compiled if it compiles.

Nothing of one's own is trusted at once. Its first 20 calls run in Python, each beside the compiled version
with checks of every index, and the bits of all that they write are compared. Then the compiled version
takes over; if the two differ, or if it does not compile, Python stays, between a compiled loop and LP. Which it
was, and why, is in the `checks` of the run.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from dpucbvi.agents.own import checked_plan
from dpucbvi.agents.plans import Counted, Values
from dpucbvi.bonus import bernstein_bonus
from dpucbvi.engine.boxes import Box, box, boxed_callback, python_callback
from dpucbvi.engine.compiled import below, compiled, is_the_packages, names_of
from dpucbvi.engine.kernel import symbols
from dpucbvi.engine.state import Memory, Private, arrays_of
from dpucbvi.errors import InputError, finite
from dpucbvi.mdp import Trajectory
from dpucbvi.protocol import Counts, Ints, Plan, Setup, User

CALLS = 20
MAY_CHANGE = np.ndarray | list | dict | set  # compiled code would keep what they were


class Part:
    """A plan or a release as a C function, with what a summary says of it; None: it is the package's."""

    report: str | None = None
    settled = True
    error: BaseException | None = None

    def __init__(self, address: int, box: Box | None = None):
        self.address, self.box = address, box

    @property
    def box_address(self) -> int:
        return 0 if self.box is None else self.box.address

    def settle(self) -> None:
        """Nothing is open here."""

    def fail(self, k: int) -> None:
        """Raise the error that ended episode k, if it is this part's."""
        if self.error is not None:
            raise self.error


class InPython(Part):
    """A Python function of the episode in the place of a compiled one; its errors wait for Python."""

    def __init__(self, function: Callable[[int], int], report: str):
        self.report, self._function = report, function
        self._callback, address = python_callback(self._called)
        super().__init__(address)

    def _called(self, _box: int, k: int) -> int:
        try:
            return self._function(k)
        except BaseException as error:
            self.error = error
            return -1


class Checked(InPython):
    """A part of one's own: Python and the compiled version side by side, until one of them is chosen.

    `python` is what runs in Python, `plain` what is compiled. Both return what the loop of kernel.py is told.
    """

    def __init__(self, python: Callable[..., int], plain: Callable[..., int], arguments: Any, name: str):
        self._python, self._arguments, self._name, self._calls = python, arguments, name, 0
        super().__init__(self._compare, f"{name}: compiled")
        self.settled = False
        try:
            self.box = box(*arguments)
            if reason := may_change(plain):
                raise TypeError(f"{reason} may change while it runs")
            self._safe = compiled(plain, boundscheck=True)
            self._compiled = boxed_callback(plain, self.box, guarded=True)
        except Exception as error:  # numba has many, not all of one family
            self._stay(f"it does not compile: {first_line(error)}")

    def _stay(self, reason: str) -> None:
        self.settled, self._function = True, self._run
        self.report = f"{self._name}: in Python ({reason})"

    def settle(self) -> None:
        """Go over to the compiled version if it has been compared often enough."""
        if not self.settled and self._calls >= CALLS:
            self.settled, self.address = True, self._compiled.address

    def fail(self, k: int) -> None:
        """Raise what went wrong in episode k: compiled code says only that something did."""
        super().fail(k)
        self._run(k)

    def _run(self, k: int) -> int:
        with np.errstate(all="ignore"):
            return self._python(*self._arguments, k)

    def _compare(self, k: int) -> int:
        others = copied(self._arguments, {})
        result = self._run(k)
        self._calls += 1
        try:
            if self._safe(*others, k) != result or bits(others) != bits(self._arguments):
                self._stay(f"compiled it differs from Python in call {self._calls}")
        except Exception as error:  # whatever compiled code raises where Python does not
            self._stay(f"compiled it fails in call {self._calls}: {first_line(error)}")
        return result


def copied(value: Any, copies: dict[int, np.ndarray]) -> Any:
    """The tuples with copies of their arrays; an array that occurs twice is copied once."""
    if isinstance(value, np.ndarray):
        return copies.setdefault(id(value), value.copy())
    if not isinstance(value, tuple):
        return value
    items = [copied(item, copies) for item in value]
    return value._make(items) if hasattr(value, "_make") else tuple(items)


def bits(value: Any) -> list[bytes]:
    return [array.tobytes() for _, array in arrays_of("", value)]


def planning(plan: Any) -> Any:
    """The plan with a status, as the loop calls it."""

    def planned(c: Any, counts: Counted, values: Values, k: int) -> int:
        plan(c, counts, values, k)
        return 0

    return planned


def may_change(f: Any) -> str | None:
    """The name of something that f reads and that can change while compiled code keeps what it was."""
    own = [one for one in {f, *below(f)} if not is_the_packages(one)]
    return next(
        (name for one in own for _, name, value in names_of(one) if isinstance(value, MAY_CHANGE)), None
    )


def own_name(agent: Any) -> str:
    """What of the agent is one's own: its bonus, or all of it."""
    bonus = getattr(agent, "bonus", bernstein_bonus)
    if bonus is not bernstein_bonus:
        return f"the bonus {getattr(bonus, '__name__', type(bonus).__name__)}"
    return f"the agent {type(agent).__name__}"


def first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    useful = [line for line in lines if not line.startswith(("Failed in", "During", "-", "File"))]
    return (useful or lines or [type(error).__name__])[0][:100]


# --- a function from counts to a plan --------------------------------------------------------------------


def plan_of_planner(own: Any, check: Any, S: int) -> Callable[..., None]:
    """dp.planner's function as a plan on rows; `check` raises an error for what is no policy."""

    def plan(c: Any, counts: Counted, values: Values, k: int) -> None:
        G, pairs = counts.N_sa.shape
        A = pairs // S
        N_sas = np.zeros((G, S, A, S))
        for d in range(len(counts.N_sas)):
            for g in range(G):
                for row in range(pairs):
                    s = next_state(counts.after, g, d, row)
                    N_sas[g, row // A, row % A, s] = counts.N_sas[d, g, row]
        made = own(Counts(counts.N_sa.copy().reshape((G, S, A)), N_sas, counts.R.copy().reshape((G, S, A))))
        check(made, values.pi, A, k)
        values.pi[:] = made.pi
        values.V[:] = made.V
        values.Q[:] = made.Q.copy().reshape(values.Q.shape)

    return plan


def next_state(after: Ints, g: int, d: int, row: int) -> int:
    """The d-th next state that is counted of a pair."""
    if after.ndim == 3:  # known when compiled: the other branch is left out
        return after[g, d, row]
    else:
        return d


def check_actions(made: Plan, pi: np.ndarray, A: int, k: int) -> None:
    """Raise an error for actions that there are not. Python then says what is wrong."""
    H, S = pi.shape
    if made.pi.shape != pi.shape or made.Q.shape != (H, S, A) or made.V.shape != (H + 1, S):
        raise ValueError
    if not ((made.pi >= 0).all() and (made.pi < A).all()):
        raise ValueError
    if not (np.isfinite(made.Q).all() and np.isfinite(made.V).all()):
        raise ValueError


def planner_part(setup: Setup, arguments: tuple[tuple[()], Counted, Values]) -> Part:
    """The plan of dp.planner's function; one whose policies are probabilities runs in Python."""
    own, mdp = setup.agent.planner, setup.mdp  # type: ignore[attr-defined]

    def check(made: Plan, pi: np.ndarray, A: int, k: int) -> None:
        checked_plan(made, k, mdp)
        if made.pi.shape != pi.shape:
            raise InputError(f"agent: the plan of episode {k} has another kind of policy than the first")

    python = planning(plan_of_planner(own, check, mdp.S))
    name = f"the agent {getattr(own, '__name__', type(own).__name__)}"
    if arguments[2].pi.ndim == 3:
        return InPython(lambda k: python(*arguments, k), f"{name}: in Python (its policies are random)")
    return Checked(python, planning(plan_of_planner(own, check_actions, mdp.S)), arguments, name)


# --- a release in Python ---------------------------------------------------------------------------------


def python_release(setup: Setup, release: Any, memory: Memory, private: Private) -> InPython:
    """A privatizer's own release, fed from the memory of the compiled loop."""
    support = setup.support

    def take(_t: int) -> int:
        trajectory = Trajectory(memory.s.copy(), memory.a.copy(), memory.r.copy())
        place = trajectory.s[1:] if support is None else support.moves(trajectory)
        place = symbols(place, memory, setup.problem.next_states)
        released = release.release(User(*trajectory, memory.pi.copy(), place))
        if released is None:
            return 0
        private.flat[:] = finite("privatizer: its release", released, private.flat.shape)
        if setup.zero > 0.0:
            private.sd[:] = release.sd.reshape(-1)
        return 1

    return InPython(take, f"the privatizer {type(setup.privatizer).__name__}: in Python (its release is)")
