"""Logs, journals and producer ids on a directory, without a socket."""

import os
import resource
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.util import calc_crc32c

from streams.broker import batch as batches
from streams.broker.errors import Code, RequestRefused
from streams.broker.journal import Journal
from streams.broker.log import MAX_PRODUCERS, PartitionLog
from streams.broker.offsets import COMPACT_ABOVE, Committed, Offsets
from streams.broker.records_api import RecordsApi
from streams.broker.topics import Topics
from streams.kafka.record_batches import HEADER_SIZE, Batch, header

BIG = 1 << 30


def made(*timestamps: int, producer: tuple[int, int, int] = (-1, -1, -1), size: int = 10) -> bytes:
    builder = DefaultRecordBatchBuilder(2, 0, 0, *producer, 1 << 24)
    for at, when in enumerate(timestamps):
        builder.append(at, when, None, b"v" * size, [])
    return bytes(builder.build())


def signed(raw: bytes, at: int, code: str, value: int) -> bytes:
    """The batch with one header field changed, and a CRC to match."""
    changed = bytearray(raw)
    struct.pack_into(code, changed, at, value)
    struct.pack_into(">I", changed, 17, calc_crc32c(bytes(changed[21:])))
    return bytes(changed)


def append(log: PartitionLog, raw: bytes, segment_bytes: int = BIG) -> int:
    return log.append(batches.accept(raw, BIG), raw, segment_bytes)


def walk(raw: bytes) -> Iterator[tuple[int, Batch]]:
    """Position and header of each whole batch."""
    at = 0
    while at + HEADER_SIZE <= len(raw) and at + (batch := header(raw, at)).size <= len(raw):
        yield at, batch
        at += batch.size


def offsets_in(raw: bytes) -> list[int]:
    return [batch.base_offset for _, batch in walk(raw)]


@contextmanager
def disk_full_after(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


# Batches


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        pytest.param(None, Code.CORRUPT_MESSAGE, id="null"),
        pytest.param(made(1)[:40], Code.CORRUPT_MESSAGE, id="cut-header"),
        pytest.param(made(1)[:-1], Code.CORRUPT_MESSAGE, id="cut-records"),
        pytest.param(made(1) + made(1), Code.CORRUPT_MESSAGE, id="two"),
        pytest.param(signed(made(1), 16, "b", 1), Code.INVALID_RECORD, id="old-format"),
        pytest.param(signed(made(1), 57, ">i", 0), Code.INVALID_RECORD, id="none"),
        pytest.param(signed(made(1), 23, ">i", 5), Code.INVALID_RECORD, id="last-offset"),
        pytest.param(signed(made(1), 21, ">h", 0x20), Code.INVALID_RECORD, id="control"),
        pytest.param(signed(made(1), 21, ">h", 0x10), Code.INVALID_RECORD, id="transactional"),
        pytest.param(
            signed(signed(made(1), 57, ">i", 2**31 - 1), 23, ">i", 2**31 - 2), Code.INVALID_RECORD, id="forged-count"
        ),
    ],
)
def test_what_is_not_one_sound_batch_is_refused(raw: bytes | None, code: Code) -> None:
    with pytest.raises(RequestRefused) as refused:
        batches.accept(raw, BIG)
    assert refused.value.code == code


def test_a_search_by_time_in_garbled_or_compressed_records_is_early_never_an_error() -> None:
    garbled = made(10, 20)
    garbled = signed(garbled[:62] + b"\xff" * (len(garbled) - 62), 21, ">h", 0)
    compressed = signed(made(10, 20), 21, ">h", 1)
    for raw in (garbled, compressed):
        assert batches.first_at_or_after(raw, 15) == (0, 20)
    assert batches.first_at_or_after(made(10, 20), 15) == (1, 20)


# Logs


def test_a_read_starts_with_the_batch_that_holds_the_offset(tmp_path: Path) -> None:
    for cached in (True, False):
        log = PartitionLog(tmp_path / f"log-{cached}")
        for _ in range(50):
            append(log, made(1, 2, 3, size=200))
        if not cached:
            log.close()
            log = PartitionLog(tmp_path / f"log-{cached}")
        assert offsets_in(log.read(76, 1 << 20, whole_first=True))[0] == 75
        assert offsets_in(log.read(76, 1500, whole_first=True)) == [75, 78]
        assert offsets_in(log.read(76, 1, whole_first=True)) == [75]
        assert log.read(76, 1, whole_first=False) == b""
        assert log.read(150, 1500, whole_first=True) == b""


