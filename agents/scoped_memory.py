"""Reads of memory for one search: limited to its scope, with a note of where what is found comes from."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from agents.core.retrieval.turn_parts import message_of
from agents.core.search.scope import ItemOrigin, SearchScope
from agents.ports.graph import ClaimsFound, GraphReader, NamedFound
from agents.ports.passages import Hit, Passage, PassageIndex, PassageQuery
from schemas.items import (
    ClaimItem,
    Contradiction,
    ConversationSummary,
    Item,
    Knowledge,
    Process,
    Step,
    TimePoint,
)
from schemas.memory import ClaimAsserted
from schemas.retrieval import SearchKind

# An id of the index, and the place in the log: producers may number their messages in each conversation anew.
Place = tuple[str, int | None, int | None]


class ScopedMemory:
    """The index and the graph for one search."""

    def __init__(self, scope: SearchScope, user_id: str, index: PassageIndex, graph: GraphReader) -> None:
        self._user_id = user_id
        self._passages: dict[Place, Passage] = {}
        self._claims: dict[str, ClaimAsserted] = {}
        self.index = cast("PassageIndex", _ScopedIndex(scope, index, self._passages))
        self.graph = cast("GraphReader", _ScopedGraph(scope, graph, self._claims))

    def origin_of(self, item: Item) -> ItemOrigin:
        """Where an item that was found comes from."""
        claim_id = item.claim_id if isinstance(item, ClaimItem | Contradiction) else item.id
        if isinstance(item, ClaimItem | Contradiction) or claim_id in self._claims:
            return self._of_claim(claim_id)
        if isinstance(item, TimePoint) and item.kind != "message":
            return ItemOrigin(kind="event", message_id=item.message_id)
        name = item.process_id if isinstance(item, Step) else item.id
        place = item.provenance
        passage = self._passages.get((name, place.partition, place.offset)) or self._passages.get((name, None, None))
        found = _of_passage(passage) if passage is not None else {}
        if isinstance(item, ConversationSummary):
            found["conversation_id"] = item.conversation_id
        return ItemOrigin(kind=_kind(item, passage), **found)

    def _of_claim(self, claim_id: str) -> ItemOrigin:
        claim = self._claims.get(claim_id)
        if claim is None:
            return ItemOrigin(kind="claim", claim_id=claim_id)
        return ItemOrigin(
            kind="claim",
            claim_id=claim_id,
            client_id=claim.client_id,
            conversation_id=claim.conversation_id,
            message_id=claim.message_id,
            user_id=claim.user_id if claim.user_id != self._user_id else None,
        )


def _kind(item: Item, passage: Passage | None) -> SearchKind:
    match item:
        case Process() | Step():
            return "process"
        case ConversationSummary():
            return "summary"
        case TimePoint():
            return "turn"
        case Knowledge() if passage is not None and passage.kind == "message":
            return "claim"  # a later statement in place of the claim that it ended
    return "document"


def _of_passage(passage: Passage) -> dict[str, Any]:
    fields = passage.fields
    if passage.kind == "message":
        return {
            "client_id": fields.get("client_id"),
            "conversation_id": passage.conversation_id,
            "message_id": message_of(passage.id),
            "role": fields.get("role"),
        }
    if passage.kind == "summary":
        return {"client_id": fields.get("client_id")}
    return {"document_id": fields.get("document_id")}


class _ScopedIndex:
    """The passage index, in whose results is what the scope has, and what says whether that still holds."""

    def __init__(self, scope: SearchScope, index: PassageIndex, seen: dict[Place, Passage]) -> None:
        self._scope, self._index, self._seen = scope, index, seen

    async def search(self, tenant: str, collection: str, query: PassageQuery) -> tuple[Hit, ...]:
        scope = self._scope
        # What corrects or ends a turn is looked for everywhere; of it only what is in the scope is given.
        if not (query.among or query.words_only):
            query = replace(
                query, until=scope.until, document_id=scope.document_id, conversation_id=scope.conversation_id
            )
        hits = await self._index.search(tenant, collection, query)
        for hit in hits:
            passage, fields = hit.passage, hit.passage.fields
            self._seen[passage.id, fields.get("partition"), fields.get("offset")] = passage
            self._seen.setdefault((passage.id, None, None), passage)
        return hits

    async def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        return await self._index.vectors(texts)


class _ScopedGraph:
    """The reads of the graph; of claims it is noted who asserted them where."""

    def __init__(self, scope: SearchScope, graph: GraphReader, seen: dict[str, ClaimAsserted]) -> None:
        self._scope, self._graph, self._seen = scope, graph, seen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._graph, name)

    async def events(self, *arguments: Any, **named: Any) -> Sequence[TimePoint]:
        """Events, which say of no conversation or document that they are of it: of one there are none."""
        if self._scope.conversation_id is not None or self._scope.document_id is not None:
            return ()
        return await self._graph.events(*arguments, **named)

    async def claims(self, *arguments: Any, **named: Any) -> ClaimsFound:
        return self._noted(await self._graph.claims(*arguments, **named))

    async def claims_about(self, *arguments: Any, **named: Any) -> ClaimsFound:
        return self._noted(await self._graph.claims_about(*arguments, **named))

    async def named(self, *arguments: Any, **named: Any) -> NamedFound:
        found = await self._graph.named(*arguments, **named)
        self._noted(found.claims)
        return found

    def _noted(self, found: ClaimsFound) -> ClaimsFound:
        self._seen.update((each.claim_id, each) for each in found.asserted)
        return found
