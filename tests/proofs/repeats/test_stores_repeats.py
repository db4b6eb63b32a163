"""Whatever is delivered, how often and in whatever order: the graph is the one that each event once in order makes."""

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from schemas.envelope import Received
from streams.stores.graph.neo4j_engine import Neo4jServer
from streams.stores.graph.store import GraphStore
from tests.contract.test_stores_graph import wiped
from tests.proofs.repeats.deliveries import Breaking, Contents, batches, deliver, difference, repeated
from tests.proofs.repeats.events import History
from tests.proofs.repeats.killing import killed
from tests.proofs.repeats.run import record
from tests.proofs.repeats.stores import Place, closed, once, opened, whole

EVENTS, CONVERSATIONS, SEED = 2_500, 60, 20260302


@pytest.fixture(scope="module")
def history() -> list[Received[Any]]:
    return list(History(SEED).events(EVENTS, CONVERSATIONS))


@pytest.fixture(scope="module")
def wanted(history: list[Received[Any]]) -> Contents:
    """What each event once, in order, makes of an empty graph."""
    return asyncio.run(once(history))


async def _delivered(place: Place, history: list[Received[Any]]) -> Contents:
    chance = random.Random(SEED)
    store = opened(place)
    try:
        if isinstance(place, Neo4jServer):
            await wiped(place)
        breaking = Breaking(store.engine, chance, whole=isinstance(place, Neo4jServer))
        await deliver(enumerate(batches(repeated(history, chance), chance)), GraphStore(breaking, admin=True))
        assert min(breaking.broken[where] for where in ("before", "after")) > 2
        return await whole(store, place)
    finally:
        await closed(store)


def _same(wanted: Contents, found: Contents, store: str, deaths: int = 0) -> None:
    unequal = difference(wanted, found)
    record(store, EVENTS, deaths, bool(unequal), SEED)
    assert not unequal, f"seed {SEED}: {unequal}"


def test_the_history_has_every_kind_of_node_and_link(wanted: Contents) -> None:
    nodes, links = wanted
    assert len({label for label, _, _ in nodes}) >= 15
    assert len({type_ for type_, _, _, _ in links}) >= 13
    statuses = {props["status"] for label, _, props in nodes if label == "Claim" and "text" in props}
    assert statuses >= {"asserted", "contested", "superseded"}


@pytest.mark.covers("AC-29", "B14", "S0-79", "S0-80", "S0-81", "S0-82")
@pytest.mark.parametrize("kind", ["cypher", "embedded"])
def test_repeats_in_any_order_make_the_graph_of_the_once_in_order_run(
    kind: str, history: list[Received[Any]], wanted: Contents, tmp_path: Path
) -> None:
    found = asyncio.run(_delivered(None if kind == "cypher" else tmp_path, history))
    _same(wanted, found, "graph in memory" if kind == "cypher" else "embedded graph, out of order")


@pytest.mark.covers("AC-29", "B14", "S0-79", "S0-80", "S0-81", "S0-82")
def test_four_writers_at_once_make_the_same_graph_on_a_neo4j_server(
    neo4j_server: Any, history: list[Received[Any]], wanted: Contents
) -> None:
    server = Neo4jServer(neo4j_server.url, neo4j_server.user, neo4j_server.password)
    _same(wanted, asyncio.run(_delivered(server, history)), "Neo4j, four writers")


def test_a_writer_that_is_killed_in_mid_write_and_started_again_makes_the_same_graph(
    history: list[Received[Any]], wanted: Contents, tmp_path: Path
) -> None:
    found, deaths = killed(tmp_path / "graph", history, tmp_path, seed=SEED, deaths=2)
    assert deaths == 2
    _same(wanted, found, "embedded graph", deaths)
