"""The command line as a newcomer meets it: what works, and one clear line for what does not."""

import os
import re
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest
from jobs import start

from dpucbvi.errors import LpError
from dpucbvi.privatizers import PRIVATIZERS
from experiments.lab.compose import CONF
from experiments.lab.store import Store

TINY = ("engine=reference", "env.H=3", "env.S=3", "K=8", "runs=2", "runtime.workers=1")

BAD = {
    # keys and options
    "foo=1": "foo: no such key",
    "env.foo=1": "env.foo: no such key; it is one of name, S, H, variant, rewards",
    "agent=ucbvi": "agent: no option 'ucbvi'; did you mean ucbvi_",
    "+exp=river": "exp: no option 'river'; did you mean riverswim?",
    "hydra/launcher=submitit_local": "hydra/launcher: Hydra's own settings are not accepted",
    "~arms.ldp": "'arms.ldp' does not exist",
    "+exp=riverswim arms.jdp_eps1.privatizer.epsilom=5": "arms.jdp_eps1.privatizer.epsilom: no such key; did",
    # types
    "privatizer.noise=exact +privatizer.words=seeded": "privatizer.words: no such key",  # they are the system's
    "K=${no_such}": "no_such",
    "task=audit study=audit": "attack.name: a value is needed",
    # values
    "env.S=1e9": "env: an MDP of H = 20, S = 1e+09, A = 2 takes 4.8e+10 GB, this machine has",
    "runtime.results='~nobody_here/x'": "runtime.results: '~nobody_here/x' is no folder",
    "runtime=dask": "runtime.address: None is not accepted; it must be tls://HOST:PORT of a Dask scheduler",
    "runtime=dask runtime.address=tcp://10.0.0.1:8786": "'tcp://10.0.0.1:8786' is not accepted; it must",
    # settings that change nothing
    "+grid={K:[5,6]} K=5": "K=5: changes no run",
    "attack.name=released": "attack.name=released: changes no run",  # without task=audit
    "runtime.address=tcp://127.0.0.1:1": "it must be null without runtime=dask",
    "agent=ucbvi_bf": "privatizer.name: UCBVI takes none and Central is JDP",
    # parts of one's own
    "privatizer.name=nowhere:Mine": "privatizer.name: 'nowhere:Mine' cannot be imported (ModuleNotFoundError",
    "agent.name=os:system": "name: <built-in function system> is not accepted; it must be defined in a file",
    # files
    f"env=file env.path={'long' * 1000}.npz": "env.path: cannot be read (File name too long)",
    # syntax and flags
    "K": "'K' is not of the form key=value",
    "agent=ucbvi_bf,pucb": "'agent=ucbvi_bf,pucb': several values need grid.KEY=[...]",
    "--experimental-rerun=x": "--experimental-rerun=x: no such flag; there are --help and --cfg job",
    "-m K=5,6": "-m: no such flag",
}


@pytest.mark.parametrize("command", BAD)
def test_bad_input_is_one_line_and_exit_code_2(cli, tmp_path, command):
    results = () if "runtime.results" in command else (f"runtime.results={tmp_path / 'results'}",)
    code, out, err = cli(*command.split(), *results)
    assert (code, out) == (2, "")
    assert re.fullmatch(r"error: [^\n]+\n", err)
    assert BAD[command] in err
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files == [] and list((tmp_path / "here").iterdir()) == []  # nothing was written


@pytest.mark.parametrize("mistake", [ValueError("a mistake"), LpError("the LP solver returned no solution")])
def test_a_mistake_in_the_code_is_not_taken_for_bad_input_and_a_failed_lp_is_one_line(
    cli, monkeypatch, tmp_path, mistake
):
    def broken(*_):
        raise mistake

    monkeypatch.setattr("experiments.lab.runner.run_experiment", broken)
    if isinstance(mistake, LpError):
        code, _, err = cli(*TINY, f"runtime.results={tmp_path}")
        assert (code, err) == (1, f"error: {mistake}\n")
    else:
        with pytest.raises(ValueError, match="a mistake"):
            cli(*TINY, f"runtime.results={tmp_path}")


