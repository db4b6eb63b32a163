"""A Neo4j under the graph: many writers at once, connections that break, servers that are away, old or strangers."""

import asyncio
import logging
import random
import shutil
import socket
import struct
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import uvloop
from neo4j.exceptions import ClientError, CypherSyntaxError, DatabaseError

from agents.errors import Unavailable
from streams.runtime.stores import open_stores
from streams.stores.graph import cypher, queries
from streams.stores.graph.migrations import DatabaseRefused
from streams.stores.graph.neo4j_engine import CONNECTIONS, Neo4jEngine, Neo4jGraph, Neo4jServer, open_graph
from streams.stores.graph.rows import Edge, NodeInsert, NodeUpsert, RowBatch
from streams.stores.settings import StoreSettings, UnsupportedUrl
from tests.contract.test_stores_graph import (
    LATER,
    claim,
    concept,
    contents,
    definition,
    knowledge,
    summary,
    turn,
    wiped,
)
from tests.servers.neo4j import Neo4jServer as OwnServer
from tests.servers.proxy import Proxy
from tests.tenants.mutants import query_texts


@pytest.fixture
def server(neo4j_server) -> Neo4jServer:
    """The shared server, with the schema and without anybody's memory."""
    server = Neo4jServer(neo4j_server.url, neo4j_server.user, neo4j_server.password)

    async def empty() -> None:
        await open_graph(server).close()
        await wiped(server)

    asyncio.run(empty())
    return server


@asynccontextmanager
async def graph_on(server: Neo4jServer, **limits: float) -> AsyncIterator[Neo4jGraph]:
    graph = Neo4jGraph(server, **limits)
    try:
        yield graph
    finally:
        await graph.close()


COMMIT = b"\x00\x02\xb0\x12\x00\x00"


def message(number: int, **props: object) -> NodeInsert:
    return NodeInsert("Message", f"acme|m{number:03}", "acme", {"seq": number, **props})


# --- many at once -------------------------------------------------------------------------------------------------


def test_eight_writers_of_the_same_twenty_messages_all_succeed(server):
    async def story() -> None:
        async with graph_on(server) as graph:

            async def write(seed: int) -> None:
                chance = random.Random(seed)
                for _ in range(20):
                    await graph.write_turns([turn(number) for number in chance.sample(range(20), 8)])

            await asyncio.gather(*map(write, range(8)))
            await graph.write_turns([turn(number) for number in range(20)])
            nodes, links = await contents(graph)
            assert [node[1] for node in nodes] == ["acme|web|c1", *sorted(f"acme|m{number}" for number in range(20))]
            assert len(links) == 20

    asyncio.run(story())


def test_writers_that_wait_for_each_other_are_tried_again_until_all_succeed(server):
    """Rows out of order, as no batch of ours has them: the server ends one of two that deadlock."""

    async def story() -> int:
        async with Proxy(server.url) as proxy, graph_on(replace(server, url=proxy.url)) as graph:

            async def write(seed: int) -> None:
                chance = random.Random(seed)
                for _ in range(20):
                    rows = tuple(message(number, by=seed) for number in chance.sample(range(20), 8))
                    await graph.engine.write(RowBatch(rows, (), (), ()))

            await asyncio.gather(*map(write, range(8)))
            assert len((await contents(graph))[0]) == 20
            return proxy.sent.count(b"UNWIND $rows AS r")

    statements = asyncio.run(story())
    assert statements > 160  # some were tried again


def test_writers_of_claims_and_turns_in_opposite_order_do_not_wait_for_each_other(server, caplog):
    """Messages are locked by turns first, and last by claims, whose order is another."""

    def claims_of(writer: int, turn: int) -> RowBatch:
        ids = [f"acme|{writer}-{turn:02}-{number:02}" for number in range(20)]
        made = [Edge("MADE_IN", own, f"acme|m{19 - n:03}", "acme", "acme") for n, own in enumerate(ids)]
        return RowBatch(tuple(NodeInsert("Claim", own, "acme", {}) for own in ids), (), tuple(made), ())

    async def story() -> None:
        async with graph_on(server) as graph:
            caplog.set_level(logging.WARNING, logger="neo4j")
            messages = RowBatch(tuple(message(number) for number in range(20)), (), (), ())
            await graph.engine.write(messages)

            async def write(batches: Iterable[RowBatch]) -> None:
                for each in batches:
                    await graph.engine.write(each)

            mixed = [write(claims_of(writer, turn) for turn in range(20)) for writer in range(3)]
            await asyncio.gather(*mixed, *(write([messages] * 20) for _ in range(3)))

    asyncio.run(story())
    assert [record.message for record in caplog.records if "will be retried" in record.message] == []


