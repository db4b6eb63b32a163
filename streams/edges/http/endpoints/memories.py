"""`/memories`: the single facts that are remembered of a user: listed, searched, added, corrected, taken back."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Annotated, ClassVar, Literal

import orjson
from fastapi import APIRouter, Header, Path, Query
from pydantic import BaseModel, ConfigDict, Field, model_validator
from starlette.requests import Request

from agents.ports.memories import RememberedReader
from schemas.base import Id, derive
from schemas.memory import ClaimAsserted
from schemas.topics import CORRECTIONS_IN, MESSAGES_IN
from streams.edges.client.arguments import Arguments
from streams.edges.http.endpoints.graph import GRAPH_PROBLEMS, graph_of, reading_graph
from streams.edges.http.identity import client_of, grant_of, user_of
from streams.edges.http.openapi import DELETE_PROBLEMS, READ_PROBLEMS, SEND_PROBLEMS, problems
from streams.edges.http.problems import Problem
from streams.edges.http.routes import LoggedRoute, Unsent
from streams.edges.http.sending import CallHeaders, CallSender, Place
from streams.edges.http.tokens import Grant
from streams.edges.operations import memory_edits
from streams.edges.operations.memories import BadCursor, MemoriesShown, MemoryQuery, MemoryShown, memories, memory
from streams.edges.operations.memory_edits import EditRefused

MOST = 200
MemoryName = Annotated[Id, Path(description="of the list, or of a claim in a pack")]
SayUser = "say whose memories: send the header Fathom-User, the parameter user, or use a token of one user"


class MemoriesQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    user: Id | Unsent = Field(None, description="whose; default: the token's, or that of Fathom-User")
    q: str = Field("", max_length=1_000, description="words that a fact has, all of them, in any order")
    status: Literal["current", "all"] = Field("current", description="`all`: also what was replaced or taken back")
    limit: int = Field(50, ge=1, le=MOST, description="how many")
    after: str | Unsent = Field(None, description="the `next` of the page before")


class MemoriesRoute(LoggedRoute):
    sentences: ClassVar[Mapping[str, str]] = {
        **LoggedRoute.sentences,
        "": "the query parameters are user, q, status, limit and after",
        "limit": f"limit: is a number from 1 to {MOST}",
        "status": "status: is `current` or `all`",
    }


class MemoryBody(Arguments):
    """A fact to remember, in a sentence."""

    text: str = Field(min_length=1, max_length=10_000, description="as its user would say it: My locker code is 7781.")
    client_id: Id | None = Field(None, description="default: the token's")

    @model_validator(mode="after")
    def _says_something(self) -> "MemoryBody":
        if not self.text.strip():
            raise ValueError("text: there is no text in it")
        return self


class MemoryChange(Arguments):
    """What is right instead, or that the fact holds still."""

    value: str | None = Field(None, min_length=1, max_length=1_000, description="the value that is right")
    confirm: Literal[True] | None = Field(None, description="it holds still")
    reason: str = Field("", max_length=1_000, description="why, for the history")

    @model_validator(mode="after")
    def _is_one_thing(self) -> "MemoryChange":
        if (self.value is None) == (self.confirm is None):
            raise ValueError("give one of value and confirm")
        if self.value is not None and not self.value.strip():
            raise ValueError("value: there is no text in it")
        return self


class MemoryTaken(Place):
    """A fact in the log, as a turn of its user."""

    message_id: str
    conversation_id: str


class MemoryEdited(Place):
    """An edit in the log; the facts that it is about."""

    memory_ids: tuple[str, ...]


def memories_router(sender: CallSender, reader: Callable[[], RememberedReader | None]) -> APIRouter:
    """The routes; `reader` is asked for at each call, and is None where no graph can be read."""
    router = APIRouter(route_class=MemoriesRoute)
    of = MemoryEndpoints(sender, reader)
    conflict = {409: "the fact was replaced or taken back meanwhile", **GRAPH_PROBLEMS}
    read, sent, gone = (
        {**READ_PROBLEMS, **GRAPH_PROBLEMS},
        {**SEND_PROBLEMS, **conflict},
        {**DELETE_PROBLEMS, **conflict},
    )
    routes = (
        ("GET", "/memories", of.memories, 200, "What is remembered of a user", "the facts, newest first", read),
        ("POST", "/memories", of.remember, 202, "Remember a fact", "the fact is in the log", SEND_PROBLEMS),
        ("GET", "/memories/{memory_id:path}", of.memory, 200, "A fact with its history", "the fact", read),
        ("PATCH", "/memories/{memory_id:path}", of.change_memory, 202, "Correct a fact, or confirm it",
         "the edit is in the log", {**sent, 404: READ_PROBLEMS[404]}),
        ("DELETE", "/memories/{memory_id:path}", of.take_memory_back, 202, "Take a fact back: no pack has it any more",
         "the edit is in the log", gone),
    )  # fmt: skip
    for method, path, endpoint, status, summary, description, refused in routes:
        router.add_api_route(
            path,
            endpoint,
            methods=[method],
            status_code=status,
            summary=summary,
            response_description=description,
            responses=problems(refused),
        )
    return router


@contextmanager
def _reading() -> Iterator[None]:
    try:
        with reading_graph():
            yield
    except BadCursor:
        raise Problem(422, "after: is the `next` of the page before, unchanged") from None
    except EditRefused as refused:
        raise Problem(409, str(refused)) from None


class MemoryEndpoints:
    """Reads facts from the graph, and sends edits to the log."""

    def __init__(self, sender: CallSender, reader: Callable[[], RememberedReader | None]) -> None:
        self._sender = sender
        self._reader = reader

    async def memories(
        self, request: Request, query: Annotated[MemoriesQuery, Query()], headers: Annotated[CallHeaders, Header()]
    ) -> MemoriesShown:
        """A token of one client or one user sees its own only."""
        grant = grant_of(request)
        user = user_of(grant, query.user or headers.user)
        if user is None:
            raise Problem(422, SayUser)
        asked = MemoryQuery(grant.tenant, user, grant.client, query.q, query.status == "all", query.limit, query.after)
        with _reading():
            return await memories(self._graph(), asked, datetime.now(UTC))

    async def memory(self, request: Request, memory_id: MemoryName) -> MemoryShown:
        """Other values of the same thing are its history."""
        grant = grant_of(request)
        with _reading():
            claim = await self._claim(grant, memory_id)
            return await memory(self._graph(), grant.tenant, claim, datetime.now(UTC), grant.client)

    async def remember(
        self, request: Request, given: MemoryBody, headers: Annotated[CallHeaders, Header()]
    ) -> MemoryTaken:
        """A turn of its user in a conversation of its own; no pack is made for it."""
        grant = grant_of(request)
        user = user_of(grant, headers.user)
        if user is None:
            raise Problem(422, SayUser)
        body = memory_edits.note(user, given.text, client_of(grant, given.client_id))
        said = orjson.dumps(body)
        made = self._sender.keys.id_of(grant, user, "memory", headers.idempotency_key, said)
        prepared = self._sender.prepared(
            request, MESSAGES_IN, orjson.dumps({**body, "message_id": made}), headers, made
        )
        sent = await self._sender.sent(prepared, once_as=made)
        return MemoryTaken(message_id=made, conversation_id=str(body["conversation_id"]), **dict(Place.of(sent)))

    async def change_memory(
        self,
        request: Request,
        memory_id: MemoryName,
        given: MemoryChange,
        headers: Annotated[CallHeaders, Header()],
    ) -> MemoryEdited:
        """The new value takes the place of the old one, which stays in the history."""
        grant = grant_of(request)
        claim = await self._claim(grant, memory_id)
        with _reading():
            await memory_edits.check_current(self._graph(), grant.tenant, claim, datetime.now(UTC))
        return await self._send(
            request, [memory_id], memory_edits.change(claim.user_id, given.value, given.reason), headers
        )

    async def take_memory_back(
        self,
        request: Request,
        memory_id: MemoryName,
        headers: Annotated[CallHeaders, Header()],
        reason: Annotated[str, Query(max_length=1_000, description="why, for the history")] = "",
    ) -> MemoryEdited:
        """With every other turn that states the same; all of it stays in the log until it is erased."""
        grant = grant_of(request)
        claim = await self._claim(grant, memory_id)
        with _reading():
            ids = await memory_edits.to_withdraw(self._graph(), grant.tenant, claim, datetime.now(UTC), grant.client)
        return await self._send(request, ids, memory_edits.withdrawal(claim.user_id, reason), headers)

    async def _send(
        self, request: Request, ids: Sequence[str], fields: Mapping[str, str], headers: CallHeaders
    ) -> MemoryEdited:
        for each in ids:
            key = headers.idempotency_key and derive("edit", headers.idempotency_key, each)
            own = headers.model_copy(update={"idempotency_key": key})
            value = orjson.dumps({"claim_id": each, **fields})
            sent = await self._sender.sent(self._sender.prepared(request, CORRECTIONS_IN, value, own))
        return MemoryEdited(memory_ids=tuple(ids), **dict(Place.of(sent)))

    def _graph(self) -> RememberedReader:
        return graph_of(self._reader)

    async def _claim(self, grant: Grant, memory_id: str) -> ClaimAsserted:
        """A claim that the token may see; raises `Problem` (404)."""
        with _reading():
            found = await self._graph().claim(grant.tenant, memory_id, datetime.now(UTC))
        seen = found is not None and grant.user in (None, found.user_id) and grant.client in (None, found.client_id)
        if found is None or not seen:
            raise Problem(404, "there is no such memory; `GET /memories` lists them by id")
        return found
