"""What is said beside the results: one line each, on stderr."""

import sys
from collections.abc import Sequence

MOST_NAMED = 3


def tell(line: str) -> None:
    print(f"note: {line}", file=sys.stderr, flush=True)


def few(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"
