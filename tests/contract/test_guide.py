"""The guide does what it says: its snippets are executed, its commands are composed, its links lead somewhere.

In the quick tests on the reference engine with few episodes; as they stand in the slow ones.
"""

import re
import shlex
from pathlib import Path

import pytest

import dpucbvi as dp
from dpucbvi import simulate
from dpucbvi.stats import three_digits
from experiments import studies
from experiments.lab.compose import config_of, with_grids
from experiments.lab.experiment import experiment_from
from experiments.lab.runner import run_experiment
from experiments.studies.shared.printed import printed_curves

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))
HEAVY = "Taxi"  # 1.5 million counters: not for plain loops


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


SNIPPETS = {f"{page.stem} {i}": code for page in PAGES for i, code in enumerate(blocks(page, "python"))}
COMMANDS = [line for page in PAGES for code in blocks(page, "sh") for line in code.splitlines()]
FIGURES = {name: code for name, code in SNIPPETS.items() if name.startswith("figure")}


def experiment(command: str, *more: str):
    python, script, *overrides = shlex.split(command)
    assert (python, script) == ("python", "experiments/run.py")
    config = config_of([*with_grids(list(overrides)), *more])
    return experiment_from(config, ROOT, studies.names(), printed_curves())


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_an_experiment(command):
    assert len(experiment(command).arms) > 1


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder, which has the results of the sweep that the guide loads."""
    monkeypatch.chdir(tmp_path)
    (command,) = [line for line in COMMANDS if "name=my_sweep" in line]
    small = ("K=8", "runs=2", "env.S=3", "env.H=3", "engine=reference", "runtime.workers=1")
    made = experiment(command, *small, "runtime.progress=false", f"runtime.results={tmp_path / 'results'}")
    run_experiment(made)
    return tmp_path


@pytest.mark.parametrize("name", [name for name, code in SNIPPETS.items() if HEAVY not in code])
def test_the_snippets_run(name, here, monkeypatch, capsys):
    monkeypatch.setattr(simulate, "why_not_compiled", lambda setup: "this test")
    code = re.sub(r"K=[\d_]+", "K=3", SNIPPETS[name])
    code = re.sub(r"seed=range\(8\)", "seed=range(2)", code).replace("S=20, A=3, H=10", "S=4, A=2, H=3")
    exec(compile(code, name, "exec"), {})
    assert capsys.readouterr().out


@pytest.mark.slow  # compiles, and runs as many episodes as a reader would
@pytest.mark.parametrize("name", FIGURES)
def test_the_examples_as_they_stand(name, here, capsys):
    """They learn, they draw, they print what the page says they print, and their regrets differ as it says."""
    exec(compile(SNIPPETS[name], name, "exec"), names := {})
    learnt = [run.learnt for runs in names["runs"].values() for run in runs.runs]
    assert all(learnt) and list(here.glob("*.png"))
    section = section_of(SNIPPETS[name])
    printed = capsys.readouterr().out
    for text in re.findall(r"^```text\n(.*?)^```$", section, re.MULTILINE | re.DOTALL):
        assert text in printed
    for said in re.findall(r"([\d,]+) (?:larger|above\D*) \(95%: ([\d,]+) to ([\d,]+)\)", section):
        found = dp.compare(*names["runs"].values())
        assert said == tuple(three_digits(abs(value)) for value in (found.difference, found.low, found.high))


def section_of(snippet: str) -> str:
    """The part of its page, between two headings, in which a snippet stands."""
    sections = [part for page in PAGES for part in re.split(r"^## ", page.read_text(), flags=re.MULTILINE)]
    (section,) = [part for part in sections if snippet in part]
    return section
