#!/usr/bin/env python3
"""Builds the book into $target/book and checks every link inside it; `make docs` runs it.

Puts its sources together first: the pages of src/, files of the checkout that are pages as well
(`pages.ELSEWHERE`), and references that programs write (`<!-- generated: cli -->`, `rest`). Links to a file
that is a page lead to the page; links to any other file become its name.

    docs/book/build.py [--to FOLDER]     with the programs of $CARGO_TARGET_DIR or target
    docs/book/build.py --check           checks the links in its sources alone, which needs no mdbook
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

import links
import pages
import reference

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCE = HERE / "src"
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").resolve()
MDBOOK = TARGET / "tools/bin/mdbook"
GENERATED = re.compile(r"^<!-- generated: (?P<what>[^ ]+) -->$", re.MULTILINE)
COMMENT = re.compile(r"^ *<!-- (hidden|not run|later|environment|server): .*?-->\n", re.MULTILINE | re.DOTALL)
# The words after a block's language are for the runner.
FENCE_WORDS = re.compile(r"^( *```[a-z]+) .*$", re.MULTILINE)
LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<to>[^)\s]+)\)")
PICTURES = {".png", ".svg"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--to", type=pathlib.Path, default=TARGET / "book")
    parser.add_argument("--check", action="store_true", help="build nothing")
    options = parser.parse_args()
    to = options.to.resolve()
    sources = TARGET / "book-sources"
    shutil.rmtree(sources, ignore_errors=True)
    (sources / "src").mkdir(parents=True)
    shutil.copy(HERE / "book.toml", sources)
    put_together(sources / "src")
    if options.check:
        broken, count = links.check_sources(sources / "src")
        made = "not built"
    else:
        if not MDBOOK.exists():
            sys.exit(f"book: there is no {MDBOOK}; `scripts/setup.sh docs` builds it")
        subprocess.run([MDBOOK, "build", "--dest-dir", to, sources], check=True)
        broken, count = links.check(to)
        made = f"{to}/index.html"
    broken += links.check_checkout()[0]
    for line in broken:
        print(f"FAILED: {line}")
    # Each link is checked; as a test the book is one.
    print(f"book: {0 if broken else 1} passed, {len(broken)} failed ({count} links, {made})")
    return 1 if broken else 0


def put_together(to):
    paths = {path.relative_to(SOURCE): path for path in sorted(SOURCE.rglob("*.md"))}
    paths |= {pathlib.Path(name): ROOT / path for name, (path, _) in pages.ELSEWHERE.items()}
    shown = {path: name for name, path in paths.items()}
    for name, path in paths.items():
        page = FENCE_WORDS.sub(r"\1", COMMENT.sub("", path.read_text()))
        page = relinked(page, path, name, shown, to)
        page = GENERATED.sub(lambda found: reference.WRITERS[found["what"]](TARGET), page)
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        (to / name).write_text(page)


def relinked(text, path, name, shown, to):
    """The text of a page with its links: to the pages of the book, or else the names of files."""
    up = "../" * (len(name.parts) - 1)

    def link(found):
        place, _, anchor = found["to"].partition("#")
        if "://" in found["to"] or not place:
            return found[0]
        there = path.parent.joinpath(place).resolve()
        if not there.is_relative_to(ROOT) or not there.exists():
            sys.exit(f"book: {path.relative_to(ROOT)} links to {found['to']}, which is not there")
        if page := shown.get(there) or shown.get(there / "README.md"):
            return f"[{found['text']}]({up}{page}{'#' if anchor else ''}{anchor})"
        there = there.relative_to(ROOT)
        if there.suffix in PICTURES:
            (to / "files" / there).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / there, to / "files" / there)
            return f"{found['image']}[{found['text']}]({up}files/{there})"
        return found["text"] if str(there) in found["text"] else f"{found['text']} (`{there}`)"

    return LINK.sub(link, text)


if __name__ == "__main__":
    sys.exit(main())
