"""What a message takes over from what was said before it: parameters, intent and entity, with where each was named."""

from collections.abc import Iterator
from typing import Any

import pytest

from agents.core.assessment.context_needs import assess
from schemas.chat import Turn
from schemas.depth import DepthClassified, DepthLevel
from schemas.policy import ContextPolicy, PlannerPolicy
from schemas.topics import ANSWERS_OUT, CONVERSATION_TURNS, DEPTH_CLASSIFIED, RETRIEVAL_PLANS
from streams.testing.pipeline import Pipeline
from tests.builders.events import CONVERSATION

PRICE, ELLIPTIC = "Qual o preço de PETR4?", "e o dividendo?"
EXPLAIN = "explica melhor o preço de PETR4"


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        yield pipeline


def said(fathom: Pipeline, text: str, **fields: Any) -> tuple[Turn, DepthClassified]:
    """The turn of a message and its depth."""
    message_id = fathom.say(text, **fields)
    return (
        fathom.one(CONVERSATION_TURNS, message_id=message_id),
        fathom.one(DEPTH_CLASSIFIED, message_id=message_id),
    )


def parameters(classified: DepthClassified) -> list[tuple[str, str, str]]:
    return [(each.kind, each.value, each.source) for each in classified.parameters or ()]


def session(fathom: Pipeline) -> Any:
    return fathom._run(fathom.working_sets.open(CONVERSATION, "", 10)).session


@pytest.mark.covers("AC-45", "S1-L3", "S1-L6", "S1-L7", "S1-L8", "S1-L9")
def test_a_follow_up_goes_on_about_the_ticker_the_intent_and_the_entity_of_before(fathom: Pipeline):
    asked = fathom.say(PRICE)
    fathom.say("PETR4 está a R$ 38,12; VALE3 a R$ 60.", role="assistant", answers=asked)
    turn, classified = said(fathom, ELLIPTIC)
    assert (turn.intent, turn.entity) == ("direct_question", "PETR4")
    [parameter] = classified.parameters or ()
    assert (parameter.kind, parameter.value, parameter.source) == ("ticker", "PETR4", "history")
    assert parameter.message_id == asked
    assert parameter.at == fathom.events(CONVERSATION_TURNS)[0].event.created_at
    known = session(fathom)
    assert (known.last_ticker, known.last_entity, known.last_reference.kind) == ("PETR4", "PETR4", "ticker")
    assert known.last_reference.message_id == asked


@pytest.mark.covers("AC-45", "S1-L7")
def test_what_a_follow_up_names_itself_comes_first(fathom: Pipeline):
    fathom.say(PRICE)
    turn, classified = said(fathom, "e o dividendo da VALE3?")
    assert parameters(classified) == [("ticker", "VALE3", "message")]
    assert turn.entity == "VALE3"
    assert turn.references is not None
    assert [(each.value, each.message_id) for each in turn.references] == [("VALE3", turn.message_id)]
    _, next_one = said(fathom, "e o preço?")
    assert parameters(next_one) == [("ticker", "VALE3", "history")]
    assert session(fathom).last_ticker == "VALE3"


@pytest.mark.covers("S1-L3")
def test_only_what_is_lacking_is_taken_over(fathom: Pipeline):
    fathom.say("Qual o preço de PETR4 em 12/03/2026?")
    _, classified = said(fathom, "e da VALE3?")
    assert parameters(classified) == [("date", "12/03/2026", "history"), ("ticker", "VALE3", "message")]


@pytest.mark.parametrize(
    "text",
    ["Qual o email do João Silva?", "Mudando de assunto, quem aprova férias?", "obrigado!", "O que é inflação?"],
    ids=["of-its-own", "other-subject", "courtesy", "explains-itself"],
)
def test_a_message_that_does_not_go_on_takes_nothing_over(fathom: Pipeline, text: str):
    fathom.say(PRICE)
    turn, classified = said(fathom, text)
    assert parameters(classified) == []
    assert turn.entity != "PETR4"


@pytest.mark.covers("S1-L3", "S1-L7")
@pytest.mark.parametrize(
    ("both", "next_one"),
    [("Compare PETR4 e VALE3", "e o dividendo?"), ("What about PETR4 and VALE3?", "and their dividends?")],
)
def test_of_two_named_together_both_are_taken_over(fathom: Pipeline, both: str, next_one: str):
    fathom.say(both)
    _, classified = said(fathom, next_one)
    assert parameters(classified) == [("ticker", "PETR4", "history"), ("ticker", "VALE3", "history")]
    assert session(fathom).last_ticker is None


@pytest.mark.covers("S1-L3")
def test_once_another_subject_is_named_the_parameters_are_not_of_the_one_before(fathom: Pipeline):
    fathom.say(PRICE)
    fathom.say("Qual o telefone do Carlos?")
    turn, classified = said(fathom, ELLIPTIC)
    assert turn.entity == "Carlos"
    assert parameters(classified) == []


@pytest.mark.covers("S1-L6", "S1-L8")
def test_a_courtesy_between_is_passed_over(fathom: Pipeline):
    fathom.say(PRICE)
    fathom.say("obrigado!")
    turn, classified = said(fathom, ELLIPTIC)
    assert (turn.intent, turn.entity) == ("direct_question", "PETR4")
    assert parameters(classified) == [("ticker", "PETR4", "history")]


