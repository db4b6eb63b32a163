"""What a fetch response's bytes become: records, and one record for each batch that no client can read."""

import gc
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import cramjam
import pytest
from aiokafka import TopicPartition
from aiokafka.consumer.fetcher import READ_COMMITTED, READ_UNCOMMITTED
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.envelope import UnreadableBatch
from streams.kafka.fetched_records import FetchedBytes, FetchedRecords
from streams.kafka.record_batches import HEADER_SIZE, UnreadableError, header, inflated
from tests.builders.batches import batch, changed
from tests.builders.examples import examples

TP = TopicPartition("messages.in", 3)
GZIP, SNAPPY, LZ4, ZSTD = 1, 2, 3, 4
TRANSACTIONAL, CONTROL = 0x10, 0x20
ABORT = b"\x00\x00\x00\x00"


def compressed(codec: int, squeeze: Callable[[bytes], Any], values: Sequence[bytes], base: int = 0) -> bytes:
    raw = batch(values, base)
    return changed(raw, records=bytes(squeeze(raw[HEADER_SIZE:])), attributes=codec)


def gzipped(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=31)
    return packer.compress(data) + packer.flush()


def xerial(data: bytes) -> bytes:
    blocks = [bytes(cramjam.snappy.compress_raw(data[at : at + 100])) for at in range(0, len(data), 100)]
    return b"\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01" + b"".join(len(b).to_bytes(4, "big") + b for b in blocks)


def read(
    *batches: bytes, at: int = 0, aborted: Any = None, isolation: int = READ_COMMITTED
) -> tuple[list[Any], FetchedRecords]:
    fetched = FetchedBytes(b"".join(batches))
    found = FetchedRecords(TP, fetched, aborted, at, None, None, True, isolation)
    return list(found) if fetched.has_next() else [], found


VALUES = [b"one " * 50, b"two", b"three"]
AFTER = batch([b"after"], 3)
READABLE = {
    "plain": batch(VALUES),
    "gzip": compressed(GZIP, gzipped, VALUES),
    "gzip of two members": changed(
        batch(VALUES), records=gzipped(batch(VALUES)[61:100]) + gzipped(batch(VALUES)[100:]), attributes=GZIP
    ),
    "snappy": compressed(SNAPPY, cramjam.snappy.compress_raw, VALUES),
    "snappy of Java": compressed(SNAPPY, xerial, VALUES),
    "lz4": compressed(LZ4, cramjam.lz4.compress, VALUES),
    "zstd": compressed(ZSTD, cramjam.zstd.compress, VALUES),
}


@pytest.mark.parametrize("raw", READABLE.values(), ids=READABLE)
def test_records_of_each_codec_are_read(raw: bytes) -> None:
    found, fetched = read(raw, AFTER)
    assert [(one.offset, one.value) for one in found] == [*enumerate(VALUES), (3, b"after")]
    assert [one.timestamp for one in found] == [1_000, 1_001, 1_002, 1_000]
    assert (found[0].key, found[0].topic, found[0].partition) == (b"key", "messages.in", 3)
    assert fetched.next_fetch_offset == 4


PLAIN = READABLE["plain"]
UNREADABLE = {
    "garbage with a right checksum": (changed(PLAIN, records=b"\xff" * 40), "cannot be parsed"),
    "a wrong checksum": (changed(PLAIN, crc=7), "checksum"),
    "no gzip": (changed(PLAIN, records=b"\x1f\x8b this is no gzip", attributes=GZIP), "gzip"),
    "gzip cut off": (changed(PLAIN, records=gzipped(PLAIN[61:])[:-12], attributes=GZIP), "too soon"),
    "no snappy": (changed(PLAIN, records=b"\xff" * 20, attributes=SNAPPY), "snappy"),
    "Java's snappy cut off": (changed(PLAIN, records=xerial(PLAIN[61:])[:-3], attributes=SNAPPY), "block"),
    "no lz4": (changed(PLAIN, records=b"\xff" * 20, attributes=LZ4), "lz4"),
    "no zstd": (changed(PLAIN, records=b"\xff" * 20, attributes=ZSTD), "zstd"),
    "a codec of the future": (changed(PLAIN, attributes=7), "codec 7"),
    "a format of the future": (changed(PLAIN, magic=3), "format 3"),
    "an old format": (changed(PLAIN, magic=1, base_offset=2), "format 1"),
    "a last record that is none": (changed(PLAIN, records=PLAIN[HEADER_SIZE:-9] + b"\xff" * 9), "cannot be parsed"),
}


@pytest.mark.parametrize(("raw", "why"), UNREADABLE.values(), ids=UNREADABLE)
def test_a_batch_that_cannot_be_read_becomes_one_record_and_what_follows_is_read(raw: bytes, why: str) -> None:
    found, fetched = read(raw, AFTER)
    kept = next(one for one in found if isinstance(one.value, UnreadableBatch))
    assert (kept.offset, bytes(kept.value)) == (2, raw)
    assert why in kept.value.why
    assert kept.value.first == len(found) - 2  # the records before the damage are read
    assert (kept.key, kept.headers) == (None, ())
    assert found[-1].value == b"after"
    assert fetched.next_fetch_offset == 4


