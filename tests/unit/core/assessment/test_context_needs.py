"""Whether a query needs deep context: the seed's cases, a labelled set in two languages, hostile text."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.core.assessment.advised_tools import TOOLS
from agents.core.assessment.context_needs import AssessmentPolicy, assess, query_type
from agents.core.packs.planning import Limits
from agents.core.packs.tiers import PROCESSING_TIERS
from schemas.assessment import Assessment, QueryType
from schemas.depth import DepthLevel
from schemas.policy import AdvisedTool
from tests.builders.examples import examples

T = QueryType


@pytest.mark.covers("AC-58", "S3-08", "S3-14", "S3-50")
def test_a_greeting_is_answered_directly() -> None:
    made = assess("Hello!")
    assert (made.needs_deep_context, made.query_type, made.recommended_tier) == (False, T.GREETING, "minimal")
    assert made.recommended_action == "respond_directly"
    assert made.estimated_savings > 0
    assert made.recommended_tools == ()
    assert {tool.name for tool in made.skip_tools} == {*TOOLS}


@pytest.mark.covers("REQ-017.3", "AC-59", "S3-17", "S3-31", "S3-33", "S3-36", "S3-37", "S3-51")
def test_a_question_of_architecture_is_searched_for_first() -> None:
    made = assess("How should I structure the repository layer?")
    assert (made.needs_deep_context, made.query_type, made.recommended_tier) == (True, T.ARCHITECTURAL, "deep")
    assert [(tool.name, tool.priority) for tool in made.recommended_tools] == [
        ("search_context", 1),
        ("check_conflicts", 2),
    ]
    assert made.recommended_tools[0].reason == "Query asks about architectural patterns"
    assert made.recommended_tools[1].reason == "Proposed change may conflict with principles"
    assert made.estimated_savings == 0


QUEUE = AdvisedTool(
    {T.REVIEW_REQUEST: "Other reviews may be waiting for the same reviewer"},
    "Not a review-related query",
)


@pytest.mark.covers("AC-59", "S3-33", "S3-36", "S3-37")
def test_a_tool_of_the_callers_own_is_advised_where_it_is_of_use() -> None:
    policy = AssessmentPolicy(tools={**TOOLS, "get_review_queue": QUEUE})
    made = assess("How should I structure the repository layer?", policy=policy)
    assert [(tool.name, tool.reason) for tool in made.skip_tools] == [
        ("get_review_queue", "Not a review-related query")
    ]
    reviewed = assess("Review this code", policy=policy)
    assert [tool.name for tool in reviewed.recommended_tools] == [
        "search_context",
        "check_conflicts",
        "get_review_queue",
    ]
    assert "get_review_queue" not in {tool.name for tool in assess("Hello!").skip_tools}


@pytest.mark.covers("AC-60", "S3-15", "S3-52")
def test_asking_back_needs_nothing_new() -> None:
    for query in ("What do you mean by that?", "What do you mean by idempotent?"):
        made = assess(query, "Discussing error handling patterns")
        assert (made.needs_deep_context, made.query_type) == (False, T.CLARIFICATION)


@pytest.mark.covers("AC-61", "S3-18", "S3-34", "S3-53")
def test_a_request_to_implement_is_searched_for() -> None:
    made = assess("Write a function to validate user input")
    assert (made.needs_deep_context, made.query_type) == (True, T.IMPLEMENTATION)
    assert "search_context" in [tool.name for tool in made.recommended_tools]


@pytest.mark.covers("AC-62", "S3-19", "S3-20")
def test_the_batch_of_the_seed_has_its_types() -> None:
    batch = {
        "Hello!": T.GREETING,
        "Thanks for the help": T.GREETING,
        "What do you mean?": T.CLARIFICATION,
        "How should I structure this?": T.ARCHITECTURAL,
        "Write a function for X": T.IMPLEMENTATION,
        "Review this code": T.REVIEW_REQUEST,
        "Why is this failing?": T.DEBUGGING,
        "Got it": T.GREETING,
        "Can you explain more?": T.CLARIFICATION,
        "Implement user authentication": T.IMPLEMENTATION,
    }
    assert {query: query_type(query) for query in batch} == batch


CPF = "Qual o nome da função que valida CPF?"


@pytest.mark.covers("AC-67", "S3-16", "CF-44")
def test_a_direct_question_needs_what_is_not_at_hand() -> None:
    away = assess(CPF)
    assert (away.query_type, away.needs_deep_context, away.recommended_tier) == (T.DIRECT_QUESTION, True, "standard")
    assert away.recommended_action == "search_context"
    at_hand = assess(CPF, available=["def valida_cpf(cpf): ..."])
    assert (at_hand.query_type, at_hand.needs_deep_context) == (T.DIRECT_QUESTION, False)
    assert not assess(CPF, "Falamos da função validaCpf, que valida o CPF").needs_deep_context
    assert assess(CPF, available=["def valida_email(email): ..."]).needs_deep_context
    assert assess("What is the capital of France?").recommended_action == "search_context"


@pytest.mark.covers("S3-44")
def test_a_follow_up_on_what_is_talked_about_needs_no_deep_context() -> None:
    summary = "Falamos do projeto Atlas e do prazo do contrato"
    made = assess("e o prazo?", summary)
    assert (made.needs_deep_context, made.recommended_tier) == (False, "standard")
    assert assess("e o orçamento?", summary).recommended_action == "search_context"
    # What it points at is named by no word at hand.
    for said in ("ok, esse do Beto", "e isso aí do Beto então"):
        told = assess(said, summary)
        assert (told.needs_deep_context, told.recommended_action) == (False, "respond_directly"), said
    assert assess("ok, esse do Beto").needs_deep_context


@pytest.mark.parametrize(
    "query",
    [
        *("Who approves refunds?", "What is my name?", "What do you know about me?", "Quem assina o termo?"),
        *("How long is the warranty of the Barista 300?", "Qual comando roda os testes?", "prazo de entrega"),
    ],
)
def test_a_question_is_searched_for_whether_or_not_it_names_a_project(query: str) -> None:
    made = assess(query)
    assert (made.needs_deep_context, made.recommended_action, made.estimated_savings) == (True, "search_context", 0)


@pytest.mark.parametrize("query", ["valeu, Beto!", "você é um robô?", "quanto é 12*7?", "go ahead", "tell me a joke"])
def test_what_needs_no_memory_is_answered_directly(query: str) -> None:
    made = assess(query)
    assert (made.recommended_action, made.recommended_tier, made.recommended_tools) == (
        "respond_directly",
        "minimal",
        (),
    )


@pytest.mark.covers("REQ-017.2", "S3-26", "S3-27", "S3-28", "S3-29", "S3-54", "S3-55")
def test_there_are_three_tiers() -> None:
    shown = {
        name: (
            tier.max_latency_ms,
            tier.context_retrieval,
            tier.semantic_expansion,
            tier.cross_reference,
            tier.llm_model,
        )
        for name, tier in PROCESSING_TIERS.items()
    }
    assert shown == {
        "minimal": (200, False, False, False, "fast"),
        "standard": (2000, True, False, False, "standard"),
        "deep": (10000, True, True, True, "advanced"),
    }
    assert {name: tier.name for name, tier in PROCESSING_TIERS.items()} == {name: name for name in shown}
    assert PROCESSING_TIERS["minimal"].description == "Simple queries, greetings, clarifications"


@pytest.mark.covers("CF-72", "S3-12")
def test_savings_are_those_of_the_plan_that_is_not_run() -> None:
    for query, level, saved in (
        ("Obrigado!", DepthLevel.D0, 500),
        ("Review this code", None, 0),
        ("Can you explain more?", DepthLevel.D2, 2000),
    ):
        made = assess(query, "Discussing error handling patterns")
        assert made.estimated_savings == saved, query
        assert level in (None, made.depth_level), query
    small = AssessmentPolicy(limits=Limits(max_tokens=dict.fromkeys(DepthLevel, 100)))
    assert assess("Obrigado!", policy=small).estimated_savings == 100


# Written for this test: query, what it does, whether it needs deep context.
LABELLED: tuple[tuple[str, QueryType, bool], ...] = (
    ("oi, tudo bem?", T.GREETING, False),
    ("Bom dia, pessoal", T.GREETING, False),
    ("muito obrigada pela ajuda!", T.GREETING, False),
    ("valeu!", T.GREETING, False),
    ("até amanhã", T.GREETING, False),
    ("entendi, perfeito", T.GREETING, False),
    ("beleza, combinado", T.GREETING, False),
    ("tchau tchau", T.GREETING, False),
    ("Good evening", T.GREETING, False),
    ("thanks a lot, see you tomorrow", T.GREETING, False),
    ("ok, sounds good", T.GREETING, False),
    ("hey, how are you doing today?", T.GREETING, False),
    ("thank you so much for the explanation", T.GREETING, False),
    ("have a nice weekend", T.GREETING, False),
    ("como assim?", T.CLARIFICATION, False),
    ("não entendi", T.CLARIFICATION, False),
    ("pode repetir, por favor?", T.CLARIFICATION, False),
    ("o que você quis dizer com isso?", T.CLARIFICATION, False),
    ("me explica melhor", T.CLARIFICATION, False),
    ("fala mais sobre isso", T.CLARIFICATION, False),
    ("o que você sabe fazer?", T.CLARIFICATION, False),
    ("em que você pode me ajudar?", T.CLARIFICATION, False),
    ("could you say that again?", T.CLARIFICATION, False),
    ("sorry, I didn't get that", T.CLARIFICATION, False),
    ("can you elaborate on that?", T.CLARIFICATION, False),
    ("what did you mean by eventual consistency?", T.CLARIFICATION, False),
    ("what can you help me with?", T.CLARIFICATION, False),
    ("I don't follow", T.CLARIFICATION, False),
    ("Qual é a capital do Peru?", T.DIRECT_QUESTION, True),
    ("Quanto é 15% de 300?", T.DIRECT_QUESTION, False),
    ("What is 12 * 12?", T.DIRECT_QUESTION, False),
    ("Quem te criou?", T.DIRECT_QUESTION, False),
    ("Are you a robot?", T.DIRECT_QUESTION, False),
    ("Quem escreveu Dom Casmurro?", T.DIRECT_QUESTION, True),
    ("What time is it in Tokyo?", T.DIRECT_QUESTION, True),
    ("How many days are there in a leap year?", T.DIRECT_QUESTION, True),
    ("Who invented the telephone?", T.DIRECT_QUESTION, True),
    ("Qual o prazo do contrato 17?", T.DIRECT_QUESTION, True),
    ("Quem é o gestor da nossa equipe?", T.DIRECT_QUESTION, True),
    ("What did we decide about the roadmap?", T.DIRECT_QUESTION, True),
    ("Where is the payment_service configured?", T.DIRECT_QUESTION, True),
    ("Como devo organizar os módulos do projeto?", T.ARCHITECTURAL, True),
    ("Qual padrão de projeto usar para notificações?", T.ARCHITECTURAL, True),
    ("Devemos usar filas ou chamadas síncronas?", T.ARCHITECTURAL, True),
    ("Qual a melhor forma de separar leitura e escrita?", T.ARCHITECTURAL, True),
    ("Should we use Postgres or MongoDB for the ledger?", T.ARCHITECTURAL, True),
    ("What's the best way to organize our event handlers?", T.ARCHITECTURAL, True),
    ("Is the hexagonal architecture a fit here?", T.ARCHITECTURAL, True),
    ("How do I design the caching layer?", T.ARCHITECTURAL, True),
    ("Escreva uma função que calcula juros compostos", T.IMPLEMENTATION, True),
    ("Implemente a paginação da listagem", T.IMPLEMENTATION, True),
    ("Crie um endpoint para exportar o relatório", T.IMPLEMENTATION, True),
    ("Adicione testes para o módulo de cobrança", T.IMPLEMENTATION, True),
    ("Build a small CLI that converts CSV to JSON", T.IMPLEMENTATION, True),
    ("Add a retry to the HTTP client", T.IMPLEMENTATION, True),
    ("Refactor the order service", T.IMPLEMENTATION, True),
    ("Generate a migration for the users table", T.IMPLEMENTATION, True),
    ("Revise este código, por favor", T.REVIEW_REQUEST, True),
    ("Analise o meu pull request", T.REVIEW_REQUEST, True),
    ("Avalia essa implementação", T.REVIEW_REQUEST, True),
    ("O que acha? Preciso de feedback sobre esta proposta", T.REVIEW_REQUEST, True),
    ("Can you review my PR?", T.REVIEW_REQUEST, True),
    ("Please look over this design document", T.REVIEW_REQUEST, True),
    ("I'd like a code review of the parser", T.REVIEW_REQUEST, True),
    ("Is this query correct?", T.REVIEW_REQUEST, True),
    ("Por que o teste está falhando?", T.DEBUGGING, True),
    ("Está dando erro 500 no login", T.DEBUGGING, True),
    ("O build quebrou, não compila", T.DEBUGGING, True),
    ("Corrija o bug da tela de pagamento", T.DEBUGGING, True),
    ("The worker crashes with a KeyError", T.DEBUGGING, True),
    ("Why does the request time out?", T.DEBUGGING, True),
    ("My container doesn't start", T.DEBUGGING, True),
    ("Help me debug this stack trace", T.DEBUGGING, True),
    ("Should the retry logic sit in the client?", T.ARCHITECTURAL, True),
    ("Redis ou Memcached?", T.ARCHITECTURAL, True),
    ("Onde deve ficar a validação do CNPJ?", T.ARCHITECTURAL, True),
    ("ficou bom esse teste?", T.REVIEW_REQUEST, True),
    ("dá uma conferida nesse commit", T.REVIEW_REQUEST, True),
    ("Is our Dockerfile secure?", T.REVIEW_REQUEST, True),
    ("por que o cache não atualiza?", T.DEBUGGING, True),
    ("works on my machine but not in staging", T.DEBUGGING, True),
    ("I get null when I call getUser", T.DEBUGGING, True),
    ("a fila está travada", T.DEBUGGING, True),
    ("enable gzip on the server", T.IMPLEMENTATION, True),
    ("renomeia a variável total para soma", T.IMPLEMENTATION, True),
    ("put a loading spinner on the login page", T.IMPLEMENTATION, True),
    ("aumenta o timeout para um minuto", T.IMPLEMENTATION, True),
)  # fmt: skip
SIMPLE = (T.GREETING, T.CLARIFICATION, T.DIRECT_QUESTION)


def right(rows: list[tuple[str, QueryType, bool]]) -> float:
    assert rows
    judged = [(assess(query), kind, needs) for query, kind, needs in rows]
    return sum((made.query_type, made.needs_deep_context) == (kind, needs) for made, kind, needs in judged) / len(rows)


@pytest.mark.covers("CF-45", "S3-22", "S3-23", "S3-58", "S3-64")
def test_the_labelled_set_is_judged_right_often_enough() -> None:
    """Types and needs both."""
    rows = [*LABELLED]
    simple = [row for row in rows if not row[2]]
    complicated = [row for row in rows if row[1] not in SIMPLE]
    assert len(rows) >= 60
    assert right(simple) > 0.90
    assert right(complicated) > 0.85
    assert right(rows) > 0.85


@pytest.mark.parametrize(
    "query",
    [
        *("Should I go to the dentist?", "tea or coffee?", "where should we eat?", "por que o cliente não assinou?"),
        *(
            "change my flight to Friday",
            "remove João da lista de convidados",
            "the room is empty",
            "is my passport valid?",
        ),
    ],
)
def test_what_is_no_work_on_software_is_not_taken_for_it(query: str) -> None:
    assert query_type(query) in (T.DIRECT_QUESTION, T.OTHER)
    assert assess(query).recommended_action == "search_context"


@pytest.mark.covers("S3-09", "S3-10", "S3-11", "S3-13", "S3-24", "S3-35")
def test_every_assessment_says_what_why_and_what_next() -> None:
    for query, *_ in LABELLED:
        made = assess(query)
        assert 0 <= made.confidence <= 1
        assert made.reason.strip()
        if made.needs_deep_context:
            assert made.recommended_action in ("search_context", "deep_retrieval"), query
            assert [tool.priority for tool in made.recommended_tools] == [*range(1, len(made.recommended_tools) + 1)]
            assert made.recommended_tools
        else:
            assert made.recommended_action == "respond_directly", query
        named = [tool.name for tool in (*made.recommended_tools, *made.skip_tools)]
        assert sorted(named) == sorted(TOOLS)
        assert all(tool.reason for tool in (*made.recommended_tools, *made.skip_tools))


@pytest.mark.parametrize(
    "query",
    [
        "Thanks, and what is the deadline of the contract?",
        "Oi, qual o prazo do contrato?",
        "Obrigado. Escreva um teste para o parser",
    ],
)
def test_a_courtesy_before_a_question_does_not_hide_it(query: str) -> None:
    made = assess(query)
    assert made.query_type is not T.GREETING
    assert made.needs_deep_context


@settings(max_examples=examples(150), deadline=None)
@given(st.text(max_size=400), st.none() | st.text(max_size=100), st.lists(st.text(max_size=60), max_size=3))
def test_any_text_has_one_assessment_always_the_same(query: str, summary: str | None, available: list[str]) -> None:
    made = assess(query, summary, available)
    assert assess(query, summary, available) == made
    assert Assessment.model_validate(json.loads(made.model_dump_json())) == made


@pytest.mark.parametrize(
    "unit", ["hi ", "thanks for the ", "what can you ", "what kind of things ", "repeat that again ", "oi tudo bem "]
)
def test_a_very_long_text_is_no_courtesy(unit: str) -> None:
    assert query_type(unit * 5_000) not in (T.GREETING, T.CLARIFICATION)


def test_nothing_but_signs_asks_for_nothing() -> None:
    empty: list[Any] = ["", "   ", "...", "👍", "?!"]
    assert {assess(each).needs_deep_context for each in empty} == {False}
