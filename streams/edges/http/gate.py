"""The checks of an HTTP request before the application sees it: web origin, host, bearer token, rate limit.

Deny by default: every path, known or not, needs a token. The token itself is not passed on.
"""

import math
from collections.abc import Callable, Collection

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from streams.config import PREFIX
from streams.edges.http.problems import Problem
from streams.edges.http.rate_limit import Guesses, RateLimit
from streams.edges.http.tokens import Grant, Tokens
from streams.telemetry import metrics
from streams.web_pages import LOOPBACK, host_of

# The key of the ASGI scope that holds the token's grant.
GRANT = "fathom.grant"


class AuthMiddleware:
    """403 for a foreign origin or host, 401 without a known token, 429 with `Retry-After` after too many requests,
    and to an address that sends too many unknown tokens.

    `origins` are the allowed web origins; `origins_setting` is the setting that a refusal names. `admit` raises
    `Problem` for what is refused for other reasons.
    """

    def __init__(
        self,
        app: ASGIApp,
        tokens: Tokens,
        allowance: RateLimit,
        *,
        origins: Collection[str],
        origins_setting: str,
        loopback: bool,
        guesses: Guesses | None = None,
        admit: Callable[[Scope, Grant], None] = lambda _, __: None,
    ) -> None:
        self._app = app
        self._tokens = tokens
        self._allowance = allowance
        self._origins = frozenset(origins)
        self._origins_setting = f"{PREFIX}{origins_setting.upper()}"
        self._loopback = loopback
        self._guesses = guesses or Guesses()
        self._admit = admit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        try:
            self._let_in(scope)
        except Problem as refusal:
            metrics.refused(refusal.status_code)
            await refusal.response(scope["path"])(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _let_in(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        if not self._is_known(headers.get("origin")):
            raise Problem(403, f"this web origin may not call; the operator adds it to {self._origins_setting}")
        # DNS rebinding: a page whose name was pointed at this machine sends its own name.
        if self._loopback and host_of(f"//{headers.get('host', '')}") not in LOOPBACK:
            raise Problem(403, "this host name is not this server's; call 127.0.0.1 or localhost")
        # In a header of its own where the other one is for the model's server behind us.
        stated = headers.get("fathom-token")
        scheme, _, token = (f"Bearer {stated}" if stated else headers.get("authorization", "")).partition(" ")
        grant = self._tokens.grant(token.strip()) if scheme.lower() == "bearer" else None
        if token:
            self._guesses.check(scope["client"][0] if scope.get("client") else "", grant)
        if grant is None:
            raise Problem(401, "a known token is needed: send `Authorization: Bearer TOKEN`", www_authenticate="Bearer")
        wait = self._allowance.take(grant)
        if wait:
            seconds = math.ceil(wait)
            raise Problem(429, f"too many calls: try again in {seconds} s", retry_after=str(seconds))
        self._admit(scope, grant)
        scope[GRANT] = grant

    def _is_known(self, origin: str | None) -> bool:
        if origin is None or origin in self._origins:
            return True
        return self._loopback and host_of(origin) in LOOPBACK
