"""What every arm of every experiment did before the code was moved, it does today.

digests.csv has a row per arm, run with its first seed, cut to 60 episodes (to 600 where counts are not released
after every user, so that some are) and without LPs that cvxpy solves again: a hash of the visits N_h(s,a),
which is the same only if the episodes are; and the final regret, E and the sum of the last Q, which may differ
by a rounding from machine to machine. Of the large grids (`FIRST_POINTS`) the file has the first point of every
arm's. The rows of the paper's own mechanisms were written by the code as it was before it
was moved to the floor plan (commit 0f1f651).

A change that is meant to change numbers writes it anew, and the commit says why:

    python -m tests.contract.test_digests [experiment ...]
"""

import csv
import hashlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dpucbvi.simulate import run_setup
from experiments import studies
from experiments.lab.assemble import assemble
from experiments.lab.compose import config_of
from experiments.lab.experiment import experiment_from
from experiments.lab.settings import RunSettings
from experiments.studies.shared.printed import printed_curves

ROOT = Path(__file__).resolve().parents[2]
CONF = ROOT / "conf"
FILE = Path(__file__).with_name("digests.csv")
NO_RUNS = {"audit"}  # attacks on releases, without episodes: tests/unit/audit replays every noise
EXPERIMENTS = sorted({path.stem for path in (CONF / "exp").glob("*.yaml")} - NO_RUNS)
COLUMNS = ["experiment", "arm", "seed", "K", "visits", "regret", "E", "Q"]
MOST_EPISODES, IF_RELEASED_LATE = 60, 600
FIRST_POINTS = (  # of large grids
    *("calibrate_mechanisms", "calibrate_table1", "calibrate_windows"),
    *("explain_fit", "table1_private"),
)


def digests(name: str) -> Iterator[dict[str, str]]:
    """A row for every arm of the experiment."""
    config = config_of([f"+exp={name}"])
    if name in FIRST_POINTS:
        config.grid = {setting: values[:1] for setting, values in config.grid.items()}
    experiment = experiment_from(config, ROOT, studies.names(), printed_curves())
    for arm in experiment.arms:
        row = digest(arm.settings, experiment.seeds[0])
        yield {"experiment": name, "arm": arm.key, **row}


def digest(settings: RunSettings, seed: int) -> dict[str, str]:
    K, fast = min(settings.K, most_episodes(settings)), settings.engine.name == "fast"
    engine = replace(settings.engine, lp_checks=0) if fast else settings.engine
    trace = run_setup(assemble(replace(settings, K=K, engine=engine)), seed, engine.name)
    visits = hashlib.sha256(np.ascontiguousarray(trace.N_sa).tobytes()).hexdigest()[:16]
    numbers = {"regret": trace.regret[-1], "E": trace.E, "Q": trace.Q.sum()}
    return {
        "seed": str(seed),
        "K": str(K),
        "visits": visits,
        **{key: repr(float(value)) for key, value in numbers.items()},
    }


def most_episodes(settings: RunSettings) -> int:
    """As many as it takes until something is released."""
    privatizer = settings.privatizer
    late = privatizer.get("first", 1) > 1 or privatizer.get("every", 1) > 1
    return IF_RELEASED_LATE if late else MOST_EPISODES


def stored(name: str) -> list[dict[str, str]]:
    with FILE.open() as file:
        return [row for row in csv.DictReader(file) if row["experiment"] == name]


def differences(rows: list[dict[str, str]], wanted: list[dict[str, str]]) -> list[str]:
    """Where two lists of rows differ, by more than a rounding of the regret, E and Q."""
    found = []
    for row, other in zip(rows, wanted, strict=True):
        for key in COLUMNS[:5]:
            if row[key] != other[key]:
                found.append(f"{other['arm']}: {key} was {other[key]}, is {row[key]}")
        for key in COLUMNS[5:]:
            if float(row[key]) != pytest.approx(float(other[key]), rel=1e-9, abs=1e-12):
                found.append(f"{other['arm']}: {key} was {other[key]}, is {row[key]}")
    return found


QUICK = ("riverswim", "table1", "literal")  # the others in make test-all


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in EXPERIMENTS]
)
def test_every_arm_does_what_it_did(name):
    assert differences(list(digests(name)), stored(name)) == []


def test_the_file_is_about_the_experiments_that_there_are():
    with FILE.open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == COLUMNS
    assert sorted({row["experiment"] for row in rows}) == EXPERIMENTS
    assert len({row["visits"] for row in rows}) > 100  # runs that differ, and not one run many times


def test_a_run_that_differs_is_noticed():
    """Another seed, one more episode, a bonus or an E that is 0.1% larger: each is another row."""
    settings = RunSettings(
        env={"name": "random"}, privatizer={"name": "central", "epsilon": 500.0}, K=MOST_EPISODES
    )
    settings.bonus.scale, settings.confidence.scale = 1e-4, 1e-3

    def rows(settings: RunSettings, seed: int = 0) -> list[dict[str, str]]:
        return [{"experiment": "x", "arm": "a", **digest(settings, seed)}]

    own = rows(settings)
    assert differences(rows(settings), own) == []
    changed = {
        "visits": rows(settings, seed=1),
        "K": rows(replace(settings, K=MOST_EPISODES - 1)),
        "Q": rows(replace(settings, bonus=replace(settings.bonus, scale=1.001e-4))),
        "E": rows(replace(settings, confidence=replace(settings.confidence, scale=1.001e-3))),
    }
    for key, other in changed.items():
        assert any(f": {key} was" in line for line in differences(other, own)), key
    ulp = [{**own[0], "regret": repr(np.nextafter(float(own[0]["regret"]), np.inf).item())}]
    assert differences(ulp, own) == []


def main(names: list[str]) -> None:
    """Of these experiments, or of all. A row that is the stored one up to a rounding stays as it is stored."""
    rows = []
    for name in EXPERIMENTS:
        known = {row["arm"]: row for row in stored(name)}
        for row in digests(name) if name in (names or EXPERIMENTS) else known.values():
            old = known.get(row["arm"], row)
            rows.append(old if differences([row], [old]) == [] else row)
    with FILE.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main(sys.argv[1:])
