"""`fathom eval report`: the scores of predictions in a folder against the labelled files of another."""

import sys
from pathlib import Path
from typing import Any

import orjson

from streams.edges.client.errors import FAILURE, USAGE, CommandFailed
from streams.evaluation import score_pages, scoring
from streams.evaluation.predictions import NOT_BUILT
from streams.evaluation.questions import lines

ENDINGS = (".jsonl", ".jsonl.gz")


def report(labelled: Path, predicted: Path, html: Path | None, draws: int, *, as_json: bool) -> None:
    """Score every task that has labelled items and predictions; raises `CommandFailed`."""
    tasks = [_task(task, labelled, predicted, draws) for task in (*scoring.SCORERS, *NOT_BUILT)]
    if all("why" in task for task in tasks):
        raise CommandFailed(f"{predicted} has no predictions for {labelled}: a file is named as its task", USAGE)
    made = {"tasks": tasks}
    if html is not None:
        try:
            html.write_text(score_pages.page(made), encoding="utf-8")
        except OSError as error:
            raise CommandFailed(f"{html} cannot be written: {error.strerror}", FAILURE) from None
    text = orjson.dumps(made, option=orjson.OPT_INDENT_2).decode() if as_json else score_pages.text(made)
    sys.stdout.write(text.rstrip() + "\n")


def _task(task: str, labelled: Path, predicted: Path, draws: int) -> dict[str, Any]:
    if task in NOT_BUILT:
        return {"task": task, "why": "not built"}
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
