"""Checks of the stores: servers are asked, read-only; embedded ones through the process that owns them."""

from collections.abc import Mapping
from pathlib import Path

from agents.errors import FathomError, Unavailable
from streams.config import Settings, secret
from streams.edges.cli.doctor.findings import DOWN, OK, SKIPPED, WARN, WRONG, Finding, found, some
from streams.stores.seen.neo4j_seen import Neo4jSeen
from streams.stores.seen.qdrant_seen import CollectionSeen, QdrantSeen
from streams.stores.seen.redis_seen import RedisSeen

SERVERS = {
    "redis": ("redis_url", ("redis-version", "redis-policy", "redis-persistence", "redis-memory", "redis-clock")),
    "graph": ("neo4j_url", ("graph-version", "graph-schema", "graph-indexes")),
    "index": ("qdrant_url", ("index-version", "index-collections", "index-tenants", "embedder")),
}
# The names of the stores in `/health/ready`.
READY = {"redis": "working_set", "graph": "graph", "index": "index"}
EMBEDDERS = {"use": "UseEmbedder", "hashing": "HashingEmbedder"}
OURS = ("embedded://", "memory://")
POLICY, OLDEST_REDIS, OLDEST_NEO4J, OLDEST_QDRANT = "noeviction", (6, 2), (5,), (1, 19)
AHEAD_S, NEARLY_FULL = 2.0, 0.9


async def stores(settings: Settings, ready: Mapping[str, str] | None, index_note: str | None) -> list[Finding]:
    """All findings about the stores; `ready` is what a running `fathom up` says of each of its own."""
    findings: list[Finding] = []
    for name, (field, checks) in SERVERS.items():
        if getattr(settings, field).startswith(OURS):
            findings += embedded(name, checks, ready, index_note, settings.embedder)
            continue
        try:
            findings += await _server(name, settings)
        except Unavailable as away:
            findings += [found(name, DOWN, str(away)), *(found(each, SKIPPED, "no answer") for each in checks)]
        except FathomError as refused:
            findings += [found(name, WRONG, str(refused)), *(found(each, SKIPPED, "refused") for each in checks)]
    return findings


async def _server(name: str, settings: Settings) -> list[Finding]:
    # Imported here: each driver costs a quarter of a second, and most have not all three servers.
    if name == "redis":
        from streams.stores.seen import redis_seen

        return redis(await redis_seen.look(settings.redis_url))
    if name == "graph":
        from streams.stores.graph.neo4j_engine import Neo4jServer
        from streams.stores.seen import neo4j_seen

        password = secret("neo4j_password_file", settings.neo4j_password_file)
        return graph(await neo4j_seen.look(Neo4jServer(settings.neo4j_url, settings.neo4j_user, password)))
    from streams.stores.seen import qdrant_seen

    key = secret("qdrant_api_key_file", settings.qdrant_api_key_file)
    return index(await qdrant_seen.look(settings.qdrant_url, key), settings.embedder)


def embedded(
    name: str, checks: tuple[str, ...], ready: Mapping[str, str] | None, index_note: str | None, chosen: str
) -> list[Finding]:
    """The findings about an embedded store: what its process says; its settings are Fathom's own."""
    said = None if ready is None else ready.get(READY[name])
    if said is None:
        first = found(name, SKIPPED, "embedded, and nothing runs here")
    else:
        first = found(name, OK if said == "ok" else DOWN, f"{said}, says `fathom up`")
    rest = [
        embedder([index_note], chosen)
        if each == "embedder" and index_note
        else found(each, SKIPPED, "embedded: made and set by Fathom")
        for each in checks
    ]
    return [first, *rest]


def numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version."""
    parts = version.removeprefix("v").partition("-")[0].split(".")
    return tuple(int(part) for part in parts if part.isdigit())


def redis(seen: RedisSeen) -> list[Finding]:
    """The findings about a Redis server."""
    old = seen.name == "Redis" and numbers(seen.version) < OLDEST_REDIS
    full = seen.limit > 0 and seen.used > NEARLY_FULL * seen.limit
    said = f"{seen.used / 1e6:,.0f} MB used of {f'{seen.limit / 1e6:,.0f} MB' if seen.limit else 'no limit'}"
    return [
        found("redis", OK, f"{seen.name} answers"),
        found("redis-version", WRONG if old else OK, f"{seen.name} {seen.version}"),
        found("redis-policy", OK if seen.policy == POLICY else WRONG, f"maxmemory-policy is {seen.policy}"),
        found(
            "redis-persistence", OK if seen.append_only else WARN, f"appendonly {'yes' if seen.append_only else 'no'}"
        ),
        found("redis-memory", WARN if full else OK, said),
        found("redis-clock", WARN if abs(seen.ahead) > AHEAD_S else OK, f"{seen.ahead:+.1f} s from ours"),
    ]


def graph(seen: Neo4jSeen) -> list[Finding]:
    """The findings about a Neo4j server."""
    odd = [f"{name} is {state}" for name, state in seen.indexes.items() if state != "ONLINE"]
    pending = f"not applied: {some(seen.pending)}" if seen.pending else "all migrations are applied"
    return [
        found("graph", OK, "Neo4j answers"),
        found(
            "graph-version",
            OK if numbers(seen.version) >= OLDEST_NEO4J else WRONG,
            f"Neo4j {seen.version} {seen.edition}",
        ),
        found("graph-schema", WRONG if seen.pending else OK, pending),
        found("graph-indexes", WRONG if odd else OK, some(odd) or f"{len(seen.indexes)} indexes, all online"),
    ]


def index(seen: QdrantSeen, chosen: str) -> list[Finding]:
    """The findings about a Qdrant server."""
    lacking = [name for name, each in seen.collections.items() if each is None]
    there = {name: each for name, each in seen.collections.items() if each is not None}
    return [
        found("index", OK, "Qdrant answers"),
        found("index-version", OK if numbers(seen.version) >= OLDEST_QDRANT else WARN, f"Qdrant {seen.version}"),
        found("index-collections", WARN if lacking else OK, f"missing: {some(lacking)}" if lacking else some(there)),
        tenants(there),
        embedder([each.embedder for each in there.values() if each.embedder], chosen),
    ]


def tenants(there: Mapping[str, CollectionSeen]) -> Finding:
    """Whether each collection has the index by tenant, without which every search is refused."""
    if not there:
        return found("index-tenants", SKIPPED, "there is no collection")
    lacking = [name for name, each in there.items() if not each.by_tenant]
    return found("index-tenants", WRONG if lacking else OK, some(lacking) or "each has an index by tenant")


def embedder(notes: list[str], chosen: str) -> Finding:
    """Whether the index was written by the embedder of the settings; a note begins with the embedder's name."""
    if not notes:
        return found("embedder", SKIPPED, "the index says nothing of its embedder")
    other = [note for note in notes if note.split()[0] != EMBEDDERS[chosen]]
    seen = f"written with {some(other or notes)}"
    return found("embedder", WRONG if other else OK, f"{seen}, not {EMBEDDERS[chosen]}" if other else seen)


def note_of(directory: Path | None) -> str | None:
    """What the directory of an embedded index says of its embedder."""
    try:
        return None if directory is None else (directory / "embedder").read_text()
    except OSError:
        return None