@pytest.mark.covers("S0-53")
@pytest.mark.parametrize("seed", range(5))
def test_of_eight_writers_of_versions_the_newest_wins_and_none_waits_for_another_in_the_server(server, seed, caplog):
    async def story() -> None:
        async with graph_on(server) as graph:
            caplog.set_level(logging.WARNING, logger="neo4j")
            versions = [summary(number, text=f"resumo até {number}") for number in range(48)]
            random.Random(seed).shuffle(versions)

            async def write(own: Sequence[object]) -> None:
                for each in own:
                    await graph.write_summaries([each])

            await asyncio.gather(*(write(versions[first::8]) for first in range(8)))
            [found] = await graph.summaries("acme", user_id="ana", conversation_id="c1", as_of=LATER, limit=9)
            assert (found.to_seq, found.text) == (47, "resumo até 47")

    asyncio.run(story())
    assert [record.message for record in caplog.records if "will be retried" in record.message] == []


@pytest.mark.covers("AC-29")
def test_a_concept_and_what_is_known_about_it_are_linked_whoever_is_second(server):
    async def story() -> None:
        async with graph_on(server) as graph:
            for number in range(20):
                name = f"Termo {number}"
                ours, theirs = concept(f"co{number}", name), definition(f"kn{number}", name)
                # Of two documents: writers of one document wait for each other anyway.
                await asyncio.gather(
                    graph.write_knowledge([knowledge(ours, document="doc1")]),
                    graph.write_knowledge([knowledge(theirs, document="doc2")]),
                )
            about = [link for link in (await contents(graph))[1] if link[0] == "ABOUT"]
            assert len(about) == 20

    asyncio.run(story())


def test_a_hundred_reads_at_once_share_a_bounded_pool(server):
    async def story() -> None:
        async with Proxy(server.url) as proxy, graph_on(replace(server, url=proxy.url)) as graph:
            await asyncio.gather(*(graph.ping() for _ in range(200)))
            assert 1 < proxy.most_open <= CONNECTIONS

    asyncio.run(story())


# --- how the statements are run -------------------------------------------------------------------------------------

WHOLE_GRAPH = (queries.ALL_NODES, queries.ALL_LINKS)
READS = {text for text in query_texts().values() if text not in WHOLE_GRAPH}
WRITES = {
    *cypher.RETIRE.values(),
    *cypher.FACTS.values(),
    *cypher.LATEST.values(),
    *cypher.LINKS.values(),
    cypher.ABOUT,
}


def operators(plan: dict[str, Any]) -> Iterator[str]:
    yield plan["operatorType"].partition("@")[0]
    for child in plan.get("children", ()):
        yield from operators(child)


def test_no_statement_looks_through_all_nodes_of_a_label(server):
    asked = {"tenants": ["acme", "_public"], "ids": ["x", "y"], "terms": ["a"], "subjects": ["b"], "rows": []}
    asked |= dict.fromkeys(("tenant", "id", "user_id", "conversation_id", "client_id", "document_id"), "x")
    asked |= {"as_of": LATER, "limit": 5, "access": 1, "since": LATER, "until": LATER}

    async def story() -> None:
        async with server.driver() as driver:
            for text in READS | WRITES:
                found = await driver.execute_query(f"EXPLAIN {text}", asked)
                used = set(operators(found.summary.plan))
                assert any("IndexSeek" in each for each in used), text
                assert not [each for each in used if each.endswith("Scan")], text

    asyncio.run(story())


# --- one transaction, its errors and its order ----------------------------------------------------------------------


def test_a_batch_is_written_whole_or_not_at_all_and_a_wrong_value_is_a_bug(server):
    async def story() -> None:
        async with graph_on(server) as graph:
            wrong = NodeUpsert("Document", "acme|d", "acme", 1, {"nested": {"a": {"b": 1}}})
            with pytest.raises(ClientError, match="Property values can only be"):
                await graph.engine.write(RowBatch((message(1),), (wrong,), (), ()))
            assert await contents(graph) == ([], [])
            await graph.ping()  # a bug does not shut the store

    asyncio.run(story())


