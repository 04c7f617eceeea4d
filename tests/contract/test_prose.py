"""Every number typed in the README and in findings.md is one of the results: stale prose fails.

A section stands on the experiments that it names (`+exp=...`) and on those whose generated files it links. A
number must be in one of their files, among their numbers in numbers.json or in their configs, or it has its
source here. Counts up to 20 are left to the reader.
"""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
NUMBERS = json.loads((ROOT / "paper" / "results" / "numbers.json").read_text())
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")
NO_RESULT = re.compile(
    r"`[^`]*`|\]\([^)]*\)|Python [\d.]+ to [\d.]+|arXiv\s\S+|ICML \d+|"
    r"(?:Lemmas?|Theorem) [\w.]+(?: and [\w.]+)?|\d·10|10[⁰¹²³⁴-⁹⁻]+"
)
NAMED = re.compile(r"(?<=\+exp=)\w+|(?<=\]\()(?:[\w./]*/)?(\w+)(?=\.(?:md|csv)\))")
COUNTS = {str(n) for n in range(21)}
TYPED = {  # what no generated file has, and where it is from
    "README": {"2023": "a year", "28": "claims.yaml, below"},
    "Do the four sentences of Section 7 hold?": {"0.1": "a ratio of two rows"},
    "At which ε do we reach the reported regret?": {"5231": "a median in runs.csv.gz"},
    "Which noise would explain Figure 1?": {"2022": "a year"},
    "Which mechanisms reach the reported regret at the reported ε?": dict.fromkeys(
        ("108", "226"), "rounded from the tables"
    ),
    "What if nobody knows whether the steps are alike?": {
        "2.3": "a ratio of two rows",
        **dict.fromkeys(
            ("31", "60", "30", "200", "1000", "3000", "92418", "57091", "4269", "24659", "6000"), "of a script"
        ),
    },
    "What does the paper's contribution buy?": {
        **dict.fromkeys(("0.05", "0.3", "29"), "of a script"),
        **{"0.048": "6 · 2/252, of 5 runs against 5 that do not overlap", "0.095": "12 · 2/252"},
    },
    "How much do the factors matter?": {"19171": "in runs.csv.gz"},
    "Is the order of Table 1 that of the measurements?": {
        "1000": "twice 500",
        "1300": "the k at which the noise of Local passes that of the tree",
    },
}


def sections() -> dict[str, str]:
    readme = re.sub(r"```(?:python|sh)\n.*?```", "", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    findings = re.split(r"^## ", (ROOT / "paper" / "results" / "findings.md").read_text(), flags=re.MULTILINE)
    shown = readme.replace("```", "")  # what a command prints is prose
    return {"README": shown, **{text.partition("\n")[0]: text for text in findings[1:]}}


SECTIONS = sections()


def numbers_in(text: str) -> set[str]:
    """Without their commas."""
    return {found.rstrip(",").replace(",", "") for found in NUMBER.findall(text)}


def experiments_of(section: str) -> list[str]:
    return sorted({found[1] or found[0] for found in NAMED.finditer(section)})


def results_of(name: str) -> set[str]:
    """All numbers of an experiment, and what its decimals are called in prose: 245.8 is 246."""
    files = [
        ROOT / f"paper/{folder}/{name}.{ending}" for folder in ("results", "tables") for ending in ("md", "csv")
    ]
    files = [file for file in (*files, ROOT / f"conf/exp/{name}.yaml") if file.is_file()]
    quoted = [value for key, value in NUMBERS.items() if key.partition(".")[0] in (name, "printed")]
    found = numbers_in(" ".join([*(file.read_text() for file in files), *quoted]))
    return found | {f"{float(number):.0f}" for number in found if re.fullmatch(r"\d{2,}\.\d+", number)}


def stale(section: str, typed: set[str] = frozenset()) -> list[str]:
    have = set().union(COUNTS, typed, *map(results_of, experiments_of(section)))
    return sorted(numbers_in(NO_RESULT.sub("", section)) - have)


@pytest.mark.parametrize("name", SECTIONS)
def test_every_number_is_one_of_the_results(name):
    assert stale(SECTIONS[name], set(TYPED.get(name, ()))) == []


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().split()) <= 700


def test_the_readme_counts_the_claims():
    items = [
        item
        for section in yaml.safe_load((ROOT / "paper" / "claims.yaml").read_text()).values()
        for item in section
    ]
    found = Counter(item.get("verdict") for item in items)
    tested = found["holds"] + found["holds in part"] + found["off by 2"]
    said = (
        f"{found['holds']} of {tested} tested statements hold as printed, {found['holds in part']} more in part"
    )
    assert said in SECTIONS["README"]


def test_every_exception_is_in_its_section():
    assert [(name, one) for name in TYPED for one in set(TYPED[name]) - numbers_in(SECTIONS[name])] == []


def test_a_stale_number_is_found():
    section = SECTIONS["What does each line of Algorithm 1 buy?"]
    assert experiments_of(section) == ["ablation"]
    assert stale(section.replace("6.08", "6.09")) == ["6.09"]
    assert stale("4,815 and 39,072 of 123,456 runs ([table](paper/results/riverswim.md))") == ["123456"]
