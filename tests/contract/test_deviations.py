"""paper/DEVIATIONS.md: complete, numbered, and about code and tests that exist."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DEVIATIONS = (ROOT / "paper" / "DEVIATIONS.md").read_text()

ENTRY = re.compile(r"^## D(\d+)\. (.+)\n\n((?:.+\n?)+)", re.MULTILINE)
ENTRIES = {int(number): body for number, _, body in ENTRY.findall(DEVIATIONS)}
PARTS = ["The paper says", "We do", "Why", "Effect"]


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
    names = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{inner.name}" for inner in node.body if isinstance(inner, ast.FunctionDef)}
    return names


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


def test_the_index_has_every_deviation_and_says_whether_it_matters():
    index = re.findall(r"^\| \[D(\d+)\]\(#[^)]+\) \| (.+) \| (yes|little|no)\b.* \|$", DEVIATIONS, re.MULTILINE)
    assert [(number, title) for number, title, _ in index] == [found[:2] for found in ENTRY.findall(DEVIATIONS)]


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


def test_a_wrong_place_is_noticed():
    text = "`dpucbvi/bonus.py::log_iota`, `::no_such`, `dpucbvi/none.py`, `sensitivity: paper`, `bonus.scale`"
    assert missing_places(text) == ["dpucbvi/bonus.py::no_such", "dpucbvi/none.py"]
    methods = "`dpucbvi/privatizers/local.py::Local.noise_of`, `::Local.size`"
    assert missing_places(methods) == ["dpucbvi/privatizers/local.py::Local.size"]
