"""All runs that ship as one table for other programs, runs.csv.gz; runs.md says what its columns are."""

import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from dpucbvi.files import replacing
from experiments.lab.settings import flat
from experiments.lab.store import StoredExperiment, run_id
from experiments.studies.shared.tables import TEXTS, WRITTEN, as_csv

ABOUT = {
    "experiment": "its file is conf/exp/<experiment>.yaml; dp.load reads paper/results/<experiment>.npz",
    "arm": "the arm of that file, and the point of its grid",
    "run": "the hash of all settings and the seed; arms of equal settings share their runs",
    "seed": "of users and of simulated noise",
}
MEASURED = {
    "regret": "cumulative regret after K episodes",
    "model": "JDP, LDP or none: what the released counts certify",
    "epsilon_add_remove": "certified ε if a user is added or removed (inf: nothing)",
    "epsilon_replace_one": "certified ε if her trajectory is replaced",
    "delta": "of both; 0 is pure",
    "noise_scale": "of one noise that is drawn: b of Laplace noise, σ of Gaussian",
    "E": "the confidence width of Assumption 3.1, after its factor",
    "seconds": "of processor time, where the run was made",
}
NO_SETTINGS = ("seed", "env.sha256")  # of what names a run


def rows(experiments: Iterable[StoredExperiment]) -> Iterator[dict[str, Any]]:
    """A row for every run of every arm; audits, which have no regret, are in audit.csv."""
    for experiment in experiments:
        for arm in experiment.arms if experiment.study != "audit" else []:
            for run in arm.runs:
                trace, certified = run.trace, run.certificate
                about = experiment.name, arm.key, run_id(run.config), run.config["seed"]
                measured = (
                    *(trace.regret[-1], certified.model, certified.add_remove, certified.replace_one),
                    *(certified.delta, trace.noise_scale, trace.E, round(run.provenance["seconds"], 3)),
                )
                yield {
                    **dict(zip(ABOUT, about, strict=True)),
                    **{key: value for key, value in flat(run.config).items() if key not in NO_SETTINGS},
                    **dict(zip(MEASURED, measured, strict=True)),
                }


def write_data(experiments: Iterable[StoredExperiment], folder: Path) -> list[Path]:
    """The table, the same bytes from the same results, and its columns."""
    table = list(rows(experiments))
    if not table:
        return []
    settings = sorted({name for row in table for name in row} - set(ABOUT) - set(MEASURED))
    file = folder / "runs.csv.gz"
    with replacing(file) as partial:
        content = as_csv(table, [*ABOUT, *settings, *MEASURED])
        partial.write_bytes(gzip.compress(content.encode(), mtime=0))
    columns = "\n".join(
        [
            *(f"- `{name}`: {words}" for name, words in ABOUT.items()),
            *(f"- `{name}`: setting `{name.rpartition('.')[2]}` of {_file(name)}" for name in settings),
            *(f"- `{name}`: {words}" for name, words in MEASURED.items()),
        ]
    )
    filled = (TEXTS / "runs.md").read_text("utf-8").format(columns=columns, rows=f"{len(table):,}")
    dictionary = folder / "runs.md"
    dictionary.write_text(f"{WRITTEN}\n{filled}", "utf-8")
    return [file, dictionary]


def _file(name: str) -> str:
    """Where the setting is in conf/."""
    return f"conf/{name.partition('.')[0]}" if "." in name else "conf/config.yaml"
