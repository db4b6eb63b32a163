"""One file of a partition's log, and beside it what it contains, so that a start need not read it.

`<first offset>.log`                   the batches, one after the other
`<first offset>.index`                 what the file contains, stored when it is closed: bounds, producers, sparse index
`<first offset>.<from>-<to>.damaged`   damaged bytes that were taken out of the file, with the offsets that they had

An `.index` is of use while the file has the size and time of change that it states; else the file is examined, batch by
batch. Batches of a file whose `.index` was believed have their checksums compared when they are first read.
"""

import logging
import os
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from streams.broker import batch as batches
from streams.broker.damage import Damage, empty_batches, examined, sound
from streams.broker.journal import DAMAGED, AppendFile, named, replace_file
from streams.kafka.record_batches import HEADER_SIZE, MAGIC, Batch, header

LOGGER = logging.getLogger("fathom.broker")
INDEX_EVERY = 4096

ProducerRows = list[list[int]]
Found = list[tuple[int, Batch] | Damage]


class DamagedError(Exception):
    """What was read of a segment is not what was written."""


class SparseIndex:
    """Offset and position of a batch about every 4 KiB, and the maximum timestamp of all batches before it."""

    def __init__(self, *columns: list[int]) -> None:
        self.offsets, self.positions, self.newest_before = (array("q", each) for each in columns or ((), (), ()))

    def add(self, offset: int, position: int, newest_before: int) -> None:
        """Add a batch, unless the last entry is near."""
        if not self.positions or position >= self.positions[-1] + INDEX_EVERY:
            self.offsets.append(offset)
            self.positions.append(position)
            self.newest_before.append(newest_before)

    def before_offset(self, offset: int) -> tuple[int, int]:
        """Position and offset of the last entry up to an offset."""
        return self._entry(bisect_right(self.offsets, offset) - 1)

    def before_position(self, position: int) -> tuple[int, int]:
        """Position and offset of the last entry up to a position."""
        return self._entry(bisect_right(self.positions, position) - 1)

    def before_time(self, timestamp: int) -> tuple[int, int]:
        """Position and offset of the last entry before which everything is older."""
        return self._entry(max(bisect_left(self.newest_before, timestamp) - 1, 0))

    def _entry(self, number: int) -> tuple[int, int]:
        return self.positions[number], self.offsets[number]


