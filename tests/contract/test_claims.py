"""paper/claims.yaml and CLAIMS.md: complete, about code and tests that exist, and as the results say."""

import json
import re
from pathlib import Path

import pytest
from test_deviations import ENTRIES, missing_places

from dpucbvi.errors import InputError
from experiments.lab.compose import experiments
from experiments.lab.shipped import Shipped
from experiments.studies.artifact.appendix import parts, with_parts
from experiments.studies.artifact.claims import ledger, read
from experiments.studies.artifact.numbers import NOT_SHIPPED, numbers

ROOT = Path(__file__).resolve().parents[2]
YAML = ROOT / "paper" / "claims.yaml"
SHIPPED = Shipped(ROOT / "paper" / "results")
NUMBERS = json.loads((ROOT / "paper" / "results" / "numbers.json").read_text())
CLAIMS = read(YAML, NUMBERS, SHIPPED.experiments())

STATEMENT = re.compile(r"(?:Def|Asm|Rem|Thm|Lem|Cor)\. [\w.]+\w|Eq\. \(\d\)|Algorithm 1|Fig\. 1, \w+")
STATEMENTS = (
    "Def. 2.1, Def. 2.2, Def. 2.3, Algorithm 1, Asm. 3.1, Eq. (1), Rem. 3.2, Thm. 4.1, Eq. (2), Lem. 5.1,"
    "Thm. 5.2, Eq. (3), Eq. (4), Eq. (5), Eq. (6), Rem. 5.3, Lem. 5.4, Rem. 5.5, Lem. 5.6, Thm. 5.7, Eq. (7),"
    "Lem. 6.1, Lem. B.1, Lem. B.2, Rem. B.3, Lem. B.4, Rem. B.5, Lem. B.6, Rem. B.7, Lem. B.8, Lem. B.9,"
    "Def. C.1, Lem. C.2, Lem. C.3, Lem. C.4, Lem. C.5, Lem. C.6, Lem. C.7, Lem. C.8, Lem. C.9,"
    "Cor. C.10, Lem. C.11, Fig. 1, order, Fig. 1, cost, Fig. 1, epsilon, Fig. 1, local,"
    "Fig. 1, numbers"
)
TABLE_1 = ["PUCB", "LDP-OBI", "Private-UCB-PO", "Private-UCB-VI", "DP-UCBVI", "lower bound", "type of bonus"]
LINES = range(1, 19)  # of Algorithm 1
TAG = re.compile(r"\[((?:Alg\.1|Eq|Lem|Thm|Asm|Def|Rem|Cor)\b[^]\n]*)\]")


def test_every_numbered_statement_is_there_once_and_in_order():
    names = [claim.statement for claim in CLAIMS]
    assert [s for name in names for s in STATEMENT.findall(name)] == STATEMENT.findall(STATEMENTS)
    assert [name.removeprefix("Table 1, ") for name in names if name.startswith("Table 1, ")] == TABLE_1
    assert names[-1] == "Free privacy, threshold"


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.statement)
def test_a_claim_is_honest(claim):
    """What is named exists; it has a test, or says why not; its cells are short."""
    places = " ".join(f"`{place}`" for place in (*claim.code, *claim.tests))
    assert missing_places(places) == []
    assert set(claim.experiments) <= set(experiments())
    assert claim.tests or claim.reason
    assert claim.verdict != "not tested" or claim.reason or claim.note or claim.judged
    assert len(claim.measured) < 75, "a word and a number; the rest is a note"
    assert {int(n) for n in re.findall(r"\bD(\d+)\b", claim.measured + claim.note)} <= set(ENTRIES)


ALL = pytest.param(SHIPPED.experiments(), marks=pytest.mark.slow, id="all")  # bootstraps of every study


@pytest.mark.parametrize("names", [["riverswim"], ALL])
def test_the_numbers_are_those_of_the_results_that_ship(names):
    wanted = {key: told for key, told in NUMBERS.items() if key.partition(".")[0] in ("printed", *names)}
    assert numbers(SHIPPED.load_experiment, names) == wanted


def test_the_ledger_is_what_the_claims_and_the_results_give():
    """`make figures` writes it."""
    names = SHIPPED.experiments()
    assert (ROOT / "paper" / "CLAIMS.md").read_text() == ledger(CLAIMS)
    appendix = (ROOT / "ARTIFACT-APPENDIX.md").read_text()
    assert appendix == with_parts(appendix, parts(CLAIMS, SHIPPED.manifest(), ROOT / "paper", NUMBERS, names))
    assert (
        with_parts("a\n<!-- x -->\nold\n<!-- end -->\nb", {"x": "new"}) == "a\n<!-- x -->\nnew\n<!-- end -->\nb"
    )


