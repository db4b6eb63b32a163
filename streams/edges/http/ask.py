"""`POST /ask`: a question to `messages.in`, and the answer of `answers.out` or the pack of `context-packs.out`.

A client of the topics like any other: the response body is the record's value, byte for byte.
"""

import asyncio
import logging
import re
import time
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Literal, get_args
from uuid import uuid4

from fastapi import APIRouter, Header, Query
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from schemas import codec
from schemas.answers import AnswerGiven
from schemas.base import Conversation, derive
from schemas.chat import AskPayload
from schemas.codec import Undecodable
from schemas.depth import RequestOptions
from schemas.envelope import Envelope
from schemas.packs import ContextPack
from schemas.topics import ANSWERS_OUT, CONTEXT_PACKS, MESSAGES_IN, Topic
from streams.edges.client.records import OutgoingRecord
from streams.edges.client.send import SentRecord
from streams.edges.http.gate import GRANT
from streams.edges.http.openapi import ASK_PROBLEMS, problems
from streams.edges.http.pending_replies import ExpectedReply, TooMany
from streams.edges.http.problems import Problem
from streams.edges.http.request_reply import Exchange, NotReachable
from streams.edges.http.routes import BoundedRoute, Handler, refusal
from streams.edges.http.tokens import Grant
from streams.edges.http.tracing import trace_id_of, traceparent_of
from streams.telemetry import metrics

LOG = logging.getLogger("fathom.ask")
SOURCE = "urn:fathom:ask"
WAITS: Mapping[str, Topic] = {"answer": ANSWERS_OUT, "pack": CONTEXT_PACKS}
Tier = Literal["minimal", "standard", "deep"]
LONGEST_ID = 200
VISIBLE = r"^[\x21-\x7e]+$"
RESPONSE_HEADERS = {
    name: {"schema": {"type": "string"}} for name in ("X-Request-Id", "Fathom-Message-Id", "traceparent")
}
PREFERRED_WAIT = re.compile(r"(?:^|[,;\s])wait\s*=\s*\"?(\d{1,6})\"?(?=$|[,;\s])", re.IGNORECASE)
MAX_CACHED = 10_000
GONE = 499


class AskQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    wait: Literal["answer", "pack"] = Field("answer", description="what to wait for")


VisibleId = Annotated[str, Field(min_length=1, max_length=LONGEST_ID, pattern=VISIBLE)]
# A header is not sent, rather than null.
Unsent = SkipJsonSchema[None]


class AskHeaders(BaseModel):
    idempotency_key: VisibleId | Unsent = Field(
        None, alias="Idempotency-Key", description="the same question with the same key is asked once"
    )
    request_id: VisibleId | Unsent = Field(
        None, alias="X-Request-Id", description="names the request in logs and in the turn"
    )
    prefer: str | Unsent = Field(None, alias="Prefer", description="`wait=N`: for how many seconds to wait at most")
    tier: Tier | Unsent = Field(None, alias="Fathom-Tier", description="the most that may be retrieved")
    min_depth: str | Unsent = Field(None, alias="Fathom-Min-Depth", description="D0 to D4: the pack's least level")
    max_depth: str | Unsent = Field(None, alias="Fathom-Max-Depth", description="D0 to D4: the pack's highest level")
    look_up: str | Unsent = Field(None, alias="Fathom-Look-Up", description="auto, always or never: search memory")
    max_tokens: str | Unsent = Field(None, alias="Fathom-Max-Tokens", description="in place of the level's budget")
    have: str | Unsent = Field(None, alias="Fathom-Have", description="ids of packs still held, with commas")
    template: str | Unsent = Field(None, alias="Fathom-Template", description="name of the template of the pack's text")
    traceparent: str | Unsent = Field(None, description="W3C trace context")

    def options(self) -> RequestOptions | None:
        """The options of the headers, None without any; raises `Problem`."""
        stated = {name: text for name in RequestOptions.model_fields if (text := getattr(self, name))}
        try:
            return codec.options_of(stated) if stated else None
        except Undecodable as error:
            raise Problem(422, f"the options in the headers: {error.detail}") from None


class AskRoute(BoundedRoute):
    """Names, counts and logs every response, refusals too."""

    sentences: ClassVar = {
        "": "the only query parameter is `wait`, which is `answer` or `pack`",
        "wait": "wait: is `answer` (of the assistant) or `pack` (its context)",
        "X-Request-Id": f"the header x-request-id is 1 to {LONGEST_ID} visible ASCII characters",
        "Idempotency-Key": f"the header idempotency-key is 1 to {LONGEST_ID} visible ASCII characters",
        "Fathom-Tier": f"the header Fathom-Tier is one of {', '.join(get_args(Tier))}",
    }

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()

        async def logged(request: Request) -> Response:
            began = time.monotonic()
            state = request.state
            stated = request.headers.get("x-request-id", "")
            state.request_id = stated if len(stated) <= LONGEST_ID and re.fullmatch(VISIBLE, stated) else str(uuid4())
            state.traceparent = traceparent_of(None, request.headers)
            try:
                answer = await handle(request)
            except (HTTPException, RequestValidationError) as error:
                answer = await refusal(request, error)
            answer.headers["x-request-id"] = state.request_id
            seconds = time.monotonic() - began
            metrics.ASKED.labels(str(answer.status_code)).observe(seconds)
            metrics.log(
                LOG, logging.INFO, "ask", status=answer.status_code, tenant=request.scope[GRANT].tenant,
                message_id=answer.headers.get("fathom-message-id"), request_id=state.request_id,
                trace_id=trace_id_of(state.traceparent), duration_s=round(seconds, 4),
            )  # fmt: skip
            return answer

        return logged