def test_a_batch_that_is_cut_off_is_passed_over_where_it_is_first_and_left_where_it_is_last() -> None:
    cut = PLAIN[:-5]
    (kept,), fetched = read(cut)
    assert "states" in kept.value.why
    assert fetched.next_fetch_offset == 3
    found, fetched = read(PLAIN, AFTER[:-5])
    assert [one.offset for one in found] == [0, 1, 2]
    assert fetched.next_fetch_offset == 3


@pytest.mark.parametrize("length", [1, 11, 12, 60])
def test_fewer_bytes_than_a_header_are_passed_over(length: int) -> None:
    (kept,), fetched = read(PLAIN[:length], at=17)
    assert (kept.offset, kept.value.first, fetched.next_fetch_offset) == (17, 17, 18)


def test_a_broken_header_does_not_send_the_reader_beyond_the_log() -> None:
    raw = changed(PLAIN, last_delta=2_000_000_000, records=b"\xff" * 9, crc=1)
    _, fetched = read(changed(PLAIN, last_delta=-5, records=b"\xff" * 9))
    assert fetched.next_fetch_offset == 1
    assert read(raw)[1].next_fetch_offset > 0


@pytest.mark.parametrize(("codec", "squeeze"), [
    (GZIP, gzipped), (SNAPPY, cramjam.snappy.compress_raw), (SNAPPY, xerial), (LZ4, cramjam.lz4.compress),
    (ZSTD, cramjam.zstd.compress),
], ids=["gzip", "snappy", "snappy of Java", "lz4", "zstd"])  # fmt: skip
def test_a_batch_is_inflated_up_to_a_limit_and_no_further(codec: int, squeeze: Callable[[bytes], Any]) -> None:
    raw = changed(PLAIN, records=bytes(squeeze(b"\0" * 5_000)), attributes=codec)
    assert len(inflated(raw, header(raw), 5_000)) == HEADER_SIZE + 5_000
    with pytest.raises(UnreadableError, match="more than 4,999 bytes"):
        inflated(raw, header(raw), 4_999)


def test_a_header_without_a_value_is_read_as_an_empty_one() -> None:
    (one,), _ = read(batch([b"x"], headers=[("tenant", None), ("user_id", b"ana")]))
    assert one.headers == (("tenant", b""), ("user_id", b"ana"))


def test_what_was_rolled_back_is_not_read_and_markers_are_passed_over() -> None:
    mine, other = (batch([b"mine"], 0, producer_id=7, epoch=0, base_sequence=0, attributes=TRANSACTIONAL),
                   batch([b"other"], 1, producer_id=8, epoch=0, base_sequence=0, attributes=TRANSACTIONAL))  # fmt: skip
    marker = batch([b"\0" * 6], 2, producer_id=7, epoch=0, base_sequence=-1, attributes=TRANSACTIONAL | CONTROL)
    marker = changed(marker, records=marker[61:].replace(b"key", ABORT[:3]))
    again = batch([b"again"], 3, producer_id=7, epoch=0, base_sequence=1, attributes=TRANSACTIONAL)
    found, fetched = read(mine, other, marker, again, aborted=[(7, 0)])
    assert [one.value for one in found][:1] == [b"other"]
    found, fetched = read(mine, other, aborted=[(7, 0)])
    assert [one.value for one in found] == [b"other"]
    found, fetched = read(mine, other, marker, aborted=[(7, 0)], isolation=READ_UNCOMMITTED)
    assert [one.value for one in found] == [b"mine", b"other"]
    assert fetched.next_fetch_offset == 3


def test_a_record_beyond_the_offsets_of_its_batch_does_not_take_the_next_ones_place() -> None:
    found, _ = read(changed(batch([*VALUES, b"4"]), last_delta=2), AFTER)
    assert [one.value for one in found] == [*VALUES, b"after"]


def test_a_fetch_in_the_middle_of_a_batch_begins_there() -> None:
    found, _ = read(READABLE["zstd"], at=2)
    assert [one.offset for one in found] == [2]


def test_what_compaction_removed_at_the_end_of_a_batch_is_not_fetched_again() -> None:
    found, fetched = read(changed(batch([b"only"]), last_delta=9))
    assert [one.offset for one in found] == [0]
    assert fetched.next_fetch_offset == 10


def test_a_response_that_is_dropped_half_read_is_freed_at_once() -> None:
    """Aiokafka's own are freed by the collector alone, which counts objects and not their megabytes."""
    gc.collect()
    gc.disable()
    try:
        for _ in range(50):
            next(FetchedRecords(TP, FetchedBytes(PLAIN), None, 0, None, None, True, READ_COMMITTED))
        assert not [each for each in gc.get_objects() if type(each) is FetchedRecords]
    finally:
        gc.enable()


@given(st.binary(max_size=300), st.integers(0, 7))
@settings(max_examples=examples(400))
def test_no_bytes_end_the_reader_and_it_always_gets_further(hostile: bytes, codec: int) -> None:
    for raw in (hostile, changed(PLAIN, records=hostile, attributes=codec), PLAIN[:40] + hostile):
        found, fetched = read(raw, at=5)
        assert not raw or fetched.next_fetch_offset > 5 or not found
        assert all(one.offset >= 5 for one in found)
