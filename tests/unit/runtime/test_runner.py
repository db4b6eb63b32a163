"""The runner settles every record: in order per key, retried while a store is away, dead-lettered when it is wrong."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from typing import Any

import orjson
import pytest
from aiokafka.errors import KafkaTimeoutError, MessageSizeTooLargeError
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.errors import Rejected, Unavailable
from schemas.envelope import ERASED, KEYS_HEADER, KeysNeeded, Outgoing, Position, Received, UnreadableBatch
from schemas.memory import DocumentSubmitted
from schemas.topics import CONTEXT_PACKS, DOCUMENTS_IN, MEMORY_KNOWLEDGE, WEEK, Topic
from streams import config
from streams.faust.crash_mark import CrashMark
from streams.kafka.records import Record, TopicPartition
from streams.runtime import refusals
from streams.runtime.dead_letters import DlqLimit, Failure, TooManyDeadLettersError
from streams.runtime.group_runner import GroupRunner
from streams.runtime.refusals import Refusals
from streams.stage import Stage
from streams.telemetry import metrics
from streams.testing.pipeline import FakeClock, MemoryLog
from streams.topology import STAGES
from tests.builders.examples import examples


class Member:
    leased = True

    def __init__(self) -> None:
        self.acked: list[int] = []

    def ack(self, topic: str, partition: int, offset: int) -> None:
        self.acked.append(offset)

    def assignment(self) -> frozenset[TopicPartition]:
        return frozenset()

    def position(self, tp: TopicPartition) -> int | None:
        return None

    def highwater(self, tp: TopicPartition) -> int | None:
        return None

    def found(self, tp: TopicPartition) -> tuple[CrashMark, int]:
        return CrashMark(), 0

    async def leave(self, marks: Mapping[TopicPartition, CrashMark]) -> bool:
        return True


class Stub:
    """A stage whose behaviour is a function of the document id and how often it was tried."""

    def __init__(self, behave: Callable[[str, int], Any]) -> None:
        self.behave = behave
        self.seen: list[str] = []
        self.tries: dict[str, int] = {}

    async def handle(self, record: Received[Any]) -> Sequence[Outgoing]:
        name = record.event.document_id
        self.tries[name] = self.tries.get(name, 0) + 1
        result = self.behave(name, self.tries[name])
        if asyncio.iscoroutine(result):
            await result
        self.seen.append(name)
        return ()


def document(offset: int, name: str, key: str = "k") -> Record:
    value = orjson.dumps({"document_id": name, "title": "t", "text": "x"})
    return Record(DOCUMENTS_IN.name, 0, offset, 1_000, key.encode(), value, (("tenant", b"acme"),))


def own(record: Record) -> Record:
    """The record on a topic that only stages write."""
    return replace(record, topic=OWN.name)


OWN = Topic("documents.own", (DocumentSubmitted,), "entity", WEEK, "documents, as a stage would send them")


class Bench:
    """One stage in one group, over a log in memory."""

    def __init__(
        self,
        behave: Callable[[str, int], Any],
        sender: Any = None,
        topic: Topic = DOCUMENTS_IN,
        stub: Stub | None = None,
        ledger: Topic | None = None,
        **settings: Any,
    ) -> None:
        self.log = MemoryLog(FakeClock(), 1)
        self.member = Member()
        self.stub = stub or Stub(behave)
        stage = Stage("ingestion", (topic,), (MEMORY_KNOWLEDGE,), lambda d: None, ledger=ledger)
        self.runner = GroupRunner("ingestion", [(stage, self.stub)], sender or self.log, config.load({}, **settings))
        self.runner.join(self.member)

    @property
    def letters(self) -> list[Record]:
        return self.log.of("dead-letters.ingestion")


def running(behave: Callable[[str, int], Any], scenario: Callable[[Bench], Any], **settings: Any) -> Bench:
    async def run() -> Bench:
        bench = Bench(behave, **settings)
        await scenario(bench)
        return bench

    return asyncio.run(run())


def passes(name: str, tries: int) -> None:
    return None


def test_a_processed_record_is_acknowledged():
    async def scenario(bench: Bench) -> None:
        bench.runner.sink(document(0, "a"))
        await bench.runner.idle()

    bench = running(passes, scenario)
    assert bench.member.acked == [0]
    assert bench.letters == []


@pytest.mark.covers("AC-35")
def test_records_of_one_key_are_handled_in_order_and_other_keys_do_not_wait():
    gate: dict[str, asyncio.Event] = {}

    async def slow(name: str) -> None:
        await gate["open"].wait()

    async def scenario(bench: Bench) -> None:
        gate["open"] = asyncio.Event()
        for offset, (name, key) in enumerate([("a1", "a"), ("a2", "a"), ("b1", "b")]):
            bench.runner.sink(document(offset, name, key))
        for _ in range(20):
            await asyncio.sleep(0)
        assert bench.stub.seen == ["b1"]
        assert bench.stub.tries == {"a1": 1, "b1": 1}
        gate["open"].set()
        await bench.runner.idle()

    bench = running(lambda name, tries: slow(name) if name == "a1" else None, scenario)
    assert bench.stub.seen == ["b1", "a1", "a2"]


@pytest.mark.covers("AC-37")
def test_an_unavailable_store_means_the_same_record_again_and_never_a_dead_letter(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("streams.runtime.stage_sender.FIRST_WAIT", 0.0)

    def away_twice(name: str, tries: int) -> None:
        if tries < 3:
            raise Unavailable("graph")

    async def scenario(bench: Bench) -> None:
        bench.runner.sink(document(0, "a"))
        bench.runner.sink(document(1, "b"))
        await bench.runner.idle()

    bench = running(away_twice, scenario)
    assert bench.stub.tries == {"a": 3, "b": 3}
    assert bench.stub.seen == ["a", "b"]
    assert bench.member.acked == [0, 1]
    assert bench.letters == []


@pytest.mark.parametrize(
    ("error", "reason"), [(Rejected("too_old", "from 1999"), b"too_old"), (ZeroDivisionError("oops"), b"bug")]
)
def test_a_rejected_record_and_a_bug_are_dead_letters_and_the_stage_goes_on(error: Exception, reason: bytes):
    def bad(name: str, tries: int) -> None:
        if name == "a":
            raise error

    async def scenario(bench: Bench) -> None:
        bench.runner.sink(document(0, "a"))
        bench.runner.sink(document(1, "b"))
        await bench.runner.idle()

    bench = running(bad, scenario)
    [letter] = bench.letters
    headers = dict(letter.headers)
    assert headers["fathom_reason"] == reason
    assert headers["fathom_attempts"] == b"1"
    assert headers["tenant"] == b"acme"
    assert bench.stub.seen == ["b"]
    assert bench.member.acked == [0, 1]


class SlowBroker:
    """Stores each record a moment after it was sent, and notes when."""

    def __init__(self, order: list[str]) -> None:
        self._order = order

    async def send(self, topic, key, value, headers, partition=None):
        future = asyncio.get_running_loop().create_future()

        def durable() -> None:
            self._order.append("durable")
            future.set_result(Record(topic, 0, 0, 0, key, value, ()))

        asyncio.get_running_loop().call_later(0.01, durable)
        return future


class Passing(Stub):
    """Passes each document on to a topic of ours."""

    async def handle(self, record: Received[Any]) -> Sequence[Outgoing]:
        return (Outgoing(OWN, record.key, record.event, record.envelope),)


@pytest.mark.covers("AC-32")
@pytest.mark.parametrize("value", [b"no json", document(0, "a").value])
def test_what_is_made_of_a_record_is_stored_before_the_record_is_acknowledged(value: bytes):
    order: list[str] = []

    async def run() -> None:
        bench = Bench(passes, SlowBroker(order), stub=Passing(passes))
        bench.member.ack = lambda *_: order.append("acked")  # type: ignore[method-assign]
        bench.runner.sink(replace(document(0, "a"), value=value))
        await bench.runner.idle()

    asyncio.run(run())
    assert order == ["durable", "acked"]


def test_a_send_that_fails_is_sent_again_without_handling_the_record_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("streams.runtime.stage_sender.FIRST_WAIT", 0.0)

    class Moody(MemoryLog):
        refusals = 2

        async def send(self, *arguments, **named):
            if self.refusals:
                self.refusals -= 1
                raise Unavailable("broker")
            return await super().send(*arguments, **named)

    def rejecting(name: str, tries: int) -> None:
        raise Rejected("never", "no")

    async def run() -> tuple[Bench, Moody]:
        log = Moody(FakeClock(), 1)
        bench = Bench(rejecting, log)
        bench.runner.sink(document(0, "a"))
        await bench.runner.idle()
        return bench, log

    bench, log = asyncio.run(run())
    assert bench.stub.tries == {"a": 1}
    assert len(log.of("dead-letters.ingestion")) == 1
    assert bench.member.acked == [0]


LIMIT = 4_000_000


class Limited(MemoryLog):
    """Takes no record of more bytes than the broker's limit, and says so as the client does."""

    def __init__(self) -> None:
        super().__init__(FakeClock(), 1)
        self.refused = 0

    async def send(self, topic, key, value, headers, partition=None):
        size = sum(len(name) + len(text) for name, text in headers) + len(key or b"") + len(value or b"")
        if size > LIMIT:
            self.refused += 1
            raise MessageSizeTooLargeError(f"The message is {size} bytes")
        return await super().send(topic, key, value, headers, partition)


