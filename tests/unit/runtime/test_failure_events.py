"""A stage that others wait for tells of what it could not process, once the dead letter is stored."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from deploy.docs.examples import load
from schemas.envelope import Outgoing, Received
from schemas.topics import DOCUMENTS_IN, MEMORY_KNOWLEDGE
from streams import config
from streams.kafka.records import Record
from streams.runtime.group_runner import GroupRunner
from streams.stage import Stage
from streams.testing.pipeline import FakeClock, MemoryLog
from tests.unit.runtime.test_runner import Member, document

KNOWN = load(topics=(MEMORY_KNOWLEDGE,))[0].received().event
LETTERS = "dead-letters.ingestion"


class Telling:
    """A stage that fails at every record, and says so."""

    def __init__(self, *, telling: bool = True) -> None:
        self.telling = telling
        self.told: list[str] = []

    async def handle(self, record: Received[Any]) -> Sequence[Outgoing]:
        raise ZeroDivisionError("oops " * 200)

    def failed(self, record: Received[Any], why: str) -> Sequence[Outgoing]:
        if not self.telling:
            raise KeyError("again")
        self.told.append(why)
        return (Outgoing(MEMORY_KNOWLEDGE, "k", KNOWN, record.envelope, "failed"),)


def run(stub: Telling, *records: Record) -> tuple[MemoryLog, Member]:
    async def whole() -> tuple[MemoryLog, Member]:
        log, member = MemoryLog(FakeClock(), 1), Member()
        stage = Stage("ingestion", (DOCUMENTS_IN,), (MEMORY_KNOWLEDGE,), lambda d: stub)
        runner = GroupRunner("ingestion", [(stage, stub)], log, config.load({}))
        runner.join(member)
        for record in records:
            runner.sink(record)
        await runner.idle()
        return log, member

    return asyncio.run(whole())


def test_it_tells_why_in_a_bounded_sentence_that_names_the_dead_letters() -> None:
    stub = Telling()
    log, member = run(stub, document(0, "a"))
    [why] = stub.told
    assert why.startswith("ZeroDivisionError: oops oops")
    assert why.endswith(f"; the record is in {LETTERS}")
    assert len(why) < 600
    assert (len(log.of(LETTERS)), len(log.of(MEMORY_KNOWLEDGE.name)), member.acked) == (1, 1, [0])


@pytest.mark.parametrize("value", [None, b"no json"])
def test_what_it_cannot_tell_of_is_a_dead_letter_all_the_same(value: bytes | None) -> None:
    record = document(0, "a") if value is None else Record(DOCUMENTS_IN.name, 0, 0, 1, b"k", value, ())
    stub = Telling(telling=False)
    log, member = run(stub, record)
    assert (len(log.of(LETTERS)), log.of(MEMORY_KNOWLEDGE.name), member.acked) == (1, [], [0])
