"""The report: its numbers are generated, and LaTeX will know every character; no LaTeX is needed to see it."""

import json
import re
from pathlib import Path

from experiments import report
from experiments.lab.shipped import Shipped
from experiments.report import (
    SENTENCES,
    USED,
    claims_table,
    in_latex,
    macros,
    missing_numbers,
    sentences_table,
)
from experiments.studies.artifact.claims import VERDICTS, read
from experiments.studies.artifact.figures import read_captions
from experiments.studies.riverswim import verdicts

ROOT = Path(__file__).resolve().parents[2]

SOURCE = (ROOT / "paper" / "report" / "report.tex").read_text()
NUMBERS = json.loads((ROOT / "paper" / "results" / "numbers.json").read_text())
COUNTS = {f"count.{verdict.replace(' ', '_')}": "1" for verdict in VERDICTS}
SHIPPED = Shipped(ROOT / "paper" / "results").experiments()


def test_every_number_of_the_report_exists():
    used = USED.findall(SOURCE)
    assert len(set(used)) > 20
    assert missing_numbers(SOURCE, {**NUMBERS, **COUNTS}, SHIPPED) == []
    assert missing_numbers(r"\result{count.x} \result{literal.x} \result{nowhere.x}", {}, ["literal"]) == [
        "count.x",
        "literal.x",
    ]


def test_no_character_is_left_that_latex_does_not_know():
    claims = read(ROOT / "paper" / "claims.yaml", NUMBERS, SHIPPED)
    generated = macros("result", NUMBERS) + claims_table(claims) + sentences_table(NUMBERS)
    generated += macros("figurecaption", read_captions(ROOT / "paper" / "figures"))
    assert sorted({character for character in generated + SOURCE if ord(character) > 127}) == []
    assert in_latex("5% ± 2, ε_1") == r"5\% $\pm$ 2, $\varepsilon$\_1"
    assert in_latex("V^π, S^{3/2}") == r"V$^{\pi}$, S$^{3/2}$"
    assert in_latex("P\u0303, N\u0302, Ω\u0303") == r"$\tilde P$, $\hat N$, $\tilde\Omega$"


def test_every_sentence_of_the_simulation_has_its_verdict_in_every_setting():
    assert list(SENTENCES) == [rule.__name__ for rule in verdicts.SENTENCES.values()]
    rows = [line.split(" & ") for line in sentences_table(NUMBERS).splitlines() if line.endswith(r"\\")]
    read_back = {
        rule: "; ".join(f"{row[0]}: {row[i].removesuffix(chr(92) * 2).strip()}" for row in rows)
        for i, rule in enumerate(SENTENCES, 1)
    }
    assert read_back == {rule: NUMBERS[f"riverswim.verdict.{rule}"] for rule in SENTENCES}


def test_no_number_is_typed():
    """Regrets and matched ε are macros: a number of four digits or more is a size that the paper names."""
    text = re.sub(r"\\result\{[^}]*\}|%.*", "", SOURCE).replace("{,}", "")
    text, _, books = text.partition(r"\begin{thebibliography}")
    assert set(re.findall(r"\d{4,}", re.sub(r"\\cite\{[^}]*\}", "", text))) <= {"50000"}
    cited = {key for keys in re.findall(r"\\cite\{([^}]*)\}", text) for key in keys.split(",")}
    assert cited == set(re.findall(r"\\bibitem\{([^}]*)\}", books))


def test_it_says_so_where_there_is_no_latex(monkeypatch, tmp_path):
    monkeypatch.setattr(report.shutil, "which", lambda name: None)
    report.write(ROOT / "paper", tmp_path)
    assert {"report.tex", "numbers.tex", "claims.tex", "sentences.tex", "figures"} <= {
        path.name for path in tmp_path.iterdir()
    }
    assert "latexmk or tectonic must be on PATH" in report.build(tmp_path)
