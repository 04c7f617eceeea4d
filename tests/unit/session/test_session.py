"""Sessions with real users: what they release is what a run releases, and nothing else depends on anyone."""

import json
import sqlite3
import time
from functools import partial

import numpy as np
import pytest
from clinic import AGENT, MDP, MESSAGES, PRIVATIZERS, A, H, S, ended, follow, message, serve, session
from hypothesis import HealthCheck, given, settings, strategies as st

import dpucbvi as dp
from dpucbvi import simulate
from dpucbvi.privacy.law import GRIDS
from dpucbvi.privacy.words import SeededWords
from dpucbvi.session import course
from dpucbvi.session.client import MESSAGE
from dpucbvi.session.store import Log
from dpucbvi.simulate import episodes, private_counts, set_up

BITS = dp.flipping_river(S=S, H=H, at=2, rewards="bernoulli")
LOUD = {"confidence_scale": 0.01, "noise": "exact", "words": SeededWords}
EAGER = {"power": 1.0, "z": 1.0, "tolerance": 0.0}  # to split windows
SEEDED = {
    "batches": dp.Batches(500.0, first=10, **LOUD),
    "windows": dp.Windows(500.0, first=5000, pooled=10_000, **EAGER, **LOUD),
    "gaussian windows": dp.Windows(500.0, delta=1e-6, first=5000, pooled=10_000, **EAGER, **LOUD),
    "central": dp.Central(500.0, **LOUD),
    "kary": dp.KaryTree(500.0, every=3, **LOUD),
    "one question": dp.OneQuestion(30.0, first=10, **LOUD),
}


class Seeded(dp.Session):
    """With noise that can be had twice."""

    _seed = 3


class Shared(dp.Client):
    """Draws its answers from the words of the session, as a simulation of both halves does."""

    def _words(self):
        return self.of._source._words

    of: dp.Session


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("name", SEEDED)
def test_a_session_is_what_a_run_simulates(tmp_path, name, pooled, monkeypatch):
    """The same words, the same users: the same releases, to the bit, and the same policy for every user."""
    if pooled and "windows" in name:
        pytest.skip("windows find out by themselves how far to pool")
    agent, K = dp.DPUCBVI(bonus_scale=1e-3, pooled=pooled), 90
    mdp = BITS if "windows" in name else MDP  # where rewards are bits, no coin rounds them
    of_run = []
    monkeypatch.setattr(simulate, "private_counts", lambda *at: of_run.append(private_counts(*at)) or of_run[0])
    ses = Seeded(tmp_path / "trial", H=H, S=S, A=A, K=K, agent=agent, privatizer=SEEDED[name])
    changes, last = 0, None
    for episode in episodes(set_up(mdp, agent, SEEDED[name], K), seed=3):
        visit = ses.issue()
        if ses.published is not None:
            for released, simulated in zip(ses.published.counts, of_run[0].N_hat, strict=True):
                np.testing.assert_array_equal(released, simulated)
        np.testing.assert_array_equal(visit.policy, episode.plan.pi)
        changes += last is not None and (visit.policy != last).any()
        last = visit.policy
        sent = tuple(episode.trajectory)
        if visit.question is not None:
            pins = {"epsilon": 30.0, "H": H, "S": S, "A": A, "pooled": pooled}
            client = Shared(tmp_path / f"{visit.place}.json", session=ses.id, **pins)
            client.of = ses
            sent = (client.answer(visit.question, *sent),)
        ses.record(visit.ticket, *sent)
    assert changes > 0 and ses.published.number > 5
    ses.close()