def test_a_small_run_then_the_same_again(cli, tmp_path):
    arguments = (*TINY, "+arms={one: {label: One}, two: {privatizer: {epsilon: 2}}}")
    results = tmp_path / "results"
    code, out, err = cli(*arguments, f"runtime.results={results}")
    assert (code, err) == (0, "")
    assert out.startswith("single: 4 runs computed, 0 loaded, ")
    assert re.search(r"^two +[\d.,]+ \([\d.,]+ to [\d.,]+\) +1 +1 +per step +JDP +0 +2 +4$", out, re.MULTILINE)
    assert out.count("nothing was learnt") == 1
    assert f"figure  {results}/figures/single.png and {results}/figures/single.pdf" in out
    assert (results / "figures" / "single.png").read_bytes().startswith(b"\x89PNG")
    assert (results / "figures" / "single.pdf").read_bytes().startswith(b"%PDF")
    again = cli(*arguments, f"runtime.results={results}")[1]
    assert again.startswith("single: 0 runs computed, 4 loaded, ")
    assert again.split("\n", 1)[1] == out.split("\n", 1)[1]


def test_figures_are_redrawn_from_stored_results_alone(cli, tmp_path, monkeypatch):
    cli(*TINY, f"runtime.results={tmp_path}")
    drawn = tmp_path / "figures" / "single.png"
    before = drawn.read_bytes()
    shutil.rmtree(drawn.parent)
    monkeypatch.setattr("dpucbvi.simulate.run_setup", None)
    monkeypatch.setattr("experiments.lab.runner.run_setup", None)
    code, out, _ = cli("single", "--results", str(tmp_path), "--paper", str(tmp_path / "paper"), script="paper")
    assert (code, out.splitlines()[0]) == (0, str(drawn))
    assert drawn.read_bytes() == before
    assert not (tmp_path / "paper").exists()  # a run of one's own is drawn, not published
    code, _, err = cli("--results", str(tmp_path), "nothing", script="paper")
    assert (code, err.count("\n")) == (2, 1)


@pytest.fixture
def undrawn(monkeypatch):
    """No figure is drawn, where none is the point."""
    monkeypatch.setattr("experiments.run.draw", lambda stored, folder: [])


ATTACK = ("task=audit", "study=audit", "attack.name=released", "attack.trials=200")
AUDIT = (*ATTACK, "env=random", "env.S=2", "env.A=1", "env.H=1", "K=4", "runs=1")


def test_plan_says_what_a_job_would_take_and_writes_nothing(cli, tmp_path):
    code, out, err = cli(*TINY, "K=60", "task=plan", f"runtime.results={tmp_path / 'results'}")
    rows = dict(re.split(r" {2,}", line) for line in out.splitlines())
    assert (code, err) == (0, "") and (rows["runs to compute"], rows["runs stored"]) == ("2", "0")
    assert 0 <= float(rows["core hours"]) < 1
    assert not (tmp_path / "results").exists()


@pytest.mark.slow  # it compiles the trials
@pytest.mark.usefixtures("undrawn")
def test_an_audit_is_a_task_that_can_be_planned(cli, tmp_path):
    code, out, _ = cli(*AUDIT, "runtime.workers=1", f"runtime.results={tmp_path}")
    assert code == 0 and out.startswith("single: 1 run computed")
    (arm,) = Store(tmp_path).load_experiment("single").arms
    assert arm.runs[0].config["attack"] == {"name": "released", "trials": 200}
    assert arm.audits and arm.runs[0].trace.checks
    code, out, _ = cli(*AUDIT, "runs=2", "task=plan", f"runtime.results={tmp_path}")
    rows = dict(re.split(r" {2,}", line) for line in out.splitlines())
    assert (rows["runs to compute"], rows["runs stored"]) == ("1", "1")


def test_cfg_job_shows_the_settings_and_runs_nothing(cli, tmp_path):
    code, out, err = cli("--cfg", "job", "+exp=riverswim", "K=123", f"runtime.results={tmp_path / 'results'}")
    assert (code, err) == (0, "")
    assert "K: 123" in out and "jdp_eps1:" in out and "hydra:" not in out
    assert not (tmp_path / "results").exists()


def test_help_has_the_comments_of_conf(cli):
    code, out, _ = cli("--help")
    assert code == 0
    assert "python experiments/run.py +exp=riverswim" in out and "\n* central " in out
    options = re.findall(r"^[* ] (\w+) +\S", out, re.MULTILINE)
    assert set(PRIVATIZERS) | {path.stem for path in (CONF / "exp").glob("*.yaml")} <= set(options)


# --- task=certify: what the runs would certify --------------------------------------------------------------

CERTIFY = (
    *("env.H=3", "env.S=3", "K=200", "runs=2"),
    "+arms={paper: {}, replaced: {privatizer: {sensitivity: replace_one}, confidence: {scale: 0.01}},"
    " stream: {privatizer: {name: toeplitz, epsilon: 0.5, delta: 1e-5}},"
    " own: {privatizer: {name: one_question}}, open: {privatizer: {name: non_private}}}",
)
CERTIFIED = {  # privacy, δ, ε of one replaced, Assumption 3.1
    "paper": ("JDP", "0", "2", "proven"),
    "replaced": ("JDP", "0", "1", "not proven"),
    "stream": ("JDP", "1e-05", "0.5", "proven"),
    "own": ("LDP", "0", "1", "not proven"),
    "open": ("none", "-", "∞", "holds"),
}


