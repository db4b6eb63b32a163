"""Kafka's binary layouts, compiled per version from one line of text per message.

A layout is a list of fields: `name:type`, or `name[ ... ]` for an array of structs, each with the versions that
carry it (`@5` from 5 on, `@2-4` those only). Types: b h i q are signed integers of 1, 2, 4, 8 bytes, ? a boolean,
s a string, S one that may be null, B bytes that may be null, `*t` an array of t. N is a string whose length is
never compact, T the tagged fields of a header (read and dropped).

A decoded message has every field of its text, absent ones hold a default (-1, True, None, empty), so whoever
handles or answers it never looks at versions. Encoding takes values in the same order and drops what is absent.
"""

import struct
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Reader = Callable[[bytes, int], tuple[Any, int]]
Writer = Callable[[Any, list[bytes]], None]

FIXED = "bhiq?"
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
    for token in tokens:
        if token.endswith("["):
            children, closing = [], ""
            for child in _parse(tokens):
                if child.kind == "]":
                    closing = child.name
                    break
                children.append(child)
            yield Field(token[:-1], "[", tuple(children), *_versions(closing))
        elif token.startswith("]"):
            yield Field(token, "]")
        else:
            head, _, versions = token.partition("@")
            name, _, kind = head.partition(":")
            yield Field(name, kind, (), *_versions("@" + versions))


def _versions(token: str) -> tuple[int, int]:
    first, dash, last = token.partition("@")[2].partition("-")
    return int(first or 0), int(last) if dash else 99


class Layout:
    """One message in one version: bytes to named tuple and back."""

    def __init__(self, fields: tuple[Field, ...], version: int, flexible: bool = False) -> None:
        message: Any = namedtuple("Message", [f.name for f in fields])  # type: ignore[misc]
        self._make: Callable[[Iterable[Any]], Any] = message._make
        self._readers: list[Callable[[bytes, int, list[Any]], int]] = []
        self._writers: list[Callable[[Sequence[Any], list[bytes]], None]] = []
        self._tagged = flexible
        at = 0
        while at < len(fields):
            run = at
            while run < len(fields) and _carried(fields[run], version) and fields[run].kind in FIXED:
                run += 1
            if run > at:
                self._add_fixed(at, run, "".join(f.kind for f in fields[at:run]))
                at = run
            elif _carried(fields[at], version):
                self._add_variable(at, fields[at], version, flexible)
                at += 1
            else:
                self._readers.append(_absent_reader(fields[at].absent))
                at += 1
        if not flexible and all(f.kind in FIXED for f in fields):
            self.read = self._fixed_struct(fields, version)  # type: ignore[method-assign,assignment]

    def _add_fixed(self, start: int, end: int, codes: str) -> None:
        packer = struct.Struct(">" + codes)
        unpack, pack, size = packer.unpack_from, packer.pack, packer.size

        def read(buffer: bytes, at: int, values: list[Any]) -> int:
            values += unpack(buffer, at)
            return at + size

        self._readers.append(read)
        self._writers.append(lambda values, out: out.append(pack(*values[start:end])))

    def _add_variable(self, index: int, field: Field, version: int, flexible: bool) -> None:
        read_one, write_one = _variable(field, version, flexible)

        def read(buffer: bytes, at: int, values: list[Any]) -> int:
            value, at = read_one(buffer, at)
            values.append(value)
            return at

        self._readers.append(read)
        self._writers.append(lambda values, out: write_one(values[index], out))

    def _fixed_struct(self, fields: tuple[Field, ...], version: int) -> Reader:
        # Most bytes of a busy connection are arrays of such structs (the partitions of a fetch): one unpack for each.
        packer = struct.Struct(">" + "".join(f.kind for f in fields if _carried(f, version)))
        absent = [(at, f.absent) for at, f in enumerate(fields) if not _carried(f, version)]
        unpack, size, make = packer.unpack_from, packer.size, self._make
        if not absent:
            return lambda buffer, at: (make(unpack(buffer, at)), at + size)

        def read(buffer: bytes, at: int) -> tuple[Any, int]:
            values = list(unpack(buffer, at))
            for index, value in absent:
                values.insert(index, value)
            return make(values), at + size

        return read

    def read(self, buffer: bytes, at: int) -> tuple[Any, int]:
        values: list[Any] = []
        for step in self._readers:
            at = step(buffer, at, values)
        if self._tagged:
            _, at = _read_tags(buffer, at)
        return self._make(values), at

    def write(self, values: Sequence[Any], out: list[bytes]) -> None:
        for step in self._writers:
            step(values, out)
        if self._tagged:
            out.append(b"\0")

    def decode(self, buffer: bytes) -> Any:
        try:
            return self.read(buffer, 0)[0]
        except (struct.error, IndexError, UnicodeDecodeError) as e:
            raise WireError(str(e)) from e

    def encode(self, values: Sequence[Any]) -> bytes:
        out: list[bytes] = []
        self.write(values, out)
        return b"".join(out)


