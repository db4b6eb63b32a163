"""Who waits for a deep answer gets it, or the sentence that says why there is none."""

import asyncio
from typing import Any

import pytest
from aiokafka.structs import ConsumerRecord

from schemas.topics import ANSWERS_OUT, CONTEXT_PACKS
from streams.edges.client import clients, deep_answers, records
from streams.edges.client.deep_answers import LETTERS_OF_RUNS, RawReply
from streams.edges.client.errors import FAILURE, CommandFailed
from streams.edges.client.records import Identity, OutgoingRecord
from tests.builders.deep_answers import QUESTION, failure, pack_and_answer, renamed


def read(
    monkeypatch: pytest.MonkeyPatch, prepared: OutgoingRecord, *came: tuple[str, bytes | list[tuple[str, bytes]]]
) -> RawReply:
    """What a caller gets of records that come one after another; `TimeoutError` where that is nothing."""
    waiting = list(came)

    async def poll(*_: Any) -> list[ConsumerRecord]:
        if not waiting:
            raise TimeoutError
        topic, told = waiting.pop(0)
        value, headers = (b"{}", told) if isinstance(told, list) else (told, [])
        return [ConsumerRecord(topic, 0, 0, 0, 0, prepared.key, value, None, 0, 0, headers)]

    monkeypatch.setattr(clients, "poll", poll)
    return asyncio.run(deep_answers._Waiting(prepared).read(None))  # type: ignore[arg-type]


@pytest.fixture
def asked() -> OutgoingRecord:
    return records.turn(QUESTION, Identity("acme", "ana"), client="web", conversation="c1", deep=True)


def test_a_run_that_fails_is_said_at_once_and_why(monkeypatch: pytest.MonkeyPatch, asked: OutgoingRecord) -> None:
    pack, _ = pack_and_answer()
    told = (CONTEXT_PACKS.name, renamed(pack, asked.name)), (LETTERS_OF_RUNS, failure(asked.name))
    for came in (told, told[1:]):
        with pytest.raises(
            CommandFailed, match=r"could not go on: .*division by zero .* dead-letters\.cognition"
        ) as found:
            read(monkeypatch, asked, *came)
        assert found.value.code == FAILURE


def test_what_others_fail_at_is_nothing_to_a_caller(monkeypatch: pytest.MonkeyPatch, asked: OutgoingRecord) -> None:
    pack, answer = pack_and_answer()
    assert answer is not None
    came = [
        (LETTERS_OF_RUNS, failure("another")),
        (LETTERS_OF_RUNS, failure(asked.name, "beta")),
        (LETTERS_OF_RUNS, []),
        (CONTEXT_PACKS.name, renamed(pack, asked.name)),
        (ANSWERS_OUT.name, renamed(answer, asked.name)),
    ]
    assert read(monkeypatch, asked, *came).answer.status == "answered"
