"""The real stores of these tests: shared ones, and ones that a test stops and kills."""

from tests.servers.fixtures import (  # noqa: F401
    neo4j_server,
    own_neo4j,
    own_qdrant,
    own_redis,
    qdrant_server,
    redis_url,
)
