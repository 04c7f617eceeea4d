"""Killed at any moment: nothing lost after `record` returned, nothing counted twice, no release made twice."""

import json
import random
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from clinic import AGENT, BATCH, PRIVATIZERS, A, H, S, ended, message, serve, serve_and_tell, session
from jobs import SERVER

import dpucbvi as dp
from dpucbvi.counts import as_counts
from dpucbvi.session.store import Log

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
K = 100_000
# So little noise that there is none (e^-10000 is the chance of any), and a state for each place of a batch: the
# log says of every single place how often it was counted.
QUIET = dp.Batches(1e6, first=BATCH, growth=1.0, drop_empty=False, noise="exact")
QUIET_WINDOWS = dp.Windows(1e6, first=BATCH * 10**6, growth=1.0, noise="exact")


def start(folder):
    """A process that serves users, forked from this one to save the imports."""
    here, there = SERVER.Pipe()
    child = SERVER.Process(target=serve_and_tell, args=(folder, K, there))
    child.start()
    assert here.recv() == "begun"
    return child


def numbers(folder):
    """The releases of the log, each with its checksum."""
    return [line.split()[:3] for line in Path(f"{folder}.releases").read_text().splitlines()[1:]]


def killed(folder, times, rng):
    """Kill the one who serves `times` times; returns the places whose record returned."""
    for _ in range(times):
        child = start(folder)
        time.sleep(rng.uniform(0.0, 0.3))
        child.kill()
        child.join()
        told = [
            json.loads(line) for line in Path(f"{folder}.told").read_text().splitlines() if line.endswith("]")
        ]
        recorded = {place for what, place in told if what == "recorded"}
        issued = {place for what, place in told if what == "issued"}
        lines = numbers(folder)
        assert [int(line[0]) for line in lines] == list(range(1, len(lines) + 1))  # none twice
        with dp.Session.open(folder) as ses:
            # The child was killed inside record at most once: that place is settled by hand, with nothing.
            assert ses.places >= max(issued, default=0)
            ses.close_expired(time.time() + 10**9)
    return recorded


def counted(folder, private):
    """By place of a released batch, how many of her H steps were counted."""
    total, found = 0, {}
    for line in Log(Path(f"{folder}.releases"), session_id(folder)).lines():
        if private is QUIET_WINDOWS:  # which publishes every batch by itself
            visits, total = line.integers.reshape(-1, BATCH, A).sum(axis=(0, 2)), 0
        else:
            visits = as_counts(line.integers, H, BATCH, A).N_sas.sum(axis=(0, 2, 3))
        found |= {BATCH * (line.number - 1) + 1 + at: n for at, n in enumerate(visits - total)}
        total = visits
    return found


def session_id(folder):
    return Path(f"{folder}.releases").read_text().split(maxsplit=4)[3]


@pytest.mark.parametrize("private", [QUIET, QUIET_WINDOWS], ids=["batches", "windows"])
@pytest.mark.parametrize("times", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_kills_at_random_moments(tmp_path, monkeypatch, times, private):
    """Whose record returned is counted once; who was killed inside it, once or never; nobody otherwise."""
    monkeypatch.chdir(ROOT)  # where the server, if it starts now, finds what it imports
    folder, rng = tmp_path / "trial", random.Random(1)
    dp.Session(folder, H=H, S=BATCH, A=A, K=K, agent=AGENT, privatizer=private, deadline=10**8).close()
    Path(f"{folder}.told").touch()
    recorded, found = killed(folder, times, rng), counted(folder, private)
    assert len(found) > 5 * BATCH
    assert {found[place] for place in recorded & found.keys()} == {H}
    assert {found[place] for place in found.keys() - recorded} <= {0, H}
    assert len(found.keys() - recorded) <= times


QUICK = ("batches", "central")


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in PRIVATIZERS]
)
def test_a_restored_backup_is_refused_and_recovered(tmp_path, name):
    folder = tmp_path / "trial"
    ses = session(folder, name, K=400)
    serve(ses, tmp_path, 50)
    ses.close()
    shutil.copytree(folder, tmp_path / "backup")
    ses = dp.Session.open(folder)
    serve(ses, tmp_path, 130)
    open_ticket, last = ses.issue().ticket, ses.published
    ses.close()
    shutil.rmtree(folder)
    (tmp_path / "backup").rename(folder)
    with pytest.raises(dp.InputError, match=r"must not release again; dp\.Session\.recover"):
        dp.Session.open(folder)
    before = numbers(folder)
    with dp.Session.recover(folder) as ses:
        np.testing.assert_array_equal(ses.published.integers, last.integers)
        np.testing.assert_allclose(ses.published.counts.R, last.counts.R, atol=1e-6)
        np.testing.assert_allclose(ses.published.counts.N_sas, last.counts.N_sas, atol=1e-6)
        first = ses.issue()
        assert first.batch >= last.number
        ses.record(open_ticket, [0] * 5, [0] * 4, [1.0] * 4)
        ses.record(first.ticket, None)
        serve(ses, tmp_path, 250)
        assert ses.published.number > last.number and numbers(folder)[: len(before)] == before
    with dp.Session.open(folder) as ses:
        serve(ses, tmp_path, 280)


