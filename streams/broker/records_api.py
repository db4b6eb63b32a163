"""Requests about records: produce, fetch with long poll, offsets by time, deletion of old records."""

import asyncio
from typing import Any

from streams.broker import batch as batches
from streams.broker.errors import Code, RequestRefused
from streams.broker.log import PartitionLog
from streams.broker.topics import Topics
from streams.broker.transactions import Transactions

READ_COMMITTED = 1
EARLIEST, LATEST = -2, -1
LARGEST_FETCH = 16 * 1024 * 1024


class RecordsApi:
    def __init__(self, topics: Topics, transactions: Transactions, auto_create: bool) -> None:
        self._topics, self._transactions, self._auto_create = topics, transactions, auto_create

    def produce(self, request: Any) -> Any:
        answers = [
            (topic.name, [self._append(topic.name, p.index, p.records) for p in topic.partitions or ()])
            for topic in request.topics or ()
        ]
        return None if request.acks == 0 else (answers, 0)

    def _append(self, name: str, index: int, records: bytes | None) -> tuple[Any, ...]:
        try:
            if self._auto_create and name not in self._topics.by_name:
                self._topics.create(name, -1, {})
            log = self._topics.partition(name, index)
            topic = self._topics.by_name[name]
            batch = batches.accept(records, topic.max_message_bytes)
            if batch.transactional:
                self._transactions.may_write(batch.producer_id, batch.epoch, (name, index))
            offset = log.append(batch, records or b"", topic.segment_bytes)
        except RequestRefused as e:
            return index, e.code, -1, -1, -1, (), e.message
        return index, Code.NONE, offset, -1, log.start, (), None

    def fetch(self, request: Any) -> Any:
        if request.session > 0:
            # Sessions are optional: every fetch names all its partitions, none is kept here.
            return 0, Code.FETCH_SESSION_ID_NOT_FOUND, 0, []
        if request.max_wait <= 0 or self.has_news(request):
            answer, size = self.read(request)
            if size >= request.min_bytes or request.max_wait <= 0:
                return answer
        return LongPoll(self, request).future

    def has_news(self, request: Any) -> bool:
        """Whether any partition has a record, or an error, for this fetch: much cheaper than to answer it."""
        committed = request.isolation == READ_COMMITTED
        for topic in request.topics or ():
            known = self._topics.by_name.get(topic.name)
            for p in topic.partitions or ():
                if known is None or not 0 <= p.index < len(known.partitions):
                    return True
                log = known.partitions[p.index]
                if p.offset < (log.last_stable if committed else log.end) or p.offset > log.end:
                    return True
        return False

    def read(self, request: Any) -> tuple[Any, int]:
        """The answer now, and how many bytes it brings; an error counts as enough."""
        left, got, answers = min(request.max_bytes, LARGEST_FETCH), 0, []
        for topic in request.topics or ():
            partitions = []
            for p in topic.partitions or ():
                budget = min(p.max_bytes, left)
                answer = self._read_one(topic.name, p, request.isolation, budget, whole_first=got == 0)
                size = len(answer[-1]) if answer[1] == Code.NONE else max(request.min_bytes, 1)
                left, got = left - size, got + size
                partitions.append(answer)
            answers.append((topic.name, partitions))
        return (0, Code.NONE, 0, answers), got

    def _read_one(self, name: str, p: Any, isolation: int, budget: int, whole_first: bool) -> tuple[Any, ...]:
        try:
            log = self._topics.partition(name, p.index)
            if not log.start <= p.offset <= log.end:
                raise RequestRefused(Code.OFFSET_OUT_OF_RANGE)
            stable = log.last_stable
            committed = isolation == READ_COMMITTED
            limit = stable if committed else log.end
            records = log.read(p.offset, limit, budget, whole_first)
        except RequestRefused as e:
            return p.index, e.code, -1, -1, -1, None, -1, b""
        aborted = log.producers.aborted_between(p.offset, limit) if committed and records else []
        return (p.index, Code.NONE, log.end, stable, log.start, aborted if committed else None, -1, records)

    def logs(self, request: Any) -> list[PartitionLog]:
        known = self._topics.by_name
        return [
            known[topic.name].partitions[p.index]
            for topic in request.topics or ()
            for p in topic.partitions or ()
            if topic.name in known and 0 <= p.index < len(known[topic.name].partitions)
        ]

    def list_offsets(self, request: Any) -> Any:
        return 0, [
            (t.name, [self._offset_of(t.name, p, request.isolation) for p in t.partitions or ()])
            for t in request.topics or ()
        ]

    def _offset_of(self, name: str, p: Any, isolation: int) -> tuple[int, Code, int, int]:
        try:
            log = self._topics.partition(name, p.index)
        except RequestRefused as e:
            return p.index, e.code, -1, -1
        if p.timestamp == LATEST:
            end = log.last_stable if isolation == READ_COMMITTED else log.end
            return p.index, Code.NONE, -1, end
        if p.timestamp == EARLIEST:
            return p.index, Code.NONE, -1, log.start
        offset, timestamp = log.first_at_or_after(p.timestamp)
        return p.index, Code.NONE, timestamp, offset

    def delete_records(self, request: Any) -> Any:
        return 0, [
            (t.name, [self._delete_before(t.name, p.index, p.offset) for p in t.partitions or ()])
            for t in request.topics or ()
        ]

    def _delete_before(self, name: str, index: int, offset: int) -> tuple[int, int, Code]:
        try:
            return index, self._topics.delete_records(name, index, offset), Code.NONE
        except RequestRefused as e:
            return index, -1, e.code


class LongPoll:
    """A fetch that waits: for its partitions to grow to what was asked, or for its time to run out."""

    def __init__(self, api: RecordsApi, request: Any) -> None:
        self._api, self._request = api, request
        self._loop = asyncio.get_running_loop()
        self._woken = False
        self._timer = self._loop.call_later(request.max_wait / 1000, self._answer)
        self._logs = api.logs(request)
        self._watch()
        self.future: asyncio.Future[Any] = self._loop.create_future()
        self.future.add_done_callback(self._release)

    def _watch(self) -> None:
        for log in self._logs:
            log.waiting.add(self._wake)

    def _wake(self) -> None:
        # Once per turn of the loop: one produce request may well fill several of our partitions.
        if not self._woken:
            self._woken = True
            self._loop.call_soon(self._retry)

    def _retry(self) -> None:
        self._woken = False
        if self.future.done():
            return
        if self._api.has_news(self._request):
            answer, size = self._api.read(self._request)
            if size >= self._request.min_bytes:
                self.future.set_result(answer)
                return
        self._watch()

    def _answer(self) -> None:
        if not self.future.done():
            self.future.set_result(self._api.read(self._request)[0])

    def _release(self, _future: asyncio.Future[Any]) -> None:
        self._timer.cancel()
        for log in self._logs:
            log.waiting.discard(self._wake)
