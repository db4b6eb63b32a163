"""`DELETE /conversations/{conversation_id}`: a conversation that every store erases."""

from typing import Annotated, Any, ClassVar, Literal

from fastapi import APIRouter, Header, Path, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from schemas import codec
from schemas.base import Conversation, Id
from schemas.topics import MESSAGES_IN
from streams.edges.client import forgetting, log_lookup
from streams.edges.client.errors import CommandFailed
from streams.edges.http.identity import client_of, grant_of
from streams.edges.http.openapi import DELETE_PROBLEMS, problems
from streams.edges.http.problems import Problem
from streams.edges.http.routes import LoggedRoute, Unsent
from streams.edges.http.sending import CallHeaders, CallSender, Place, looking_up

WAIT_S = 30.0


class ForgetQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    client_id: Id | Unsent = Field(None, description="default: the token's")
    wait: Literal["erased"] | Unsent = Field(None, description="answer once every store has erased it")


class ForgetRoute(LoggedRoute):
    sentences: ClassVar[dict[str, str]] = {
        **LoggedRoute.sentences,
        "": "the query parameters are client_id and wait",
        "wait": "wait: is `erased`; leave it out not to wait",
    }


class ConversationErasure(Place):
    """A conversation to forget, in the log; with `wait=erased` how many of what was erased."""

    client_id: str
    conversation_id: str
    erased: dict[str, int] | None = None


ERASED: dict[str, Any] = {"model": ConversationErasure, "description": "every store has erased it, with `wait=erased`"}


def forgetting_router(sender: CallSender) -> APIRouter:
    """The route."""
    router = APIRouter(route_class=ForgetRoute)

    @router.delete(
        "/conversations/{conversation_id:path}",
        status_code=202,
        summary="Erase a conversation's memory",
        response_description="the erasure is in the log, behind the conversation's messages",
        responses={200: ERASED, **problems(DELETE_PROBLEMS)},
    )
    async def forget_conversation(
        request: Request,
        answer: Response,
        conversation_id: Annotated[Id, Path()],
        query: Annotated[ForgetQuery, Query()],
        headers: Annotated[CallHeaders, Header()],
    ) -> ConversationErasure:
        """What was said before is offered no more, in any conversation; a message sent after it begins anew."""
        grant = grant_of(request)
        where = Conversation(
            tenant=grant.tenant, client_id=client_of(grant, query.client_id), conversation_id=conversation_id
        )
        bootstrap = sender.exchange.bootstrap()
        with looking_up(404):
            await log_lookup.check_conversation(bootstrap, where, grant.user)
        prepared = sender.prepared(request, MESSAGES_IN, codec.dump(forgetting.wish(where)), headers)
        named = where.model_dump(exclude={"tenant"})
        if query.wait is None:
            return ConversationErasure(**named, **dict(Place.of(await sender.sent(prepared))))
        try:
            async with forgetting.following(bootstrap) as erasing:
                sent = await sender.sent(prepared)
                erased = await erasing.wait({where: sent}, WAIT_S)
        except CommandFailed as error:
            raise Problem(504, str(error)) from None
        answer.status_code = 200
        return ConversationErasure(**named, **dict(Place.of(sent)), erased=dict(erased[where]))

    return router