def ask_router(exchange: Exchange, seconds: float) -> APIRouter:
    """The route; `seconds` is the longest wait for an answer, a caller may name less (`Prefer: wait=N`)."""
    router = APIRouter(route_class=AskRoute)
    router.add_api_route(
        "/ask",
        AskEndpoint(exchange, seconds).ask,
        methods=["POST"],
        summary="Ask a question and wait for its answer, or for its context pack",
        response_model=AnswerGiven | ContextPack,
        response_description="the answer, or the pack, as on the topic",
        responses={200: {"headers": RESPONSE_HEADERS}, **problems(ASK_PROBLEMS)},
    )
    return router


class AskEndpoint:
    """Sends questions and waits for their answers, `seconds` at most."""

    def __init__(self, exchange: Exchange, seconds: float) -> None:
        self._exchange = exchange
        self._seconds = seconds
        self._keys: OrderedDict[tuple[Grant, str], str] = OrderedDict()

    async def ask(
        self,
        request: Request,
        question: AskPayload,
        query: Annotated[AskQuery, Query()],
        headers: Annotated[AskHeaders, Header()],
    ) -> Response:
        """The question becomes a user turn of its conversation, on `messages.in`.

        With `wait=answer` the response is the record of `answers.out` that answers it, which comes once an assistant
        has published its turn with `answers` set to the message's id; with `wait=pack` it is the record of
        `context-packs.out`. The tenant is the token's.
        """
        if not question.question.strip():
            raise Problem(422, "question: there is no text in it")
        grant: Grant = request.scope[GRANT]
        if grant.client not in (None, question.client_id):
            raise Problem(403, "this token is for another client_id; send the one it was made for")
        message_id = self._message_id(grant, question, headers.idempotency_key)
        traceparent = request.state.traceparent
        envelope = Envelope(
            id=message_id,
            type=AskPayload.TYPE,
            source=SOURCE,
            time=datetime.now(UTC),
            tenant=grant.tenant,
            correlation_id=message_id,
            user_id=grant.user,
            request_id=request.state.request_id,
            tier=headers.tier,
            traceparent=traceparent,
            tracestate=request.headers.get("tracestate"),
            options=headers.options(),
        )
        conversation = Conversation(
            tenant=grant.tenant, client_id=question.client_id, conversation_id=question.conversation_id
        )
        key = conversation.key().encode()
        prepared = OutgoingRecord(MESSAGES_IN.name, key, codec.dump(question), codec.to_headers(envelope), message_id)
        wanted = ExpectedReply(WAITS[query.wait].name, key, message_id)
        value = await self._exchanged(request, prepared, wanted, self._patience(headers.prefer))
        named = {"fathom-message-id": message_id, "traceparent": traceparent}
        if value is None:
            return Response(status_code=GONE, headers=named)
        return Response(value, headers=named, media_type="application/json")

    async def _exchanged(
        self, request: Request, prepared: OutgoingRecord, wanted: ExpectedReply, seconds: float
    ) -> bytes | None:
        """The answer; None when the caller has disconnected. Raises `Problem`."""
        named = {"fathom_message_id": prepared.name}
        sent: SentRecord | None = None
        # The body has been read: the next message of the connection is its end.
        gone = asyncio.ensure_future(request.receive())
        try:
            async with asyncio.timeout(seconds):
                sent, answer = await self._exchange.ask(prepared, wanted)
                try:
                    either: set[asyncio.Future[Any]] = {answer, gone}
                    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
                    return answer.result() if answer.done() else None
                finally:
                    answer.cancel()
        except TooMany:
            raise Problem(429, "too many questions wait for their answers; try again in 1 s", retry_after="1") from None
        except NotReachable as error:
            raise Problem(503, str(error), retry_after="1", **named) from None
        except TimeoutError:
            raise Problem(504, _late(sent, wanted, seconds), **named) from None
        finally:
            gone.cancel()
            with suppress(asyncio.CancelledError):
                await gone

    def _patience(self, prefer: str | None) -> float:
        preferred = PREFERRED_WAIT.search(prefer or "")
        return min(float(preferred[1]), self._seconds) if preferred else self._seconds

    def _message_id(self, grant: Grant, question: AskPayload, key: str | None) -> str:
        """A random id, or one derived from caller, key and question, so that a repeated request is one message."""
        if key is None:
            return str(uuid4())
        whose = (grant.tenant, grant.client or "", grant.user or "")
        made = derive("ask", *whose, key, codec.dump(question).decode())
        if self._keys.setdefault((grant, key), made) != made:
            raise Problem(422, "this Idempotency-Key was used for another question; make a new one for each question")
        if len(self._keys) > MAX_CACHED:
            self._keys.popitem(last=False)
        return made


def _late(sent: SentRecord | None, wanted: ExpectedReply, seconds: float) -> str:
    again = "ask again with the same Idempotency-Key: it is not asked twice, and its answer is waited for"
    if sent is None:
        return f"the broker did not say within {seconds:g} s whether it has the question; {again}"
    return (
        f"the question is at {sent.topic}[{sent.partition}]@{sent.offset}, but nothing came on {wanted.topic} within "
        f"{seconds:g} s; {again}"
    )
