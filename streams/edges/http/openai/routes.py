"""`/v1`: a model's OpenAI-compatible interface in which every chat has Fathom's context and memory.

POST /v1/chat/completions   the request with its pack's text, streamed or not
POST /v1/responses          the same, in the other form of the interface
GET  /v1/models             as the model's server says
"""

import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import NamedTuple
from urllib.parse import quote, unquote

import httpx
from fastapi import APIRouter
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from streams import policies
from streams.config import Settings
from streams.edges.http.ask import GONE
from streams.edges.http.gate import GRANT
from streams.edges.http.openai.answer import Decide, SpokenAnswer, settled
from streams.edges.http.openai.answer_stream import StreamedAnswer, events
from streams.edges.http.openai.caller import ChatTurns, ModelRequest
from streams.edges.http.openai.chat_request import DECISIONS, chat_of
from streams.edges.http.openai.context import ContextSource, GivenContext
from streams.edges.http.openai.filing import AnswerFiling
from streams.edges.http.openai.responses_answer import StreamedResponse, settled_response
from streams.edges.http.openai.responses_request import responses_of
from streams.edges.http.openai.tool_calls import PolicedTools
from streams.edges.http.openai.upstream import Upstream, passed_on
from streams.edges.http.problems import Problem
from streams.edges.http.relay import RelayedResponse, unless_gone
from streams.edges.http.request_reply import Exchange
from streams.edges.http.routes import LoggedRoute
from streams.edges.http.tracing import trace_id_of
from streams.telemetry import metrics

LOG = logging.getLogger("fathom.ask")
EVENTS = "text/event-stream"
# Of a model's name, between slashes.
SEGMENT = re.compile(r"[\w.:@+,=~-]{1,256}")


class ChatRoute(LoggedRoute):
    """Logs what a chat got; the id that the model's server gave its answer stays."""

    def answered(self, request: Request, answer: Response, seconds: float) -> None:
        state = request.state
        answer.headers.setdefault("x-request-id", state.request_id)
        metrics.log(
            LOG, logging.INFO, "chat", status=answer.status_code, tenant=request.scope[GRANT].tenant,
            message_id=answer.headers.get("fathom-message-id"), context=answer.headers.get("fathom-status"),
            request_id=state.request_id, trace_id=trace_id_of(state.traceparent), duration_s=round(seconds, 4),
        )  # fmt: skip


def openai_router(settings: Settings, exchange: Exchange) -> APIRouter:
    """The routes; raises `ConfigError` for settings that cannot work."""
    upstream, filing = Upstream(settings), AnswerFiling(exchange)

    @asynccontextmanager
    async def lifespan(_: object) -> AsyncIterator[None]:
        yield
        await upstream.close()

    seconds = settings.upstream_wait_ms / 1000
    # The shipped sample has common names: `send_email` of somebody else's chat is another tool.
    tools = policies.tool_policy(settings.tool_policy).tools if settings.upstream_url and settings.tool_policy else ()
    policed = PolicedTools(frozenset(tools), exchange, seconds)
    turns = ChatTurns(settings.upstream_user_header, wait_ms=settings.upstream_wait_ms)
    front = ChatFront(upstream, ContextSource(exchange, seconds), policed, filing, turns)

    class Route(ChatRoute):
        max_bytes = settings.upstream_max_bytes
        max_bytes_setting = "upstream_max_bytes"

    # OpenAI describes this interface; this server's own document has its own routes.
    router = APIRouter(prefix="/v1", route_class=Route, lifespan=lifespan, include_in_schema=False)
    router.add_api_route("/chat/completions", front.complete, methods=["POST"])
    router.add_api_route("/responses", front.respond, methods=["POST"])
    router.add_api_route("/models", front.models, methods=["GET"])
    router.add_api_route("/models/{model:path}", front.model, methods=["GET"])
    return router


class _Form(NamedTuple):
    """A form of the interface: its path, and how its requests and its answers are read."""

    path: str
    read: Callable[[object], ModelRequest | None]
    settled: Callable[[bytes, PolicedTools, Decide], Awaitable[tuple[bytes, SpokenAnswer]]]
    streamed: Callable[[PolicedTools, Decide], StreamedAnswer | StreamedResponse]


