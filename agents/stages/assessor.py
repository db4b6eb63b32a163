"""Assess whether a query needs deep context, before anything is retrieved for it.

reads   assessments.in   key request
writes  assessments.out  the assessment, under the same key
state   none
"""

from collections.abc import Sequence
from typing import Literal

from agents.concurrency import call_with_deadline
from agents.core.assessment import context_needs
from agents.core.assessment import prompt as assessment_prompt
from agents.core.assessment.context_needs import DEFAULT_POLICY, AssessmentPolicy
from agents.ports.models import Clock, ExpansionContext, ExpansionEngine, LanguageModel
from schemas.assessment import Assessment, AssessmentAsked, AssessmentMade
from schemas.base import entity_key
from schemas.envelope import Outgoing, Received
from schemas.topics import ASSESSMENTS_OUT

Classifier = Literal["heuristic", "heuristic_timeout", "engine", "llm"]
# The whole assessment may take a fifth of a second.
TIMEOUT_S = 0.15


class Assessor:
    """Assesses by rules, or by an engine or a model if in time; their errors and delays never reach the caller.

    An engine takes precedence over a model, since it is configured for this purpose.
    """

    def __init__(
        self,
        clock: Clock,
        engine: ExpansionEngine | None = None,
        *,
        model: LanguageModel | None = None,
        seconds: float = TIMEOUT_S,
        policy: AssessmentPolicy = DEFAULT_POLICY,
    ) -> None:
        self._clock = clock
        self._engine = engine
        self._model = model
        self._seconds = seconds
        self._policy = policy

    async def handle(self, record: Received[AssessmentAsked]) -> Sequence[Outgoing]:
        """Emit the assessment of one request."""
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
        return (Outgoing(ASSESSMENTS_OUT, entity_key(envelope.tenant, asked.request_id), answer, envelope),)

    async def assess(
        self, query: str, summary: str | None, available: Sequence[str], user_id: str | None
    ) -> tuple[Assessment, Classifier]:
        """The assessment and its classifier; errors of an engine or a model are not raised."""
        made = context_needs.assess(query, summary, available, policy=self._policy)
        if self._engine is not None:
            context = ExpansionContext(user_id, {"conversation_summary": summary})
            return await self._by_engine(self._engine, made, query, context)
        if self._model is not None:
            return await self._by_model(self._model, made, assessment_prompt.prompt(query, summary, available))
        return made, "heuristic"

    async def _by_engine(
        self, engine: ExpansionEngine, made: Assessment, query: str, context: ExpansionContext
    ) -> tuple[Assessment, Classifier]:
        async def check() -> tuple[bool, str]:
            needs, why = await engine.check_if_expansion_needed(query, context)
            return bool(needs), str(why)

        answer, late = await call_with_deadline(check, self._seconds)
        if answer is None:
            return made, "heuristic_timeout" if late else "heuristic"
        needs, why = answer
        return context_needs.by_engine(made, needs=needs, why=why, policy=self._policy), "engine"

    async def _by_model(self, model: LanguageModel, made: Assessment, prompt: str) -> tuple[Assessment, Classifier]:
        async def complete() -> assessment_prompt.ModelJudgement | None:
            return assessment_prompt.read(
                await model.complete(
                    prompt,
                    tier=assessment_prompt.MODEL_TIER,
                    max_tokens=assessment_prompt.MAX_TOKENS,
                    temperature=assessment_prompt.TEMPERATURE,
                )
            )

        judged, late = await call_with_deadline(complete, self._seconds)
        if judged is None:
            return made, "heuristic_timeout" if late else "heuristic"
        return context_needs.by_model(made, judged, policy=self._policy), "llm"
