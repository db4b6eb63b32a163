"""`fathom eval report`: the scores of predictions in a folder against the labelled files of another."""

from pathlib import Path
from typing import Annotated, Protocol

import typer

from bench.evaluation import score_pages, scoring
from bench.evaluation.questions import lines
from schemas.base import JsonObject
from streams.edges.cli.arguments import Json
from streams.edges.client.errors import USAGE, CommandFailed
from streams.edges.client.standard_output import print_json

Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write one page with plots.")]
ENDINGS = (".jsonl", ".jsonl.gz")


class FigurePages(Protocol):
    """A module that formats figures."""

    def page(self, made: JsonObject, /) -> str: ...

    def text(self, made: JsonObject, /) -> str: ...


def report(
    labelled: Annotated[Path, typer.Argument(metavar="FOLDER", help="Labelled items, TASK.….jsonl or .jsonl.gz each.")],
    predicted: Annotated[
        Path, typer.Option("--predictions", metavar="FOLDER", help="What `predict` wrote, TASK.jsonl each.")
    ],
    html: Html = None,
    draws: Annotated[int, typer.Option("--draws", min=0, help="Resamples for the 95 % intervals; 0 is none.")] = 200,
    as_json: Json = False,
) -> None:
    """Score predictions task by task and data set by data set, each figure beside what a trivial rule gets."""
    tasks = [_task(task, labelled, predicted, draws) for task in scoring.SCORERS]
    if all("why" in task for task in tasks):
        raise CommandFailed(f"{predicted} has no predictions for {labelled}: a file is named as its task", USAGE)
    show({"tasks": tasks}, score_pages, html, as_json=as_json)


def _task(task: str, labelled: Path, predicted: Path, draws: int) -> dict[str, object]:
    gold, answers = _file(labelled, task), _file(predicted, task)
    if gold is None or answers is None:
        return {"task": task, "why": "no labelled items" if gold is None else "no predictions"}
    try:
        return scoring.score(task, lines(gold), lines(answers), draws)
    except (OSError, ValueError) as error:
        raise CommandFailed(f"{gold} or {answers} cannot be read: {error}", USAGE) from None
    except (KeyError, TypeError) as error:
        raise CommandFailed(f"{gold} or {answers} lacks a field or has a wrong one: {error!r}", USAGE) from None


def _file(folder: Path, task: str) -> Path | None:
    """The task's file: its name, then anything, then .jsonl or .jsonl.gz."""
    found = (path for path in sorted(folder.glob(f"{task}.*")) if path.name.endswith(ENDINGS))
    return next(found, None)


def show(figures: JsonObject, pages: FigurePages, html: Path | None, *, as_json: bool) -> None:
    """Print the figures, and write their page to `html` if given; raises `CommandFailed`."""
    if html is not None:
        write(html, pages.page(figures))
    if as_json:
        print_json(figures)
    else:
        print(pages.text(figures).rstrip())


def write(path: Path, text: str) -> None:
    """Write a file; raises `CommandFailed`."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandFailed(f"{path} cannot be written: {error.strerror}") from None