def on_limited(record: Record, stub: Stub) -> tuple[Bench, Limited]:
    async def run() -> tuple[Bench, Limited]:
        log = Limited()
        bench = Bench(passes, log, stub=stub)
        bench.runner.sink(record)
        await asyncio.wait_for(bench.runner.idle(), 20)
        return bench, log

    return asyncio.run(run())


def test_a_dead_letter_too_large_with_its_record_goes_without_the_value_and_says_so():
    value = b"x" * (LIMIT - 500)
    bench, log = on_limited(replace(document(0, "a"), value=value), Stub(passes))
    (letter,) = log.of("dead-letters.ingestion")
    headers = dict(letter.headers)
    assert (letter.key, letter.value, headers["tenant"]) == (b"k", None, b"acme")
    assert headers["fathom_left_out"] == f"sha256:{sha256(value).hexdigest()} bytes:{len(value)}".encode()
    assert headers["fathom_reason"] == b"too_large"
    assert (bench.member.acked, log.refused) == ([0], 1)


@pytest.mark.parametrize("size", [None, LIMIT - 500], ids=["null", "large"])
def test_a_record_without_a_key_has_a_dead_letter_that_the_client_takes(size: int | None):
    """Kafka's client sends no record that has neither key nor value."""
    record = replace(document(0, "a"), key=None, value=None if size is None else b"x" * size)
    bench, log = on_limited(record, Stub(passes))
    (letter,) = log.of("dead-letters.ingestion")
    assert (letter.key, letter.value) == (None, b"")
    assert dict(letter.headers)["fathom_reason"] == (b"empty" if size is None else b"too_large")
    assert bench.member.acked == [0]