class Segment(AppendFile):
    """The batches from offset `base` up to before `end`."""

    def __init__(self, directory: Path, base: int) -> None:
        super().__init__(directory / f"{base:020d}.log")
        self.base = self.end = base
        self.max_timestamp = -1
        self._index: SparseIndex | None = SparseIndex()
        # The positions between which nobody has compared checksums.
        self._unchecked = 0, 0
        # The sizes up to which it is on the disk, and up to which its `.index` was stored.
        self._synced = self._stored = -1

    @property
    def _summary(self) -> Path:
        return self.path.with_suffix(".index")

    def recall(self, end: int | None) -> ProducerRows | None:
        """Take over what was stored when the file was closed; returns the producers of then.

        None where the file changed since, or ends elsewhere than at `end`: it has to be examined.
        """
        try:
            with self._summary.open("rb") as file:
                head, producers = _value(file.readline()), _value(file.readline())
            there = self.path.stat()
        except OSError:
            return None
        if head is None or producers is None or head[:2] != [there.st_size, there.st_mtime_ns]:
            return None
        if end not in (None, head[2]):
            return None
        self.size, _, self.end, self.max_timestamp = head
        self._index, self._unchecked = None, (0, self.size)
        self._synced = self._stored = self.size
        rows: ProducerRows = producers
        return rows

    def examine(self, end: int | None) -> list[Batch]:
        """Read the header of every batch; `end` is the offset that follows the last one, None where nobody knows.

        Damaged bytes are set aside, and their offsets kept by empty batches. Where nobody knows the end, what follows
        the last whole batch is the rest of a write that was interrupted: it is cut off.
        """
        raw = self.path.read_bytes() if self.path.exists() else b""
        found = [*examined(raw, self.base, end)]
        if any(isinstance(each, Damage) for each in found):
            found = [*examined(self._mended(raw, found, end), self.base, end)]
        self.size, self.end, self.max_timestamp = 0, self.base, -1
        self._index, self._unchecked = SparseIndex(), (0, 0)
        headers = [each for each in found if not isinstance(each, Damage)]
        for at, batch in headers:
            self._took(self._index, batch, batch.base_offset, at)
            self.size = at + batch.size
        return [batch for _, batch in headers]

    def add(self, batch: Batch, records: bytes, offset: int) -> None:
        """Write all or nothing; OSError when the disk refuses."""
        at, index = self.size, self._known()
        # The CRC starts after the base offset, so it stays valid.
        self.append(offset.to_bytes(8, "big") + records[8:])
        self._took(index, batch, offset, at)

    def _took(self, index: SparseIndex, batch: Batch, offset: int, at: int) -> None:
        index.add(offset, at, self.max_timestamp)
        self.max_timestamp = max(self.max_timestamp, batch.max_timestamp)
        self.end = offset + batch.last_delta + 1

    def _known(self) -> SparseIndex:
        """The index; stored, it is read when it is first needed."""
        if self._index is None:
            try:
                columns = _value(self._summary.read_bytes().split(b"\n")[2])
            except (OSError, IndexError):
                columns = None
            if columns is None:
                raise DamagedError(f"{self._summary} is damaged")
            self._index = SparseIndex(*columns)
        return self._index

    def records_from(self, offset: int, budget: int, whole_first: bool) -> bytes:
        """Whole batches from the one that contains `offset`, within `budget` bytes; raises `DamagedError`."""
        index = self._known()
        start, first = self._first(*index.before_offset(offset), lambda _, batch: batch.next_offset > offset)
        if first.size > budget:
            return self._checked(start, first.size) if whole_first else b""
        end, limit = self.size, start + budget
        if limit < end:
            near = max(index.before_position(limit), (start, first.base_offset))
            end, _ = self._first(*near, lambda at, batch: at + batch.size > limit)
        return self._checked(start, end - start)

    def first_at_or_after(self, timestamp: int) -> tuple[int, int]:
        """Offset and timestamp of the first record not older, of which there is one; raises `DamagedError`."""
        near = self._known().before_time(timestamp)
        at, batch = self._first(*near, lambda _, batch: batch.max_timestamp >= timestamp)
        return batches.first_at_or_after(self._checked(at, batch.size), timestamp)

    def _first(self, at: int, offset: int, wanted: Callable[[int, Batch], bool]) -> tuple[int, Batch]:
        """Position and header of the first batch that is wanted, from the one of this position and offset on."""
        for place, batch in self._batches(at, offset):
            if wanted(place, batch):
                return place, batch
        raise DamagedError(f"{self.path} lacks a batch that it had")

    def _batches(self, at: int, offset: int) -> Iterator[tuple[int, Batch]]:
        while at < self.size:
            window, start = self.read(INDEX_EVERY, at), at
            while at - start + HEADER_SIZE <= len(window):
                batch = header(window, at - start)
                whole = batch.magic == MAGIC and batch.size >= HEADER_SIZE and at + batch.size <= self.size
                if batch.base_offset != offset or not whole:
                    raise DamagedError(f"{self.path} is damaged at byte {at}")
                yield at, batch
                at, offset = at + batch.size, batch.next_offset
            if at == start:
                raise DamagedError(f"{self.path} ends at byte {at + len(window)}")

    def _checked(self, start: int, size: int) -> bytes:
        """The whole batches between two positions, with the checksums that nobody has compared yet."""
        piece = self.read(size, start)
        low, high = self._unchecked
        if start < high and start + size > low:
            at = 0
            while at < size:
                batch = sound(piece, at)
                if batch is None:
                    raise DamagedError(f"{self.path} is damaged at byte {start + at}")
                at += batch.size
            if start <= low:
                self._unchecked = max(low, start + size), high
        elif len(piece) < size:
            raise DamagedError(f"{self.path} ends at byte {start + len(piece)}")
        return piece

    def age_from(self) -> float:
        """Seconds since the epoch of the newest record; of the last write where records have no time."""
        return self.max_timestamp / 1000 if self.max_timestamp >= 0 else self.path.stat().st_mtime

    def finished(self, producers: ProducerRows) -> Callable[[], None]:
        """End the writing; returns the work that puts the file on the disk and stores what it contains.

        That may wait for the disk, in a thread that has this file to itself. It raises `OSError`.
        """
        if self._stored == self.size:
            self.close(sync=False)
            return _nothing
        # Readers must not meet a descriptor that a thread closes.
        descriptor, self._descriptor = self._descriptor, -1
        index = self._known()
        columns = [each.tolist() for each in (index.offsets, index.positions, index.newest_before)]
        return partial(self._store, descriptor, self.size, [self.end, self.max_timestamp], [producers, columns])

    def _store(self, descriptor: int, size: int, bounds: list[int], contents: list[object]) -> None:
        if descriptor < 0:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            with named(self.path):
                os.fsync(descriptor)
                changed = os.fstat(descriptor).st_mtime_ns
        finally:
            os.close(descriptor)
        self._synced = size
        lines = [_line(each) for each in ([size, changed, *bounds], *contents)]
        # Not synced: after a power cut it may be torn, which its checksums tell.
        replace_file(self._summary, b"".join(lines), sync=False)
        self._stored = size

    def sync(self) -> None:
        """Put what was written on the disk."""
        if self._synced != (size := self.size):
            super().sync()
            self._synced = size

    def remove(self) -> None:
        """Remove the file, what was stored of it, and what was set aside from it."""
        super().remove()
        for path in (self._summary, *self.path.parent.glob(f"{self.path.stem}.*{DAMAGED}")):
            path.unlink(missing_ok=True)

    def _mended(self, raw: bytes, found: Found, end: int | None) -> bytes:
        """Put a file without its damaged bytes in the place of the file; returns its content."""
        last = found[-1]
        torn = end is None and isinstance(last, Damage)
        kept = found[:-1] if torn else found
        pieces = [self._set_aside(raw, e) if isinstance(e, Damage) else raw[e[0] : e[0] + e[1].size] for e in kept]
        self.close(sync=False)
        if torn:
            at, size = last[:2]
            LOGGER.warning(
                "%s ended in %d bytes that are no whole batch, after a stop that was not in order: cut off at byte %d",
                self.path, size, at,
            )  # fmt: skip
        replace_file(self.path, b"".join(pieces))
        self._synced = self._stored = -1
        return b"".join(pieces)

    def _set_aside(self, raw: bytes, damage: Damage) -> bytes:
        """Keep damaged bytes in a file of their own; returns what takes their place."""
        at, size, first, following = damage
        kept = self.path.with_name(f"{self.path.stem}.{first}-{following}{DAMAGED}")
        if not kept.exists():
            replace_file(kept, raw[at : at + size])
        lost = f"offsets {first} to {following - 1} are lost" if following > first else "no offset is lost"
        LOGGER.error(
            "%s is damaged at byte %d: %d bytes were moved to %s, %s, everything else can be read; %s",
            self.path, at, size, kept, lost, "see docs/backup.md#damaged-files, and remove that file when you have",
        )  # fmt: skip
        return empty_batches(first, following)


def _nothing() -> None:
    """There is nothing to store."""


def _line(value: object) -> bytes:
    text = orjson.dumps(value)
    return b"%08x %b\n" % (zlib.crc32(text), text)


def _value(line: bytes) -> Any:
    """The value of a stored line; None where it is not as it was stored."""
    checksum, _, text = line.rstrip(b"\n").partition(b" ")
    return orjson.loads(text) if checksum == b"%08x" % zlib.crc32(text) else None
