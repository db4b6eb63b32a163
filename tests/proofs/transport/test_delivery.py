"""How records reach the sink, and how the sink, pauses and rebalances hold them back."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka import TopicPartition
from aiokafka.errors import CommitFailedError, GroupAuthorizationFailedError

from streams.faust import crash_mark, fetch_loop
from streams.faust.copartition_merger import CopartitionMerger
from streams.faust.fetch_loop import FetchLoop
from streams.faust.watermark import Watermark
from streams.kafka.records import Record
from tests.proofs.transport.scripted import TP, ScriptedClient, direct_consumer, owning, raw_record, settle, take_into


def test_a_sink_that_is_full_gets_the_next_record_when_it_has_room() -> None:
    async def scenario() -> tuple[list[int], list[int]]:
        found: list[int] = []
        room = asyncio.Semaphore(2)

        async def wait(record: Record) -> None:
            await room.acquire()
            found.append(record.offset)

        async with owning(ScriptedClient(range(5)), wait):
            before = list(found)
            room.release()
            await settle()
            return before, list(found)

    assert asyncio.run(scenario()) == ([0, 1], [0, 1, 2])


def test_a_record_waiting_for_a_full_sink_is_dropped_by_a_rebalance_and_read_again() -> None:
    async def scenario() -> tuple[list[int], float, int | None, list[int]]:
        found: list[int] = []
        full = True

        async def for_ever(_: Record) -> None:
            await asyncio.sleep(3600)

        def sink(record: Record) -> Any:
            if full and record.offset == 2:
                return for_ever(record)
            consumer.ack(TP, record.offset)
            return found.append(record.offset)

        client = ScriptedClient(range(4))
        async with direct_consumer(client, sink) as consumer:
            await consumer.on_partitions_assigned({TP})
            await settle()
            blocked, position = (
                consumer.delivery.blocked_for(),
                consumer.delivery.marks[TP].position,
            )
            await consumer.on_partitions_revoked({TP})
            full = False
            await consumer.on_partitions_assigned({TP})
            await settle()
            return found, blocked, position, client.commits

    found, blocked, position, commits = asyncio.run(scenario())
    assert found == [0, 1, 2, 3]
    assert blocked > 0
    assert position == 3
    assert commits == [2, 4]


def test_a_revocation_begins_only_when_the_delivery_under_way_has_ended() -> None:
    async def scenario() -> list[str]:
        events: list[str] = []

        async def slow_to_cancel() -> None:
            try:
                await asyncio.sleep(3600)
            finally:
                await settle(20)
                events.append("delivery ended")

        async def revoked(_: frozenset[Any]) -> None:
            events.append("revoked")

        client = ScriptedClient([0])
        async with owning(client, lambda _: slow_to_cancel(), on_revoked=revoked) as consumer:
            await consumer.on_partitions_revoked({TP})
            return events

    assert asyncio.run(scenario()) == ["delivery ended", "revoked"]


def test_a_wait_that_the_sink_gives_up_itself_loses_no_record() -> None:
    async def scenario() -> list[int]:
        found: list[int] = []
        attempts = 0

        async def give_up() -> None:
            raise asyncio.CancelledError

        def sink(record: Record) -> Any:
            nonlocal attempts
            if record.offset == 1 and attempts < 2:
                attempts += 1
                return give_up()
            return found.append(record.offset)

        async with owning(ScriptedClient(range(4)), sink):
            return found

    assert asyncio.run(scenario()) == [0, 1, 2, 3]


def test_a_paused_partition_delivers_nothing_until_resumed_and_then_everything_once() -> None:
    async def scenario() -> tuple[list[int], list[int]]:
        found: list[int] = []

        def sink(record: Record) -> None:
            found.append(record.offset)
            if record.offset == 1:
                consumer.delivery.pause(TP)

        client = ScriptedClient(range(4))
        async with direct_consumer(client, sink) as consumer:
            await consumer.on_partitions_assigned({TP})
            await settle()
            client.arrive(4)
            await settle()
            paused = list(found)
            consumer.delivery.resume(TP)
            await settle()
            return paused, found

    assert asyncio.run(scenario()) == ([0, 1], [0, 1, 2, 3, 4])


def test_records_that_arrive_later_wake_the_loop() -> None:
    async def scenario() -> list[int]:
        found: list[int] = []
        client = ScriptedClient([])
        async with owning(client, lambda r: found.append(r.offset)):
            client.arrive(0, 1)
            await settle()
            return found

    assert asyncio.run(scenario()) == [0, 1]


def test_what_was_assigned_is_known_before_the_first_record() -> None:
    async def scenario() -> list[Any]:
        events: list[Any] = []

        async def assigned(tps: frozenset[Any]) -> None:
            await settle(20)
            events.append((set(tps), consumer.delivery.marks[TP].position))

        def sink(record: Record) -> None:
            events.append(record.offset)

        client = ScriptedClient(range(7), committed=5)
        async with direct_consumer(client, sink, on_assigned=assigned) as consumer:
            await consumer.on_partitions_assigned({TP})
            await settle()
            return events

    assert asyncio.run(scenario()) == [({TP}, 5), 5, 6]


def test_a_drain_that_takes_too_long_is_cut_off_and_what_is_done_is_committed() -> None:
    async def scenario() -> tuple[list[int], bool]:
        cut = asyncio.Event()

        async def drain(_: frozenset[Any]) -> None:
            try:
                await asyncio.sleep(3600)
            finally:
                cut.set()

        client = ScriptedClient(range(3))
        async with direct_consumer(client, lambda _: None, on_revoked=drain) as consumer:
            consumer.app.drain_timeout = consumer.app.handover_timeout = 0.01
            await consumer.on_partitions_assigned({TP})
            await settle()
            consumer.ack(TP, 0)
            await consumer.on_partitions_revoked({TP})
            return client.commits, cut.is_set()

    assert asyncio.run(scenario()) == ([1], True)


def test_a_commit_beyond_the_log_repeats_nothing_and_is_corrected_at_once() -> None:
    async def scenario() -> tuple[list[int], list[int]]:
        found: list[int] = []
        client = ScriptedClient(range(3), committed=50)
        async with owning(client, lambda r: found.append(r.offset)) as consumer:
            await consumer.commit()
            return found, client.commits

    assert asyncio.run(scenario()) == ([], [3])


@pytest.mark.covers("B13")
def test_a_commit_says_that_a_process_began_there_until_it_leaves_in_order() -> None:
    async def scenario() -> list[tuple[int, str]]:
        client = ScriptedClient(range(3))
        async with direct_consumer(client, lambda _: None) as consumer:
            await consumer.on_partitions_assigned({TP})
            await settle()
            consumer.ack(TP, 0)
            await consumer.on_partitions_revoked({TP})
            return client.words

    words = asyncio.run(scenario())
    assert words[0] == (0, "deaths 1")
    assert words[-1] == (1, "")


@pytest.mark.covers("B13")
@pytest.mark.parametrize(("survived", "said"), [(0.0, ["deaths 1", ""]), (60.0, ["deaths 1"])])
def test_a_process_that_lives_on_with_what_holds_a_partition_is_not_counted_there(
    survived: float, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crash_mark, "SURVIVED_S", survived)

    async def scenario() -> list[tuple[int, str]]:
        client = ScriptedClient(range(3))
        async with direct_consumer(client, lambda _: None) as consumer:
            await consumer.on_partitions_assigned({TP})
            await settle()
            consumer.ack(TP, 1)
            for _ in range(3):
                await consumer.commit()
            return [*client.words]

    assert asyncio.run(scenario()) == [(0, words) for words in said]


def test_a_commit_that_failed_is_made_again() -> None:
    async def scenario() -> list[int]:
        client = ScriptedClient(range(2))
        async with owning(client, lambda _: None) as consumer:
            consumer.ack(TP, 0)
            client.refuse_commits = CommitFailedError("already rebalanced")
            assert not await consumer.commit()
            client.refuse_commits = None
            assert await consumer.commit()
            return client.commits

    assert asyncio.run(scenario()) == [1]


def test_nothing_is_delivered_after_a_hook_that_raised() -> None:
    async def scenario() -> tuple[list[int], bool]:
        found: list[int] = []

        async def refuse(_: frozenset[Any]) -> None:
            raise ValueError("no ledger")

        client = ScriptedClient(range(3))
        async with owning(client, lambda r: found.append(r.offset), on_assigned=refuse) as consumer:
            return found, consumer.crashed

    assert asyncio.run(scenario()) == ([], True)


def test_a_commit_the_broker_refuses_for_good_crashes_the_consumer() -> None:
    async def scenario() -> bool:
        client = ScriptedClient(range(1))
        async with owning(client, lambda _: None) as consumer:
            consumer.ack(TP, 0)
            client.refuse_commits = GroupAuthorizationFailedError("in-group")
            assert not await consumer.commit()
            client.refuse_commits = None
            return bool(consumer.crashed)

    assert asyncio.run(scenario())


def test_a_member_whose_session_may_have_ended_delivers_nothing_until_a_heartbeat() -> None:
    async def scenario() -> tuple[list[int], list[int], list[int]]:
        found: list[int] = []
        client = ScriptedClient([0])
        async with owning(client, lambda r: found.append(r.offset)) as consumer:
            consumer.delivery.renew(0.0)
            client.arrive(1)
            await settle()
            asleep = list(found)
            client.alive = False
            await client._coordinator._do_heartbeat()
            await settle()
            unknown = list(found)
            client.alive = True
            await client._coordinator._do_heartbeat()
            await settle()
            return asleep, unknown, found

    assert asyncio.run(scenario()) == ([0], [0], [0, 1])


class Sisters(ScriptedClient):
    """A record in TP, and a sister of which no answer has come yet."""

    other = TopicPartition("other", TP.partition)

    def __init__(self) -> None:
        super().__init__([0])
        self.answers = {TP: self.answer(position=1)}
        self.subscription = SimpleNamespace(assignment=SimpleNamespace(state_value=self.answers.get))

    @staticmethod
    def answer(position: int, left: int = 0) -> Any:
        """That so many records lie behind this position."""
        place = {"highwater": position + left, "lso": None, "position": position, "timestamp": 7}
        return SimpleNamespace(has_valid_position=True, **place)

    def has(self, tp: TopicPartition, *timestamps: int) -> None:
        """Make these the records of a partition."""
        self.positions[tp] = 0
        self.log[tp] = [
            replace(raw_record(offset, tp), timestamp=timestamp) for offset, timestamp in enumerate(timestamps)
        ]


def in_step_of(client: Sisters, sink: Any) -> FetchLoop:
    topics = CopartitionMerger((TP.topic, client.other.topic))
    going = FetchLoop(sink, topics)
    going.reset({tp: Watermark(0, None) for tp in (TP, client.other)})
    going.renew(float("inf"))
    going.start()
    return going


def test_an_answer_without_records_lets_go_what_waited_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    # Such an answer wakes nobody, and the idle loop would look again only then.
    monkeypatch.setattr(fetch_loop, "IDLE_POLL_S", 3600.0)

    async def scenario() -> tuple[list[int], list[int]]:
        found: list[int] = []
        client = Sisters()
        task = asyncio.ensure_future(in_step_of(client, take_into(found)).run(client))
        await settle()
        before = list(found)
        client.answers[client.other] = client.answer(position=0)
        async with asyncio.timeout(10):
            while not found:  # noqa: ASYNC110 - the sink offers a list, not events
                await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait({task})
        return before, found

    assert asyncio.run(scenario()) == ([], [0])


def test_what_waits_for_its_sister_is_forgotten_when_its_partition_is_paused_and_read_again_after() -> None:
    async def scenario() -> tuple[list[int], list[int]]:
        found: list[int] = []
        client = Sisters()
        going = in_step_of(client, take_into(found))
        task = asyncio.ensure_future(going.run(client))
        await settle()
        going.pause(TP)
        client.answers[client.other] = client.answer(position=0)
        await asyncio.sleep(0.05)
        paused = list(found)
        going.resume(TP)
        async with asyncio.timeout(10):
            while not found:  # noqa: ASYNC110 - the sink offers a list, not events
                await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait({task})
        return paused, found

    assert asyncio.run(scenario()) == ([], [0])


def test_what_lies_behind_a_record_that_was_given_back_waits_for_it() -> None:
    # One of 10 and one of 30, and of the sister's one of 20 with more behind it: 30 must wait, 10 is given back.
    async def scenario() -> list[tuple[str, int]]:
        found: list[tuple[str, int]] = []
        refusals = 1
        client = Sisters()
        client.has(TP, 10, 30)
        client.has(client.other, 20)
        client.answers |= {TP: client.answer(position=2), client.other: client.answer(position=1, left=1)}

        async def give_up() -> None:
            client.answers[client.other] = client.answer(position=1)
            raise asyncio.CancelledError

        def sink(record: Record) -> Any:
            nonlocal refusals
            if record.timestamp == 10 and refusals:
                refusals -= 1
                return give_up()
            return found.append((record.topic, record.timestamp))

        task = asyncio.ensure_future(in_step_of(client, sink).run(client))
        await settle()
        task.cancel()
        await asyncio.wait({task})
        return found

    assert asyncio.run(scenario()) == [("other", 20), ("in", 10), ("in", 30)]
