"""`fathom eval predict`: predictions for a file of inputs."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, BinaryIO

import orjson
import typer

from bench.evaluation.predictions import TASKS, Predict
from bench.evaluation.questions import raw_lines
from schemas.base import JsonObject
from streams.edges.cli.arguments import Json
from streams.edges.cli.progress import note
from streams.edges.client.errors import FAILURE, USAGE, CommandFailed, nearest

SAY_EVERY = 1_000


def predict(
    task: Annotated[str, typer.Argument(help="What to predict, as context_needs; a wrong name lists them all.")],
    source: Annotated[Path, typer.Option("--input", metavar="FILE", help="One JSON object a line; .gz is unpacked.")],
    target: Annotated[Path, typer.Option("--output", metavar="FILE", help="Where the predictions go; - is stdout.")],
    _: Json = False,
) -> None:
    """Write one prediction for each line of a file, in its order; only input fields are read.

    Exits with 2 at the first line that cannot be read, and leaves no half-written file.
    """
    if (make := TASKS.get(task)) is None:
        raise CommandFailed(f"there is no task {task!r}{nearest(task, [*TASKS])}; there are: {', '.join(TASKS)}", USAGE)
    if str(target) == "-":
        _write(make, source, sys.stdout.buffer)
        return
    part = target.with_name(f"{target.name}.part")
    try:
        with part.open("wb") as file:
            count = _write(make, source, file)
        os.replace(part, target)
    except OSError as error:
        raise CommandFailed(f"{target} cannot be written: {error.strerror or error}", FAILURE) from None
    finally:
        part.unlink(missing_ok=True)
    note(f"{count:,} predictions in {target}")


def _write(make: Predict, source: Path, file: BinaryIO) -> int:
    count = 0
    for number, item in _items(source):
        try:
            made = [orjson.dumps(each) for each in make(item)]
        except (KeyError, TypeError) as error:
            why = f"the field {error.args[0]!r} is missing" if isinstance(error, KeyError) else error
            raise CommandFailed(f"{source}, line {number}: {why}", USAGE) from None
        for line in made:
            file.write(line + b"\n")
        count += len(made)
        if count % SAY_EVERY == 0 and sys.stderr.isatty():
            sys.stderr.write(f"\r{count:,}")
    return count


def _items(source: Path) -> Iterator[tuple[int, JsonObject]]:
    try:
        for number, line in raw_lines(source):
            item = orjson.loads(line)
            if not isinstance(item, dict):
                raise CommandFailed(f"{source}, line {number}: no JSON object", USAGE)
            yield number, item
    except orjson.JSONDecodeError as error:
        raise CommandFailed(f"{source}, line {number}: no JSON: {error}", USAGE) from None
    except (OSError, EOFError) as error:
        why = getattr(error, "strerror", None) or error
        raise CommandFailed(f"{source} cannot be read: {why}", USAGE) from None
