"""`assess_context_needs`: whether a query needs deep context."""

from streams.edges.client.assessing import AssessArguments, Assessed, assessed
from streams.edges.mcp.tool import READS, Call, Tool


async def answer(asked: AssessArguments, call: Call) -> Assessed:
    """The assessment, as by the stage."""
    return await assessed(asked, call.site.assessor, call.site.limits, call.caller.user)


def text(found: Assessed) -> str:
    """What to do and why, and the tools to call, in their order."""
    tools = "".join(f"\n{tool.priority}. {tool.name}: {tool.reason}" for tool in found.recommended_tools)
    return f"{found.recommended_action}: {found.reason}{tools}"


TOOL = Tool(
    name="assess_context_needs",
    title="Assess context needs",
    description=(
        "Call this BEFORE search_context or any other retrieval. Says whether a query needs deep context and why, what "
        "to do next, which tools to call, and the tokens saved by none."
    ),
    takes=AssessArguments,
    gives=Assessed,
    annotations=READS,
    answer=answer,
    text=text,
)
