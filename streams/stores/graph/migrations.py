"""The schema of a Neo4j database: ordered files of `deploy/neo4j`, each applied once and recorded in the graph.

A record is a `(:FathomMigration {id, sha256, applied_at})`; without a tenant no read of memory finds it. A file that
was interrupted is applied again: every statement is `IF NOT EXISTS` or `IF EXISTS`. Workers that start together take
turns.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from neo4j import READ_ACCESS, AsyncDriver, AsyncManagedTransaction, AsyncSession
from neo4j.exceptions import Forbidden, Neo4jError, UnsupportedServerProduct

from streams.config import ConfigError

OLDEST = 5
# The place of the files in an installed package, and in a checkout.
PACKAGED, CHECKOUT = "neo4j_migrations", Path(__file__).parents[3] / "deploy" / "neo4j"
SUFFIX = ".cypher"
LOCK = "(lock)"
INDEX_S = 300
SCHEMA_ATTEMPTS = 5
# Another worker made the same object at the same time, after the check of IF NOT EXISTS.
MADE_BY_ANOTHER = frozenset(
    {
        "Neo.ClientError.Schema.ConstraintAlreadyExists",
        "Neo.ClientError.Schema.ConstraintWithNameAlreadyExists",
        "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists",
        "Neo.ClientError.Schema.IndexAlreadyExists",
        "Neo.ClientError.Schema.IndexWithNameAlreadyExists",
    }
)

RECORDS_ARE_UNIQUE: Final = """
    CREATE CONSTRAINT fathom_migration IF NOT EXISTS FOR (m:FathomMigration) REQUIRE m.id IS UNIQUE"""
MAKE_LOCK: Final = """
    MERGE (m:FathomMigration {id: $id})"""
TAKE_LOCK: Final = """
    MATCH (m:FathomMigration {id: $id}) SET m.taken_at = datetime()"""
APPLIED: Final = """
    MATCH (m:FathomMigration) WHERE m.sha256 IS NOT NULL RETURN m.id AS id, m.sha256 AS sha256"""
RECORD: Final = """
    MERGE (m:FathomMigration {id: $id}) SET m.sha256 = $sha256, m.applied_at = datetime()"""
AWAIT_INDEXES: Final = """
    CALL db.awaitIndexes($seconds)"""


class DatabaseRefused(ConfigError):
    """An unusable database; the message gives the reason and the remedy."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One file: its name without the ending, its statements in order, the hash of its text."""

    name: str
    statements: tuple[str, ...]
    sha256: str


def read(name: str, text: str) -> Migration:
    """The statements of a file, without comments."""
    code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//"))
    statements = tuple(each.strip() for each in re.split(r";[ \t]*(?:\n|$)", code) if each.strip())
    return Migration(name, statements, hashlib.sha256(text.encode()).hexdigest())


@cache
def bundled() -> tuple[Migration, ...]:
    """The migrations of this version, in order; raises `DatabaseRefused` when they are not installed."""
    packaged = files("streams.stores").joinpath(PACKAGED)
    folder: Traversable = packaged if packaged.is_dir() else CHECKOUT
    found = [each for each in folder.iterdir() if each.name.endswith(SUFFIX)] if folder.is_dir() else []
    if not found:
        raise DatabaseRefused("this installation lost the migrations of Neo4j; install fathom-context again")
    # Read as text: a checkout with other line endings has the same hash.
    return tuple(
        read(each.name.removesuffix(SUFFIX), each.read_text(encoding="utf-8"))
        for each in sorted(found, key=lambda each: each.name)
    )


async def migrate(driver: AsyncDriver, migrations: Sequence[Migration]) -> tuple[str, ...]:
    """Apply the pending migrations; returns their names.

    Raises `DatabaseRefused`, and the driver's errors.
    """
    try:
        _check_version((await driver.get_server_info()).agent)
    except UnsupportedServerProduct as error:
        raise _too_old("something that speaks no Bolt of ours") from error
    async with driver.session(default_access_mode=READ_ACCESS) as session:
        if not missing(migrations, await session.execute_read(_applied)):
            return ()
    async with driver.session() as session:
        await _apply_schema(session, "(before the first)", RECORDS_ARE_UNIQUE)
        await session.execute_write(_run, MAKE_LOCK, {"id": LOCK})
    return await _apply_in_turn(driver, migrations)


def missing(migrations: Iterable[Migration], applied: Mapping[str, str]) -> tuple[Migration, ...]:
    """The pending migrations; raises `DatabaseRefused` when an applied one was edited since."""
    left = []
    for each in migrations:
        known = applied.get(each.name)
        if known is None:
            left.append(each)
        elif known != each.sha256:
            raise DatabaseRefused(
                f"migration {each.name} was edited after this database had it: it was sha256 {known} and is "
                f"{each.sha256}; put the file back as it was, and the change into a new file with the next number"
            )
    return tuple(left)


def _check_version(agent: str) -> None:
    """Raises `DatabaseRefused` for an agent (such as `Neo4j/5.26.30`) whose version is too old."""
    found = re.fullmatch(r"Neo4j/v?(\d+)\..*", agent)
    if found is None or int(found.group(1)) < OLDEST:
        raise _too_old(agent)


def _too_old(what: str) -> DatabaseRefused:
    return DatabaseRefused(
        f"the graph's server is {what}, Neo4j {OLDEST} or later is needed; "
        "upgrade it, or set FATHOM_NEO4J_URL to another server or to embedded://"
    )


async def _apply_in_turn(driver: AsyncDriver, migrations: Sequence[Migration]) -> tuple[str, ...]:
    # The holder of the node's lock applies them; the lock ends with the connection, so a dead worker cannot keep it.
    # Schema changes are not allowed in a transaction with changes of nodes, so they run beside it.
    async with driver.session() as holding, await holding.begin_transaction() as lock:
        await (await lock.run(TAKE_LOCK, id=LOCK)).consume()
        async with driver.session() as session:
            left = missing(migrations, await session.execute_read(_applied))
            for each in left:
                for statement in each.statements:
                    await _apply_schema(session, each.name, statement)
                await session.execute_write(_run, AWAIT_INDEXES, {"seconds": INDEX_S})
                await session.execute_write(_run, RECORD, {"id": each.name, "sha256": each.sha256})
        return tuple(each.name for each in left)


async def _apply_schema(session: AsyncSession, name: str, statement: str) -> None:
    for attempt in range(1, SCHEMA_ATTEMPTS + 1):
        try:
            await session.execute_write(_run, statement, {})
            return
        except Neo4jError as error:
            if error.code in MADE_BY_ANOTHER and attempt < SCHEMA_ATTEMPTS:
                continue
            if isinstance(error, Forbidden) or ".Schema." in error.code:
                raise _refusal(name, statement, error) from error
            raise


def _refusal(name: str, statement: str, error: Neo4jError) -> DatabaseRefused:
    why, where = (" ".join(text.split()) for text in (error.message, statement))
    return DatabaseRefused(
        f"migration {name} cannot be applied to this database: {why} (at {where}); "
        "mend the database, or set FATHOM_NEO4J_URL to another one"
    )


async def _applied(transaction: AsyncManagedTransaction) -> dict[str, str]:
    return {row["id"]: row["sha256"] async for row in await transaction.run(APPLIED)}


async def _run(transaction: AsyncManagedTransaction, statement: str, parameters: Mapping[str, object]) -> None:
    await (await transaction.run(statement, dict(parameters))).consume()
