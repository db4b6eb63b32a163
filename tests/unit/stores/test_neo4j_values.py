"""What goes to a Neo4j server is byte for byte what its driver sends of the same values."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neo4j._codec.hydration.bolt.v2.hydration_handler import HydrationHandler
from neo4j._codec.packstream.v1 import PackableBuffer, Packer
from neo4j.time import DateTime

from streams.stores.neo4j_values import EPOCH, native, sent
from tests.builders.examples import examples

NOON = datetime(2026, 3, 2, 12, 1, 2, 3456, tzinfo=UTC)
FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
TIMES = st.timedeltas(timedelta(0), LAST - FIRST).map(lambda since: FIRST + since)


def packed(value: Any) -> bytes:
    """The bytes that the driver sends for a value."""
    buffer = PackableBuffer()
    Packer(buffer).pack(value, HydrationHandler().new_hydration_scope().dehydration_hooks)
    return bytes(buffer.data)


@given(TIMES)
@settings(max_examples=examples(60), deadline=None)
def test_a_time_is_sent_as_the_driver_sends_it(at: datetime) -> None:
    assert packed(sent(at)) == packed(at)
    assert not isinstance(sent(at), datetime)


@pytest.mark.parametrize("at", [FIRST, EPOCH - timedelta(microseconds=1), EPOCH, LAST])
def test_times_before_the_epoch_and_at_both_ends_are_sent_alike(at: datetime) -> None:
    assert packed(sent(at)) == packed(at)


def test_rows_are_sent_as_they_are_with_the_times_of_each_place() -> None:
    rows = [
        {
            "id": "acme|1",
            "version": NOON,
            "props": {"at": NOON, "terms": ["a", "b"], "seq": 3, "share": 0.5, "no": None},
        },
        {"id": "acme|2", "version": 4, "props": {}, "each": [NOON, NOON + timedelta(days=1)], "kept": True},
    ]
    assert packed(sent(rows)) == packed(rows)
    assert rows[0]["version"] is NOON  # what was given is not changed


def test_a_time_of_another_zone_is_left_to_the_driver() -> None:
    away = NOON.astimezone(timezone(timedelta(hours=-3)))
    assert sent(away) is away
    assert isinstance(sent(NOON.replace(tzinfo=None)), datetime)


def test_a_time_that_comes_back_is_in_utc() -> None:
    found = native([{"at": DateTime.from_native(NOON.astimezone(timezone(timedelta(hours=2))))}])
    assert found == [{"at": NOON}]
