"""`GET /conversations`, `/users` and `/documents`: what a tenant has, by last use, in pages; and `…/uses` of one."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Annotated, TypeVar

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from agents.ports.graph import Asker
from agents.ports.memories import RememberedReader
from schemas.base import Id
from streams.edges.client.log_lookup import in_force
from streams.edges.http.endpoints.graph import GRAPH_PROBLEMS, graph_of, reading_graph
from streams.edges.http.identity import check_application, grant_of
from streams.edges.http.openapi import READ_PROBLEMS, problems
from streams.edges.http.routes import LoggedRoute
from streams.edges.http.sending import CallSender, looking_up
from streams.edges.operations.conversations import ConversationsShown, UsersShown, conversations, users
from streams.edges.operations.documents import DocumentsShown, UsesShown, documents, uses

MAX_DAYS, MAX_PAGE, MAX_OFFSET = 3_660, 200, 10_000
REFUSED = {**{status: said for status, said in READ_PROBLEMS.items() if status != 404}, **GRAPH_PROBLEMS}

Shown = TypeVar("Shown", ConversationsShown, UsersShown)


class PageQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    q: str = Field("", max_length=1_000, description="words that the title or the id has, all of them")
    limit: int = Field(50, ge=1, le=MAX_PAGE, description="how many")
    offset: int = Field(0, ge=0, le=MAX_OFFSET, description="how many to pass over")


class RecentQuery(PageQuery):
    days: int = Field(30, ge=1, le=MAX_DAYS, description="used in so many days, until now")


class UsesQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    limit: int = Field(50, ge=1, le=MAX_PAGE, description="how many, the newest")


def lists_router(sender: CallSender, reader: Callable[[], RememberedReader | None], seconds: float) -> APIRouter:
    """The routes; `reader` is asked for at each call, `seconds` is how long the log is searched."""
    router = APIRouter(route_class=LoggedRoute)
    _add_talks(router, reader)
    _add_documents(router, sender, reader, seconds)
    return router


def _add_talks(router: APIRouter, reader: Callable[[], RememberedReader | None]) -> None:
    async def shown(listed: Callable[..., Awaitable[Shown]], request: Request, query: RecentQuery) -> Shown:
        grant = grant_of(request)
        with reading_graph():
            return await listed(
                graph_of(reader), grant.tenant, Asker(grant.client, grant.user), days=query.days, words=query.q,
                offset=query.offset, limit=query.limit, now=datetime.now(UTC),
            )  # fmt: skip

    @router.get(
        "/conversations",
        summary="The conversations of the last days",
        response_description="that of the last use first",
        responses=problems(REFUSED),
    )
    async def conversations_list(request: Request, query: Annotated[RecentQuery, Query()]) -> ConversationsShown:
        """Imported ones with their own times. A token of one client or one user sees its own only."""
        return await shown(conversations, request, query)

    @router.get(
        "/users",
        summary="The users of the last days",
        response_description="that of the last use first",
        responses=problems(REFUSED),
    )
    async def users_list(request: Request, query: Annotated[RecentQuery, Query()]) -> UsersShown:
        """A token of one client or one user sees its own only."""
        return await shown(users, request, query)


def _add_documents(
    router: APIRouter, sender: CallSender, reader: Callable[[], RememberedReader | None], seconds: float
) -> None:
    @router.get(
        "/documents",
        summary="The documents of the tenant",
        response_description="the newest first",
        responses=problems(REFUSED),
    )
    async def documents_list(request: Request, query: Annotated[PageQuery, Query()]) -> DocumentsShown:
        """All of them, whoever may read them: a token of one user is refused."""
        grant = grant_of(request)
        check_application(grant, "the list of documents")
        graph = graph_of(reader)
        with reading_graph(), looking_up():
            hidden = (await in_force(sender.exchange.bootstrap())).hidden(grant.tenant)
            return await documents(
                graph, grant.tenant, words=query.q, offset=query.offset, limit=query.limit, now=datetime.now(UTC),
                is_hidden=hidden.has_document,
            )  # fmt: skip

    @router.get(
        "/documents/{document_id:path}/uses",
        summary="The packs that a document is in",
        response_description="the newest first",
        responses=problems({status: said for status, said in READ_PROBLEMS.items() if status != 404}),
    )
    async def document_uses(
        request: Request,
        document_id: Annotated[Id, Path(description="as the list names it")],
        query: Annotated[UsesQuery, Query()],
    ) -> UsesShown:
        """From the log, where packs are kept for 30 days; a token of one user is refused."""
        grant = grant_of(request)
        check_application(grant, "the use of documents")
        with looking_up(404):
            return await uses(
                sender.exchange.bootstrap(), grant.tenant, document_id, client=grant.client, limit=query.limit,
                seconds=seconds,
            )  # fmt: skip
