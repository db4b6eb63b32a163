"""Make working sets whole again from the log (design §7): the one way, for a worker that goes on and for a replay.

restored = await restore(sets, log, partitions, keep=400)               # everything the log has
restored = await restore(sets, log, {3}, keep=400, span=timedelta(hours=1))
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta

from agents.core.conversation.session_state import RecordedOutcome, TurnOutcome, by_conversation
from schemas.base import Conversation
from streams.views.restorable import Restorable, TurnLog

CONCURRENCY = 16


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restoration did; `turns` were lacking."""

    partitions: frozenset[int]
    conversations: int
    turns: int


def nothing_more(_: int) -> Iterable[RecordedOutcome]:
    """For views of which nobody writes while they are restored."""
    return ()


async def restore(
    sets: Restorable,
    log: TurnLog,
    partitions: Collection[int],
    *,
    keep: int,
    span: timedelta | None = None,
    only: Callable[[Conversation], bool] | None = None,
    more: Callable[[int], Iterable[RecordedOutcome]] = nothing_more,
) -> Restored:
    """Add what the partitions lack of the last `span` of their log (None: all of it), then mark them whole.

    What is there is kept. `keep` is how many turns a frame keeps; `only` chooses conversations, and then a partition
    that was not whole before stays so; `more` is what is known of a partition and may not be in the log yet.
    Raises `Behind` when somebody else began to restore a partition or the store was emptied meanwhile, `Unavailable`.
    """
    incomplete = frozenset() if only is None else await sets.missing(partitions)
    # First of all: from now on nobody files a turn that the log, as it is read next, does not have.
    tokens = {partition: await sets.begin(partition) for partition in sorted(partitions)}
    conversations = turns = 0
    async with aclosing(log.read(partitions, span)) as portions:
        async for recorded in portions:
            for partition, found in recorded.items():
                token = tokens[partition]
                # In a thread, for a partition may be long, and the loop has heartbeats to answer.
                said = await asyncio.to_thread(by_conversation, [*found, *more(partition)])
                wanted = {whose: outcomes for whose, outcomes in said.items() if only is None or only(whose)}
                conversations += len(wanted)
                turns += await _restore_all(sets, partition, token, wanted, keep)
                if partition not in incomplete:
                    await sets.finish(partition, token)
    return Restored(frozenset(tokens), conversations, turns)


async def _restore_all(
    sets: Restorable, partition: int, token: str, said: Mapping[Conversation, Sequence[TurnOutcome]], keep: int
) -> int:
    todo, turns = list(said.items()), 0
    for start in range(0, len(todo), CONCURRENCY):
        some = todo[start : start + CONCURRENCY]
        turns += sum(
            await asyncio.gather(*(sets.restore(whose, partition, token, outcomes, keep) for whose, outcomes in some))
        )
    return turns
