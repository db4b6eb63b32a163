"""The verdicts of tool calls in the progress of the message that they are for."""

from typing import Any

import pytest

from agents.core.progress.message_events import MessageEvents
from schemas.envelope import Received
from schemas.retrieval import RetrievalPlan
from schemas.tools import ToolCallRequested, ToolCallResolved
from schemas.topics import RETRIEVAL_PLANS
from streams.testing.pipeline import Pipeline

ARGUMENTS = {"order_id": "A-1"}


@pytest.fixture(scope="module")
def plans() -> list[Received[RetrievalPlan]]:
    with Pipeline() as fathom:
        for number in (1, 2):
            fathom.say("How long does a refund take?", message_id=f"m{number}")
            fathom.clock.advance(60)
        return [*fathom.events(RETRIEVAL_PLANS)]


def event(of: Received[RetrievalPlan], made: Any, after_s: float, offset: int = 0) -> Received[Any]:
    return of._replace(event=made, timestamp=of.timestamp + round(1000 * after_s), offset=offset)


def call(of: Received[RetrievalPlan], after_s: float, message_id: str | None = None, call_id: str = "k1") -> Any:
    plan = of.event
    made = ToolCallRequested(
        call_id=call_id, client_id=plan.client_id, session_id=plan.conversation_id, tool_name="refund_order",
        message_id=message_id,
    )  # fmt: skip
    return event(of, made, after_s)


def verdict(of: Received[RetrievalPlan], after_s: float, offset: int, call_id: str = "k1", **fields: Any) -> Any:
    plan = of.event
    said = {"status": "resolved", "resolved_args": ARGUMENTS, **fields}
    made = ToolCallResolved(
        call_id=call_id, client_id=plan.client_id, session_id=plan.conversation_id, tool_name="refund_order", **said
    )
    return event(of, made, after_s, offset)


def shown(of: Received[RetrievalPlan], *records: Any) -> list[tuple[str, Any, int, int]]:
    told = MessageEvents(of, None)
    events = [each.event for record in records for each in told.of(record) if each.event.stage == "tools"]
    return [(each.type, each.data["status"], each.prev_seq, each.seq) for each in events]


def test_a_verdict_is_told_with_the_message_that_its_call_names_or_that_was_the_last_before_it(plans: Any):
    first, second = plans
    for named in ("m1", None):
        records = (call(first, 5, named), verdict(first, 6, 7))
        assert shown(first, *records) == [("TOOL_VERDICT", "resolved", 0, 8)]
        assert shown(first, *reversed(records)) == [("TOOL_VERDICT", "resolved", 0, 8)]  # topics have no order
    assert shown(first, second, call(second, 5), verdict(second, 6, 9)) == []
    assert shown(second, call(second, 5), verdict(second, 6, 9)) == [("TOOL_VERDICT", "resolved", 0, 10)]
    assert shown(second, call(first, 5, None), verdict(first, 6, 7)) == []
    assert shown(second, call(second, 5, "m1"), verdict(second, 6, 7)) == []


def test_a_preview_and_what_became_of_it_are_two_verdicts_and_one_told_again_is_none(plans: Any):
    first = plans[0]
    preview = {"text": "Refund A-1?", "lang": "en", "args": ARGUMENTS, "expires_at": first.event.deadline_at}
    asked = verdict(first, 6, 3, status="confirmation_required", resolved_args=None, preview=preview)
    done = verdict(first, 9, 5)
    assert shown(first, call(first, 5), asked, asked, done) == [
        ("TOOL_VERDICT", "confirmation_required", 0, 4),
        ("TOOL_VERDICT", "resolved", 4, 6),
    ]


def test_calls_of_another_conversation_are_none_of_it(plans: Any):
    first = plans[0]
    elsewhere = [
        each._replace(event=each.event.model_copy(update={"session_id": "another"}))
        for each in (call(first, 5, "m1"), verdict(first, 6, 7))
    ]
    assert shown(first, *elsewhere) == []
