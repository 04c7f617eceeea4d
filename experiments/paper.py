"""Draw every figure and write every table and verdict of paper/ from the results that ship.

    python experiments/paper.py [name ...]

Other experiments in results/ are your own: they are drawn into results/figures and never touch paper/.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    # In place of this folder, which python -P leaves out: every module has one name.
    sys.path[: not sys.flags.safe_path] = [str(Path(__file__).resolve().parents[1])]

import json
from functools import cache, partial

from dpucbvi.errors import InputError
from experiments.lab.compose import experiments
from experiments.lab.process import parser, print_errors, take
from experiments.lab.shipped import Shipped
from experiments.lab.store import Store, StoredExperiment
from experiments.studies import caption, draw, draw_files, drawn, keeps_figure, study
from experiments.studies.artifact.conf import check_index
from experiments.studies.artifact.data import write_data
from experiments.studies.artifact.figures import SUMMARY, draw_summary, summary_caption, write_captions


class Publisher:
    """Shipped results in, paper/ out; every experiment is loaded once and drawn once."""

    def __init__(self, results: Path, paper: Path) -> None:
        self.store, self.shipped = Store(results), Shipped(paper / "results")
        self.paper, self.figures = paper, results / "figures"
        self.load = cache(self.shipped.load_experiment)
        self.captions: dict[str, str] = {}

    def all_names(self) -> list[str]:
        """What conf/exp has, what has shipped, and what else is stored."""
        return list(dict.fromkeys([*experiments(), *self.shipped.experiments(), *self.store.experiments()]))

    def publish(self, name: str) -> list[Path]:
        """Write what is kept of one experiment; the files, in the order of writing."""
        if name in self.shipped.experiments():
            check_index(name, self.load(name))
            return self.write(self.load(name))
        if name in self.store.experiments():
            files = draw(self.store.load_experiment(name), self.figures)
            if name not in experiments():
                return files
            raise InputError(f"{name}: drawn from results/, but it has not shipped; `make ship` writes paper/")
        missing = "has not shipped, and is not stored; run it: experiments/run.py +exp="
        neither = f"neither shipped nor stored in {self.store.folder}"
        raise InputError(f"{name}: {f'{missing}{name}' if name in experiments() else neither}")

    def write(self, experiment: StoredExperiment) -> list[Path]:
        made = study(experiment.study)
        written = made.report(experiment, self.paper / made.folder, self.find)
        if keeps_figure(experiment.name, experiment.study):
            self.captions[experiment.name] = caption(experiment)
            written += draw_files(partial(drawn, experiment), self.paper / "figures", experiment.name)
        return written

    def write_summary(self) -> list[Path]:
        """README's picture, if both experiments that it needs have shipped."""
        river, mechanisms = self.find("riverswim"), self.find("mechanisms")
        if river is None or mechanisms is None:
            return []
        self.captions[SUMMARY] = summary_caption(river)
        return draw_files(partial(draw_summary, river, mechanisms), self.paper / "figures", SUMMARY)

    def write_claims(self) -> list[Path]:
        """CLAIMS.md, parts of the appendix and of PRIVACY.md, and all numbers that they quote."""
        # These import studies, one of which may be broken.
        from experiments.studies.artifact.appendix import bounds, parts, with_parts
        from experiments.studies.artifact.claims import ledger, read
        from experiments.studies.artifact.numbers import numbers

        shipped = self.shipped.experiments()
        found = numbers(self.find, shipped)
        claims = read(self.paper / "claims.yaml", found, shipped)
        appendix, arguments = self.paper.parent / "ARTIFACT-APPENDIX.md", self.paper / "PRIVACY.md"
        generated = parts(claims, self.shipped.manifest(), self.paper, found, shipped)
        texts = {
            self.paper / "CLAIMS.md": ledger(claims),
            self.paper / "results" / "numbers.json": json.dumps(found, indent=1, ensure_ascii=False) + "\n",
            appendix: with_parts(appendix.read_text("utf-8"), generated),
            arguments: with_parts(arguments.read_text("utf-8"), {"bounds": bounds()}),
        }
        for path, text in texts.items():
            path.write_text(text, "utf-8")
        return list(texts)

    def write_captions(self) -> list[Path]:
        """captions.md, beside the figures."""
        return [write_captions(self.paper / "figures", self.captions)]

    def write_data(self) -> list[Path]:
        """All runs as one table, and what its columns are."""
        return write_data(map(self.load, self.shipped.experiments()), self.paper / "results")

    def find(self, name: str) -> StoredExperiment | None:
        return self.load(name) if name in self.shipped.experiments() else None


def main() -> None:
    arguments = parser(__doc__, "shipped or stored experiments", results="results", paper="paper").parse_args()
    publisher = Publisher(arguments.results, arguments.paper)
    names = arguments.names or publisher.all_names()
    failed = take({name: partial(publisher.publish, name) for name in names})
    if {"riverswim", "mechanisms"} & set(names):
        failed |= take({"summary": publisher.write_summary})
    if publisher.captions:
        failed |= take({"captions": publisher.write_captions})
    if not arguments.names:  # last: the appendix has links to the files that are there
        failed |= take({"claims": publisher.write_claims, "runs": publisher.write_data})
    print_errors(failed.values())
    unknown = set(arguments.names) - set(publisher.all_names())
    sys.exit(2 if unknown else min(len(failed), 1))


if __name__ == "__main__":
    main()
