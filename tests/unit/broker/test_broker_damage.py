"""Damage in a log, kind by kind: what is around it is kept with its offsets, what is damaged is set aside and told."""

import asyncio
import os
from pathlib import Path

import pytest
from aiokafka import TopicPartition
from aiokafka.consumer.fetcher import READ_UNCOMMITTED
from aiokafka.record.default_records import DefaultRecordBatchBuilder

from streams.broker import damage
from streams.broker import segment as segments
from streams.broker.broker import Broker, BrokerSettings
from streams.broker.log import PartitionLog
from streams.broker.offsets import Committed, Offsets
from streams.kafka.fetched_records import FetchedBytes, FetchedRecords
from streams.kafka.record_batches import header
from tests.unit.broker.test_broker_storage import append, made

RECORDS = 12
LAST = RECORDS - 1
SEGMENT_BYTES = 1_000


class Written:
    """A log of twelve batches of one record each, three to a file, its writer ended in order."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        log = PartitionLog(directory)
        for number in range(RECORDS):
            append(log, made(number + 1, producer=(7, 0, number), size=200), SEGMENT_BYTES)
        log.close()

    @property
    def files(self) -> list[Path]:
        return sorted(self.directory.glob("*.log"))

    @property
    def aside(self) -> list[str]:
        return sorted(path.name for path in self.directory.glob("*.damaged"))

    def again(self, *, clean: bool = True) -> PartitionLog:
        return PartitionLog(self.directory, RECORDS if clean else None)


@pytest.fixture
def written(tmp_path: Path) -> Written:
    return Written(tmp_path / "log")


def readable(log: PartitionLog) -> list[int]:
    """The offsets that a reader gets, from the log's first offset to its end."""
    offsets: list[int] = []
    at = log.start
    while at < log.end:
        raw = log.read(at, 700, whole_first=True)
        records = FetchedRecords(
            TopicPartition("t", 0), FetchedBytes(raw), None, at, None, None, True, READ_UNCOMMITTED
        )
        offsets += [record.offset for record in records]
        assert records.next_fetch_offset > at
        at = records.next_fetch_offset
    return offsets


def flip(path: Path, at: int) -> None:
    raw = bytearray(path.read_bytes())
    raw[at] ^= 0xFF
    path.write_bytes(raw)


def place(path: Path, number: int) -> int:
    """Where a batch begins in a file."""
    raw, at = path.read_bytes(), 0
    for _ in range(number):
        at += header(raw, at).size
    return at


PAYLOAD, LENGTH, BASE_OFFSET, FORMAT, COUNT = 100, 9, 3, 16, 24


@pytest.mark.parametrize("clean", [True, False], ids=["clean", "killed"])
@pytest.mark.parametrize("file", [0, 1, -1], ids=["first", "earlier", "last"])
@pytest.mark.parametrize("byte", [PAYLOAD, LENGTH, LENGTH + 2, BASE_OFFSET, FORMAT, COUNT])
def test_a_batch_with_a_flipped_byte_is_set_aside_alone(
    written: Written, caplog: pytest.LogCaptureFixture, byte: int, file: int, clean: bool
) -> None:
    path = written.files[file]
    lost = int(path.stem) + 1
    raw, at, size = path.read_bytes(), place(path, 1), header(path.read_bytes()).size
    flip(path, at + byte)
    harmed = path.read_bytes()[at : at + size]
    log = written.again(clean=clean)
    assert readable(log) == [offset for offset in range(RECORDS) if offset != lost]
    assert written.aside == [f"{path.stem}.{lost}-{lost + 1}.damaged"]
    assert (written.directory / written.aside[0]).read_bytes() == harmed != raw[at : at + size]
    [said] = [each.message for each in caplog.records]
    assert f"{path} is damaged at byte {at}: {size} bytes" in said
    assert f"offsets {lost} to {lost} are lost" in said
    assert append(log, made(1)) == RECORDS
    log.close()
    caplog.clear()
    assert readable(PartitionLog(written.directory, RECORDS + 1)) == [o for o in range(RECORDS + 1) if o != lost]
    assert caplog.records == []


@pytest.mark.parametrize("byte", [PAYLOAD, LENGTH, BASE_OFFSET, FORMAT])
def test_the_offset_of_a_damaged_last_batch_is_not_given_again_after_a_clean_stop(written: Written, byte: int) -> None:
    path = written.files[-1]
    flip(path, place(path, 2) + byte)
    log = written.again()
    assert append(log, made(1)) == RECORDS
    assert readable(log) == [*range(LAST), RECORDS]
    assert written.aside == [f"{path.stem}.{LAST}-{RECORDS}.damaged"]


