#!/usr/bin/env python3
"""Checks that every link inside a book leads to a page, and its anchor to a place in it: in the built book
(`check`), or in its sources, which needs no mdbook (`check_sources`).

Run by itself it checks the Markdown files of the checkout instead: relative links, and names of files in
backquotes such as `host/sched/src/sched.rs`. Nothing has to be built for that.

    docs/book/links.py
"""

import html.parser
import os
import pathlib
import re
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOT_OURS = {".git", "node_modules", "target", "vendor"}
FENCED = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
CHECKOUT_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
# A name with a placeholder (`<name>`, `NAME`, `*`) is none.
FILE_NAME = re.compile(r"`((?:bench|docs|host|migrations|plugins|scripts|sdk|tests|web)/[a-z0-9_./-]+)`", re.IGNORECASE)
CODE = re.compile(r"^( *)(```+|~~~+).*?^\1\2 *$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,6} +(?P<text>.*?) *(?:\{#(?P<id>[^}]+)\})?$", re.MULTILINE)
MARKDOWN_LINK = re.compile(r"\]\((?P<to>[^)\s]+)(?: \"[^\"]*\")?\)|^\[[^\]]+\]: +(?P<defined>\S+)", re.MULTILINE)


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


def check_sources(folder):
    """The same of the folder that mdbook would build: what is wrong, a line each, and how many links there are."""
    texts = {path: path.read_text() for path in sorted(folder.rglob("*.md"))}
    contents = folder / "SUMMARY.md"
    listed = {(folder / to).resolve() for _, to in source_links(texts[contents])}
    broken = [f"{path.relative_to(folder)}: is not in SUMMARY.md" for path in texts if path not in listed | {contents}]
    count = 0
    for path, text in texts.items():
        for line, to in source_links(text):
            parts = urllib.parse.urlsplit(to)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            there = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if not there.exists() or not there.is_relative_to(folder):
                broken.append(f"{path.relative_to(folder)}:{line}: {to}: no such page")
            elif parts.fragment and there in texts:
                if urllib.parse.unquote(parts.fragment) not in source_names(texts[there]):
                    broken.append(f"{path.relative_to(folder)}:{line}: {to}: no such place in the page")
    return broken, count


def source_links(text):
    """The line and the address of each link outside of code."""
    text = CODE.sub(lambda code: "\n" * code[0].count("\n"), text)
    for found in MARKDOWN_LINK.finditer(text):
        yield text.count("\n", 0, found.start()) + 1, found["to"] or found["defined"]
    tags = Anchors()
    tags.feed(text)
    for to, line in tags.leads:
        yield line, to


def source_names(text):
    """What can be linked to in a page: its headings, as mdbook names them, and what HTML in it names."""
    without_blocks = re.sub(r"^( *)(```+|~~~+).*?^\1\2 *$", "", text, flags=re.MULTILINE | re.DOTALL)
    tags = Anchors()
    tags.feed(without_blocks)
    names, times = set(tags.names), {}
    for found in HEADING.finditer(without_blocks):
        said = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", found["text"])
        letters = (letter for letter in said.strip().lower() if letter.isalnum() or letter in "_- ")
        name = found["id"] or "".join(letters).replace(" ", "-")
        seen = times[name] = times.get(name, -1) + 1
        names.add(f"{name}-{seen}" if seen else name)
    return names


def check_checkout():
    """What is wrong in the Markdown files of the checkout, a line each: links, then names of files."""
    links, names = [], []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in NOT_OURS]
        for path in (pathlib.Path(folder, name) for name in files if name.endswith(".md")):
            text = FENCED.sub("", path.read_text())
            for to in CHECKOUT_LINK.findall(re.sub(r"`[^`\n]*`", "", text)):
                place = to.partition("#")[0]
                if place and "://" not in to and not (path.parent / place).exists():
                    links.append(f"{path.relative_to(ROOT)}: {to}: no such file")
            for name in FILE_NAME.findall(text):
                if not (ROOT / name).exists():
                    names.append(f"{path.relative_to(ROOT)}: {name}: no such file")
    return links, names


if __name__ == "__main__":
    broken = sum(check_checkout(), [])
    print("\n".join([*broken, f"checkout: {len(broken)} broken links and names of files"]))
    sys.exit(1 if broken else 0)
