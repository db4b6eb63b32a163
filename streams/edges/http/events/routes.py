"""`GET /events`: what a message's pack and cognitive run have reached, as server-sent events, while they reach it."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Annotated, ClassVar

from fastapi import APIRouter, Header, Query
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response

from schemas.base import Conversation, Id
from schemas.retrieval import RetrievalPlan
from streams.edges.client.errors import CommandFailed
from streams.edges.http import bodies
from streams.edges.http.events.frames import Pace, frames
from streams.edges.http.events.message_progress import MessageProgress
from streams.edges.http.events.progress_tail import ProgressTail
from streams.edges.http.identity import MessageConversation, grant_of
from streams.edges.http.openapi import READ_PROBLEMS, problems
from streams.edges.http.problems import Problem
from streams.edges.http.relay import RelayedResponse, unless_gone
from streams.edges.http.routes import LoggedRoute, Unsent
from streams.edges.http.tokens import Grant

LONGEST_S = 300.0
# Also of a reader that reads nothing any more: it holds a stream of its tenant no longer.
LONGEST_STREAM_S = 900.0
GONE = 499
# A user has at most so great a part of the streams of a tenant: others are left some.
USERS_SHARE = 10
HEADERS = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store", "x-accel-buffering": "no"}
EXAMPLE = 'retry: 1000\n\nid: 7.3004\nevent: snapshot\ndata: {"message_id":"m1","pack":{},"cognition":null}\n\n'


class EventsQuery(MessageConversation):
    message_id: Id = Field(description="as sending it gave, or as its pack names it")
    timeout: float = Field(30.0, ge=0, le=LONGEST_S, description="seconds to wait for the first event of the message")
    last_event_id: str | Unsent = Field(None, description="as the header, for callers that cannot send one")
    calls: bool = Field(
        False, description="go on behind pack and run, for the verdicts on tool calls, until 150 s without any"
    )
    replay: bool = Field(
        False, description="every event from the first on, in place of the snapshot, while all are held"
    )


class EventsHeaders(BaseModel):
    last_event_id: str | Unsent = Field(None, alias="Last-Event-ID", description="the id of the last event received")


class EventsRoute(LoggedRoute):
    sentences: ClassVar[Mapping[str, str]] = {
        **LoggedRoute.sentences,
        "": "the query parameters are `message_id`, `conversation_id`, `client_id`, `timeout`, `last_event_id`, "
        "`calls` and `replay`",
        "message_id": "message_id: name the message, as sending it gave its id",
        "calls": "calls: is `true` or `false`",
        "replay": "replay: is `true` or `false`",
        "timeout": f"timeout: is 0 to {LONGEST_S:g} seconds",
    }


def events_router(tail: ProgressTail, most_streams: int, pace: Pace | None = None) -> APIRouter:
    """The route; a tenant has at most so many streams at a time."""
    router = APIRouter(route_class=EventsRoute)
    router.add_api_route(
        "/events",
        EventsEndpoint(tail, most_streams, pace or Pace()).events,
        methods=["GET"],
        summary="What a message's pack and cognitive run have reached, as server-sent events",
        response_class=Response,
        response_description="a snapshot, or what follows Last-Event-ID; then each event as it happens; `end` at last",
        responses={
            200: {"content": {"text/event-stream": {"schema": {"type": "string"}, "example": EXAMPLE}}},
            **problems(
                {
                    **READ_PROBLEMS,
                    404: "within `timeout` there was no event of such a message that the token may see",
                    429: "too many streams of this tenant or user, or requests of this token: see `Retry-After`",
                }
            ),
        },
    )
    return router


class EventsEndpoint:
    """Streams of events, at most so many per tenant, and a tenth of them per user."""

    def __init__(self, tail: ProgressTail, most_streams: int, pace: Pace) -> None:
        self._tail = tail
        self._most = most_streams
        self._pace = pace
        self._open: Counter[tuple[str, str | None]] = Counter()

    async def events(
        self,
        request: Request,
        query: Annotated[EventsQuery, Query()],
        headers: Annotated[EventsHeaders, Header()],
    ) -> Response:
        """What the log tells of one message, as events, each with its id; a reader that comes late gets a snapshot.

        The stream ends when the pack is there and the cognitive run, if one is opened, has ended. A token of one user
        sees the events of that user's messages only. Of several conversations with a message of this id the newest,
        unless `conversation_id` names one.
        """
        await bodies.read(request, 0)
        grant = grant_of(request)
        for whose, most, of in self._limits(grant):
            if self._open[whose] >= most:
                raise Problem(429, f"{most} streams of this {of} are open; close one", retry_after="5")
        self._open.update(whose for whose, *_ in self._limits(grant))
        try:
            progress = await unless_gone(request, self._first(grant, query))
        except BaseException:
            self._leave(grant)
            raise
        if progress is None:
            self._leave(grant)
            return Response(status_code=GONE)
        last_id = headers.last_event_id or query.last_event_id
        body = frames(query.message_id, progress, last_id, self._pace, replay=query.replay, calls=query.calls)

        async def ended() -> None:
            await body.aclose()
            self._tail.leave(progress)
            self._leave(grant)

        return RelayedResponse(200, HEADERS, body, ended, longest_s=LONGEST_STREAM_S)

    def _limits(self, grant: Grant) -> list[tuple[tuple[str, str | None], int, str]]:
        """What a stream counts for: the tenant, and the user whom the token speaks for; how many each may have."""
        whole = ((grant.tenant, None), self._most, "tenant")
        if grant.user is None:
            return [whole]
        return [whole, ((grant.tenant, grant.user), max(self._most // USERS_SHARE, 1), "user")]

    def _leave(self, grant: Grant) -> None:
        for whose, *_ in self._limits(grant):
            self._open[whose] -= 1
            if not self._open[whose]:
                del self._open[whose]

    async def _first(self, grant: Grant, query: EventsQuery) -> MessageProgress:
        """Wait for a message that the grant may see. Raises `Problem`."""
        until = asyncio.get_running_loop().time() + query.timeout
        stated = query.stated(grant)
        try:
            found = await self._tail.watch(
                grant.tenant, query.message_id, partial(_may_see, grant, stated), stated, until
            )
        except CommandFailed as error:
            raise Problem(503, str(error), retry_after="1") from None
        if found is None:
            raise Problem(
                404, f"there is no event of a message {query.message_id!r} for this token; messages have events "
                "from their plan on, for a week",
            )  # fmt: skip
        return found


def _may_see(grant: Grant, stated: Conversation | None, plan: RetrievalPlan) -> bool:
    """Whether a message is of the client and user of the grant, and of the conversation, if one is stated."""
    return (
        grant.client in (None, plan.client_id)
        and grant.user in (None, plan.user_id)
        and (stated is None or (stated.client_id, stated.conversation_id) == (plan.client_id, plan.conversation_id))
    )
