"""Requests that a foreign web page makes a browser send: what needs no token must not answer them.

A page whose name was pointed at this machine (DNS rebinding) has that name in `Host`. Probes and Prometheus call an
address, or a name of the inside.
"""

from collections.abc import Collection
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from streams.config import Settings, listed
from streams.telemetry import metrics

FORBIDDEN = 403
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
# Nobody on the internet can have such a name: those of this machine, of a local network, of a cluster's services.
INSIDE = (".localhost", ".local", ".internal", ".svc")


class PageGuard:
    """An application that answers no foreign page: 403; `names` are those by which it is called from elsewhere."""

    def __init__(self, app: ASGIApp, names: Collection[str]) -> None:
        self._app = app
        self._names = frozenset(each.lower() for each in names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        host, origin = host_of(f"//{headers.get('host', '')}"), headers.get("origin")
        app = self._app
        # Only HTTP/1.0, and so no browser, sends no host.
        if headers.get("host") and not self._is_ours(host):
            app = _refused("this host name is not this server's; call its address, or add it to FATHOM_HTTP_NAMES")
        elif origin is not None and host_of(origin) not in {host, *LOOPBACK, *self._names}:
            app = _refused("this web origin may not call; add its host to FATHOM_HTTP_NAMES")
        if app is not self._app:
            metrics.refused(FORBIDDEN)
        await app(scope, receive, send)

    def _is_ours(self, host: str | None) -> bool:
        if host is None:
            return False
        name = host.removesuffix(".")
        return name in self._names or "." not in name or name.endswith(INSIDE) or _is_address(name)


def names_of(settings: Settings) -> frozenset[str]:
    """The names by which health, metrics and the console are called: those of the settings, web origins included."""
    origins = map(host_of, listed(settings.ask_origins))
    return frozenset((*listed(settings.http_names), *(host for host in origins if host)))


def host_of(address: str) -> str | None:
    """The host of an address in small letters; None for what has none."""
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _refused(why: str) -> JSONResponse:
    return JSONResponse({"error": why}, FORBIDDEN)
