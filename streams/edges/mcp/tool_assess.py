"""`assess_context_needs`: whether a query needs deep context."""

from streams.edges.client.assessing import AssessArguments, Assessed, assessed
from streams.edges.mcp.tool import READS, Call, Tool


async def answer(asked: AssessArguments, call: Call) -> Assessed:
    """The assessment, as by the stage."""
    return await assessed(asked, call.site.assessor, call.site.limits, call.caller.user)


TOOL = Tool(
    name="assess_context_needs",
    title="Assess context needs",
    description=(
        "Call this BEFORE search_context or any other retrieval. Says whether a query needs deep context, with "
        "confidence and reason, what to do next, which tools to call and which to skip, and the tokens saved when "
        "retrieval is skipped. Portuguese and English; answers in milliseconds, reads and stores nothing."
    ),
    takes=AssessArguments,
    gives=Assessed,
    annotations=READS,
    answer=answer,
)
