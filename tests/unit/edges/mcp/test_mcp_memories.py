"""`memories` over MCP: the caller's facts as the log has them, and what is refused in one sentence."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from schemas.memory import ClaimAsserted, CorrectionIssued, ErasureIssued
from schemas.topics import CORRECTIONS_IN, MEMORY_CLAIMS, MEMORY_ERASURES, MESSAGES_IN, Topic
from streams.edges.client.errors import CommandFailed
from streams.edges.client.records import OutgoingRecord
from streams.edges.mcp import log_memories, tool_memories
from streams.edges.mcp.log_memories import LogMemories
from streams.edges.mcp.tool import Call
from streams.edges.mcp.tool_memories import FactsAnswer, MemoriesArguments
from tests.builders.mcp_client import ANA, call, site, text

AT = datetime(2026, 3, 1, tzinfo=UTC)


def fact(name: str, value: str, minute: int, user: str = "ana", **more: Any) -> ClaimAsserted:
    fields = {
        "claim_id": name, "author": "user", "text": f"My locker code is {value}.", "subject": "my locker code",
        "attribute": "is", "value": value, "functional": True, "lang": "en", "message_id": f"m-{name}",
        "conversation_id": "c1", "client_id": "web", "user_id": user, "frame_id": "f", "seq": minute, "confidence": 0.9,
        "status": "asserted", "asserted_at": AT + timedelta(minutes=minute),
        "source": {"topic": "messages.in", "partition": 0, "offset": minute},
    }  # fmt: skip
    return ClaimAsserted.model_validate({**fields, **more})


def taken_back(claim_id: str) -> CorrectionIssued:
    return CorrectionIssued.model_validate(
        {"correction_id": f"k-{claim_id}", "kind": "claim", "target_id": claim_id, "text": "no", "user_id": "ana",
         "correction_kind": "factual", "ruling": "retract", "issued_at": AT + timedelta(hours=1)}
    )  # fmt: skip


class Log:
    """What a call reads, and what it sends."""

    def __init__(self, known: LogMemories, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sent: list[OutgoingRecord] = []

        async def read(_: Call) -> LogMemories:
            return known

        async def send(outgoing: Sequence[OutgoingRecord], _: Call) -> None:
            self.sent += outgoing

        monkeypatch.setattr(log_memories, "read", read)
        monkeypatch.setattr(tool_memories, "_send", send)

    def asks(self, action: str, user: str = "ana", **arguments: Any) -> FactsAnswer:
        asked = MemoriesArguments.model_validate({"action": action, **arguments})
        whose = Call(replace(ANA, user=user), "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", site())
        return asyncio.run(tool_memories.answer(asked, whose))


KNOWN = (fact("a", "7781", 1), fact("b", "9002", 2, supersedes=["a"]), fact("e", "4410", 3, user="eva"))


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Log:
    return Log(LogMemories(KNOWN, []), monkeypatch)


def test_a_list_has_the_current_facts_of_the_callers_user_alone(log: Log) -> None:
    found = log.asks("list")
    assert [(each.memory_id, each.value, each.status) for each in found.memories] == [("b", "9002", "holds")]
    assert (found.complete, log.sent) == (True, [])
    assert tool_memories.text(found) == "- b: my locker code: 9002 (holds, 2026-03-01)"
    assert [each.memory_id for each in log.asks("list", user="eva").memories] == ["e"]
    assert tool_memories.text(log.asks("search", text="bicycle")) == "nothing that fits is remembered"
    assert [each.memory_id for each in log.asks("search", text="code 9002").memories] == ["b"]


def test_of_many_facts_the_newest_come_and_are_not_all(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [fact(f"f{n:03}", str(n), n, subject=f"locker {n}") for n in range(60)]
    found = Log(LogMemories(many, []), monkeypatch).asks("list")
    assert [each.memory_id for each in found.memories] == [f"f{n:03}" for n in range(59, 9, -1)]
    assert found.complete is False
    assert tool_memories.text(found).endswith("there are more: search with words")


def test_what_was_taken_back_is_not_listed_and_the_older_value_holds_again(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Log(LogMemories(KNOWN, [taken_back("b")]), monkeypatch).asks("list")
    assert [(each.memory_id, each.status) for each in found.memories] == [("a", "holds")]


def test_an_addition_is_a_turn_of_the_user_without_a_pack(log: Log) -> None:
    added = log.asks("add", text="My bicycle is green.")
    [sent] = log.sent
    assert (sent.topic, sent.name) == (MESSAGES_IN.name, added.changed[0])
    assert b'"pack":false' in sent.value
    assert dict(sent.headers)["user_id"] == b"ana"


def test_an_edit_is_a_correction_in_the_users_name(log: Log) -> None:
    assert log.asks("correct", memory_id="b", text="1111").changed == ("b",)
    assert log.asks("confirm", memory_id="b").changed == ("b",)
    assert log.asks("delete", memory_id="b").changed == ("b",)
    assert {sent.topic for sent in log.sent} == {CORRECTIONS_IN.name}
    corrected, confirmed, deleted = (sent.value for sent in log.sent)
    assert b'"new_value":"1111"' in corrected
    assert b'"ruling":"confirm"' in confirmed
    assert b'"ruling":"retract"' in deleted
    assert all(b'"usuario_id":"ana"' in value for value in (corrected, confirmed, deleted))


@pytest.mark.parametrize(
    ("action", "memory_id", "says"),
    [
        ("confirm", "a", "this memory was replaced by b meanwhile; edit the one that is current"),
        ("confirm", "nope", "you have no such memory; take the memory_id from action list or search"),
        ("delete", "e", "you have no such memory; take the memory_id from action list or search"),
    ],
)
def test_an_edit_that_cannot_be_is_refused_in_one_sentence(log: Log, action: str, memory_id: str, says: str) -> None:
    with pytest.raises(CommandFailed) as refused:
        log.asks(action, memory_id=memory_id)
    assert str(refused.value) == says
    assert log.sent == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "action: Field required"),
        ({"action": "forget"}, "action: Input should be 'list', 'search', 'add', 'correct', 'confirm' or 'delete'"),
        ({"action": "search"}, "search needs text"),
        ({"action": "add", "text": " "}, "add needs text"),
        ({"action": "list", "memory_id": "a"}, "list takes no memory_id"),
        ({"action": "correct", "text": "x"}, "correct needs memory_id"),
        ({"action": "list", "user": "eva"}, "no argument 'user'"),
        ({"action": "list"}, "nothing is running in .fathom; start `fathom up`"),
    ],
)
def test_what_is_wrong_with_a_call_is_said(arguments: dict[str, Any], says: str) -> None:
    result = call("memories", arguments)
    assert result.is_error
    assert says in text(result)


def test_what_was_told_to_another_client_is_not_read_for_a_token_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    log = [fact("f1", "7781", 1), fact("f2", "9002", 2, client_id="app", conversation_id="c2")]
    gone = ErasureIssued.model_validate(
        {"erasure_id": "e1", "conversation_id": "c3", "client_id": "web", "asked_by": "ana", "up_to_seq": 3,
         "issued_at": AT, "source": {"topic": "messages.in", "partition": 0, "offset": 3}}
    )  # fmt: skip
    log += [fact("f3", "1", 3, conversation_id="c3"), fact("f4", "2", 4, conversation_id="c3")]

    async def events(topic: Topic, _: Call) -> tuple[list[Any], bool]:
        return {MEMORY_CLAIMS: log, MEMORY_ERASURES: [gone]}.get(topic, []), True

    monkeypatch.setattr(log_memories, "events", events)

    def read(only: str | None) -> list[str]:
        whose = Call(replace(ANA, only=only), "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", site())
        return [claim.claim_id for claim in asyncio.run(log_memories.read(whose)).claims]

    assert read(None) == ["f1", "f2", "f4"]
    assert read("web") == ["f1", "f4"]
    assert read("app") == ["f2"]