@pytest.mark.parametrize("private", [QUIET, QUIET_WINDOWS], ids=["batches", "windows"])
def test_recovered_twice_nobody_is_counted_twice(tmp_path, private):
    """Without noise the counts are those of released users, each once; a recovery spends the batch after it."""
    folder, first = tmp_path / "trial", int(private.ends(dp.Problem(H, S, A, 400, 0.05))[0])
    dp.Session(folder, H=H, S=S, A=A, K=400, agent=AGENT, privatizer=private).close()
    pooled = H if private is QUIET_WINDOWS else 1  # every step has the counts of all
    for again in range(1, 4):
        with dp.Session.recover(folder) as ses:
            serve(ses, tmp_path, ses.places + first)
            assert ses.published.counts.N_sa.sum() == pooled * again * first * H
            ses.issue()


def test_of_what_a_recovery_gives_up_nothing_is_kept(tmp_path):
    """Neither the sums of open batches nor what an old ticket sends. Control: an open session keeps both."""
    ses = session(tmp_path / "trial", "batches")
    serve(ses, tmp_path, 5)
    visit = ses.issue()
    ses.close()
    kept = []
    for go_on in (dp.Session.open, dp.Session.recover):
        with go_on(tmp_path / "trial") as ses:
            kept.append(ses._store.db.execute("SELECT sums FROM batches").fetchall())
            other = ses.issue() if go_on == dp.Session.open else visit
            ses.record(other.ticket, *message(ses, other, 5, tmp_path))
            kept.append(ses._store.db.execute("SELECT sums FROM batches").fetchall())
    assert kept[0] and kept[0] != kept[1] and kept[2:] == [[], []]


def test_a_release_that_was_not_logged_is_logged_as_it_was(tmp_path):
    """As if killed between the commit and the log, and in the middle of a line."""
    ses = session(tmp_path / "trial", "batches")
    serve(ses, tmp_path, 45)
    ses.close()
    log = tmp_path / "trial.releases"
    whole = log.read_text()
    for keep in (whole[: whole.rstrip("\n").rindex("\n") + 1], whole[:-20]):
        log.write_text(keep)
        dp.Session.open(tmp_path / "trial").close()
        assert log.read_text() == whole
    log.write_text(whole.splitlines(keepends=True)[0])
    with pytest.raises(dp.InputError, match="is not at release 0"):
        dp.Session.open(tmp_path / "trial")
    log.unlink()
    with pytest.raises(dp.InputError, match="without it no session may go on"):
        dp.Session.open(tmp_path / "trial")


def test_a_second_process_is_refused(tmp_path):
    with session(tmp_path / "trial", "batches") as ses:
        with pytest.raises(dp.InputError, match="is open in another process, or twice in this one"):
            dp.Session.open(tmp_path / "trial")
        assert ended([ses.issue]) == [7]
        assert ses.issue().place == 1


def test_a_planner_that_fails_does_not_draw_again(tmp_path):
    """The release is committed before the plan: after a failure and a restart it has the same integers."""
    fail = [False]

    def fragile(counts):
        if fail[0]:
            raise RuntimeError("no plan")
        planned = int(counts.N_sa.sum() > 0)
        return dp.Plan(np.full((H, S), planned), np.zeros((H, S, A)), np.zeros((H + 1, S)))

    sizes = {"H": H, "S": S, "A": A, "K": 60}
    agent = dp.planner(fragile)
    ses = dp.Session(tmp_path / "trial", **sizes, agent=agent, privatizer=PRIVATIZERS["batches"])
    serve(ses, tmp_path, 19)
    fail[0] = True
    with pytest.raises(RuntimeError, match="no plan"):
        serve(ses, tmp_path, 20)
    logged = numbers(tmp_path / "trial")
    fail[0] = False
    with dp.Session.open(tmp_path / "trial", agent=agent) as ses:
        assert ses.published.number == 1 and numbers(tmp_path / "trial") == logged
        assert ses.policy.all()  # what was not planned is planned now
