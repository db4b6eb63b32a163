"""Working sets and tool sessions of a worker: the store it was given, held to what the log says."""

import logging

from schemas.base import Conversation
from schemas.policy import ContextPolicy
from schemas.tool_policy import ToolPolicy
from streams import telemetry
from streams.producer import partition_of
from streams.stores.following import FollowingWorkingSets
from streams.stores.following_tools import FollowingToolSessions
from streams.stores.memory import MemoryWorkingSets
from streams.stores.restorable import Restorable, RestorableToolSessions, ToolLog, TurnLog
from streams.stores.restoring import Restored

LOGGER = logging.getLogger("fathom.view")


def following(sets: Restorable, policy: ContextPolicy, log: TurnLog, partitions: int) -> FollowingWorkingSets:
    """Working sets that are made whole again from this log."""

    def place(conversation: Conversation) -> int:
        return partition_of(conversation.key(), partitions)

    return FollowingWorkingSets(
        sets, log, policy, partitions=partitions, place=place, beside=MemoryWorkingSets, report=report
    )


def following_tools(
    sessions: RestorableToolSessions, policy: ToolPolicy, log: ToolLog, partitions: int
) -> FollowingToolSessions:
    """Tool sessions that are made whole again from this log."""

    def place(conversation: Conversation) -> int:
        return partition_of(conversation.key(), partitions)

    return FollowingToolSessions(sessions, log, policy, partitions=partitions, place=place)


def report(restored: Restored, seconds: float) -> None:
    """Count a restoration, and say it."""
    telemetry.RESTORED.inc(len(restored.partitions))
    telemetry.RESTORED_TURNS.inc(restored.turns)
    telemetry.RESTORE_SECONDS.observe(seconds)
    telemetry.log(
        LOGGER,
        logging.INFO,
        "view.restored",
        partitions=sorted(restored.partitions),
        conversations=restored.conversations,
        turns=restored.turns,
        seconds=round(seconds, 3),
    )
