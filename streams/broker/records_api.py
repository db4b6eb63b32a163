"""Requests about records: produce, producer ids, fetch with long poll, offsets by time."""

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from streams.broker import batch as batches
from streams.broker.errors import Code, RequestRefused
from streams.broker.topics import Topics
from streams.broker.wire import Answer, Decoded

T = TypeVar("T")

EARLIEST, LATEST = -2, -1
MAX_FETCH_BYTES = 16 * 1024 * 1024


def by_partition(topics: Iterable[Decoded] | None, answer: Callable[[str, Decoded], T]) -> list[tuple[str, list[T]]]:
    """One answer for each partition, in the order and nesting of the request."""
    return [(topic.name, [answer(topic.name, p) for p in topic.partitions or ()]) for topic in topics or ()]


class RecordsApi:
    def __init__(self, topics: Topics) -> None:
        self._topics = topics
        self._last_producer_id = 0

    def init_producer(self, request: Decoded) -> Answer:
        """An id for an idempotent producer; transactions are refused."""
        if request.transactional_id is not None:
            return 0, Code.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, -1, -1
        # Microseconds since the epoch, so that no id is repeated, not even by a later process.
        self._last_producer_id = max(self._last_producer_id + 1, time.time_ns() // 1_000)
        return 0, Code.NONE, self._last_producer_id, 0

    def produce(self, request: Decoded) -> Answer | None:
        answers = by_partition(request.topics, self._append)
        return None if request.acks == 0 else (answers, 0)

    def _append(self, name: str, p: Decoded) -> Answer:
        try:
            topic = self._topics.existing(name, first_use=True)
            log = self._topics.partition(name, p.index)
            batch = batches.accept(p.records, topic.setting("max.message.bytes"))
            offset = log.append(batch, p.records, topic.setting("segment.bytes"))
        except RequestRefused as e:
            return p.index, e.code, -1, -1, -1, (), e.message
        return p.index, Code.NONE, offset, -1, log.start, (), None

    async def fetch(self, request: Decoded) -> Answer:
        """The response once it has the requested minimum of bytes, or the wait is over."""
        if request.session > 0:
            # Sessions are optional: every fetch lists all its partitions, none is stored here.
            return 0, Code.FETCH_SESSION_ID_NOT_FOUND, 0, []
        grown = asyncio.Event()
        asked = [self._topics.find(t.name, p.index) for t in request.topics or () for p in t.partitions or ()]
        logs = [log for log in asked if log is not None]
        for log in logs:
            log.waiting.add(grown)
        try:
            async with asyncio.timeout(request.max_wait / 1000):
                while True:
                    if self._has_news(request):
                        answer, size = self._read(request)
                        if size >= request.min_bytes:
                            return answer
                    await grown.wait()
                    grown.clear()
        except TimeoutError:
            return self._read(request)[0]
        finally:
            for log in logs:
                log.waiting.discard(grown)

    def _has_news(self, request: Decoded) -> bool:
        """Whether any partition has a record, or an error, for this fetch: much cheaper than the response."""
        asked = ((p, self._topics.find(t.name, p.index)) for t in request.topics or () for p in t.partitions or ())
        return any(log is None or log.end != p.offset for p, log in asked)

    def _read(self, request: Decoded) -> tuple[Answer, int]:
        """The current response and its size in bytes; an error counts as enough."""
        left, got = min(request.max_bytes, MAX_FETCH_BYTES), 0

        def answer(name: str, p: Decoded) -> Answer:
            nonlocal got
            try:
                log = self._topics.partition(name, p.index)
                records = log.read(p.offset, min(p.max_bytes, left - got), whole_first=got == 0)
            except RequestRefused as e:
                got += max(request.min_bytes, 1)
                return p.index, e.code, -1, -1, -1, (), -1, b""
            got += len(records)
            return p.index, Code.NONE, log.end, log.end, log.start, (), -1, records

        return (0, Code.NONE, 0, by_partition(request.topics, answer)), got

    def list_offsets(self, request: Decoded) -> Answer:
        return 0, by_partition(request.topics, self._offset_of)

    def _offset_of(self, name: str, p: Decoded) -> tuple[int, Code, int, int]:
        log = self._topics.find(name, p.index)
        if log is None:
            return p.index, Code.UNKNOWN_TOPIC_OR_PARTITION, -1, -1
        if p.timestamp in (EARLIEST, LATEST):
            return p.index, Code.NONE, -1, log.start if p.timestamp == EARLIEST else log.end
        offset, timestamp = log.first_at_or_after(p.timestamp)
        return p.index, Code.NONE, timestamp, offset
