"""Make the retrieval plan of each classified message, and open the join of its parts.

reads   depth.classified  key conversation
writes  packs.partial     the plan's terms (open), sent first so that no part waits for them
        retrieval.plans   the plan
state   none
"""

from collections.abc import Sequence

from agents.core.packs import planning
from agents.core.packs.planning import Limits
from schemas.depth import DepthClassified
from schemas.envelope import Outgoing, Received
from schemas.topics import PACKS_PARTIAL, RETRIEVAL_PLANS


class Planner:
    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    async def handle(self, record: Received[DepthClassified]) -> Sequence[Outgoing]:
        """The plan of one classified message."""
        classified = record.event
        conversation = record.conversation(classified.client_id, classified.conversation_id)
        plan = planning.make_plan(classified, conversation, self._limits)
        profile = self._limits.profile(classified.depth_level)
        key = conversation.key()
        return (
            Outgoing(PACKS_PARTIAL, key, planning.open_join(plan, classified, profile), record.envelope),
            Outgoing(RETRIEVAL_PLANS, key, plan, record.envelope),
        )
