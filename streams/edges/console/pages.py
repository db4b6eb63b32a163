"""The console's files at `/console/`: they hold no data, so they need no token; the page calls the routes with one.

What the page may do is narrow, since it shows texts of strangers: its own script and style, calls to its own origin.
"""

import hashlib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from streams.edges.console.address import DOCS, PATH
from streams.web_pages import PageGuard

STATIC = Path(__file__).parent / "static"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    # A new version of Fathom has a new page; where it is the old one, 304 says so.
    "cache-control": "no-cache",
}


class WithConsole:
    """An application with the console at `/console/`, and its own description, a page, at `/docs`.

    `names` are those by which a browser may call it, beside addresses and names of the inside. A browser that names no
    page is led to the console; every other path is the application's.
    """

    def __init__(self, app: ASGIApp, reference: Callable[[], str], names: Collection[str] = ()) -> None:
        self._app = app
        self._reference = reference
        self._page = PageGuard(self._served, names)
        self._files = _files()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._has(Request(scope)):
            await self._page(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _has(self, request: Request) -> bool:
        path = request.url.path
        if path == "/":
            return request.method == "GET" and "text/html" in request.headers.get("accept", "")
        return path in (PATH, DOCS) or path.startswith(f"{PATH}/")

    async def _served(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._answer(Request(scope))(scope, receive, send)

    def _answer(self, request: Request) -> Response:
        path = request.url.path
        if request.method not in ("GET", "HEAD"):
            return Response(status_code=405, headers={**HEADERS, "allow": "GET, HEAD"})
        if path == DOCS:
            return Response(self._reference(), headers={**HEADERS, "content-type": TYPES[".html"]})
        if path in ("/", PATH):
            # Relative: in front of it there may be a proxy that knows the page under a longer path.
            return RedirectResponse(f"{PATH.removeprefix('/')}/", headers=HEADERS)
        file = self._files.get(path.removeprefix(f"{PATH}/") or "index.html")
        if file is None:
            return Response("There is no such file of the console.\n", 404, HEADERS, "text/plain")
        if request.headers.get("if-none-match") == file["etag"]:
            return Response(status_code=304, headers={**HEADERS, "etag": file["etag"]})
        return Response(file["body"], headers={**HEADERS, "etag": file["etag"], "content-type": file["type"]})


def _files() -> Mapping[str, Mapping[str, str]]:
    """What is served, by name; every file is text."""
    found = {}
    for path in sorted(STATIC.iterdir()):
        body = path.read_text(encoding="utf-8")
        found[path.name] = {
            "body": body,
            "type": TYPES[path.suffix],
            "etag": f'"{hashlib.sha256(body.encode()).hexdigest()[:32]}"',
        }
    return found
