"""`fathom assess`: one query's assessment, for people or as JSON; no broker is needed."""

from typing import Annotated

import typer

from agents.core.assessment import context_needs
from streams.edges.cli.arguments import Json
from streams.edges.client.console_output import console
from streams.edges.client.console_tools import assessment_lines
from streams.edges.client.send import text_of
from streams.edges.client.standard_output import print_json


def assess(
    text: Annotated[str, typer.Argument(help="The query; - reads it from stdin.")],
    summary: Annotated[str | None, typer.Option("--summary", help="What the conversation was about so far.")] = None,
    available: Annotated[
        list[str] | None, typer.Option("--available", metavar="TEXT", help="Context that is at hand; may be repeated.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Whether a query needs deep context, which tools to call for it, and what skipping them saves."""
    made = context_needs.assess(text_of(text), summary, available or [])
    if as_json:
        print_json(made)
        return
    for line in assessment_lines(made):
        console().print(line, markup=False)
