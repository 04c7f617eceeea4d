r"""The formulas of a notebook as pictures, so that its HTML needs no program from elsewhere to show them.

matplotlib sets them. What it cannot set stays as it was written, in the type of code.
"""

import base64
import html
import io
import re
from functools import cache

from matplotlib import rc_context
from matplotlib.mathtext import math_to_image

FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$]+?)\$", re.DOTALL)
CODE = re.compile(r"(```.*?```|`[^`]*`)", re.DOTALL)
POINTS = 11.0
# LaTeX that matplotlib does not know, and what says the same.
SAME = (
    (r"\\(?:textstyle|[bB]igg?[lr]?)(?![A-Za-z])", ""),
    (r"\\tfrac", r"\\frac"),
    (r"\\(le|ge)(?![A-Za-z])", r"\\\1q"),
    (r"\\tag\{(\w+)\}", r"\\quad(\1)"),
    (r"\\mathbb 1", r"\\mathbf{1}"),
    (r"\\text\{([^}]*)\}", r"\\mathrm{\1}"),
    (r"(?<=\{)([^{}]*) of ", r"\1\\ of\\ "),
    (r"\s+", " "),
)


def with_formulas(markdown: str) -> str:
    """The text of a cell with every formula replaced; what stands in backticks is code and stays."""
    parts = CODE.split(markdown)
    return "".join(part if i % 2 else FORMULA.sub(_picture, part) for i, part in enumerate(parts))


def _picture(found: re.Match[str]) -> str:
    alone, inside = found.groups()
    source = (alone or inside).strip()
    text = source
    for pattern, same in SAME:
        text = re.sub(pattern, same, text)
    written = html.escape(" ".join(source.split()), quote=True)
    try:
        data, depth = _svg(f"${text.strip()}$")
    except ValueError:  # it cannot be set
        made = f"<code>{written}</code>".replace("_", "&#95;").replace("*", "&#42;")
    else:
        place = f'style="vertical-align: -{depth:.1f}pt" src="data:image/svg+xml;base64,{data}"'
        made = f'<img class="formula" alt="{written}" {place}>'
    return f"\n\n<p>{made}</p>\n\n" if alone else made


@cache  # a letter like K stands in many sentences
def _svg(text: str) -> tuple[str, float]:
    """The picture in base64, and how far it reaches below the line."""
    buffer = io.BytesIO()
    with rc_context({"svg.hashsalt": text, "svg.fonttype": "path", "font.size": POINTS}):
        depth = math_to_image(text, buffer, format="svg", dpi=72)
    return base64.b64encode(buffer.getvalue()).decode(), depth
