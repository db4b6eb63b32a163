"""`POST /ask`: a question to `messages.in`, and its pack of `context-packs.out` or the answer of `answers.out`.

A client of the topics like any other: the response body is the record's value, byte for byte, or the pack's text.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, ClassVar, Literal, get_args

from fastapi import APIRouter, Header, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from schemas import codec
from schemas.base import Conversation
from schemas.chat import AnswerGiven, AskPayload
from schemas.codec import Undecodable
from schemas.depth import RequestOptions
from schemas.envelope import Envelope
from schemas.packs import ContextPack
from schemas.topics import ANSWERS_OUT, CONTEXT_PACKS, MESSAGES_IN, Topic
from streams.edges.client.deep_answers import DeepReply
from streams.edges.client.records import OutgoingRecord
from streams.edges.http import deep, renditions
from streams.edges.http.deep import DEEP_QUERY
from streams.edges.http.identity import client_of, grant_of, user_of
from streams.edges.http.openapi import ASK_PROBLEMS, MARKDOWN_PACK, problems
from streams.edges.http.pending_replies import ExpectedReply
from streams.edges.http.problems import Problem
from streams.edges.http.request_reply import Exchange
from streams.edges.http.routes import LoggedRoute, Unsent
from streams.edges.http.sending import SOURCE, CallHeaders, CallSender, patience, wait_ms
from streams.telemetry import metrics

WAITS: Mapping[str, Topic] = {"pack": CONTEXT_PACKS, "answer": ANSWERS_OUT}
Tier = Literal["minimal", "standard", "deep"]
RESPONSE_HEADERS = {
    name: {"schema": {"type": "string"}} for name in ("X-Request-Id", "Fathom-Message-Id", "traceparent")
}
GONE = 499


class AskQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    wait: Literal["pack", "answer"] = Field(
        "pack", description="wait for the context pack, or for the answer that an assistant publishes"
    )
    deep: bool = DEEP_QUERY


class PackHeaders(CallHeaders):
    prefer: str | Unsent = Field(None, alias="Prefer", description="`wait=N`: for how many seconds to wait at most")
    tier: Tier | Unsent = Field(None, alias="Fathom-Tier", description="the most that may be retrieved")

    def decided(self) -> bytes:
        """What the caller decides, as a part of what an Idempotency-Key stands for; empty without any of it."""
        names = {"tier", *RequestOptions.model_fields}
        stated = self.model_dump_json(include=names, exclude_none=True, exclude_defaults=True)
        return b"" if stated == "{}" else stated.encode()


class AskHeaders(PackHeaders):
    min_depth: str | Unsent = Field(None, alias="Fathom-Min-Depth", description="D0 to D4: the pack's least level")
    max_depth: str | Unsent = Field(None, alias="Fathom-Max-Depth", description="D0 to D4: the pack's highest level")
    look_up: str | Unsent = Field(None, alias="Fathom-Look-Up", description="auto, always or never: search memory")
    max_tokens: str | Unsent = Field(None, alias="Fathom-Max-Tokens", description="in place of the level's budget")
    have: str | Unsent = Field(None, alias="Fathom-Have", description="ids of packs still held, with commas")
    template: str | Unsent = Field(None, alias="Fathom-Template", description="name of the template of the pack's text")

    wait_ms: str | Unsent = Field(None, alias="Fathom-Wait-Ms", description="the pack's deadline; default: by level")
    deep: str | Unsent = Field(None, alias="Fathom-Deep", description="true: an answer by cognition, too")

    def options(self) -> RequestOptions | None:
        """The options of the headers, None without any; raises `Problem`."""
        stated = {name: text for name in RequestOptions.model_fields if (text := getattr(self, name))}
        if (waits := wait_ms(self.prefer)) is not None:
            stated.setdefault("wait_ms", str(waits))
        try:
            return codec.options_of(stated) if stated else None
        except Undecodable as error:
            raise Problem(422, f"the options in the headers: {error.detail}") from None


class AskRoute(LoggedRoute):
    """Counts every response, refusals too."""

    sentences: ClassVar = {
        **LoggedRoute.sentences,
        "": "the query parameters are `wait`, which is `pack` or `answer`, and `deep`, which is `true`",
        "deep": "deep: is `true`, for the pack and the answer by cognition; leave it out for one of the two",
        "wait": "wait: is `pack` (the question's context) or `answer` (of the assistant)",
        "Fathom-Tier": f"the header Fathom-Tier is one of {', '.join(get_args(Tier))}",
    }

    def answered(self, request: Request, answer: Response, seconds: float) -> None:
        metrics.ASKED.labels(str(answer.status_code)).observe(seconds)
        super().answered(request, answer, seconds)


def ask_router(exchange: Exchange, seconds: float, deep_s: float) -> APIRouter:
    """The route; `seconds` is the longest wait for an answer, `deep_s` for one by cognition, too.

    A caller may name less (`Prefer: wait=N`).
    """
    router = APIRouter(route_class=AskRoute)
    router.add_api_route(
        "/ask",
        AskEndpoint(exchange, seconds, deep_s).ask,
        methods=["POST"],
        summary="Ask a question and wait for its context pack, or for its answer",
        response_model=ContextPack | AnswerGiven | DeepReply,
        response_description="the pack, or the answer, as on the topic, or with `deep=true` pack and deep answer; with "
        "`Accept: text/markdown` the text of the pack, or of the deep answer",
        responses={200: {"headers": RESPONSE_HEADERS, "content": MARKDOWN_PACK}, **problems(ASK_PROBLEMS)},
    )
    return router


class AskEndpoint:
    """Sends questions and waits for their answers, `seconds` at most, or `deep_s`."""

    def __init__(self, exchange: Exchange, seconds: float, deep_s: float) -> None:
        self._sender = CallSender(exchange)
        self._seconds = seconds
        self._deep_s = deep_s

    async def ask(
        self,
        request: Request,
        question: AskPayload,
        query: Annotated[AskQuery, Query()],
        headers: Annotated[AskHeaders, Header()],
    ) -> Response:
        """The question becomes a user turn of its conversation, on `messages.in`.

        The response is its pack, the record of `context-packs.out`. With `wait=answer` it is the record of
        `answers.out` that answers the question, which comes once an assistant has published its turn with `answers`
        set to the message's id. With `deep=true` cognition answers, too, and the response is the pack and that answer;
        409 says that cognition is off. The tenant is the token's.
        """
        if not question.question.strip():
            raise Problem(422, "question: there is no text in it")
        grant = grant_of(request)
        client_of(grant, question.client_id)
        user, value = user_of(grant, headers.user), codec.dump(question)
        if query.deep:
            headers = headers.model_copy(update={"deep": "true"})
        message_id = self._sender.keys.id_of(grant, user, "ask", headers.idempotency_key, value + headers.decided())
        envelope = _envelope(request, headers, message_id)
        conversation = Conversation(
            tenant=grant.tenant, client_id=question.client_id, conversation_id=question.conversation_id
        )
        key = conversation.key().encode()
        prepared = OutgoingRecord(MESSAGES_IN.name, key, value, codec.to_headers(envelope), message_id)
        named = {"fathom-message-id": message_id}
        if query.deep:
            reply = await deep.answered(request, self._sender, prepared, patience(headers.prefer, self._deep_s))
            return Response(status_code=GONE, headers=named) if reply is None else deep.response(request, reply, named)
        wanted = ExpectedReply.to(WAITS[query.wait].name, prepared)
        answer = await self._sender.answered(request, prepared, wanted, patience(headers.prefer, self._seconds))
        if answer is None:
            return Response(status_code=GONE, headers=named)
        if query.wait == "pack":
            return renditions.of_pack(request, answer, named)
        return Response(answer, headers=named, media_type="application/json")


def _envelope(request: Request, headers: AskHeaders, message_id: str) -> Envelope:
    """The envelope of a question, with the caller's options; raises `Problem`."""
    grant = grant_of(request)
    return Envelope(
        id=message_id,
        type=AskPayload.TYPE,
        source=SOURCE,
        time=datetime.now(UTC),
        tenant=grant.tenant,
        correlation_id=message_id,
        user_id=user_of(grant, headers.user),
        request_id=request.state.request_id,
        tier=headers.tier,
        traceparent=request.state.traceparent,
        tracestate=request.headers.get("tracestate"),
        options=headers.options(),
        user_bound=grant.user is not None,
    )
