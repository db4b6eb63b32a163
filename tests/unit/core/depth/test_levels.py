"""The depth rules one by one, with the words of the statements they come from."""

import pytest

from agents.core.conversation.memory import Turns
from agents.core.depth.levels import (
    classify,
    contains_anaphoric_references,
    contains_disagreement_markers,
    contains_explanation_request,
    detect_depth_level,
    is_follow_up,
    is_topic_shift,
)
from schemas.depth import Anchor, DepthLevel
from tests.builders.dialogues import (
    ATLAS,
    CONTRACT,
    DEADLINE,
    DEADLINE_EN,
    HOLIDAYS,
    INVOICES,
    NOTHING,
    OFFER,
    PROJECT,
    SALES,
    talk,
)

D0, D1, D2, D3, D4 = DepthLevel


def level(text: str, history: Turns = NOTHING, lang: str = "pt") -> DepthLevel:
    return classify(text, history, lang=lang).level


def signals(text: str, history: Turns = NOTHING, lang: str = "pt") -> set[tuple[str, DepthLevel]]:
    return {(sign.name, sign.level) for sign in classify(text, history, lang=lang).signals}


@pytest.mark.covers("S0-27", "CF-76")
@pytest.mark.parametrize("text", ["Oi, na verdade o prazo é dia 20", "Obrigado, mas está errado: é dia 20"])
def test_a_courtesy_in_front_hides_no_correction(text: str) -> None:
    assert ("greeting", D0) in signals(text)
    assert level(text) == D3


@pytest.mark.covers("CF-21", "S0-19", "S0-30")
def test_the_first_message_continues_nothing() -> None:
    assert ("anaphora", D1) in signals("e sobre isso?")
    assert level("e sobre isso?") == D0
    assert level("e sobre isso?", PROJECT) == D1


@pytest.mark.covers("AC-01", "AC-02", "S0-18", "S0-60", "CF-05")
@pytest.mark.parametrize("history", [NOTHING, SALES, PROJECT], ids=["none", "sales", "project"])
def test_a_look_up_is_direct_whatever_came_before(history: Turns) -> None:
    decision = classify("Qual o email do João Silva?", history, lang="pt")
    assert decision.level == D0
    assert decision.intent == "direct_question"
    assert decision.entity == "João Silva"


@pytest.mark.covers("AC-03", "AC-04", "S0-63", "S0-30")
def test_an_elliptical_opener_continues_the_thread_in_both_languages() -> None:
    assert level("e o orçamento?", PROJECT) == D1
    assert level("and the budget?", PROJECT, "en") == D1
    assert classify("e o orçamento?", PROJECT, lang="pt").intent == "follow_up"


@pytest.mark.covers("AC-05", "S0-19", "CF-06", "S0-38")
def test_how_it_works_is_anaphora_when_bare_and_a_how_to_with_a_subject() -> None:
    bare = classify("como funciona?", PROJECT, lang="pt")
    assert (bare.level, bare.how_to) == (D1, False)
    assert level("how does it work?", ATLAS, "en") == D1
    about = classify("como funciona o reembolso?", NOTHING, lang="pt")
    assert (about.level, about.how_to) == (D2, True)
    asked = classify("Como solicitar reembolso de viagem?", NOTHING, lang="pt")
    assert (asked.level, asked.how_to, asked.intent) == (D2, True, "how_to")


@pytest.mark.covers("AC-06", "S0-20", "S0-29")
@pytest.mark.parametrize("text", ["por quê?", "explica melhor", "why?", "explain that better"])
def test_a_request_to_explain_needs_concepts_but_no_procedure(text: str) -> None:
    decision = classify(text, PROJECT, lang="pt")
    assert (decision.level, decision.how_to) == (D2, False)


