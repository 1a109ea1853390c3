"""Reads a page of the book: its blocks, in order, and what the page says of how they are run.

What the words mean stands in README.md beside this file. Never runs anything.
"""

import dataclasses
import re

# A command in one of these could pass for one that is run.
OTHER_SHELLS = {"bash", "shell", "console", "shell-session", "py", "zsh"}
FENCE = re.compile(r"^ *(?P<fence>```+)(?P<info>[^`]*)$")
COMMENT = re.compile(r"^ *<!-- (?P<key>[a-z ]+): ")
BLOCK_WORDS = {"background", "fails", "file", "output"}
# Pages of the book that are files of the checkout: the file, and who runs its commands.
ELSEWHERE = {
    "operations/gpus.md": ("docs/gpu/README.md", "a machine with a GPU"),
    "plugins/code.md": ("plugins/code/README.md", "make test"),
    "plugins/cuda.md": ("plugins/cuda/README.md", "make test, except what needs a GPU"),
    "plugins/format.md": ("plugins/format/README.md", "nobody: it has no commands"),
    "plugins/hello.md": ("plugins/hello/README.md", "make test"),
    "plugins/judge.md": ("plugins/judge/README.md", "tests/tests/rubric"),
    "plugins/math.md": ("plugins/math/README.md", "plugins/math/tests"),
    "plugins/python-sdk.md": ("sdk/python-plugin/README.md", "sdk/python-plugin/tests and plugins/python.md"),
    "plugins/run.md": ("plugins/run/README.md", "tests/tests/compat"),
    "reference/architecture.md": ("ARCHITECTURE.md", "nobody: it has no commands"),
    "reference/dashboard.md": ("docs/dashboard/README.md", "nobody: it has no commands"),
    "reference/glossary.md": ("GLOSSARY.md", "nobody: it has no commands"),
    "reference/live.md": ("docs/live.md", "make live"),
    "reference/performance.md": ("docs/performance.md", "nobody: it has no commands"),
    "reference/reliability.md": ("docs/reliability.md", "nobody: it has no commands"),
    "reference/reproduction.md": ("docs/reproduction.md", "make reproduce"),
    "trainers/python-client.md": ("sdk/python-client/README.md", "sdk/python-client/tests"),
}


class Wrong(Exception):
    """A page that breaks its own grammar, with the line."""


@dataclasses.dataclass
class Block:
    """What is between two fences, or in a comment that is run."""

    line: int
    language: str
    words: dict
    text: str
    hidden: bool = False
    # Why it is not run here; `later` if `make test-trainers` runs it.
    why: str | None = None
    later: bool = False

    @property
    def runs(self):
        return self.language in ("sh", "python") and "output" not in self.words and "file" not in self.words


@dataclasses.dataclass
class Page:
    name: str
    blocks: list
    environment: str | None = None
    own_server: bool = False


def read(path, name):
    """The page in a file; `Wrong` where a block could not be told from one that is run."""
    page = Page(name, [])
    lines = path.read_text().split("\n")
    at = 0
    mark = None
    while at < len(lines):
        line = lines[at]
        if opened := FENCE.match(line):
            end = next((i for i in range(at + 1, len(lines)) if lines[i].strip() == opened["fence"]), None)
            if end is None:
                raise Wrong(f"{name}:{at + 1}: a block that never ends")
            page.blocks.append(_block(name, at + 1, opened["info"], lines[at + 1:end], mark))
            mark, at = None, end + 1
            continue
        if comment := COMMENT.match(line):
            end = next((i for i in range(at, len(lines)) if "-->" in lines[i]), None)
            if end is None:
                raise Wrong(f"{name}:{at + 1}: a comment that never ends")
            mark = _comment(page, at + 1, comment["key"], "\n".join(lines[at:end + 1]))
            at = end + 1
            continue
        if line.strip() and mark:
            raise Wrong(f"{name}:{at + 1}: `{mark[0]}` belongs right before a block")
        at += 1
    return page


def _block(name, line, info, text, mark=None, hidden=False):
    language, *words = info.split() or [""]
    words = dict(word.partition("=")[::2] for word in words)
    if language in OTHER_SHELLS:
        raise Wrong(f"{name}:{line}: write `{language}` as sh, python or text: nobody runs it")
    if unknown := set(words) - BLOCK_WORDS:
        raise Wrong(f"{name}:{line}: unknown word {sorted(unknown)}: one of {sorted(BLOCK_WORDS)}")
    indent = min((len(row) - len(row.lstrip()) for row in text if row.strip()), default=0)
    block = Block(line, language, words, "\n".join(row[indent:] for row in text) + "\n", hidden)
    if mark:
        block.later, block.why = mark[0] == "later", mark[1]
    return block


def _comment(page, line, key, text):
    """Takes in what a comment says; returns a mark for the block that follows it, if it is one."""
    said = text.split(f"{key}: ", 1)[1].split("-->")[0].rstrip()
    if key == "hidden":
        info, *body = said.split("\n")
        page.blocks.append(_block(page.name, line, info, body, hidden=True))
    elif key == "environment":
        page.environment = said
    elif key == "server" and said == "own":
        page.own_server = True
    elif key in ("not run", "later"):
        return key, " ".join(said.split())
    elif key != "generated":
        raise Wrong(f"{page.name}:{line}: `{key}`: not run, later, hidden, environment, server or generated")
    return None