def test_the_rest_of_an_interrupted_write_is_cut_off_and_told(
    written: Written, caplog: pytest.LogCaptureFixture
) -> None:
    path = written.files[-1]
    whole, cut = path.read_bytes(), place(path, 2)
    path.write_bytes(whole[: cut + 30])
    log = written.again(clean=False)
    assert (log.end, written.aside) == (LAST, [])
    assert [each.message for each in caplog.records] == [
        f"{path} ended in 30 bytes that are no whole batch, after a stop that was not in order: cut off at byte {cut}"
    ]
    assert append(log, made(1, producer=(7, 0, LAST), size=200)) == LAST
    assert readable(log) == [*range(RECORDS)]


@pytest.mark.parametrize("file", [0, -1], ids=["first", "last"])
def test_of_a_file_that_was_cut_in_half_the_offsets_are_lost_and_not_given_again(written: Written, file: int) -> None:
    path = written.files[file]
    first, cut = int(path.stem), place(path, 2)
    path.write_bytes(path.read_bytes()[: cut - 40])
    log = written.again()
    assert readable(log) == [offset for offset in range(RECORDS) if offset not in (first + 1, first + 2)]
    assert written.aside == [f"{path.stem}.{first + 1}-{first + 3}.damaged"]
    assert append(log, made(1)) == RECORDS


@pytest.mark.parametrize("garbage", [b"\x17" * 100, bytes(4096), bytes(range(256)) * 40])
def test_garbage_behind_the_last_batch_is_set_aside_after_a_clean_stop(written: Written, garbage: bytes) -> None:
    path = written.files[-1]
    path.write_bytes(path.read_bytes() + garbage)
    log = written.again()
    assert append(log, made(1)) == RECORDS
    assert readable(log) == [*range(RECORDS + 1)]
    assert (written.directory / written.aside[0]).read_bytes() == garbage


def test_garbage_between_two_batches_costs_no_offset(written: Written) -> None:
    path = written.files[1]
    at, raw = place(path, 1), path.read_bytes()
    path.write_bytes(raw[:at] + b"\x17" * 33 + raw[at:])
    assert readable(written.again()) == [*range(RECORDS)]
    assert (written.directory / written.aside[0]).read_bytes() == b"\x17" * 33


@pytest.mark.parametrize("file", [1, -1], ids=["middle", "last"])
def test_a_file_that_is_missing_leaves_its_offsets_lost(written: Written, file: int) -> None:
    path = written.files[file]
    path.unlink()
    log = written.again()
    lost = range(int(path.stem), int(path.stem) + 3)
    assert readable(log) == [offset for offset in range(RECORDS) if offset not in lost]
    assert append(log, made(1)) == RECORDS


def test_a_folder_that_is_missing_does_not_begin_again_at_offset_0(written: Written) -> None:
    for path in written.directory.iterdir():
        path.unlink()
    written.directory.rmdir()
    assert append(written.again(), made(1)) == RECORDS


def test_several_damaged_batches_are_set_aside_one_by_one(written: Written) -> None:
    for path in written.files:
        flip(path, PAYLOAD)
    log = written.again()
    assert readable(log) == [offset for offset in range(RECORDS) if offset % 3]
    assert len(written.aside) == len(written.files)


def test_a_batch_within_a_damaged_record_is_not_taken_for_one_of_the_log(tmp_path: Path) -> None:
    # What a dead letter holds may be a batch.
    log = PartitionLog(tmp_path / "log")
    inner = (1).to_bytes(8, "big") + made(1)[8:]
    builder = DefaultRecordBatchBuilder(2, 0, 0, -1, -1, -1, 1 << 24)
    builder.append(0, 1, None, inner + b"and more", [])
    for raw in (bytes(builder.build()), made(1), made(1)):
        append(log, raw)
    log.close()
    [path] = (tmp_path / "log").glob("*.log")
    flip(path, LENGTH)
    assert readable(PartitionLog(tmp_path / "log", 3)) == [1, 2]


def test_what_was_restored_from_a_backup_is_read_again(written: Written) -> None:
    path = written.files[1]
    backup = path.read_bytes()
    flip(path, PAYLOAD)
    written.again().close()
    path.write_bytes(backup)
    assert readable(written.again()) == [*range(RECORDS)]


def test_damage_that_comes_while_the_broker_runs_is_set_aside_when_it_is_read(written: Written) -> None:
    path, then = written.files[1], written.files[1].stat()
    log = written.again()
    flip(path, place(path, 1) + PAYLOAD)
    flip(written.files[2], LENGTH)
    lost = int(path.stem) + 1, int(written.files[2].stem)
    assert readable(log) == [offset for offset in range(RECORDS) if offset not in lost]
    assert len(written.aside) == 2
    assert then.st_size != path.stat().st_size


