"""Progress, as the records of the pipeline tell it: every message's, once."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from agents.cognition import stage as cognition
from agents.cognition.core import planner
from agents.cognition.core.route import max_steps
from agents.core.progress.message_events import MessageEvents
from agents.core.progress.reduction import reduced, snapshot
from agents.errors import Rejected
from schemas.cognition import Node
from schemas.progress import TERMINAL, ProgressMade
from schemas.topics import (
    ANSWERS_OUT,
    COGNITION_STEPS,
    CONTEXT_PACKS,
    PACKS_PARTIAL,
    RETRIEVAL_PLANS,
    dead_letter_topic,
)
from streams import extensions
from streams.stage import Stage
from streams.testing.pipeline import Pipeline
from streams.topology import CHAINED, SPLIT
from tests.builders.progress_job import LAW, ON, RULINGS, events

QUESTION = "O adicional de insalubridade é devido ao empregado do frigorífico e quanto dura o intervalo de almoço?"


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline(**ON) as made:
        made.document("clt", "CLT", LAW)
        made.document("julgados", "Julgados", RULINGS)
        yield made


@pytest.mark.covers("S2-135", "AC-80")
@pytest.mark.parametrize("stages", [CHAINED, SPLIT])
def test_a_message_is_told_of_from_its_plan_to_its_pack_and_its_answer(stages: tuple[Stage, ...]) -> None:
    with Pipeline(stages=stages, **ON) as fathom:
        fathom.document("clt", "CLT", LAW)
        message = fathom.say(QUESTION)
        made = events(fathom)
        assert {event.message_id for event in made} == {message}
        pack = [event for event in made if event.stage == "pack"]
        nodes = reduced(pack[:1]).document["nodes"]
        asked = {name for name, node in nodes.items() if node["state"] == "asked"}
        assert [event.type for event in pack] == ["PACK_PLANNED", *["PACK_PART"] * len(asked), "PACK_COMPLETE"]
        assert {event.node_id for event in pack[1:-1]} == asked >= {"semantic", "episodic"}
        assert all(one.seq < other.seq and other.prev_seq == one.seq for one, other in pairwise(pack))
        state = snapshot(message, made)
        assert (state["pack"]["status"], state["cognition"]["status"]) == ("complete", "complete")


@pytest.mark.covers("AC-68")
def test_with_cognition_off_there_is_no_event_of_it(fathom: Pipeline) -> None:
    with Pipeline(**{**ON, "rag_enable_cograg": False}) as plain:
        plain.document("clt", "CLT", LAW)
        plain.document("julgados", "Julgados", RULINGS)
        plain.say(QUESTION)
        fathom.say(QUESTION)
        assert {event.stage for event in events(plain)} == {"pack"}
        [planned] = [event for event in events(plain) if event.type == "PACK_PLANNED"]
        assert planned.data["cognition"] is False
        [told] = [event for event in events(fathom) if event.type == "PACK_PLANNED"]
        assert told.data["cognition"] is True
        packs = [[each.event.model_dump_json() for each in one.events(CONTEXT_PACKS)] for one in (plain, fathom)]
        assert packs[0] == packs[1]


def test_what_is_in_the_log_twice_is_told_once(fathom: Pipeline) -> None:
    fathom.say(QUESTION)
    [plan] = fathom.events(RETRIEVAL_PLANS)
    message = MessageEvents(plan, extensions.run_of(plan.event, fathom.settings.cognition()))
    records = [record for topic in (PACKS_PARTIAL, CONTEXT_PACKS, COGNITION_STEPS) for record in fathom.events(topic)]
    once = [each for record in records for each in message.of(record)]
    assert [message.first.event, *(each.event for each in once)] == events(fathom)
    assert [each for record in records for each in message.of(record)] == []


def test_two_tenants_with_the_same_message_have_events_of_their_own(fathom: Pipeline) -> None:
    for tenant in ("acme", "beta"):
        fathom.say("Bom dia!", tenant=tenant, message_id="m1")
    plans = {plan.envelope.tenant: plan.event.pack_id for plan in fathom.events(RETRIEVAL_PLANS)}
    assert {event.job_id for event in events(fathom)} == {*plans.values()}
    assert len({*plans.values()}) == 2


# --- runs that fail

LETTERS = dead_letter_topic("cognition")


def of_run(fathom: Pipeline) -> list[ProgressMade]:
    return [event for event in events(fathom) if event.stage == "cognition"]


def raising(error: Exception) -> Any:
    def rule(*_: Any, **__: Any) -> None:
        raise error

    return rule


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (ZeroDivisionError("division by zero"), "ZeroDivisionError: division by zero"),
        (Rejected("odd", "it is"), "odd: it is"),
    ],
)
def test_a_run_that_ends_in_the_dead_letters_says_so(
    fathom: Pipeline, monkeypatch: pytest.MonkeyPatch, error: Exception, why: str
) -> None:
    with monkeypatch.context() as broken:
        broken.setitem(cognition.ANSWERING, Node.REASONER, raising(error))  # type: ignore[misc]
        message = fathom.say(QUESTION)
    [letter] = fathom.log.of(LETTERS)
    told = of_run(fathom)
    last = told[-1]
    assert [event.type for event in told if event.type in TERMINAL] == ["COGRAG_FAILED"] == [last.type]
    assert last.data["node"] == "reasoner"
    assert why in last.data["why"]
    assert "dead-letters.cognition" in last.data["why"]
    assert all(one.seq < other.seq and other.prev_seq == one.seq for one, other in pairwise(told))
    shown = snapshot(message, events(fathom))
    assert shown["cognition"]["failed"] == last.data["why"]
    # What was found before it is still there.
    assert {node["evidence"] for node in shown["cognition"]["nodes"].values()} != {0}
    assert fathom.events(ANSWERS_OUT) == []
    # Mended and sent again, the run goes on.
    fathom.log.append(COGNITION_STEPS.name, letter.key, letter.value, letter.headers)
    fathom.settle()
    assert [each.event.status for each in fathom.events(ANSWERS_OUT)] == ["answered"]
    assert of_run(fathom)[-1].type == "COGRAG_COMPLETE"
    assert snapshot(message, events(fathom))["cognition"]["answer_status"] == "answered"


def test_a_run_that_fails_before_its_first_step_says_so(fathom: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planner, "planned", raising(RecursionError("too deep")))
    message = fathom.say(QUESTION)
    assert len(fathom.log.of(LETTERS)) == 1
    [told] = of_run(fathom)
    assert (told.type, told.message_id, told.prev_seq) == ("COGRAG_FAILED", message, 0)
    shown = snapshot(message, events(fathom))["cognition"]
    assert (shown["question"], shown["nodes"], shown["status"]) == (QUESTION, {}, "abstain")
    assert "planner" in shown["failed"]


def test_a_run_without_an_end_fails_once_at_its_last_step(fathom: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.cognition.core.route.LINEAR", dict.fromkeys(Node, Node.MEMORY_CHECK))
    fathom.say(QUESTION)
    [last] = [event for event in of_run(fathom) if event.type in TERMINAL]
    steps = [each.event for each in fathom.events(COGNITION_STEPS)]
    assert len(fathom.log.of(LETTERS)) == 1
    assert f"more than {max_steps(steps[0].state)} steps" in last.data["why"]
    assert of_run(fathom)[-1] == last


def test_a_failed_run_that_is_handled_again_is_told_once(fathom: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cognition.ANSWERING, Node.REASONER, raising(KeyError("gone")))  # type: ignore[misc]
    fathom.say(QUESTION)
    before = events(fathom)
    fathom.crash("cognition")
    fathom.settle()
    assert events(fathom) == before
    assert [event.type for event in before if event.type in TERMINAL and event.stage == "cognition"] == [
        "COGRAG_FAILED"
    ]
