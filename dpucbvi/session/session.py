"""A session: places for real users, their trajectories in, and policies, releases and a certificate out.

    ses = dp.Session("trial", H=4, S=3, A=2, K=200, agent=dp.DPUCBVI(bonus_scale=1e-4),
                     privatizer=dp.Batches(5, noise="exact"))
    visit = ses.issue()                                  # a ticket, its place, the policy to follow
    receipt = ses.record(visit.ticket, s, a, r)          # durable when it returns
    ses.policy, ses.published, ses.certificate           # made of releases alone: safe to show

Places are public, what happens in them is not. `issue` fixes a place, its batch and the policy shown there.
What is recorded under the ticket is sanitised and added to the sums of its batch; the first message counts. A
batch is released when each of its places is recorded or past the deadline; a place that is not recorded adds 0.
So neither when a release comes nor which rows get noise depends on what anyone sent.

The order of a release: the integers with their noise are committed and the sums behind them erased; the log
outside the store has them; the policy is planned on them and committed; then it is shown. Whatever is killed in
between, `Session.open` goes on from there with the same integers.
"""

import hashlib
import hmac
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.agents.own import OwnAgent, has_plan
from dpucbvi.agents.register import AGENTS
from dpucbvi.certify import PROVEN, Guarantee, guarantee
from dpucbvi.errors import InputError, check_number, whole
from dpucbvi.privatizers import PRIVATIZERS, OneQuestion
from dpucbvi.privatizers.arrays import is_exact
from dpucbvi.protocol import Counts, Ints, Problem, Setup
from dpucbvi.session import course
from dpucbvi.session.client import Question, parsed
from dpucbvi.session.ledger import pay
from dpucbvi.session.store import Line, Log, Store
from dpucbvi.simulate import fitted

OPEN_END = 10**6  # places of a session without a K: its bounds are for so many


class Visit(NamedTuple):
    """What a user is handed: her ticket, and the policy to follow, all of it: pi[h, s] is an action.

    In the local model also the question to her, for her own device to answer (client.py).
    """

    ticket: str
    place: int
    batch: int
    policy: Ints
    question: bytes | None = None


class Publication(NamedTuple):
    """The last release: its integers as they left, and the noisy counts that they amount to.

    Integers are in the order of counts.as_counts, rewards in units of 1/`grid`; those of the local model are
    tallies of answers, those of Windows the symbols of the last batch by window.
    """

    number: int
    integers: Ints
    grid: int
    counts: Counts