def test_damage_that_changes_no_time_of_a_file_is_set_aside_when_it_is_read(written: Written) -> None:
    path, then = written.files[1], written.files[1].stat()
    flip(path, place(path, 1) + PAYLOAD)
    os.utime(path, ns=(then.st_atime_ns, then.st_mtime_ns))
    log = written.again()
    assert written.aside == []
    assert readable(log) == [offset for offset in range(RECORDS) if offset != int(path.stem) + 1]
    assert len(written.aside) == 1


def test_retention_and_deletion_take_what_was_set_aside_with_them(written: Written) -> None:
    flip(written.files[0], PAYLOAD)
    log = written.again()
    assert len(written.aside) == 1
    log.retain(-1, 300, 0.0)
    assert written.aside == []
    log.remove()
    assert not written.directory.exists()


# What a start reads


def counted(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that are examined from now on."""
    examined: list[Path] = []
    own = segments.Segment.examine

    def examine(self: segments.Segment, end: int | None) -> object:
        examined.append(self.path)
        return own(self, end)

    monkeypatch.setattr(segments.Segment, "examine", examine)
    return examined


def test_after_a_clean_stop_no_batch_is_read(written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    examined = counted(monkeypatch)
    log = written.again()
    assert examined == []
    assert log.end == RECORDS
    # Repeats are known as before.
    assert append(log, made(1, producer=(7, 0, LAST))) == LAST


def test_after_a_kill_the_last_file_is_read_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = PartitionLog(tmp_path / "log")
    for number in range(RECORDS):
        append(log, made(number + 1, producer=(7, 0, number), size=200), SEGMENT_BYTES)
    examined = counted(monkeypatch)
    again = PartitionLog(tmp_path / "log")
    assert examined == [log._segments[-1].path]
    assert again.first_at_or_after(2) == (1, 2)
    assert readable(again) == [*range(RECORDS)]
    assert append(again, made(1, producer=(7, 0, LAST))) == LAST


def test_a_log_of_an_earlier_version_is_read_once(written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in written.directory.glob("*.index"):
        path.unlink()
    examined = counted(monkeypatch)
    log = written.again(clean=False)
    assert examined == written.files
    assert readable(log) == [*range(RECORDS)]
    log.close()
    examined.clear()
    assert readable(written.again()) == [*range(RECORDS)]
    assert examined == []


@pytest.mark.parametrize("line", [0, 1, 2])
def test_a_damaged_index_costs_a_reading_of_its_file_and_nothing_else(written: Written, line: int) -> None:
    for path in written.directory.glob("*.index"):
        lines = path.read_bytes().split(b"\n")
        lines[line] = lines[line][:-3] + b"9" + lines[line][-2:]
        path.write_bytes(b"\n".join(lines))
    log = written.again()
    assert readable(log) == [*range(RECORDS)]
    assert append(log, made(1, producer=(7, 0, LAST))) == LAST
    assert written.aside == []


# The stop and the committed offsets


def broker_of(directory: Path) -> Broker:
    return Broker(BrokerSettings(directory))


def test_a_clean_stop_leaves_a_mark_and_a_start_removes_it(tmp_path: Path) -> None:
    async def life() -> None:
        broker = broker_of(tmp_path)
        await broker.start()
        assert not (tmp_path / "clean-stop.json").exists()
        broker._topics.create("t", 2, {})
        append(broker._topics.partition("t", 0), made(1, 2))
        await broker.stop()
        assert (tmp_path / "clean-stop.json").read_bytes() == b'{"t-0":2,"t-1":0}'

    asyncio.run(life())
    asyncio.run(life_again(tmp_path))


async def life_again(directory: Path) -> None:
    # A start that fails, as where its port is taken, has written nothing: it keeps the mark.
    os.close(broker_of(directory)._lock)
    broker = broker_of(directory)
    assert (directory / "clean-stop.json").exists()
    assert broker._topics.partition("t", 0).end == 2
    # A topic that is deleted and made again begins at 0, whatever the mark said of the first.
    broker._topics.delete("t")
    broker._topics.create("t", 2, {})
    assert broker._topics.partition("t", 0).end == 0
    await broker.start()
    assert not (directory / "clean-stop.json").exists()
    await broker.stop()


def test_a_stop_that_could_not_reach_the_disk_leaves_no_mark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_: int) -> None:
        raise OSError(5, "Input/output error")

    async def life() -> None:
        broker = broker_of(tmp_path)
        await broker.start()
        broker._topics.create("t", 1, {})
        append(broker._topics.partition("t", 0), made(1))
        monkeypatch.setattr(os, "fsync", broken)
        await broker.stop()
        assert not (tmp_path / "clean-stop.json").exists()

    asyncio.run(life())
    assert "check the disk" in caplog.text


def test_a_closed_file_that_cannot_reach_the_disk_is_told_and_the_log_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def life() -> None:
        broker = broker_of(tmp_path)
        await broker.start()
        broker._topics.create("t", 1, {"segment.bytes": "1024"})
        log = broker._topics.partition("t", 0)
        own, threads = os.fsync, []

        def refused(descriptor: int) -> None:
            threads.append(asyncio._get_running_loop())
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(os, "fsync", refused)
        for _ in range(8):
            append(log, made(1, size=300), 1024)
        broker._disk.wait()
        monkeypatch.setattr(os, "fsync", own)
        # Never in the event loop, whose heartbeats it would hold up.
        assert set(threads) == {None}
        assert readable(log) == [*range(8)]
        await broker.stop()

    asyncio.run(life())
    assert f"the disk refuses: [Errno 5] Input/output error: '{tmp_path / 'logs' / 't-0'}" in caplog.text
    assert readable(PartitionLog(tmp_path / "logs" / "t-0", 8)) == [*range(8)]


def test_what_was_committed_beyond_the_end_of_a_log_is_moved_back_to_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    # A power cut: the offset was on the disk, the records below it were not.
    first = Offsets(tmp_path)
    first.commit("g", {("t", 0): Committed(1_000), ("t", 1): Committed(5), ("u", 0): Committed(9)})
    ends = {("t", 0): 990, ("t", 1): 5}
    second = Offsets(tmp_path)
    second.cut_to(lambda topic, partition: ends.get((topic, partition)))
    second.close()
    assert Offsets(tmp_path).of("g") == {
        ("t", 0): Committed(990), ("t", 1): Committed(5), ("u", 0): Committed(9),
    }  # fmt: skip
    assert "group g had committed 1000 of t-0, whose log ends at 990" in caplog.text


def test_committed_offsets_reach_the_disk_after_the_records_below_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def life() -> None:
        broker = broker_of(tmp_path)
        await broker.start()
        broker._topics.create("t", 1, {})
        log = broker._topics.partition("t", 0)
        monkeypatch.setattr("streams.broker.offsets.COMPACT_ABOVE", 10)
        synced: list[int] = []
        own = os.fsync

        def fsync(descriptor: int) -> None:
            synced.append(os.fstat(descriptor).st_ino)
            own(descriptor)

        monkeypatch.setattr(os, "fsync", fsync)
        for number in range(20):
            append(log, made(1))
            broker._offsets.commit("g", {("t", 0): Committed(number + 1)})
        assert broker._offsets.outgrown
        await broker._compact()
        written = (*(tmp_path / "logs" / "t-0").glob("*.log"), tmp_path / "offsets.jsonl")
        assert synced[:2] == [path.stat().st_ino for path in written]
        assert len((tmp_path / "offsets.jsonl").read_bytes().splitlines()) == 1
        await broker.stop()
        assert Offsets(tmp_path).of("g") == {("t", 0): Committed(20)}

    asyncio.run(life())


def test_a_damaged_line_of_the_offsets_costs_that_commit_only(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    offsets = Offsets(tmp_path)
    for number in range(3):
        offsets.commit("g", {("t", 0): Committed(number), ("u", 0): Committed(number)})
    offsets.close()
    path = tmp_path / "offsets.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], b'["g","t"\xff0,1,"",-1]\n', b'["g"]\n', *lines[4:]]))
    before = path.read_bytes()
    assert Offsets(tmp_path).of("g") == {("t", 0): Committed(2), ("u", 0): Committed(2)}
    assert (tmp_path / "offsets.jsonl.damaged").read_bytes() == before
    assert f"{path} is damaged at byte {len(lines[0]) + len(lines[1])}: 2 of its lines" in caplog.text
    caplog.clear()
    Offsets(tmp_path)
    assert caplog.records == []


# What stands in the place of what is lost


def test_an_empty_batch_covers_its_offsets_however_many() -> None:
    for first, following in ((0, 1), (5, 9), (7, 2**31 + 7), (0, 2**32 + 1)):
        raw, at, expected = damage.empty_batches(first, following), 0, first
        while at < len(raw):
            batch = damage.sound(raw, at)
            assert batch is not None
            assert batch.base_offset == expected
            expected, at = batch.next_offset, at + batch.size
        assert expected == following
    assert damage.empty_batches(3, 3) == b""