@pytest.mark.parametrize("K", [120, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", PRIVATIZERS)
def test_a_thousand_users(tmp_path, name, K):
    with session(tmp_path / "trial", name, K=K) as ses:
        serve(ses, tmp_path, 60)
        policy, published = ses.policy, ses.published
    with dp.Session.open(tmp_path / "trial") as ses:
        np.testing.assert_array_equal(ses.policy, policy)
        np.testing.assert_array_equal(ses.published.integers, published.integers)
        assert ses.published.number == published.number and ses.places == 60
        serve(ses, tmp_path, K)
        assert ses.left == 0 and ses.published.number > published.number
        with pytest.raises(dp.InputError, match=f"all {K} places are issued"):
            ses.issue()
        assert ses.certificate.replace_one.epsilon > 0 and ses.certificate.noise == "release"


def test_users_out_of_order_and_late_ones(tmp_path):
    """A batch waits for its places; one whose deadline is past adds nothing; nobody learns which."""
    with session(tmp_path / "trial", "batches", deadline=100.0) as ses:
        visits = [ses.issue() for _ in range(25)]
        for visit in reversed(visits[1:]):
            ses.record(visit.ticket, *follow(visit, visit.place))
        assert ses.published is None  # the first place is open
        ses.close_expired(time.time() + 101.0)
        assert ses.published.number == 1
        late, again = ses.record(visits[0].ticket, *follow(visits[0], 0)), ses.record(visits[1].ticket, 1, 2, 3)
        assert len(late) == len(again) == len(ses.record("a ticket that there is not")) == 64
        assert ses.record(visits[1].ticket, *follow(visits[1], 1)) == again
        assert ses.published.number == 1


def batch_sums(folder):
    """Everything that is kept of open batches."""
    db = sqlite3.connect(f"file:{folder}/store.db?mode=ro", uri=True)
    found = [np.frombuffer(sums, np.int64) for (sums,) in db.execute("SELECT sums FROM batches ORDER BY batch")]
    db.close()
    return found


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sent=st.one_of(MESSAGES, st.lists(st.integers(), max_size=5).map(tuple)),
    ticket=st.one_of(st.text(), st.none()),
)
def test_whatever_is_sent(strangers_session, sent, ticket):
    """A receipt, a place that is used up, counters that move by at most 3H/2 (windows: H), releases on time."""
    ses, folder, name = strangers_session
    if ses.left < 2:
        return
    assert len(ses.record(ticket, *sent)) == 64
    visit, number = ses.issue(), ses.published.number if ses.published else 0
    before = (batch_sums(folder) or [0])[0]
    assert len(ses.record(visit.ticket, *sent)) == 64
    ends = PRIVATIZERS[name].ends(dp.Problem(H, S, A, 3000, 0.05))
    ended = visit.place in ends
    assert (ses.published.number if ses.published else 0) == number + ended
    if not ended and visit.batch < len(ends):
        moved = np.abs(batch_sums(folder)[0] - before)
        n = H * S * A
        assert name == "batches" or moved.sum() <= H
        assert moved[: n + n * S].sum() <= H and moved[n + n * S :].sum() <= H * GRIDS[0] // 2


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sent=st.one_of(st.tuples(st.binary()), MESSAGES, st.tuples(st.integers(0, 2**16 - 1))), right=st.booleans()
)
def test_whatever_is_sent_as_an_answer(asked_session, sent, right):
    """A receipt, and one answer in the tallies at most; a number alone is sent with ticket and place."""
    ses, folder = asked_session
    visit = ses.issue()
    if right and len(sent) == 1 and isinstance(sent[0], int):
        sent = (MESSAGE.pack(visit.ticket.encode(), visit.place, sent[0]),)
    before = sum(sums.sum() for sums in batch_sums(folder))
    assert len(ses.record(visit.ticket, *sent)) == 64
    if visit.place % 20:  # else its batch is released
        assert 0 <= sum(sums.sum() for sums in batch_sums(folder)) - before <= 2
    assert (ses.published.number if ses.published else 0) == visit.place // 20


@pytest.fixture(scope="module")
def asked_session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("asked") / "trial"
    private = dp.OneQuestion(3.0, first=20, growth=1.0, noise="exact")
    with dp.Session(folder, H=H, S=S, A=A, K=3000, agent=AGENT, privatizer=private) as ses:
        yield ses, folder


