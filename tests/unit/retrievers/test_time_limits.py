"""How long a memory may take: a share of what is left until the deadline, and all of it where nothing else finds."""

import asyncio
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import timedelta

import pytest

from agents.retrievers.base import RetrievalRequest, RetrievalResult, Retriever
from schemas.envelope import Received
from schemas.retrieval import MemoryClass, RetrievalPlan, SourceRequest
from schemas.topics import RETRIEVAL_PLANS
from streams.testing.pipeline import Pipeline

S, E, P, W = MemoryClass.SEMANTIC, MemoryClass.EPISODIC, MemoryClass.PERSONA, MemoryClass.WORKING_SET


class Timed(Retriever):
    """Answers nothing, and notes how long it might have taken."""

    memory = S

    def limit(self, seconds: float) -> AbstractAsyncContextManager[None]:
        self.seconds = seconds
        return nullcontext()

    async def fetch(self, ask: RetrievalRequest) -> RetrievalResult:
        return RetrievalResult(())


@pytest.mark.parametrize(
    ("asked", "skipped", "deadline_ms", "seconds"),
    [
        ((S, E, P), (), 1_000, 0.8 * 0.96),
        ((S, P, W), (), 1_000, 0.96),
        ((S, P, W), (E,), 1_000, 0.96),
        ((S, E), (), 2_000, 0.8 * 1.96),
        ((S, E), (), 10, 0.8 * 0.05),
    ],
)
def test_a_memory_takes_its_share_and_the_only_one_with_evidence_takes_all(
    asked: tuple[MemoryClass, ...], skipped: tuple[MemoryClass, ...], deadline_ms: int, seconds: float
) -> None:
    with Pipeline() as fathom:
        fathom.ask("What is the deadline of Atlas?")
        [plan] = fathom.events(RETRIEVAL_PLANS)
        sources = [SourceRequest(memory_class=each, selector="x", max_tokens=10) for each in asked]
        sources += [SourceRequest(memory_class=each, selector="x", max_tokens=10, skip="tier") for each in skipped]
        deadline = fathom.clock.now() + timedelta(milliseconds=deadline_ms)
        event: RetrievalPlan = plan.event.model_copy(update={"sources": tuple(sources), "deadline_at": deadline})
        retriever = Timed(fathom.tokens, fathom.clock)
        record: Received[RetrievalPlan] = plan._replace(event=event)
        asyncio.run(retriever.handle(record))  # type: ignore[arg-type]
        assert retriever.seconds == pytest.approx(seconds)


@pytest.mark.parametrize("behind_s", [0.0, 3.0, 3_600.0])
def test_a_clock_that_is_behind_gives_a_memory_no_more_time(behind_s: float) -> None:
    with Pipeline() as fathom:
        fathom.ask("What is the deadline of Atlas?")
        [plan] = fathom.events(RETRIEVAL_PLANS)
        sources = (SourceRequest(memory_class=S, selector="x", max_tokens=10),)
        event = plan.event.model_copy(
            update={"sources": sources, "deadline_at": plan.logged_at + timedelta(milliseconds=1_000)}
        )
        fathom.clock.at = plan.logged_at - timedelta(seconds=behind_s)
        retriever = Timed(fathom.tokens, fathom.clock)
        asyncio.run(retriever.handle(plan._replace(event=event)))  # type: ignore[arg-type]
        assert retriever.seconds == pytest.approx(0.96)
