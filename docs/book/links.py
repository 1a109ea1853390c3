"""Checks that every link inside a built book leads to a page, and its anchor to a place in it."""

import html.parser
import urllib.parse


class Anchors(html.parser.HTMLParser):
    """What a page names (`id`) and where it leads to (`href`, `src`)."""

    def __init__(self):
        super().__init__()
        self.names, self.leads = set(), []

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" and value:
                self.names.add(value)
            elif name in ("href", "src") and value:
                self.leads.append((value, self.getpos()[0]))


def check(folder):
    """What is wrong, a line each, and how many links there are."""
    pages = {}
    for path in sorted(folder.rglob("*.html")):
        # Written for an address below which everything lies; the other pages hold all that it has.
        if path.name not in ("404.html", "print.html"):
            pages[path] = Anchors()
            pages[path].feed(path.read_text())
    broken, count = [], 0
    for path, page in pages.items():
        for to, line in page.leads:
            parts = urllib.parse.urlsplit(to)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            there = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if not there.exists() or (parts.path and not there.is_relative_to(folder)):
                broken.append(f"{path.relative_to(folder)}:{line}: {to}: no such page")
            elif parts.fragment and there in pages:
                if urllib.parse.unquote(parts.fragment) not in pages[there].names:
                    broken.append(f"{path.relative_to(folder)}:{line}: {to}: no such place in the page")
    return broken, count
