"""Kafka's binary layouts, compiled per version from one line of text per message.

A layout is a list of fields: `name:type`, or `name[ ... ]` for an array of structs, each with its versions (`@5` from
5 on, `@2-4` those only). Types: b h i q are signed integers of 1, 2, 4, 8 bytes, ? a boolean, s a string, S a nullable
string, B nullable bytes, `*t` an array of t.

A decoded message has every field of its layout, absent ones with a default (-1, True, None, empty), so that handlers
need no versions. Encoding takes values in the same order and drops absent fields.
"""

import struct
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Protocol

NUMBERS = "bhiq?"
ABSENT: dict[str, int] = {"b": -1, "h": -1, "i": -1, "q": -1, "?": True}
SHORT, LONG = struct.Struct(">h"), struct.Struct(">i")
LENGTHS = {"s": SHORT, "S": SHORT, "B": LONG, "*": LONG, "[": LONG}


class WireError(ValueError):
    """The bytes are not a valid message."""


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    kind: str
    children: tuple["Field", ...] = ()
    first: int = 0
    last: int = 99

    def shape(self, version: int) -> tuple[str, str]:
        """How it is read; adjacent fields of one shape are read together, except those of variable size."""
        if not self.first <= version <= self.last:
            return "absent", ""
        return ("numbers", "") if self.kind in NUMBERS else (self.kind[0], self.name)


def parse(text: str) -> tuple[Field, ...]:
    return tuple(_parse(iter(text.split())))


def _parse(tokens: Iterator[str]) -> Iterator[Field]:
    """The fields up to the end of the text, or up to and including a closing bracket."""
    for token in tokens:
        if token.endswith("["):
            *children, closing = _parse(tokens)
            yield Field(token[:-1], "[", tuple(children), closing.first, closing.last)
            continue
        head, _, versions = token.partition("@")
        first, dash, last = versions.partition("-")
        name, _, kind = head.partition(":")
        yield Field(name, kind, (), int(first or 0), int(last) if dash else 99)
        if name == "]":
            return


class Decoded(Protocol):
    """A decoded message: an attribute for each field of its text."""

    def __getattr__(self, field: str, /) -> Any: ...
    def __getitem__(self, place: int, /) -> object: ...


Answer = Sequence[object]  # the values of a message, in the order of its text


class Layout:
    """One message in one version: bytes to named tuple and back."""

    def __init__(self, fields: tuple[Field, ...], version: int) -> None:
        message: Any = namedtuple("Message", [f.name for f in fields])  # type: ignore[misc]
        self._make: Callable[[Iterable[object]], Any] = message._make
        self._steps: list[tuple[str, Any, slice]] = []  # kind, its decoder, the positions of its values
        at = 0
        for (kind, _), run in groupby(fields, lambda f: f.shape(version)):
            part = list(run)
            self._steps.append((kind, _tool(kind, part, version), slice(at, at + len(part))))
            at += len(part)

    def read(self, buffer: bytes, at: int) -> tuple[Decoded, int]:
        values: list[object] = []
        for kind, tool, _ in self._steps:
            if kind == "numbers":
                values += tool.unpack_from(buffer, at)
                at += tool.size
            elif kind == "absent":
                values += tool
            else:
                value, at = _read_variable(kind, tool, buffer, at)
                values.append(value)
        return self._make(values), at

    def write(self, values: Answer, out: list[bytes]) -> None:
        for kind, tool, part in self._steps:
            if kind == "numbers":
                out.append(tool.pack(*values[part]))
            elif kind != "absent":
                _write_variable(kind, tool, values[part.start], out)

    def decode(self, buffer: bytes) -> Decoded:
        try:
            return self.read(buffer, 0)[0]
        except (struct.error, UnicodeDecodeError) as e:
            raise WireError(str(e)) from e

    def encode(self, values: Answer) -> bytes:
        out: list[bytes] = []
        self.write(values, out)
        return b"".join(out)


def _tool(kind: str, part: list[Field], version: int) -> Any:
    if kind == "absent":
        return [() if f.kind[0] in "*[" else ABSENT.get(f.kind) for f in part]
    if kind == "numbers":
        return struct.Struct(">" + "".join(f.kind for f in part))
    children = (Field("item", part[0].kind[1]),) if kind == "*" else part[0].children
    return Layout(children, version) if kind in "*[" else None


def _read_variable(kind: str, item: Layout | None, buffer: bytes, at: int) -> tuple[object, int]:
    (size,) = LENGTHS[kind].unpack_from(buffer, at)
    at += LENGTHS[kind].size
    if size < 0 and kind != "s":
        return None, at
    if item is None:
        end = at + size
        if not at <= end <= len(buffer):
            raise WireError("a string that is null or ends behind its frame")
        return (buffer[at:end] if kind == "B" else buffer[at:end].decode()), end
    items = []
    for _ in range(size):
        value, at = item.read(buffer, at)
        items.append(value if kind == "[" else value[0])
    return items, at


def _write_variable(kind: str, item: Layout | None, value: Any, out: list[bytes]) -> None:
    if isinstance(value, str):
        value = value.encode()
    out.append(LENGTHS[kind].pack(-1 if value is None else len(value)))
    if item is None:
        out.append(value or b"")
        return
    for each in value or ():
        item.write(each if kind == "[" else (each,), out)
