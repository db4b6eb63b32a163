"""The prompt for a language model about a query, and the parsing of its answer.

Both are XML. An answer that does not say whether context is needed is invalid.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from agents.core.language import text
from agents.core.language.llm_xml import attributes, elements, escaped, fraction, truth, values
from schemas.assessment import ModelTier, QueryType, TierName

MODEL_TIER: ModelTier = "fast"
MAX_TOKENS, TEMPERATURE = 500, 0.1
MAX_CONTEXT_CHARS = 6_000
MAX_TOOLS = 8

ASSESSMENT_PROMPT = """<task>
Analyze this query to determine if deep context retrieval is needed.
</task>

<query>{query}</query>

<conversation_context>
{conversation_summary}
</conversation_context>

<instructions>
Classify the query and determine processing needs:

1. Simple queries (NO deep context needed):
   - Greetings, thanks, acknowledgments
   - Clarification questions about recent conversation
   - Direct questions with obvious answers
   - Follow-up questions on just-discussed topics

2. Complex queries (YES deep context needed):
   - Architectural decisions or design questions
   - Implementation requests for new features
   - Code review or analysis requests
   - Debugging or troubleshooting
   - Questions about project patterns or principles
   - Requests that reference project-specific knowledge

Return your assessment in XML format.
</instructions>

<response_format>
<assessment>
  <needs_deep_context>true|false</needs_deep_context>
  <confidence>0.0-1.0</confidence>
  <query_type>greeting|clarification|direct_question|architectural|implementation|review_request|debugging|other</query_type>
  <reason>Brief explanation of classification</reason>
  <recommended_tier>minimal|standard|deep</recommended_tier>
  <recommended_tools>
    <tool name="tool_name" priority="1" reason="why this tool"/>
  </recommended_tools>
</assessment>
</response_format>"""


@dataclass(frozen=True, slots=True)
class Advised:
    """A tool that a model recommends; priority 1 comes first."""

    name: str
    reason: str
    priority: int


@dataclass(frozen=True, slots=True)
class ModelJudgement:
    """A model's judgement of a query; None, or an empty text, for missing values."""

    needs: bool
    confidence: float | None = None
    kind: QueryType | None = None
    reason: str = ""
    tier: TierName | None = None
    tools: tuple[Advised, ...] = ()


def prompt(query: str, summary: str | None = None, available: Sequence[str] = ()) -> str:
    """The prompt for a query, with escaped values; at most 45,000 characters."""
    said = [summary.strip()] if summary and summary.strip() else []
    context = "\n".join([*said, *available])[:MAX_CONTEXT_CHARS] or "(none)"
    return ASSESSMENT_PROMPT.format(query=escaped(text.clip(query)), conversation_summary=escaped(context))


def read(answer: str) -> ModelJudgement | None:
    """The judgement in an answer; None where the need for deep context is missing or contradictory. Total."""
    judging = [each for each in elements(answer, "assessment") if values(each, "needs_deep_context")]
    if not judging:
        return None
    inside = judging[-1]  # what goes before is thought
    said = {truth(value) for value in values(inside, "needs_deep_context")}
    if len(said) != 1 or None in said:
        return None
    tier = _first(inside, "recommended_tier").lower()
    return ModelJudgement(
        needs=said == {True},
        confidence=fraction(_first(inside, "confidence")),
        kind=_kind(_first(inside, "query_type")),
        reason=_first(inside, "reason"),
        tier=next((name for name in get_args(TierName) if name == tier), None),
        tools=_tools(inside),
    )


def _first(inside: str, name: str) -> str:
    return next(iter(values(inside, name)), "")


def _kind(value: str) -> QueryType | None:
    if not value:
        return None
    word = re.sub(r"[\s-]+", "_", value.lower())
    return QueryType(word) if word in set(QueryType) else QueryType.OTHER


def _tools(inside: str) -> tuple[Advised, ...]:
    named = [found for found in attributes(inside, "tool") if found.get("name")][:MAX_TOOLS]
    advised = [
        Advised(found["name"], found.get("reason", ""), _priority(found.get("priority", ""), place))
        for place, found in enumerate(named, 1)
    ]
    return tuple(sorted(advised, key=lambda tool: tool.priority))


def _priority(value: str, place: int) -> int:
    return int(value) if re.fullmatch(r"[0-9]{1,4}", value) else place