@pytest.mark.covers("AC-07", "S0-23")
@pytest.mark.parametrize("history", [NOTHING, PROJECT], ids=["alone", "after"])
def test_a_comparison_needs_concepts(history: Turns) -> None:
    text = "Qual a diferença entre projeto X e projeto Y?"
    assert level(text, history) == D2
    assert ("comparison", D2) in signals(text, history)
    assert level("What's the difference between X and Y?", NOTHING, "en") == D2


@pytest.mark.covers("AC-08", "S0-25", "CF-05")
@pytest.mark.parametrize("text", ["liste todos", "resuma", "list them all", "summarize"])
def test_a_bare_list_or_summary_never_leaves_the_topic(text: str) -> None:
    decision = classify(text, SALES, lang="pt")
    assert decision.level == D2
    assert decision.intent == "list_summary"


@pytest.mark.covers("AC-09", "S0-24", "CF-08")
def test_another_time_is_conceptual_unless_it_continues_the_thread() -> None:
    alone = classify("o que decidimos na última reunião?", PROJECT, lang="pt")
    assert (alone.level, alone.intent) == (D2, "temporal")
    assert level("e o que isso custou na semana passada?", PROJECT) == D1
    assert level("what did we decide last week?", ATLAS, "en") == D2
    assert level("and what did that cost last week?", ATLAS, "en") == D1


@pytest.mark.covers("CF-08")
@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("quando foi a visita?", "pt"),
        ("o que o João disse sobre o prazo?", "pt"),
        ("When did Ana move?", "en"),
    ],
)
def test_what_happened_or_was_said_refers_to_time_without_a_time_word(text: str, lang: str) -> None:
    decision = classify(text, NOTHING, lang=lang)
    assert (decision.level, decision.intent) == (D2, "temporal")


@pytest.mark.covers("AC-10", "AC-13", "S0-21", "S0-27", "S0-66")
@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("Não, o prazo mudou para dia 20", "pt"),
        ("não concordo", "pt"),
        ("isso está errado", "pt"),
        ("na verdade, é dia 20", "pt"),
        ("não é isso", "pt"),
        ("você se enganou", "pt"),
        ("isso não procede", "pt"),
        ("No, the deadline moved to the 20th", "en"),
        ("Actually, it's the 20th", "en"),
        ("I disagree with that number", "en"),
        ("that's not right", "en"),
        ("you're wrong", "en"),
        ("not true", "en"),
    ],
)
def test_disagreement_wins_over_everything(text: str, lang: str) -> None:
    decision = classify(text, DEADLINE if lang == "pt" else DEADLINE_EN, lang=lang)
    assert (decision.level, decision.intent) == (D3, "disagreement")
    assert level(f"{text}. Explica por quê? E o resto?", DEADLINE, lang) == D3


@pytest.mark.covers("AC-14", "CF-07")
@pytest.mark.parametrize(
    ("text", "expected", "lang"),
    [
        ("Não entendi, explica melhor", D2, "pt"),
        ("O que está errado no contrato?", D1, "pt"),
        ("Não, obrigado", D0, "pt"),
        ("What is wrong with the contract?", D2, "en"),
        ("No, thanks", D0, "en"),
    ],
)
def test_words_of_disagreement_that_contest_nothing(text: str, expected: DepthLevel, lang: str) -> None:
    assert level(text, CONTRACT, lang) == expected


@pytest.mark.covers("CF-07")
def test_a_weak_marker_inside_a_question_word_question_does_not_count_and_a_strong_one_does() -> None:
    assert level("o que é, na verdade, uma multa?", CONTRACT) == D2
    assert level("por que você diz isso? não concordo, o que mudou?", CONTRACT) == D3


def test_a_tag_question_asks_for_a_nod() -> None:
    assert level("a multa é de 10%, não é isso?", CONTRACT) == D1
    assert level("a multa é de 10%? não é isso", CONTRACT) == D3


def test_quoted_words_are_mentioned_not_used() -> None:
    assert level('o que significa "não concordo"?', CONTRACT) == D2


