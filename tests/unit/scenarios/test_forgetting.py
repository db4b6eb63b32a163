"""A conversation that is forgotten: nothing of it is offered again, everything else stays, in any order of records."""

from collections.abc import Iterator
from typing import Any

import pytest

from schemas.packs import ContextPack
from schemas.topics import CONTEXT_PACKS, MEMORY_DECISIONS, MEMORY_ERASURES, MESSAGES_IN, TOOLS_CALLS_IN
from streams.testing.pipeline import Pipeline

SECRET = "zircônio"
ANA = {"headers": {"user_id": "ana"}}
ASKED = "Quando é mesmo a revisão do projeto Farol?"


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        yield pipeline


def forget(fathom: Pipeline, conversation: str, *, by: str = "ana", **whose: str) -> None:
    where = fathom.conversation(conversation, **whose)
    value = {"conversation_id": conversation, "client_id": where.client_id, "forgotten": True}
    fathom.clock.advance(0.001)
    fathom.publish(MESSAGES_IN, value, {"tenant": where.tenant, "user_id": by}, where.key().encode())


def tell(fathom: Pipeline, conversation: str, word: str = SECRET, **whose: Any) -> None:
    """A talk with a fact, an answer, a summary, a date and a correction, all of which name the word."""
    whose = whose or ANA
    asked = fathom.say(f"O prazo do projeto Farol é dia 15, o código é {word}.", conversation=conversation, **whose)
    mended = f"Não, o prazo do projeto Farol mudou para dia 20, por causa de {word}."
    said = f"Anotado: o código do projeto Farol é {word} e a revisão {word} fica para 20 de abril de 2026."
    fathom.say(said, role="assistant", answers=asked, conversation=conversation, **whose)
    fathom.say(mended, conversation=conversation, **whose)
    fathom.clock.advance(60)


def recent(pack: ContextPack) -> list[str]:
    """The turns that the working set of a pack has."""
    return [turn.content for turn in pack.working_set.recent_messages]


def held(fathom: Pipeline) -> str:
    """All that the stores hold, as text."""
    sets, engine = fathom.working_sets._kept, fathom.graph.engine
    return repr((sets, engine.nodes, fathom.index._indexed, fathom.tool_sessions._sessions))


def test_nothing_of_a_forgotten_conversation_is_left_in_a_store_or_offered(fathom: Pipeline):
    tell(fathom, "first")
    assert SECRET in fathom.ask(ASKED, conversation="before", **ANA).model_dump_json()
    assert SECRET in held(fathom)
    forget(fathom, "before")
    forget(fathom, "first")
    assert SECRET not in held(fathom)
    for conversation in ("after", "first"):
        assert SECRET not in fathom.ask(ASKED, conversation=conversation, **ANA).model_dump_json()
    left = {label: len(fathom.nodes(label)) for label in ("Claim", "Correcao", "ConversationSummary", "TimePoint")}
    assert not any(left.values()), left


def test_a_message_after_it_is_a_first_message_and_what_is_said_then_is_remembered(fathom: Pipeline):
    tell(fathom, "first")
    forget(fathom, "first")
    pack = fathom.ask("E por que mudou?", conversation="first", **ANA)
    assert pack.depth_level == fathom.ask("E por que mudou?", conversation="new").depth_level
    assert recent(pack) == []
    fathom.say("O projeto Farol agora se chama obsidiana.", conversation="first", **ANA)
    again = fathom.ask("Como se chama agora?", conversation="first", **ANA)
    assert recent(again)[-1:] == ["O projeto Farol agora se chama obsidiana."]
    assert "obsidiana" in held(fathom)
    assert SECRET not in again.model_dump_json()


def test_other_conversations_clients_and_tenants_keep_theirs(fathom: Pipeline):
    mine = {"tenant": "acme", "client_id": "web"}
    others = [{"tenant": "other", "client_id": "web"}, {"tenant": "acme", "client_id": "phone"}]
    tell(fathom, "first")
    tell(fathom, "second", "turmalina", **ANA)
    for number, whose in enumerate(others):
        tell(fathom, "first", f"granada{number}", **ANA, **whose)
    before = held(fathom)
    forget(fathom, "first")
    after = held(fathom)
    assert SECRET not in after
    for word in ("turmalina", "granada0", "granada1"):
        assert (after.count(word), before.count(word)) == (before.count(word), before.count(word))
    assert "turmalina" in fathom.ask(ASKED, conversation="third", **ANA).model_dump_json()
    assert mine["client_id"] == fathom.client


