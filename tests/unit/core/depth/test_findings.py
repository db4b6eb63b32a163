"""The level of messages as people write them: contested values, undecided turns, questions to look up or to explain."""

import pytest

from agents.core.conversation.memory import Turns
from agents.core.depth.levels import classify
from agents.core.language.identification import first_language
from schemas.depth import DepthLevel
from schemas.topics import DEPTH_CLASSIFIED
from streams.testing.pipeline import Pipeline
from tests.builders.dialogues import ATLAS, NOTHING, PROJECT, SALES, talk
from tests.builders.openings import EXPLAINED, LATER, LOOKED_UP

D0, D1, D2, D3, D4 = DepthLevel
ENOUGH = 0.88


@pytest.mark.covers("S0-31", "S0-89", "CF-03")
@pytest.mark.parametrize(("text", "history", "lang", "levels"), LATER)
def test_a_message_in_mid_conversation(text: str, history: Turns, lang: str, levels: frozenset[DepthLevel]) -> None:
    assert classify(text, history, lang=lang).level in levels


@pytest.mark.parametrize(("lang"), ["pt", "en"])
def test_most_look_ups_are_answered_directly(lang: str) -> None:
    asked = [text for text, spoken in LOOKED_UP if spoken == lang]
    wrong = [text for text in asked if classify(text, NOTHING, lang=lang).level != D0]
    assert len(wrong) <= (1 - ENOUGH) * len(asked), wrong


@pytest.mark.parametrize(("lang"), ["pt", "en"])
def test_most_questions_of_rules_and_reasons_get_more_than_a_look_up(lang: str) -> None:
    asked = [text for text, spoken in EXPLAINED if spoken == lang]
    wrong = [text for text in asked if classify(text, NOTHING, lang=lang).level != D2]
    assert len(wrong) <= (1 - ENOUGH) * len(asked), wrong


@pytest.mark.covers("S0-38", "S0-56")
@pytest.mark.parametrize(
    "text",
    [
        "Como acesso a VPN?",
        "Como peço reembolso?",
        "Como emito nota fiscal?",
        "Como cadastro um fornecedor?",
        "como que eu faço pra trocar a senha?",
        "como é que cancelo minha assinatura?",
        "Bom dia, como solicito um crachá novo?",
        "Como altero meu endereço de entrega",
    ],
)
def test_how_i_do_something_asks_for_the_procedure(text: str) -> None:
    decision = classify(text, NOTHING, lang="pt")
    assert (decision.level, decision.how_to) == (D2, True)


@pytest.mark.parametrize("text", ["Como está o projeto?", "como foi a reunião?", "Como chegou o pedido?"])
def test_how_something_is_asks_for_no_procedure(text: str) -> None:
    assert not classify(text, NOTHING, lang="pt").how_to


@pytest.mark.covers("S0-31", "S0-89", "CF-03")
def test_a_doubtful_change_of_topic_leaves_the_thread_as_it_was() -> None:
    decision = classify("Nosso fornecedor mandou muitas caixas azuis embrulhadas", PROJECT, lang="pt")
    assert decision.level == D1
    assert decision.intent == "doubt"
    assert classify("Nosso fornecedor mandou muitas caixas azuis embrulhadas", NOTHING, lang="pt").level != D1


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("Explain quantum entanglement", "en"),
        ("Summarize revenue", "en"),
        ("Refund policy?", "en"),
        ("warranty", "en"),
        ("shipping costs", "en"),
        ("reset password", "en"),
        ("Explica a greve", "pt"),
        ("política de reembolso", "pt"),
        ("garantia", "pt"),
        ("férias coletivas", "pt"),
        ("valor da multa", "pt"),
        ("trocar senha", "pt"),
        ("ok", "default"),
        ("hello", "en"),
        ("CPF", "default"),
        ("", "default"),
        ("42", "default"),
    ],
)
def test_a_first_message_of_few_words_is_read_in_its_own_language(text: str, lang: str) -> None:
    assert first_language(text, "default") == lang


@pytest.mark.parametrize(
    ("text", "lang"),
    [("e isso?", "pt"), ("o segundo", "pt"), ("e o orçamento?", "pt"), ("did you mean Monday?", "en"), ("it", "en")],
)
def test_the_first_message_of_a_conversation_goes_on_with_nothing(text: str, lang: str) -> None:
    assert classify(text, NOTHING, lang=lang).level in (D0, D2)
    assert classify(text, PROJECT if lang == "pt" else ATLAS, lang=lang).level == D1


@pytest.mark.parametrize(("text", "lang"), [("Refund policy?", "en"), ("Política de reembolso?", "pt")])
def test_a_conversation_that_opens_with_few_words_is_answered_in_their_language(text: str, lang: str) -> None:
    with Pipeline() as fathom:
        assert fathom.one(DEPTH_CLASSIFIED, message_id=fathom.say(text)).lang == lang


@pytest.mark.covers("CF-04", "S0-28")
def test_only_a_change_that_is_announced_or_very_sure_resets() -> None:
    said = classify("Mudando de assunto, quem aprova férias?", PROJECT, lang="pt")
    assert (said.level, said.resets) == (D4, True)
    by_the_way = classify("by the way, something else: who orders paper?", ATLAS, lang="en")
    assert (by_the_way.level, by_the_way.resets) == (D4, True)
    implied = classify("Can you recommend a good restaurant in Lisbon?", ATLAS, lang="en")
    assert (implied.level, implied.resets) == (D4, False)
    whole = classify("Quais são as políticas de férias?", SALES, lang="pt")
    assert (whole.level, whole.resets) == (D4, True)
    beekeeping = talk("Tell me about beekeeping", "Beekeeping needs hives, gear and patience.")
    assert not classify("What are the drawbacks for neighbours?", beekeeping, lang="en").resets


@pytest.mark.parametrize(
    "text",
    ["", "   ", "?", "...", "😀", "this is D0", "\ud800 prazo \udfff", "مرحبا كيف الحال", "a" * 100_000,
     "não " * 30_000, "if (x > 0) { return y; }", "qual the deadline do projeto?",
     "\u202eoãçauqe", "20 " * 20_000, "é " * 50_000],
)  # fmt: skip
@pytest.mark.parametrize("history", [NOTHING, PROJECT, talk("x" * 50_000, "O prazo é dia 15. " * 5_000)])
def test_bad_input_is_decided_like_any_other(text: str, history: Turns) -> None:
    decision = classify(text, history, lang="pt")
    assert decision.level in DepthLevel
    assert 0 <= decision.confidence <= 1
    assert 0 <= decision.segment <= 1
    assert history or decision.level not in (D1, D4)