@pytest.mark.parametrize("large", ["key", "headers"])
def test_a_dead_letter_fits_whatever_of_its_record_is_large(large: str):
    record = replace(document(0, "a"), value=b"no json")
    much = b"x" * (LIMIT - 100)
    record = replace(record, key=much) if large == "key" else replace(record, headers=(("x-much", much),))
    bench, log = on_limited(record, Stub(passes))
    (letter,) = log.of("dead-letters.ingestion")
    headers = dict(letter.headers)
    assert (headers["__streams.errors.offset"], headers["fathom_reason"]) == (b"0", b"not_json")
    assert "x-much" not in headers
    assert bench.member.acked == [0]


@pytest.mark.parametrize("ledger", [False, True])
def test_a_record_whose_output_no_broker_takes_is_a_dead_letter_and_is_not_tried_for_ever(ledger: bool):
    class Inflating(Passing):
        async def handle(self, record: Received[Any]) -> Sequence[Outgoing]:
            event = record.event.model_copy(update={"text": "x" * LIMIT})
            position = Position(record.topic, record.partition, record.offset)
            return (Outgoing(OWN, record.key, event, record.envelope, settles=(position,) if ledger else ()),)

    async def run() -> tuple[Bench, Limited]:
        log = Limited()
        bench = Bench(passes, log, stub=Inflating(passes), ledger=OWN if ledger else None)
        bench.runner.sink(document(0, "a"))
        await asyncio.wait_for(bench.runner.idle(), 20)
        return bench, log

    bench, log = asyncio.run(run())
    (letter,) = log.of("dead-letters.ingestion")
    assert dict(letter.headers)["fathom_reason"] == b"not_sendable"
    assert b"bytes to documents.own" in dict(letter.headers)["__streams.errors.message"]
    assert letter.value == document(0, "a").value
    assert bench.member.acked == [0]


