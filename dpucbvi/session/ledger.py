"""A ledger: what was spent on which data, in a file; what would exceed the budget is refused.

    ledger = dp.Ledger("clinic.json", epsilon=3, delta=1e-6)          # the budget of every data set
    dp.fit("2024.csv", privatizer, agent, ..., ledger=ledger, data="patients of 2024")
    dp.Session("trial", ..., ledger=ledger, data="patients of 2025")
    ledger.spent("patients of 2024")

It is charged before anything is released, so that a release that is then killed is paid for all the same. All ε
are for a person who is replaced. Those of pure mechanisms add up; μ adds up in squares, and ρ adds up; of
several such sums, each of which holds, the least is taken (`composed`). These rules are for costs that nobody
chooses by what was released before.
"""

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from dpucbvi.certify import Guarantee
from dpucbvi.errors import InputError, check_number
from dpucbvi.files import locked, write_durably
from dpucbvi.privacy.accounting import MARGIN
from dpucbvi.privacy.certificate import RELEASE, at_most, epsilon_of, positive

PUBLIC = "public"  # what no user's data was in


class Entry(NamedTuple):
    """One use of a data set; μ and ρ are infinite where none is known."""

    data: str
    what: str
    epsilon: float = 0.0
    delta: float = 0.0
    mu: float = 0.0
    rho: float = 0.0


def composed(entries: list[Entry], delta: float) -> float:
    """The ε at δ of all entries together.

    An (ε, δ) without μ and ρ takes its share of ε and δ off; of the others either all go by μ and ρ, or the
    pure ones are added to what the rest comes to.
    """
    opaque = [one for one in entries if math.isinf(one.mu) and math.isinf(one.rho)]
    others = [one for one in entries if one not in opaque]
    left = delta - math.fsum(one.delta for one in opaque)
    if left < 0.0:
        return math.inf
    added = math.fsum(one.epsilon for one in others if one.delta == 0.0)
    noisy = [one for one in others if one.delta > 0.0]
    return math.fsum(one.epsilon for one in opaque) + min(_at(others, left), added + _at(noisy, left))


def _at(entries: list[Entry], delta: float) -> float:
    mu, rho = math.hypot(*(one.mu for one in entries)), math.fsum(one.rho for one in entries)
    return epsilon_of(mu, rho, delta)


class Ledger:
    """What was spent on which data.

    Parameters
    ----------
    path
        Its file. If it is there, it must have the same budget.
    epsilon, delta
        The budget of every data set, for a person who is replaced.

    Raises
    ------
    InputError
        If the file has another budget, or is no ledger.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import dpucbvi as dp
    >>> ledger = dp.Ledger(pathlib.Path(tempfile.mkdtemp()) / "ledger", epsilon=3.0)
    """

    def __init__(self, path: str | Path, *, epsilon: float, delta: float = 0.0):
        check_number("epsilon", epsilon, positive, "a number > 0")
        check_number("delta", delta, lambda delta: 0.0 <= delta < 1.0, "a number in [0, 1)")
        self.path, self.epsilon, self.delta = Path(path).absolute(), float(epsilon), float(delta)
        with self._changing():
            pass

    @property
    def entries(self) -> list[Entry]:
        """All that was charged or noted, oldest first."""
        try:
            kept = json.loads(self.path.read_bytes())
            found = [
                Entry(*row[:2], *(math.inf if cost is None else cost for cost in row[2:]))
                for row in kept["entries"]
            ]
            budget = (kept["epsilon"], kept["delta"])
        except FileNotFoundError:
            return []
        except (ValueError, TypeError, KeyError):
            raise InputError(f"ledger: {self.path} is no ledger, or was changed by hand") from None
        if budget != (self.epsilon, self.delta):
            raise InputError(f"ledger: the budget of {self.path} is ε = {budget[0]:g} at δ = {budget[1]:g}")
        return found

    def spent(self, data: str) -> float:
        """The ε at the ledger's δ of all that was done with a data set."""
        return composed([one for one in self.entries if one.data == data], self.delta)

    def charge(self, data: str, guarantee: Guarantee, what: str) -> None:
        """Pay for one use of a data set, before it happens; InputError if the budget does not have it."""
        if guarantee.noise != RELEASE:
            raise InputError("noise: simulated noise protects nobody; a ledger takes noise='exact'")
        with self._changing() as entries:
            epsilon, mu, rho = guarantee.replace_one
            entries.append(Entry(data, what, epsilon, guarantee.delta, mu, rho))
            total = composed([one for one in entries if one.data == data], self.delta)
            if not total <= self.epsilon * (1.0 + MARGIN):
                raise InputError(
                    f"ledger: {what} is refused: {data} would have spent ε = {at_most(total)} at δ = "
                    f"{self.delta:g}, and the budget is {self.epsilon:g}"
                )

    def note(self, what: str) -> None:
        """Write down a choice that rests on no user's data, such as factors chosen on a simulator."""
        with self._changing() as entries:
            entries.append(Entry(PUBLIC, what))

    @contextmanager
    def _changing(self) -> Iterator[list[Entry]]:
        """The entries, to be added to; they are on the disk when this ends, or nothing is changed."""
        with locked(self.path):
            entries = self.entries
            yield entries
            rows = [[None if cell == math.inf else cell for cell in entry] for entry in entries]
            kept = {"epsilon": self.epsilon, "delta": self.delta, "entries": rows}
            write_durably(self.path, json.dumps(kept, ensure_ascii=False).encode())


def pay(ledger: Any, data: Any, guarantee: Guarantee, what: str) -> None:
    """Charge a ledger, if there is one."""
    if ledger is None and data is None:
        return
    if not (isinstance(ledger, Ledger) and isinstance(data, str) and data != PUBLIC):
        raise InputError("ledger, data: a dp.Ledger is charged for data that have a name; both are needed")
    ledger.charge(data, guarantee, what)


def check_paid(ledger: Any, data: str | None) -> None:
    """Raise InputError if something was made of users' data, unless a release of them is in the ledger."""
    if not isinstance(ledger, Ledger | None):
        raise InputError(f"ledger: {ledger!r} is not accepted; it must be a dp.Ledger")
    if data is not None and (ledger is None or ledger.spent(data) == 0.0):
        raise InputError(f"data: no ledger was charged for a release of {data} that the MDP could be made of")
