"""`POST /assess`: whether a query needs deep context; the MCP tool `assess_context_needs` over HTTP."""

from fastapi import APIRouter
from starlette.requests import Request

from agents.core.packs.planning import Limits
from agents.stages.assessor import Assessor
from streams.edges.client.assessing import AssessArguments, Assessed, assessed
from streams.edges.http.gate import GRANT
from streams.edges.http.openapi import PROBLEMS, problems
from streams.edges.http.problems import Problem
from streams.edges.http.routes import BoundedRoute


class AssessRoute(BoundedRoute):
    max_bytes = 2_000_000


def assess_router(assessor: Assessor, limits: Limits) -> APIRouter:
    """The route; `limits` are the token budgets of packs."""
    router = APIRouter(route_class=AssessRoute)

    @router.post(
        "/assess",
        summary="Say whether a query needs deep context",
        response_description="the assessment",
        responses=problems(PROBLEMS),
    )
    async def assess(request: Request, asked: AssessArguments) -> Assessed:
        """By rules, in milliseconds; nothing is read or stored."""
        if not asked.query.strip():
            raise Problem(422, "query: there is no text in it")
        return await assessed(asked, assessor, limits, request.scope[GRANT].user)

    return router
