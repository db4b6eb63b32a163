"""A scripted OpenAI-compatible server at a socket, and Fathom's `/v1` before it."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import httpx
from openai import AsyncOpenAI
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from streams.edges.client.records import OutgoingRecord
from streams.edges.http.pending_replies import ExpectedReply
from tests.builders.http_server import TOKEN, Echo, at_a_socket, listening, settings_of

T = TypeVar("T")
Packed = Callable[[OutgoingRecord, ExpectedReply], bytes | Exception | None]
PACK_TEXT = "## What is known\n- The deadline is day 20."
USER = {"role": "user", "content": "When is the deadline?"}
KEY = "sk-the-operators-own-key"


def packed(prepared: OutgoingRecord, wanted: ExpectedReply, text: str = PACK_TEXT) -> bytes:
    """The pack of a question."""
    pack = {"pack_id": f"pack-of-{wanted.message_id}", "depth_level": "D2", "total_tokens_estimated": 42, "text": text}
    return json.dumps({**pack, "message_id": wanted.message_id, "revision": 1}).encode()


def chunk(number: int = 0, finish: str | None = None, **delta: Any) -> bytes:
    choice = {"index": number, "delta": delta, "finish_reason": finish}
    said = {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(said).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"


def spoken(*words: str) -> list[bytes]:
    """A whole stream that says these words."""
    return [chunk(role="assistant", content=""), *(chunk(content=word) for word in words), chunk(finish="stop"), DONE]


def completion(message: Mapping[str, Any], finish: str = "stop") -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish, "logprobs": None}
    return {"id": "c-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


@dataclass
class ScriptedModel:
    """Says the next of `says`, or the last again: JSON, a status with JSON and headers, or pieces of a stream.

    Of a stream, a number is a pause in seconds and None a connection that breaks.
    """

    says: list[Any]
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    left: int = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        body = await request.body()
        self.asked.append(
            json.loads(body)
            if body
            else {"path": request.url.path, "raw": scope["raw_path"].decode(), "query": request.url.query}
        )
        self.headers.append(dict(request.headers))
        said = self.says.pop(0) if len(self.says) > 1 else self.says[0]
        said = said(self.asked[-1]) if callable(said) else said
        if isinstance(said, list):
            await self._stream(said, receive, send)
        else:
            status, content, headers = said if isinstance(said, tuple) else (200, said, {})
            raw = content if isinstance(content, bytes) else json.dumps(content).encode()
            kind = {"content-type": "application/json", "x-request-id": "req-upstream"}
            await Response(raw, status, {**kind, **headers})(scope, receive, send)

    async def _stream(self, pieces: list[Any], receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"x-request-id", b"req-upstream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        gone = asyncio.ensure_future(receive())
        for piece in pieces:
            if piece is None:
                raise ConnectionError
            if isinstance(piece, bytes):
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            elif (await asyncio.wait([gone], timeout=piece))[0]:
                self.left += 1
                return
        gone.cancel()
        await send({"type": "http.response.body", "body": b""})


@dataclass(frozen=True)
class Front:
    """What a story gets: HTTP, the official client, the model behind, what was sent to the topics."""

    http: httpx.AsyncClient
    model: ScriptedModel
    exchange: Echo
    base_url: str
    clients: list[AsyncOpenAI] = field(default_factory=list)

    def client(self, key: str = TOKEN, **options: Any) -> AsyncOpenAI:
        self.clients.append(AsyncOpenAI(base_url=self.base_url, api_key=key, **{"max_retries": 0, **options}))
        return self.clients[-1]

    async def complete(self, *messages: Mapping[str, Any], **options: Any) -> httpx.Response:
        headers = options.pop("headers", {})
        body = {"model": "m", "messages": list(messages or [USER]), **options}
        return await self.http.post("/v1/chat/completions", json=body, headers=headers)

    def turns(self) -> list[dict[str, Any]]:
        """The values of all records to messages.in, in their order, of the users first."""
        asked = [record for record, _ in self.exchange.asked]
        return [json.loads(r.value) for r in (*asked, *self.exchange.sent) if r.topic == "messages.in"]


def fronted(
    tmp_path: Path,
    says: list[Any] | None,
    story: Callable[[Front], Awaitable[T]],
    *,
    reply: Packed = packed,
    **settings: str,
) -> T:
    """What a story gets of a front; `says` None is a model whose server refuses connections."""
    (tmp_path / "key").write_text(KEY)

    async def whole() -> T:
        model = ScriptedModel(says or [])
        async with listening(model) as address:
            url = f"{address}/v1" if says is not None else "http://127.0.0.1:1/v1"
            named = {"FATHOM_UPSTREAM_URL": url, "FATHOM_UPSTREAM_KEY_FILE": str(tmp_path / "key"), **settings}
            exchange = Echo(reply)
            stated = {name: value for name, value in named.items() if value}
            async with at_a_socket(settings_of(tmp_path / "tokens.json", **stated), exchange) as http:
                front = Front(http, model, exchange, f"{http.base_url}/v1")
                try:
                    return await story(front)
                finally:
                    for client in front.clients:
                        await client.close()

    return asyncio.run(whole())