def test_a_batch_that_no_client_can_read_is_a_dead_letter_with_its_bytes_and_stops_nothing():
    async def scenario(bench: Bench) -> None:
        value = UnreadableBatch.of(b"the batch", why="it is compressed by codec 7", first=3)
        bench.runner.sink(replace(document(5, "a"), key=None, value=value, headers=()))
        bench.runner.sink(document(6, "b"))
        await bench.runner.idle()

    bench = running(passes, scenario)
    (letter,) = bench.letters
    headers = dict(letter.headers)
    assert (headers["fathom_reason"], letter.value) == (b"unreadable_batch", b"the batch")
    assert headers["__streams.errors.message"].startswith(b"documents.in[0]@3 to 5: it is compressed by codec 7")
    assert bench.stub.seen == ["b"]
    assert sorted(bench.member.acked) == [5, 6]


HEADER_NAMES = st.sampled_from(["tenant", "ce_tenant", "fathom-keys", "content-type", "ce_time", "user_id"])


@given(
    key=st.none() | st.binary(max_size=8),
    value=st.none() | st.binary(max_size=40) | st.just(document(0, "a").value),
    headers=st.lists(st.tuples(HEADER_NAMES | st.text(max_size=5), st.binary(max_size=6)), max_size=4),
    timestamp=st.sampled_from([-1, 0, 1_000, 2**62, -(2**63), 2**63 - 1]),
)
@settings(max_examples=examples(200), deadline=None)
def test_no_record_of_an_outsider_raises_where_it_is_taken(key, value, headers, timestamp):
    """A record that raises between the client and the stage ends the process, in order, again and again."""

    async def scenario(bench: Bench) -> None:
        record = Record(DOCUMENTS_IN.name, 0, 0, timestamp, key, value, tuple(headers))
        bench.runner.sink(record)
        bench.runner.sink(document(1, "next"))
        await bench.runner.idle()
        assert bench.runner.failed.done() is False

    bench = running(passes, scenario)
    assert sorted(bench.member.acked) == [0, 1]
    assert len(bench.letters) + len(bench.stub.seen) == 2


class Choosy(Stub):
    def wants(self, event: Any) -> bool:
        raise KeyError(event.document_id)


def test_a_rule_that_fails_on_a_record_costs_that_record_only():
    bench = running(passes, _one_by_one, stub=Choosy(passes))
    assert bench.member.acked == [0, 1]
    assert bench.stub.seen == ["a", "b"]


async def _one_by_one(bench: Bench) -> None:
    for offset, name in enumerate("ab"):
        bench.runner.sink(document(offset, name))
    await bench.runner.idle()


