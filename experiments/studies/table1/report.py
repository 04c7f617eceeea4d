"""paper/tables/table1.{md,tex,csv}: Table 1 with its bounds, what was measured, and where the two disagree."""

from pathlib import Path

from experiments.lab.store import StoredExperiment
from experiments.studies import Stored
from experiments.studies.shared.files import write_csv
from experiments.studies.table1.factors import chosen
from experiments.studies.table1.latex import latex
from experiments.studies.table1.markdown import as_markdown
from experiments.studies.table1.measurements import Measurement, tabulate

HEADER = (
    *("agent", "name", "model", "bonus", "reconstructed", "bound", "environment"),
    *("S", "A", "H", "T", "epsilon_add_remove"),
    *("regret", "low_95", "high_95", "bound_value", "rank_bound", "rank_measured", "regret_over_sqrt_SAH2T"),
)


def write(experiment: StoredExperiment, folder: Path, stored: Stored) -> list[Path]:
    """The table in three formats, with the part on factors if +exp=calibrate_table1 is stored."""
    table = tabulate(experiment)
    calibrated = stored("calibrate_table1")
    factors = chosen(calibrated) if calibrated else {}
    md, tex = folder / "table1.md", folder / "table1.tex"
    md.write_text(as_markdown(table, factors))
    tex.write_text(latex(table, factors))
    return [md, tex, write_csv(folder / "table1.csv", HEADER, map(_record, table.measurements))]


def _record(m: Measurement) -> tuple[object, ...]:
    bound = m.row.bound(m.model)
    assert bound is not None
    ranks = ("", "") if m.row.own_noise else (m.rank_bound, m.rank_measured)  # that row is in no ranking
    return (
        *(m.row.agent, m.row.name, m.model, m.row.bonus, int(m.row.reconstructed), bound.text(), m.env, *m.at),
        *(f"{m.regret:.1f}", f"{m.low:.1f}", f"{m.high:.1f}", f"{m.bound:.1f}", *ranks),
        f"{m.over_lower_bound:.4f}",
    )