def test_certify_prints_a_row_per_arm_and_runs_nothing(cli, monkeypatch, tmp_path):
    monkeypatch.setattr("experiments.lab.runner.run_experiment", None)
    code, out, err = cli("task=certify", *CERTIFY, f"runtime.results={tmp_path / 'results'}")
    assert (code, err) == (0, "")
    header, *lines = (re.split(r" {2,}", line) for line in out.splitlines())
    rows = {line[0]: dict(zip(header, line, strict=True)) for line in lines}
    columns = ("privacy", "δ", "ε (replaced)", "Assumption 3.1")
    assert {name: tuple(row[column] for column in columns) for name, row in rows.items()} == CERTIFIED
    apart = [row["ε (a user added or removed)"] for row in rows.values()]
    assert apart[:2] == ["1", "0.5"] and apart[-1] == "∞"
    assert float(apart[2]) < 0.5 and float(apart[3]) <= 1.0
    E = {name: float(row["E"]) for name, row in rows.items()}
    assert E["replaced"] == pytest.approx(0.02 * E["paper"], rel=1e-3) and E["open"] == 0  # twice, × the factor
    assert [path.name for path in tmp_path.rglob("*")] == ["here"]  # nothing was written


# --- parts of one's own --------------------------------------------------------------------------------------

OWN = """
from dataclasses import dataclass
import dpucbvi as dp

@dataclass(frozen=True)
class Mine(dp.Central):
    twist: float = 1.0

def river(length: int = 3):
    return dp.riverswim(S=length, H=2)

def uniform(problem, private):
    import numpy as np
    pi = np.full((problem.H, problem.S, problem.A), 1 / problem.A)
    while True:
        yield dp.Plan(pi, np.zeros(pi.shape), np.zeros((problem.H + 1, problem.S)))
"""


@pytest.mark.usefixtures("undrawn")
def test_a_part_of_ones_own_is_named_and_its_source_is_in_the_name_of_the_run(cli, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    settings = ("engine=reference", "K=8", "runs=1", "runtime.workers=1", f"runtime.results={tmp_path}")
    own = ("privatizer.name=parts:Mine", "+privatizer.twist=2", "env.name=parts:river", "+env.length=4")
    seen = []
    for text in (OWN, OWN, OWN + "changed = True\n"):
        Path("parts.py").write_text(text)
        sys.modules.pop("parts", None)
        code, out, err = cli(*own, *settings)
        assert (code, err) == (0, ""), err
        (arm,) = Store(tmp_path).load_experiment("single").arms
        seen.append((out.split(",")[0], arm.runs[0].config))
    assert [said for said, _ in seen] == [f"single: {n} run{'s' * (n != 1)} computed" for n in (1, 0, 1)]
    assert seen[0][1]["privatizer"]["twist"] == 2.0 and seen[0][1]["env"]["length"] == 4
    assert seen[0][1]["privatizer"]["source"] == seen[1][1]["privatizer"]["source"]
    assert seen[0][1]["privatizer"]["source"] != seen[2][1]["privatizer"]["source"]
    assert arm.runs[0].trace.N_sa.shape == (2, 4, 2)
    code, _, err = cli("agent.name=parts:uniform", "postprocess=none", "privatizer=non_private", *settings)
    assert (code, err) == (0, ""), err


@pytest.mark.parametrize(
    ("send", "number", "message"),
    [(os.killpg, signal.SIGINT, "interrupted"), (os.kill, signal.SIGTERM, "ended by SIGTERM")],
    ids=["Ctrl-C", "SIGTERM"],
)
def test_what_is_finished_survives(tmp_path, send, number, message):
    arms = "+arms={quick: {K: 5}, slow: {K: 1e9}}"  # the longest begins first, and has a worker to itself
    job = start(tmp_path, "engine=reference", "env.S=3", "env.H=3", "runs=1", "runtime.workers=2", arms)
    deadline = time.monotonic() + 300
    while not list(tmp_path.glob("runs/[!.]*")) and time.monotonic() < deadline and job.poll() is None:
        time.sleep(0.1)
    send(job.pid, number)
    _, err = job.communicate(timeout=300)
    assert job.returncode == 128 + number
    assert re.fullmatch(rf"error: {message}; finished runs are stored[^\n]*\n", err)
    (kept,) = tmp_path.glob("runs/[!.]*")
    assert Store(tmp_path).has(kept.stem)