@pytest.fixture(scope="module", params=["batches", "windows"])
def strangers_session(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("strangers") / "trial"
    with session(folder, request.param, K=3000) as ses:
        yield ses, folder, request.param


def small(folder, epsilon=1e6, masked=True, **settings):
    """Batches of 10. Without another ε there is no noise: e^-10000 is the chance of any."""
    private = dp.Batches(epsilon, first=10, growth=1.0, drop_empty=False, policy_cells=masked, noise="exact")
    return dp.Session(folder, H=H, S=S, A=A, K=50, agent=AGENT, privatizer=private, **settings)


def test_rows_get_noise_by_the_policies_issued_and_not_by_what_is_claimed(tmp_path):
    """Everybody claims action 1 where action 0 was issued: nothing of it is released, and all of 0 has noise.

    With noise of scale 107, the three cells of one of 12 rows are all 0 once in 800,000 such tests.
    """
    for epsilon, noisy in ((1e6, False), (0.1, True)):
        with small(tmp_path / f"{epsilon}", epsilon) as ses:
            for _ in range(10):
                visit = ses.issue()
                assert not visit.policy.any()
                ses.record(visit.ticket, [0] * (H + 1), [1] * H, [1.0] * H)
            rows = np.abs(ses.published.counts.N_sas).sum(axis=-1)
            assert not rows[..., 1].any() and (rows[..., 0] > 0).all() == noisy


def test_neither_the_order_of_arrival_nor_a_second_message_changes_a_release(tmp_path):
    released = []
    for order, again in ((range(10), False), (reversed(range(10)), True)):
        with small(tmp_path / f"{again}") as ses:
            visits = [ses.issue() for _ in range(10)]
            for i in order:
                sent = follow(visits[i], i)
                first = ses.record(visits[i].ticket, *sent)
                assert not again or first == ses.record(visits[i].ticket, *follow(visits[i], 100 + i))
            released.append(ses.published.integers)
    np.testing.assert_array_equal(*released)


def test_a_message_after_the_deadline_adds_nothing(tmp_path):
    with small(tmp_path / "trial", deadline=100.0) as ses:
        visits = [ses.issue() for _ in range(10)]
        for visit in visits[:-1]:
            ses.record(visit.ticket, *follow(visit, visit.place))
        ses._clock = lambda: time.time() + 101.0
        assert len(ses.record(visits[-1].ticket, *follow(visits[-1], 10))) == 64
        assert ses.published.number == 1 and ses.published.counts.N_sa.sum() == 9 * H


def kept(folder):
    """All bytes of a session's folder, its journal too."""
    return b"".join(path.read_bytes() for path in folder.iterdir())


def test_after_a_release_neither_sums_nor_noise_nor_tickets_are_kept(tmp_path):
    with small(tmp_path / "trial", 5.0, masked=False) as ses:
        visits = [ses.issue() for _ in range(10)]
        for visit in visits[:-1]:
            ses.record(visit.ticket, *follow(visit, visit.place))
        (sums,) = batch_sums(tmp_path / "trial")
        assert sums.tobytes() in kept(tmp_path / "trial")  # what is looked for below can be found
        ses.record(visits[-1].ticket, None)
        noise = (ses.published.integers - sums)[H * S * A :]
        assert noise.any() and batch_sums(tmp_path / "trial") == []
        left = kept(tmp_path / "trial")
        assert ses.published.integers.tobytes() in left
        for gone in (sums, noise, noise.astype(float)):
            assert gone.tobytes() not in left
        assert not any(visit.ticket.encode() in left for visit in visits)
        pragmas = {"synchronous": 2, "secure_delete": 1, "temp_store": 2}  # FULL, ON, MEMORY
        assert {name: ses._store.db.execute(f"PRAGMA {name}").fetchone()[0] for name in pragmas} == pragmas
    assert (tmp_path / "trial").stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "trial").iterdir()} == {0o600}


def test_nothing_that_was_sent_is_written_or_said(tmp_path, capfd, caplog):
    """And a place whose message could not be read looks like any other."""
    with small(tmp_path / "trial") as ses:
        readable, not_readable = ses.issue(), ses.issue()
        ses.record(readable.ticket, *follow(readable, 1))
        ses.record(not_readable.ticket, ["a secret of hers"], {"a": "secret of hers"}, -271828)
        ses.record("a secret of hers", "a secret of hers")
        one, other = ses._store.db.execute("SELECT batch, ticket, due, question, open FROM places")
        assert one == other
        said = "".join(capfd.readouterr()) + caplog.text
        assert "secret" not in said and b"secret" not in kept(tmp_path / "trial")
        assert "secret" not in (tmp_path / "trial.releases").read_text()


def test_a_release_that_cannot_be_logged_is_not_shown(tmp_path, monkeypatch):
    with small(tmp_path / "trial") as ses, monkeypatch.context() as full:
        full.setattr(Log, "_append", lambda *_: (_ for _ in ()).throw(OSError("no space left")))
        with pytest.raises(OSError, match="no space left"):
            serve(ses, tmp_path, 10)
        for shown in ("published", "policy"):
            with pytest.raises(dp.InputError, match="it is closed here"):
                getattr(ses, shown)
    with dp.Session.open(tmp_path / "trial") as ses:
        assert ses.published.number == 1 and len((tmp_path / "trial.releases").read_text().splitlines()) == 2


def change(folder, statement):
    db = sqlite3.connect(folder / "store.db", isolation_level=None)
    db.execute(statement)
    db.close()


