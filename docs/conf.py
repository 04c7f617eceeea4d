"""The site, built offline by `make docs` from the documents where they stand: its sources begin at the root.

Nothing is copied or executed: Markdown and notebooks are read in place, the notebooks with the outputs that are
stored and under test. The tables of paper/results, which have no title, get one; the captions of paper/figures
get their figures and are the gallery. The page of experiments/page.py is written into the site.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from docutils import nodes  # noqa: E402
from docutils.utils.math.latex2mathml import tex2mathml  # noqa: E402

import dpucbvi  # noqa: E402

project = html_title = "dpucbvi"
author = copyright = "the dpucbvi authors"
release = version = dpucbvi.__version__

extensions = ["myst_nb", "numpydoc", "sphinx.ext.autosummary", "sphinx.ext.viewcode"]
root_doc = "docs/index"
include_patterns = [
    "*.md",
    "docs/**.md",
    "docs/api/*.rst",
    "notebooks/*.ipynb",
    "paper/*.md",
    *("paper/results/*.md", "paper/tables/*.md", "paper/figures/*.md"),
]
templates_path = [str(ROOT / "docs" / "templates")]
nitpicky = True
nitpick_ignore = [("py:class", "numpy.float64")]  # of a type alias; other projects are not linked

nb_execution_mode = "off"
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

default_role = "code"
autodoc_typehints = "none"  # the sections of numpydoc have the types
autodoc_class_signature = "mixed"
numpydoc_show_class_members = False  # the template of classes lists them
# dp.audit has a page, too, and not all file systems tell A from a.
autosummary_filename_map = {"dpucbvi.Audit": "dpucbvi.Audit-class"}

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_theme_options = {"show_prev_next": False, "navigation_with_keys": False, "navbar_center": []}
html_sidebars = {"**": ["contents.html"]}
html_static_path = [str(ROOT / "docs" / "static")]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False

FIRST = "docs/index.html"
REDIRECT = f'<!doctype html><meta http-equiv="refresh" content="0; url={FIRST}"><a href="{FIRST}">dpucbvi</a>\n'
TITLES = {  # of the figure and of the tables of an experiment
    "summary": "The main result",
    "riverswim": "Figure 1 in three settings",
    "table1": "Table 1, measured",
    "ablation": "What each part of Algorithm 1 contributes",
    "audit": "What attacks find",
    "calibrate": "How the factors were chosen",
    "epsilon": "Regret against ε",
    "explain": "Which noise explains Figure 1?",
    "horizon": "Regret against H",
    "literal": "The paper's constants",
    "mechanisms": "Every mechanism against ε",
    "privacy_for_free": "How the cost of privacy grows with K",
    "windows": "Pooled, per step, or windows",
}
FIRST_FIGURES = ("summary", "riverswim", "table1")


def title(name: str) -> str:
    return TITLES.get(name, name.replace("_", " ").capitalize())


def titled(name: str, text: str) -> str:
    """A page of tables with a title, its headings one below it."""
    if re.search(r"^# ", text, re.MULTILINE):
        return text
    lower = re.sub(r"^### ", "## ", text, flags=re.MULTILINE)
    return f"# {title(name)}\n\n{lower}"


def gallery(captions: str) -> str:
    """Every figure above its caption, the most important ones first."""
    _, *rest = re.split(r"^## (\w+)\n", captions, flags=re.MULTILINE)
    below = dict(zip(rest[::2], rest[1::2], strict=True))
    order = [*FIRST_FIGURES, *(name for name in below if name not in FIRST_FIGURES)]
    shown = [f"({name})=\n## {title(name)}\n\n{picture(name)}\n{below[name]}" for name in order]
    return "# Results gallery\n\nA click on a figure shows it alone.\n\n" + "\n".join(shown)


def picture(name: str) -> str:
    """The figure, and a link to it in full size: columns are narrow."""
    return f"```{{image}} {name}.png\n:alt: {title(name)}\n:target: ../../_images/{name}.png\n```\n"


def read(app, docname: str, source: list[str]) -> None:
    folder, _, name = docname.rpartition("/")
    if folder == "paper/results":
        source[0] = titled(name, source[0])
    if docname == "paper/figures/captions":
        source[0] = gallery(source[0])
    if folder == "docs/api":  # one name has no contents, and needs the width
        source[0] = f":html_theme.sidebar_secondary.remove:\n\n{source[0]}"


def finish(app, error) -> None:
    """Adds the page of curves, and leads from the root of the site to its first page."""
    if error is None:
        from experiments.page import page

        (app.outdir / "index.html").write_text(REDIRECT)
        curves = page(ROOT / "paper").replace(
            "<main>", f'<p><a href="{FIRST}">Back to the site</a></p>\n<main>', 1
        )
        (app.outdir / "curves.html").write_text(curves, "utf-8")


def skip(app, what, name, member, skip, options) -> bool | None:
    """Leaves out fields of a NamedTuple, which its docstring has, and the inside of agents and privatizers."""
    module = getattr(getattr(member, "fget", member), "__module__", None) or ""
    field = type(member).__name__ == "_tuplegetter"
    return True if field or module.startswith(("dpucbvi.agents", "dpucbvi.privatizers")) else None


def short(app, what, name, obj, options, signature, returns) -> tuple[str | None, str | None]:
    """A default that is a class by its name alone."""
    return signature and re.sub(r"<class '(?:\w+\.)*(\w+)'>", r"\1", signature), returns


WIDE = '<div style="width: max-content; min-width: 100%">{}</div>'
SCROLLS = f'<div style="overflow-x: auto; margin: 1rem 0">{WIDE}</div>'


def spelled(tex: str) -> str:
    """The formula without what docutils lacks."""
    without = re.sub(r"\\([Bb]ig|textstyle)(?![a-z])", "", tex).replace(r"\dots", r"\ldots")
    return re.sub(r"\\tag\{([^}]*)\}", r"\\qquad \\text{(\1)}", without).replace("→", r"\to ")


def mathml(block: bool):
    """A writer of formulas as MathML, which a browser shows without a script or a network."""

    def visit(writer, node) -> None:
        formula = tex2mathml(spelled(node.astext()), as_block=block)
        writer.body.append(SCROLLS.format(formula) if block else formula)
        raise nodes.SkipNode

    return visit, None


def setup(app) -> None:
    app.add_html_math_renderer("mathml", mathml(block=False), mathml(block=True))
    app.connect("source-read", read)
    app.connect("autodoc-skip-member", skip)
    app.connect("autodoc-process-signature", short)
    app.connect("build-finished", finish)
