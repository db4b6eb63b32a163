"""A result and the call that needs it, at once and in either order: the call waits a little for it (CF-87)."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from agents.concurrency import RetryUntil
from agents.context import ContextManager
from agents.core.conversation.memory import turn_of
from agents.core.tools.gate import ToolPolicyResolver
from agents.stages.tool_gate import ToolGate
from schemas import codec
from schemas.base import Conversation
from schemas.envelope import Envelope, Received
from schemas.policy import ContextPolicy
from schemas.tools import ToolCallRequested, ToolCallResolved, ToolConfirmation, ToolResult
from schemas.topics import TOOLS_CALLS_IN, TOOLS_CALLS_OUT, TOOLS_RESULTS_IN
from streams import config, policies
from streams.stores.sessions.memory import MemoryWorkingSets
from streams.stores.sessions.tool_sessions import MemoryToolSessions
from streams.testing.pipeline import Pipeline
from tests.builders.customs import CUSTOMS

MOMENT = datetime(2026, 1, 14, 9, 0, tzinfo=UTC)
ABOUT = Conversation(tenant="acme", client_id="web", conversation_id="s1")
WHOSE: dict[str, Any] = {"client_id": "web", "session_id": "s1"}
RESULT = ToolResult(call_id="c1", tool_name="gerar_relatorio", succeeded=True, report_id="rel_1", **WHOSE)
CALL = ToolCallRequested(call_id="c2", tool_name="filtrar_relatorio", **WHOSE)


class Clock:
    """Sleeps that take no time; `then` runs after the first of them."""

    def __init__(self, then: Any = None) -> None:
        self.slept: list[float] = []
        self.then = then

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if self.then is not None:
            then, self.then = self.then, None
            await then()


def received(event: Any, number: int = 1) -> Received[Any]:
    envelope = Envelope(f"e{number}", event.TYPE, "urn:test", MOMENT, "acme", f"e{number}", user_id="ana")
    return Received(event, envelope, ABOUT.key(), "", 0, number, 0)


def remembering(*, enabled: bool = True) -> ContextManager:
    return ContextManager(MemoryWorkingSets(), ContextPolicy(enabled=enabled))


def gate_over(clock: Clock, sessions: Any = None, context: ContextManager | None = None) -> ToolGate:
    patience = RetryUntil(0.2, clock.sleep)
    gate = ToolPolicyResolver(CUSTOMS, policies.shipped())
    return ToolGate(gate, sessions or MemoryToolSessions(), context or remembering(), patience)


async def verdicts(gate: ToolGate, event: Any, number: int = 1) -> Sequence[ToolCallResolved]:
    out = await gate.handle(received(event, number))
    return [step.event for step in out if step.topic is TOOLS_CALLS_OUT and isinstance(step.event, ToolCallResolved)]


@pytest.mark.covers("CF-87")
def test_a_call_waits_for_the_result_that_sets_its_context() -> None:
    async def story() -> Sequence[ToolCallResolved]:
        async def result_comes() -> None:
            assert await verdicts(gate, RESULT, 2) == []

        gate = gate_over(Clock(result_comes))
        return await verdicts(gate, CALL)

    [found] = asyncio.run(story())
    assert (found.status, found.resolved_args) == ("resolved", {"report_id": "rel_1"})


@pytest.mark.covers("CF-87")
@pytest.mark.parametrize(
    ("call", "slept"),
    [
        (CALL, 0.2),
        (CALL.model_copy(update={"args": {"report_id": "rel_9"}}), 0.0),
        (CALL.model_copy(update={"args": {"report_id": 9}}), 0.0),
        (CALL.model_copy(update={"tool_name": "somar"}), 0.0),
    ],
)
def test_only_a_call_that_lacks_context_waits_and_at_most_200_ms(call: ToolCallRequested, slept: float) -> None:
    clock = Clock()
    [found] = asyncio.run(verdicts(gate_over(clock), call))
    assert sum(clock.slept) == pytest.approx(slept)
    assert (found.error_code == "contexto_ausente") is (slept > 0)


NAMING = CALL.model_copy(update={"message_id": "m1"})


async def says(context: ContextManager, message_id: str, text: str, user_id: str = "ana") -> None:
    turn = turn_of("user", text, MOMENT, {"message_id": message_id, "user_id": user_id})
    await context.append_turn(ABOUT, turn)


@pytest.mark.covers("CF-52")
def test_of_two_messages_the_one_that_a_call_names_is_read() -> None:
    async def story() -> Sequence[ToolCallResolved]:
        context = remembering()
        await says(context, "m1", "filtre rel_456")
        await says(context, "m2", "filtre rel_777")
        return await verdicts(gate_over(Clock(), context=context), NAMING)

    [found] = asyncio.run(story())
    assert found.resolved_args == {"report_id": "rel_456"}


@pytest.mark.covers("CF-52", "CF-87")
def test_a_call_waits_for_the_message_that_it_names_and_not_before_the_session_answers_for_it() -> None:
    async def story() -> Sequence[ToolCallResolved]:
        async def message_comes() -> None:
            await says(context, "m1", "filtre rel_456")

        context = remembering()
        gate = gate_over(Clock(message_comes), context=context)
        await verdicts(gate, RESULT, 2)
        return await verdicts(gate, NAMING)

    [found] = asyncio.run(story())
    assert (found.status, found.resolved_args) == ("resolved", {"report_id": "rel_456"})


@pytest.mark.covers("CF-87")
@pytest.mark.parametrize(
    ("call", "said", "enabled", "slept"),
    [
        (NAMING, ("m0", "filtre rel_456"), True, 0.2),
        (NAMING, ("m1", "filtre rel_456"), True, 0.0),
        (NAMING, ("m1", "filtre rel_456", "bruno"), True, 0.0),
        (NAMING, ("m0", "filtre rel_456"), False, 0.0),
        (NAMING.model_copy(update={"args": {"report_id": "rel_9"}}), ("m0", "filtre rel_456"), True, 0.0),
        (NAMING.model_copy(update={"tool_name": "somar"}), ("m0", "filtre rel_456"), True, 0.0),
    ],
)
def test_only_a_call_whose_message_could_still_say_something_waits(
    call: ToolCallRequested, said: tuple[str, ...], enabled: bool, slept: float
) -> None:
    async def story() -> float:
        clock, context = Clock(), remembering(enabled=enabled)
        gate = gate_over(clock, context=context)
        await says(context, *said)
        await verdicts(gate, RESULT, 2)
        assert len(await verdicts(gate, call)) == 1
        return sum(clock.slept)

    assert asyncio.run(story()) == pytest.approx(slept)


def test_a_message_that_is_no_longer_among_the_last_ones_is_known_all_the_same() -> None:
    async def story() -> float:
        clock, context = Clock(), remembering()
        gate = gate_over(clock, context=context)
        for number in range(1, context.policy.max_turns + 2):
            await says(context, f"m{number}", "E o prazo?")
        await verdicts(gate, RESULT, 2)
        await verdicts(gate, NAMING)
        return sum(clock.slept)

    assert asyncio.run(story()) == 0.0


def test_the_wait_is_200_ms_unless_set() -> None:
    assert config.load({}).tool_wait_ms == 200


@pytest.mark.covers("AC-88", "CF-87")
@pytest.mark.parametrize("order", [(RESULT, CALL), (CALL, RESULT)])
def test_on_the_topics_the_order_makes_no_difference(order: Sequence[Any]) -> None:
    with Pipeline(partitions=1, tools=CUSTOMS) as fathom:
        for number, event in enumerate(order):
            topic = TOOLS_RESULTS_IN if event is RESULT else TOOLS_CALLS_IN
            headers = codec.to_headers(received(event, number).envelope)
            fathom.log.append(topic.name, ABOUT.key().encode(), codec.dump(event), headers)
        fathom.settle()
        found = fathom.one(TOOLS_CALLS_OUT)
        assert (found.status, found.resolved_args, found.error) == ("resolved", {"report_id": "rel_1"}, None)


class Slow(MemoryToolSessions):
    """A store whose answers to results come late."""

    def __init__(self) -> None:
        super().__init__()
        self.hold = asyncio.Event()
        self.late = True

    async def load(self, conversation: Conversation) -> Any:
        found = await super().load(conversation)
        if self.late:
            self.late = False
            await self.hold.wait()
        return found


def test_what_came_first_is_seen_first_however_slow_the_store() -> None:
    async def story() -> Any:
        sessions, clock = Slow(), Clock()
        gate = gate_over(clock, sessions)
        first = asyncio.create_task(verdicts(gate, RESULT, 1))
        await asyncio.sleep(0)
        second = asyncio.create_task(verdicts(gate, CALL, 2))
        for _ in range(20):
            await asyncio.sleep(0)
        sessions.hold.set()
        await first
        return await second, clock.slept

    [found], slept = asyncio.run(story())
    assert (found.resolved_args, slept) == ({"report_id": "rel_1"}, [])


def test_a_yes_that_comes_with_its_call_waits_for_the_preview() -> None:
    """The call has its context before it waits for nothing else; the yes behind it is not lost."""
    asked = CALL.model_copy(update={"tool_name": "enviar_relatorio_email", "args": {"report_id": "rel_1"}})
    yes = ToolConfirmation(call_id="c2", approved=True, user_id="ana", **WHOSE)

    async def story() -> Any:
        sessions = Slow()
        gate = gate_over(Clock(), sessions)
        first = asyncio.create_task(verdicts(gate, asked, 1))
        await asyncio.sleep(0)
        second = asyncio.create_task(verdicts(gate, yes, 2))
        for _ in range(20):
            await asyncio.sleep(0)
        sessions.hold.set()
        return [*await first, *await second]

    assert [each.status for each in asyncio.run(story())] == ["confirmation_required", "resolved"]