def test_another_version_goes_on_if_the_mechanism_is_the_same(tmp_path, monkeypatch):
    session(tmp_path / "trial", "batches").close()
    monkeypatch.setattr(dp, "__version__", "99")
    with dp.Session.open(tmp_path / "trial") as ses:
        assert ses.certificate.replace_one.epsilon == pytest.approx(5.0)
    monkeypatch.setitem(course.VERSIONS, dp.Batches, 2)
    with pytest.raises(dp.InputError, match="was begun with another version of its privatizer"):
        dp.Session.open(tmp_path / "trial")
    monkeypatch.undo()
    renamed = """UPDATE about SET value = replace(value, '"first"', '"later"') WHERE key = 'privatizer'"""
    change(tmp_path / "trial", renamed)
    with pytest.raises(dp.InputError, match="batches does not have all its settings in this version"):
        dp.Session.open(tmp_path / "trial")


def test_the_certificate_is_for_a_person_with_her_places(tmp_path):
    with small(tmp_path / "trial", 1.0, per_person=3) as ses:
        assert ses.certificate.replace_one.epsilon == pytest.approx(3.0) and "3 trajectories" in str(
            ses.certificate
        )
    with dp.Session.open(tmp_path / "trial") as ses:
        assert ses.certificate.replace_one.epsilon == pytest.approx(3.0)


def planner(counts):
    return dp.Plan(np.ones((H, S), dtype=np.int64), np.zeros((H, S, A)), np.zeros((H + 1, S)))


def test_a_planner_is_handed_over_again(tmp_path):
    sizes = {"H": H, "S": S, "A": A, "K": 60}
    with dp.Session(
        tmp_path / "t", **sizes, agent=dp.planner(planner), privatizer=PRIVATIZERS["batches"]
    ) as ses:
        assert ses.policy.all()
    with pytest.raises(dp.InputError, match="planner is your own"):
        dp.Session.open(tmp_path / "t")
    dp.Session.open(tmp_path / "t", agent=dp.planner(planner)).close()


def generator(problem, private):
    yield planner(None)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"privatizer": dp.Batches(1.0)}, "noise: simulated noise protects nobody"),
        ({"privatizer": SEEDED["batches"]}, "noise: simulated noise protects nobody"),
        ({"privatizer": dp.Local(1.0)}, "privatizer: Local is not accepted; a session takes Batches, Windows"),
        (
            {"privatizer": dp.LocalWindows(1.0)},
            "LocalWindows is not accepted; a session takes Batches, Windows",
        ),
        ({"privatizer": PRIVATIZERS["central"], "K": None}, "K: Central must know how many places there are"),
        ({"K": 10}, "K: with 10 places nothing would ever be released"),
        ({"agent": generator}, "agent: a session takes agents of the package and dp.planner"),
        ({"agent": dp.PrivateUCBPO()}, "agent: PrivateUCBPO plans for every user"),
        ({"deadline": 0}, "deadline: 0 is not accepted"),
        ({"log": "trial/log"}, "lies in the folder of the session"),
    ],
)
def test_what_a_session_does_not_take(tmp_path, monkeypatch, settings, said):
    monkeypatch.chdir(tmp_path)
    given = {"H": H, "S": S, "A": A, "K": 100, "agent": AGENT, "privatizer": PRIVATIZERS["batches"], **settings}
    with pytest.raises(dp.InputError, match=said) as error:
        dp.Session("trial", **given)
    assert "\n" not in str(error.value) and not list(tmp_path.iterdir())


def test_deleting_leaves_the_log(tmp_path):
    ses = session(tmp_path / "trial", "batches")
    serve(ses, tmp_path, 30)
    ses.delete()
    assert [path.name for path in tmp_path.iterdir()] == ["trial.releases"]
    with pytest.raises(dp.InputError, match="session: it is closed here"):
        ses.issue()


def test_the_client_answers_one_question_once(tmp_path):
    with session(tmp_path / "trial", "one question") as ses:
        visit, other = ses.issue(), ses.issue()
        pins = {"session": ses.id, "epsilon": 3.0, "H": H, "S": S, "A": A}
        client, user = dp.Client(tmp_path / "me.json", **pins), follow(visit, 1)
        first = client.answer(visit.question, *user)
        assert client.spent == 3.0 and len(first) == 53
        again = dp.Client(tmp_path / "me.json", **pins).answer(visit.question, "whatever", None, 3)
        assert again == first
        with pytest.raises(dp.InputError, match="gets one answer"):
            client.answer(other.question, *user)
        for pin in ({"epsilon": 4.0}, {"S": 2}, {"pooled": True}):
            with pytest.raises(dp.InputError, match="is not of this client's session"):
                dp.Client(tmp_path / "you.json", **{**pins, **pin}).answer(visit.question, *user)
        with pytest.raises(dp.InputError, match="epsilon: 0 is spent of 2; this answer costs 3"):
            dp.Client(tmp_path / "you.json", **pins, limit=2.0).answer(visit.question, *user)
        with pytest.raises(dp.InputError, match="it cannot be read"):
            dp.Client(tmp_path / "you.json", **pins).answer(b"how are you?", *user)
        assert len(dp.Client(tmp_path / "you.json", **pins).answer(other.question, None, [], "x")) == 53
        assert ses.record(visit.ticket, b"x" * 53) and message(ses, other, 9, tmp_path)


