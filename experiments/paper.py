"""Draw every figure and write every table and verdict of paper/ from the results that ship.

    python experiments/paper.py [name ...]

What else is stored in results/ is one's own: it is drawn into results/figures and never touches paper/.
"""

import argparse
import json
import shutil
import sys
import traceback
from collections.abc import Callable, Iterable
from functools import cache, partial
from graphlib import TopologicalSorter
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from dpucbvi.errors import InputError
from dpucbvi.lab.compose import composed, experiments, fingerprint
from dpucbvi.lab.shipped import Shipped
from dpucbvi.lab.store import Store, StoredExperiment
from dpucbvi.studies import Study, draw, names, study
from dpucbvi.studies.artifact import privacy
from dpucbvi.studies.artifact.appendix import parts, with_parts
from dpucbvi.studies.artifact.claims import ledger, read
from dpucbvi.studies.artifact.expected import check_ids
from dpucbvi.studies.artifact.numbers import numbers

ROOT = Path(__file__).resolve().parents[1]


class Publisher:
    """Shipped results in, paper/ out; every experiment is loaded once and drawn once for each width."""

    def __init__(self, results: Path, paper: Path) -> None:
        self.store, self.shipped = Store(results), Shipped(paper / "results")
        self.paper, self.figures = paper, results / "figures"
        self.load = cache(self.shipped.load_experiment)

    def all_names(self) -> list[str]:
        """What conf/exp has, what has shipped, and what else is stored."""
        return list(dict.fromkeys([*experiments(), *self.shipped.experiments(), *self.store.experiments()]))

    def publish(self, name: str) -> list[Path]:
        """Draw one experiment and write what is kept of it; the files, in the order of their writing."""
        if name in self.shipped.experiments():
            self.check_settings(name)
            return self.write(self.load(name))
        if name in self.store.experiments():
            files = draw(self.store.load_experiment(name), self.figures)
            if name not in experiments():
                return files
            raise InputError(f"{name}: drawn from results/, but it has not shipped; `make ship` writes paper/")
        if name in experiments():
            raise InputError(
                f"{name}: has not shipped, and is not stored; run it: experiments/run.py +exp={name}"
            )
        raise InputError(f"{name}: neither shipped nor stored in {self.store.folder}")

    def check_settings(self, name: str) -> None:
        """The results that ship are those that the file in conf/exp asks for."""
        entry = self.shipped.manifest()[name]
        if name not in experiments() or fingerprint(composed(name)) != entry["settings"]:
            check_ids(name, {arm: ids.split() for arm, ids in entry["ids"].items()})

    def write(self, experiment: StoredExperiment) -> list[Path]:
        made = study(experiment.study)
        written = self.report(experiment, made)
        if made.keeps_figure:
            for folder, column in (("figures", False), ("figures/column", True)):
                with TemporaryDirectory() as scratch:
                    png, pdf = draw(experiment, Path(scratch), column)
                    written += self.keep_figure(png, pdf, self.paper / folder)
        return written

    def write_claims(self) -> list[Path]:
        """CLAIMS.md, parts of the appendix and of PRIVACY.md, and all numbers that they quote."""
        shipped = self.shipped.experiments()
        found = numbers(self.find, shipped)
        claims = read(self.paper / "claims.yaml", found, shipped)
        appendix, arguments = self.paper.parent / "ARTIFACT-APPENDIX.md", self.paper / "PRIVACY.md"
        generated = parts(claims, self.shipped.manifest(), self.paper, found, shipped)
        texts = {
            self.paper / "CLAIMS.md": ledger(claims),
            self.paper / "results" / "numbers.json": json.dumps(found, indent=1, ensure_ascii=False) + "\n",
            appendix: with_parts(appendix.read_text(), generated),
            arguments: with_parts(arguments.read_text(), privacy.parts(self.find("audit"))),
        }
        for path, text in texts.items():
            path.write_text(text)
        return list(texts)

    def report(self, experiment: StoredExperiment, made: Study) -> list[Path]:
        if made.report is None:
            return []
        folder = self.paper / made.folder
        folder.mkdir(parents=True, exist_ok=True)
        return made.report(experiment, folder, self.find)

    def find(self, name: str) -> StoredExperiment | None:
        return self.load(name) if name in self.shipped.experiments() else None

    def keep_figure(self, png: Path, pdf: Path, folder: Path) -> list[Path]:
        """The PDF, and the PNG with a palette of 256 colours, a third of the size."""
        folder.mkdir(parents=True, exist_ok=True)
        with Image.open(png) as image:
            image.convert("RGB").quantize(256).save(folder / png.name, optimize=True)
        shutil.copyfile(pdf, folder / pdf.name)
        return [folder / png.name, folder / pdf.name]


def in_order(chosen: Iterable[str]) -> list[str]:
    """The same names, each after those that its study needs."""
    chosen = list(chosen)
    needs = {name: study(name).needs if name in names() else () for name in chosen}
    graph = {name: [other for other in needs[name] if other in chosen] for name in chosen}
    return list(TopologicalSorter(graph).static_order())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="shipped or stored experiments; all, if none is named")
    parser.add_argument("--results", type=Path, default=Path("results"), help="relative to the repository")
    parser.add_argument("--paper", type=Path, default=Path("paper"), help="relative to the repository")
    arguments = parser.parse_args()
    publisher = Publisher(ROOT / arguments.results, ROOT / arguments.paper)
    steps: dict[str, Callable[[], list[Path]]] = {}
    for name in in_order(arguments.names or publisher.all_names()):
        steps[name] = partial(publisher.publish, name)
    if not arguments.names:
        steps["claims"] = publisher.write_claims
    failed: dict[str, Exception] = {}
    for name, step in steps.items():
        try:
            for path in step():
                print(path, flush=True)
        except InputError as error:
            failed[name] = error
        except Exception as error:  # a mistake in one study must not cost the others
            traceback.print_exc()
            failed[name] = error
    for name in failed:
        print(f"error: {_named(name, failed[name])}", file=sys.stderr)
    unknown = set(arguments.names) - set(publisher.all_names())
    sys.exit(2 if unknown else min(len(failed), 1))


def _named(name: str, error: Exception) -> str:
    text = str(error) or type(error).__name__
    return text if text.startswith(f"{name}:") else f"{name}: {text}"


if __name__ == "__main__":
    main()
