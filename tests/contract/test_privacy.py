"""paper/PRIVACY.md: its numbers are those of the code and of the results that ship, its places are there."""

import csv
import re
from pathlib import Path

import pytest
from test_deviations import ENTRIES, cited_places, missing_places

from dpucbvi.protocol import Problem
from experiments.studies.artifact.appendix import ENTRIES as PRIVATE, FIGURE, bounds, with_parts

ROOT = Path(__file__).resolve().parents[2]
PRIVACY = (ROOT / "paper" / "PRIVACY.md").read_text()


def test_the_generated_part_is_what_the_code_gives():
    """`make figures` writes it."""
    assert with_parts(PRIVACY, {"bounds": bounds()}) == PRIVACY


def test_what_the_text_says_of_the_audit_is_in_its_table():
    """By another way: the counts and bounds of audit.csv."""
    with (ROOT / "paper" / "results" / "audit.csv").open(newline="") as file:
        rows = [{**row, "found": float(row["found"])} for row in csv.DictReader(file)]
    text = " ".join(PRIVACY.split())
    honest, broken = ({row["arm"] for row in rows if bool(row["broken"]) == wrong} for wrong in (False, True))
    caught = {row["arm"] for row in rows if row["caught"] == "True"}
    assert (
        f"{len(honest)} of {len(honest)} audits" in text and f"{len(broken)} of {len(broken)} mistakes" in text
    )
    assert caught == broken
    told = re.search(r"at least ([\d.]+) \(Central\) and ([\d.]+) \(Local\).*? ([\d.]+) \(Central\)", text)
    quoted = (("central_paper", "replace_one"), ("local_paper", "replace_one"), ("central_paper", "add_remove"))
    for said, (arm, relation) in zip(told.groups(), quoted, strict=True):
        (row,) = [r for r in rows if (r["arm"], r["relation"], r["attack"]) == (arm, relation, "releases")]
        assert 0.0 <= row["found"] - float(said) < 0.01 and row["found"] < float(
            row["declared"]
        )  # rounded down
        assert relation == "add_remove" or row["found"] > 1.0  # texts/audit.md says so
    shares = [row["found"] / float(row["declared"]) for row in rows if row["attack"] == "actions"]
    assert f"of the other users showed {max(shares):.0%} of ε" in text
    stated = float(re.search(r"probability 1 - ([\d.e-]+)\. The", text)[1])
    bounds = sum(row["attack"] not in ("replay", "message") for row in rows)
    assert f"All {bounds} bounds hold" in text
    assert stated == pytest.approx(1e-9 * bounds, rel=0.02) and stated < 1e-6


def test_every_privatizer_has_a_line_in_the_table_of_E():
    from dpucbvi.privatizers import PRIVATIZERS

    left_out = {"non_private"}  # no noise
    privatizers = [privatizer for _, _, privatizer in PRIVATE]
    assert set(map(type, privatizers)) == {PRIVATIZERS[name] for name in PRIVATIZERS if name not in left_out}
    for privatizer in privatizers:
        certificate = privatizer.certificate(FIGURE, FIGURE.H)
        assert certificate.replace_one == pytest.approx(1.0, rel=1e-9) and certificate.delta in (0.0, 1e-6)


def test_a_release_has_at_most_fifteen_noises():
    """E = 363,853 with the 15 noises that a release of at most 49,999 users has."""
    from dpucbvi.confidence import SHARE, laplace_sum_bound
    from dpucbvi.counts import counters
    from dpucbvi.privatizers import Central

    H, S, A, K, beta, _ = problem = FIGURE
    most = max(t.bit_count() for t in range(1, K))
    scale = Central(1.0, sensitivity="replace_one").scales(problem).M
    E = 4.0 * scale * laplace_sum_bound(most, beta / SHARE / (counters(H, S, A) * (K - 1)))
    assert most == 15 and f"E = {E:,.0f}" in PRIVACY


def test_the_example_is_what_the_code_certifies():
    """Ann among five users: noise and ε of Central and of batches."""
    from dpucbvi.privatizers import Batches, Central

    five = Problem(H=2, S=2, A=1, K=5, beta=0.05)
    central, batches = Central(1.0), Batches(1.0, first=2)
    told = [central.certificate(five, five.H), batches.certificate(five, five.H)]
    assert [(one.add_remove, one.replace_one) for one in told] == [(1.0, 2.0), (0.5, 1.0)]
    nodes, (_, cells, rewards) = central.scales(five), batches.scales(five)
    for said, noise in (("3HL/ε", nodes.M), ("2H/(¾ε)", cells), ("H/(¼ε)", rewards)):
        assert f"Lap({said}) = Lap({noise:.3g})" in " ".join(PRIVACY.split())


def test_its_places_and_deviations_exist():
    assert len(cited_places(PRIVACY)) > 30 and missing_places(PRIVACY) == []
    assert {int(n) for n in re.findall(r"\bD(\d+)\b", PRIVACY)} <= set(ENTRIES)


def test_every_proof_has_a_test():
    """The table of what is proved: a place with the proof, and at least one test, in each line."""
    part = PRIVACY.partition("## Which test checks which proof")[2].partition("\n## ")[0]
    lines = [line.split("|")[1:-1] for line in part.splitlines() if line.startswith("|")][2:]
    assert len(lines) >= 13
    for _, proof, tests in lines:
        assert all(file.startswith("dpucbvi/") for file, _ in cited_places(proof)) and cited_places(proof)
        assert any(file.startswith("tests/") for file, _ in cited_places(tests))
