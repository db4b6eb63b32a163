"""What was said before Fathom is brought in as turns without packs: found and dated as it was said, and no decision."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from schemas.topics import (
    ANSWERS_OUT,
    CONTEXT_PACKS,
    CONVERSATION_TURNS,
    DEPTH_CLASSIFIED,
    MEMORY_CLAIMS,
    MEMORY_DECISIONS,
)
from streams.testing.pipeline import EPOCH, Pipeline

LAST_YEAR = EPOCH - timedelta(days=365)
ANA = {"headers": {"user_id": "ana"}}


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        yield pipeline


def remember(fathom: Pipeline, text: str, **fields: Any) -> str:
    return fathom.say(text, **{"conversation": "old", "created_at": LAST_YEAR, "pack": False, **ANA, **fields})


def redelivered(fathom: Pipeline, message_id: str) -> None:
    """The same record of the producer again."""
    record = next(each for each in fathom.log.of("messages.in") if message_id.encode() in (each.value or b""))
    fathom.log.append(record.topic, record.key, record.value, record.headers, record.partition)
    fathom.settle()


def told(fathom: Pipeline, question: str, conversation: str = "today") -> str:
    return fathom.ask(question, conversation=conversation, **ANA).text


def test_a_turn_without_a_pack_is_accepted_with_its_date_and_nothing_is_decided(fathom: Pipeline):
    said = remember(fathom, "Minha alergia é a amendoim.")
    remember(fathom, "Anotado.", role="assistant", answers=said)
    turns = [each.event for each in fathom.events(CONVERSATION_TURNS)]
    assert [(turn.role, turn.pack, turn.created_at, turn.depth_level) for turn in turns] == [
        ("user", False, LAST_YEAR, None), ("assistant", False, LAST_YEAR, None),
    ]  # fmt: skip
    assert turns[0].frame_id == turns[1].frame_id
    for topic in (DEPTH_CLASSIFIED, CONTEXT_PACKS, MEMORY_DECISIONS, ANSWERS_OUT):
        assert not fathom.events(topic), topic.name


def test_redelivered_and_read_from_the_log_again_it_is_the_same_turn(fathom: Pipeline):
    said = remember(fathom, "Minha alergia é a amendoim.")
    redelivered(fathom, said)
    assert len(fathom.events(CONVERSATION_TURNS)) == 1
    fathom.working_sets.clear()
    fathom.crash("depth")
    redelivered(fathom, said)
    assert len(fathom.events(CONVERSATION_TURNS)) == 1


def test_a_conversation_goes_on_after_what_was_brought_in(fathom: Pipeline):
    remember(fathom, "O contrato com a Atlas termina em 31 de março.", created_at=EPOCH - timedelta(minutes=5))
    pack = fathom.ask("E quando ele começou?", conversation="old", **ANA)
    assert "31 de março" in pack.text
    assert len(fathom.events(DEPTH_CLASSIFIED)) == 1


@pytest.mark.parametrize(
    ("said", "asked", "word"),
    [
        ("Minha alergia é a amendoim.", "Qual é a minha alergia?", "amendoim"),
        ("My dog is called Pirate.", "What is my dog called?", "Pirate"),
    ],
)
def test_a_fact_of_last_year_is_found_by_a_question_of_today(fathom: Pipeline, said: str, asked: str, word: str):
    remember(fathom, said)
    assert word in told(fathom, asked)


def test_a_fact_said_before_the_import_is_newer_than_the_imported_one(fathom: Pipeline):
    fathom.say("O prazo do projeto X é dia 20", conversation="recent", **ANA)
    fathom.clock.advance(60)
    remember(fathom, "O prazo do projeto X é dia 15")
    assert {claim.event.value for claim in fathom.events(MEMORY_CLAIMS)} >= {"dia 20", "dia 15"}
    pack = fathom.ask("Por que o prazo do projeto X mudou?", conversation="today", **ANA)
    assert pack.semantic is not None
    [found] = pack.semantic.definitions
    assert found.text.startswith("dia 20")
    assert "before: dia 15 (2025-03-02)" in found.reason


def test_a_turn_without_a_pack_dated_tomorrow_is_refused(fathom: Pipeline):
    remember(fathom, "Minha alergia é a amendoim.", created_at=fathom.clock.now() + timedelta(days=1))
    assert not fathom.events(CONVERSATION_TURNS)
    [letter] = fathom.log.of("dead-letters.depth")
    assert dict(letter.headers)["fathom_reason"] == b"from_the_future"
