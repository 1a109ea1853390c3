"""Reading a model's response: what it thought is cut off, its fenced blocks are read.

    text = "<think>in C++?</think>Here:\n```python\nprint(1)\n```\n"
    blocks(answer(text), {"python"})[0].content == "print(1)\n"

The same rules as the Rust SDK's, so that a plugin may move from one language to the other.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

_CLOSING = ("</think>", "</thinking>")
_OPENING = ("<think>", "<thinking>")


def answer(response: str) -> str | None:
    """What follows the last closing tag; None where the response only thinks."""
    end = max((response.rfind(tag) + len(tag) for tag in _CLOSING if tag in response), default=0)
    rest = response[end:]
    return None if rest.lstrip().startswith(_OPENING) else rest


@dataclass
class Block:
    """One fenced block; blank ones are left out."""

    name: str
    """The first word behind the fence, in lower case; empty where there is none."""
    content: str
    closed: bool
    line: int
    """Of the fence, from 1."""


@dataclass
class _Fence:
    mark: str
    length: int
    indent: int
    info: str

    @property
    def name(self) -> str:
        """`python`, `{.python .numberLines}`, `cpp title="a.cpp"` and `Python:main.py` all name one."""
        return re.split(r"[\s{},:]", self.info.lstrip("{. "), maxsplit=1)[0].lower()


@dataclass
class _Open:
    fence: _Fence
    line: int
    content: list[str] = field(default_factory=list)


def blocks(text: str, languages: Collection[str] = ()) -> list[Block]:
    """All fenced blocks, in order, as in CommonMark, with three concessions to what models write: a fence that
    names one of `languages` inside an open block begins a new one (the first was never closed), a block
    of Markdown is read for the blocks inside it, and a tag may stand before an opening fence or behind a
    closing one (`</answer>`, `<|im_end|>`)."""
    found: list[Block] = []
    current: _Open | None = None
    for number, line in enumerate(_lines(text), 1):
        if current is None:
            current = _opened(_fence(_behind_tag(line)), number)
            continue
        fence = _fence(line)
        if fence is None or fence.mark != current.fence.mark:
            current.content.append(line)
        elif fence.info[:1] in ("", "<") and fence.length >= current.fence.length:
            _close(current, True, found)
            current = None
        elif fence.length == current.fence.length and fence.name in languages:
            _close(current, False, found)
            current = _opened(fence, number)
        else:
            current.content.append(line)
    if current is not None:
        _close(current, False, found)
    return found


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _fence(line: str) -> _Fence | None:
    trimmed = line.lstrip(" \t")
    mark = trimmed[:1]
    if mark not in ("`", "~"):
        return None
    length = len(trimmed) - len(trimmed.lstrip(mark))
    info = trimmed[length:].strip()
    if length < 3 or (mark == "`" and "`" in info):
        return None
    return _Fence(mark, length, _column(line[: len(line) - len(trimmed)]), info)


def _opened(fence: _Fence | None, number: int) -> _Open | None:
    if fence is None or fence.name in ("markdown", "md"):
        return None
    return _Open(fence, number)


def _close(block: _Open, closed: bool, found: list[Block]) -> None:
    if not any(line.strip() for line in block.content):
        return
    content = "".join(f"{_without_indent(line, block.fence.indent)}\n" for line in block.content)
    found.append(Block(block.fence.name, content, closed, block.line))


def _behind_tag(line: str) -> str:
    """What follows a tag such as `<answer>` at the beginning of a line, if that is a fence; else the whole line."""
    tag = re.match(r"\s*<[^<>]*>", line)
    rest = line[tag.end() :] if tag else line
    return rest if _fence(rest) else line


def _column(blank: str) -> int:
    """The column after spaces and tabs; a tab leads to a multiple of four."""
    column = 0
    for sign in blank:
        column = column + 1 if sign == " " else (column // 4 + 1) * 4
    return column


def _without_indent(line: str, indent: int) -> str:
    """A block in a list is indented as a whole."""
    blank = len(line) - len(line.lstrip(" \t"))
    cut = next((at for at in range(blank, 0, -1) if _column(line[:at]) <= indent), 0)
    return line[cut:]
