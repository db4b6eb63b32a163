"""Working sets and tool sessions of a worker: the store it was given, held to what the log says."""

import logging

from schemas.base import Conversation
from schemas.policy import ContextPolicy
from schemas.tool_policy import ToolPolicy
from streams.kafka.producer import partition_of
from streams.stores.sessions.memory import MemoryWorkingSets
from streams.telemetry import metrics
from streams.views.restorable import Restorable, RestorableToolSessions, ToolLog, TurnLog
from streams.views.restoring import Restored
from streams.views.tool_sessions import RecoverableToolSessions
from streams.views.working_sets import RecoverableWorkingSets

LOGGER = logging.getLogger("fathom.view")


def following(sets: Restorable, policy: ContextPolicy, log: TurnLog, partitions: int) -> RecoverableWorkingSets:
    """Working sets that are made whole again from this log."""

    def place(conversation: Conversation) -> int:
        return partition_of(conversation.key(), partitions)

    return RecoverableWorkingSets(
        sets, log, policy, partitions=partitions, place=place, beside=MemoryWorkingSets, report=report
    )


def following_tools(
    sessions: RestorableToolSessions, policy: ToolPolicy, log: ToolLog, partitions: int
) -> RecoverableToolSessions:
    """Tool sessions that are made whole again from this log."""

    def place(conversation: Conversation) -> int:
        return partition_of(conversation.key(), partitions)

    return RecoverableToolSessions(sessions, log, policy, partitions=partitions, place=place)


def report(restored: Restored, seconds: float) -> None:
    """Count a restoration, and say it."""
    metrics.RESTORED.inc(len(restored.partitions))
    metrics.RESTORED_TURNS.inc(restored.turns)
    metrics.RESTORE_SECONDS.observe(seconds)
    metrics.log(
        LOGGER,
        logging.INFO,
        "view.restored",
        partitions=sorted(restored.partitions),
        conversations=restored.conversations,
        turns=restored.turns,
        seconds=round(seconds, 3),
    )
