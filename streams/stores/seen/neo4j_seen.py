"""A look at a Neo4j database for those who check it; nothing is written."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, LiteralString

from neo4j import READ_ACCESS, AsyncDriver
from neo4j.exceptions import DriverError, Neo4jError

from agents.concurrency import timeout
from agents.errors import Unavailable
from streams.stores.graph.migrations import APPLIED, bundled, missing
from streams.stores.graph.neo4j_engine import COMPONENTS, Neo4jServer

LOOK_S = 10.0
INDEXES: Final = "SHOW INDEXES YIELD name, state RETURN name, state"


@dataclass(frozen=True, slots=True)
class Neo4jSeen:
    """Version and edition, the migrations that are not applied, and the state of each index by name."""

    version: str
    edition: str
    pending: tuple[str, ...]
    indexes: Mapping[str, str]


async def look(server: Neo4jServer) -> Neo4jSeen:
    """Ask a server; raises `Unavailable`, and `DatabaseRefused` for an edited migration."""
    driver = server.driver()
    try:
        async with timeout(LOOK_S):
            [said] = await _rows(driver, COMPONENTS)
            applied = {row["id"]: row["sha256"] for row in await _rows(driver, APPLIED)}
            indexes = {row["name"]: row["state"] for row in await _rows(driver, INDEXES)}
    except (DriverError, Neo4jError, OSError, TimeoutError, ValueError) as error:
        raise Unavailable("graph", str(error) or f"no answer in {LOOK_S:g} s") from error
    finally:
        await driver.close()
    pending = tuple(each.name for each in missing(bundled(), applied))
    return Neo4jSeen(str(said["version"]), str(said["edition"]), pending, indexes)


async def _rows(driver: AsyncDriver, query: LiteralString) -> list[dict[str, str]]:
    async with driver.session(default_access_mode=READ_ACCESS) as session:
        return await (await session.run(query)).data()
