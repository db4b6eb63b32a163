"""The assessor on its topics: one answer per request, under its key; an engine's errors and slowness stay inside."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agents.ports.models import ExpansionContext
from agents.stages.assessor import Assessor
from schemas.assessment import AssessmentMade
from schemas.base import entity_key
from schemas.topics import ASSESSMENTS_IN, ASSESSMENTS_OUT
from streams.telemetry.clock import SystemClock
from streams.testing.pipeline import Pipeline

SHAPE = "How should I structure the repository layer?"


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        yield pipeline


def asked(fathom: Pipeline, value: dict[str, Any], tenant: str = "acme") -> list[AssessmentMade]:
    key = entity_key(tenant, str(value.get("request_id", "r")))
    fathom.publish(ASSESSMENTS_IN, value, {"tenant": tenant}, key.encode())
    return [received.event for received in fathom.events(ASSESSMENTS_OUT)]


@pytest.mark.covers("S3-01", "AC-58", "AC-59", "CF-48")
def test_a_request_has_its_answer_under_its_key(fathom: Pipeline) -> None:
    [made] = asked(fathom, {"request_id": "r1", "query": SHAPE})
    assert (made.request_id, made.query_type.value, made.recommended_tier) == ("r1", "architectural", "deep")
    assert (made.classifier, made.latency_ms >= 0) == ("heuristic", True)
    [record] = fathom.log.of(ASSESSMENTS_OUT.name)
    assert record.key == b"acme|r1"


@pytest.mark.covers("AC-60", "AC-67")
def test_what_the_caller_has_is_taken_into_account(fathom: Pipeline) -> None:
    query = "Qual o nome da função que valida CPF?"
    asked(fathom, {"request_id": "r1", "query": query})
    away, at_hand = asked(fathom, {"request_id": "r2", "query": query, "available_context": ["def valida_cpf(c): ..."]})
    assert (away.needs_deep_context, at_hand.needs_deep_context) == (True, False)
    summary = "Discussing error handling patterns"
    *_, back = asked(fathom, {"request_id": "r3", "query": "What do you mean?", "conversation_summary": summary})
    assert (back.query_type.value, back.needs_deep_context) == ("clarification", False)


@pytest.mark.parametrize(
    "value",
    [
        {"request_id": "r", "query": 7},
        {"query": "Hello!"},
        {"request_id": "", "query": "Hello!"},
        {"request_id": "r", "query": "Hello!", "tenant": "beta"},
        {"request_id": "r", "query": "Hello!", "available_context": "one text"},
    ],
)
def test_what_is_no_request_is_a_dead_letter(fathom: Pipeline, value: dict[str, Any]) -> None:
    assert asked(fathom, value) == []
    [record] = fathom.log.of("dead-letters.assessor")
    assert record.value is not None


def test_the_same_request_again_has_the_same_answer(fathom: Pipeline) -> None:
    asked(fathom, {"request_id": "r1", "query": SHAPE})
    first, second = asked(fathom, {"request_id": "r1", "query": SHAPE})
    assert first.model_copy(update={"latency_ms": 0.0}) == second.model_copy(update={"latency_ms": 0.0})


class Engine:
    """Answers as it is told, and notes what it was told."""

    def __init__(self, answer: Callable[[], Any], seconds: float = 0.0) -> None:
        self._answer = answer
        self._seconds = seconds
        self.told: list[tuple[str, ExpansionContext]] = []

    async def check_if_expansion_needed(self, statement: str, context: ExpansionContext) -> tuple[bool, str]:
        self.told.append((statement, context))
        await asyncio.sleep(self._seconds)
        found: tuple[bool, str] = self._answer()
        return found


def judged(engine: Engine, query: str, summary: str | None = None) -> tuple[Any, str]:
    assessor = Assessor(SystemClock(), engine, seconds=0.05)
    return asyncio.run(assessor.assess(query, summary, (), "ana"))


@pytest.mark.covers("REQ-017.4", "S3-06", "S3-10", "S3-38", "S3-39", "S3-40", "CF-49")
@pytest.mark.parametrize(("needs", "tier"), [(True, "deep"), (False, "minimal")])
def test_an_engine_is_told_the_least_and_decides(needs: bool, tier: str) -> None:
    engine = Engine(lambda: (needs, "it says so"))
    made, classifier = judged(engine, "Tell me about it", "Talking of the roadmap")
    assert (made.needs_deep_context, made.recommended_tier, made.reason, classifier) == (
        needs,
        tier,
        "it says so",
        "engine",
    )
    [(statement, context)] = engine.told
    assert (statement, context.session_id, context.user_id) == ("Tell me about it", "assessment", "ana")
    assert context.metadata == {"conversation_summary": "Talking of the roadmap"}


@pytest.mark.covers("S3-06", "S3-40")
def test_an_engine_goes_before_a_model() -> None:
    class Model:
        async def complete(self, _prompt: str, **_how: Any) -> str:
            return "<needs_deep_context>false</needs_deep_context>"

    assessor = Assessor(SystemClock(), Engine(lambda: (True, "it says so")), model=Model())
    made, classifier = asyncio.run(assessor.assess("Tell me about it", None, (), "ana"))
    assert (classifier, made.needs_deep_context, made.reason) == ("engine", True, "it says so")


@pytest.mark.covers("S3-11")
def test_an_engine_that_wants_context_for_a_courtesy_has_a_tool_for_it() -> None:
    made, _ = judged(Engine(lambda: (True, "it depends")), "Hello!")
    assert (made.recommended_action, [tool.name for tool in made.recommended_tools]) == (
        "deep_retrieval",
        ["search_context"],
    )
    assert [tool.name for tool in made.skip_tools] == ["check_conflicts"]


def broken() -> Any:
    raise ValueError("the model is gone")


@pytest.mark.covers("AC-63", "S3-41", "S3-42")
@pytest.mark.parametrize(
    ("engine", "classifier"),
    [
        (Engine(broken), "heuristic"),
        (Engine(lambda: None), "heuristic"),
        (Engine(lambda: (True, "late"), seconds=5), "heuristic_timeout"),
    ],
    ids=["raises", "no-pair", "late"],
)
def test_an_engine_that_fails_is_not_noticed(engine: Engine, classifier: str) -> None:
    made, said = judged(engine, "Hello!")
    assert (made.query_type.value, made.needs_deep_context, said) == ("greeting", False, classifier)
