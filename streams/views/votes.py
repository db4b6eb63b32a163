"""Users' votes on depth, restored from `memory.votes` and, of earlier versions, from `memory.decisions`."""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence

from agents.errors import Rejected
from schemas.learning import DepthVote
from streams.telemetry import metrics
from streams.views.recoverable import LOGGER, RecoverableView
from streams.views.restorable import RestorableWeights, ViewLog

BATCH_SIZE = 64
# A vote and its tenant.
CastVote = tuple[str, DepthVote]


class RecoverableVotes(RecoverableView[RestorableWeights, CastVote]):
    """Restores votes beside the stages: depth goes on with the votes there are, and no assignment waits."""

    event = "votes.restored"

    def __init__(self, weights: RestorableWeights, log: ViewLog[CastVote], *, partitions: int) -> None:
        weights.follow(partitions)
        super().__init__(weights, log, fold_votes)

    async def on_assigned(self, partitions: Iterable[int]) -> None:
        """Take partitions over; `restore_loop` restores them."""
        self._assigned = frozenset(partitions)


async def fold_votes(
    weights: RestorableWeights, _partition: int, _token: str, votes: Sequence[CastVote]
) -> Mapping[str, int]:
    """Add the votes; how many the store took."""
    count = 0
    # A vote and its audit, which lie in partitions of one number, are one vote.
    distinct = list(dict.fromkeys(votes))
    for start in range(0, len(distinct), BATCH_SIZE):
        batch = distinct[start : start + BATCH_SIZE]
        count += sum(await asyncio.gather(*(_add(weights, tenant, vote) for tenant, vote in batch)))
    return {"votes": count}


async def _add(weights: RestorableWeights, tenant: str, vote: DepthVote) -> bool:
    """Whether the store takes the vote; of one it refuses `weight-writer` made a dead letter."""
    try:
        await weights.add(tenant, vote)
    except Rejected as refused:
        # Raised further it would end the restoration, and no vote of anybody would come back.
        metrics.log(LOGGER, logging.WARNING, "votes.refused", vote=vote.id, why=str(refused))
        return False
    return True
