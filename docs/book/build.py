#!/usr/bin/env python3
"""Builds the book into $target/book and checks every link inside it; `make docs` runs it.

Puts its sources together first: the pages of src/, pages that are another file of the checkout
(`<!-- page: PATH -->`), and references that programs write (`<!-- generated: cli -->`, `rest`).

    docs/book/build.py [--to FOLDER]     with the programs of $CARGO_TARGET_DIR or target
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

import links
import reference

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCE = HERE / "src"
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").resolve()
DIRECTIVE = re.compile(r"^<!-- (?P<key>page|generated): (?P<what>[^ ;]+).*-->$", re.MULTILINE)
COMMENT = re.compile(r"^ *<!-- (hidden|not run|later|environment|server): .*?-->\n", re.MULTILINE | re.DOTALL)
# The words after a block's language are for the runner.
FENCE_WORDS = re.compile(r"^( *```[a-z]+) .*$", re.MULTILINE)
LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<to>[^)\s]+)\)")
PICTURES = {".png", ".svg"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--to", type=pathlib.Path, default=TARGET / "book")
    to = parser.parse_args().to.resolve()
    sources = TARGET / "book-sources"
    shutil.rmtree(sources, ignore_errors=True)
    (sources / "src").mkdir(parents=True)
    shutil.copy(HERE / "book.toml", sources)
    put_together(sources / "src")
    subprocess.run([TARGET / "tools/bin/mdbook", "build", "--dest-dir", to, sources], check=True)
    broken, count = links.check(to)
    for line in broken:
        print(f"FAILED: {line}")
    # Each link is checked; as a test the book is one.
    print(f"book: {0 if broken else 1} passed, {len(broken)} failed ({count} links, {to}/index.html)")
    return 1 if broken else 0


def put_together(to):
    names = {path.relative_to(SOURCE): path.read_text() for path in sorted(SOURCE.rglob("*.md"))}
    shown = {found["what"]: name for name, text in names.items()
             for found in DIRECTIVE.finditer(text) if found["key"] == "page"}
    for name, text in names.items():
        def put(found, name=name):
            if found["key"] == "generated":
                return reference.WRITERS[found["what"]](TARGET)
            return relinked(found["what"], name, shown, to)

        page = FENCE_WORDS.sub(r"\1", COMMENT.sub("", text))
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        (to / name).write_text(DIRECTIVE.sub(put, page))


def relinked(path, name, shown, to):
    """A file of the checkout as a page: links to other such files go to their pages, others name the file."""
    if not (ROOT / path).is_file():
        sys.exit(f"book: {name} shows {path}, which is not there")
    up = "../" * (len(name.parts) - 1)

    def link(found):
        place, _, anchor = found["to"].partition("#")
        if "://" in found["to"] or not place:
            return found[0]
        there = (ROOT / path).parent.joinpath(place).resolve()
        if not there.is_relative_to(ROOT) or not there.exists():
            sys.exit(f"book: {path} links to {found['to']}, which is not there")
        there = str(there.relative_to(ROOT))
        readme = f"{there}/README.md"
        if page := shown.get(there) or shown.get(readme):
            return f"[{found['text']}]({up}{page}{'#' if anchor else ''}{anchor})"
        if pathlib.Path(there).suffix in PICTURES:
            (to / "files" / there).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / there, to / "files" / there)
            return f"{found['image']}[{found['text']}]({up}files/{there})"
        return found["text"] if there in found["text"] else f"{found['text']} (`{there}`)"

    return LINK.sub(link, (ROOT / path).read_text())


if __name__ == "__main__":
    sys.exit(main())