def test_a_name_that_no_index_can_hold_is_an_error_of_its_record_alone(server):
    """Eight thousand bytes: the embedded graph would take it, so nothing may wait for it to be taken."""

    async def story() -> None:
        async with graph_on(server) as graph:
            with pytest.raises(DatabaseError, match="too large to index"):
                await graph.write_claims([claim(1), claim(2, subject="prazo " * 2_000)])
            assert await contents(graph) == ([], [])
            await graph.write_claims([claim(1)])

    asyncio.run(story())


def test_a_wrong_statement_is_a_bug(server):
    async def story() -> None:
        async with graph_on(server) as graph:
            with pytest.raises(CypherSyntaxError):
                await graph.engine.read("MATCH (m RETURN m", {})
            await graph.ping()

    asyncio.run(story())


def test_a_read_asks_for_the_state_after_the_last_write_of_its_process(server):
    async def story() -> None:
        async with Proxy(server.url) as proxy, graph_on(replace(server, url=proxy.url)) as graph:
            await graph.engine.write(RowBatch((message(1),), (), (), ()))
            proxy.sent.clear()
            await graph.ping()
            assert b"bookmarks\x91" in proxy.sent  # a list of one

    asyncio.run(story())


def test_a_cancelled_read_leaves_the_graph_usable(server):
    async def story() -> None:
        async with Proxy(server.url) as proxy, graph_on(replace(server, url=proxy.url)) as graph:
            await graph.ping()
            proxy.flowing.clear()
            read = asyncio.create_task(graph.ping())
            await asyncio.sleep(0.1)
            read.cancel()
            with pytest.raises(asyncio.CancelledError):
                await read
            proxy.flowing.set()
            await graph.ping()

    asyncio.run(story())


# --- away -----------------------------------------------------------------------------------------------------------


async def until_it_answers(call: Callable[[], Awaitable[object]], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            await call()
            return
        except Unavailable:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.1)


@pytest.mark.covers("AC-37")
def test_a_connection_that_breaks_during_a_commit_is_an_outage_and_the_repeat_changes_nothing(server):
    async def story() -> None:
        async with Proxy(server.url) as proxy, graph_on(replace(server, url=proxy.url)) as graph:
            rows = [knowledge(concept("c1"))]
            await graph.ping()
            proxy.cut_at = COMMIT
            with pytest.raises(Unavailable, match="graph is unavailable"):
                await graph.write_knowledge(rows)
            async with graph_on(server) as other:
                before = await contents(other)
            assert before[0]  # it was committed, only nobody heard
            await until_it_answers(lambda: graph.write_knowledge(rows))
            assert await contents(graph) == before

    asyncio.run(story())


@pytest.mark.covers("AC-37")
def test_what_messages_lead_to_is_one_question_to_the_server_that_is_repeated_where_its_answer_is_lost(server):
    async def story() -> None:
        async with Proxy(server.url) as proxy, graph_on(replace(server, url=proxy.url)) as graph:
            await graph.ping()
            proxy.sent.clear()
            proxy.cut_at = b"UNWIND $rows0"
            await graph.write_turns([turn(1), turn(2)])
            assert [proxy.sent.count(each) for each in (b"UNWIND $rows0", b"UNWIND $rows2", COMMIT)] == [2, 2, 0]
            nodes, links = await contents(graph)
            assert [node[1] for node in nodes] == ["acme|web|c1", "acme|m1", "acme|m2"]
            assert len(links) == 2

    asyncio.run(story())


def test_a_connection_that_broke_while_idle_is_not_noticed(server):
    async def story() -> None:
        async with Proxy(server.url) as proxy, graph_on(replace(server, url=proxy.url)) as graph:
            await graph.ping()
            proxy.cut()
            await graph.ping()
            proxy.cut()
            await graph.write_turns([turn(1)])

    asyncio.run(story())


@pytest.mark.covers("AC-37")
def test_connections_that_break_on_a_workers_loop_are_outages_and_do_not_use_up_the_pool(server):
    """The loop of a worker is uvloop's, which says so in its own way."""

    async def story() -> None:
        async with Proxy(server.url) as proxy, graph_on(replace(server, url=proxy.url)) as graph:
            for _ in range(2 * CONNECTIONS):
                reads = [asyncio.create_task(graph.ping()) for _ in range(4)]
                await asyncio.sleep(0.005)
                proxy.cut()
                for read in reads:
                    with suppress(Unavailable):
                        await read
            await until_it_answers(graph.ping)
            await graph.write_turns([turn(1)])

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(story())


