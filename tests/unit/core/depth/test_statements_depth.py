"""What goes into a decision on depth and in which order, through all stages in memory (S0-12 to S0-14, REQ-CDC-003)."""

from collections.abc import Iterator

import pytest

from agents.core.depth.levels import classify
from agents.core.language.text import fold
from agents.core.packs.sources import SOURCES, STATE
from schemas.depth import DepthClassified, DepthLevel
from schemas.topics import CONVERSATION_TURNS, DEPTH_CLASSIFIED, MEMORY_DECISIONS, RETRIEVAL_PLANS
from streams.testing.pipeline import Pipeline

D0, D1, D2, D3, D4 = DepthLevel
NEW_SUBJECT = "Quais são as políticas de férias?"
# After a talk about the contract this is as much a look-up as a continuation: close candidates.
CLOSE = "Quantos contratos a Acme tem?"


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        yield pipeline


def talk(fathom: Pipeline, conversation: str, *texts: str) -> None:
    for at, text in enumerate(texts):
        fathom.say(text, role="assistant" if at % 2 else "user", conversation=conversation)


def about_sales(fathom: Pipeline, conversation: str) -> None:
    talk(fathom, conversation, "Como foram as vendas Q1?", "As vendas Q1 cresceram 12% na região Sul.")


def about_the_contract(fathom: Pipeline, conversation: str, **fields: str) -> None:
    fathom.say("Pode revisar o contrato de fornecimento?", conversation=conversation, **fields)
    answer = "O contrato de fornecimento tem vigência de 24 meses e multa de 10%."
    fathom.say(answer, role="assistant", conversation=conversation, **fields)


def classified(fathom: Pipeline, text: str, conversation: str, user: str = "web") -> DepthClassified:
    message = fathom.say(text, conversation=conversation, headers={"user_id": user})
    event = fathom.one(DEPTH_CLASSIFIED, message_id=message)
    assert isinstance(event, DepthClassified)
    return event


def employ(fathom: Pipeline, user: str, role: str) -> None:
    profile = {"user_id": user, "user_role": role, "department": "RH", "access_level": "internal"}
    fathom.document(f"profile-{user}", "Perfil", tipo="profile", profile=profile)


def shown(event: DepthClassified) -> set[tuple[str, str]]:
    return {(signal.name, signal.evidence) for signal in event.signals}


def intent(fathom: Pipeline, event: DepthClassified) -> str | None:
    found = fathom.one(CONVERSATION_TURNS, message_id=event.message_id).intent
    return None if found is None else str(found)


@pytest.mark.covers("CF-60")
def test_a_message_is_its_users_and_else_its_applications(fathom: Pipeline) -> None:
    assert classified(fathom, "Bom dia!", "c1", user="ana").user_id == "ana"
    nobodys = fathom.say("Bom dia!", conversation="c2")
    assert fathom.one(DEPTH_CLASSIFIED, message_id=nobodys).user_id == fathom.client == "web"


@pytest.mark.covers("S0-12", "S0-13", "CF-20")
def test_the_profile_alone_changes_the_level_and_neither_signals_nor_intent(fathom: Pipeline) -> None:
    employ(fathom, "rui", "estagiário")
    employ(fathom, "ana", "analista de risco")
    about_the_contract(fathom, "c1")
    about_the_contract(fathom, "c2")
    usual = classified(fathom, CLOSE, "c1", user="rui")
    analyst = classified(fathom, CLOSE, "c2", user="ana")
    assert (usual.depth_level, analyst.depth_level, analyst.raised_from) == (D0, D1, D0)
    assert shown(usual) == shown(analyst)
    assert intent(fathom, usual) == "direct_question"


@pytest.mark.covers("S0-12", "S0-13", "S0-17")
def test_the_history_alone_changes_the_signals_and_with_them_the_level(fathom: Pipeline) -> None:
    about_sales(fathom, "c2")
    alone = classified(fathom, NEW_SUBJECT, "c1")
    after = classified(fathom, NEW_SUBJECT, "c2")
    assert (alone.depth_level, after.depth_level) == (D2, D4)
    assert {name for name, _ in shown(after) - shown(alone)} == {"topic_shift"}


@pytest.mark.covers("S0-12", "S0-13")
def test_the_question_alone_changes_the_intent(fathom: Pipeline) -> None:
    about_sales(fathom, "c1")
    about_sales(fathom, "c2")
    looked_up = classified(fathom, "Qual o email do João Silva?", "c1")
    explained = classified(fathom, "por quê?", "c2")
    assert [intent(fathom, event) for event in (looked_up, explained)] == ["direct_question", "explanation"]


