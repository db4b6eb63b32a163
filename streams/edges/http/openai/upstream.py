"""The model's server, an OpenAI-compatible endpoint over HTTP: requests go there, answers come back as they are."""

import ssl
from collections.abc import Mapping
from urllib.parse import urlsplit

import httpx
from starlette.requests import Request

from streams.config import ConfigError, Settings, secret
from streams.edges.http.problems import Problem

CONNECT_S = 10.0
CONNECTIONS, IDLE_S = 1_000, 30.0
# Of the caller's headers, what the model's server may need; the rest may hold secrets of proxies in between.
PASSED = frozenset({"accept", "user-agent", "idempotency-key", "traceparent", "tracestate", "http-referer", "x-title"})
PASSED_BEGIN = ("openai-", "x-stainless-")
# Of the answer's headers, those of its connection; and ours, which only we set.
KEPT_BACK = frozenset(
    {"connection", "keep-alive", "transfer-encoding", "trailer", "upgrade", "content-length", "content-encoding",
     "proxy-authenticate", "proxy-connection", "set-cookie", "date", "server"}
)  # fmt: skip
# Clients of OpenAI repeat a 5xx otherwise.
FINAL = {"x_should_retry": "false"}


class Upstream:
    """The endpoint of the settings; `seconds` is how long it may be silent."""

    def __init__(self, settings: Settings) -> None:
        self._url = (settings.upstream_url or "").rstrip("/") or None
        self._key = secret("upstream_key_file", settings.upstream_key_file)
        self._seconds = settings.upstream_timeout_ms / 1000
        if self._url is None:
            return
        if urlsplit(self._url).scheme not in ("http", "https") or not urlsplit(self._url).hostname:
            raise ConfigError("FATHOM_UPSTREAM_URL: write https://HOST/v1, the model's server, without `/chat/…`")
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(self._seconds, connect=min(CONNECT_S, self._seconds)),
            limits=httpx.Limits(max_connections=CONNECTIONS, keepalive_expiry=IDLE_S),
            follow_redirects=False,
            trust_env=False,  # no proxies from the environment: only the settings name endpoints
            verify=ssl.create_default_context(),
        )

    async def close(self) -> None:
        """Close the connections."""
        if self._url is not None:
            await self._client.aclose()

    def check(self) -> None:
        """Raise `Problem` where the settings name no endpoint."""
        if self._url is None:
            raise Problem(501, "no model is behind this server; the operator names one in FATHOM_UPSTREAM_URL", **FINAL)

    async def send(self, request: Request, path: str, content: bytes | None = None) -> httpx.Response:
        """The answer to a request, its body still to be read and closed. Raises `Problem` where there is none."""
        self.check()
        prepared = self._client.build_request(
            request.method,
            f"{self._url}{path}",
            params=request.url.query or None,
            headers=self._headers(request.headers),
            content=content,
        )
        try:
            return await self._client.send(prepared, stream=True)
        except (httpx.HTTPError, OSError) as error:
            raise self.no_answer(error) from None

    async def read(self, response: httpx.Response) -> bytes:
        """The whole body; raises `Problem` where it is cut."""
        try:
            return await response.aread()
        except (httpx.HTTPError, OSError) as error:
            raise self.no_answer(error) from None
        finally:
            await response.aclose()

    def no_answer(self, error: Exception) -> Problem:
        """The refusal of a call that the model's server did not answer, or not to its end."""
        if isinstance(error, httpx.TimeoutException):
            return Problem(504, f"the model's server was silent for {self._seconds:g} s; ask again, or a faster model")
        # Named, not quoted: the text of an error may hold the address.
        if isinstance(error, httpx.ConnectError):
            return Problem(502, "the model's server cannot be reached; start it, or correct FATHOM_UPSTREAM_URL")
        return Problem(502, f"the model's server gave no whole answer ({type(error).__name__}); ask again")

    def _headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        passed = {name: text for name, text in headers.items() if name in PASSED or name.startswith(PASSED_BEGIN)}
        # Compressed, an answer could not be read on its way.
        made = {**passed, "content-type": "application/json", "accept-encoding": "identity"}
        own = {name: headers[name] for name in ("authorization", "api-key") if name in headers}
        if "fathom-token" in headers and own:
            return {**made, **own}
        return {**made, "authorization": f"Bearer {self._key}"} if self._key else made


def passed_on(response: httpx.Response) -> dict[str, str]:
    """The headers of an answer that its caller gets."""
    response.headers.encoding = "latin-1"  # that of the response they go into
    return {
        name: text
        for name, text in response.headers.items()
        if name not in KEPT_BACK and not name.startswith("fathom-")
    }
