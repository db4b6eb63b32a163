"""`GET /explain/{message_id}`: what was decided on a message and why, of the token's tenant alone."""

from collections.abc import Callable
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from agents.ports.graph import Asker, DecisionReader
from schemas.base import StatedTime
from streams.edges.audit.explaining import explanation_of
from streams.edges.http.identity import MessageConversation, grant_of
from streams.edges.http.openapi import READ_PROBLEMS, problems
from streams.edges.http.routes import LoggedRoute, Unsent
from streams.edges.http.sending import CallSender, looking_up
from streams.explanations.explanation import Explanation
from streams.explanations.locating import ExplanationQuery
from streams.explanations.pages import FORMATS

MEDIA = {"json": "application/json", "html": "text/html", "md": "text/markdown", "text": "text/plain"}


class ExplainQuery(MessageConversation):
    as_of: StatedTime | Unsent = Field(None, description="as known then; default: now")
    format: Literal["json", "html", "md", "text"] = Field("json", description="what to answer with")


def explanations_router(sender: CallSender, reader: Callable[[], DecisionReader | None], seconds: float) -> APIRouter:
    """The route; `reader` is asked for at each call, `seconds` is how long the log is searched without it."""
    router = APIRouter(route_class=LoggedRoute)

    @router.get(
        "/explain/{message_id:path}",
        summary="What was decided on a message, and why",
        response_model=Explanation,
        response_description="message, depth, plan, parts, items, budget, decisions, verdicts and corrections",
        responses={200: {"content": {media: {} for media in MEDIA.values()}}, **problems(READ_PROBLEMS)},
    )
    async def explain(
        request: Request,
        message_id: Annotated[str, Path(description="as sending it gave, or as the pack names it")],
        query: Annotated[ExplainQuery, Query()],
    ) -> Response:
        """From the log and the graph; a token of one client or one user sees its own messages only.

        Of several conversations with a message of this id the newest, unless `conversation_id` names one.
        """
        grant = grant_of(request)
        whose, where = Asker(grant.client, grant.user), query.stated(grant)
        asked = ExplanationQuery(grant.tenant, message_id, whose, where, query.as_of)
        with looking_up(404):
            found = await explanation_of(sender.exchange.bootstrap(), asked, reader(), seconds)
        page = FORMATS[query.format](found)
        return Response(page, media_type=MEDIA[query.format], headers={"cache-control": "no-store"})

    return router