def test_no_to_an_offer_refuses_and_no_to_a_statement_corrects() -> None:
    assert level("Não, quero ver outra coisa", OFFER) != D3
    assert level("Não, o relatório tem 10 páginas", OFFER) != D3
    assert level("Não, o relatório tem 10 páginas", talk("?", "O relatório tem 8 páginas.")) == D3


@pytest.mark.covers("AC-15", "S0-22", "S0-28", "S0-70")
def test_a_new_subject_changes_the_frame_and_names_its_terms() -> None:
    decision = classify("Quais são as políticas de férias?", SALES, lang="pt")
    assert (decision.level, decision.intent) == (D4, "topic_shift")
    assert {"políticas", "férias"} <= set(decision.terms)
    assert level("What are the vacation policies?", INVOICES, "en") == D4


@pytest.mark.covers("AC-16")
def test_in_the_new_frame_an_opener_continues_it() -> None:
    assert level("e para estagiários?", HOLIDAYS) == D1


@pytest.mark.covers("AC-17", "CF-21")
@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("Quais são as políticas de férias?", "pt"),
        ("Mudando de assunto, como funcionam as férias da empresa?", "pt"),
        ("What are the vacation policies?", "en"),
    ],
)
def test_the_first_message_never_changes_the_frame(text: str, lang: str) -> None:
    assert level(text, NOTHING, lang) == D2


@pytest.mark.covers("AC-18")
@pytest.mark.parametrize("history", [SALES, PROJECT, HOLIDAYS], ids=["sales", "project", "holidays"])
def test_said_so_a_change_of_subject_is_one(history: Turns) -> None:
    assert level("Mudando de assunto, quem aprova férias?", history) == D4
    assert level("Changing the subject, who approves holidays?", history, "en") == D4


@pytest.mark.covers("CF-05")
@pytest.mark.parametrize(
    "text",
    [
        "explica melhor",
        "liste todos",
        "e o orçamento?",
        "na última reunião",
        "Qual o email do João Silva?",
        "filtre rel_456",
        "envie o DMD.0001/26 ao cliente Acme",
        "melhore esse texto introdutório",
        "obrigado, perfeito",
        "quem assina os cheques?",
    ],
)
def test_what_shares_no_word_with_the_topic_may_still_belong_to_it(text: str) -> None:
    assert not is_topic_shift(text, SALES)


@pytest.mark.covers("CF-04", "S0-28")
def test_a_doubtful_change_of_topic_keeps_the_context() -> None:
    assert not is_topic_shift("fornecedores atrasados", SALES)
    decision = classify("fornecedores atrasados", SALES, lang="pt")
    assert decision.level == D1
    assert decision.raised_from == D4
    assert D4 in decision.candidates


def test_an_answer_to_the_assistants_question_is_no_new_topic() -> None:
    asked = talk("Quero reservar uma sala.", "Em qual cidade?")
    assert level("Porto Alegre, zona norte, perto do rio", asked) == D1


def test_turns_in_another_language_say_nothing_about_the_topic() -> None:
    assert level("What are the vacation policies?", PROJECT, "en") != D4


def test_the_anchor_counts_as_spoken_of() -> None:
    anchor = Anchor(topic="férias", terms=("políticas", "férias"))
    text = "Quais são as políticas de férias?"
    assert classify(text, SALES, lang="pt", anchor=anchor).level == D2


@pytest.mark.covers("AC-19", "CF-04")
def test_between_two_close_candidates_the_one_with_more_context_wins() -> None:
    decision = classify("não entendi", CONTRACT, lang="pt")
    assert (decision.level, decision.raised_from) == (D2, D1)
    assert set(decision.candidates) >= {D1, D2}
    assert decision.confidence < 0.6


