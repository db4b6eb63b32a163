"""A limit is for who is waited for: time that our own loop stood still is not theirs."""

import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest

from agents.concurrency import timeout
from streams.testing.pipeline import Pipeline


async def yielding(turns: int) -> str:
    for _ in range(turns):
        await asyncio.sleep(0)
    return "answered"


def limited(work: Callable[[], Awaitable[str]], **options: float) -> str:
    async def story() -> str:
        async with timeout(0.01, **options):
            return await work()

    return asyncio.run(story())


def test_an_answer_that_is_there_after_a_stall_counts():
    async def stalled() -> str:
        time.sleep(0.15)
        return await yielding(4)

    assert limited(stalled) == "answered"


@pytest.mark.parametrize("options", [{}, {"stall": 0.02}])
def test_what_does_not_answer_is_given_up(options: dict[str, float]):
    with pytest.raises(TimeoutError):
        limited(lambda: asyncio.sleep(30, "never"), **options)


def test_a_stall_gives_no_more_than_its_own_length_again():
    async def stalled() -> str:
        time.sleep(0.15)
        return await asyncio.sleep(30, "never")

    with pytest.raises(TimeoutError):
        limited(stalled)


def test_a_loop_that_stood_still_costs_no_part_of_a_pack(monkeypatch: pytest.MonkeyPatch):
    # The loop's clock is ours: on a busy machine the other parts' own work would not fit in what the stall leaves.
    now = [0.0]
    monkeypatch.setattr(asyncio.BaseEventLoop, "time", lambda _: now[0])
    with Pipeline() as fathom:
        profile = {"user_id": "web", "user_role": "diretora", "department": "RH", "access_level": "internal"}
        fathom.document("p1", "Perfil", tipo="profile", profile=profile)
        persona = fathom.graph.persona

        async def after_a_stall(*asked: object) -> object:
            now[0] = 0.15  # for all that is asked meanwhile
            await yielding(3)
            return await persona(*asked)

        fathom.graph.persona = after_a_stall
        pack = fathom.ask("Qual o email do João Silva?")
    assert pack.persona_context is not None
    assert not pack.degraded
