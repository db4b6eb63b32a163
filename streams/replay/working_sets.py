"""Working sets made whole again from the log, partition by partition, as a worker does that finds them emptied."""

import asyncio
from datetime import UTC, datetime, timedelta

from agents.errors import ViewIncomplete
from schemas.base import Conversation
from schemas.policy import ContextPolicy
from streams.kafka.producer import partition_of
from streams.replay.selection import Selection
from streams.replay.views import Advance
from streams.views.restorable import Restorable, TurnLog
from streams.views.restoring import Restored, restore

# A worker that restores the same partition wins; then it is whole, and a look is enough.
TRIES, RETRY_S = 5, 0.5


async def restore_all(
    sets: Restorable,
    log: TurnLog,
    partitions: int,
    policy: ContextPolicy,
    selection: Selection,
    advance: Advance,
) -> Restored:
    """Add what the working sets lack of what is selected; of a policy that keeps none, nothing."""
    if not policy.enabled:
        return Restored(frozenset(), 0, 0)

    def place(conversation: Conversation) -> int:
        return partition_of(conversation.key(), partitions)

    sets.follow(partitions, place)
    done = [await _restored(sets, log, number, policy, selection, advance) for number in range(partitions)]
    return Restored(
        frozenset(range(partitions)), sum(each.conversations for each in done), sum(each.turns for each in done)
    )


async def _restored(
    sets: Restorable, log: TurnLog, partition: int, policy: ContextPolicy, selection: Selection, advance: Advance
) -> Restored:
    def chosen(conversation: Conversation) -> bool:
        return (selection.tenant in (None, conversation.tenant)) and (
            selection.conversation in (None, conversation.conversation_id)
        )

    span = None
    if selection.since is not None:
        span = datetime.now(UTC) - datetime.fromtimestamp(selection.since / 1000, UTC)
    for attempt in range(1, TRIES + 1):
        try:
            found = await restore(
                sets,
                log,
                {partition},
                keep=max(policy.max_turns, policy.session_turns),
                span=None if span is None else max(span, timedelta(0)),
                only=None if selection.whole else chosen,
            )
        except ViewIncomplete:
            if attempt == TRIES:
                raise
            await asyncio.sleep(RETRY_S)
        else:
            advance(0, f"working sets, partition {partition}")
            return found
    raise AssertionError("the last try returns or raises")