@pytest.mark.covers("CF-20")
def test_an_analyst_goes_up_in_a_tie_and_never_down() -> None:
    text = "Quantos contratos a Acme tem?"
    usual = classify(text, CONTRACT, lang="pt")
    analyst = classify(text, CONTRACT, lang="pt", user_role="Analista de risco")
    assert (usual.level, analyst.level, analyst.raised_from) == (D0, D1, D0)
    assert classify(text, CONTRACT, lang="pt", user_role="estagiário").level == D0
    assert classify("não concordo", CONTRACT, lang="pt", user_role="auditor").level == D3
    shift = classify("Quais são as políticas de férias?", SALES, lang="pt", user_role="auditor")
    assert shift.level == D4


@pytest.mark.covers("S0-31", "CF-03")
@pytest.mark.parametrize(
    ("text", "history", "expected"),
    [
        ("o projeto está atrasado?", NOTHING, D0),
        ("a equipe pretende apresentar o projeto X amanhã", PROJECT, D1),
        ("a equipe pretende apresentar o plano amanhã", NOTHING, D2),
        ("the team will present tomorrow", NOTHING, D2),
    ],
)
def test_in_doubt_only_what_is_recognisably_simple_is_direct(text: str, history: Turns, expected: DepthLevel) -> None:
    assert level(text, history) == expected


@pytest.mark.covers("CF-73")
def test_a_greeting_is_taken_off_and_the_rest_classified() -> None:
    decision = classify("Bom dia! Qual a diferença entre X e Y?", NOTHING, lang="pt")
    assert decision.level == D2
    assert ("greeting", D0) in {(sign.name, sign.level) for sign in decision.signals}
    assert level("Oi Ana, qual o telefone do João?") == D0
    assert level("Perfeito, obrigado! Mas isso está errado.", CONTRACT) == D3


@pytest.mark.covers("CF-76", "S0-17")
def test_every_signal_is_reported_with_its_own_words() -> None:
    text = "Não concordo. Por que isso mudou na semana passada?"
    found = {sign.name: sign.evidence for sign in classify(text, DEADLINE, lang="pt").signals}
    assert found["disagreement"] == "Não concordo"
    assert found["explanation"] == "Por que"
    assert found["anaphora"] == "isso"
    assert found["temporal"] == "semana passada"


@pytest.mark.covers("CF-76")
def test_the_first_positive_test_decides_in_the_order_of_the_rules() -> None:
    assert level("na verdade, mudando de assunto, explica as férias", SALES) == D3
    assert level("mudando de assunto, explica as férias", SALES) == D4
    assert level("e isso, explica melhor", SALES) == D2


def test_pleonastic_it_refers_to_nothing() -> None:
    assert not contains_anaphoric_references("What time is it?")
    assert level("What time is it?", ATLAS, "en") == D0
    assert contains_anaphoric_references("What about it?")


@pytest.mark.parametrize("text", ["o que você quis dizer?", "what do you mean?", "quer dizer que acabou?"])
def test_asking_what_was_meant_continues_the_thread(text: str) -> None:
    assert level(text, CONTRACT) == D1


@pytest.mark.covers("S0-26", "S0-27", "S0-28", "S0-29", "S0-30")
def test_the_named_tests_of_the_heuristic() -> None:
    assert contains_disagreement_markers("não concordo")
    assert not contains_disagreement_markers("concordo")
    assert is_topic_shift("Quais são as políticas de férias?", SALES)
    assert not is_topic_shift("Quais são as políticas de férias?", NOTHING)
    assert contains_explanation_request("por quê?")
    assert not contains_explanation_request("o que você quis dizer?")
    assert contains_anaphoric_references("e sobre isso?")
    assert not contains_anaphoric_references("Qual o email do João?")
    assert is_follow_up("e o orçamento?", PROJECT)
    assert not is_follow_up("e o orçamento?", NOTHING)
    assert detect_depth_level("and the budget?", PROJECT) == D1
    assert detect_depth_level("Olá", NOTHING) == D0