@pytest.mark.covers("S0-14")
@pytest.mark.parametrize(
    ("text", "level", "decided_by"),
    [
        ("Bom dia!", D0, "greeting"),
        ("Qual o email do João Silva?", D0, "direct_question"),
        ("Não concordo. Qual o email do João Silva?", D3, "disagreement"),
        ("Mudando de assunto, qual o email do João Silva?", D4, "topic_shift"),
        ("Qual o email do João Silva? Explica melhor.", D2, "explanation"),
        ("e isso? Qual o email do João Silva?", D1, "anaphora"),
    ],
)
def test_intent_decides_alone_and_yields_to_signals_and_the_plan_follows_the_level(
    fathom: Pipeline, text: str, level: DepthLevel, decided_by: str
) -> None:
    about_sales(fathom, "c1")
    event = classified(fathom, text, "c1")
    plan = fathom.one(RETRIEVAL_PLANS, message_id=event.message_id)
    assert event.depth_level == plan.depth_level == level
    assert intent(fathom, event) == decided_by
    wanted = [
        (want.memory_class, want.selector)
        for want in SOURCES[level]
        if (event.how_to or not want.how_to_only) and not (event.needs_nothing and want.memory_class not in STATE)
    ]
    assert [(source.memory_class, source.selector) for source in plan.sources] == wanted


@pytest.mark.covers("S0-14", "S0-04")
def test_a_plan_is_caused_by_a_classification_and_that_by_the_message(fathom: Pipeline) -> None:
    talk(fathom, "c1", "Qual o prazo do contrato?", "O prazo é dia 15.", "Não, o prazo mudou para dia 20", "Certo.")
    causes = {received.envelope.id: received.event for received in fathom.events(DEPTH_CLASSIFIED)}
    plans = fathom.events(RETRIEVAL_PLANS)
    assert len(plans) == len(causes) == 2
    for received in plans:
        because = causes[str(received.envelope.causation_id)]
        assert (because.message_id, because.depth_level) == (received.event.message_id, received.event.depth_level)


SAID = [
    "Qual o email do João Silva?",
    "e sobre isso?",
    "Bom dia! Explica melhor, por favor",
    "não concordo, na verdade é dia 20",
    "qual a diferença entre vendas Q1 e vendas Q2?",
    "o que decidimos na última reunião?",
    "liste todas as vendas",
    "filtre rel_456",
    "What did Ana decide about it yesterday?",
    "Mudando de assunto, quem aprova férias?",
]


@pytest.mark.covers("REQ-CDC-003")
@pytest.mark.parametrize("text", SAID)
def test_without_a_model_every_signal_stands_on_words_of_the_message(fathom: Pipeline, text: str) -> None:
    about_sales(fathom, "c1")
    event = classified(fathom, text, "c1")
    assert event.classifier == "heuristic"
    assert event.signals
    for signal in event.signals:
        assert signal.evidence
        assert all(fold(words) in fold(text) for words in signal.evidence.split(", "))
    pack = fathom.pack_of(event.message_id)
    decision = fathom.one(MEMORY_DECISIONS, message_id=event.message_id)
    assert decision.classifier == "heuristic"
    assert pack.signals == event.signals


@pytest.mark.covers("REQ-CDC-003")
def test_the_same_words_after_the_same_turns_show_the_same_signals(fathom: Pipeline) -> None:
    for conversation in ("c1", "c2"):
        about_sales(fathom, conversation)
    first, second = (classified(fathom, "e por que isso caiu na semana passada?", c) for c in ("c1", "c2"))
    assert first.signals == second.signals
    assert {name for name, _ in shown(first)} >= {"explanation", "anaphora", "temporal", "follow_up"}


@pytest.mark.covers("S0-89", "CF-03", "CF-04")
def test_in_doubt_about_the_level_more_context_is_kept(fathom: Pipeline) -> None:
    about_the_contract(fathom, "c1")
    between = classified(fathom, "não entendi", "c1")
    about_sales(fathom, "c2")
    left_or_not = classified(fathom, "fornecedores atrasados", "c2")
    unclear = classified(fathom, "a equipe pretende apresentar o plano amanhã", "c3")
    assert (between.depth_level, between.raised_from) == (D2, D1)
    assert (left_or_not.depth_level, left_or_not.raised_from) == (D1, D4)
    assert unclear.depth_level == D2


@pytest.mark.covers("CF-77", "REQ-CDC-002")
def test_the_window_of_history_is_ten_messages_and_can_be_set() -> None:
    def shares(window: int | None, turns_between: int) -> bool:
        settings = {} if window is None else {"history_window": window}
        with Pipeline(**settings) as fathom:
            fillers = (f"Fase {n} concluída em maio." for n in range(turns_between))
            talk(fathom, "c1", "Revise a licitação municipal", *fillers)
            # The anchor remembers the first message for ever: the word must come from a later turn.
            fathom.say("O edital saiu.", role="assistant", conversation="c1")
            talk(fathom, "c1", *(f"Fase {n} concluída em junho." for n in range(turns_between)))
            event = classified(fathom, "Onde publicaram o texto do edital antigo de engenharia?", "c1")
            return any("edital" in signal.evidence for signal in event.signals if signal.name == "follow_up")

    assert [shares(None, 9), shares(None, 10)] == [True, False]
    assert [shares(3, 2), shares(3, 3)] == [True, False]
    assert not shares(0, 0)


@pytest.mark.parametrize(
    ("said", "lang"),
    [
        ("Locker: 88", "en"),
        ("Spare key: under the blue pot", "en"),
        ("bin 14", "en"),
        ("Senha do cofre: 5512", "pt"),
        ("mesa 9", "pt"),
    ],
)
def test_a_note_is_no_search_phrase_and_needs_no_explanation(said: str, lang: str) -> None:
    found = classify(said, [], lang=lang)
    assert (found.level, found.intent) == (D0, "doubt")
