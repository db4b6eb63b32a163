"""The journal of what a process has in hand: a file in shared memory, which outlives it.

A stage writes a record's position when it begins to handle it and clears it when it is done: two stores into a mapped
page, no flush and no system call. The page stays when the process is killed, has too little memory or faults; it does
not outlive the machine. Whoever holds the lock of the file is alive: process ids are used again, and each container has
the same ones.

    FOLDER/<deployment>-<pid>-<random>.fault     the traceback of a segmentation fault, an abort or the like; else empty
    FOLDER/<deployment>-<pid>-<random>.journal
    names (JSON, zero bytes behind), then words of eight bytes: the slot of the record that is alone, then a slot for
    each record in hand; a slot is `stage + 1 << 48 | topic << 32 | partition`, 0 where it is free, and the offset
"""

import faulthandler
import fcntl
import json
import mmap
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, NamedTuple, Self
from uuid import uuid4

NAMES_BYTES, WORD, SLOTS = 16_384, 8, 32_768
SIZE = NAMES_BYTES + 2 * WORD * (SLOTS + 1)
SUFFIX, UNFINISHED, FAULT = ".journal", ".new", ".fault"


class InHand(NamedTuple):
    """A record in the hands of a stage: its position in the log, and who handles it."""

    stage: str
    topic: str
    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.stage} {self.topic} {self.partition} {self.offset}"

    @classmethod
    def of(cls, text: str) -> Self:
        """The record that `str` wrote; raises `ValueError`."""
        stage, topic, partition, offset = text.split(" ")
        return cls(stage, topic, int(partition), int(offset))


class InHandJournal:
    """The journal of this process, in any memory; stages are known by their numbers in `names`."""

    def __init__(self, memory: memoryview, names: tuple[Sequence[str], Sequence[str]] = ((), ())) -> None:
        self._words = memory.cast("Q")
        self._stages, self._topics = ({name: number for number, name in enumerate(each)} for each in names)
        # Slots are used again, the last one first: few pages are touched.
        self._free: list[int] = []
        self._used = 0

    @classmethod
    def private(cls) -> Self:
        """A journal that ends with its process."""
        return cls(memoryview(bytearray(2 * WORD * 64)))

    @property
    def in_hand(self) -> int:
        """The number of records in hand."""
        return self._used - len(self._free)

    def place(self, stage: str, topic: str) -> int:
        """The word of a stage's records of a topic, to which their partition is added."""
        return (self._stages.get(stage, 0) + 1) << 48 | self._topics.get(topic, 0) << 32

    def begin(self, place: int, offset: int) -> int:
        """Take a record in hand; returns the slot for `end`."""
        slot = self._free.pop() if self._free else self._another()
        words = self._words
        words[slot + 1] = offset
        words[slot] = place
        return slot

    def end(self, slot: int) -> int:
        """Put a record out of hand; returns -1, the slot of none."""
        self._words[slot] = 0
        self._free.append(slot)
        return -1

    def alone(self, place: int, offset: int) -> None:
        """Name the record that no other was begun beside; `place` 0: there is none."""
        self._words[1] = offset
        self._words[0] = place

    def _another(self) -> int:
        # Beyond the last slot records share one: of so many in hand that one tells nothing.
        self._used += 1
        return min(2 * self._used, len(self._words) - 2)


@dataclass(slots=True)
class JournalFile:
    """The journal of this process in a folder, locked until `close`."""

    journal: InHandJournal
    _path: Path
    _file: int
    _fault: BinaryIO

    def close(self) -> None:
        """End in order: nothing is in hand, and nothing stays."""
        if self._file >= 0:
            faulthandler.disable()
            self._fault.close()
            _remove(self._path)
            os.close(self._file)
            self._file = -1


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.with_suffix(FAULT).unlink(missing_ok=True)


def deployment(*addresses: str) -> str:
    """A name of what workers share, so that those of another broker do not read their journals."""
    return sha256(" ".join(addresses).encode()).hexdigest()[:12]


def opened(folder: Path, shared: str, stages: Sequence[str], topics: Sequence[str]) -> JournalFile:
    """A new journal in a folder, which is made; raises `OSError`."""
    _private(folder)
    path = folder / f"{shared}-{os.getpid()}-{uuid4().hex[:8]}{SUFFIX}"
    unfinished = path.with_suffix(UNFINISHED)
    file = os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        names = json.dumps({"stages": list(stages), "topics": list(topics)}).encode()
        os.pwrite(file, names[:NAMES_BYTES], 0)
        os.ftruncate(file, SIZE)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        mapped = mmap.mmap(file, SIZE)
        # Under its name only with its lock: else another worker could take it for one that was left behind.
        unfinished.rename(path)
        fault = path.with_suffix(FAULT).open("wb")
        faulthandler.enable(fault, all_threads=False)
    except BaseException:
        os.close(file)
        unfinished.unlink(missing_ok=True)
        raise
    return JournalFile(InHandJournal(memoryview(mapped)[NAMES_BYTES:], (stages, topics)), path, file, fault)


def _private(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    found = folder.lstat()
    # In a folder that all may write to, the name could be another user's, or lead elsewhere.
    if found.st_uid != os.geteuid() or not stat.S_ISDIR(found.st_mode):
        raise PermissionError(f"{folder} is no directory of this user")


@dataclass(slots=True)
class LeftBehind:
    """The journal of a dead process, locked by us: what it had in hand, which of it was alone, and whether it faulted.

    `faulted` tells a fault of its own from a kill, which may come from outside.
    """

    in_hand: frozenset[InHand]
    alone: InHand | None
    faulted: bool
    _path: Path
    _file: int

    def discard(self) -> None:
        """Remove it: what it says is known elsewhere now."""
        _remove(self._path)
        self.keep()

    def keep(self) -> None:
        """Leave it to whoever starts next."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def left_behind(folder: Path, shared: str) -> Iterator[LeftBehind]:
    """The journals in a folder whose processes ended without closing them."""
    for path in sorted(folder.glob(f"{shared}-*{SUFFIX}")):
        with suppress(OSError):
            file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                there = path.stat().st_ino == os.fstat(file).st_ino
            except OSError:
                there = False
            if not there:
                os.close(file)
                continue
            in_hand, alone = _read(os.pread(file, SIZE, 0))
            yield LeftBehind(in_hand, alone, _faulted(path), path, file)


def _faulted(path: Path) -> bool:
    try:
        return path.with_suffix(FAULT).stat().st_size > 0
    except OSError:
        return False


def _read(raw: bytes) -> tuple[frozenset[InHand], InHand | None]:
    try:
        names = json.loads(raw[:NAMES_BYTES].rstrip(b"\0"))
        words = memoryview(raw)[NAMES_BYTES:].cast("Q")
        found = [_record(names, words[at], words[at + 1]) for at in range(0, len(words), 2) if words[at]]
        named = words[0] != 0
    except (ValueError, KeyError, IndexError, TypeError):
        return frozenset(), None  # another version's, or cut off
    alone = found[0] if named else None
    in_hand = frozenset(found[1:] if named else found)
    return in_hand, alone if alone in in_hand else None


def _record(names: dict[str, list[str]], place: int, offset: int) -> InHand:
    stage, topic = (place >> 48) - 1, place >> 32 & 0xFFFF
    return InHand(names["stages"][stage], names["topics"][topic], place & 0xFFFFFFFF, offset)
