"""The generated parts of paper/PRIVACY.md: E of every privatizer, and what the audit that ships has found."""

from textwrap import fill
from typing import NamedTuple

from dpucbvi.privatizers import (
    Batches,
    Central,
    KaryTree,
    Local,
    LocalWindows,
    OneQuestion,
    Toeplitz,
    Windows,
)
from dpucbvi.protocol import Privatizer, Problem
from experiments.lab.store import StoredExperiment
from experiments.studies.artifact.numbers import NOT_SHIPPED
from experiments.studies.audit import Row, false_alarms, rows
from experiments.studies.shared.tables import markdown

FIGURE = Problem(H=20, S=6, A=2, K=50_000, beta=0.05)
HEADER = ("privatizer", "order of E", "E", "noise term, of the paper's", "Assumption 3.1")
WIDTH = 118

TREE, GAUSSIAN = "(H/ε) log²", "√(H log(1/δ)) log /ε"


class Entry(NamedTuple):
    """A line of the table: a privatizer at ε = 1 if a user is replaced, and the order of its E."""

    name: str
    order: str
    privatizer: Privatizer


ENTRIES = (
    Entry("the paper's tree, noise for a user replaced", TREE, Central(1.0, sensitivity="replace_one")),
    Entry("the same, tuned families", TREE, Central(1.0, sensitivity="replace_one", families="tuned")),
    Entry("k-ary tree, tuned", TREE, KaryTree(1.0)),
    Entry("Toeplitz, tuned", GAUSSIAN, Toeplitz(1.0)),
    Entry("Toeplitz, every 50 users", "the same, + 4·49 users behind", Toeplitz(1.0, every=50)),
    Entry("batches, 20 of them", "(H/ε) log", Batches(1.0)),
    Entry("windows", "(H/ε) log, + √(H log(1/δ)) log /ε a step", Windows(1.0, delta=1e-6)),
    Entry("the paper's user noise, a user replaced", "(H/ε)√(K log)", Local(1.0, sensitivity="replace_one")),
    Entry("one question", "(S/ε)√(K log)", OneQuestion(1.0)),
    Entry("windows, local", "(S/ε)√(K log)", LocalWindows(1.0)),
)


def parts(audit: StoredExperiment | None) -> dict[str, str]:
    """All of them by name."""
    return {"bounds": bounds(), "audit": NOT_SHIPPED if audit is None else found(rows(audit))}


def bounds() -> str:
    """E at the figure's size, counts per step; where Assumption 3.1 does not hold, no theorem has it."""
    papers = ENTRIES[0].privatizer.noise_of(FIGURE, FIGURE.H).E
    lines = []
    for name, order, privatizer in ENTRIES:
        noise = privatizer.noise_of(FIGURE, FIGURE.H)
        share = f"{noise.E / papers:.2g}" if noise.proven else ""
        lines.append((name, order, f"{noise.E:,.0f}", share, "proved" if noise.proven else "does not hold"))
    return markdown(HEADER, lines)


def found(made: list[Row]) -> str:
    """What the attacks on honest mechanisms, on broken ones and on actions have come to."""
    honest, wrong = [row for row in made if not row.broken], [row for row in made if row.broken]
    kept, caught = sum(not row.caught for row in honest), sum(row.caught for row in wrong)
    by_arm = {row.arm.key: row for row in made}
    central, local = (by_arm[key] for key in ("central_paper", "local_paper"))
    added = central.largest("add_remove", "releases")
    shares = [row.audited / row.certified for row in made if row.acts]
    told = (
        f"{kept} of {len(honest)} audits of honest privatizers stay below the certificate, and {caught} of "
        f"{len(wrong)} mistakes made on purpose are caught. The paper's noise claims ε = "
        f"{central.claimed:g}, pure. The attack shows that it loses at least {central.audited:.2f} (Central) "
        f"and {local.audited:.2f} (Local) of the {central.certified:g} it certifies if a user is replaced, "
        f"and {added:.2f} (Central) of {central.claimed:g} if one is added or removed: the factor 2 of "
        f"Lemmas 5.1 (counters) and 5.6. All {sum(row.bounds for row in made)} bounds hold together with "
        f"probability 1 - {false_alarms(made):.1e}. The strongest attack of those who see only the actions "
        f"of the other users showed {100.0 * max(shares):.0f}% of ε (pure, a user replaced); more may be "
        "possible. An attack that finds nothing proves nothing."
    )
    return fill(told, WIDTH, break_on_hyphens=False, break_long_words=False)
