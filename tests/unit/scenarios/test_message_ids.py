"""Producers number their messages in each conversation anew: what one says under an id leaves another's alone."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from agents.ports.graph import Asker
from schemas.topics import MESSAGES_IN
from streams.testing.pipeline import Pipeline

REX = "My dog Rex was vaccinated in Porto by doctor Brito."
APPLES = "I like green apples from the market of Lisbon."


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        yield pipeline


def say(fathom: Pipeline, user: str, text: str, conversation: str) -> None:
    fathom.say(text, conversation=conversation, message_id="1", headers={"user_id": user})
    fathom.wait(2)
    fathom.say("Noted.", role="assistant", conversation=conversation, message_id="2", headers={"user_id": user})
    fathom.wait(2)


def searched(fathom: Pipeline) -> set[str]:
    """The turns that the index has."""
    return {each.passage.text for each in fathom.index._indexed.values() if each.passage.kind == "message"}


def asked(fathom: Pipeline, user: str) -> dict[str, str]:
    """The question of each decision on the messages of a user, by conversation, as they are listed."""
    until = fathom.clock.now()
    whose, since = Asker(None, user), until - timedelta(days=1)
    made = fathom._run(fathom.graph.decisions("acme", whose=whose, since=since, as_of=until, limit=9))
    texts = fathom._run(fathom.graph.questions("acme", [each.decision_id for each in made], until))
    return {each.conversation_id: texts[each.decision_id] for each in made}


def forget(fathom: Pipeline, conversation: str) -> None:
    forgotten = {"forgotten": True, "conversation_id": conversation, "client_id": "web"}
    fathom.publish(MESSAGES_IN, forgotten, {"tenant": "acme"}, fathom.conversation(conversation).key().encode())
    fathom.wait(2)


def test_what_another_says_under_an_id_replaces_nothing(fathom: Pipeline) -> None:
    say(fathom, "ana", REX, "a")
    say(fathom, "bia", APPLES, "b")
    assert {REX, APPLES} <= searched(fathom)
    assert (asked(fathom, "ana"), asked(fathom, "bia")) == ({"a": REX}, {"b": APPLES})
    forget(fathom, "b")
    assert REX in searched(fathom)
    assert APPLES not in searched(fathom)
    assert (asked(fathom, "ana"), asked(fathom, "bia")) == ({"a": REX}, {})
    forget(fathom, "a")
    assert (searched(fathom), asked(fathom, "ana"), fathom.nodes("Message")) == (set(), {}, [])


def test_one_user_keeps_what_was_said_in_both_conversations(fathom: Pipeline) -> None:
    say(fathom, "ana", REX, "a")
    say(fathom, "ana", APPLES, "b")
    assert {REX, APPLES} <= searched(fathom)
    assert asked(fathom, "ana") == {"a": REX, "b": APPLES}
