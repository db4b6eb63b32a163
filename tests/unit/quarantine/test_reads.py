"""Reads without what is quarantined: what passes, what it costs, and that writes go on."""

import asyncio
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from agents.core.packs.planning import pack_id_of
from agents.core.quarantine.sources import Quarantines
from agents.ports.passages import Hit, Passage, PassageQuery
from schemas.base import Conversation
from schemas.depth import DepthLevel
from schemas.learning import DepthVote
from streams.quarantine.graph import hiding_graph
from streams.quarantine.reads import HidingIndex, HidingWeights
from streams.stores.graph.embedded.engine import EmbeddedGraph
from streams.stores.sessions.votes import MemorySignalWeights
from tests.unit.core.quarantine.test_sources import changed, quarantines

AT = datetime(2026, 3, 1, tzinfo=UTC)
QUERY = PassageQuery("refunds", "en", 3, AT)


class CountingIndex:
    """So many passages of one document before those of another; it counts searches."""

    def __init__(self, poisoned: int, healthy: int) -> None:
        self._passages = [("poison", number) for number in range(poisoned)]
        self._passages += [("healthy", number) for number in range(healthy)]
        self.limits: list[int] = []

    async def search(self, _tenant: str, _collection: str, query: PassageQuery) -> tuple[Hit, ...]:
        self.limits.append(query.limit)
        return tuple(
            Hit(Passage(f"{of}-{number}", "chunk", "text", "en", AT, fields={"document_id": of}), 1.0, {})
            for of, number in self._passages[: query.limit]
        )

    async def upsert(self, *_: Any) -> None: ...

    remove = vectors = of_conversation = upsert


def searched(index: CountingIndex, found: Quarantines) -> list[str]:
    hits = asyncio.run(HidingIndex(cast("Any", index), found).search("acme", "semantic", QUERY))
    return [hit.passage.id for hit in hits]


@pytest.mark.covers("B23")
def test_others_take_the_places_of_what_is_hidden() -> None:
    index = CountingIndex(poisoned=40, healthy=5)
    assert searched(index, quarantines(changed("document", "poison"))) == ["healthy-0", "healthy-1", "healthy-2"]
    assert index.limits == [3, 12, 48]


def test_a_search_ends_where_the_index_has_no_more() -> None:
    index = CountingIndex(poisoned=4, healthy=1)
    assert searched(index, quarantines(changed("document", "poison"))) == ["healthy-0"]
    assert index.limits == [3, 12]


def test_without_a_quarantine_a_search_is_what_it_was() -> None:
    index = CountingIndex(poisoned=4, healthy=1)
    assert searched(index, quarantines(changed("document", "poison", "globex"))) == ["poison-0", "poison-1", "poison-2"]
    assert index.limits == [3]


def test_a_graph_without_a_quarantine_is_read_as_it_is() -> None:
    graph, found = EmbeddedGraph(), Quarantines()
    read = hiding_graph(graph, found)
    assert asyncio.run(read.persona("acme", "ana", AT)) is None
    assert not isinstance(read, EmbeddedGraph)
    stranger = cast("Any", object())
    assert hiding_graph(stranger, found) is stranger


def vote(user: str, conversation: str, message: str) -> DepthVote:
    where = Conversation(tenant="acme", client_id="web", conversation_id=conversation)
    return DepthVote(
        id=f"{user}-{message}", pattern="p", decided=DepthLevel.D0, expected=DepthLevel.D2, rating=2, at=AT,
        message_id=message, pack_id=pack_id_of(where, message), user_id=user,
    )  # fmt: skip


@pytest.mark.covers("B23")
def test_votes_of_hidden_users_messages_and_conversations_do_not_count() -> None:
    weights = MemorySignalWeights()
    for each in (vote("eve", "a", "m1"), vote("ana", "b", "m2"), vote("ana", "c", "m3"), vote("ana", "d", "m4")):
        asyncio.run(weights.add("acme", each))
    sources = (changed("user", "eve"), changed("message", "m2"), changed("conversation", "c", client_id="web"))
    found = quarantines(*sources)
    counted = asyncio.run(HidingWeights(weights, found).votes("acme"))
    assert [each.message_id for each in counted["p"]] == ["m4"]
    assert len(asyncio.run(HidingWeights(weights, Quarantines()).votes("acme"))["p"]) == 4