def test_another_subject_is_another_frame_with_nothing_named_yet(fathom: Pipeline):
    fathom.say(PRICE)
    fathom.say("Mudando de assunto, quem aprova férias?")
    turn, classified = said(fathom, "e quando?")
    assert (parameters(classified), turn.entity) == ([], None)
    assert session(fathom).references == ()


@pytest.mark.covers("S1-20", "CF-63")
def test_what_was_named_too_long_ago_by_event_time_is_not_taken_over():
    with Pipeline(policy=ContextPolicy(ttl_seconds=60)) as fathom:
        fathom.say(PRICE)
        fathom.clock.advance(50)
        fathom.say("qual a cotação hoje?")
        fathom.clock.advance(20)
        _, classified = said(fathom, ELLIPTIC)
        assert parameters(classified) == []
        fathom.say(EXPLAIN)
        fathom.clock.advance(70)
        turn, _ = said(fathom, ELLIPTIC)
        assert (turn.intent, turn.entity) == ("direct_question", None)


@pytest.mark.covers("AC-40", "S1-17")
@pytest.mark.parametrize(
    ("policy", "intent"),
    [
        (ContextPolicy(enabled=False), "direct_question"),
        (ContextPolicy(planner=PlannerPolicy(enabled=False)), "follow_up"),
    ],
    ids=["no-memory", "planner-off"],
)
def test_switched_off_nothing_is_taken_over_and_what_is_named_still_counts(policy: ContextPolicy, intent: str):
    with Pipeline(policy=policy) as fathom:
        _, first = said(fathom, EXPLAIN)
        turn, second = said(fathom, ELLIPTIC)
        assert parameters(first) == [("ticker", "PETR4", "message")]
        assert parameters(second) == []
        assert (turn.intent, turn.entity) == (intent, None)


def test_a_follow_up_to_an_explanation_asks_for_an_explanation(fathom: Pipeline):
    fathom.say(EXPLAIN)
    turn, _ = said(fathom, ELLIPTIC)
    assert (turn.intent, turn.entity) == ("explanation", "PETR4")


@pytest.mark.covers("S1-L9", "S1-M1")
def test_the_wire_form_of_a_turn_says_what_it_named(fathom: Pipeline):
    asked = fathom.say(PRICE)
    fathom.say(ELLIPTIC)
    context = fathom.dependencies().context
    first, second = context.to_wire(fathom._run(context.load_recent(CONVERSATION, fathom.clock.now())))
    at = fathom.events(CONVERSATION_TURNS)[0].event.created_at.isoformat().replace("+00:00", "Z")
    named = {"kind": "ticker", "value": "PETR4", "message_id": asked, "at": at}
    assert (first["meta"]["last_reference"], first["meta"]["last_ticker"]) == (named, "PETR4")
    assert not {"last_reference", "last_ticker"} & set(second["meta"])
    assert second["meta"]["entity"] == "PETR4"


@pytest.mark.covers("S1-09", "S1-M3")
def test_the_plan_knows_what_the_message_goes_on_about_and_the_client_is_told_nothing_of_it(fathom: Pipeline):
    fathom.say(PRICE)
    asked = fathom.say("por quê?")
    fathom.say("Porque sim.", role="assistant", answers=asked)
    plan = fathom.one(RETRIEVAL_PLANS, message_id=asked)
    assert [(each.value, each.source) for each in plan.parameters] == [("PETR4", "history")]
    assert plan.strategy == "explain_with_context"
    [record] = fathom.log.of(ANSWERS_OUT.name)
    assert b"PETR4" not in record.value


@pytest.mark.covers("S1-L3")
def test_what_a_message_goes_on_about_is_looked_for(fathom: Pipeline):
    fathom.document("d1", "Relatório anual", "A companhia PETR4 pagou menos por causa do câmbio.")
    fathom.document("d2", "Outro", "A companhia VALE3 pagou menos por causa do minério.")
    fathom.say("Bom dia, quero falar da companhia")
    fathom.say("Quanto pagou a PETR4 em 12/03/2026?")
    pack = fathom.ask("por quê?")
    found = [chunk.text for chunk in pack.semantic.knowledge_chunks]
    assert "PETR4" in found[0]


@pytest.mark.covers("S1-L2", "AC-44")
def test_what_was_named_is_made_again_from_the_log(fathom: Pipeline):
    fathom.say(PRICE)
    fathom.working_sets.clear()
    _, classified = said(fathom, ELLIPTIC)
    assert parameters(classified) == [("ticker", "PETR4", "history")]


def test_a_late_answer_to_an_earlier_subject_is_not_what_is_spoken_of_now(fathom: Pipeline):
    asked = fathom.say("Gere o relatório de vendas")
    fathom.say("Mudando de assunto, quem aprova férias?")
    fathom.say("Pronto: rel_7", role="assistant", answers=asked)
    assert session(fathom).references == ()


@pytest.mark.covers("S1-L4")
def test_history_moves_the_depth_and_the_tier_that_is_recommended(fathom: Pipeline):
    _, alone = said(fathom, "o cronograma?", conversation="c2")
    fathom.say("Qual o escopo do projeto Farol?")
    _, after = said(fathom, "o cronograma?")
    assert alone.depth_level != after.depth_level == DepthLevel.D1
    query = "Qual o nome da função que valida CPF?"
    known = assess(query, "Falamos da função valida_cpf, que valida CPF")
    assert (assess(query).recommended_tier, known.recommended_tier) == ("standard", "minimal")
