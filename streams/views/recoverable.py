"""A view that restores its partitions from the log, as Kafka Streams restores a state store.

A partition is incomplete before its first restoration and after the store lost its data. It is then blocked: a call
waits until the partition is restored. While store or broker does not answer, the call raises `Unavailable`.
"""

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import aclosing, suppress
from datetime import timedelta
from typing import Generic, TypeVar

from agents.errors import Unavailable, ViewIncomplete
from schemas.base import Conversation
from streams.kafka.producer import partition_of
from streams.telemetry import metrics
from streams.views.restorable import Place, RestorableView, ViewLog

S = TypeVar("S", bound=RestorableView)
R = TypeVar("R")
T = TypeVar("T")
# Applies the records of one partition to the store, under a token; counts what it found and what it changed.
Fold = Callable[[S, int, str, Sequence[R]], Awaitable[Mapping[str, int]]]

LOGGER = logging.getLogger("fathom.view")
LOOK_EVERY_S = 0.5
# Two workers that restore the same partition void each other's token; one of them waits up to this long.
BACKOFF_S = 0.3
TRIES = 8


def place_in(partitions: int) -> Place:
    """The partition of a conversation, as the producer chooses it."""
    return lambda conversation: partition_of(conversation.key(), partitions)


def every(_: Conversation) -> bool:
    """The choice of all conversations."""
    return True


async def restore(
    store: S,
    log: ViewLog[R],
    fold: Fold[S, R],
    partitions: Collection[int],
    *,
    span: timedelta | None = None,
    partial: bool = False,
) -> Counter[str]:
    """Fold the last `span` of the partitions' log (None: all) into the store; the sums of what `fold` counted.

    Each partition is then complete; a `partial` fold leaves one that was incomplete as it was. Raises `Unavailable`,
    and `ViewIncomplete` when somebody else restores a partition, or the store was emptied meanwhile.
    """
    incomplete = await store.incomplete_partitions(partitions) if partial else frozenset()
    # Before the log is read: a write after this is refused, so the log has every write that was accepted.
    tokens = {partition: await store.start_restore(partition) for partition in sorted(partitions)}
    counts: Counter[str] = Counter()
    async with aclosing(log.read(partitions, span)) as portions:
        async for portion in portions:
            for partition, records in portion.items():
                counts.update(await fold(store, partition, tokens[partition], records))
                if partition not in incomplete:
                    await store.complete_restore(partition, tokens[partition])
    return counts


async def poll_forever(look: Callable[[], Awaitable[None]]) -> None:
    """Call `look` every half second, through outages and bugs; a bug is logged once until a call succeeds.

    Nobody awaits the task: an error that ended it would leave a view incomplete for ever, and nobody told.
    """
    failed = False
    while True:
        await asyncio.sleep(LOOK_EVERY_S)
        try:
            await look()
            failed = False
        except Unavailable:
            continue
        except Exception as error:
            if not failed:
                LOGGER.error("view.bug", exc_info=error)
            failed = True


class RecoverableView(Generic[S, R]):
    """A `store` whose partitions are restored from the last `span` of `log` by `fold`, one restoration at a time."""

    event = "view.restored"

    def __init__(self, store: S, log: ViewLog[R], fold: Fold[S, R], span: timedelta | None = None) -> None:
        self._store = store
        self._log = log
        self._fold = fold
        self._span = span
        self._assigned: frozenset[int] = frozenset()
        self._wanted: set[int] = set()
        self._restoring: asyncio.Task[None] | None = None

    async def on_assigned(self, partitions: Iterable[int]) -> None:
        """Take partitions over, before their first record; what cannot be restored now is at its first use."""
        self._assigned = frozenset(partitions)
        with suppress(Unavailable):
            await self.restore_incomplete()

    def on_revoked(self) -> None:
        """Give all partitions up."""
        self._assigned = frozenset()

    async def restore_loop(self) -> None:
        """Restore for ever what becomes incomplete, so that no call has to wait for it."""
        await poll_forever(self.restore_incomplete)

    async def restore_incomplete(self) -> None:
        """Restore what is assigned and incomplete; raises `Unavailable`."""
        if self._assigned and (incomplete := await self._incomplete(self._assigned)):
            await self._restored(incomplete)

    async def _complete(self, partition: int, call: Callable[[], Awaitable[T]]) -> T:
        """What `call` answers once the partition is complete; raises `Unavailable`."""
        try:
            return await call()
        except ViewIncomplete:
            await self._restored({partition})
        return await call()

    async def _incomplete(self, partitions: frozenset[int]) -> frozenset[int]:
        return self._missed(partitions) | await self._store.incomplete_partitions(partitions)

    def _missed(self, _partitions: frozenset[int]) -> frozenset[int]:
        """Partitions that the store takes for complete and that miss something; none of a plain view."""
        return frozenset()

    async def _restored(self, partitions: Collection[int]) -> None:
        """Wait until these are complete."""
        self._wanted.update(partitions)
        while self._wanted.intersection(partitions) or self._restoring is not None:
            if self._restoring is None:
                self._restoring = asyncio.create_task(self._restore_wanted())
                self._restoring.add_done_callback(self._ended)
            # A reader that runs out of time must not end what others wait for.
            await asyncio.shield(self._restoring)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._restoring = None
        if not task.cancelled():
            task.exception()  # whoever waits hears of it; perhaps nobody does any more

    async def _restore_wanted(self) -> None:
        held, wanted = self._assigned, frozenset(self._wanted | self._assigned)
        self._wanted.clear()
        for left in reversed(range(TRIES)):
            # A revoked partition is restored by its next owner: two owners would void each other's tokens for ever.
            wanted -= held - self._assigned
            lost = await self._store.incomplete_partitions(wanted)
            incomplete = lost | self._missed(wanted)
            if not incomplete:
                return
            try:
                await self._restore(incomplete, lost)
                return
            except ViewIncomplete:
                if not left:
                    raise
                await asyncio.sleep(BACKOFF_S * random.random())

    async def _restore(self, partitions: frozenset[int], _lost: frozenset[int]) -> None:
        """Restore partitions, of which the store says itself that `_lost` are incomplete."""
        await self._restore_from(partitions, self._log, self._fold)

    async def _restore_from(self, partitions: frozenset[int], log: ViewLog[R], fold: Fold[S, R]) -> None:
        began = asyncio.get_running_loop().time()
        counts = await restore(self._store, log, fold, partitions, span=self._span)
        self._report(partitions, counts, asyncio.get_running_loop().time() - began)

    def _report(self, partitions: frozenset[int], counts: Mapping[str, int], seconds: float) -> None:
        numbers = sorted(partitions)
        metrics.log(LOGGER, logging.INFO, self.event, partitions=numbers, **counts, seconds=round(seconds, 3))
