"""`make reproduce` knows every experiment and says how long they take before it starts."""

import importlib.util
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def dry_run() -> list[tuple[int, str]]:
    script = ROOT / "experiments" / "reproduce.py"
    done = subprocess.run([sys.executable, script, "--dry-run"], capture_output=True, text=True, check=True)
    return [(int(line.split()[0]), line.split()[2]) for line in done.stdout.splitlines()]


def test_every_experiment_is_listed_once_with_its_minutes():
    *listed, (total, _) = dry_run()
    assert sorted(name for _, name in listed) == sorted(
        path.stem for path in (ROOT / "conf/exp").glob("*.yaml")
    )
    for minutes, name in listed:
        command = (ROOT / "conf/exp" / f"{name}.yaml").read_text().splitlines()[1]
        assert f"+exp={name} " in command and f"(about {minutes} min" in command
    assert total == sum(minutes for minutes, _ in listed)


def test_the_papers_figure_comes_first_and_the_longest_last():
    *listed, _ = dry_run()
    assert listed[0][1] == "riverswim"
    assert [minutes for minutes, _ in listed[1:]] == sorted(minutes for minutes, _ in listed[1:])


def test_everything_is_run_and_then_the_paper_is_written(monkeypatch):
    spec = importlib.util.spec_from_file_location("cli_reproduce", ROOT / "experiments" / "reproduce.py")
    reproduce = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reproduce)
    commands = []
    monkeypatch.setattr(reproduce, "run", lambda *command: commands.append(command))
    monkeypatch.setattr(sys, "argv", ["reproduce.py"])
    reproduce.main()
    runs = [("run.py", f"+exp={step.name}") for step in reproduce.steps()]
    assert commands == [*runs, ("ship.py",), ("paper.py",)]
    assert all((ROOT / "experiments" / command[0]).is_file() for command in commands)
