"""The verbs that need no broker: `fathom assess` and `fathom eval`."""

from pathlib import Path
from typing import Annotated

import typer

from streams.edges.cli.arguments import Broker, Json

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
    from streams.edges.client import assess as cli_assess

    cli_assess.assess(text, summary, available or [], as_json=as_json)


@eval_app.command("predict")
def predict(
    task: Annotated[str, typer.Argument(help="What to predict, as context_needs; a wrong name lists them all.")],
    source: Annotated[Path, typer.Option("--input", metavar="FILE", help="One JSON object a line; .gz is unpacked.")],
    target: Annotated[Path, typer.Option("--output", metavar="FILE", help="Where the predictions go; - is stdout.")],
    _: Json = False,
) -> None:
    """Write one prediction for each line of a file, in its order; only input fields are read.

    Exits with 2 at the first line that cannot be read, and leaves no half-written file.
    """
    from streams.edges.cli.eval import predict as cli_eval

    cli_eval.predict(task, source, target)


@eval_app.command("report")
def report(
    labelled: Annotated[Path, typer.Argument(metavar="FOLDER", help="Labelled items, TASK.….jsonl or .jsonl.gz each.")],
    predicted: Annotated[
        Path, typer.Option("--predictions", metavar="FOLDER", help="What `predict` wrote, TASK.jsonl each.")
    ],
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write one page with plots.")] = None,
    draws: Annotated[int, typer.Option("--draws", min=0, help="Resamples for the 95 % intervals; 0 is none.")] = 200,
    as_json: Json = False,
) -> None:
    """Score predictions task by task and data set by data set, each figure beside what a trivial rule gets."""
    from streams.edges.cli.eval import report as cli_eval_report

    cli_eval_report.report(labelled, predicted, html, draws, as_json=as_json)


@eval_app.command("packs")
def packs(
    inputs: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="Corpora with queries (.jsonl, .gz), and folders of the everyday kind."),
    ],
    broker: Broker = None,
    up: Annotated[bool, typer.Option("--up", help="On a system of its own, in a temporary folder.")] = False,
    datasets: Annotated[
        list[str] | None, typer.Option("--dataset", metavar="NAME", help="Only this one; may be repeated.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=0, help="At most so many questions of each; 0 is all.")] = 0,
    foreign: Annotated[
        int, typer.Option("--foreign", min=0, help="So many questions of each other data set, which nothing answers.")
    ] = 0,
    chat: Annotated[
        Path | None, typer.Option("--chat", metavar="FILE", help="Labelled messages: its greetings need nothing.")
    ] = None,
    rate: Annotated[float, typer.Option("--rate", min=0.1, help="Questions a second.")] = 20.0,
    alone: Annotated[
        bool, typer.Option("--alone", help="No question finds another in memory: figures that can be repeated.")
    ] = False,
    patience: Annotated[float, typer.Option("--patience", help="Seconds until memory must have settled.")] = 900.0,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write one page with plots.")] = None,
    out: Annotated[Path | None, typer.Option("--packs", metavar="FILE", help="Write every pack, one a line.")] = None,
    as_json: Json = False,
) -> None:
    """Whether the pack of a question holds its evidence, end to end, beside plain search in as many tokens.

    Memory goes in and questions are asked over Kafka, in tenants of their own; what is measured stays in that memory.
    """
    from streams.edges.cli.eval.packs import EvalPacks, packs

    if up and broker is not None:
        raise typer.BadParameter("give either --up or --broker")
    wanted = EvalPacks(tuple(inputs), tuple(datasets or ()), limit, foreign, chat, up, rate, alone, patience, html, out)
    packs(wanted, broker, as_json=as_json)
