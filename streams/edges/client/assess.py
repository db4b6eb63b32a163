"""`fathom assess`: one query's assessment, for people or as JSON."""

import sys
from collections.abc import Sequence

from agents.core.assessment import context_needs
from schemas.assessment import Assessment
from streams.edges.client.console_output import console
from streams.edges.client.send import text_of


def assess(text: str, summary: str | None, available: Sequence[str], *, as_json: bool) -> None:
    """Print the assessment."""
    made = context_needs.assess(text_of(text), summary, available)
    if as_json:
        sys.stdout.write(made.model_dump_json() + "\n")
        return
    for line in lines(made):
        console().print(line, markup=False)


def lines(made: Assessment) -> list[str]:
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
