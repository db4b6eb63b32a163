"""What is remembered is right: whose it is, as of when, which value holds, and that a repeat changes nothing."""

from collections.abc import Iterator
from copy import deepcopy
from datetime import timedelta
from typing import Any

import pytest

from schemas.topics import CONVERSATION_TURNS, MEMORY_SUMMARIES
from streams.testing.pipeline import EPOCH, Pipeline

ANA = {"headers": {"user_id": "ana"}}


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        yield pipeline


def definitions(fathom: Pipeline, question: str, **fields: Any) -> list[Any]:
    pack = fathom.ask(question, **fields)
    assert pack.depth_level == "D2"
    assert pack.semantic is not None
    return list(pack.semantic.definitions)


@pytest.mark.covers("AC-12", "S0-75", "S0-73")
def test_a_newer_value_of_another_conversation_is_offered_and_names_the_older(fathom: Pipeline):
    fathom.say("O prazo do projeto X é dia 15", conversation="first")
    fathom.clock.advance(60)
    fathom.say("O prazo do projeto X é dia 20", conversation="second")
    fathom.clock.advance(60)
    [found] = definitions(fathom, "Por que o prazo do projeto X mudou?", conversation="third")
    assert found.text.startswith("dia 20")
    assert "before: dia 15 (2026-03-02)" in found.reason
    assert {claim["status"] for claim in fathom.nodes("Claim")} == {"asserted"}  # nothing is retired by itself


@pytest.mark.covers("S0-75", "CD-11")
def test_a_question_of_before_is_answered_with_what_was_known_then(fathom: Pipeline):
    fathom.say("O prazo do projeto X é dia 15", conversation="first")
    between = fathom.clock.now()
    fathom.clock.advance(60)
    fathom.say("O prazo do projeto X é dia 20", conversation="second")
    why = "Por que o prazo do projeto X mudou?"
    [then] = definitions(fathom, why, conversation="third", created_at=between)
    [now] = definitions(fathom, why, conversation="fourth")
    assert (then.text[:6], now.text[:6]) == ("dia 15", "dia 20")


@pytest.mark.covers("S0-75", "S0-77")
def test_what_an_assistant_repeats_of_a_pack_becomes_no_fact(fathom: Pipeline):
    fathom.say("O prazo do projeto X é dia 15", conversation="first")
    for number in range(3):
        asked = fathom.say("Por que o prazo do projeto X mudou?", conversation=f"c{number}")
        fathom.say("O prazo do projeto X é dia 30.", role="assistant", answers=asked, conversation=f"c{number}")
    [found] = definitions(fathom, "Por que o prazo do projeto X mudou?", conversation="last")
    assert found.text.startswith("dia 15")


def test_an_answer_that_names_no_user_belongs_to_who_asked(fathom: Pipeline):
    asked = fathom.say("Fala do projeto Farol", conversation="first", **ANA)
    fathom.say("O projeto Farol termina em 20 de março.", role="assistant", answers=asked, conversation="first")
    assert {r.event.user_id for r in fathom.events(CONVERSATION_TURNS)} == {"ana"}
    assert [r.event.user_id for r in fathom.events(MEMORY_SUMMARIES)] == ["ana"]
    fathom.clock.advance(60)
    pack = fathom.ask("Explica melhor o projeto Farol", conversation="second", **ANA)
    assert pack.episodic is not None
    assert [each.origin for each in pack.episodic.conversation_summaries] == ["previous"]
    strange = fathom.ask("Explica melhor o projeto Farol", conversation="third", headers={"user_id": "bia"})
    assert strange.episodic is not None
    assert strange.episodic.conversation_summaries == ()


@pytest.mark.parametrize(
    ("lang", "said"),
    [("pt", "A entrega do projeto é em 20 de março de 2026."), ("en", "The project is delivered on March 20, 2026.")],
)
def test_points_in_time_hang_on_the_summary(fathom: Pipeline, lang: str, said: str):
    asked = fathom.say("Fala da entrega do projeto" if lang == "pt" else "Tell me about the delivery of the project")
    fathom.say(said, role="assistant", answers=asked, headers={"locale": lang})
    [(summary, event, _)] = fathom.edges("HAS_EVENT")
    [point] = fathom.nodes("TimePoint")
    assert (point["id"], point["at"].date().isoformat()) == (event, "2026-03-20")
    assert [node["id"] for node in fathom.nodes("ConversationSummary")] == [summary]


@pytest.mark.covers("CF-67", "AC-29")
def test_turns_read_again_summarise_and_claim_nothing_new(fathom: Pipeline):
    for number in range(3):
        asked = fathom.say(f"Fala do projeto {number}")
        fathom.say(f"O projeto {number} termina dia 2{number} de março.", role="assistant", answers=asked)
    once = deepcopy((fathom.graph.engine.nodes, fathom.graph.engine.links))
    before = [r.event for r in fathom.events(MEMORY_SUMMARIES)]
    fathom._members["learning"].acked.clear()
    fathom.crash("learning")
    fathom.settle()
    again = [r.event for r in fathom.events(MEMORY_SUMMARIES)]
    assert again == [*before, *before]
    assert (fathom.graph.engine.nodes, fathom.graph.engine.links) == once


@pytest.mark.covers("CF-83")
def test_a_late_answer_goes_into_the_summary_of_its_own_frame(fathom: Pipeline):
    old = fathom.say("Fala das vendas do primeiro trimestre")
    fathom.say("As vendas do trimestre somam 40 mil.", role="assistant", answers=old)
    fathom.say("Mudando de assunto, quem aprova férias?")
    fathom.say("As vendas foram revistas para 45 mil.", role="assistant", answers=old)
    frames = {r.event.frame_id for r in fathom.events(MEMORY_SUMMARIES)}
    assert len(frames) == 1
    [summary] = fathom.nodes("ConversationSummary")
    assert "45 mil" in summary["text"]
    assert "férias" not in summary["text"]


def test_the_profile_of_the_time_decides_what_a_pack_says_of_the_user(fathom: Pipeline):
    for minute, role in ((0, "estagiária"), (60, "diretora")):
        fathom.clock.at = EPOCH + timedelta(minutes=minute)
        profile = {"user_id": "web", "user_role": role, "department": "RH", "access_level": "internal"}
        fathom.document("p1", "Perfil", tipo="profile", profile=profile)
    fathom.clock.advance(60)
    then = fathom.ask("Qual o email do João Silva?", created_at=EPOCH + timedelta(minutes=30))
    now = fathom.ask("Qual o email do João Silva?")
    assert (then.persona_context.user_role, now.persona_context.user_role) == ("estagiária", "diretora")