def printed_epsilon_is_met() -> bool:
    """The matched ε of Fig. 1's private curves, "571 (448 to 662)": is the printed one in an interval?"""
    met = []
    for curve, printed in (("jdp_eps1", 1.0), ("jdp_eps2", 2.0), ("ldp_eps2", 2.0)):
        told = NUMBERS[f"epsilon.match.{curve}.DP_UCBVI"].replace(",", "")
        low, high = map(float, re.findall(r"\(([\d.]+) to ([\d.]+)\)", told)[0])
        met.append(low <= printed <= high)
    return any(met)


WRITTEN = {"Fig. 1, numbers": ("does not hold", lambda: not printed_epsilon_is_met())}


def test_a_verdict_on_an_experiment_is_the_stored_results():
    """It comes from `judged`, or claims nothing, or is written by hand and then looked up here."""
    nothing = ("not tested", "definition")
    by_hand = [
        claim for claim in CLAIMS if claim.experiments and not claim.judged and claim.verdict not in nothing
    ]
    assert {claim.statement: claim.verdict for claim in by_hand} == {
        name: said for name, (said, _) in WRITTEN.items()
    }
    assert all(agrees() for _, agrees in WRITTEN.values())


def tags() -> dict[str, Path]:
    files = [
        *(ROOT / "dpucbvi").rglob("*.py"),
        *(ROOT / "notebooks").rglob("*.py"),
        *(ROOT / "conf").rglob("*.yaml"),
    ]
    return {tag: path for path in files for tag in TAG.findall(path.read_text())}


def known(tag: str) -> bool:
    if tag.startswith("Alg.1"):
        lines = re.fullmatch(r"Alg\.1 L(\d+)(?:-L(\d+))?", tag)
        return lines is not None and all(int(line) in LINES for line in lines.groups() if line)
    kind, _, number = tag.partition(".")
    name = f"Eq. ({number})" if kind == "Eq" else f"{kind}. {number}"
    return name in STATEMENT.findall(STATEMENTS)


def test_every_tag_of_the_code_is_a_statement_of_the_ledger():
    found = tags()
    assert len(found) > 20
    assert {tag: path for tag, path in found.items() if not known(tag) and tag != "Alg.1 Ln"} == {}
    assert not known("Lem.5.9") and not known("Alg.1 L19") and not known("Eq.9")


def write(tmp_path: Path, **changed: str) -> Path:
    claim = {
        "statement": "Fig. 1, order",
        "kind": "figure",
        "paper": "Section 7",
        "says": "x",
        "verdict": "holds",
    }
    path = tmp_path / "claims.yaml"
    path.write_text(json.dumps({"Section 7": [{**claim, **changed}]}))
    return path


@pytest.mark.parametrize(
    ("told", "verdict"),
    [
        ("a: reproduces; b: reproduces", "holds"),
        ("a: does not; b: reproduces", "does not hold"),
        ("a: cannot be told; b: does not", "cannot be told"),
        ("a: cannot be told", "cannot be told"),
        (None, "not tested"),
    ],
)
def test_the_stored_runs_decide_the_verdict_on_a_sentence(tmp_path, told, verdict):
    path = write(tmp_path, verdict="", judged="riverswim.verdict.x")
    found, shipped = ({"riverswim.verdict.x": told}, ["riverswim"]) if told else ({}, [])
    (claim,) = read(path, found, shipped)
    assert claim.verdict == verdict
    assert (claim.measured, claim.note) == (told or NOT_SHIPPED, "")


def test_a_claim_with_a_mistake_is_named(tmp_path):
    for changed, message in (
        ({"verdict": "true"}, "verdict: 'true' is not accepted; it must be one of holds, "),
        ({"judged": "riverswim.ucbvi"}, "verdict: 'holds' is not accepted; it must be one of holds, "),
        ({"verdcit": "holds"}, "unexpected keyword argument 'verdcit'"),
        ({"measured": "{riverswim.no_such_arm}"}, "riverswim.no_such_arm: no such number"),
    ):
        with pytest.raises(InputError, match=re.escape("claims.yaml: Fig. 1, order: ")) as told:
            read(write(tmp_path, **changed), {"riverswim.ucbvi": "225"}, ["riverswim"])
        assert message in str(told.value)
