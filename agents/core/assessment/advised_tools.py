"""Tool advice: the tools to call or to skip for a query, with reasons."""

from collections.abc import Mapping

from agents.core.assessment.prompt import ModelJudgement
from schemas.assessment import QueryType, RecommendedTool, SkippedTool
from schemas.policy import AdvisedTool

T = QueryType
SEARCH = "search_context"


Tools = Mapping[str, AdvisedTool]
# Each is served over MCP; an operator names others in a policy file.
TOOLS: Tools = {
    SEARCH: AdvisedTool(
        {
            T.ARCHITECTURAL: "Query asks about architectural patterns",
            T.IMPLEMENTATION: "New code should follow what the project already has",
            T.REVIEW_REQUEST: "What is reviewed is measured against the project's own patterns",
            T.DEBUGGING: "What is known of the failing part narrows the cause down",
            T.DIRECT_QUESTION: "Query asks for something that is not at hand",
            T.OTHER: "Query speaks of something that is not at hand",
        },
        "The query can be answered without looking anything up",
    ),
    "check_conflicts": AdvisedTool(
        {
            T.ARCHITECTURAL: "Proposed change may conflict with principles",
            T.IMPLEMENTATION: "New code may conflict with decisions taken before",
            T.REVIEW_REQUEST: "What is reviewed may contradict decisions taken before",
        },
        "Nothing is proposed that could conflict with what is known",
    ),
}


def by_type(kind: QueryType, tools: Tools) -> tuple[tuple[RecommendedTool, ...], tuple[SkippedTool, ...]]:
    """The tools to call for a query type, by priority, and the tools to skip."""
    # A courtesy needs no tool; where an engine wants context for one, it is treated like any other query.
    use = kind if any(kind in tool.uses for tool in tools.values()) else T.OTHER
    return _split({name: tool.uses[use] for name, tool in tools.items() if use in tool.uses}, tools)


def by_model(
    judged: ModelJudgement, kind: QueryType, why: str, tools: Tools
) -> tuple[tuple[RecommendedTool, ...], tuple[SkippedTool, ...]]:
    """The existing tools that a model recommends, in its order; looking for context is always included."""
    reasons: dict[str, str] = {}
    for tool in judged.tools:
        reasons.setdefault(tool.name, tool.reason)
    named = {name: reasons[name] or tools[name].uses.get(kind) or why for name in reasons if name in tools}
    if not named:
        return by_type(kind, tools)
    if SEARCH in tools:
        named.setdefault(SEARCH, tools[SEARCH].uses.get(kind) or why)
    return _split(named, tools)


def none_of(tools: Tools) -> tuple[SkippedTool, ...]:
    """Every tool, as a skipped one."""
    return _split({}, tools)[1]


def _split(named: Mapping[str, str], tools: Tools) -> tuple[tuple[RecommendedTool, ...], tuple[SkippedTool, ...]]:
    return (
        tuple(
            RecommendedTool(name=name, reason=reason, priority=place)
            for place, (name, reason) in enumerate(named.items(), 1)
        ),
        tuple(SkippedTool(name=name, reason=tool.otherwise) for name, tool in tools.items() if name not in named),
    )
