"""Make the plan of each classified message, ask its classes of memory, and record what they answer as one.

reads   depth.classified  key conversation
writes  retrieval.plans   the plan
        packs.partial     the terms and all parts, of which alone the pack is made
state   what was recorded of packs that are not out; after a crash it is read from its own output
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, cast

from agents.core.packs import planning
from agents.core.packs.join_table import JoinTable
from agents.core.packs.pack_ledger import CLOCKS
from agents.core.packs.planning import Limits
from agents.ports.handlers import Take
from agents.ports.models import Clock
from agents.retrievers.base import Memory, part_of
from schemas.depth import DepthClassified
from schemas.envelope import Outgoing, Received
from schemas.retrieval import JoinOpened, PackInputs, RetrievalPlan
from schemas.topics import PACKS_PARTIAL, RETRIEVAL_PLANS


class PackRetrieval:
    """All classes of memory for one message, at once; `tables` are the assembler's, by partition.

    A message that comes again after a crash gets the pack of the record that its first attempt left, if there is one.
    """

    def __init__(
        self, limits: Limits, memories: Sequence[Memory], tables: Mapping[int, JoinTable], clock: Clock
    ) -> None:
        self._limits, self._memories, self._tables, self._clock = limits, tuple(memories), tables, clock
        self._recorded: dict[int, dict[str, PackInputs]] = {}
        self._since: dict[int, datetime] = {}

    def assigned(self, partition: int) -> Take:
        """Start a partition; returns what takes each record of its output, oldest first."""
        self._recorded[partition] = {}
        return self.look_back(partition)

    def look_back(self, partition: int) -> Take:
        """What takes each record of the output; only those whose pack is not out are kept."""
        recorded, table = self._recorded.setdefault(partition, {}), self._tables.get(partition)

        def take(sent: Received[Any]) -> None:
            event = sent.event
            if isinstance(event, PackInputs) and not (table is not None and event.pack_id in table.ledger):
                recorded.setdefault(event.pack_id, event)

        return take

    def unknown_since(self, record: Received[DepthClassified]) -> datetime | None:
        """The time since which the output is to be known before the message is handled, where it is not."""
        since = self._since.get(record.partition)
        accepted_at = record.event.accepted_at - CLOCKS
        return None if since is None or accepted_at >= since else accepted_at

    def remember(self, partition: int, since: datetime) -> None:
        """Know the output since a time."""
        self._since[partition] = since

    def revoked(self, partition: int) -> None:
        """Drop the state of a partition."""
        self._recorded.pop(partition, None)
        self._since.pop(partition, None)

    async def handle(self, record: Received[DepthClassified]) -> Sequence[Outgoing]:
        """The plan, and what the pack is made of; nothing where the pack is out."""
        classified = record.event
        conversation = record.conversation(classified.client_id, classified.conversation_id)
        plan = planning.make_plan(classified, conversation, self._limits)
        table = self._tables.get(record.partition)
        if table is not None and plan.pack_id in table.ledger:
            return ()
        planned = Outgoing(RETRIEVAL_PLANS, conversation.key(), plan, record.envelope)
        inputs = self._recorded.get(record.partition, {}).pop(plan.pack_id, None)
        if inputs is None:
            terms = planning.open_join(plan, classified, self._limits.profile(classified.depth_level))
            inputs = await self._asked(record, terms, planned)
        return planned, Outgoing(PACKS_PARTIAL, planned.key, inputs, record.envelope, partition=record.partition)

    async def _asked(self, record: Received[DepthClassified], terms: JoinOpened, planned: Outgoing) -> PackInputs:
        plan = cast("RetrievalPlan", planned.event)
        asked = Received(
            plan, planned.envelope("retrieval"), planned.key, planned.topic.name, record.partition, -1, record.timestamp
        )
        parts = await asyncio.gather(
            *(part_of(each, asked, self._clock) for each in self._memories if each.wants(plan))
        )
        settled_at = self._clock.now()
        table = self._tables.get(record.partition)
        held = table.items.held(record.envelope.tenant, terms, settled_at) if table is not None else {}
        return PackInputs(
            pack_id=terms.pack_id,
            message_id=terms.message_id,
            terms=terms,
            parts=tuple(
                part.model_copy(update={"earlier_ms": round((settled_at - at) / timedelta(milliseconds=1)) or None})
                for part, at in parts
            ),
            opened_at=record.logged_at,
            settled_at=settled_at,
            previous=dict(held) or None,
        )
