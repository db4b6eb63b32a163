"""Whether conversations were erased: those who ask at one time ask the graph once, and nobody hears of before."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from agents.core.conversation.erasure import Erasure
from schemas.base import Conversation
from streams.stores.graph.erasing import ENOUGH, GraphErasures

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def conversation(number: int, tenant: str = "acme") -> Conversation:
    return Conversation(tenant=tenant, client_id="web", conversation_id=f"c{number}")


class Graph:
    """A graph of erasures whose reads end when they are let."""

    def __init__(self, every: float = 0.0) -> None:
        self.erased: dict[str, int] = {}
        self.reads: list[tuple[str, list[str]]] = []
        self.may_answer = asyncio.Event()
        self.erasures = GraphErasures(self.read, self._never, self._never, every)

    async def read(self, _text: str, tenant: str, asked: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        self.reads.append((tenant, asked["ids"]))
        found = [each for each in asked["ids"] if each in self.erased]
        await self.may_answer.wait()
        return [{"id": each, "up_to_seq": self.erased[each], "issued_at": NOON} for each in found]

    async def _never(self, *_: Any) -> None:
        raise AssertionError("nothing is written")


async def settled() -> None:
    """Everything that can go on has gone on."""
    for _ in range(20):
        await asyncio.sleep(0)


def test_those_who_ask_while_a_read_is_under_way_share_the_next_one_tenant_by_tenant() -> None:
    async def story() -> None:
        graph = Graph()
        first = asyncio.create_task(graph.erasures.erased("acme", [conversation(0)]))
        await settled()
        assert [tenant for tenant, _ in graph.reads] == ["acme"]
        graph.erased = {conversation(1).key(): 7, conversation(2, "beta").key(): 9}
        asked = [
            *(graph.erasures.erased("acme", [conversation(n), conversation(0)]) for n in range(3)),
            *(graph.erasures.erased("beta", [conversation(n, "beta")]) for n in range(3)),
        ]
        waiting = asyncio.gather(*asked)
        await settled()
        graph.may_answer.set()
        assert await first == {}
        found = await waiting
        one, other = Erasure(7, NOON), Erasure(9, NOON)
        assert found == [{}, {conversation(1): one}, {}, {}, {}, {conversation(2, "beta"): other}]
        keys = {tenant: [conversation(n, tenant).key() for n in range(3)] for tenant in ("acme", "beta")}
        assert graph.reads[1:] == [("acme", keys["acme"]), ("beta", keys["beta"])]

    asyncio.run(story())


def test_who_asks_after_an_erasure_hears_of_it_while_an_older_read_is_still_under_way() -> None:
    async def story() -> None:
        graph = Graph()
        before = asyncio.create_task(graph.erasures.erased("acme", [conversation(1)]))
        await settled()
        graph.erased = {conversation(1).key(): 7}
        after = asyncio.create_task(graph.erasures.erased("acme", [conversation(1)]))
        await settled()
        graph.may_answer.set()
        assert await before == {}
        assert await after == {conversation(1): Erasure(7, NOON)}

    asyncio.run(story())


def test_asking_for_no_conversation_asks_nothing() -> None:
    async def story() -> None:
        graph = Graph()
        assert await graph.erasures.erased("acme", []) == {}
        assert graph.reads == []

    asyncio.run(story())


def test_on_a_server_those_who_ask_within_a_time_share_a_read_that_begins_after_all_of_them() -> None:
    async def story() -> None:
        graph = Graph(every=0.05)
        graph.may_answer.set()
        asked = [asyncio.create_task(graph.erasures.erased("acme", [conversation(0)]))]
        await settled()
        asked.append(asyncio.create_task(graph.erasures.erased("acme", [conversation(1)])))
        graph.erased = {conversation(1).key(): 7}
        assert await asyncio.gather(*asked) == [{}, {conversation(1): Erasure(7, NOON)}]
        assert graph.reads == [("acme", [conversation(n).key() for n in range(2)])]

    asyncio.run(story())


def test_as_soon_as_enough_ask_none_of_them_waits() -> None:
    async def story() -> None:
        graph = Graph(every=3600.0)
        graph.may_answer.set()
        asked = (graph.erasures.erased("acme", [conversation(n)]) for n in range(ENOUGH))
        assert await asyncio.wait_for(asyncio.gather(*asked), 5) == [{}] * ENOUGH
        assert len(graph.reads) == 1

    asyncio.run(story())
