"""The user's half of the local model: it runs on her device, and one answer leaves it.

    client = dp.Client("answers.json", session=..., epsilon=1.0, H=4, S=3, A=2)
    message = client.answer(visit.question, s, a, r)     # what she sends: ticket, number, answer

The client knows from elsewhere which session it takes part in, with which ε and sizes, and answers no question
that says otherwise. It answers one question of a session, once: what it says is written down, with the ε that
it costs, before it is sent, and asked again it sends the same bytes. No visit, or a trajectory that cannot be
read, is an answer too. A message has the same length whatever it says.

Formal guarantees: the message is exactly ε-LDP (privacy/exact.py), a function of the question but for one
random answer. A device that answers in n sessions has spent the sum of their ε, at most `limit`.
"""

import json
import struct
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.counts import sanitised
from dpucbvi.errors import InputError
from dpucbvi.files import locked, write_durably
from dpucbvi.privacy.words import Stream, SystemWords
from dpucbvi.privatizers.one_question import answer, exact_budget, first_visit
from dpucbvi.protocol import User

MESSAGE = struct.Struct(">43sQH")  # ticket, number of the question, answer


class Question(NamedTuple):
    """One question as it is sent to a user: about the first visit of a row (g, s, a)."""

    session: str
    ticket: str
    number: int
    row: int
    about_reward: int
    epsilon: float
    G: int
    H: int
    S: int
    A: int

    def sent(self) -> bytes:
        return json.dumps(self._asdict()).encode()


def parsed(sent: tuple[Any, ...], ticket: str, number: int) -> tuple[Any, ...]:
    """The answer in a message to the question of this number; nothing if it is none."""
    try:
        told, about, answer = MESSAGE.unpack(*sent)
        return (answer,) if told == ticket.encode() and about == number else ()
    except Exception:  # whatever a stranger sends
        return ()


class Client:
    """One device that answers the question of `dp.OneQuestion` itself: only the noisy answer leaves it.

    Parameters
    ----------
    path : str or Path
        The file in which it remembers what it has said.
    session : str
        The session that may ask.
    epsilon : float
        The budget of an answer.
    H : int
        Steps of an episode.
    S : int
        States.
    A : int
        Actions.
    pooled : bool
        Whether counts are pooled over the steps.
    limit : float, optional
        The total ε of all answers of this device; by default that of one answer.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import dpucbvi as dp
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "device.json"
    >>> dp.Client(file, session="trial", epsilon=1.0, H=4, S=3, A=2).spent
    0.0
    """

    def __init__(
        self,
        path: str | Path,
        *,
        session: str,
        epsilon: float,
        H: int,
        S: int,
        A: int,
        pooled: bool = False,
        limit: float | None = None,
    ):
        self._path, self._session = Path(path), session
        sizes = {"G": 1 if pooled else H, "H": H, "S": S, "A": A}
        self._expected = {"session": session, "epsilon": epsilon, **sizes}
        self._limit = epsilon if limit is None else limit

    @property
    def spent(self) -> float:
        """The ε of all that this device has said."""
        return float(sum(entry["epsilon"] for entry in self._said().values()))

    def answer(self, question: bytes, s: Any, a: Any, r: Any) -> bytes:
        """The message to send; InputError for a question that this client does not answer."""
        with locked(self._path):
            return self._answered(self._said(), question, s, a, r)

    def _answered(self, said: dict[str, Any], question: bytes, s: Any, a: Any, r: Any) -> bytes:
        if self._session in said:
            if said[self._session]["question"] != question.decode(errors="replace"):
                raise InputError("question: this session has asked another one, and gets one answer")
            return bytes.fromhex(said[self._session]["message"])
        asked = self._checked(question)
        if self.spent + asked.epsilon > self._limit:
            raise InputError(
                f"epsilon: {self.spent:g} is spent of {self._limit:g}; this answer costs {asked.epsilon:g}"
            )
        message = MESSAGE.pack(asked.ticket.encode(), asked.number, self._answer(asked, s, a, r))
        entry = {"question": question.decode(), "message": message.hex(), "epsilon": asked.epsilon}
        write_durably(self._path, json.dumps({**said, self._session: entry}).encode())
        return message

    def _checked(self, question: bytes) -> Question:
        try:
            asked = Question(**json.loads(question))
            rows = asked.G * asked.S * asked.A
            good = 0 <= asked.row < rows and asked.about_reward in (0, 1) and len(asked.ticket.encode()) == 43
            whole = all(isinstance(one, int) for one in (asked.row, asked.number, asked.about_reward))
            good = good and whole and 0 <= asked.number < 2**64
        except Exception:
            raise InputError("question: it cannot be read") from None
        wrong = [key for key, value in self._expected.items() if getattr(asked, key) != value]
        if wrong or not good:
            raise InputError(f"question: {', '.join(wrong) or 'its row'} is not of this client's session")
        return asked

    def _answer(self, asked: Question, s: Any, a: Any, r: Any) -> int:
        """The true answer, hidden by randomised response; the last one is "no visit"."""
        budget, read = exact_budget(asked.epsilon), sanitised(s, a, r, asked.H, asked.S, asked.A)
        user, cells = User(*read, np.zeros(0), read.s[1:]), 0 if asked.about_reward else asked.S
        h = first_visit(user, asked.row, asked.G, asked.S, asked.A)
        return int(answer(user, h, cells, budget.numerator, budget.denominator, self._words()))

    def _words(self) -> Stream:
        return SystemWords()

    def _said(self) -> dict[str, Any]:
        try:
            return json.loads(self._path.read_bytes()) if self._path.exists() else {}
        except ValueError:
            raise InputError(f"client: {self._path} cannot be read; its answers are not known") from None
