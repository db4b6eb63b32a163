"""Kafka's binary layouts, compiled per version from one line of text per message.

A layout is a list of fields: `name:type`, or `name[ ... ]` for an array of structs, each with the versions that
carry it (`@5` from 5 on, `@2-4` those only). Types: b h i q are signed integers of 1, 2, 4, 8 bytes, ? a boolean,
s a string, S one that may be null, B bytes that may be null, `*t` an array of t.

A decoded message has every field of its text, absent ones hold a default (-1, True, None, empty), so whoever
handles or answers it never looks at versions. Encoding takes values in the same order and drops what is absent.
"""

import struct
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

Reader = Callable[[bytes, int], tuple[Any, int]]
Writer = Callable[[Any, list[bytes]], None]

NUMBERS = "bhiq?"
ABSENT: dict[str, Any] = {"b": -1, "h": -1, "i": -1, "q": -1, "?": True}


class WireError(ValueError):
    """The bytes are not the message they claim to be."""


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    kind: str
    children: tuple["Field", ...] = ()
    first: int = 0
    last: int = 99

    @property
    def absent(self) -> Any:
        return () if self.kind[0] in "*[" else ABSENT.get(self.kind)


def parse(text: str) -> tuple[Field, ...]:
    return tuple(_parse(iter(text.split())))


def _parse(tokens: Iterator[str]) -> Iterator[Field]:
    """The fields up to the end of the text, or up to a closing bracket, which is then the last of them."""
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


class Layout:
    """One message in one version: bytes to named tuple and back."""

    def __init__(self, fields: tuple[Field, ...], version: int) -> None:
        message: Any = namedtuple("Message", [f.name for f in fields])  # type: ignore[misc]
        self._make: Callable[[Iterable[Any]], Any] = message._make
        self._readers: list[Callable[[bytes, int, list[Any]], int]] = []
        self._writers: list[Callable[[Sequence[Any], list[bytes]], None]] = []

        def shape(at: int) -> str:
            carried = fields[at].first <= version <= fields[at].last
            return "absent" if not carried else "number" if fields[at].kind in NUMBERS else "variable"

        for kind, run in groupby(range(len(fields)), shape):
            indexes = list(run)
            if kind == "number":
                self._add_numbers(indexes[0], struct.Struct(">" + "".join(fields[at].kind for at in indexes)))
            elif kind == "variable":
                for at in indexes:
                    self._add_variable(at, *_variable(fields[at], version))
            else:
                self._add_absent([fields[at].absent for at in indexes])

    def _add_numbers(self, start: int, packer: struct.Struct) -> None:
        unpack, pack, size = packer.unpack_from, packer.pack, packer.size
        end = start + len(packer.format) - 1

        def read(buffer: bytes, at: int, values: list[Any]) -> int:
            values += unpack(buffer, at)
            return at + size

        self._readers.append(read)
        self._writers.append(lambda values, out: out.append(pack(*values[start:end])))

    def _add_variable(self, index: int, read_one: Reader, write_one: Writer) -> None:
        def read(buffer: bytes, at: int, values: list[Any]) -> int:
            value, at = read_one(buffer, at)
            values.append(value)
            return at

        self._readers.append(read)
        self._writers.append(lambda values, out: write_one(values[index], out))

    def _add_absent(self, defaults: list[Any]) -> None:
        def read(_buffer: bytes, at: int, values: list[Any]) -> int:
            values += defaults
            return at

        self._readers.append(read)

    def read(self, buffer: bytes, at: int) -> tuple[Any, int]:
        values: list[Any] = []
        for step in self._readers:
            at = step(buffer, at, values)
        return self._make(values), at

    def write(self, values: Sequence[Any], out: list[bytes]) -> None:
        for step in self._writers:
            step(values, out)

    def decode(self, buffer: bytes) -> Any:
        try:
            return self.read(buffer, 0)[0]
        except (struct.error, UnicodeDecodeError) as e:
            raise WireError(str(e)) from e

    def encode(self, values: Sequence[Any]) -> bytes:
        out: list[bytes] = []
        self.write(values, out)
        return b"".join(out)


def _variable(field: Field, version: int) -> tuple[Reader, Writer]:
    """How a field of variable size is read and written."""
    if field.kind == "[":
        item = Layout(field.children, version)
        return _array(item.read, item.write)
    if field.kind[0] == "*":
        return _array(*(_number if field.kind[1] in NUMBERS else _text)(field.kind[1]))
    return _text(field.kind)


def _number(kind: str) -> tuple[Reader, Writer]:
    packer = struct.Struct(">" + kind)
    return (
        lambda buffer, at: (packer.unpack_from(buffer, at)[0], at + packer.size),
        lambda value, out: out.append(packer.pack(value)),
    )


def _text(kind: str) -> tuple[Reader, Writer]:
    """Strings and bytes: a length, -1 for null, and what it counts."""
    length = struct.Struct(">i" if kind == "B" else ">h")

    def read(buffer: bytes, at: int) -> tuple[Any, int]:
        start = at + length.size
        (size,) = length.unpack_from(buffer, at)
        if size < 0:
            if kind == "s":
                raise WireError("null where a string must be")
            return None, start
        end = start + size
        if end > len(buffer):
            raise WireError("a field ends behind its frame")
        return (buffer[start:end] if kind == "B" else buffer[start:end].decode()), end

    def write(value: Any, out: list[bytes]) -> None:
        raw = value if kind == "B" or value is None else value.encode()
        out += (length.pack(-1),) if raw is None else (length.pack(len(raw)), raw)

    return read, write


def _array(read_item: Reader, write_item: Writer) -> tuple[Reader, Writer]:
    read_count, write_count = _number("i")

    def read(buffer: bytes, at: int) -> tuple[Any, int]:
        count, at = read_count(buffer, at)
        items = []
        for _ in range(count):
            item, at = read_item(buffer, at)
            items.append(item)
        return (items if count >= 0 else None), at

    def write(values: Sequence[Any] | None, out: list[bytes]) -> None:
        write_count(-1 if values is None else len(values), out)
        for value in values or ():
            write_item(value, out)

    return read, write
