"""Check the links inside a built site: `python docs/check_links.py results/site` fails if one leads nowhere."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            if name in ("id", "name") and value:
                self.anchors.add(value)


def broken(site: Path) -> list[str]:
    """Every link to a file or an anchor that is not there; links to other machines are left alone."""
    files = [path.resolve() for path in site.rglob("*.html") if "_static" not in path.parts]  # the theme's own
    pages = {path: Page(path.read_text("utf-8")) for path in files}
    found = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            there = target.is_file() and (
                target not in pages or unquote(parts.fragment) in pages[target].anchors
            )
            if not there:
                found.append(f"{path.relative_to(site.resolve())}: {link}")
    return sorted(set(found))


if __name__ == "__main__":
    wrong = broken(Path(sys.argv[1]))
    print("\n".join(wrong) or "every internal link leads somewhere")
    sys.exit(bool(wrong))