class Session:
    """Learn from real users: issue tickets, record trajectories, release noisy sums and publish policies.

    A session is one process and one folder. The guide's page "Real users" says what it guarantees.

    Parameters
    ----------
    folder
        A folder of its own, which must not be there yet.
    H, S, A
        Steps of an episode, states, actions.
    agent, privatizer
        As in `dp.run`; the noise must be exact. Agents are those of the package whose policies choose one
        action per state, and `dp.planner`.
    K
        How many places there are. Batches, Windows and OneQuestion may leave it open: then a million.
    beta
        The failure probability of the agent's bounds.
    deadline
        Seconds after its issue at which a place without a record is given up. By default a batch waits.
    log
        The file of its releases, outside the folder; `<folder>.releases` if it is not given.
    per_person
        How many places one person may take; you must enforce it. The certificate is for a person.
    ledger, data
        A `dp.Ledger` to charge, and the name under which it has these people.

    Raises
    ------
    InputError
        If a setting is not accepted, the folder is there, or the ledger refuses; never for what a user sent.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import dpucbvi as dp
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "trial"
    >>> private = dp.Batches(epsilon=5, first=50, noise="exact")
    >>> ses = dp.Session(folder, H=4, S=3, A=2, K=200, agent=dp.DPUCBVI(bonus_scale=1e-4), privatizer=private)
    >>> visit = ses.issue()
    >>> s = [0, 1, 2, 2, 1]
    >>> receipt = ses.record(visit.ticket, s, visit.policy[range(4), s[:-1]], [0, 0, 1, 1])
    >>> ses.left
    199
    >>> ses.delete()
    """

    _seed: int | None = None  # for tests alone: then words may be seeded

    def __init__(
        self,
        folder: str | Path,
        *,
        H: int,
        S: int,
        A: int,
        agent: Any,
        privatizer: Any,
        K: int | None = None,
        beta: float = 0.05,
        deadline: float | None = None,
        log: str | Path | None = None,
        per_person: int = 1,
        ledger: Any = None,
        data: str | None = None,
    ):
        if deadline is not None:
            check_number("deadline", deadline, lambda seconds: seconds > 0.0, "a number of seconds > 0")
            deadline = float(deadline)
        K = None if K is None else whole("K", K, 2)
        sizes = {"H": whole("H", H, 1), "S": whole("S", S, 1), "A": whole("A", A, 1), "K": K, "beta": beta}
        setup = self._set_up(sizes, agent, privatizer)
        stored = _described(PRIVATIZERS, privatizer)
        if "own" in stored:  # such a session could not go on after a restart
            raise InputError("privatizer: its settings must be numbers of Python, which a session can store")
        path = Path(folder).absolute()
        about: dict[str, Any] = {
            "session": secrets.token_hex(16),
            "sizes": sizes,
            "deadline": deadline,
            "per_person": whole("per_person", per_person, 1),
            "agent": _described(AGENTS, agent),
            "privatizer": stored,
            "version": course.VERSIONS[type(privatizer)],
            "log": str(_log_of(path, log)),
            **dict.fromkeys(
                ("released", "before", "planned", "batch", "noise", "logged_noise", "first", "spent"), 0
            ),
        }
        source, planner = course.source(setup, self._seed or 0), course.Planner(setup)
        planner.plan(None, 1)
        Store.check_new(path)
        pay(ledger, data, _certificate(setup, per_person), f"a session in {path.name}")
        Log(Path(about["log"]), about["session"]).create()
        store = Store.create(path, about, [*source.changed(), *planner.changed()])
        self._begin(store, setup, source, planner)

    @classmethod
    def _set_up(cls, sizes: dict[str, Any], agent: Any, privatizer: Any) -> Setup:
        """The parts of a session, checked."""
        if type(privatizer) not in course.VERSIONS:
            names = ", ".join(kind.__name__ for kind in course.VERSIONS)
            raise InputError(
                f"privatizer: {type(privatizer).__name__} is not accepted; a session takes {names}"
            )
        check_exact(privatizer, cls._seed is not None)
        if isinstance(privatizer, OneQuestion) and privatizer.symbols:
            raise InputError("symbols: a session asks two kinds of question; it must be false here")
        check_agent(agent)
        K = sizes["K"]
        if K is None and not isinstance(privatizer, course.MAY_STAY_OPEN):
            raise InputError(f"K: {type(privatizer).__name__} must know how many places there are")
        problem = Problem(sizes["H"], sizes["S"], sizes["A"], OPEN_END if K is None else K, sizes["beta"])
        setup = fitted(agent, privatizer, problem)
        if not len(privatizer.ends(problem)):
            raise InputError(f"K: with {K} places nothing would ever be released")
        return setup

    def _begin(self, store: Store, setup: Setup, source: Any, planner: Any) -> None:
        self._store, self._about, self._setup = store, store.about, setup
        self._source, self._planner = source, planner
        self._log = Log(Path(store.about["log"]), store.about["session"])
        self._process, self._clock = os.getpid(), time.time
        last = store.db.execute("SELECT max(place) FROM places").fetchone()[0] or 0
        self._issued = max(last, store.about["spent"])

    # --- going on ---------------------------------------------------------------------------------------------

    @classmethod
    def open(cls, folder: str | Path, agent: Any = None) -> "Session":
        """Go on with a session that was closed, or whose process ended in whatever way.

        An agent that is not made of plain settings (`dp.planner`, a bonus of your own) is handed over again.
        """
        session = cls._load(Path(folder).absolute(), agent)
        with session._or_closed():
            session._compare_with_log()
            session._settle()
        return session

    @classmethod
    def recover(cls, folder: str | Path, agent: Any = None) -> "Session":
        """Go on with a store that is behind its log, such as a backup: nothing is ever released again.

        The releases are those of the log. The sums of open batches are discarded, their places are spent, and
        running sums begin with new noise. A ticket issued before counts for nothing any more: so whoever is in
        a release of the log is in no later one, and the certificate stays what it is.
        """
        session = cls._load(Path(folder).absolute(), agent)
        with session._or_closed():
            session._recover()
        return session

    @classmethod
    def _load(cls, folder: Path, agent: Any) -> "Session":
        store = Store(folder)
        try:
            about = store.about
            chosen = _restored(AGENTS, about["agent"], agent)
            privatizer = _restored(PRIVATIZERS, about["privatizer"], None)
            if course.VERSIONS.get(type(privatizer)) != about["version"]:
                raise InputError(f"session: {folder} was begun with another version of its privatizer")
            setup = cls._set_up(about["sizes"], chosen, privatizer)
            source, planner, stored = course.source(setup, 0), course.Planner(setup), store.kept()
            source.load(stored, about["first"], about["batch"])
            source.changed()
            planner.load(stored)
            session = cls.__new__(cls)
            session._begin(store, setup, source, planner)
            session._integers = np.frombuffer(stored.get(("integers", 0), b""), np.int64).copy()
            session._log.mend()
            return session
        except BaseException:
            store.close()
            raise

    _integers: Ints = np.zeros(0, np.int64)  # of the last release

    def _compare_with_log(self) -> None:
        """The log has the last release, or all but the last, which it then gets."""
        last, released = self._log.last(), self._about["released"]
        logged = 0 if last is None else last.number
        line = Line(released, self._about["logged_noise"], self._integers)
        if logged == self._about["before"] < released:
            self._log.append(line)
        elif logged != released or (last is not None and last.checksum != line.checksum):
            raise InputError(
                f"session: {self._store.folder} is not at release {logged}, the last of its log: a copy or a "
                "backup must not release again; dp.Session.recover goes on without the open batches"
            )

    def _settle(self) -> None:
        """Whatever was due when the process ended."""
        self._store.empty_journal()  # it may have ended between a release and this
        if self._about["planned"] < self._about["released"]:
            self._plan()
        self.close_expired()

    def _recover(self) -> None:
        source, counts, last = self._source, np.zeros(self._source.counts.size), None
        source.begin(0, counts)
        for line in self._log.lines():
            if last is not None and line.noise != last.noise:
                source.restart(0, counts)
            last, counts = line, source.replay(line.integers)
        seen = self._store.db.execute("SELECT max(batch) FROM places").fetchone()[0]
        logged, noise = (0, 0) if last is None else (last.number, last.noise)
        batch = min(max(logged, self._about["batch"], 0 if seen is None else seen + 1), len(source.ends))
        source.restart(batch, counts)
        with self._store.transaction() as db:
            db.execute("UPDATE places SET open = 0, ticket = NULL")
            db.execute("DELETE FROM batches")
            db.execute("DELETE FROM state WHERE name NOT IN ('Q', 'V', 'pi')")
            spent = max(self._issued, int(source.ends[batch - 1]) if batch else 0)
            self._store.tell(released=logged, before=logged, batch=batch, first=batch, spent=spent)
            self._store.tell(noise=noise + 1, logged_noise=noise)
            self._integers = self._integers[:0] if last is None else last.integers
            self._store.keep([*source.changed(), course.Row("integers", 0, self._integers)])
        self._store.empty_journal()
        self._issued = spent
        self._plan()

    # --- users ------------------------------------------------------------------------------------------------

    def issue(self) -> Visit:
        """The next place: a ticket to record what happens there, and the policy to follow."""
        self.close_expired()
        if self._issued >= self._setup.problem.K:
            raise InputError(f"session: all {self._setup.problem.K} places are issued")
        place, policy = self._issued + 1, self.policy
        batch = int(np.searchsorted(self._source.ends, place))
        ticket, asked = secrets.token_urlsafe(32), self._source.ask(policy)
        sums, shown = self._batch(batch)
        before = shown.copy()
        self._source.mask(shown, policy)
        deadline = self._about["deadline"]
        due = None if deadline is None else self._clock() + deadline
        with self._durably() as db:
            row = (place, batch, self._hash(b"ticket", ticket), due, asked, 1)
            db.execute("INSERT INTO places VALUES (?, ?, ?, ?, ?, ?)", row)
            if (shown != before).any():
                self._keep_batch(batch, sums, shown)
        self._issued = place
        return Visit(ticket, place, batch, policy, self._question(ticket, place, asked))

    def record(self, ticket: str, *sent: Any) -> str:
        """What happened at a place: states s[0..H], actions and rewards; in the local model, one message.

        Returns a receipt, the same for whatever is sent and however often. What cannot be read adds 0; the
        first message counts; a late one, or one with a ticket that there is not, counts for nothing.
        """
        self.close_expired()
        receipt = self._hash(b"receipt", ticket).hex()
        found = self._store.db.execute(
            "SELECT place, batch, question FROM places WHERE open AND ticket = ?",
            (self._hash(b"ticket", ticket),),
        ).fetchone()
        if found is None:
            return receipt
        place, batch, asked = found
        sums, shown = self._batch(batch)
        if isinstance(self._setup.privatizer, OneQuestion):
            sent = parsed(sent, ticket, place)
        if batch < len(self._source.ends):  # nothing is kept of what is never released
            self._source.add(sums, asked, sent)
        with self._durably():
            self._close_places([(place,)])
            self._keep_batch(batch, sums, shown)
        self._advance()
        return receipt

    def close_expired(self, now: float | None = None) -> None:
        """Give up the places whose deadline has passed; every call does so first."""
        self._check_alive()
        now = self._clock() if now is None else now
        expired = self._store.db.execute("SELECT place FROM places WHERE open AND due <= ?", (now,)).fetchall()
        if expired:
            with self._durably():
                self._close_places(expired)
        self._advance()

    def _close_places(self, places: list[tuple[int]]) -> None:
        self._store.db.executemany("UPDATE places SET open = 0, ticket = NULL WHERE place = ?", places)

    def _batch(self, batch: int) -> tuple[Ints, Ints]:
        """The sums of a batch, and the rows that its policies may visit."""
        db, problem = self._store.db, self._setup.problem
        kept = db.execute("SELECT sums, shown FROM batches WHERE batch = ?", (batch,)).fetchone()
        if kept is None:
            kept = bytes(8 * self._source.size), bytes(8 * self._setup.G * problem.S * problem.A)
        sums, shown = (np.frombuffer(part, np.int64).copy() for part in kept)
        return sums, shown

    def _keep_batch(self, batch: int, sums: Ints, shown: Ints) -> None:
        row = (batch, sums.tobytes(), shown.tobytes())
        self._store.db.execute("INSERT OR REPLACE INTO batches VALUES (?, ?, ?)", row)

    def _hash(self, purpose: bytes, ticket: Any) -> bytes:
        told = ticket.encode(errors="replace") if isinstance(ticket, str) else b"no ticket"
        return hmac.new(self._store.key, purpose + b" " + told, hashlib.sha256).digest()

    def _question(self, ticket: str, place: int, asked: int) -> bytes | None:
        privatizer, problem = self._setup.privatizer, self._setup.problem
        if not isinstance(privatizer, OneQuestion):
            return None
        session, sizes = self._about["session"], (self._setup.G, problem.H, problem.S, problem.A)
        return Question(session, ticket, place, asked // 2, asked % 2, privatizer.epsilon, *sizes).sent()

    # --- releases ---------------------------------------------------------------------------------------------

    def _advance(self) -> None:
        """Release every batch whose places are all settled, in order."""
        ends, waits = self._source.ends, "SELECT 1 FROM places WHERE open AND batch = ? LIMIT 1"
        while (batch := self._about["batch"]) < len(ends):
            if self._issued < ends[batch] or self._store.db.execute(waits, (batch,)).fetchone():
                return
            self._release(batch)

    def _release(self, batch: int) -> None:
        number, before = batch + 1, self._about["released"]
        with self._durably() as db:
            self._integers = self._source.release(batch, *self._batch(batch))
            self._store.keep([*self._source.changed(), course.Row("integers", 0, self._integers)])
            db.execute("DELETE FROM batches WHERE batch = ?", (batch,))
            noise = self._about["noise"]
            self._store.tell(released=number, before=before, batch=batch + 1, logged_noise=noise)
        self._store.empty_journal()
        with self._or_closed():
            self._log.append(Line(number, noise, self._integers))
        self._plan()

    def _plan(self) -> None:
        """The policy of the last release; it is committed before anybody sees it."""
        with self._durably():
            self._planner.plan(self._source.counts, self._issued + 1)
            self._store.keep(self._planner.changed())
            self._store.tell(planned=self._about["released"])

    # --- what may be shown ------------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        """The name by which clients of the local model know the session."""
        return str(self._about["session"])

    @property
    def policy(self) -> Ints:
        """pi[h, s], the action of the last plan."""
        self._check_alive()
        return self._planner.values.pi.copy()

    @property
    def published(self) -> Publication | None:
        """The last release; None before the first."""
        self._check_alive()
        if not self._about["released"]:
            return None
        counts = course.noisy_counts(self._setup, self._source.counts)
        return Publication(self._about["released"], self._integers.copy(), self._source.grid, counts)

    @property
    def certificate(self) -> Guarantee:
        """What holds for everybody who takes her places, however far the session has come."""
        return _certificate(self._setup, self._about["per_person"])

    @property
    def places(self) -> int:
        """How many places are issued."""
        return self._issued

    @property
    def left(self) -> int:
        """How many are not."""
        return self._setup.problem.K - self._issued

    # --- the end ----------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Let go of the folder; `Session.open` goes on."""
        if self._process == os.getpid():
            self._store.close()
            self._process = -1

    def delete(self) -> None:
        """Remove the folder with all that was not released; the log of the releases stays."""
        self.close()
        shutil.rmtree(self._store.folder, ignore_errors=True)

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_alive(self) -> None:
        if self._process != os.getpid():
            raise InputError("session: it is closed here; Session.open goes on with it")

    @contextmanager
    def _durably(self) -> Iterator[Any]:
        """A transaction."""
        with self._or_closed(), self._store.transaction() as db:
            yield db

    @contextmanager
    def _or_closed(self) -> Iterator[None]:
        """If this fails, memory may be ahead of the disk, and the session is closed."""
        try:
            yield
        except BaseException:
            self.close()
            raise


def _log_of(folder: Path, log: str | Path | None) -> Path:
    path = folder.with_name(f"{folder.name}.releases") if log is None else Path(log).absolute()
    if folder in path.parents:
        raise InputError(f"log: {path} lies in the folder of the session; it must lie outside")
    if path.exists():
        raise InputError(f"log: {path} is there already; a session begins a log of its own")
    return path


def _certificate(setup: Setup, per_person: int) -> Guarantee:
    return guarantee(setup.certificate, PROVEN, per_person=per_person)


def check_exact(privatizer: Any, seeded: bool = False) -> None:
    """Raise InputError for noise that protects nobody; tests may seed it."""
    if not is_exact(privatizer) or (privatizer.words.seeded and not seeded):
        raise InputError("noise: simulated noise protects nobody; real users take noise='exact'")


def check_agent(agent: Any) -> None:
    """Raise InputError for an agent that does not survive a restart, or plans without a release."""
    if not hasattr(agent, "algorithm") or not has_plan(agent):
        raise InputError("agent: a session takes agents of the package and dp.planner, which survive a restart")
    if getattr(agent, "stochastic", False):
        raise InputError(f"agent: {type(agent).__name__} plans for every user; a session plans at releases")


def _described(registry: Any, part: Any) -> dict[str, Any]:
    """A part of the package by name and settings; one of one's own by name alone."""
    names = [name for name in registry if type(part) is registry[name]]
    settings = [one for one in fields(part) if one.name != "words"] if names else []
    given = {one.name: (getattr(part, one.name), one.default) for one in settings}
    changed = {name: value for name, (value, default) in given.items() if value != default}
    if names and all(isinstance(value, bool | int | float | str | None) for value in changed.values()):
        return {"name": names[0], "settings": changed}
    own = part.planner if isinstance(part, OwnAgent) else type(part)
    return {"own": getattr(own, "__name__", "planner")}


def _restored(registry: Any, described: dict[str, Any], given: Any) -> Any:
    if "own" in described:
        if given is None:
            raise InputError(f"agent: {described['own']} is your own; Session.open takes it as agent=")
        return given
    if given is not None:
        raise InputError(f"agent: the session was begun with {described['name']} and accepts no other agent")
    try:
        return registry[described["name"]](**described["settings"])
    except TypeError:
        raise InputError(
            f"session: {described['name']} does not have all its settings in this version"
        ) from None
