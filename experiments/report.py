"""Write the report's numbers and tables and build results/report/report.pdf: python experiments/report.py."""

import sys
from pathlib import Path

if __name__ == "__main__":
    # In place of this folder, which python -P leaves out: every module has one name.
    sys.path[: not sys.flags.safe_path] = [str(Path(__file__).resolve().parents[1])]

import shutil
import subprocess

from dpucbvi.errors import InputError
from experiments.lab.process import NOTHING_STORED, guarded, parser
from experiments.lab.shipped import Shipped
from experiments.studies.artifact.claims import VERDICTS, read
from experiments.studies.artifact.figures import read_captions
from experiments.studies.artifact.numbers import Numbers, stored_numbers
from experiments.studies.artifact.report import (
    caption_macros,
    claims_table,
    macros,
    missing_numbers,
    sentences_table,
)

BUILDERS = {
    "latexmk": ["-pdf", "-interaction=nonstopmode", "-halt-on-error", "-quiet"],
    "tectonic": ["--chatter", "minimal", "--keep-logs"],
}
LAST_LINES = 10  # of what a builder that failed said


def write(paper: Path, folder: Path) -> None:
    """report.tex with the figures' folder, and numbers, claims, sentences and captions as .tex beside it."""
    shipped = Shipped(paper / "results")
    names = shipped.experiments()
    found = stored_numbers(paper)
    claims = read(paper / "claims.yaml", found, names)
    counted: Numbers = {
        f"count.{verdict.replace(' ', '_')}": str(sum(claim.verdict == verdict for claim in claims))
        for verdict in VERDICTS
    }
    source = (paper / "report" / "report.tex").read_text("utf-8")
    missing = missing_numbers(source, {**found, **counted}, names)
    if missing:
        raise InputError(f"report.tex: no such number: {', '.join(missing)}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "numbers.tex").write_text(macros({**found, **counted}), "utf-8")
    (folder / "claims.tex").write_text(claims_table(claims), "utf-8")
    (folder / "sentences.tex").write_text(sentences_table(found), "utf-8")
    (folder / "captions.tex").write_text(caption_macros(read_captions(paper / "figures")), "utf-8")
    (folder / "report.tex").write_text(source, "utf-8")
    shutil.copytree(paper / "figures", folder / "figures", dirs_exist_ok=True)


def build(folder: Path) -> str:
    """Build the PDF, if there is a builder; what was done, in a line."""
    builder = next((name for name in BUILDERS if shutil.which(name)), None)
    if builder is None:
        return f"{folder / 'report.tex'} is written; to make a PDF of it, latexmk or tectonic must be on PATH"
    done = subprocess.run(
        [builder, *BUILDERS[builder], "report.tex"],
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
    )
    if done.returncode:
        print(*done.stderr.splitlines()[-LAST_LINES:], sep="\n", file=sys.stderr)
        raise InputError(f"{builder} failed; its log is {folder / 'report.log'}")
    return str(folder / "report.pdf")


def main() -> None:
    arguments = parser(__doc__, paper="paper", output="results/report").parse_args()
    with guarded(NOTHING_STORED):
        write(arguments.paper, arguments.output)
        print(build(arguments.output))


if __name__ == "__main__":
    main()
