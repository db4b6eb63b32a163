"""Packs on their way go first; what learns from them waits, but not for ever."""

import asyncio
import itertools

import pytest

from streams.runtime.admission import priority
from streams.runtime.admission.priority import (
    ADMITTED,
    ADMITTED_EVERY_S,
    ADMITTED_LATE,
    BUSY_S,
    MAX_AHEAD,
    PriorityGate,
)
from streams.topology import STAGES


def test_background_work_waits_until_nothing_urgent_is_in_hand():
    async def scenario() -> list[str]:
        gate, order = PriorityGate(), []
        gate.enter()

        async def background() -> None:
            await gate.turn("claims")
            order.append("background")

        waiting = asyncio.create_task(background())
        await asyncio.sleep(0)
        order.append("urgent")
        gate.leave(1)
        await waiting
        return order

    assert asyncio.run(scenario()) == ["urgent", "background"]


def test_background_work_gets_its_share_while_urgent_work_never_ends():
    async def scenario() -> str:
        gate = PriorityGate()
        gate.enter()
        await asyncio.wait_for(gate.turn("claims"), 1)
        return "had its turn"

    assert asyncio.run(scenario()) == "had its turn"


def test_background_work_is_let_in_one_by_one_so_that_urgent_work_comes_between():
    async def scenario() -> list[str]:
        gate, order = PriorityGate(), []

        async def background(number: int) -> None:
            await gate.turn("claims")
            order.append(f"background {number}")
            if number == 0:
                gate.enter()  # the next message is read while the first is handled
                order.append("urgent")

        waiting = [asyncio.create_task(background(number)) for number in range(3)]
        for _ in range(20):
            await asyncio.sleep(0)
        assert order == ["background 0", "urgent"]
        gate.leave(1)
        await asyncio.gather(*waiting)
        return order

    assert asyncio.run(scenario()) == ["background 0", "urgent", "background 1", "background 2"]


def test_records_that_are_written_together_are_admitted_together_and_stages_take_turns():
    async def scenario() -> list[list[str]]:
        gate, turns = PriorityGate(), []
        gate.enter()  # for ever: each turn takes its ten milliseconds

        async def background(stage: str, together: int) -> None:
            await gate.turn(stage, together)
            turns.append(stage)

        waiting = [asyncio.create_task(background("decisions", 3)) for _ in range(7)]
        waiting += [asyncio.create_task(background("claims", 1)) for _ in range(3)]
        await asyncio.gather(*waiting)
        return turns

    decisions, claims = ["decisions"], ["claims"]
    assert asyncio.run(scenario()) == 3 * decisions + claims + 3 * decisions + claims + decisions + claims


def test_a_caller_who_has_gone_takes_no_turn():
    async def scenario() -> list[int]:
        gate, order = PriorityGate(), []
        gate.enter()

        async def background(number: int) -> None:
            await gate.turn("claims")
            order.append(number)

        waiting = [asyncio.create_task(background(number)) for number in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return order

    assert asyncio.run(scenario()) == [1, 2]


def lateness(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Whoever sleeps finds that so much more time has passed."""
    clock = itertools.count(0.0, ADMITTED_EVERY_S + seconds)
    monkeypatch.setattr(priority, "monotonic", lambda: next(clock))


def test_new_messages_wait_while_a_busy_loop_has_those_begun_in_hand(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(priority, "MAX_ADMISSION_S", 3600)
    lateness(monkeypatch, 2 * BUSY_S)

    async def scenario() -> list[str]:
        gate, order = PriorityGate(), []
        for _ in range(MAX_AHEAD):
            gate.enter()

        async def message(number: int) -> None:
            gate.enter(first=True)
            await gate.admitted("acme")
            order.append(f"message {number}")
            gate.leave(1, first=True)

        waiting = [asyncio.create_task(message(number)) for number in range(ADMITTED + 1)]
        await asyncio.sleep(10 * ADMITTED_EVERY_S)
        order.append("a part is done")
        gate.leave(1)
        await waiting[0]
        gate.enter()  # what the first became
        order.append("full again")
        await asyncio.sleep(10 * ADMITTED_EVERY_S)
        assert not waiting[-1].done()
        gate.leave(MAX_AHEAD)
        await asyncio.gather(*waiting)
        return order

    first, *others = asyncio.run(scenario())
    assert first == "a part is done"
    assert others.index("full again") <= ADMITTED
    assert others[-1] == f"message {ADMITTED}"


def test_new_messages_do_not_wait_for_those_that_wait_for_a_slow_store(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(priority, "MAX_ADMISSION_S", 3600)
    lateness(monkeypatch, BUSY_S / 2)

    async def scenario() -> None:
        gate = PriorityGate()
        for _ in range(2 * MAX_AHEAD):
            gate.enter()
        async with asyncio.timeout(60):
            await asyncio.gather(*(gate.admitted("acme") for _ in range(5 * ADMITTED)))

    asyncio.run(scenario())


def test_of_messages_that_wait_those_of_tenants_take_turns():
    async def scenario() -> list[str]:
        gate, order = PriorityGate(), []
        for _ in range(MAX_AHEAD):
            gate.enter()

        async def message(tenant: str) -> None:
            await gate.admitted(tenant)
            order.append(tenant)

        waiting = [asyncio.create_task(message(tenant)) for tenant in [*("loud",) * 30, "quiet", "still", "quiet"]]
        await asyncio.sleep(0)
        gate.leave(MAX_AHEAD)
        await asyncio.gather(*waiting)
        return order

    order = asyncio.run(scenario())
    assert order[:6] == ["loud", "quiet", "still", "loud", "quiet", "loud"]
    assert order.count("loud") == 30


def test_new_messages_pass_after_a_while_even_so(monkeypatch: pytest.MonkeyPatch):
    lateness(monkeypatch, 2 * BUSY_S)

    async def scenario() -> str:
        gate = PriorityGate()
        for _ in range(MAX_AHEAD):
            gate.enter()
        await asyncio.wait_for(gate.admitted("acme"), 60)
        return "passed"

    assert asyncio.run(scenario()) == "passed"


def test_while_those_ahead_do_not_get_done_few_pass_at_a_time(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(priority, "MAX_ADMISSION_S", 0.01)
    lateness(monkeypatch, 2 * BUSY_S)

    async def scenario() -> int:
        gate = PriorityGate()
        for _ in range(MAX_AHEAD):
            gate.enter()
        waiting = [asyncio.create_task(gate.admitted("acme")) for _ in range(ADMITTED)]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        passed = sum(one.done() for one in waiting)
        await asyncio.wait_for(asyncio.gather(*waiting), 60)
        return passed

    assert 1 <= asyncio.run(scenario()) <= ADMITTED_LATE < ADMITTED


def test_the_first_stage_is_full_until_half_of_its_messages_are_done(monkeypatch: pytest.MonkeyPatch):
    now = [100.0]
    monkeypatch.setattr(priority, "monotonic", lambda: now[0])
    gate = PriorityGate()
    told = []
    for load, at in ((99, 101.0), (100, 102.0), (88, 103.0), (100, 104.0), (50, 105.0), (49, 106.0), (100, 107.0)):
        now[0] = at
        gate.filled(load, 100)
        told.append(gate.full_for())
    assert told == [0, 0, 1, 2, 3, 0, 0]


def test_no_stage_that_somebody_waits_for_is_a_background_one():
    path = {"depth", "search", "assessor", "tool-gate"}
    assert {s.group_name for s in STAGES if not s.background} == path
