"""Every number typed in the README's verdict and in findings.md is one of the results: stale prose fails.

A section stands on the experiments that it names (`+exp=...`) and on those whose generated files it links. A
number must be in one of their files, among their numbers in numbers.json or in their configs, or it has its
source here. Counts up to 20 are left to the reader.
"""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NUMBERS = json.loads((ROOT / "paper" / "results" / "numbers.json").read_text())
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")
NO_RESULT = re.compile(
    r"`[^`]*`|\]\([^)]*\)|arXiv\s\S+|ICML \d+|Lemmas? [\w.]+(?: and [\w.]+)?|\d·10|10[⁰¹²³⁴-⁹⁻]+"
)
NAMED = re.compile(r"(?<=\+exp=)\w+|(?<=\]\()(?:[\w./]*/)?(\w+)(?=\.(?:md|csv)\))")
COUNTS = {str(n) for n in range(21)}
TYPED = {  # what no generated file has, and where it is from
    "Figure 1": {"104": "the last seed of +exp=epsilon", "2022": "a year"},
    "Other privatizers": {
        **dict.fromkeys(("31", "108", "226"), "rounded from the tables"),
        "30270": "of Honaker's tree, which is run no more: a last word",
        **dict.fromkeys(("8521", "4651"), "of Gaussian batches per step, run no more: a last word"),
    },
    "What the paper's contribution buys": {
        **dict.fromkeys(
            ("29", "330", "0.05", "0.15", "0.3", "0.01", "0.001", "0.1", "20000"), "looked for by hand"
        ),
    },
    "Printed constants": dict.fromkeys(("0.6", "0.001", "0.05"), "of 10⁸ episodes, run no more: a last word"),
    "The factors": {"1004": "the last seed", "90": "the quantile of the rule"},
    "Table 1": {
        **dict.fromkeys(("150983", "86"), "the command beside them"),
        "167680": "50,000 episodes of the uniformly random policy, 168 thousand in the table",
        "44": "pairs of factors, counted in the table",
        "39": "rounded from calibrate_table1.csv",
        **dict.fromkeys(
            ("220", "0.68", "1.11", "1.05", "2.26", "5.02", "4.85", "2000", "1300"),
            "from the runs of table1.npz",
        ),
        **dict.fromkeys(
            ("2024", "0.40", "1.81", "1501", "5695", "3977", "2200"),
            "of DP-Nash-VI, which is run no more: a last word",
        ),
        **dict.fromkeys(
            ("93.6", "53.5", "11.6", "139", "1.3", "1.5"), "of LDP-OBI with its own noise, run no more"
        ),
    },
}


def sections() -> dict[str, str]:
    verdict = (ROOT / "README.md").read_text().split("**The verdict**")[1].split("```")[0]
    findings = re.split(r"^## ", (ROOT / "paper" / "results" / "findings.md").read_text(), flags=re.MULTILINE)
    return {"README": verdict, **{text.partition(" (")[0]: text for text in findings[1:]}}


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


def test_every_exception_is_in_its_section():
    assert [(name, one) for name in TYPED for one in set(TYPED[name]) - numbers_in(SECTIONS[name])] == []


def test_a_stale_number_is_found():
    section = SECTIONS["What each line of Algorithm 1 buys"]
    assert experiments_of(section) == ["ablation"]
    assert stale(section.replace("5.70", "5.71")) == ["5.71"]
    assert stale("4,479 and 11,611 of 123,456 runs ([table](paper/results/riverswim.md))") == ["123456"]
