"""A join sends what it makes of several records in one go: in their order, and acknowledged only then."""

import asyncio
from collections.abc import Sequence
from typing import Any

from agents.errors import Rejected
from deploy.docs.examples import load
from schemas.envelope import Outgoing, Received, Settled, Step
from schemas.topics import DOCUMENTS_IN, MEMORY_KNOWLEDGE
from streams import config
from streams.kafka.records import Record
from streams.runtime.group_runner import GroupRunner
from streams.stage import Stage
from streams.testing.pipeline import FakeClock, MemoryLog
from tests.unit.runtime.test_runner import Member, document

KNOWN = load(topics=(MEMORY_KNOWLEDGE,))[0].received().event


class Joining:
    """A stage with a ledger that says one thing of each record, and refuses those named bad."""

    def assigned(self, partition: int, emitted: object) -> None: ...

    def revoked(self, partition: int) -> None: ...

    async def handle(self, record: Received[Any]) -> Sequence[Step]:
        if record.event.document_id == "bad":
            raise Rejected("bad", "it is bad")
        made = Outgoing(MEMORY_KNOWLEDGE, record.event.document_id, KNOWN, record.envelope)
        return (made, Settled((record.position,)))


class SlowLog(MemoryLog):
    """A broker that acknowledges only when it is told to."""

    def __init__(self) -> None:
        super().__init__(FakeClock(), 1)
        self.acknowledging = asyncio.Event()

    async def send(self, *record: Any) -> "asyncio.Future[object]":
        sent = await super().send(*record)

        async def acknowledged() -> object:
            await self.acknowledging.wait()
            return await sent

        return asyncio.ensure_future(acknowledged())


def keys(records: Sequence[Record]) -> list[str]:
    return [(record.key or b"").decode() for record in records]


def test_records_that_wait_are_sent_together_in_order_and_acknowledged_once_stored() -> None:
    async def scenario() -> None:
        log, member, stub = SlowLog(), Member(), Joining()
        stage = Stage("ingestion", (DOCUMENTS_IN,), (MEMORY_KNOWLEDGE,), lambda d: stub, ledger=MEMORY_KNOWLEDGE)
        runner = GroupRunner("ingestion", [(stage, stub)], log, config.load({}))
        runner.join(member)
        for offset, name in enumerate(("a", "b", "bad", "c")):
            runner.sink(document(offset, name))
        for _ in range(20):
            await asyncio.sleep(0)
        # Before the first acknowledgement; what is behind a dead letter waits for it.
        assert keys(log.of(MEMORY_KNOWLEDGE.name)) == ["a", "b"]
        assert member.acked == []
        log.acknowledging.set()
        await runner.idle()
        assert keys(log.of(MEMORY_KNOWLEDGE.name)) == ["a", "b", "c"]
        assert len(log.of("dead-letters.ingestion")) == 1
        assert member.acked == [0, 1, 2, 3]

    asyncio.run(scenario())
