"""Connections to a Qdrant server: kept open; a call is repeated when the server had closed its connection."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import httpx
from qdrant_client import AsyncQdrantClient
from qdrant_client.http.exceptions import ResponseHandlingException

CONNECTIONS = 16
# The server ends a connection that was silent for five seconds, also while a request is on its way.
IDLE_S = 2.0

T = TypeVar("T")


async def on_a_living_connection(call: Callable[[], Awaitable[T]]) -> T:
    """The result of the call, repeated once if the server had closed the connection: all our calls are idempotent."""
    try:
        return await call()
    except ResponseHandlingException as error:
        if not isinstance(error.source, httpx.RemoteProtocolError | httpx.ReadError):
            raise
    return await call()


def connect(url: str, api_key: str | None, timeout: float) -> AsyncQdrantClient:
    """A client of the server at `url`, with `timeout` in seconds; no call is made yet."""
    # Compressed answers come in pieces, the next of which waits 40 ms for our system to confirm the last.
    headers = {"Accept-Encoding": "identity"}
    if api_key:
        headers["api-key"] = api_key  # given by name, the client would warn of every server without TLS
    return AsyncQdrantClient(
        url=url,
        headers=headers,
        timeout=max(1, round(timeout)),
        check_compatibility=False,
        # Of its own, the client keeps no connection to this machine open.
        limits=httpx.Limits(
            max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS, keepalive_expiry=IDLE_S
        ),
    )
