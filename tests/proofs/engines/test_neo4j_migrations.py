"""The schema of a Neo4j server: each file once, by whoever comes first, and none that was changed afterwards."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest
from neo4j import AsyncDriver

from streams.stores.graph.migrations import DatabaseRefused, Migration, bundled, migrate, read
from streams.stores.graph.neo4j_engine import Neo4jServer, open_graph
from streams.stores.neo4j_values import native

T = TypeVar("T")
PROBE = """
// A label that nobody else has.
CREATE CONSTRAINT probe_id IF NOT EXISTS FOR (n:Probe) REQUIRE n.id IS UNIQUE;
CREATE INDEX probe_name IF NOT EXISTS FOR (n:Probe) ON (n.name);
"""
FIRST, SECOND = (
    read("9001_probe", PROBE),
    read("9002_more", "CREATE INDEX probe_at IF NOT EXISTS FOR (n:Probe) ON (n.at);"),
)


@pytest.fixture
def server(neo4j_server) -> Iterator[Neo4jServer]:
    """The shared server; what a test adds to its schema is gone after it."""
    server = Neo4jServer(neo4j_server.url, neo4j_server.user, neo4j_server.password)
    with_driver(server, tidied)
    yield server
    with_driver(server, tidied)


def with_driver(server: Neo4jServer, story: Callable[[AsyncDriver], Awaitable[T]]) -> T:
    async def run() -> T:
        async with server.driver() as driver:
            return await story(driver)

    return asyncio.run(run())


async def tidied(driver: AsyncDriver) -> None:
    await driver.execute_query("MATCH (n:Probe) DETACH DELETE n")
    await driver.execute_query("MATCH (m:FathomMigration) WHERE m.id STARTS WITH '9' DELETE m")
    await driver.execute_query("DROP CONSTRAINT probe_id IF EXISTS")
    for name in ("probe_name", "probe_at"):
        await driver.execute_query(f"DROP INDEX {name} IF EXISTS")


async def emptied(driver: AsyncDriver) -> None:
    """No schema at all, as on the day the server was installed."""
    for row in await rows(driver, "SHOW CONSTRAINTS YIELD name"):
        await driver.execute_query(f"DROP CONSTRAINT {row['name']} IF EXISTS")
    for row in await rows(driver, "SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP'"):
        await driver.execute_query(f"DROP INDEX {row['name']} IF EXISTS")
    await driver.execute_query("MATCH (m:FathomMigration) DETACH DELETE m")


async def rows(driver: AsyncDriver, query: str, **parameters: object) -> list[dict[str, Any]]:
    found = await driver.execute_query(query, parameters)
    return [native(record.data()) for record in found.records]


async def records(driver: AsyncDriver) -> dict[str, str]:
    found = await rows(driver, "MATCH (m:FathomMigration) WHERE m.sha256 IS NOT NULL RETURN m.id AS id, m.sha256 AS h")
    return {row["id"]: row["h"] for row in found}


async def schema(driver: AsyncDriver) -> set[str]:
    found = await rows(driver, "SHOW CONSTRAINTS YIELD name RETURN name")
    found += await rows(driver, "SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name")
    return {row["name"] for row in found}


@pytest.mark.covers("S2-84", "S2-85", "S2-87")
def test_eight_workers_that_start_at_once_make_the_whole_schema_together(server):
    with_driver(server, emptied)

    async def story(driver: AsyncDriver) -> list[tuple[str, ...]]:
        async def worker() -> tuple[str, ...]:
            async with server.driver() as own:
                return await migrate(own, bundled())

        return await asyncio.gather(*(worker() for _ in range(8)))

    applied = with_driver(server, story)
    assert sorted(name for each in applied for name in each) == [each.name for each in bundled()]
    assert with_driver(server, records) == {each.name: each.sha256 for each in bundled()}
    named = {
        statement.split()[2 if "FULLTEXT" not in statement else 3]
        for each in bundled()
        for statement in each.statements
        if statement.startswith("CREATE")
    }
    dropped = {s.split()[2] for each in bundled() for s in each.statements if s.startswith("DROP")}
    assert dropped <= named
    assert with_driver(server, schema) == {*(named - dropped), "fathom_migration"}
    assert with_driver(server, online) == {"ONLINE"}


async def online(driver: AsyncDriver) -> set[str]:
    return {row["state"] for row in await rows(driver, "SHOW INDEXES YIELD state RETURN DISTINCT state")}


def test_a_second_start_changes_nothing(server):
    async def twice(driver: AsyncDriver) -> tuple[tuple[str, ...], Any, Any]:
        await migrate(driver, bundled())
        before = await everything(driver)
        return await migrate(driver, bundled()), before, await everything(driver)

    applied, before, after = with_driver(server, twice)
    assert applied == ()
    assert after == before


async def everything(driver: AsyncDriver) -> list[dict[str, Any]]:
    return await rows(driver, "MATCH (m:FathomMigration) RETURN properties(m) AS p ORDER BY m.id")


def test_a_file_is_applied_once_and_recorded_with_its_hash_and_time(server):
    async def story(driver: AsyncDriver) -> None:
        assert await migrate(driver, [FIRST]) == ("9001_probe",)
        assert await migrate(driver, [FIRST, SECOND]) == ("9002_more",)
        assert await migrate(driver, [FIRST, SECOND]) == ()
        assert {"probe_id", "probe_name", "probe_at"} <= await schema(driver)
        [found] = await rows(
            driver, "MATCH (m:FathomMigration {id: '9001_probe'}) RETURN m.sha256 AS h, m.applied_at AS at"
        )
        assert found["h"] == FIRST.sha256
        assert abs(found["at"] - datetime.now(UTC)) < timedelta(minutes=5)

    with_driver(server, story)


def test_a_file_that_was_edited_after_it_ran_is_refused_by_name_and_nothing_is_applied(server):
    edited = read("9001_probe", PROBE + "// a word more")

    async def story(driver: AsyncDriver) -> None:
        await migrate(driver, [FIRST])
        with pytest.raises(DatabaseRefused) as refused:
            await migrate(driver, [edited, SECOND])
        said = str(refused.value)
        assert "9001_probe" in said
        assert FIRST.sha256 in said
        assert edited.sha256 in said
        assert "a new file with the next number" in said
        assert "probe_at" not in await schema(driver)
        assert await migrate(driver, [FIRST, SECOND]) == ("9002_more",)

    with_driver(server, story)


def test_a_worker_that_died_between_two_statements_leaves_a_file_that_is_applied_again(server):
    async def story(driver: AsyncDriver) -> None:
        await driver.execute_query(FIRST.statements[0])
        assert await migrate(driver, [FIRST]) == ("9001_probe",)
        assert {"probe_id", "probe_name"} <= await schema(driver)

    with_driver(server, story)


def test_a_worker_that_dies_with_the_lock_does_not_keep_it(server):
    async def story(driver: AsyncDriver) -> None:
        await migrate(driver, [])
        working = asyncio.create_task(migrate(driver, [slow_to_apply()]))
        await asyncio.sleep(0.15)
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working
        async with asyncio.timeout(10), server.driver() as other:
            assert await migrate(other, [FIRST]) == ("9001_probe",)

    with_driver(server, story)


def slow_to_apply() -> Migration:
    return Migration("9003_slow", ("UNWIND range(1, 100000000) AS n WITH n WHERE n < 0 RETURN count(n)",), "0" * 64)


def test_memory_that_contradicts_a_constraint_is_refused_by_the_files_name(server):
    async def story(driver: AsyncDriver) -> None:
        await driver.execute_query("CREATE (:Probe {id: 'a'}), (:Probe {id: 'a'})")
        with pytest.raises(
            DatabaseRefused, match=r"migration 9001_probe cannot be applied.*CREATE CONSTRAINT probe_id"
        ):
            await migrate(driver, [FIRST])
        assert "9001_probe" not in await records(driver)
        await driver.execute_query("MATCH (n:Probe) DELETE n")
        assert await migrate(driver, [FIRST]) == ("9001_probe",)

    with_driver(server, story)


def test_what_a_newer_version_applied_is_let_be(server):
    async def story(driver: AsyncDriver) -> None:
        await migrate(driver, [FIRST, SECOND])
        assert await migrate(driver, [FIRST]) == ()

    with_driver(server, story)


def test_opening_a_graph_makes_the_schema(server):
    with_driver(server, emptied)
    graph = open_graph(server)
    assert with_driver(server, records) == {each.name: each.sha256 for each in bundled()}
    asyncio.run(graph.close())


def test_a_worker_with_an_edited_file_does_not_start(server):
    async def tampered(driver: AsyncDriver) -> None:
        await migrate(driver, bundled())
        await driver.execute_query("MATCH (m:FathomMigration {id: $id}) SET m.sha256 = 'x'", id=bundled()[1].name)

    async def mended(driver: AsyncDriver) -> None:
        query = "MATCH (m:FathomMigration {id: $id}) SET m.sha256 = $sha256"
        await driver.execute_query(query, id=bundled()[1].name, sha256=bundled()[1].sha256)

    with_driver(server, tampered)
    try:
        with pytest.raises(DatabaseRefused, match=bundled()[1].name):
            open_graph(server)
    finally:
        with_driver(server, mended)
