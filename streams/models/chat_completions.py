"""A language model behind an OpenAI-compatible endpoint (`POST …/chat/completions`), over HTTP.

Every failure is `Unavailable` in words of ours: the endpoint's own may hold the prompt or the key.

On httpx, not on the `openai` package (3.54): that takes a second to import and six times the processor time of a call,
and a bounded answer, no proxy variables and no key from the environment would need the same code beside it.
"""

import asyncio
import ssl
from collections.abc import Mapping
from copy import copy

import httpx
import orjson

from agents.errors import Unavailable
from schemas.assessment import ModelTier
from streams.stores.guard import is_closed_transport

WHAT = "model"
# An upper limit: callers have shorter deadlines of their own.
TIMEOUT_S = 30.0
CONNECT_S = 2.0
MAX_BYTES = 262_144
CONNECTIONS, IDLE_S = 32, 30.0
REFUSED = frozenset((401, 403))


class ChatCompletions:
    """The models of one endpoint, by tier. Connections are kept alive; redirects are not followed.

    `transport` replaces the network in tests.
    """

    def __init__(
        self,
        url: str,
        models: Mapping[ModelTier, str],
        *,
        key: str | None = None,
        timeout: float = TIMEOUT_S,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._url = f"{url.rstrip('/')}/chat/completions"
        self._models = models
        self._timeout = timeout
        # A small compressed answer could unpack to any size.
        headers = {"Accept-Encoding": "identity", "Content-Type": "application/json"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        self._client = httpx.AsyncClient(
            headers=headers,
            timeout=httpx.Timeout(timeout, connect=min(CONNECT_S, timeout)),
            limits=httpx.Limits(
                max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS, keepalive_expiry=IDLE_S
            ),
            follow_redirects=False,
            trust_env=False,  # no proxies from the environment: only the settings name endpoints
            verify=ssl.create_default_context(),
            transport=transport,
        )

    async def complete(self, prompt: str, *, tier: ModelTier, max_tokens: int, temperature: float) -> str:
        """The text of the first choice; reads at most 256 kB of response. Raises `Unavailable`."""
        body = {
            "model": self._models[tier],
            "messages": [{"role": "user", "content": prompt}],
            "max_tokens": max_tokens,
            "temperature": temperature,
        }
        try:
            async with asyncio.timeout(self._timeout):
                return _text(await self._posted(orjson.dumps(body)))
        except TimeoutError:
            raise Unavailable(WHAT, f"no answer in {self._timeout:g} s") from None
        except (httpx.HTTPError, httpx.StreamError, OSError, orjson.JSONEncodeError) as error:
            # Named, not quoted: an error may quote the prompt.
            raise Unavailable(WHAT, type(error).__name__) from None
        except RuntimeError as error:
            if not is_closed_transport(error):
                raise
            raise Unavailable(WHAT, "the connection is closed") from None

    def named(self, model: str) -> "ChatCompletions":
        """The same endpoint and connections with one model for every tier."""
        other = copy(self)
        other._models = dict.fromkeys(self._models, model)
        return other

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def _posted(self, body: bytes) -> bytes:
        async with self._client.stream("POST", self._url, content=body) as response:
            if response.status_code in REFUSED:
                raise Unavailable(WHAT, f"{response.status_code}: it does not take the key of FATHOM_LLM_API_KEY_FILE")
            if response.status_code != httpx.codes.OK:
                raise Unavailable(WHAT, f"it answers {response.status_code}")
            found = bytearray()
            async for chunk in response.aiter_raw():
                found += chunk
                if len(found) > MAX_BYTES:
                    raise Unavailable(WHAT, f"an answer of more than {MAX_BYTES:,} bytes")
            return bytes(found)


def _text(raw: bytes) -> str:
    try:
        content: object = orjson.loads(raw)["choices"][0]["message"]["content"]
    except (ValueError, LookupError, TypeError):
        content = None
    if not isinstance(content, str):
        raise Unavailable(WHAT, "its answer has no text at choices[0].message.content")
    return content
