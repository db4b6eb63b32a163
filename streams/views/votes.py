"""Votes that follow the log: what the store lost of them is added again from `memory.decisions`."""

import asyncio
import logging
from collections.abc import Iterable
from contextlib import aclosing

from agents.errors import Rejected
from schemas.learning import DepthVote
from streams.telemetry import metrics
from streams.views.restorable import RestorableWeights, VoteLog
from streams.views.restorer import Restorer, again_and_again

LOGGER = logging.getLogger("fathom.view")
BATCH_SIZE = 64


class RecoverableVotes:
    """Keeps the votes of the partitions it holds whole.

    Nobody waits for it: depth goes on with the votes there are, as it does while one is on its way.
    """

    def __init__(self, weights: RestorableWeights, log: VoteLog, *, partitions: int) -> None:
        weights.follow(partitions)
        self._weights = weights
        self._log = log
        self._restorer = Restorer(weights.missing, self._restore)

    async def hold(self, partitions: Iterable[int]) -> None:
        """Take partitions over."""
        self._restorer.held = frozenset(partitions)

    def release(self) -> None:
        """Give all partitions up."""
        self._restorer.held = frozenset()

    async def keep_whole(self) -> None:
        """Look now and then whether the store was emptied."""
        await again_and_again(self.look)

    async def look(self) -> None:
        """Restore what is not whole; raises `Unavailable`, after which the next look goes on."""
        if self._restorer.held and (lacking := await self._weights.missing(self._restorer.held)):
            await self._restorer.restored(lacking)

    async def _restore(self, partitions: frozenset[int]) -> None:
        began, count = asyncio.get_running_loop().time(), 0
        # First of all: a store that is emptied while the log is read has forgotten the tokens.
        tokens = {partition: await self._weights.begin(partition) for partition in sorted(partitions)}
        some: list[tuple[str, DepthVote]] = []
        async with aclosing(self._log.read(partitions)) as found:
            async for each in found:
                some.append(each)
                if len(some) == BATCH_SIZE:
                    count += await self._add(some)
        count += await self._add(some)
        for partition, token in tokens.items():
            await self._weights.finish(partition, token)
        seconds = round(asyncio.get_running_loop().time() - began, 3)
        metrics.log(LOGGER, logging.INFO, "votes.restored", partitions=sorted(partitions), votes=count, seconds=seconds)

    async def _add(self, some: list[tuple[str, DepthVote]]) -> int:
        added = await asyncio.gather(*(self._added(tenant, vote) for tenant, vote in some))
        some.clear()
        return sum(added)

    async def _added(self, tenant: str, vote: DepthVote) -> bool:
        """Whether the vote may be kept; `weight-writer` made a dead letter of one that may not."""
        try:
            await self._weights.add(tenant, vote)
        except Rejected as refused:
            # Raised further it would end the looking, and no vote of anybody would come back.
            metrics.log(LOGGER, logging.WARNING, "votes.refused", vote=vote.id, why=str(refused))
            return False
        return True
