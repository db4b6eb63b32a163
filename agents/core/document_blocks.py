"""A document as blocks under headings, and as passages of about 60-100 words that never mix two headings.

Lists, code fences and tables survive: a list is cut between items, a table between rows with its header repeated, a fence
between lines with its fence repeated.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from agents.core.sentences import sentences

TARGET_WORDS, FULL_WORDS, MAX_WORDS = 60, 100, 120
CONTEXT_CHARS = 240
# A word longer than this is no word: encoded bytes are cut like words.
MAX_WORD_CHARS = 400

Kind = Literal["text", "list", "code", "table"]


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, list, code fence or table, as it was written, under its headings."""

    path: tuple[str, ...]
    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of blocks of one heading; `context` is the end of the one before and the start of the one after."""

    path: tuple[str, ...]
    text: str
    context: str = ""


_HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.+?)\s*#*\s*$")
_UNDERLINE = re.compile(r"^ {0,3}(=+|-+)\s*$")
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
ITEM = re.compile(r"^(\s*)(?:[-*+•]|\d{1,3}[.)]|[a-z]\))\s+(?=\S)")
_ROW = re.compile(r"^\s*\|.*\|\s*$")
_RULE = re.compile(r"^\s*\|?[\s:|-]*-{2,}[\s:|-]*\|?\s*$")


def blocks(text: str, *, plain_heading: re.Pattern[str] | None = None) -> list[Block]:
    """The blocks of a text in order; a line that `plain_heading` matches alone is a heading too."""
    reader = _Reader(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), plain_heading)
    return list(reader.read())


class _Reader:
    """One pass over the lines; `path` holds the headings in force, by level."""

    def __init__(self, lines: list[str], plain_heading: re.Pattern[str] | None) -> None:
        self._lines = lines
        self._plain_heading = plain_heading
        self._at = 0
        self._path: dict[int, str] = {}

    def read(self) -> Iterator[Block]:
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if not line.strip():
                self._at += 1
            elif _FENCE.match(line):
                yield self._block("code", self._fence())
            elif self._heading(line):
                pass
            elif _ROW.match(line):
                yield self._block("table", self._while(lambda row: bool(_ROW.match(row))))
            elif ITEM.match(line):
                yield self._block("list", self._list())
            else:
                yield self._block("text", self._paragraph())

    def _block(self, kind: Kind, lines: list[str]) -> Block:
        return Block(tuple(self._path.values()), kind, "\n".join(line.rstrip() for line in lines).strip("\n"))

    def _heading(self, line: str) -> bool:
        level, title = 0, ""
        following = self._lines[self._at + 1] if self._at + 1 < len(self._lines) else ""
        if found := _HEADING.match(line):
            level, title, taken = len(found[1]), found[2], 1
        elif (under := _UNDERLINE.match(following)) and not ITEM.match(line) and not _ROW.match(line):
            level, title, taken = (1 if under[1][0] == "=" else 2), line, 2
        elif self._plain_heading and self._plain_heading.match(line) and len(line) <= MAX_WORDS:
            level, title, taken = 6, line, 1
        if not level:
            return False
        self._path = {depth: name for depth, name in self._path.items() if depth < level}
        self._path[level] = title.strip().strip("*_").strip(": ")
        self._at += taken
        return True

    def _while(self, wanted: "re.Pattern[str] | object") -> list[str]:
        raise NotImplementedError
