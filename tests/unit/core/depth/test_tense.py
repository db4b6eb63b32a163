"""Questions about what happened reach long-term memory; present facts stay direct (CF-08)."""

import pytest

from agents.core.conversation.memory import Turns
from agents.core.depth.levels import classify
from schemas.depth import DepthLevel
from tests.builders.dialogues import ATLAS, CONTRACT, NOTHING, SALES

D0, D1, D2, D3, D4 = DepthLevel


def decided(text: str, history: Turns = NOTHING, lang: str = "pt") -> tuple[DepthLevel, str]:
    decision = classify(text, history, lang=lang)
    return decision.level, decision.intent


@pytest.mark.covers("CF-08", "S0-24")
@pytest.mark.parametrize(
    "text",
    [
        "O que a Ana decidiu na reunião?",
        "Quando foi que combinamos o prazo?",
        "A Ana aprovou o orçamento?",
        "Onde o João nasceu?",
        "Com quem a Ana viajou?",
        "Quantas pessoas vieram?",
        "Qual foi o prazo combinado?",
        "Você já pagou o boleto?",
        "Onde eles moravam?",
        "Quem assinou?",
    ],
)
def test_a_portuguese_question_in_the_past_asks_memory(text: str) -> None:
    assert decided(text) == (D2, "temporal")


@pytest.mark.covers("CF-08", "S0-24")
@pytest.mark.parametrize(
    "text",
    [
        "What did Ana research?",
        "When did Ana paint the fence?",
        "when did ana move",
        "Which of the two houses did she buy?",
        "Who did we meet?",
        "Did he ever say that?",
        "Who approved the budget?",
        "Was the contract signed?",
        "When was the visit?",
        "How many times has Ana visited Rui?",
        "Where did I park?",
        "Who took the keys?",
    ],
)
def test_an_english_question_in_the_past_about_what_both_sides_know_asks_memory(text: str) -> None:
    assert decided(text, lang="en") == (D2, "temporal")


@pytest.mark.covers("CF-08")
@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("Você lembra o nome do meu cachorro?", "pt"),
        ("Lembra do que falamos?", "pt"),
        ("Do you remember my dog's name?", "en"),
        ("Remind me what we decided", "en"),
    ],
)
def test_asking_whether_something_is_remembered_asks_memory(text: str, lang: str) -> None:
    assert decided(text, lang=lang) == (D2, "temporal")


@pytest.mark.covers("CF-08", "S0-18", "S0-31")
@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("Qual o email do João Silva?", "pt"),
        ("Qual o email do cliente que assinou o contrato?", "pt"),
        ("Qual o telefone do museu?", "pt"),
        ("Quanto custa o pneu?", "pt"),
        ("Vocês preparam relatórios?", "pt"),
        ("Os técnicos operam à noite?", "pt"),
        ("Onde estou?", "pt"),
        ("Qual o email do Tadeu?", "pt"),
        ("A IA está disponível?", "pt"),
        ("Quando sai o resultado?", "pt"),
        ("Me lembra de pagar a conta", "pt"),
        ("o projeto está atrasado?", "pt"),
        ("What is Ana's email?", "en"),
        ("What is the email of the man who did the painting?", "en"),
        ("Who has the keys?", "en"),
        ("What kind of red wine does Ana like?", "en"),
        ("Which limited edition is available?", "en"),
        ("What is the name of the man who did my garden?", "en"),
        ("Has Ana a hundred keys?", "en"),
    ],
)
def test_a_present_fact_is_direct_whatever_its_words_look_like(text: str, lang: str) -> None:
    assert decided(text, lang=lang) == (D0, "direct_question")


@pytest.mark.parametrize("text", ["Who founded the Ming dynasty?", "Who invented the telephone in the world?"])
def test_a_fact_of_the_wide_world_is_no_memory(text: str) -> None:
    assert decided(text, lang="en")[0] == D0


@pytest.mark.covers("CF-08")
def test_in_a_conversation_the_past_continues_the_thread_it_shares_words_with() -> None:
    assert decided("Quem aprovou o contrato?", CONTRACT) == (D1, "temporal")
    assert decided("Did she win it with the team?", ATLAS, "en") == (D1, "temporal")
    assert decided("Quem aprovou a viagem da Ana?", CONTRACT) == (D2, "temporal")


@pytest.mark.covers("CF-08", "CF-05")
def test_the_past_gives_way_to_a_correction_and_to_an_explanation() -> None:
    assert decided("Não concordo. Quem aprovou o contrato?", CONTRACT)[0] == D3
    assert decided("Por que a Ana aprovou o contrato?")[1] == "explanation"
    assert decided("O que a Ana pintou na casa nova?", SALES)[0] == D2


def test_asking_what_was_meant_is_about_the_last_turn_and_not_the_past() -> None:
    assert decided("did you mean Monday?", ATLAS, "en") == (D1, "anaphora")


def test_a_statement_about_the_past_asks_nothing() -> None:
    assert "temporal" not in {sign.name for sign in classify("A Ana aprovou o orçamento", NOTHING, lang="pt").signals}
