"""Erasures in the graph: their notes, the nodes of a conversation that one covers, and which records it keeps out."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import orjson

from agents.concurrency import MicroBatcher
from agents.core.conversation.erasure import Erasure, Stem, stem_of
from agents.errors import Unavailable
from agents.ports.erasable import ConversationNodes
from schemas.base import Conversation
from schemas.envelope import Received
from streams.stores.graph import queries
from streams.stores.graph.rows import Found, NodeInsert, NodeUpsert, Row, RowBatch, batch
from streams.stores.tenant import natural_id, node_id, writable

Read = Callable[[str, str, Mapping[str, Any]], Awaitable[Sequence[Found]]]
Write = Callable[[RowBatch], Awaitable[None]]
Made = Callable[[Sequence[Received[Any]]], Iterable[Row]]
Remove = Callable[[str, str, Sequence[str]], Awaitable[None]]
# The labels of nodes that stem from one conversation.
ERASABLE = (
    *("Message", "Claim", "Correcao", "ConversationSummary", "TimePoint", "CDCDecision"),
    *("Consulta", "SubPergunta", "AuditEvent"),
)
# Those that say who a user is.
PERSONAL = ("UserProfile", "Objective")
MAX_LOOKED_UP = 500
# Of those who wait to look, so many do not wait for more.
ENOUGH = 4


class GraphErasures:
    """Erasures, over the reads and writes of a store; those looked up within `every` seconds are one read."""

    def __init__(self, read: Read, write: Write, remove: Remove, every: float = 0.0) -> None:
        self._read = read
        self._write = write
        self._remove = remove
        # Six stages store what one message leads to, and ask before and after: together they ask once.
        self._looked_up: MicroBatcher[tuple[str, str], Erasure | None] = MicroBatcher(
            self._look_up, MAX_LOOKED_UP, shared_errors=(Unavailable,), every=every, enough=ENOUGH
        )

    async def erased(self, tenant: str, conversations: Collection[Conversation]) -> Mapping[Conversation, Erasure]:
        """The latest erasure of each conversation of the tenant that was ever erased."""
        asked = [*conversations]
        found = await self._looked_up.add([(tenant, each.key()) for each in asked]) if asked else []
        return {each: erasure for each, erasure in zip(asked, found, strict=True) if erasure is not None}

    async def note(self, conversation: Conversation, erasure: Erasure) -> ConversationNodes | None:
        """Note an erasure, and list what it covers; None where a later one was noted before."""
        writable(conversation.tenant)
        known = (await self.erased(conversation.tenant, [conversation])).get(conversation)
        if known is not None and known.up_to_seq > erasure.up_to_seq:
            return None
        if known != erasure:
            await self._put(conversation, erasure, {})
        return await self._covered(conversation, erasure)

    async def note_counts(
        self, conversation: Conversation, erasure: Erasure, counts: Mapping[str, int]
    ) -> Mapping[str, int]:
        """Keep how many of what an erasure found; the greatest numbers that it ever found."""
        writable(conversation.tenant)
        [row] = await self._read(queries.ERASURES, conversation.tenant, {"ids": [conversation.key()]})
        known = orjson.loads(row["erased"])
        most = {name: max(count, known.get(name, 0)) for name, count in counts.items()}
        if most != known:
            await self._put(conversation, erasure, most)
        return most

    async def write(self, rows: Sequence[Received[Any]], made: Made) -> None:
        """Write what is not erased, and take back what was erased while it was written."""
        whole = batch(made(rows))  # all are made before the first is written: a refused one leaves no partial write
        kept, gone = await self._parted(rows)
        await self._write(batch(made(kept)) if gone else whole)
        late = (await self._parted(kept))[1] if kept else []
        if gone or late:
            await self._take_back(batch(made([*gone, *late])), ERASABLE)
        if late:
            # Not of those that were not written: a node of a user has one id, and may be a later profile's.
            await self._take_back(batch(made(late)), PERSONAL)

    async def profile_nodes(self, tenant: str, user_id: str) -> ConversationNodes:
        """The nodes that say who a user is, or was."""
        writable(tenant)
        rows = await self._read(queries.PROFILES_OF, tenant, {"user_id": user_id})
        objectives = await self._read(queries.OBJECTIVES_OF, tenant, {"ids": node_ids(tenant, [user_id])})
        user = [user_id] if await self._read(queries.PROFILE, tenant, {"ids": node_ids(tenant, [user_id])}) else []
        return ConversationNodes(
            {
                "UserProfile": tuple(user),
                "AuditEvent": tuple(natural_id(row["id"]) for row in rows),
                "Objective": tuple(natural_id(row["id"]) for row in objectives),
            }
        )

    async def _look_up(self, asked: Sequence[tuple[str, str]]) -> list[Erasure | None]:
        """The erasures of conversations, each given by its tenant and its key."""
        keys: dict[str, set[str]] = defaultdict(set)
        for tenant, key in asked:
            keys[tenant].add(key)
        read = (self._read(queries.ERASURES, tenant, {"ids": sorted(own)}) for tenant, own in keys.items())
        known: dict[tuple[str, str], Erasure] = {}
        for tenant, rows in zip(keys, await asyncio.gather(*read), strict=True):
            known |= {(tenant, row["id"]): Erasure(row["up_to_seq"], row["issued_at"]) for row in rows}
        return [known.get(each) for each in asked]

    async def _put(self, conversation: Conversation, erasure: Erasure, counts: Mapping[str, int]) -> None:
        props = {
            "client_id": conversation.client_id,
            "conversation_id": conversation.conversation_id,
            "issued_at": erasure.issued_at,
            "erased": orjson.dumps(counts, option=orjson.OPT_SORT_KEYS).decode(),
        }
        tenant, key = conversation.tenant, conversation.key()
        row = NodeUpsert("Erasure", key, tenant, erasure.up_to_seq, props, erasure.issued_at)
        await self._write(batch([row]))

    async def _covered(self, conversation: Conversation, erasure: Erasure) -> ConversationNodes:
        asked = {
            "ids": [conversation.key()],
            "client_id": conversation.client_id,
            "conversation_id": conversation.conversation_id,
        }
        own = await asyncio.gather(
            *(
                self._read(queries.OF_CONVERSATION[label], conversation.tenant, asked)
                for label in queries.OF_CONVERSATION
            )
        )
        found: dict[str, list[str]] = defaultdict(list)
        for label, rows in zip(queries.OF_CONVERSATION, own, strict=True):
            found[label] = [row["id"] for row in rows if erasure.covers(row["seq"], row["at"])]
        for label, other in queries.BEYOND:
            if found[label]:
                rows = await self._read(queries.BEYOND[label, other], conversation.tenant, {"ids": found[label]})
                found[other] += [row["id"] for row in rows if _is_of(row, conversation)]
        others = {row["id"] for row in own[0] if not _is_of(row, conversation)}
        found["Message"] = [each for each in found["Message"] if each not in others]
        return ConversationNodes({label: tuple(dict.fromkeys(map(natural_id, ids))) for label, ids in found.items()})

    async def _parted(self, rows: Sequence[Received[Any]]) -> tuple[list[Received[Any]], list[Received[Any]]]:
        """The records that are not erased, and those that are."""
        stems = [stem_of(row) for row in rows]
        asked: dict[str, set[Conversation]] = defaultdict(set)
        for stem in stems:
            if stem is not None:
                asked[stem.conversation.tenant].add(stem.conversation)
        known: dict[Conversation, Erasure] = {}
        for tenant, conversations in asked.items():
            known |= await self.erased(tenant, conversations)
        parted: tuple[list[Received[Any]], list[Received[Any]]] = ([], [])
        for row, stem in zip(rows, stems, strict=True):
            parted[_is_covered(known, stem)].append(row)
        return parted

    async def _take_back(self, rows: RowBatch, labels: Sequence[str]) -> None:
        """Remove the nodes of erased records, also the stubs that links to them have made."""
        ids: dict[tuple[str, str], set[str]] = defaultdict(set)
        nodes: list[NodeInsert | NodeUpsert] = [*rows.facts, *rows.latest]
        for node in nodes:
            if node.label in labels:
                ids[node.tenant_id, node.label].add(node.id)
        for (tenant, label), found in [*ids.items()]:
            if label == "Message":
                decisions = await self._read(queries.DECISIONS_FOR, tenant, {"ids": sorted(found)})
                ids[tenant, "CDCDecision"] |= {row["id"] for row in decisions}
        for (tenant, label), found in ids.items():
            if found:
                await self._remove(tenant, label, sorted(found))


def _is_of(row: Found, conversation: Conversation) -> bool:
    """Whether a row names this conversation, or none: a message's node of an earlier version may be two messages'."""
    ids = {"client_id": conversation.client_id, "conversation_id": conversation.conversation_id}
    return all(row.get(name) in (None, own) for name, own in ids.items())


def _is_covered(known: Mapping[Conversation, Erasure], stem: Stem | None) -> bool:
    erasure = None if stem is None else known.get(stem.conversation)
    return erasure is not None and stem is not None and erasure.covers(stem.seq, stem.at)


def node_ids(tenant: str, ids: Iterable[str]) -> list[str]:
    """The graph's own ids of nodes."""
    return [node_id(tenant, each) for each in ids]
