"""paper/DEVIATIONS.md and paper/CLAIMS.md: complete, numbered, and about code and tests that exist."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DEVIATIONS = (ROOT / "paper" / "DEVIATIONS.md").read_text()
CLAIMS = (ROOT / "paper" / "CLAIMS.md").read_text()

ENTRY = re.compile(r"^## D(\d+)\. (.+)\n\n((?:.+\n?)+)", re.MULTILINE)
ENTRIES = {int(number): body for number, _, body in ENTRY.findall(DEVIATIONS)}
PARTS = ["The paper says", "We do", "Why", "Effect"]

ROW = re.compile(r"^\| (?!statement)([^|]+) \| (.+) \|$", re.MULTILINE)
ROWS = {name: rest.split(" | ") for name, rest in ROW.findall(CLAIMS)}
STATEMENT = re.compile(r"(?:Def|Asm|Rem|Thm|Lem|Cor)\. [\w.]+\w|Eq\. \(\d\)|Algorithm 1|Fig\. 1, \w+")
STATEMENTS = (
    "Def. 2.1, Def. 2.2, Def. 2.3, Algorithm 1, Asm. 3.1, Eq. (1), Rem. 3.2, Thm. 4.1, Eq. (2), Lem. 5.1,"
    "Thm. 5.2, Eq. (3), Eq. (4), Eq. (5), Eq. (6), Rem. 5.3, Lem. 5.4, Rem. 5.5, Lem. 5.6, Thm. 5.7, Eq. (7),"
    "Lem. 6.1, Lem. B.1, Lem. B.2, Rem. B.3, Lem. B.4, Rem. B.5, Lem. B.6, Rem. B.7, Lem. B.8, Lem. B.9,"
    "Def. C.1, Lem. C.2, Lem. C.3, Lem. C.4, Lem. C.5, Lem. C.6, Lem. C.7, Lem. C.8, Lem. C.9,"
    "Cor. C.10, Lem. C.11, Fig. 1, order, Fig. 1, cost, Fig. 1, epsilon, Fig. 1, local,"
    "Fig. 1, numbers"
)


def cited_places(text: str) -> list[tuple[str, str]]:
    """(file, name) of every `file::name`, `::name` (in the file named before) and `file` in code quotes."""
    places, file = [], ""
    for quoted in re.findall(r"`([^`\s]+)`", text):
        path, _, name = quoted.partition("::")
        if re.fullmatch(r"(dpucbvi|tests|paper|conf|experiments|notebooks)/[\w/.-]+", path):
            file = path
        elif path or not name:
            continue  # code, not a place
        places.append((file, name))
    return places


def defined_names(path: Path) -> set[str]:
    """The functions and classes of a file, and the methods as Class.method."""
    nodes = [
        node for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]
    methods = {
        f"{node.name}.{inner.name}"
        for node in nodes
        if isinstance(node, ast.ClassDef)
        for inner in node.body
        if isinstance(inner, ast.FunctionDef)
    }
    return {node.name for node in nodes} | methods


def missing_places(text: str) -> list[str]:
    missing = []
    for file, name in cited_places(text):
        path = ROOT / file
        if not path.exists() or (name and name not in defined_names(path)):
            missing.append(f"{file}::{name}" if name else file)
    return missing


def test_deviations_are_numbered_without_a_gap_and_in_order():
    headings = re.findall(r"^## (.*)$", DEVIATIONS, re.MULTILINE)
    assert [heading.partition(".")[0] for heading in headings] == [f"D{n}" for n in range(1, len(headings) + 1)]
    assert list(ENTRIES) == list(range(1, len(headings) + 1))


@pytest.mark.parametrize("number", ENTRIES)
def test_a_deviation_has_its_four_parts_and_names_a_place(number):
    body = ENTRIES[number]
    assert re.findall(r"^- \*\*([^*]+)\*\*: \S", body, re.MULTILINE) == PARTS
    assert re.findall(r"^(?!- \*\*|  \S).+", body, re.MULTILINE) == []  # nothing but the four parts
    assert cited_places(body), "say where in the code or the tests"
    assert missing_places(body) == []


def test_every_deviation_the_code_cites_exists():
    cited = {}
    for folder, suffix in (("dpucbvi", "py"), ("experiments", "py"), ("notebooks", "py"), ("conf", "yaml")):
        for path in (ROOT / folder).rglob(f"*.{suffix}"):
            for number in re.findall(r"\bD(\d+)\b", path.read_text()):
                cited.setdefault(int(number), path.relative_to(ROOT))
    assert {n: place for n, place in cited.items() if n not in ENTRIES} == {}
    assert set(range(1, 11)) <= set(cited), "the code cites these where it takes the choice"


def test_every_deviation_the_ledger_cites_exists():
    assert {int(n) for n in re.findall(r"\bD(\d+)\b", CLAIMS)} <= set(ENTRIES)


def test_the_ledger_has_every_numbered_statement_once_and_in_order():
    assert [s for name in ROWS for s in STATEMENT.findall(name)] == STATEMENT.findall(STATEMENTS)
    assert all(STATEMENT.match(name) for name in ROWS)


@pytest.mark.parametrize("name", ROWS)
def test_a_row_of_the_ledger_is_honest(name):
    """Four more columns; what is named exists; a verdict other than 'not tested yet' has a test."""
    says, implemented, test, verdict = ROWS[name]
    assert says and verdict
    assert missing_places(implemented) == []
    if test == "-":
        assert verdict.startswith("not tested yet")
    else:
        assert not verdict.startswith("not tested yet")
        assert cited_places(test) and missing_places(test) == []


def test_a_wrong_place_is_noticed():
    text = (
        "`dpucbvi/bonus.py::log_iota`, `::no_such`, `dpucbvi/none.py`, `sensitivity: paper`, `bonus.scale`, "
        "`dpucbvi/privatizers/local.py::Local.scales`, `::Local.size`"
    )
    assert cited_places(text) == [
        ("dpucbvi/bonus.py", "log_iota"),
        ("dpucbvi/bonus.py", "no_such"),
        ("dpucbvi/none.py", ""),
        ("dpucbvi/privatizers/local.py", "Local.scales"),
        ("dpucbvi/privatizers/local.py", "Local.size"),
    ]
    assert missing_places(text) == [
        "dpucbvi/bonus.py::no_such",
        "dpucbvi/none.py",
        "dpucbvi/privatizers/local.py::Local.size",
    ]
