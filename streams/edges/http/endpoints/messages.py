"""`POST /messages`: a turn of a conversation, of any role; an assistant's answer closes the loop with `answers`."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from fastapi import APIRouter, Header, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from schemas import codec
from schemas.base import Conversation
from schemas.chat import ChatMessage, Role
from schemas.packs import ContextPack
from schemas.topics import CONTEXT_PACKS, CONVERSATION_TURNS, MESSAGES_IN
from streams.edges.client import log_lookup
from streams.edges.client.deep_answers import DeepReply
from streams.edges.client.records import OutgoingRecord
from streams.edges.http import deep, renditions
from streams.edges.http.ask import GONE, RESPONSE_HEADERS, AskRoute, PackHeaders
from streams.edges.http.deep import DEEP_QUERY
from streams.edges.http.identity import client_of, grant_of, user_of
from streams.edges.http.openapi import ASK_PROBLEMS, MARKDOWN_PACK, problems
from streams.edges.http.pending_replies import ExpectedReply
from streams.edges.http.problems import Problem
from streams.edges.http.routes import LoggedRoute, Unsent
from streams.edges.http.sending import CallSender, Place, looking_up, patience, wait_ms

ACCEPTED_S = 10.0


class MessageQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    wait: Literal["pack"] | Unsent = Field(None, description="wait for the pack of a user's message")
    deep: bool = DEEP_QUERY


class MessageTaken(Place):
    """A message in the log."""

    message_id: str


class MessageRoute(LoggedRoute):
    sentences: ClassVar[Mapping[str, str]] = {
        **AskRoute.sentences,
        "": "the query parameters are `wait`, which is `pack`, and `deep`, which is `true`",
        "wait": "wait: is `pack`; leave it out not to wait",
    }


def messages_router(sender: CallSender, seconds: float, deep_s: float) -> APIRouter:
    """The route; `seconds` is the longest wait for a pack, `deep_s` for an answer by cognition, too."""
    router = APIRouter(route_class=MessageRoute)
    pack = {
        "model": ContextPack | DeepReply,
        "description": "its pack, with `wait=pack`, or its pack and the deep answer, with `deep=true`; with "
        "`Accept: text/markdown` the text of the pack, or of the answer",
        "headers": RESPONSE_HEADERS,
        "content": MARKDOWN_PACK,
    }
    router.add_api_route(
        "/messages",
        MessageEndpoint(sender, seconds, deep_s).message,
        methods=["POST"],
        status_code=202,
        summary="Send a turn of a conversation, of any role",
        response_model=MessageTaken,
        response_description="the message is in the log",
        responses={200: pack, **problems(ASK_PROBLEMS)},
    )
    return router


class MessageEndpoint:
    """Sends turns, and waits for the packs of users' turns where the caller wants them."""

    def __init__(self, sender: CallSender, seconds: float, deep_s: float) -> None:
        self._sender = sender
        self._seconds = seconds
        self._deep_s = deep_s

    async def message(
        self,
        request: Request,
        message: ChatMessage,
        query: Annotated[MessageQuery, Query()],
        headers: Annotated[PackHeaders, Header()],
    ) -> Response:
        """An assistant's turn names the message that it answers in `answers`: that is what the next pack learns from.

        Without a `message_id` one is made; with an Idempotency-Key the same call makes the same message.
        """
        sender, grant = self._sender, grant_of(request)
        said = _checked(request, message, query, headers, sender)
        where = Conversation(tenant=grant.tenant, client_id=said.client_id, conversation_id=said.conversation_id)
        if said.answers is not None:
            with looking_up():
                recent = sender.exchange.recent_turns(where)
                await log_lookup.check_message(sender.exchange.bootstrap(), where, said.answers, recent=recent)
        prepared = sender.prepared(request, MESSAGES_IN, codec.dump(said), headers, said.message_id)
        if headers.tier is not None:
            prepared = replace(prepared, headers=[*prepared.headers, ("tier", headers.tier.encode())])
        named = {"fathom-message-id": prepared.name}
        if query.deep:
            reply = await deep.answered(request, sender, prepared, patience(headers.prefer, self._deep_s))
            return Response(status_code=GONE, headers=named) if reply is None else deep.response(request, reply, named)
        if query.wait is None:
            if grant.user is not None:
                await self._accepted(request, prepared)
            sent = await sender.sent(prepared, once_as=prepared.name)
            taken = MessageTaken(message_id=prepared.name, **dict(Place.of(sent)))
            return JSONResponse(taken.model_dump(), 202, named)
        wanted = ExpectedReply.to(CONTEXT_PACKS.name, prepared)
        pack = await sender.answered(request, prepared, wanted, patience(headers.prefer, self._seconds))
        if pack is None:
            return Response(status_code=GONE, headers=named)
        return renditions.of_pack(request, pack, named)

    async def _accepted(self, request: Request, prepared: OutgoingRecord) -> None:
        """Wait for the turn in the log; raises `Problem` (404) where the conversation is not the user's."""
        try:
            wanted = ExpectedReply.to(CONVERSATION_TURNS.name, prepared)
            await self._sender.answered(request, prepared, wanted, ACCEPTED_S)
        except Problem as problem:
            if problem.status_code != 504:  # it is sent, and its stage is behind
                raise


def _checked(
    request: Request, message: ChatMessage, query: MessageQuery, headers: PackHeaders, sender: CallSender
) -> ChatMessage:
    """The message with its id; raises `Problem`."""
    if not message.content.strip():
        raise Problem(422, "content: there is no text in it")
    if (query.wait is not None or query.deep) and message.role is not Role.USER:
        name = "wait" if query.wait is not None else "deep"
        raise Problem(422, f"{name}: only a user's message gets a pack, this one is of role {message.role}")
    if (query.wait is not None or query.deep) and message.pack is False:
        name = "wait" if query.wait is not None else "deep"
        raise Problem(422, f"{name}: a message with `pack` false gets no pack; leave one of the two out")
    if query.deep:
        message = message.model_copy(update={"deep": True})
    if message.role is Role.USER and message.wait_ms is None:
        message = message.model_copy(update={"wait_ms": wait_ms(headers.prefer)})
    if message.answers is not None and message.role is not Role.ASSISTANT:
        raise Problem(422, f"answers: only an assistant's message answers one, this one is of role {message.role}")
    grant = grant_of(request)
    if grant.user is not None and not grant.assistant and message.role is not Role.USER:
        raise Problem(
            403,
            f"role: this token is for one user and sends role user, not {message.role}; use the application's token, "
            'or one with `"assistant": true` in the file of tokens',
        )
    client_of(grant, message.client_id)
    if message.message_id is not None:
        return message
    user = user_of(grant, headers.user)
    made = sender.keys.id_of(grant, user, "message", headers.idempotency_key, codec.dump(message) + headers.decided())
    return message.model_copy(update={"message_id": made})
