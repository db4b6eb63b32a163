"""Tool sessions made whole again from the log, partition by partition, as a worker does that finds them emptied."""

import asyncio
from datetime import UTC, datetime, timedelta

from agents.errors import ViewIncomplete
from schemas.base import Conversation
from schemas.tool_policy import ToolPolicy
from streams.kafka.producer import partition_of
from streams.replay.selection import Selection
from streams.replay.views import Advance
from streams.views.restorable import RestorableToolSessions, ToolLog
from streams.views.tool_sessions import restore

# A worker that restores the same partition wins; then it is whole, and a look is enough.
TRIES, RETRY_S = 5, 0.5


async def restore_tools(
    sessions: RestorableToolSessions,
    log: ToolLog,
    partitions: int,
    policy: ToolPolicy,
    selection: Selection,
    advance: Advance,
) -> int:
    """Fold what is selected of the log into the tool sessions; how many of them changed."""

    def chosen(conversation: Conversation) -> bool:
        return (selection.tenant in (None, conversation.tenant)) and (
            selection.conversation in (None, conversation.conversation_id)
        )

    span = None
    if selection.since is not None:
        span = max(datetime.now(UTC) - datetime.fromtimestamp(selection.since / 1000, UTC), timedelta(0))
    sessions.follow(partitions, lambda conversation: partition_of(conversation.key(), partitions))
    changed = 0
    for number in range(partitions):
        for attempt in range(1, TRIES + 1):
            try:
                changed += await restore(
                    sessions, log, policy, {number}, span=span, only=None if selection.whole else chosen
                )
            except ViewIncomplete:
                if attempt == TRIES:
                    raise
                await asyncio.sleep(RETRY_S)
            else:
                break
        advance(0, f"tool sessions, partition {number}")
    return changed