@pytest.mark.parametrize("budget", [1 << 20, 100_000, 5_000, 1_200, 1])
def test_reads_of_any_size_bring_every_batch_once_and_whole(tmp_path: Path, budget: int) -> None:
    log = PartitionLog(tmp_path / "log")
    for size in [1000, 10, 6000, 10] * 100:
        append(log, made(1, size=size))
    got: list[int] = []
    while len(got) < 400:
        piece = log.read(len(got), budget, whole_first=True)
        assert len(piece) <= budget or len(offsets_in(piece)) == 1
        assert piece == b"".join(piece[at : at + batch.size] for at, batch in walk(piece))
        got += offsets_in(piece)
    assert got == list(range(400))


def test_a_search_by_time_skips_what_is_older_in_every_segment(tmp_path: Path) -> None:
    log = PartitionLog(tmp_path / "log")
    for start in range(0, 100_000, 100):
        append(log, made(start, start + 50, size=50), segment_bytes=20_000)
    assert len(log._segments) > 3
    for wanted, found in ((0, (0, 0)), (50_001, (1001, 50_050)), (99_950, (1999, 99_950)), (99_951, (-1, -1))):
        assert log.first_at_or_after(wanted) == found


def test_a_full_disk_refuses_the_batch_and_leaves_no_half_of_it(tmp_path: Path) -> None:
    log = PartitionLog(tmp_path / "log")
    append(log, made(1, size=1000))
    with disk_full_after(1500), pytest.raises(RequestRefused) as refused:
        append(log, made(2, size=1000))
    assert refused.value.code == Code.KAFKA_STORAGE_ERROR
    assert append(log, made(3, size=1000)) == 1
    log.close()
    assert offsets_in(PartitionLog(tmp_path / "log").read(0, BIG, whole_first=True)) == [0, 1]


def test_of_too_many_producers_the_latest_are_known(tmp_path: Path) -> None:
    log = PartitionLog(tmp_path / "log")
    for producer in range(MAX_PRODUCERS + 1):
        append(log, made(1, producer=(producer, 0, 0)))
    assert append(log, made(1, producer=(1, 0, 0))) == 1
    assert append(log, made(1, producer=(0, 0, 0))) == MAX_PRODUCERS + 1
    log.close()
    assert append(PartitionLog(tmp_path / "log"), made(1, producer=(0, 0, 0))) == MAX_PRODUCERS + 1


# Journals


def test_a_journal_on_a_full_disk_loses_the_entry_and_stays_whole(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    journal.append(["first"])
    with disk_full_after(12), pytest.raises(RequestRefused):
        journal.append(["x" * 100])
    journal.append(["last"])
    assert Journal(tmp_path / "journal").replay() == ["first", "last"]


def test_the_offsets_journal_is_compacted_and_keeps_only_the_last_offset(tmp_path: Path) -> None:
    offsets = Offsets(tmp_path)
    commits = COMPACT_ABOVE // 10 + 100
    for offset in range(commits):
        offsets.commit("g", {("t", p): Committed(offset) for p in range(10)})
    assert offsets.outgrown
    offsets.compact(offsets.latest())
    assert len((tmp_path / "offsets.jsonl").read_bytes().splitlines()) < 2_000
    assert Offsets(tmp_path).of("g") == {("t", p): Committed(commits - 1) for p in range(10)}


def test_a_deleted_topic_takes_its_offsets_with_it(tmp_path: Path) -> None:
    offsets = Offsets(tmp_path)
    offsets.commit("g", {("t", 0): Committed(3), ("u", 0): Committed(4)})
    offsets.forget_topic("t")
    assert Offsets(tmp_path).of("g") == {("u", 0): Committed(4)}


# Producer ids


def test_producer_ids_are_never_given_twice(tmp_path: Path) -> None:
    asked = SimpleNamespace(transactional_id=None)
    given = []
    for _ in range(3):
        records = RecordsApi(Topics(tmp_path))
        given += [records.init_producer(asked)[2] for _ in range(5)]
    assert len(set(given)) == len(given) == 15


# Files


def test_files_are_private_even_where_the_process_is_careless(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        Topics(tmp_path)
        offsets = Offsets(tmp_path)
        offsets.commit("g", {("t", 0): Committed(1)})
        append(PartitionLog(tmp_path / "logs" / "t-0"), made(1))
    finally:
        os.umask(before)
    modes = {path.relative_to(tmp_path).as_posix(): path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    assert modes == {
        "logs": 0o700,
        "logs/t-0": 0o700,
        "logs/t-0/00000000000000000000.log": 0o600,
        "offsets.jsonl": 0o600,
        "topics.jsonl": 0o600,
    }
