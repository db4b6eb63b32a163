"""Facts that their user takes back, confirms or corrects, and what later packs make of it."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.chat import notes_of
from schemas.topics import CONVERSATION_TURNS, CORRECTIONS_IN, MEMORY_CLAIMS, MEMORY_CORRECTIONS, MEMORY_SUMMARIES
from streams.edges.operations.memories import MemoryQuery, memories
from streams.testing.pipeline import Pipeline

ASKED = {"en": "What is my locker code?", "pt": "Qual é o código do meu armário?"}
SAID = {"en": "My locker code is 7781.", "pt": "O código do meu armário é 7781."}


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline(reference_wait_ms=0) as pipeline:
        yield pipeline


def known(fathom: Pipeline, value: str) -> Any:
    return next(each.event for each in reversed(fathom.events(MEMORY_CLAIMS)) if value in each.event.value)


def edit(fathom: Pipeline, claim: Any, **fields: Any) -> None:
    value = {"claim_id": claim.claim_id, "usuario_id": claim.user_id, "texto": "edited", "tipo": "factual", **fields}
    fathom.clock.advance(60)
    fathom.publish(CORRECTIONS_IN, value, {"tenant": fathom.tenant}, b"k")
    fathom.settle()
    fathom.clock.advance(60)


def statuses(fathom: Pipeline) -> dict[str, str]:
    """Of each value, that of its newest statement."""
    query = MemoryQuery(fathom.tenant, known(fathom, "").user_id, all=True)
    page = fathom._run(memories(fathom.graph, query, datetime(2100, 1, 1, tzinfo=UTC)))
    return {each.value: each.status for each in reversed(page.memories)}


def refusals(fathom: Pipeline) -> list[str]:
    return [dict(record.headers)["fathom_reason"].decode() for record in fathom.log.of("dead-letters.correction")]


@pytest.mark.parametrize("lang", ["en", "pt"])
def test_what_was_taken_back_is_in_no_later_pack_neither_as_a_fact_nor_as_a_turn(fathom: Pipeline, lang: str):
    fathom.say(SAID[lang], conversation_id="c1")
    assert "7781" in fathom.ask(ASKED[lang], conversation_id="c2").text
    edit(fathom, known(fathom, "7781"), ruling="retract")
    for where in ("c1", "c3"):
        pack = fathom.ask(ASKED[lang], conversation_id=where)
        assert "7781" not in pack.text
    assert statuses(fathom)["7781"] == "taken_back"


def test_what_was_said_before_holds_again_where_the_newer_value_was_taken_back(fathom: Pipeline):
    fathom.say("My locker code is 7781.", conversation_id="c1")
    fathom.clock.advance(60)
    fathom.say("My locker code is 9002.", conversation_id="c2")
    edit(fathom, known(fathom, "9002"), ruling="retract")
    text = fathom.ask(ASKED["en"], conversation_id="c3").text
    assert "7781" in text
    assert "9002" not in text


CORRECTIONS = {
    ("My locker is number 12.", "No, 14."): "What is my locker number?",
    ("Meu armário é o 12.", "Não, é o 14."): "Qual é o meu armário?",
    ("My locker code is 12.", "Sorry, my locker code is 14."): "What is my locker code?",
    ("Meu código do armário é 12.", None): "Qual é o meu código do armário?",
    ("My locker code is 12.", None): "What is my locker code?",
}


@pytest.mark.parametrize(("said", "asked"), CORRECTIONS.items(), ids=str)
def test_a_fact_whose_correction_was_taken_back_is_a_fact_again(
    fathom: Pipeline, said: tuple[str, str | None], asked: str
):
    first, corrected = said
    fathom.say(first, conversation="c1", headers={"user_id": "ana"})
    fathom.clock.advance(60)
    if corrected is None:
        edit(fathom, known(fathom, "12"), new_value="14")
    else:
        fathom.say(corrected, conversation="c1", headers={"user_id": "ana"})
    edit(fathom, known(fathom, "14"), ruling="retract")
    pack = fathom.ask(asked, conversation="c2", headers={"user_id": "ana"})
    assert pack.semantic is not None
    assert ["12" in each.text for each in pack.semantic.definitions] == [True]
    assert {value[-2:]: status for value, status in statuses(fathom).items()} == {"12": "holds", "14": "taken_back"}


def test_a_confirmed_fact_is_the_newest_word_against_what_contested_it(fathom: Pipeline):
    fathom.say("My locker code is 7781.", conversation_id="c1")
    fathom.clock.advance(60)
    fathom.say("My locker code is 9002.", conversation_id="c2")
    assert statuses(fathom) == {"7781": "replaced", "9002": "holds"}
    edit(fathom, known(fathom, "7781"), ruling="confirm")
    assert statuses(fathom) == {"7781": "confirmed", "9002": "replaced"}


def test_a_corrected_fact_is_answered_with_the_new_value(fathom: Pipeline):
    fathom.say("My locker code is 7781.", conversation_id="c1")
    edit(fathom, known(fathom, "7781"), new_value="9002")
    assert statuses(fathom) == {"7781": "replaced", "9002": "holds"}
    assert "9002" in fathom.ask(ASKED["en"], conversation_id="c2").text


@pytest.mark.parametrize("lang", ["en", "pt"])
def test_the_turn_in_which_a_corrected_fact_was_said_is_marked_as_replaced(fathom: Pipeline, lang: str):
    fathom.say(SAID[lang], conversation_id="c1")
    edit(fathom, known(fathom, "7781"), new_value="9002")
    pack = fathom.ask(ASKED[lang], conversation_id="c2")
    assert pack.episodic is not None
    [(holds, reason)] = [(item.holds, item.reason) for item in pack.episodic.relevant_events if "7781" in item.label]
    assert holds is False
    assert "replaced later by 9002" in reason


def test_a_turn_is_marked_by_what_is_asked_of_it(fathom: Pipeline):
    fathom.say("My locker code is 7781. My dog is called Rex.", conversation_id="c1")
    edit(fathom, known(fathom, "7781"), new_value="9002")
    for asked, holds in ((ASKED["en"], False), ("What is my dog called?", None)):
        pack = fathom.ask(asked, conversation_id="c2")
        assert pack.episodic is not None
        assert [item.holds for item in pack.episodic.relevant_events if "7781" in item.label] == [holds]


def test_taking_a_fact_back_hides_neither_turns_of_the_same_id_nor_other_facts_of_its_turn(fathom: Pipeline):
    text = "My locker code is 7781. My dog is called Rex."
    fathom.say(text, conversation="c1", message_id="1", headers={"user_id": "eve"})
    fathom.say("My boat is called Argo.", conversation="c2", message_id="1", headers={"user_id": "bob"})
    edit(fathom, known(fathom, "7781"), ruling="retract")
    bob = fathom.ask("What is my boat called?", conversation="c3", headers={"user_id": "bob"}).text
    assert "My boat is called Argo." in bob
    eve = fathom.ask("What is my dog called?", conversation="c4", headers={"user_id": "eve"}).text
    assert "Rex" in eve
    assert "7781" not in eve


def test_nobody_speaks_in_the_notes_of_another(fathom: Pipeline):
    bound = {"user_id": "eve", "user_bound": "true"}
    fathom.say("hello there", conversation=notes_of("bob"), headers=bound, pack=False)
    assert [each.event.user_id for each in fathom.events(CONVERSATION_TURNS)] == []
    fathom.say("My boat is called Argo.", conversation=notes_of("eve"), headers=bound, pack=False)
    assert [each.event.user_id for each in fathom.events(CONVERSATION_TURNS)] == ["eve"]


def test_only_its_user_takes_a_fact_back(fathom: Pipeline):
    fathom.say("My locker code is 7781.", conversation_id="c1")
    edit(fathom, known(fathom, "7781"), ruling="retract", usuario_id="bia")
    assert refusals(fathom) == ["claim_of_another"]
    assert fathom.events(MEMORY_CORRECTIONS) == []
    assert "7781" in fathom.ask(ASKED["en"], conversation_id="c2").text


@pytest.mark.parametrize(
    ("text", "value"),
    [("I take my coffee black.", "black"), ("Prefere reuniões de manhã", "Prefere reuniões de manhã")],
)
def test_what_is_noted_for_a_user_is_a_fact_also_where_nothing_more_precise_is_read(
    fathom: Pipeline, text: str, value: str
):
    fathom.say(text, conversation_id=notes_of("ana"), headers={"user_id": "ana"}, pack=False)
    [claim] = [each.event for each in fathom.events(MEMORY_CLAIMS)]
    assert claim.user_id == "ana"
    assert value in claim.value
    fathom.say(text.replace("reuniões", "aulas"), conversation_id="c2", headers={"user_id": "bia"}, pack=False)
    assert {each.event.user_id for each in fathom.events(MEMORY_CLAIMS) if each.event.attribute == "note"} <= {"ana"}


@pytest.mark.parametrize("fields", [{"new_value": "9002", "ruling": "confirm"}, {"ruling": "forget"}])
def test_a_ruling_that_is_none_becomes_a_dead_letter(fathom: Pipeline, fields: dict[str, str]):
    fathom.say("My locker code is 7781.", conversation_id="c1")
    edit(fathom, known(fathom, "7781"), **fields)
    assert refusals(fathom) == ["schema_invalid"]


def test_questions_alone_are_no_evidence_for_the_same_question_later() -> None:
    asked = (
        "What is the minimum order of tyres at Nordrad?", "How much does the Tagus City E cost?",
        "Quanto tempo demora a entrega nos Açores?", "What is the wifi password of the shop?",
        "Who decides about holidays?", "tell me about the repair of tyres",
    )  # fmt: skip
    with Pipeline() as fathom:
        for text in asked:
            fathom.say(text, conversation="b1")
        assert fathom.events(MEMORY_SUMMARIES) == []
        pack = fathom.ask("What is the minimum order of tyres at Nordrad?", conversation="b2")
        assert pack.evidence == "none"
        assert pack.episodic is None or pack.episodic.conversation_summaries == ()
        fathom.say("The minimum order of tyres at Nordrad is 40.", role="assistant", conversation="b1")
        assert len(fathom.events(MEMORY_SUMMARIES)) == 1
        assert fathom.ask("What is the minimum order of tyres at Nordrad?", conversation="b3").evidence == "found"
