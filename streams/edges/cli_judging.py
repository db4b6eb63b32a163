"""The verbs that need no broker: `fathom assess` and `fathom eval`."""

from pathlib import Path
from typing import Annotated

import typer

from streams.edges.cli_arguments import Json

eval_app = typer.Typer(
    help="Predictions over evaluation data, by the code that decides in production.", no_args_is_help=True
)


def assess(
    text: Annotated[str, typer.Argument(help="The query; - reads it from stdin.")],
    summary: Annotated[str | None, typer.Option("--summary", help="What the conversation was about so far.")] = None,
    available: Annotated[
        list[str] | None, typer.Option("--available", metavar="TEXT", help="Context that is at hand; may be repeated.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Whether a query needs deep context, which tools to call for it, and what skipping them saves."""
    from streams.edges import cli_assess

    cli_assess.assess(text, summary, available or [], as_json=as_json)


@eval_app.command("predict")
def predict(
    task: Annotated[str, typer.Option("--task", help="What to predict: context_needs or tool_arguments.")],
    source: Annotated[Path, typer.Option("--input", metavar="FILE", help="One JSON object a line; .gz is unpacked.")],
    target: Annotated[Path, typer.Option("--output", metavar="FILE", help="Where the predictions go; - is stdout.")],
    _: Json = False,
) -> None:
    """Write one prediction for each line of a file, in its order; only input fields are read.

    Exits with 2 at the first line that cannot be read, and leaves no half-written file.
    """
    from streams.edges import cli_eval

    cli_eval.predict(task, source, target)
