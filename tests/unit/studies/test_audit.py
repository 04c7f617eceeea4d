"""The audit's figure, table and report: every number is that of the stored findings."""

import csv
import math

import numpy as np
import pytest
from drawn import is_log, legend, lines, ticks
from made_up import stored_experiment
from mutants import test_no_falsified_figure_passes  # noqa: F401  (they run here)

from dpucbvi.privacy.certificate import Certificate
from dpucbvi.trace import Trace
from experiments.lab.store import StoredArm, StoredRun
from experiments.studies.audit import STUDY
from experiments.studies.shared.style import PRIVACY

# Key, panel, mistake, noise, claimed, certified, replayed, attacked, lowest bits, caught.
ARMS = [
    ("noise_paper", "small", None, "simulation", 1.0, 2.0, 1.97, 1.83, 3.1, False),
    ("central", "released", None, "simulation", 1.1, 1.2, 1.16, 0.54, 0.7, False),
    ("exact", "released", None, "exact", 1.3, 1.4, 1.35, 0.49, 0.2, False),
    ("half", "broken", "fresh_noise", "simulation", 0.9, 1.05, 2.1, 1.77, 0.3, True),
    ("short", "broken", "ten_percent", "simulation", 0.8, 1.15, 1.1, 0.7, 0.1, False),
    ("actions_10", "actions", None, "simulation", 10.0, 10.5, None, 2.1, None, False),
]


def findings(certified, replayed, attacked, bits, caught, acts):
    """Of both relations, the second with half of everything."""
    made = []
    for relation, times in (("replace_one", 1.0), ("add_remove", 0.5)):
        values = {"replay": replayed, "actions" if acts else "releases": attacked, "lowest bits": bits}
        for attack, value in values.items():
            if value is not None:
                one = {"attack": attack, "relation": relation, "measure": "ε", "declared": times * certified}
                made.append(
                    {**one, "found": times * value, "how": "words", "caught": caught and attack == "replay"}
                )
    return made[:1] if acts else made


def stored(key, panel, broken, noise, claimed, *numbers):
    acts = panel == "actions"
    checks = {
        **{"attack": "actions" if acts else "released", "broken": broken, "alpha": 1e-9, "claimed": claimed},
        **{"words": None if broken is None else f"words of {broken}", "delta": 0.0, "notes": []},
        **{"findings": findings(*numbers, acts), "caught": numbers[-1]},
    }
    zero, flat = np.zeros(1, dtype=np.int64), np.zeros((1, 2, 1))
    certified = Certificate("JDP", 1.0, 2.0) if broken is None else Certificate("none", math.inf, math.inf)
    trace = Trace(np.array([4]), np.array([math.nan]), zero, zero, flat, flat, checks, certified, 0.0, 0.0)
    run = StoredRun({"K": 4, "seed": 0, "privatizer": {"name": "central", "noise": noise}}, {}, trace)
    return StoredArm(key, key, {}, f"label of {key}", None, panel, [run])


def experiment(arms=ARMS):
    return stored_experiment("audit", [stored(*arm) for arm in arms])


@pytest.fixture(scope="module")
def figure():
    return STUDY.draw(experiment())


def test_every_arm_has_its_numbers(figure):
    """All of them, for none is one of the paper's audit that are shown."""
    (axes,) = figure.axes
    names = [
        f"label of {arm[0]}" if arm[2] is None else f"words of {arm[2]}, label of {arm[0]}" for arm in ARMS
    ]
    assert list(ticks(axes)[1].values()) == names and is_log(axes) == (False, False)
    for y, (_, _, broken, _, claimed, certified, replayed, attacked, *_) in enumerate(ARMS):
        hue = PRIVACY["JDP" if broken is None else "none"].lower()
        bar, *marks = [line for line in lines(axes) if line.y[0] == y]
        assert tuple(bar.x) == (0.0, attacked) and set(bar.y) == {y} and bar.colour == hue
        drawn = {(line.marker, line.filled): (*line.x, line.colour) for line in marks}
        assert drawn == {
            ("|", True): (certified, "#000000"),
            ("o", False): (claimed, "#000000"),
            ("o", True): (attacked, hue),
            **({} if replayed is None else {("x", True): (replayed, "#000000")}),
        }
    looks = {label: (entry.marker, entry.filled, entry.colour) for label, entry in legend(figure).items()}
    assert looks == {
        "claimed": ("o", False, "#000000"),
        "certified": ("|", True, "#000000"),
        "replayed": ("x", True, "#000000"),
        "attacked, JDP": ("o", True, PRIVACY["JDP"].lower()),
        "attacked, broken": ("o", True, PRIVACY["none"].lower()),
    }


def test_table():
    _, *body = STUDY.table(experiment())
    assert [row[0] for row in body] == [key for key, *_ in ARMS for _ in range(2)][:-1]
    assert body[0] == ("noise_paper", "replaced", "0", "2", "ε = 1.970", "ε ≥ 1.830", "ε ≥ 3.100", "below")
    assert body[1][1:5] == ("added or removed", "0", "1", "ε = 0.985")
    assert body[6][-1] == "caught" and body[-1][4:7] == ("-", "ε ≥ 2.100", "-")


def test_report(tmp_path):
    text, table = STUDY.report(experiment(), tmp_path, lambda _: None)
    words = text.read_text()
    assert "- 4 of 4 audits of honest privatizers stay below the certificate." in words
    assert "- 1 of 2 mistakes that are made on purpose are caught (missed: words of ten_percent, label" in words
    assert "label of short), 1 of them by the replay" in words
    assert "- Lowest bits of floating-point noise: 2 of 4 attacks show more than is certified." in words
    assert "Of exact noise: 0 of 2." in words and "shows at least 20% of ε" in words
    assert (
        "All 21 bounds hold together with probability at least 1 - 2.10e-08; each alone with 1 - 1e-09" in words
    )
    assert "not rounded" in words
    with table.open() as file:
        records = list(csv.DictReader(file))
    assert len(records) == 5 * 6 + 1
    for arm in ARMS:
        mine = [record for record in records if record["arm"] == arm[0] and record["relation"] == "replace_one"]
        found = {record["attack"]: float(record["found"]) for record in mine}
        expected = {
            "replay": arm[6],
            "actions" if arm[1] == "actions" else "releases": arm[7],
            "lowest bits": arm[8],
        }
        assert found == {key: value for key, value in expected.items() if value is not None}
        assert {float(record["claimed"]) for record in mine} == {arm[4]}
        assert {float(record["declared"]) for record in mine} == {arm[5]}


def test_an_honest_mechanism_above_its_certificate_is_told(tmp_path):
    wrong = [("local", "released", None, "simulation", 1.0, 1.0, 1.2, 1.1, 0.5, True)]
    text, _ = STUDY.report(experiment(wrong), tmp_path, lambda _: None)
    words = "0 of 1 audits of honest privatizers stay below the certificate; above it: label of local."
    assert words in text.read_text()
