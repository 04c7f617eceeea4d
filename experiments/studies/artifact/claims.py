"""paper/claims.yaml: what this artifact says of every statement of the paper, and CLAIMS.md made from it."""

import re
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from dpucbvi.errors import InputError
from experiments.studies.artifact.numbers import NOT_SHIPPED, Numbers, filled
from experiments.studies.riverswim.verdicts import CANNOT, DOES_NOT, REPRODUCES
from experiments.studies.shared.tables import TEXTS, WRITTEN

VERDICTS = ("holds", "holds in part", "does not hold", "cannot be told", "off by 2", "definition", "not tested")
JUDGED = {REPRODUCES: "holds", DOES_NOT: "does not hold", CANNOT: "cannot be told"}
MAIN = ("Lem. 5.1", "Lem. 5.4", "Lem. 5.6", "Thm. 5.2", "Thm. 5.7", "Lem. C.11", "Fig. 1")


class Claim(NamedTuple):
    """A statement of the paper and what is said of it; {names} in the texts are already numbers."""

    section: str
    statement: str
    kind: str
    paper: str
    says: str
    verdict: str = ""
    code: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    experiments: tuple[str, ...] = ()
    judged: str = ""  # the number that decides the verdict
    measured: str = ""
    reason: str = ""  # why there is no test
    note: str = ""

    @property
    def main(self) -> bool:
        """Whether the paper stands on it."""
        return self.statement.startswith(MAIN)


def read(path: Path, numbers: Numbers, shipped: list[str]) -> list[Claim]:
    """All claims, in the paper's order; InputError names what is wrong with one."""
    made = []
    for section, items in yaml.safe_load(path.read_text("utf-8")).items():
        for item in items:
            try:
                made.append(_claim(section, item, numbers, shipped))
            except (TypeError, InputError) as error:
                raise InputError(f"{path.name}: {item.get('statement')}: {error}") from None
    return made


def _claim(section: str, item: dict[str, Any], numbers: Numbers, shipped: list[str]) -> Claim:
    lists = {key: tuple(item.get(key, ())) for key in ("code", "tests", "experiments")}
    texts = {key: filled(item.get(key, ""), numbers, shipped) for key in ("measured", "reason", "note")}
    claim = Claim(section, **{**item, **lists, **texts})
    if (claim.verdict in VERDICTS) == bool(claim.judged):
        accepted = f"one of {', '.join(VERDICTS)}, and left out where `judged` names what decides it"
        raise InputError(f"verdict: {claim.verdict!r} is not accepted; it must be {accepted}")
    return _judged(claim, filled(f"{{{claim.judged}}}", numbers, shipped)) if claim.judged else claim


def _judged(claim: Claim, told: str) -> Claim:
    """The verdict in the paper's own setting, which comes first; the others stand beside it."""
    if told == NOT_SHIPPED:
        return claim._replace(verdict="not tested", measured=told)
    own, others, fitted, *_ = [*told.split("; "), "", ""]
    shape = fitted.rpartition(": ")[2]
    beside = f"In the setting fitted to the figure the shape {shape}." if shape in JUDGED else ""
    measured, note = "; ".join(filter(None, (own, others))), " ".join(filter(None, (beside, claim.note)))
    return claim._replace(verdict=JUDGED[own.rpartition(": ")[2]], measured=measured, note=note)


def ledger(claims: list[Claim]) -> str:
    """CLAIMS.md."""
    parts = [f"{WRITTEN}\n{(TEXTS / 'claims.md').read_text('utf-8')}"]
    for section in dict.fromkeys(claim.section for claim in claims):
        rows = [_row(claim) for claim in claims if claim.section == section]
        head = "| statement | says | code | test | verdict | measured |"
        parts += [f"## {section}\n", head, "|---" * 6 + "|", *rows, ""]
    parts += [f"[^{_anchor(claim)}]: {_more(claim)}" for claim in claims if _more(claim)]
    return "\n".join(parts) + "\n"


def _row(claim: Claim) -> str:
    code = ", ".join(f"`{place}`" for place in claim.code) or "-"
    checks = [*(f"`{test}`" for test in claim.tests), *(f"`+exp={name}`" for name in claim.experiments)]
    verdict = claim.verdict + (f"[^{_anchor(claim)}]" if _more(claim) else "")
    cells = (claim.statement, claim.says, code, ", ".join(checks) or "-", verdict, claim.measured or "-")
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _more(claim: Claim) -> str:
    return " ".join(text for text in (claim.reason, claim.note) if text)


def _anchor(claim: Claim) -> str:
    return re.sub(r"\W+", "-", claim.statement.lower()).strip("-")
