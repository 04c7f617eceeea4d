"""Draw the figures of stored results and write paper/ from them: python experiments/paper.py [name ...]."""

import argparse
import sys
import traceback
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from PIL import Image

from dpucbvi.errors import InputError
from dpucbvi.lab.store import Store, StoredExperiment
from dpucbvi.studies import Study, draw, names, study
from dpucbvi.studies.shared.printed import final_regrets

ROOT = Path(__file__).resolve().parents[1]


class Publisher:
    """Stored results in, figures and paper/ out; every experiment is loaded once and drawn once."""

    def __init__(self, results: Path, paper: Path) -> None:
        self.store, self.paper, self.figures = Store(results), paper, results / "figures"
        self.load = cache(self.store.load_experiment)

    def publish(self, name: str) -> list[Path]:
        """Draw one experiment and write what is kept of it; the files, in the order of their writing."""
        experiment = self.load(name)
        files = draw(experiment, self.figures)
        made = study(experiment.study)
        if name != experiment.study:  # not the run that the paper quotes, but one of its user's own
            return files
        if made.printed_size and not final_regrets(experiment.arms[0].runs[0].config):
            raise InputError(f"{name}: stored at another size than the paper's; run it again as it is")
        return [*files, *self.report(experiment, made), *self.keep_figure(files[0], made)]

    def report(self, experiment: StoredExperiment, made: Study) -> list[Path]:
        if made.report is None:
            return []
        folder = self.paper / made.folder
        folder.mkdir(parents=True, exist_ok=True)
        return made.report(experiment, folder, self.find)

    def find(self, name: str) -> StoredExperiment | None:
        return self.load(name) if name in self.store.experiments() else None

    def keep_figure(self, drawn: Path, made: Study) -> list[Path]:
        """A copy with a palette of 256 colours, a third of the size: these files are kept in the repository."""
        if not made.keeps_figure:
            return []
        path = self.paper / "figures" / drawn.name
        path.parent.mkdir(parents=True, exist_ok=True)
        with Image.open(drawn) as image:
            image.convert("RGB").quantize(256).save(path, optimize=True)
        return [path]


def in_order(chosen: list[str]) -> list[str]:
    """The same names, each after those that its study needs."""
    needs = {name: study(name).needs if name in names() else () for name in chosen}
    graph = {name: [other for other in needs[name] if other in chosen] for name in chosen}
    return list(TopologicalSorter(graph).static_order())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="stored experiments; all, if none is named")
    parser.add_argument("--results", type=Path, default=Path("results"), help="relative to the repository")
    parser.add_argument("--paper", type=Path, default=Path("paper"), help="relative to the repository")
    arguments = parser.parse_args()
    publisher = Publisher(ROOT / arguments.results, ROOT / arguments.paper)
    chosen = arguments.names or publisher.store.experiments()
    if not chosen:
        stop([f"nothing is stored in {publisher.store.folder}; run an experiment first"], 1)
    failed: dict[str, Exception] = {}
    for name in in_order(chosen):
        try:
            for path in publisher.publish(name):
                print(path)
        except InputError as error:
            failed[name] = error
        except Exception as error:  # a mistake in one study must not cost the others
            traceback.print_exc()
            failed[name] = error
    if failed:
        only_input = all(isinstance(error, InputError) for error in failed.values())
        stop([_named(name, error) for name, error in failed.items()], 2 if only_input else 1)


def _named(name: str, error: Exception) -> str:
    text = str(error) or type(error).__name__
    return text if text.startswith(f"{name}:") else f"{name}: {text}"


def stop(messages: list[str], code: int) -> None:
    for message in messages:
        print(f"error: {message}", file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()
