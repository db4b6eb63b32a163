"""`POST /assess`: whether a query needs deep context; the MCP tool `assess_context_needs` over HTTP."""

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from agents.core.packs.planning import Limits
from agents.stages.assessor import Assessor
from streams.edges.client.arguments import wrong
from streams.edges.client.assessing import AssessArguments, assessed
from streams.edges.http import bodies
from streams.edges.http.gate import GRANT
from streams.edges.http.problems import Problem
from streams.edges.http.tokens import Grant

MAX_BYTES = 2_000_000


class AssessEndpoint:
    """The route; reads and stores nothing. `limits` are the token budgets of packs."""

    def __init__(self, assessor: Assessor, limits: Limits) -> None:
        self._assessor = assessor
        self._limits = limits

    async def handle(self, request: Request) -> Response:
        """The assessment; raises `Problem`."""
        body = await bodies.json_of(request, most=MAX_BYTES)
        try:
            asked = AssessArguments.model_validate(body)
        except ValidationError as error:
            raise Problem(422, wrong(error, AssessArguments, "field")) from None
        grant: Grant = request.scope[GRANT]
        made = await assessed(asked, self._assessor, self._limits, grant.user)
        return Response(made.model_dump_json(), media_type="application/json")
