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
from typing import Any, Protocol
from uuid import uuid4

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from schemas import codec
from schemas.base import Conversation, derive
from schemas.chat import AskPayload
from schemas.envelope import Envelope
from schemas.topics import ANSWERS_OUT, CONTEXT_PACKS, MESSAGES_IN, Topic
from streams.edges.client.arguments import wrong
from streams.edges.client.records import OutgoingRecord
from streams.edges.client.send import SentRecord
from streams.edges.http import bodies
from streams.edges.http.gate import GRANT
from streams.edges.http.pending_replies import ExpectedReply, TooMany
from streams.edges.http.problems import Problem
from streams.edges.http.request_reply import NotReachable
from streams.edges.http.tokens import Grant
from streams.edges.http.tracing import trace_id_of, traceparent_of
from streams.telemetry import metrics

LOG = logging.getLogger("fathom.ask")
SOURCE = "urn:fathom:ask"
WAITS: Mapping[str, Topic] = {"answer": ANSWERS_OUT, "pack": CONTEXT_PACKS}
TIERS = ("minimal", "standard", "deep")
LONGEST_ID = 200
VISIBLE = re.compile(r"[\x21-\x7e]+")
PREFERRED_WAIT = re.compile(r"(?:^|[,;\s])wait\s*=\s*\"?(\d{1,6})\"?(?=$|[,;\s])", re.IGNORECASE)
MAX_CACHED = 10_000
GONE = 499


class ReplySource(Protocol):
    """Sends a message and gives a future of its answer."""

    async def ask(
        self, prepared: OutgoingRecord, wanted: ExpectedReply
    ) -> tuple[SentRecord | None, "asyncio.Future[bytes]"]:
        """Raises `NotReachable`, and `TooMany`."""


class AskEndpoint:
    """The route; `seconds` is the longest wait for an answer, a caller may name less (`Prefer: wait=N`)."""

    def __init__(self, exchange: ReplySource, seconds: float) -> None:
        self._exchange = exchange
        self._seconds = seconds
        self._keys: OrderedDict[tuple[Grant, str], str] = OrderedDict()

    async def handle(self, request: Request) -> Response:
        """The answer, or problem details; logged and counted either way."""
        began = time.monotonic()
        request_id = str(uuid4())
        traceparent = traceparent_of(None, request.headers)
        try:
            request_id = _id(request, "x-request-id") or request_id
            answer = await self._answered(request, request_id, traceparent)
        except Problem as problem:
            answer = problem.response()
        answer.headers["x-request-id"] = request_id
        seconds = time.monotonic() - began
        metrics.ASKED.labels(str(answer.status_code)).observe(seconds)
        metrics.log(
            LOG, logging.INFO, "ask", status=answer.status_code, tenant=request.scope[GRANT].tenant,
            message_id=answer.headers.get("fathom-message-id"), request_id=request_id,
            trace_id=trace_id_of(traceparent), duration_s=round(seconds, 4),
        )  # fmt: skip
        return answer

    async def _answered(self, request: Request, request_id: str, traceparent: str) -> Response:
        topic, seconds, tier = _wish(request), self._patience(request), _tier(request)
        question = _question(await bodies.json_of(request))
        grant: Grant = request.scope[GRANT]
        if grant.client not in (None, question.client_id):
            raise Problem(403, "this token is for another client_id; send the one it was made for")
        message_id = self._message_id(grant, question, _id(request, "idempotency-key"))
        asked = datetime.now(UTC)
        envelope = Envelope(
            id=message_id,
            type=AskPayload.TYPE,
            source=SOURCE,
            time=asked,
            tenant=grant.tenant,
            correlation_id=message_id,
            user_id=grant.user,
            request_id=request_id,
            tier=tier,
            traceparent=traceparent,
            tracestate=request.headers.get("tracestate"),
        )
        conversation = Conversation(
            tenant=grant.tenant, client_id=question.client_id, conversation_id=question.conversation_id
        )
        key = conversation.key().encode()
        prepared = OutgoingRecord(MESSAGES_IN.name, key, codec.dump(question), codec.to_headers(envelope), message_id)
        value = await self._exchanged(request, prepared, ExpectedReply(topic.name, key, message_id), seconds)
        headers = {"fathom-message-id": message_id, "traceparent": traceparent}
        if value is None:
            return Response(status_code=GONE, headers=headers)
        return Response(value, headers=headers, media_type="application/json")

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

    def _patience(self, request: Request) -> float:
        preferred = PREFERRED_WAIT.search(request.headers.get("prefer", ""))
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


def _question(body: object) -> AskPayload:
    """The question of a body; raises `Problem` 422 with the name of the wrong field."""
    try:
        question = AskPayload.model_validate(body, strict=True, extra="forbid")
    except ValidationError as error:
        raise Problem(422, wrong(error, AskPayload, "field")) from None
    if not question.question.strip():
        raise Problem(422, "question: there is no text in it")
    return question


def _wish(request: Request) -> Topic:
    for name in request.query_params:
        if name != "wait":
            raise Problem(422, "the only query parameter is `wait`, which is `answer` or `pack`")
    wish = request.query_params.get("wait", "answer")
    if wish not in WAITS:
        raise Problem(422, "wait: is `answer` (of the assistant) or `pack` (its context)")
    return WAITS[wish]


def _tier(request: Request) -> str | None:
    tier = request.headers.get("fathom-tier")
    if tier not in (None, *TIERS):
        raise Problem(422, f"the header Fathom-Tier is one of {', '.join(TIERS)}")
    return tier


def _id(request: Request, header: str) -> str | None:
    """The id in a header, if any; raises `Problem`."""
    stated = request.headers.get(header)
    if stated is None:
        return None
    if len(stated) > LONGEST_ID or not VISIBLE.fullmatch(stated):
        raise Problem(422, f"the header {header} is 1 to {LONGEST_ID} visible ASCII characters")
    return stated


def _late(sent: SentRecord | None, wanted: ExpectedReply, seconds: float) -> str:
    again = "ask again with the same Idempotency-Key: it is not asked twice, and its answer is waited for"
    if sent is None:
        return f"the broker did not say within {seconds:g} s whether it has the question; {again}"
    return (
        f"the question is at {sent.topic}[{sent.partition}]@{sent.offset}, but nothing came on {wanted.topic} within "
        f"{seconds:g} s; {again}"
    )