def test_a_server_that_does_not_answer_in_time_is_an_outage(server):
    async def story() -> None:
        async with Proxy(server.url) as proxy, graph_on(replace(server, url=proxy.url), timeout=0.3) as graph:
            await graph.ping()
            proxy.flowing.clear()
            began = time.monotonic()
            with pytest.raises(Unavailable, match=r"no answer in 0\.3 s"):
                await graph.ping()
            with pytest.raises(Unavailable):
                await graph.ping()
            assert time.monotonic() - began < 3.0
            proxy.flowing.set()
            await until_it_answers(graph.ping)

    asyncio.run(story())


def nobody() -> str:
    """An address where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


@pytest.mark.covers("AC-37")
@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_a_worker_starts_without_its_graph_and_finds_it_later(server, scheme, caplog):
    where = nobody()

    async def story() -> None:
        try:
            began = time.monotonic()
            with pytest.raises(Unavailable, match="graph is unavailable"):
                await graph.ping()
            with pytest.raises(Unavailable):
                await graph.write_turns([turn(1)])
            assert time.monotonic() - began < 20.0
        finally:
            await graph.close()

    with caplog.at_level(logging.WARNING):
        graph = open_graph(Neo4jServer(f"{scheme}://{where}"))
    assert [record.message for record in caplog.records if record.name == "fathom.stores"] == ["graph.waiting"]
    asyncio.run(story())


def test_encryption_is_never_given_up(server):
    async def story() -> None:
        async with graph_on(replace(server, url=server.url.replace("bolt://", "bolt+s://"))) as graph:
            with pytest.raises(Unavailable):
                await graph.ping()

    asyncio.run(story())


@pytest.mark.covers("AC-37")
def test_a_server_that_is_killed_in_mid_write_or_restored_from_a_backup_is_used_again(own_neo4j):
    backup = own_neo4j.directory / "backup"
    own_neo4j.start()
    own_neo4j.stop()
    shutil.copytree(own_neo4j.directory / "data", backup)
    own_neo4j.start()

    async def story() -> None:
        graph = open_graph(Neo4jServer(own_neo4j.url, own_neo4j.user, own_neo4j.password))
        try:
            await killed_and_started(graph, own_neo4j)
            await restored(graph, own_neo4j, backup)
        finally:
            await graph.close()

    asyncio.run(story())


async def killed_and_started(graph: Neo4jGraph, own: OwnServer) -> None:
    """Writers wait and go on; what was acknowledged is there."""
    outages: list[str] = []
    written: list[int] = []
    stopping = asyncio.Event()

    async def write(first: int) -> None:
        for number in range(first, 10_000, 4):
            if stopping.is_set():
                return
            while True:
                try:
                    await graph.write_turns([turn(number)])
                    break
                except Unavailable as error:
                    outages.append(error.what)
                    await asyncio.sleep(0.2)
            written.append(number)

    writers = [asyncio.create_task(write(first)) for first in range(4)]
    await enough(written, 100)
    await asyncio.to_thread(own.kill)
    await enough(outages, 4)
    with pytest.raises(Unavailable):
        await graph.ping()
    before = len(written)
    await asyncio.to_thread(own.start)
    await enough(written, before + 100)
    stopping.set()
    await asyncio.gather(*writers)
    kept = {props["seq"] for label, _, props in (await contents(graph))[0] if label == "Message"}
    assert kept == set(written)
    assert set(outages) == {"graph"}


async def restored(graph: Neo4jGraph, own: OwnServer, backup: Path) -> None:
    """A database that is behind what we have seen of it, and has no schema, is made usable by the next call."""
    await asyncio.to_thread(own.stop)
    with pytest.raises(Unavailable):
        await graph.ping()
    shutil.rmtree(own.directory / "data")
    backup.rename(own.directory / "data")
    await asyncio.to_thread(own.start)
    await until_it_answers(graph.ping)
    assert await contents(graph) == ([], [])
    [constraints] = await graph.engine.read("SHOW CONSTRAINTS YIELD name RETURN count(*) AS n", {})
    assert constraints["n"] > 50


async def enough(found: Sequence[object], count: int, seconds: float = 60.0) -> None:
    async with asyncio.timeout(seconds):
        while len(found) < count:  # noqa: ASYNC110  (what it waits for knows nothing of it)
            await asyncio.sleep(0.02)


# --- strangers ------------------------------------------------------------------------------------------------------


def test_a_wrong_password_is_said_in_one_sentence_that_names_the_settings(server):
    wrong = replace(server, password="not-this-one")

    async def story() -> None:
        async with graph_on(wrong) as graph:
            with pytest.raises(Unavailable, match="FATHOM_NEO4J_USER and FATHOM_NEO4J_PASSWORD_FILE") as refused:
                await graph.ping()
            assert "not-this-one" not in str(refused.value)

    with pytest.raises(DatabaseRefused, match="FATHOM_NEO4J_USER and FATHOM_NEO4J_PASSWORD_FILE") as refused:
        open_graph(wrong)
    assert "not-this-one" not in str(refused.value) + repr(wrong)
    asyncio.run(story())


SUCCESS, SERVER, CONNECTION = b"\xb1\x70\xa2", b"\x86server", b"\x8dconnection_id\x81x"


@asynccontextmanager
async def stranger(agent: str, bolt: tuple[int, int]) -> AsyncIterator[str]:
    """Something that speaks Bolt just so far that it says who it is."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, OSError):
            await reader.readexactly(20)
            writer.write(bytes((0, 0, bolt[1], bolt[0])))
            while True:
                while size := struct.unpack(">H", await reader.readexactly(2))[0]:
                    await reader.readexactly(size)
                name = agent.encode()
                said = SUCCESS + SERVER + bytes((0xD0, len(name))) + name + CONNECTION
                writer.write(struct.pack(">H", len(said)) + said + b"\x00\x00")
        writer.close()

    listening = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with listening:
        yield f"bolt://127.0.0.1:{listening.sockets[0].getsockname()[1]}"