def test_questions_that_no_client_answers(tmp_path):
    """Out of range, or of another kind than it should be; and nothing is charged for them."""
    with session(tmp_path / "trial", "one question") as ses:
        visit = ses.issue()
        client = dp.Client(tmp_path / "me.json", session=ses.id, epsilon=3.0, H=H, S=S, A=A)
        asked = json.loads(visit.question)
        wrong = [("row", H * S * A), ("row", -1), ("row", 0.5), ("number", 1.5), ("number", 2**64)]
        for key, value in [*wrong, ("about_reward", 2), ("ticket", "short"), ("epsilon", 3.5), ("H", 5)]:
            with pytest.raises(dp.InputError, match="is not of this client's session"):
                client.answer(json.dumps({**asked, key: value}).encode(), *follow(visit, 1))
        assert client.spent == 0.0 and not (tmp_path / "me.json").exists()
        (tmp_path / "me.json").write_text("{")
        with pytest.raises(dp.InputError, match="its answers are not known"):
            client.answer(visit.question, *follow(visit, 1))


def test_a_device_pays_for_all_sessions_from_one_limit(tmp_path):
    pins = {"epsilon": 3.0, "H": H, "S": S, "A": A, "limit": 7.0}
    for i, refused in enumerate([False, False, True]):
        with session(tmp_path / f"{i}", "one question") as ses:
            visit = ses.issue()
            client = dp.Client(tmp_path / "me.json", session=ses.id, **pins)
            if refused:
                with pytest.raises(dp.InputError, match="epsilon: 6 is spent of 7; this answer costs 3"):
                    client.answer(visit.question, *follow(visit, 1))
            else:
                client.answer(visit.question, *follow(visit, 1))
            assert client.spent == 3.0 * min(i + 1, 2)


def test_no_visit_and_what_cannot_be_read_are_the_same_answer(tmp_path):
    """At ε = 60 the answer is the true one but for e^-60: "none", the last of the alphabet."""
    certain = dp.OneQuestion(60.0, first=20, noise="exact")
    with dp.Session(tmp_path / "trial", H=H, S=S, A=A, K=50, agent=AGENT, privatizer=certain) as ses:
        for k, sent in enumerate([(None, None, None), ([0], [], []), ([-1] * 5, [0] * 4, [0] * 4)]):
            visit = ses.issue()
            client = dp.Client(tmp_path / f"{k}.json", session=ses.id, epsilon=60.0, H=H, S=S, A=A)
            *_, answer = MESSAGE.unpack(client.answer(visit.question, *sent))
            assert answer == (2 if json.loads(visit.question)["about_reward"] else S)


def test_a_device_answers_once_however_many_ask_at_a_time(tmp_path):
    """Eight processes with eight questions: one of them is answered."""
    with session(tmp_path / "trial", "one question") as ses:
        visits = [ses.issue() for _ in range(8)]
        client = dp.Client(tmp_path / "me.json", session=ses.id, epsilon=3.0, H=H, S=S, A=A)
        found = ended([partial(client.answer, visit.question, None, None, None) for visit in visits])
        assert sorted(found) == [0] + [7] * 7 and client.spent == 3.0


def test_numbers_of_numpy_are_stored_or_refused(tmp_path):
    """A session whose settings cannot be stored could never go on; nothing is made before it is refused."""
    refused = dp.Batches(5, first=np.int64(6), noise="exact")
    with pytest.raises(dp.InputError, match="privatizer: its settings must be numbers of Python"):
        dp.Session(tmp_path / "refused", H=H, S=S, A=A, K=60, agent=AGENT, privatizer=refused)
    assert not list(tmp_path.iterdir())
    sizes = {"H": np.int64(H), "S": S, "A": A, "K": np.int64(60), "beta": np.float64(0.05)}
    private = dp.Batches(5, first=6, noise="exact")
    dp.Session(tmp_path / "t", **sizes, deadline=np.int64(9), agent=AGENT, privatizer=private).close()
    with dp.Session.open(tmp_path / "t") as session:
        assert session.left == 60
