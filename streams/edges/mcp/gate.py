"""What an HTTP request must show before MCP sees it: a known web origin, a token, and calls left to make.

Deny by default: every path, known or not, asks for a token. The token goes no further than this file.
"""

import math
from collections.abc import Collection
from urllib.parse import urlsplit

import orjson
from mcp.server.context import ServerRequestContext
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from streams.edges.mcp.allowance import Allowance
from streams.edges.mcp.callers import Caller, Tokens

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
CALLER = "fathom.caller"


class Gate:
    """403 for a foreign origin or host, 401 without a known token, 429 with `Retry-After` after too many requests."""

    def __init__(
        self, app: ASGIApp, tokens: Tokens, allowance: Allowance, *, origins: Collection[str], loopback: bool
    ) -> None:
        self._app = app
        self._tokens = tokens
        self._allowance = allowance
        self._origins = frozenset(origins)
        self._loopback = loopback

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if not self._is_known(headers.get("origin")):
            return _refused(403, "this web origin may not call; the operator adds it to FATHOM_MCP_ORIGINS")
        # A page whose name was pointed at this machine sends its own name.
        if self._loopback and _host_of(f"//{headers.get('host', '')}") not in LOOPBACK:
            return _refused(403, "this host name is not this server's; call 127.0.0.1 or localhost")
        scheme, _, token = headers.get("authorization", "").partition(" ")
        caller = self._tokens.caller(token.strip()) if scheme.lower() == "bearer" else None
        if caller is None:
            return _refused(
                401, "a known token is needed: send `Authorization: Bearer TOKEN`", **{"www-authenticate": "Bearer"}
            )
        wait = self._allowance.take(caller)
        if wait:
            seconds = math.ceil(wait)
            return _refused(429, f"too many calls: try again in {seconds} s", **{"retry-after": str(seconds)})
        scope[CALLER] = caller
        return None

    def _is_known(self, origin: str | None) -> bool:
        if origin is None or origin in self._origins:
            return True
        return self._loopback and _host_of(origin) in LOOPBACK


def caller_of(context: "ServerRequestContext[object, object]") -> Caller:
    """Whom the gate let in with this request."""
    caller = context.request.scope[CALLER]  # type: ignore[attr-defined]
    assert isinstance(caller, Caller)
    return caller


def _host_of(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


def _refused(status: int, why: str, **headers: str) -> Response:
    body = orjson.dumps({"error": why})
    return Response(body, status, {"content-type": "application/json", **headers})
