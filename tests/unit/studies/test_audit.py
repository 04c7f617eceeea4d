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
from experiments.studies.audit import STUDY, false_alarms, rows
from experiments.studies.shared.style import PRIVACY

# Key, panel, broken, claimed, certified, audited, by μ, caught.
ARMS = [
    ("noise_paper", "released", None, 1.0, 2.0, 1.83, None, False),
    ("central", "released", None, 1.1, 1.2, 0.54, None, False),
    ("tree", "released", None, 1.3, 1.4, 0.49, 0.93, False),
    ("half", "broken", "half_scale", 0.9, 1.05, 1.77, None, True),
    ("short", "broken", "level_short", 0.8, 1.15, 0.7, None, False),
    ("actions_10", "actions", None, 10.0, 10.5, 2.1, None, False),
]


def finding(broken, claimed, certified, audited, by_mu, caught, attack="released", scale=1.0):
    gaussian = by_mu is not None
    return {
        "attack": attack,
        "broken": broken,
        "words": None if broken is None else f"words of {broken}",
        "relation": "replace_one",
        "alpha": 1e-9,
        "claimed": claimed,
        "pretended": certified,
        "pretended_add_remove": certified / 2,
        "delta": 1e-6 if gaussian else 0.0,
        "audited": scale * audited,
        "counts": {"score": "likelihood ratio", "hits": 70, "false": 9, "trials": 100},
        "pretended_mu": 0.25 if gaussian else None,
        "audited_mu": 0.2 if gaussian else None,
        "audited_by_mu": by_mu,
        "counts_mu": None,
        "caught": caught,
    }


def stored(key, panel, broken, *numbers):
    """Two runs; the second found less."""
    made = []
    for seed, scale in enumerate((1.0, 0.5)):
        attack = "actions" if panel == "actions" else "released"
        checks = finding(broken, *numbers, attack=attack, scale=scale)
        zero, flat = np.zeros(1, dtype=np.int64), np.zeros((1, 2, 1))
        certified = Certificate("JDP", 1.0, 2.0) if broken is None else Certificate("none", math.inf, math.inf)
        trace = Trace(np.array([4]), np.array([math.nan]), zero, zero, flat, flat, checks, certified, 0.0, 0.0)
        made.append(StoredRun({"K": 4, "seed": seed}, {}, trace))
    return StoredArm(key, key, {}, f"label of {key}", None, panel, made)


def experiment(arms=ARMS):
    return stored_experiment("audit", [stored(*arm) for arm in arms])


@pytest.fixture(scope="module")
def figure():
    return STUDY.draw(experiment())


def test_every_arm_has_its_three_numbers(figure):
    """All of them, for none is one of the paper's audit that are shown."""
    (axes,) = figure.axes
    names = [
        f"label of {key}" if broken is None else f"words of {broken} · label of {key}"
        for key, _, broken, *_ in ARMS
    ]
    assert list(ticks(axes)[1].values()) == names and is_log(axes) == (False, False)
    for y, (_, _, broken, claimed, certified, audited, by_mu, _) in enumerate(ARMS):
        bound = max(audited, by_mu or 0.0)
        hue = PRIVACY["JDP" if broken is None else "none"].lower()
        bar, *marks = [line for line in lines(axes) if line.y[0] == y]
        assert tuple(bar.x) == (0.0, bound) and set(bar.y) == {y} and bar.colour == hue
        assert {(line.marker, line.filled): (*line.x, line.colour) for line in marks} == {
            ("|", True): (certified, "#000000"),
            ("o", False): (claimed, "#000000"),
            ("o", True): (bound, hue),
        }
    looks = {label: (entry.marker, entry.filled, entry.colour) for label, entry in legend(figure).items()}
    assert looks == {
        "claimed": ("o", False, "#000000"),
        "certified": ("|", True, "#000000"),
        "audited, JDP": ("o", True, PRIVACY["JDP"].lower()),
        "audited, broken": ("o", True, PRIVACY["none"].lower()),
    }


def test_the_papers_figure_has_four_rows():
    made = experiment([*ARMS, ("central_paper", *ARMS[1][1:]), ("one_question", *ARMS[0][1:])])
    drawn = [line.x[0] for line in lines(STUDY.draw(made).axes[0]) if line.marker == "|"]
    assert drawn == [1.2, 2.0]


def test_several_runs_show_the_largest_bound_and_all_count():
    made = rows(experiment())
    assert [row.audited for row in made] == [arm[5] for arm in ARMS]
    assert sum(row.bounds for row in made) == 2 * (len(ARMS) + 1)  # one arm is Gaussian
    assert false_alarms(made) == pytest.approx(14e-9)


def test_mechanisms_are_called_as_in_other_studies():
    """The stored labels are older; the names are those of mechanisms.md."""
    labels = {
        "Central, tuned split": "Central, tuned families",
        "KaryTree, k = 3": "k-ary tree, k = 3",
        "GaussianTree": "Gaussian tree",
        "OneStep": "words of half_scale · one step",
        "LocalGaussian": "words of level_short · Gaussian user noise",
        "OneQuestion": "one question",
    }
    made = experiment()
    named = [arm._replace(label=label) for arm, label in zip(made.arms, labels, strict=True)]
    assert [row.name for row in rows(made._replace(arms=named))] == list(labels.values())


def test_table():
    header, *body = STUDY.table(experiment())
    assert [row[0] for row in body] == [arm[0] for arm in ARMS]
    assert body[0] == ("noise_paper", "replaced", "released", "1", "2.000", "1.830", "-", "0", "no")
    assert body[2][6:8] == ("0.930", "1e-06")
    assert body[3][2:5] == ("released (broken)", "0.9", "pretends 1.050") and body[3][-1] == "yes"
    assert len(header) == len(body[0])


def test_report(tmp_path):
    text, table = STUDY.report(experiment(), tmp_path, lambda _: None)
    words = text.read_text()
    assert "- 4 of 4 attacks on honest mechanisms stay below the certificate." in words
    assert "- 1 of 2 releases that are broken on purpose are caught; missed: words of level_short" in words
    assert (
        "label of noise_paper: claims ε = 1 (a user added or removed), certifies 2 if she is replaced" in words
    )
    assert (
        "shows at least 1.83 there" in words
        and "at least 2.10 of ε = 10.5 (20%; pure, a user replaced)" in words
    )
    assert "All 14 bounds hold together with probability at least 1 - 1.4e-08" in words
    with table.open() as file:
        records = list(csv.DictReader(file))
    for record, arm in zip(records, ARMS, strict=True):
        assert record["arm"] == arm[0] and record["broken"] == (arm[2] or "")
        assert [float(record[key]) for key in ("claimed", "certified", "audited")] == list(arm[3:6])
        assert float(record["certified_add_remove"]) == arm[4] / 2 and record["caught"] == str(arm[7])


def test_an_honest_mechanism_above_its_certificate_is_told(tmp_path):
    wrong = [("local", "released", None, 1.0, 1.0, 1.2, None, True)]
    text, _ = STUDY.report(experiment(wrong), tmp_path, lambda _: None)
    assert (
        "0 of 1 attacks on honest mechanisms stay below the certificate; above it: label of local."
        in text.read_text()
    )
