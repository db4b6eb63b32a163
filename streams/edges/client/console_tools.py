"""Verdicts of the tool gate and assessments as console text."""

from collections.abc import Iterator, Mapping

import orjson
from rich.console import RenderableType

from schemas.assessment import Assessment
from schemas.tools import Injection, ToolCallResolved
from streams.edges.client.console_output import shortened
from streams.edges.client.console_pack import line
from streams.edges.client.in_english import CODES

VALUE_CHARS = 80
RECALLED = {
    "proposal": "as proposed to the user, in message",
    "result": "as offered to the user, from the result of call",
    "call": "from the earlier call",
    "reference": "from another task, in",
}


def verdict_lines(verdict: ToolCallResolved) -> Iterator[RenderableType]:
    """The verdict as lines for a console: its status with details, then every injection with its evidence."""
    if verdict.resolved_args is not None:
        yield line(1, f"resolved: {given(verdict.resolved_args)}", "green")
    elif verdict.preview is not None:
        yield line(1, f"to be confirmed until {verdict.preview.expires_at:%H:%M:%S}Z: {verdict.preview.text}", "yellow")
    else:
        yield line(1, f"refused: {verdict.error} ({verdict.error_code and CODES[verdict.error_code]})", "red")
    for injection in verdict.injections:
        yield line(2, f"{injection.arg}={shown(injection.value)} {_origin(injection)}", "dim")


def assessment_lines(made: Assessment) -> list[str]:
    """The assessment as text."""
    needs = "needs deep context" if made.needs_deep_context else "needs no deep context"
    saved = f", saves {made.estimated_savings:,} tokens" if made.estimated_savings else ""
    said = [
        f"{made.query_type.value}: {needs} (confidence {made.confidence:.2f}, depth {made.depth_level.value})",
        f"  {made.reason}.",
        f"  do    {made.recommended_action} (tier {made.recommended_tier}{saved})",
    ]
    said += [f"  call  {tool.priority}. {tool.name}: {tool.reason}" for tool in made.recommended_tools]
    return [*said, *(f"  skip  {tool.name}: {tool.reason}" for tool in made.skip_tools)]


def given(arguments: Mapping[str, object]) -> str:
    """Arguments in one line; `no arguments` for none."""
    return ", ".join(f"{name}={shown(value)}" for name, value in arguments.items()) or "no arguments"


def shown(value: object) -> str:
    """A text verbatim, other values as JSON; shortened."""
    return shortened(value if isinstance(value, str) else orjson.dumps(value).decode(), VALUE_CHARS)


def _origin(injection: Injection) -> str:
    match injection.source:
        case "mention":
            return f"named by the user, in message {injection.evidence}"
        case "session":
            return f"from the session, set by call {injection.evidence}{_age(injection)}"
        case "default":
            return "the default of the tool's contract"
        case recalled:
            return f"{RECALLED[recalled]} {injection.evidence}{_age(injection)}"


def _age(injection: Injection) -> str:
    return "" if injection.age_seconds is None else f", {injection.age_seconds:.1f} s old"
