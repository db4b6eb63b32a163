"""Say whether a query needs deep context, before anything is retrieved for it.

reads   assessments.in   key request
writes  assessments.out  the assessment, under the same key
state   none
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Literal

from agents.core import assessment
from agents.ports import Clock, ExpansionContext, ExpansionEngine
from schemas.assessment import Assessment, AssessmentAsked, AssessmentMade
from schemas.base import entity_key
from schemas.envelope import Outgoing, Received
from schemas.topics import ASSESSMENTS_OUT

Classifier = Literal["heuristic", "heuristic_timeout", "engine"]
# A fifth of a second is what an assessment may take in all (S3-21, S3-41).
ENGINE_SECONDS = 0.15


class Assessor:
    """By rules, or by an engine that answers in time; its errors and its slowness are never the caller's."""

    def __init__(self, clock: Clock, engine: ExpansionEngine | None = None, *, seconds: float = ENGINE_SECONDS) -> None:
        self._clock = clock
        self._engine = engine
        self._seconds = seconds

    async def handle(self, record: Received[AssessmentAsked]) -> AsyncIterator[Outgoing]:
        """The assessment of one request."""
        asked, envelope = record.event, record.envelope
        began = self._clock.now()
        made, classifier = await self.assess(
            asked.query, asked.conversation_summary, asked.available_context or (), envelope.user_id
        )
        answer = AssessmentMade(
            **made.model_dump(),
            request_id=asked.request_id,
            classifier=classifier,
            latency_ms=max((self._clock.now() - began).total_seconds() * 1000, 0.0),
        )
        yield Outgoing(ASSESSMENTS_OUT, entity_key(envelope.tenant, asked.request_id), answer, envelope)

    async def assess(
        self, query: str, summary: str | None, available: Sequence[str], user_id: str | None
    ) -> tuple[Assessment, Classifier]:
        """The assessment and who made it; never raises what an engine raises (S3-42)."""
        made = assessment.assess(query, summary, available)
        if self._engine is None:
            return made, "heuristic"
        context = ExpansionContext(user_id, {"conversation_summary": summary})
        try:
            async with asyncio.timeout(self._seconds):
                needs, why = await self._engine.check_if_expansion_needed(query, context)
        except TimeoutError:
            return made, "heuristic_timeout"
        except Exception:  # noqa: BLE001 - an engine is somebody else's code, and there is an answer without it
            return made, "heuristic"
        return assessment.by_engine(made, needs=bool(needs), why=str(why)), "engine"
