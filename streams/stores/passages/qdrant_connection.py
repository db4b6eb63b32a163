"""Calls to a Qdrant server over REST, on connections kept open; one that the server had closed costs no call.

Its own client makes and checks a model of every part of a question and of each hit, for two thirds of a search's time.
"""

import ssl
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import orjson

DEFAULT_PORT = 6333
CONNECTIONS = 16
# The server ends a connection that was silent for five seconds, also while a request is on its way.
IDLE_S = 2.0
GIVEN_UP = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, aiohttp.ClientPayloadError)

Json = Mapping[str, Any]


class QdrantRefusal(Exception):
    """The server answers with an error; `status` is HTTP's."""

    def __init__(self, status: int, said: bytes) -> None:
        super().__init__(f"{status} {said.decode(errors='replace'):.200}")
        self.status = status


class QdrantConnection:
    """The server at `url`; `timeout` in seconds for each call. Construct it in a running loop; no call is made yet."""

    def __init__(self, url: str, api_key: str | None, timeout: float) -> None:
        self.url = url
        self._base = base_of(url)
        self._proxy = proxy_of(url)
        # Compressed answers come in pieces, the next of which waits 40 ms for our system to confirm the last.
        headers = {"Accept-Encoding": "identity", "Content-Type": "application/json"}
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=CONNECTIONS, keepalive_timeout=IDLE_S, ssl=trusted_by(url)),
            timeout=aiohttp.ClientTimeout(total=max(1, round(timeout))),
            headers={**headers, "api-key": api_key} if api_key else headers,
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    async def result(self, method: str, path: str, body: Json | None = None) -> Any:
        """The result of a call, repeated once if the server had closed the connection: all our calls are idempotent.

        Raises `ConnectionError` when no Qdrant answers, and `QdrantRefusal`.
        """
        answer = await self.answer(method, path, body)
        if "result" not in answer:
            raise ConnectionError(f"{self.url}: it is no Qdrant that answers")
        return answer["result"]

    async def answer(self, method: str, path: str, body: Json | None = None) -> dict[str, Any]:
        """As `result`, the whole answer."""
        content = None if body is None else orjson.dumps(body)
        try:
            try:
                status, said = await self._ask(method, path, content)
            except GIVEN_UP as error:
                if isinstance(error, aiohttp.ClientConnectorError):
                    raise
                status, said = await self._ask(method, path, content)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise not_there(self.url, error) from error
        if not 200 <= status < 300:
            raise QdrantRefusal(status, said)
        try:
            found = orjson.loads(said)
        except orjson.JSONDecodeError as error:
            raise not_there(self.url, error) from error
        return found if isinstance(found, dict) else {}

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()

    async def _ask(self, method: str, path: str, content: bytes | None) -> tuple[int, bytes]:
        async with self._session.request(
            method, self._base + path, data=content, proxy=self._proxy, allow_redirects=False
        ) as response:
            return response.status, await response.read()


def not_there(url: str, error: object) -> ConnectionError:
    """The error of a server that does not answer; without words where the client has none, as when time is up."""
    return ConnectionError(f"{url}: {error!s:.200}" if str(error) else "")


def base_of(url: str) -> str:
    """The URL before a call's path; without a port it is Qdrant's own."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}:{parts.port or DEFAULT_PORT}{parts.path.rstrip('/')}"


def trusted_by(url: str) -> ssl.SSLContext | bool:
    """With TLS, the certificates that the system trusts, or those of `SSL_CERT_FILE`."""
    return ssl.create_default_context() if urlsplit(url).scheme == "https" else True


def proxy_of(url: str) -> str | None:
    """The proxy that the environment names for this server (`HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`)."""
    parts = urlsplit(url)
    if proxy_bypass(parts.hostname or ""):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")
