"""The first state of a run: what is asked, for whom, as of when, and what it may spend."""

from datetime import UTC, datetime, timedelta

from agents.ports.cognition import CognitionOptions
from schemas.base import derive
from schemas.cognition import CognitiveState
from schemas.retrieval import MemoryClass, RetrievalPlan

JOB_TIME = timedelta(seconds=120)
SCOPE = "tenant"
EVER = datetime(1970, 1, 1, tzinfo=UTC)


def job_id_of(plan: RetrievalPlan) -> str:
    """The id of the run for a message's plan, however often it is opened."""
    return derive("cognition", plan.plan_id)


def opened(plan: RetrievalPlan, tenant: str, options: CognitionOptions) -> CognitiveState:
    """The state of a run for a message's plan."""
    return CognitiveState(
        query=plan.query,
        lang=plan.lang,
        tenant_id=tenant,
        scope=SCOPE,
        job_id=job_id_of(plan),
        client_id=plan.client_id,
        conversation_id=plan.conversation_id,
        message_id=plan.message_id,
        pack_id=plan.pack_id,
        frame_id=plan.frame_id,
        user_id=plan.user_id,
        as_of=plan.as_of,
        deadline_at=plan.accepted_at + JOB_TIME,
        limits=options.limits,
        flags=options.flags,
        talks_since=_talks_since(plan),
    )


def _talks_since(plan: RetrievalPlan) -> datetime | None:
    """Since when past messages count, as in the pack; None where it asks for none: a greeting needs no memory."""
    asked = plan.wants(MemoryClass.EPISODIC)
    if asked is None or asked.skip is not None or (asked.kinds is not None and "message" not in asked.kinds):
        return None
    return asked.since or EVER


def is_asked(plan: RetrievalPlan) -> bool:
    """Whether the caller asked for a deep answer, whatever the question."""
    return plan.options is not None and plan.options.deep is True