CHAT = _Form("/chat/completions", chat_of, settled, StreamedAnswer)
RESPONSES = _Form("/responses", responses_of, settled_response, StreamedResponse)


class ChatFront:
    """Gives requests their context on the way to the model, and files what comes back."""

    def __init__(
        self,
        upstream: Upstream,
        contexts: ContextSource,
        policed: PolicedTools,
        filing: AnswerFiling,
        turns: ChatTurns,
    ) -> None:
        self._upstream = upstream
        self._contexts = contexts
        self._policed = policed
        self._filing = filing
        self._turns = turns

    async def models(self, request: Request) -> Response:
        """The models of the model's server."""
        return await self._passed(request, "/models")

    async def model(self, request: Request) -> Response:
        """One of them; raises `Problem` (404) for what can be the name of none."""
        # As it was sent: in `path` an encoded slash is one like those between segments.
        sent = request.scope["raw_path"].decode("ascii").partition("/v1/models/")[2]
        name = unquote(sent)
        if "/" in sent or not all(SEGMENT.fullmatch(each) and each.strip(".") for each in name.split("/")):
            raise Problem(404, "there is no such model; GET /v1/models lists them, a `/` in a name is sent as %2F")
        # With the operator's key: only as one segment can a name reach nothing but the models.
        return await self._passed(request, f"/models/{quote(name, safe='')}")

    async def _passed(self, request: Request, path: str) -> Response:
        response = await self._upstream.send(request, path)
        return Response(await self._upstream.read(response), response.status_code, passed_on(response))

    async def complete(self, request: Request) -> Response:
        """A chat completion; a request that cannot have context goes to the model as it is."""
        return await self._answer(request, CHAT)

    async def respond(self, request: Request) -> Response:
        """A response; a request that cannot have context goes to the model as it is."""
        return await self._answer(request, RESPONSES)

    async def _answer(self, request: Request, form: _Form) -> Response:
        body, document = await request.body(), await request.json()
        answer = await unless_gone(request, self._answered(request, form, body, document))
        return Response(status_code=GONE) if answer is None else answer

    async def _answered(self, request: Request, form: _Form, body: bytes, document: object) -> Response:
        self._upstream.check()
        chat = form.read(document)
        given = GivenContext(reason="no-user-message")
        if chat is not None:
            given = await self._contexts.of(self._turns.of(request, chat))
        ours = given.text or DECISIONS.encode() in body
        content = chat.with_context(given.text) if chat is not None and ours else body
        try:
            response = await self._upstream.send(request, form.path, content)
            kind = response.headers.get("content-type", "").partition(";")[0]
            if response.is_success and kind == EVENTS:
                return self._relayed(response, form, given)
            whole = await self._upstream.read(response)
        except HTTPException as error:
            error.headers = {**(error.headers or {}), **given.headers()}
            raise
        filing = None
        if response.is_success:
            whole, spoken = await form.settled(whole, self._policed, partial(self._policed.decide, given=given))
            self._note(given, spoken)
            filing = BackgroundTask(self._filing.file, given, spoken)
        return Response(whole, response.status_code, {**passed_on(response), **given.headers()}, background=filing)

    def _note(self, given: GivenContext, spoken: SpokenAnswer) -> None:
        """What goes on from a response belongs to the conversation of its question."""
        if given.turn is not None and spoken.response_id is not None:
            self._turns.answered_by(given.turn, spoken.response_id)

    def _relayed(self, response: httpx.Response, form: _Form, given: GivenContext) -> Response:
        answer = form.streamed(self._policed, partial(self._policed.decide, given=given))

        async def parts() -> AsyncIterator[bytes]:
            try:
                async for event in events(response.aiter_bytes()):
                    made = await answer.take(event)
                    self._note(given, answer.spoken)
                    yield made
            except (httpx.HTTPError, OSError) as error:
                cut = self._upstream.no_answer(error)
                yield answer.broken(cut.status_code, cut.detail)

        async def ended() -> None:
            await response.aclose()
            await self._filing.file(given, answer.spoken)

        headers = {**passed_on(response), **given.headers()}
        return RelayedResponse(response.status_code, headers, parts(), ended)