def test_what_failed_is_sent_again_with_what_is_after_it_and_after_all_that_is_under_way(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("streams.runtime.stage_sender.FIRST_WAIT", 0.0)
    stored: list[str] = []
    under_way = 0

    class Losing:
        """Loses the second of three once, after the third was stored."""

        lost = False

        async def send(self, topic, key, value, headers, partition=None):
            nonlocal under_way
            future, name, loop = asyncio.get_running_loop().create_future(), key.decode(), asyncio.get_running_loop()
            fails = name == "b" and not self.lost
            self.lost = self.lost or fails
            assert under_way == 0 or name != "b" or fails
            under_way += 1

            def ended() -> None:
                nonlocal under_way
                under_way -= 1
                if fails:
                    future.set_exception(KafkaTimeoutError("lost"))
                else:
                    stored.append(name)
                    future.set_result(None)

            loop.call_later(0.02 if name == "c" else 0.001, ended)
            return future

    class Three(Passing):
        async def handle(self, record: Received[Any]) -> Sequence[Outgoing]:
            return [Outgoing(OWN, key, record.event, record.envelope) for key in "abc"]

    async def run() -> None:
        bench = Bench(passes, Losing(), stub=Three(passes))
        bench.runner.sink(document(0, "a"))
        await bench.runner.idle()

    asyncio.run(run())
    assert stored == ["a", "c", "b", "c"]


def test_too_many_dead_letters_in_a_row_stop_the_stage_loudly():
    def bad(name: str, tries: int) -> None:
        raise RuntimeError("poison")

    async def scenario(bench: Bench) -> None:
        for offset in range(10):
            bench.runner.sink(document(offset, f"d{offset}"))
        await asyncio.wait_for(bench.runner.failed, 1)

    bench = running(bad, scenario, dlq_max_consecutive=5)
    error = bench.runner.failed.result()
    assert isinstance(error, TooManyDeadLettersError)
    assert "ingestion" in str(error)
    assert "poison" in str(error)
    assert len(bench.letters) == 5


def test_records_of_our_own_that_are_refused_stop_the_stage_too():
    def bad(name: str, tries: int) -> None:
        raise Rejected("poison", "all of it")

    async def scenario(bench: Bench) -> None:
        for offset in range(10):
            bench.runner.sink(own(document(offset, f"d{offset}")))
        await asyncio.wait_for(bench.runner.failed, 1)

    bench = running(bad, scenario, topic=OWN, dlq_max_consecutive=5)
    assert isinstance(bench.runner.failed.result(), TooManyDeadLettersError)


@pytest.mark.parametrize("refused", ["undecodable", "rejected"])
def test_no_number_of_bad_records_of_one_producer_stops_the_stage_for_others(
    refused: str, caplog: pytest.LogCaptureFixture
):
    def bad(name: str, tries: int) -> None:
        if name.startswith("bad"):
            raise Rejected("poison", "all of it")

    def counted() -> float:
        return metrics.REFUSED.labels("ingestion")._value.get()

    async def scenario(bench: Bench) -> None:
        for offset in range(number):
            record = replace(document(offset, f"bad{offset}"), headers=(("tenant", b"careless"),))
            bench.runner.sink(record if refused == "rejected" else replace(record, value=b"no json"))
            await bench.runner.idle()
        bench.runner.sink(document(number, "good"))
        await bench.runner.idle()
        assert not bench.runner.failed.done()

    before, number = counted(), examples(3_000)
    with caplog.at_level("WARNING", "fathom.stage"):
        bench = running(bad, scenario, dlq_max_consecutive=5, dlq_max_ratio=0.1)
    assert bench.stub.seen == ["good"]
    assert len(bench.letters) == number
    assert bench.member.acked == list(range(number + 1))
    assert counted() - before == number
    [told] = [record.fields for record in caplog.records if record.message == "stage.refused"]
    assert (told["tenant"], told["topic"], told["offset"]) == ("careless", DOCUMENTS_IN.name, 0)


def test_unreadable_records_of_one_key_are_set_aside_side_by_side_and_in_one_line_of_the_log(
    caplog: pytest.LogCaptureFixture,
):
    """A batch of 20,000 null records is 18 kB to its producer; one dead letter after the other took 20 seconds."""

    class Slow(MemoryLog):
        """Stores nothing before all dead letters of the batch are under way."""

        under_way: list[Any]

        async def send(self, *arguments, **named):
            stored = await super().send(*arguments, **named)
            waits = asyncio.get_running_loop().create_future()
            self.under_way.append(waits)
            if len(self.under_way) == 30:
                for one in self.under_way:
                    one.set_result(await stored)
            return waits

    async def run() -> Bench:
        log = Slow(FakeClock(), 1)
        log.under_way = []
        bench = Bench(passes, log)
        bench.log = log
        for offset in range(30):
            bench.runner.sink(replace(document(offset, "bad"), value=None))
        bench.runner.sink(document(30, "good"))
        await asyncio.wait_for(bench.runner.idle(), 20)
        return bench

    with caplog.at_level("WARNING"):
        bench = asyncio.run(run())
    assert [dict(letter.headers)["fathom_reason"] for letter in bench.letters] == [b"empty"] * 30
    assert (bench.stub.seen, sorted(bench.member.acked)) == (["good"], list(range(31)))
    assert [record.message for record in caplog.records] == ["stage.refused"]


def test_a_minute_later_it_is_told_again_and_names_without_end_make_no_metrics_without_end(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    now = [1_000.0]
    monkeypatch.setattr(refusals, "monotonic", lambda: now[0])
    noted, failure = Refusals("told-again"), Failure("bad_json", "no JSON", "Undecodable")

    def refuse(tenant: str | None) -> None:
        headers = () if tenant is None else (("tenant", tenant.encode()),)
        noted.note(replace(document(0, "d"), headers=headers), failure)

    with caplog.at_level("WARNING", "fathom.stage"):
        for at in (1_000.0, 1_001.0, 1_059.0, 1_061.0):
            now[0] = at
            refuse("a")
        told = [(each.fields["tenant"], each.fields["since_last"]) for each in caplog.records]
        assert told == [("a", 1), ("a", 3)]
        refuse(None)
        refuse("x" * 65)
        for number in range(300):
            refuse(f"t{number}")
    names = {each.fields["tenant"] for each in caplog.records}
    assert {"a", "(none)", "(others)", "t0"} <= names
    assert len(names) <= refusals.MAX_TENANTS + 1


def test_a_good_record_between_bad_ones_starts_the_count_again():
    limit = DlqLimit("s", max_consecutive=3, max_ratio=1.0)
    bad = Failure("x", "y", "z")
    for _ in range(10):
        limit.failed(bad)
        limit.failed(bad)
        limit.passed()
    limit.failed(bad)
    limit.failed(bad)
    with pytest.raises(TooManyDeadLettersError):
        limit.failed(bad)


def test_a_high_share_of_dead_letters_stops_the_stage_too():
    limit = DlqLimit("s", max_consecutive=10_000, max_ratio=0.5)
    bad = Failure("x", "y", "z")

    def mostly_bad() -> int:
        for number in range(10_000):
            limit.failed(bad)
            if number % 2:
                limit.passed()
        return -1

    with pytest.raises(TooManyDeadLettersError):
        mostly_bad()


def test_a_full_group_makes_the_reader_wait():
    async def scenario(bench: Bench) -> None:
        opened = asyncio.Event()

        async def wait() -> None:
            await opened.wait()

        bench.stub.behave = lambda name, tries: wait()
        waits = [bench.runner.sink(document(n, f"d{n}", f"k{n}")) for n in range(5)]
        assert [one is None for one in waits] == [True, True, True, True, False]
        waiting = asyncio.ensure_future(waits[4])  # type: ignore[arg-type]
        await asyncio.sleep(0)
        assert not waiting.done()
        assert bench.runner.load() == 4
        opened.set()
        await asyncio.wait_for(waiting, 1)
        await bench.runner.idle()

    bench = running(passes, scenario, max_in_flight=4)
    assert sorted(bench.member.acked) == [0, 1, 2, 3, 4]


def test_a_reader_that_waits_for_room_waits_for_room_for_some():
    """Else a stage with much to do is woken for every single record."""

    async def scenario(bench: Bench) -> None:
        opened = [asyncio.Event() for _ in range(17)]
        bench.stub.behave = lambda name, tries: opened[int(name[1:])].wait()
        assert [bench.runner.sink(document(n, f"d{n}", f"k{n}")) for n in range(16)] == [None] * 16
        full = bench.runner.sink(document(16, "d16", "k16"))
        assert full is not None
        taking = asyncio.ensure_future(full)
        for done, taken in ((0, False), (1, False), (2, True)):
            opened[done].set()
            for _ in range(20):
                await asyncio.sleep(0)
            assert (bench.runner.load(), taking.done()) == (16 - done - (not taken), taken), done
        for each in opened:
            each.set()
        await bench.runner.idle()

    bench = running(passes, scenario, max_in_flight=16)
    assert sorted(bench.member.acked) == list(range(17))


def test_a_stage_that_waits_keeps_no_other_of_its_group_from_its_records():
    """Corrections of what does not exist wait for it: claims and summaries stood still meanwhile, in all tenants."""

    async def scenario() -> None:
        opened = asyncio.Event()

        async def wait() -> None:
            await opened.wait()

        waiting, other = Stub(lambda name, tries: wait()), Stub(passes)
        learnt = Record(MEMORY_KNOWLEDGE.name, 0, 0, 1_000, b"k", b"{}", (("tenant", b"acme"),))
        stages = [
            (Stage("waits", (DOCUMENTS_IN,), (), lambda d: None, concurrency=8), waiting),
            (Stage("learns", (MEMORY_KNOWLEDGE,), (), lambda d: None, concurrency=2), other),
        ]
        runner = GroupRunner("learning", stages, MemoryLog(FakeClock(), 1), config.load({}))
        runner.join(Member())
        assert [runner.sink(document(n, f"d{n}", f"k{n}")) for n in range(8)] == [None] * 8
        assert runner.sink(learnt) is None
        full = runner.sink(document(8, "d8", "k8"))
        assert full is not None
        taking = asyncio.ensure_future(full)
        await asyncio.sleep(0)
        assert not taking.done()
        opened.set()
        await asyncio.wait_for(taking, 1)
        await runner.idle()
        assert len(waiting.seen) == 9

    asyncio.run(scenario())


def test_on_revoke_what_is_in_hand_is_finished_first():
    async def scenario(bench: Bench) -> None:
        async def slow() -> None:
            await asyncio.sleep(0.01)

        bench.stub.behave = lambda name, tries: slow()
        bench.runner.sink(document(0, "a"))
        bench.runner.sink(document(1, "b"))
        await bench.runner.on_revoked(frozenset({TopicPartition(DOCUMENTS_IN.name, 0)}))
        assert bench.member.acked == [0, 1]

    bench = running(passes, scenario)
    assert bench.stub.seen == ["a", "b"]
    assert bench.runner.load() == 0


def test_on_revoke_what_cannot_be_finished_is_given_up_unacknowledged():
    async def scenario(bench: Bench) -> None:
        def away(name: str, tries: int) -> None:
            raise Unavailable("graph")

        bench.stub.behave = away
        bench.runner.sink(document(0, "a"))
        bench.runner.sink(document(1, "b"))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await bench.runner.on_revoked(frozenset({TopicPartition(DOCUMENTS_IN.name, 0)}))
        await asyncio.sleep(0.01)

    bench = running(passes, scenario)
    assert bench.member.acked == []
    assert bench.letters == []
    assert bench.runner.load() == 0


@pytest.mark.covers("CF-68")
def test_a_join_that_cannot_finish_gives_up_what_its_next_owner_will_send():
    class Holding:
        """Takes everything and never says that it is durable."""

        async def send(self, *_: object, **__: object) -> "asyncio.Future[object]":
            return asyncio.get_running_loop().create_future()

    class Joining(Stub):
        def assigned(self, partition: int, emitted: Iterable[Received[Any]]) -> None: ...

        def due(self, partition: int, now: datetime) -> bool:
            return False

        def tick(self, partition: int, now: datetime) -> Outgoing:
            raise AssertionError("nothing is due")

        def revoked(self, partition: int) -> None:
            self.seen.append(f"revoked {partition}")

        async def handle(self, record: Received[Any]) -> Sequence[Outgoing]:
            return (Outgoing(CONTEXT_PACKS, "k", record.event, record.envelope),)

    async def scenario() -> tuple[list[tuple[str, frozenset[int]]], list[str]]:
        given_up: list[tuple[str, frozenset[int]]] = []
        stub = Joining(passes)
        stage = Stage("ingestion", (DOCUMENTS_IN,), (CONTEXT_PACKS,), lambda d: None, ledger=CONTEXT_PACKS)
        runner = GroupRunner(
            "ingestion", [(stage, stub)], Holding(), config.load({}), give_up=lambda *what: given_up.append(what)
        )
        runner.join(Member())
        held = frozenset({TopicPartition(DOCUMENTS_IN.name, 0)})
        await runner.on_revoked(held)  # nothing in hand, nothing given up
        assert given_up == []
        runner.sink(document(0, "a"))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await runner.on_revoked(held)
        return given_up, stub.seen

    given_up, seen = asyncio.run(scenario())
    assert given_up == [(CONTEXT_PACKS.name, frozenset({0}))]
    assert seen == ["revoked 0", "revoked 0"]


@pytest.mark.covers("CF-67")
def test_a_record_goes_to_the_ledger_once_what_goes_with_it_is_stored():
    class Storing:
        """Says that a record is durable when it is told to."""

        def __init__(self) -> None:
            self.sent: list[tuple[str, asyncio.Future[object]]] = []

        async def send(self, topic: str, *_: object, **__: object) -> "asyncio.Future[object]":
            stored: asyncio.Future[object] = asyncio.get_running_loop().create_future()
            self.sent.append((topic, stored))
            return stored

    class Deciding(Stub):
        def assigned(self, partition: int, emitted: Iterable[Received[Any]]) -> None: ...

        def due(self, partition: int, now: datetime) -> bool:
            return False

        def tick(self, partition: int, now: datetime) -> Outgoing:
            raise AssertionError("nothing is due")

        def revoked(self, partition: int) -> None: ...

        async def handle(self, record: Received[Any]) -> Sequence[Outgoing]:
            topics = (MEMORY_KNOWLEDGE, CONTEXT_PACKS, MEMORY_KNOWLEDGE, CONTEXT_PACKS)
            return tuple(Outgoing(topic, "k", record.event, record.envelope) for topic in topics)

    async def scenario() -> list[list[str]]:
        sender, seen = Storing(), []
        writes = (CONTEXT_PACKS, MEMORY_KNOWLEDGE)
        stage = Stage("ingestion", (DOCUMENTS_IN,), writes, lambda d: None, ledger=CONTEXT_PACKS)
        runner = GroupRunner("ingestion", [(stage, Deciding(passes))], sender, config.load({}))
        runner.join(Member())
        await runner.on_revoked(frozenset({TopicPartition(DOCUMENTS_IN.name, 0)}))
        runner.sink(document(0, "a"))
        for stored in range(3):
            await asyncio.sleep(0.01)
            seen.append([topic for topic, _ in sender.sent])
            if stored < 2:
                sender.sent[stored][1].set_result(document(0, "a"))
        for _, stored_at in sender.sent[2:]:
            stored_at.set_result(document(0, "a"))
        await runner.idle()
        return seen

    knowledge, packs = MEMORY_KNOWLEDGE.name, CONTEXT_PACKS.name
    assert asyncio.run(scenario()) == [[knowledge] * 2, [knowledge] * 2, [knowledge, knowledge, packs, packs]]


@pytest.mark.covers("CF-87")
def test_only_topics_that_a_stage_reads_in_order_are_copartitioned() -> None:
    async def scenario() -> dict[str, tuple[str, ...]]:
        groups = {
            group: [(stage, Stub(lambda _name, _tries: None)) for stage in STAGES if stage.group_name == group]
            for group in ("tool-gate", "graph-writers")
        }
        log = MemoryLog(FakeClock(), 1)
        return {group: GroupRunner(group, rows, log, config.load({})).copartitioned for group, rows in groups.items()}

    # Votes have no order. Co-partitioned, their group would be assigned in another way than by the version before, and
    # members of both could not be in it together.
    assert asyncio.run(scenario()) == {
        "tool-gate": ("memory.erasures", "tools.results.in", "tools.calls.in", "tools.confirmations.in"),
        "graph-writers": (),
    }


def test_an_erased_record_is_done_without_a_dead_letter_or_an_output():
    async def scenario(bench: Bench) -> None:
        erased = metrics.ERASED.labels("ingestion")._value.get()
        bench.runner.sink(own(replace(document(0, "a"), value=ERASED)))
        bench.runner.sink(own(document(1, "b")))
        await bench.runner.idle()
        assert metrics.ERASED.labels("ingestion")._value.get() == erased + 1

    bench = running(passes, scenario, topic=OWN)
    assert (bench.member.acked, bench.stub.seen, bench.letters) == ([0, 1], ["b"], [])


def test_a_record_of_ours_whose_keys_are_missing_stops_the_stage_and_is_not_done():
    async def scenario(bench: Bench) -> None:
        sealed = replace(document(0, "a"), value=b"\x9f" * 60, headers=((KEYS_HEADER, b"0123"),))
        bench.runner.sink(own(sealed))
        with pytest.raises(KeysNeeded, match="FATHOM_SUBJECT_KEYS"):
            raise await bench.runner.failed

    bench = running(passes, scenario, topic=OWN)
    assert (bench.member.acked, bench.letters) == ([], [])


def test_a_record_of_ours_that_only_says_it_is_encrypted_is_a_dead_letter_and_nothing_worse():
    async def scenario(bench: Bench) -> None:
        bench.runner.sink(own(replace(document(0, "a"), headers=((KEYS_HEADER, b"x,y"),))))
        bench.runner.sink(own(document(1, "b")))
        await bench.runner.idle()

    bench = running(passes, scenario, topic=OWN)
    assert (bench.member.acked, bench.stub.seen) == ([0, 1], ["b"])
    assert [dict(each.headers)["fathom_reason"] for each in bench.letters] == [b"keys_needed"]


def test_a_ticker_that_fails_ends_the_process_and_not_only_the_ticks(monkeypatch: pytest.MonkeyPatch):
    async def broken(self: GroupRunner, now: datetime) -> None:
        raise AssertionError("a bug of a tick")

    async def run() -> BaseException:
        bench = Bench(passes)
        monkeypatch.setattr(GroupRunner, "tick", broken)
        monkeypatch.setattr("streams.runtime.group_runner.TICK_EVERY_S", 0.0)
        bench.runner._runners[0].join_handler = object()  # type: ignore[assignment]
        bench.runner.start_ticking()
        return await asyncio.wait_for(bench.runner.failed, 10)

    assert str(asyncio.run(run())) == "a bug of a tick"
