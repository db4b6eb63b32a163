"""Extracts of conversations: short, in order, told apart by speaker, and the same on every replay."""

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.core.claims import summaries
from agents.core.claims.summaries import summarise, summary_of, terms_of, topic_of
from agents.core.conversation.memory import ConversationTurn, Turns, turn_of
from schemas.base import Conversation
from tests.builders.examples import examples

NOON = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)
HERE = Conversation(tenant="acme", client_id="web", conversation_id="c1")


def talk(*contents: str, lang: str = "pt") -> Turns:
    """Alternating turns, the user's first."""
    return tuple(
        turn_of(
            "user" if number % 2 == 0 else "assistant",
            content,
            NOON + timedelta(minutes=number),
            {"message_id": f"m{number}", "seq": number, "lang": lang},
        )
        for number, content in enumerate(contents)
    )


PROJECT = talk(
    "Oi, tudo bem?",
    "Olá! Como posso ajudar?",
    "Fala do projeto X",
    "O projeto X está em execução com 3 fases. A primeira fase termina dia 20 de março.",
    "e o orçamento?",
    "O orçamento do projeto X é de R$ 40 mil, aprovado pela diretora Ana Souza.",
    "Não, o orçamento mudou para R$ 50 mil",
    "Obrigado pela correção.",
    "ok obrigado",
    "De nada!",
)


@pytest.mark.covers("S0-53")
def test_the_summary_says_who_said_what_in_the_order_it_was_said() -> None:
    text = summarise(PROJECT, lang="pt", max_chars=1_200)
    assert text.index("projeto X está em execução") < text.index("R$ 40 mil") < text.index("R$ 50 mil")
    assert "Usuário: Não, o orçamento mudou para R$ 50 mil" in text
    assert "Assistente: O projeto X está em execução com 3 fases." in text


def test_greetings_and_thanks_are_left_out() -> None:
    text = summarise(PROJECT, lang="pt", max_chars=1_200)
    for chatter in ("Oi, tudo bem", "De nada", "ok obrigado"):
        assert chatter not in text


def test_every_sentence_is_quoted_and_none_invented() -> None:
    said = " ".join(turn.content for turn in PROJECT)
    for line in summarise(PROJECT, lang="pt", max_chars=1_200).splitlines():
        _, _, quoted = line.partition(": ")
        assert all(part.strip(" .") in said for part in quoted.split(". "))


def test_what_is_said_twice_is_told_once() -> None:
    turns = talk("O prazo do contrato é dia 20", "Certo.", "Então o prazo do contrato é mesmo dia 20", "Sim.")
    assert summarise(turns, lang="pt", max_chars=1_200).count("dia 20") == 1


def test_a_tight_limit_keeps_what_matters_most() -> None:
    text = summarise(PROJECT, lang="pt", max_chars=100)
    assert 0 < len(text) <= 100
    assert "orçamento" in text


def test_system_turns_are_instructions_and_not_conversation() -> None:
    system = ConversationTurn("system", "Responda sempre sobre o projeto secreto Zeta.", NOON)
    assert "Zeta" not in summarise((system, *PROJECT), lang="pt", max_chars=2_000)
    assert "zeta" not in terms_of((system, *PROJECT), "pt")


def test_the_speakers_are_named_in_the_language_of_the_summary() -> None:
    turns = talk("The budget of project Atlas is $40k", "The deadline of project Atlas is May 3.", lang="en")
    text = summarise(turns, lang="en", max_chars=500)
    assert text.splitlines() == [
        "User: The budget of project Atlas is $40k",
        "Assistant: The deadline of project Atlas is May 3.",
    ]


@given(st.lists(st.sampled_from(PROJECT), min_size=1, max_size=30), st.sampled_from(["pt", "en"]))
@settings(max_examples=examples(60), deadline=None)
def test_a_summary_is_the_same_whatever_was_summarised_before(said: list[ConversationTurn], lang: str) -> None:
    """What is kept of a turn holds wherever it stands, whoever said it, and in whichever language it is read."""
    turns = tuple(
        replace(turn, message_id=f"m{n}", seq=n, lang=turn.lang if n % 3 else None, created_at=NOON + timedelta(days=n))
        for n, turn in enumerate(said)
    )
    kept = [summary_of(HERE, "u", "f", turns[: n + 1], lang=lang, made_at=NOON) for n in range(len(turns))]
    for cached in (summaries._said, summaries._terms, summaries._events):
        cached.cache_clear()
    assert kept[-1] == summary_of(HERE, "u", "f", turns, lang=lang, made_at=NOON)


def test_the_topic_is_what_is_spoken_of_most() -> None:
    topic = topic_of(PROJECT, "pt")
    assert topic.startswith("orçamento, projeto")
    assert len(topic) <= 80
    assert topic_of((), "pt") == ""


@pytest.mark.covers("S0-53")
def test_a_later_summary_of_the_same_frame_replaces_the_earlier_one() -> None:
    first, later = (
        summary_of(HERE, "ana", "f1", PROJECT[:count], lang="pt", made_at=NOON) for count in (4, len(PROJECT))
    )
    other = summary_of(HERE, "ana", "f2", PROJECT, lang="pt", made_at=NOON)
    assert first.summary_id == later.summary_id != other.summary_id
    assert (later.from_message, later.to_message, later.from_seq, later.to_seq) == ("m0", "m9", 0, 9)
    assert summary_of(HERE, "ana", "f1", PROJECT, lang="pt", made_at=NOON) == later


def test_points_in_time_are_resolved_from_the_turn_that_named_them() -> None:
    summary = summary_of(HERE, "ana", "f1", PROJECT, lang="pt", made_at=NOON)
    [event] = summary.relevant_events
    assert (event.at, event.kind, event.message_id) == (datetime(2026, 3, 20, tzinfo=UTC), "day", "m3")
    assert event.label == "A primeira fase termina dia 20 de março."


