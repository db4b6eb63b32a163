"""Join each plan with its parts and send one context pack, complete or at its deadline.

reads   packs.partial      key conversation, strictly in partition order; inputs are held until their pack is durable
writes  context-packs.out  on the partition it reads, which is thereby the ledger of what was emitted; where packs are
                           revised, one more for each late part
        memory.decisions   one decision per pack and revision; one audit record per late part
        packs.partial      ticks, where a quiet partition has deadlines to meet
state   the uncommitted suffix of its partitions; after a crash it is read again
"""

from collections.abc import Iterable, MutableMapping, Sequence
from datetime import datetime

from agents.core.claims import summaries
from agents.core.conversation.memory import ConversationTurn
from agents.core.packs.join_table import MAX_BYTES, MAX_INCOMPLETE, JoinRules, JoinTable, Partial
from agents.core.packs.text import Templates
from agents.ports.handlers import Take
from agents.ports.models import Clock, TokenCounter
from schemas.envelope import Outgoing, Received, Step
from schemas.items import MessageItem
from schemas.policy import DEFAULT_PACKS, PackPolicy


class Assembler:
    """One table of joins per partition; `tables` is shared with who asks what is out, the others are `JoinRules`."""

    def __init__(
        self,
        tokens: TokenCounter,
        *,
        revise: bool = False,
        max_open: int = 10_000,
        max_incomplete: int = MAX_INCOMPLETE,
        max_bytes: int = MAX_BYTES,
        packs: PackPolicy = DEFAULT_PACKS,
        clock: Clock | None = None,
        tables: MutableMapping[int, JoinTable] | None = None,
    ) -> None:
        self._rules = JoinRules(tokens, _summarise, Templates(packs), revise, max_open, max_bytes, max_incomplete)
        self._clock = clock
        self._tables: MutableMapping[int, JoinTable] = {} if tables is None else tables

    def assigned(self, partition: int) -> Take:
        """Start a partition with empty state; returns what takes each pack of its output partition, oldest first."""
        table = self._tables[partition] = JoinTable(partition, self._rules)
        return table.restore

    def unknown_since(self, record: Received[Partial]) -> datetime | None:
        """The time since which the output is to be known before the record is handled, where it is not."""
        table = self._tables.get(record.partition)
        return None if table is None else table.ledger.unknown_since(record.event)

    def look_back(self, partition: int) -> Take:
        """What takes each pack that the output has since then, oldest first."""
        return self._tables[partition].ledger.look_back()

    def remember(self, partition: int, since: datetime) -> None:
        """Know the output since a time."""
        self._tables[partition].ledger.remember(since)

    def revoked(self, partition: int) -> None:
        """Drop the state of a partition; its next owner reads the uncommitted suffix again."""
        self._tables.pop(partition, None)

    async def handle(self, record: Received[Partial]) -> Sequence[Step]:
        """The steps that the record settles."""
        if record.partition not in self._tables:
            self.assigned(record.partition)
        if self._clock is not None and record.logged_at > (now := self._clock.now()):
            # Of a host whose clock is ahead: by its time, the joins of all others would be past their deadlines.
            record = record._replace(timestamp=int(now.timestamp() * 1000))
        return tuple(self._tables[record.partition].add(record))

    def due(self, partition: int, now: datetime) -> bool:
        """Whether a deadline has passed by the wall clock, but not by the partition's stream time."""
        table = self._tables.get(partition)
        return table is not None and table.due(now)

    def tick(self, partition: int, now: datetime) -> Outgoing:
        """A tick record for an idle partition."""
        return self._tables[partition].tick(now)


def _summarise(messages: Iterable[MessageItem], lang: str, max_chars: int) -> str:
    turns = [ConversationTurn(m.role, m.content, m.created_at) for m in messages]
    return summaries.summarise(turns, lang=lang, max_chars=max_chars)