@pytest.mark.parametrize(
    ("agent", "bolt", "why"),
    [
        ("Neo4j/4.4.38", (4, 4), r"server is Neo4j/4\.4\.38, Neo4j 5 or later is needed"),
        ("Other/9.0.0", (4, 4), r"server is Other/9\.0\.0, Neo4j 5"),
        ("Neo4j/1.0.0", (2, 0), r"speaks no Bolt of ours, Neo4j 5"),
    ],
)
def test_a_server_that_is_too_old_or_another_is_refused_by_name(agent, bolt, why):
    async def story() -> None:
        async with stranger(agent, bolt) as url:
            with pytest.raises(DatabaseRefused, match=why):
                await asyncio.to_thread(open_graph, Neo4jServer(url))
            async with graph_on(Neo4jServer(url)) as graph:
                with pytest.raises(Unavailable, match=why):
                    await graph.ping()

    asyncio.run(story())


@pytest.mark.parametrize("url", ["bolt://h:port", "bolt://h:99999"])
def test_a_url_that_is_none_is_refused(url):
    with pytest.raises(DatabaseRefused, match="FATHOM_NEO4J_URL"):
        open_graph(Neo4jServer(url))


def test_a_worker_opens_its_graph_by_url(server, tmp_path):
    urls = {"redis_url": "memory://", "qdrant_url": "memory://", "neo4j_url": server.url}
    stores = open_stores(
        StoreSettings(tmp_path, **urls, embedder="hashing", neo4j_user=server.user, neo4j_password=server.password)
    )

    async def story() -> None:
        assert await stores.ready() == {"graph": None, "working_set": None, "index": None}
        await stores.graph_writer.write_claims([claim(1)])
        found = await stores.graph.claims("acme", client_id="web", conversation_id="c1", as_of=LATER, limit=9)
        assert [each.claim_id for each in found.claims] == ["k1"]
        await stores.close()

    asyncio.run(story())


def test_a_url_with_a_password_is_refused_without_saying_it(tmp_path):
    with pytest.raises(UnsupportedUrl, match="FATHOM_NEO4J_PASSWORD_FILE") as refused:
        open_stores(StoreSettings(tmp_path, "memory://", qdrant_url="memory://", neo4j_url="bolt://user:secret@h"))
    assert "secret" not in str(refused.value)


def test_the_whole_graph_is_what_belongs_to_tenants(server):
    async def story() -> None:
        async with graph_on(server) as graph:
            await graph.ping()
            assert await graph.engine.read(queries.ALL_NODES, {}) == []

    asyncio.run(story())


def test_an_engine_that_was_never_used_is_closed_in_another_loop():
    engine = Neo4jEngine(Neo4jServer(f"bolt://{nobody()}"))
    asyncio.run(engine.close())