def _carried(field: Field, version: int) -> bool:
    return field.first <= version <= field.last


def _absent_reader(value: Any) -> Callable[[bytes, int, list[Any]], int]:
    def read(_buffer: bytes, at: int, values: list[Any]) -> int:
        values.append(value)
        return at

    return read


def _variable(field: Field, version: int, flexible: bool) -> tuple[Reader, Writer]:
    if field.kind == "T":
        return (_read_tags, _no_tags) if flexible else (lambda _b, at: (None, at), _no_tags)
    if field.kind == "[":
        item = Layout(field.children, version, flexible)
        return _array(item.read, item.write, flexible)
    if field.kind[0] == "*":
        return _array(*_scalar(field.kind[1], flexible), flexible)
    return _scalar(field.kind, flexible)


def _scalar(kind: str, flexible: bool) -> tuple[Reader, Writer]:
    if kind in FIXED:
        packer = struct.Struct(">" + kind)
        return (
            lambda buffer, at: (packer.unpack_from(buffer, at)[0], at + packer.size),
            lambda value, out: out.append(packer.pack(value)),
        )
    read_length, write_length = _length("h" if kind in "sSN" else "i", flexible and kind != "N")

    def read(buffer: bytes, at: int) -> tuple[Any, int]:
        size, at = read_length(buffer, at)
        if size < 0:
            if kind == "s":
                raise WireError("null where a string must be")
            return None, at
        end = at + size
        if end > len(buffer):
            raise WireError("a field ends behind its frame")
        return (buffer[at:end] if kind == "B" else buffer[at:end].decode()), end

    def write(value: Any, out: list[bytes]) -> None:
        if value is None:
            out.append(write_length(-1))
            return
        raw = value if kind == "B" else value.encode()
        out += (write_length(len(raw)), raw)

    return read, write


def _array(read_item: Reader, write_item: Writer, flexible: bool) -> tuple[Reader, Writer]:
    read_length, write_length = _length("i", flexible)

    def read(buffer: bytes, at: int) -> tuple[Any, int]:
        count, at = read_length(buffer, at)
        items = []
        for _ in range(count):
            item, at = read_item(buffer, at)
            items.append(item)
        return (items if count >= 0 else None), at

    def write(values: Sequence[Any] | None, out: list[bytes]) -> None:
        out.append(write_length(-1 if values is None else len(values)))
        for value in values or ():
            write_item(value, out)

    return read, write


def _length(code: str, compact: bool) -> tuple[Callable[[bytes, int], tuple[int, int]], Callable[[int], bytes]]:
    if compact:
        return _read_compact, lambda size: uvarint(size + 1)
    packer = struct.Struct(">" + code)
    return lambda buffer, at: (packer.unpack_from(buffer, at)[0], at + packer.size), packer.pack


def _read_compact(buffer: bytes, at: int) -> tuple[int, int]:
    value, at = read_uvarint(buffer, at)
    return value - 1, at


def read_uvarint(buffer: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while shift < 35:
        byte = buffer[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise WireError("a varint of more than five bytes")


def uvarint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _read_tags(buffer: bytes, at: int) -> tuple[None, int]:
    count, at = read_uvarint(buffer, at)
    for _ in range(min(count, len(buffer))):
        _, at = read_uvarint(buffer, at)
        size, at = read_uvarint(buffer, at)
        at += size
    return None, at


def _no_tags(_value: Any, _out: list[bytes]) -> None:
    return None