@pytest.mark.covers("B24")
def test_forgetting_twice_erases_once_and_each_is_audited_without_a_word(fathom: Pipeline):
    tell(fathom, "first")
    forget(fathom, "first")
    state = held(fathom)
    forget(fathom, "first", by="bia")
    first, second = [r.event for r in fathom.events(MEMORY_DECISIONS) if getattr(r.event, "kind", "") == "erasure"]
    assert (first.actor, second.actor) == ("ana", "bia")
    assert first.detail["erased"]["turns"] == 3
    assert first.detail["erased"]["claims"] >= 2
    assert not any(second.detail["erased"].values())
    assert SECRET not in first.model_dump_json()
    assert [r.event.asked_by for r in fathom.events(MEMORY_ERASURES)] == ["ana", "bia"]
    assert SECRET not in state


@pytest.mark.parametrize("group", ["depth", "learning", "graph-writers", "index-writers", "tool-gate"])
def test_records_that_are_read_again_after_a_crash_bring_nothing_back(fathom: Pipeline, group: str):
    tell(fathom, "first")
    forget(fathom, "first")
    fathom.say("O projeto Farol agora se chama obsidiana.", conversation="first", **ANA)
    member = fathom._members[group]
    member.acked.clear()  # nothing was committed: all is read again
    fathom.crash(group)
    fathom.settle()
    assert SECRET not in held(fathom)
    assert "obsidiana" in held(fathom)


def test_a_redelivered_forgetting_leaves_what_was_said_since(fathom: Pipeline):
    tell(fathom, "first")
    forget(fathom, "first")
    fathom.say("O projeto Farol agora se chama obsidiana.", conversation="first", **ANA)
    fathom._members["depth"].acked.clear()
    fathom.crash("depth")
    fathom.settle()
    pack = fathom.ask("Como se chama agora?", conversation="first", **ANA)
    assert recent(pack) == ["O projeto Farol agora se chama obsidiana."]


def test_working_sets_and_tool_sessions_restored_from_the_log_have_nothing_of_it(fathom: Pipeline):
    tell(fathom, "first")
    call = {"call_id": "k1", "client_id": "web", "session_id": "first", "nome_tool": "x", "args": {"a": SECRET}}
    key = fathom.conversation("first").key().encode()
    fathom.publish(TOOLS_CALLS_IN, call, {"tenant": "acme"}, key)
    assert SECRET in repr(fathom.tool_sessions._sessions) or "k1" in repr(fathom.tool_sessions._sessions)
    forget(fathom, "first")
    assert "k1" not in repr(fathom.tool_sessions._sessions)
    fathom.clock.advance(1)
    fathom.say("O projeto Farol agora se chama obsidiana.", conversation="first", **ANA)
    fathom.working_sets.clear()
    fathom.tool_sessions.clear()
    pack = fathom.ask("Como se chama agora?", conversation="first", **ANA)
    assert recent(pack) == ["O projeto Farol agora se chama obsidiana."]
    fathom.publish(TOOLS_CALLS_IN, {**call, "call_id": "k2"}, {"tenant": "acme"}, key)
    assert "k2" in repr(fathom.tool_sessions._sessions)
    assert "k1" not in repr(fathom.tool_sessions._sessions)


def test_a_wish_without_a_conversation_is_a_dead_letter_and_unknown_ones_do_no_harm(fathom: Pipeline):
    forget(fathom, "never")
    fathom.publish(MESSAGES_IN, {"client_id": "web", "forgotten": True}, {"tenant": "acme"})
    fathom.publish(MESSAGES_IN, {"client_id": "web", "conversation_id": "c", "forgotten": False}, {"tenant": "acme"})
    assert len(fathom.log.of("dead-letters.depth")) == 2
    assert len(fathom.events(CONTEXT_PACKS)) == 0
