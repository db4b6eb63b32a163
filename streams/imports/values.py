"""The values of a JSON file one after the other: of a list its elements, else each value, as of lines.

No more is held than a chunk and the largest value.
"""

import json
from codecs import getincrementaldecoder
from collections.abc import Iterator
from typing import IO

from streams.imports.turns import JsonValue

CHUNK = 1 << 20
MAX_VALUE_CHARS = 64_000_000
# An error so near the end of what is read may be of a value that goes on.
MAY_GO_ON = 16
BLANK = " \t\r\n"


class BrokenExport(Exception):
    """A file that is no JSON from some place on; the text says where and why."""


class JsonValues:
    """Reads a file of bytes; `position` is how many of them are read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._decoder = getincrementaldecoder("utf-8-sig")()
        self._text, self._at = "", 0
        self._lines = 1
        self._ended = self._undecodable = False
        self.position = 0

    def __iter__(self) -> Iterator[JsonValue]:
        """Each value; raises `BrokenExport` where the file goes on as no JSON, after what is before it."""
        is_list = self._next() == "["
        if is_list:
            self._at += 1
        while (char := self._next()) != "":
            if is_list and char == "]":
                self._at += 1
                if self._next():
                    raise self._broken("there is more after the list", self._at)
                return
            yield self._value()
            if is_list and (char := self._next()) != "]":
                if char != ",":
                    raise self._broken("the list has no end" if not char else "there is no comma", self._at)
                self._at += 1
        if is_list:
            raise self._broken("the list has no end", self._at)

    def _next(self) -> str:
        """The next character that is no blank; empty at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in BLANK:
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _value(self) -> JsonValue:
        decoder = json.JSONDecoder(parse_int=_whole)
        while True:
            try:
                value, end = decoder.raw_decode(self._text, self._at)
            except RecursionError:
                raise self._broken("it is nested too deeply", self._at) from None
            except json.JSONDecodeError as error:
                may_go_on = error.msg.startswith("Unterminated") or error.pos > len(self._text) - MAY_GO_ON
                if not may_go_on or self._ended:
                    raise self._broken(error.msg[:1].lower() + error.msg[1:], error.pos) from None
                if len(self._text) - self._at > MAX_VALUE_CHARS:
                    raise self._broken(f"a value has more than {MAX_VALUE_CHARS:,} characters", self._at) from None
                self._more(len(self._text) - self._at)
                continue
            self._at = end
            return value

    def _more(self, at_least: int = 0) -> bool:
        """Read on, dropping what was taken; False at the end."""
        if self._undecodable:
            raise self._broken("it is no UTF-8", len(self._text))
        self._lines += self._text.count("\n", 0, self._at)
        data = self._file.read(max(CHUNK, at_least))
        self.position += len(data)
        try:
            text = self._decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            self._undecodable = True
            text = error.object[: error.start].decode("utf-8-sig")
        self._text, self._at = self._text[self._at :] + text, 0
        self._ended = not data
        return bool(data)

    def _broken(self, why: str, at: int) -> BrokenExport:
        return BrokenExport(f"line {self._lines + self._text.count(chr(10), 0, at)}: {why}")


def _whole(digits: str) -> int | float:
    # Python refuses to read a whole number of thousands of digits.
    return int(digits) if len(digits) < 20 else float(digits)
