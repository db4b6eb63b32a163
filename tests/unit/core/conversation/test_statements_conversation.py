"""What an earlier turn is for: depth, plan and gate read it, results and the payload never do (S1)."""

from collections.abc import Iterator
from typing import Any

import pytest

from agents.context import ContextManager
from agents.errors import Unavailable
from agents.stages.presenter import Presenter
from schemas.policy import ContextPolicy
from schemas.topics import ANSWERS_OUT, CONVERSATION_TURNS, DEPTH_CLASSIFIED, RETRIEVAL_PLANS
from streams.testing.pipeline import Pipeline
from tests.builders.customs import CUSTOMS
from tests.unit.stages.test_tool_gate import Agent

BEFORE, ASKED = "Qual o preço de PETR4?", "e o dividendo?"
RESULTS = [{"dividendo": 1.25}]


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline(tools=CUSTOMS) as pipeline:
        yield pipeline


def decided(fathom: Pipeline, text: str, conversation: str = "c1") -> tuple[Any, Any]:
    """Depth and plan of a message."""
    message_id = fathom.say(text, conversation=conversation)
    return fathom.one(DEPTH_CLASSIFIED, message_id=message_id), fathom.one(RETRIEVAL_PLANS, message_id=message_id)


@pytest.mark.covers("S1-L1")
def test_depth_plan_and_gate_decide_by_what_was_said_before(fathom: Pipeline):
    classified, plan = decided(fathom, ASKED, "without")
    assert (classified.depth_level, classified.parameters, plan.parameters) == ("D0", None, None)
    fathom.say(BEFORE)
    classified, plan = decided(fathom, ASKED)
    assert classified.depth_level == "D1"
    assert [(each.value, each.source) for each in plan.parameters] == [("PETR4", "history")]

    agent = Agent(fathom)
    assert agent.call("c1", "consultar_status_processo").error_code == "contexto_ausente"
    agent.say("qual o status do ALH.0002/26?")
    found = agent.call("c2", "consultar_status_processo")
    assert (found.resolved_args or {})["processo_referencia"] == "ALH.0002/26"


@pytest.mark.covers("S1-M2")
def test_parameters_come_from_the_history_and_what_is_presented_does_not(fathom: Pipeline):
    fathom.say(BEFORE)
    classified, _ = decided(fathom, ASKED)
    question = classified.message_id
    fathom.say("R$ 1,25.", role="assistant", answers=question, results=RESULTS, entity="PETR4")
    assert [(each.value, each.source) for each in classified.parameters] == [("PETR4", "history")]
    [given] = [received.event for received in fathom.events(ANSWERS_OUT)]
    assert given.meta.answers == question
    assert given.results == RESULTS
    assert "preço" not in given.model_dump_json()


class Nowhere:
    """A working set that must not be asked."""

    def __getattr__(self, name: str) -> Any:
        raise Unavailable("working_set", name)


@pytest.mark.covers("S1-10")
def test_results_of_an_executor_reach_the_client_without_any_context(fathom: Pipeline):
    question = fathom.say(ASKED)
    fathom.say("R$ 1,25.", role="assistant", answers=question, results=RESULTS)
    turn = fathom.events(CONVERSATION_TURNS)[-1]
    presenter = Presenter(ContextManager(Nowhere(), ContextPolicy()))  # type: ignore[arg-type]

    async def presented() -> Any:
        return [outgoing.event for outgoing in await presenter.handle(turn)]

    [given] = fathom._run(presented())
    assert (given.results, given.answer) == (RESULTS, "R$ 1,25.")
