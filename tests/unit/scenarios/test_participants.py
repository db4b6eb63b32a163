"""A conversation belongs to those who take part: who speaks for one user alone is not let into one of others."""

from collections.abc import Iterator
from typing import Any

import pytest

from agents.errors import Unavailable
from schemas.topics import CONTEXT_PACKS, CONVERSATION_TURNS, MEMORY_ERASURES, MESSAGES_IN, TOOLS_CALLS_IN
from streams.testing.pipeline import Pipeline

SECRET = "SALARYCANARY"


def of(user: str) -> dict[str, Any]:
    """What a token of one user sends."""
    return {"headers": {"user_id": user, "user_bound": "true"}}


def by_application(user: str | None = None) -> dict[str, Any]:
    return {"headers": {} if user is None else {"user_id": user}}


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        yield pipeline


def refusals(fathom: Pipeline, stage: str = "depth") -> list[tuple[str, str]]:
    letters = [dict(record.headers) for record in fathom.log.of(f"dead-letters.{stage}")]
    return [(each["fathom_reason"].decode(), each["__streams.errors.message"].decode()) for each in letters]


UNKNOWN = ("unknown_conversation", "there is no conversation '7' of client 'web'")


@pytest.mark.covers("S1-05")
def test_nobody_is_let_into_the_conversation_of_another_by_its_id(fathom: Pipeline) -> None:
    fathom.say(f"My salary is {SECRET} 4711.", conversation="7", **of("alice"))
    fathom.say("What was said before in this conversation?", conversation="7", **of("bob"))
    fathom.say("Your account is IBAN BOBCANARY.", role="assistant", conversation="7", **of("bob"))
    assert refusals(fathom) == [UNKNOWN, UNKNOWN]
    assert [pack.user_id for pack in fathom.packs()] == ["alice"]
    assert "BOBCANARY" not in fathom.ask("And my salary?", conversation="7", **of("alice")).model_dump_json()
    assert {turn.event.user_id for turn in fathom.events(CONVERSATION_TURNS)} == {"alice"}


def test_a_user_takes_part_in_the_conversation_that_the_user_opened_also_after_a_restart(fathom: Pipeline) -> None:
    fathom.say("The code of the shelf is 4.", conversation="7", **of("alice"))
    fathom.crash("depth")
    assert fathom.ask("Which code?", conversation="7", **of("alice")).working_set.recent_messages
    assert refusals(fathom) == []


def test_an_application_adds_users_by_naming_them_and_users_do_not_add_themselves(fathom: Pipeline) -> None:
    fathom.say("Welcome to the group.", conversation="7", **by_application("ana"))
    fathom.say("Let me in!", conversation="7", **of("bob"))
    assert refusals(fathom) == [UNKNOWN]
    fathom.say("Hello everybody.", conversation="7", **by_application("bob"))
    assert fathom.ask("Who is here?", conversation="7", **of("bob")).user_id == "bob"
    assert fathom.ask("And now?", conversation="7", **of("ana")).user_id == "ana"
    assert refusals(fathom) == [UNKNOWN]


def test_a_conversation_without_a_user_is_the_applications(fathom: Pipeline) -> None:
    fathom.say("The stock is 14.", conversation="7", **by_application())
    fathom.say("How much?", conversation="7", **of("bob"))
    fathom.say("How much?", conversation="7", **of("web"))  # whose id is the client's
    assert refusals(fathom) == [UNKNOWN, UNKNOWN]
    assert fathom.ask("How much?", conversation="7", **by_application()).working_set.recent_messages


def test_nobody_erases_the_conversation_of_another_and_nobody_blocks_an_erasure(fathom: Pipeline) -> None:
    where = fathom.conversation("7")
    wish = {"conversation_id": "7", "client_id": where.client_id, "forgotten": True}
    fathom.say("The code is 4.", conversation="7", **of("alice"))
    fathom.say("Mine now.", conversation="7", **of("bob"))
    headers = {"tenant": where.tenant, "user_bound": "true"}
    fathom.publish(MESSAGES_IN, wish, {**headers, "user_id": "bob"}, where.key().encode())
    assert fathom.events(MEMORY_ERASURES) == []
    fathom.publish(MESSAGES_IN, wish, {**headers, "user_id": "alice"}, where.key().encode())
    assert [each.event.asked_by for each in fathom.events(MEMORY_ERASURES)] == ["alice"]
    # What is forgotten is nobody's: who speaks there next has opened it.
    assert fathom.ask("Is it free?", conversation="7", **of("bob")).working_set.recent_messages == ()
    fathom.say("And mine?", conversation="7", **of("alice"))
    assert refusals(fathom) == [UNKNOWN, UNKNOWN, UNKNOWN]


def test_a_session_of_an_older_version_belongs_to_those_whose_turns_it_has(fathom: Pipeline) -> None:
    fathom.say("The code is 4.", conversation="7", **of("alice"))
    fathom.say("Noted.", role="assistant", conversation="7", **by_application())
    store = fathom.working_sets
    held = store._kept  # type: ignore[attr-defined]
    for kept in held.values():
        kept.session = kept.session.replace(b'"participants":["alice"]', b'"participants":null')
    fathom.crash("depth")
    fathom.say("Mine?", conversation="7", **of("bob"))
    assert refusals(fathom) == [UNKNOWN]
    assert fathom.ask("Which code?", conversation="7", **of("alice")).working_set.recent_messages


def test_without_the_working_set_a_user_waits_and_an_application_does_not(
    fathom: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    fathom.say("The code is 4.", conversation="7", **of("alice"))
    opened = type(fathom.working_sets).open
    away = {"times": 3}

    async def sometimes(self: Any, *arguments: Any, **named: Any) -> Any:
        if away["times"]:
            away["times"] -= 1
            raise Unavailable("working_set")
        return await opened(self, *arguments, **named)

    monkeypatch.setattr("streams.runtime.stage_sender.FIRST_WAIT", 0.0)
    monkeypatch.setattr(type(fathom.working_sets), "open", sometimes)
    fathom.say("Mine now.", conversation="7", **of("bob"))
    assert refusals(fathom) == [UNKNOWN]


def test_a_tool_call_in_the_conversation_of_another_learns_nothing_of_it(fathom: Pipeline) -> None:
    fathom.say("Look up order 4711 please.", conversation="7", **of("alice"))
    where = fathom.conversation("7")
    call = {"call_id": "x", "nome_tool": "orders", "args": {}, "session_id": "7", "client_id": where.client_id}
    headers = {"tenant": where.tenant, "user_id": "bob", "user_bound": "true", "ce_id": "x"}
    fathom.publish(TOOLS_CALLS_IN, call, headers, where.key().encode())
    fathom.settle()
    assert refusals(fathom, "tool-gate") == [UNKNOWN]


def test_what_is_stated_on_a_structured_record_holds_too(fathom: Pipeline) -> None:
    fathom.say("Mine.", conversation="7", **of("alice"))
    where = fathom.conversation("7")
    data = {"question": "What was said?", "conversation_id": "7", "client_id": where.client_id}
    event = {"specversion": "1.0", "id": "e", "type": "t", "source": "s", "tenant": where.tenant, "data": data}
    event |= {"userid": "bob", "userbound": "true"}
    fathom.publish(MESSAGES_IN, event, {"content-type": "application/cloudevents+json"}, where.key().encode())
    assert refusals(fathom) == [UNKNOWN]
    assert [pack.event.user_id for pack in fathom.events(CONTEXT_PACKS)] == ["alice"]
