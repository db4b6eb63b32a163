"""`POST /search`: what memory has on a query, which is no turn of a conversation and is not remembered."""

from typing import Annotated, ClassVar

import orjson
from fastapi import APIRouter, Header
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from schemas.base import Id
from schemas.retrieval import SearchMade
from schemas.topics import SEARCHES_IN, SEARCHES_OUT
from streams.edges.http.ask import GONE
from streams.edges.http.identity import client_of, grant_of
from streams.edges.http.openapi import SEARCH_PROBLEMS, problems
from streams.edges.http.pending_replies import ExpectedReply
from streams.edges.http.problems import Problem
from streams.edges.http.routes import LoggedRoute, Unsent
from streams.edges.http.sending import CallHeaders, CallSender, patience
from streams.edges.operations.search import SearchWanted


class SearchBody(SearchWanted):
    client_id: Id | None = Field(None, description="who asks where no user is named; default: the token's")


class SearchHeaders(CallHeaders):
    prefer: str | Unsent = Field(None, alias="Prefer", description="`wait=N`: for how many seconds to wait at most")


class SearchRoute(LoggedRoute):
    max_bytes: ClassVar[int] = 256_000


def search_router(sender: CallSender, seconds: float) -> APIRouter:
    """The route; `seconds` is the longest wait for results."""
    router = APIRouter(route_class=SearchRoute)

    @router.post(
        "/search",
        summary="Search memory without saying anything",
        response_model=SearchMade,
        response_description="what was found, best first",
        responses=problems(SEARCH_PROBLEMS),
    )
    async def search(request: Request, asked: SearchBody, headers: Annotated[SearchHeaders, Header()]) -> Response:
        """The evidence that the pack of the same question would have, by its rules; nothing is remembered.

        The query is no turn of a conversation, and no decision is made on it. A token of one user finds what that user
        may be shown.
        """
        if not asked.query.strip():
            raise Problem(422, "query: there is no text in it")
        fields = asked.fields(client_of(grant_of(request), asked.client_id))
        prepared = sender.prepared(request, SEARCHES_IN, orjson.dumps(fields), headers, str(fields["request_id"]))
        wanted = ExpectedReply.to(SEARCHES_OUT.name, prepared)
        made = await sender.answered(request, prepared, wanted, patience(headers.prefer, seconds))
        return Response(status_code=GONE) if made is None else Response(made, media_type="application/json")

    return router