def test_tomorrow_is_the_day_after_its_own_turn() -> None:
    first, second = talk("A visita é amanhã", "Certo, a visita é amanhã mesmo")
    next_day = replace(second, created_at=NOON + timedelta(days=1))
    events = summary_of(HERE, "ana", "f1", (first, next_day), lang="pt", made_at=NOON).relevant_events
    assert [event.at.day for event in events] == [11, 12]


def test_there_is_no_summary_of_nothing() -> None:
    assert summarise((), lang="pt", max_chars=500) == ""
    with pytest.raises(ValueError, match="nothing to summarise"):
        summary_of(HERE, "ana", "f1", (), lang="pt", made_at=NOON)


def test_a_chat_of_small_talk_still_has_a_summary() -> None:
    assert summarise(talk("oi", "Olá!"), lang="pt", max_chars=500) == "Assistente: Olá!"


@pytest.mark.covers("AC-22")
def test_two_hundred_long_turns_are_summarised_within_the_limit_and_in_bounded_time() -> None:
    turns = talk(*(f"A fase {n} do projeto X termina dia {n % 28 + 1} e custa R$ {n} mil. " * 5 for n in range(200)))
    began = time.process_time()
    assert len(summarise(turns, lang="pt", max_chars=1_500)) <= 1_500
    assert time.process_time() - began < 1.0


_CONTENT = st.one_of(
    st.text(max_size=120),
    st.sampled_from(["O prazo é dia 20.", "Oi", "O orçamento é R$ 40 mil. E a Ana?", "x" * 400, "a. b. c. d."]),
)


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(_CONTENT, max_size=10), st.integers(-5, 400))
def test_no_summary_is_ever_longer_than_its_limit(contents: list[str], max_chars: int) -> None:
    turns = talk(*contents)
    text = summarise(turns, lang="pt", max_chars=max_chars)
    assert len(text) <= max(max_chars, 0)
    assert summarise(turns, lang="pt", max_chars=max_chars) == text


FIGURES = (
    ("pt", "A fase {} do projeto Atlas custa R$ {} mil e termina em maio."),
    ("en", "Phase {} of project Atlas costs ${} thousand, begins in March and ends in late May."),
)


@pytest.mark.covers("S0-53")
@pytest.mark.parametrize(("lang", "pattern"), FIGURES)
def test_sentences_that_differ_only_in_figures_are_all_told(lang: str, pattern: str) -> None:
    told = [pattern.format(number, number * 15) for number in range(1, 7)]
    text = summarise(talk(*told, lang=lang), lang=lang, max_chars=1_200)
    assert [sentence for sentence in told if sentence not in text] == []


def test_sentences_that_differ_only_in_a_name_are_all_told() -> None:
    told = [f"Ficou decidido contratar a {name} como fornecedora de transporte." for name in ("Beta", "Delta", "Gama")]
    text = summarise(talk(*told), lang="pt", max_chars=1_200)
    assert [sentence for sentence in told if sentence not in text] == []


DECIDED = (
    (
        "pt",
        "E o que ficou decidido na reunião {} sobre o contrato?",
        "Na reunião {} ficou decidido adiar a entrega do lote {} do contrato para maio.",
    ),
    (
        "en",
        "And what was decided in meeting {} about the contract?",
        "In meeting {} it was decided to postpone lot {} of the contract until May.",
    ),
)


@pytest.mark.covers("S0-53")
@pytest.mark.parametrize(("lang", "question", "answer"), DECIDED)
def test_fourteen_questions_do_not_crowd_out_fourteen_decisions(lang: str, question: str, answer: str) -> None:
    decisions = [answer.format(number, number + 30) for number in range(1, 15)]
    turns = [text for number, told in enumerate(decisions, 1) for text in (question.format(number), told)]
    text = summarise(talk(*turns, lang=lang), lang=lang, max_chars=1_200)
    assert [decision for decision in decisions if decision not in text] == []


@pytest.mark.covers("S0-53")
@pytest.mark.parametrize(
    ("lang", "turns", "outcome"),
    [
        ("pt", ("Quero cancelar o pedido 123", "O pedido 123 será cancelado. Deseja prosseguir?", "sim", "Cancelado."),
         "Cancelado."),
        ("en", ("Send the invoice 44 to Beta", "I will send invoice 44 to Beta. Shall I proceed?", "yes", "Sent."),
         "Sent."),
    ],
)  # fmt: skip
def test_a_short_outcome_ends_the_summary(lang: str, turns: tuple[str, ...], outcome: str) -> None:
    assert summarise(talk(*turns, lang=lang), lang=lang, max_chars=1_200).endswith(outcome)


@pytest.mark.parametrize("thanks", ["Obrigado!", "Entendido.", "Combinado.", "Thanks!", "Noted."])
def test_an_acknowledgement_is_no_outcome(thanks: str) -> None:
    turns = talk("O prazo do contrato Beta é dia 20", "Certo, o prazo do contrato Beta é dia 20.", thanks)
    assert thanks not in summarise(turns, lang="pt", max_chars=1_200)


def test_turns_of_one_speaker_are_not_read_as_one_sentence() -> None:
    said = ("the prize for the launch is a day off and 600 euros", "Mara writes the invitation to customers on Tuesday")
    turns = [
        ConversationTurn("user", each, datetime(2026, 3, 2, 9, number, tzinfo=UTC)) for number, each in enumerate(said)
    ]
    assert f"{said[0]}. {said[1]}" in summarise(turns, lang="en", max_chars=400)
