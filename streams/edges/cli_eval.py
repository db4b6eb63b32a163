"""`fathom eval predict`: a file of inputs to a file of predictions."""

import gzip
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

import orjson

from agents.core import assessment, tool_recall
from schemas.assessment import QueryType
from streams.edges.errors import FAILURE, USAGE, CommandFailed, nearest

Predict = Callable[[Mapping[str, Any]], Mapping[str, Any]]
SIMPLE = frozenset({QueryType.GREETING, QueryType.CLARIFICATION, QueryType.DIRECT_QUESTION})
SAY_EVERY = 10_000


def context_needs(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """`label` of the item's `text`: greeting, clarification, direct_question or other."""
    kind = assessment.query_type(_text(item, "text"))
    return {"id": item["id"], "label": kind.value if kind in SIMPLE else "other"}


def tool_arguments(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """`filled` and `ask` of the item's `call`: what the dialogue has settled, and what is left of the required ones."""
    call, contract = item["call"], item["contract"]
    required = list(contract["required"])
    wanted = [*required, *contract.get("optional", ())]
    missing = list(item.get("missing") or [name for name in wanted if name not in call["args"]])
    dialogue = [_said(turn) for turn in item["dialogue"]]
    found = tool_recall.recall(dialogue, call["name"], missing)
    ask = [name for name in required if name not in found and name not in call["args"]]
    return {"id": item["id"], "filled": {name: each.value for name, each in found.items()}, "ask": ask}


def _said(turn: Mapping[str, Any]) -> tool_recall.Said:
    call, result = turn.get("call"), turn.get("result")
    rows = [row for row in result if isinstance(row, Mapping)] if isinstance(result, list) else []
    used = None if call is None else tool_recall.Used(call["name"], call["args"], rows)
    return tool_recall.Said(turn["role"], turn["text"], used)


TASKS: Mapping[str, Predict] = {"context_needs": context_needs, "tool_arguments": tool_arguments}


def predict(task: str, source: Path, target: Path) -> None:
    """Write the predictions; raises `CommandFailed`."""
    make = TASKS.get(task)
    if make is None:
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
    sys.stderr.write(f"{count:,} predictions in {target}\n")


def _write(make: Predict, source: Path, file: BinaryIO) -> int:
    count = 0
    for number, item in _items(source):
        try:
            made = make(item)
        except (KeyError, TypeError) as error:
            raise CommandFailed(f"{source}, line {number}: {_missing(error)}", USAGE) from None
        file.write(orjson.dumps(made) + b"\n")
        count += 1
        if count % SAY_EVERY == 0 and sys.stderr.isatty():
            sys.stderr.write(f"\r{count:,}")
    return count


def _missing(error: Exception) -> str:
    return f"the field {error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)


def _text(item: Mapping[str, Any], name: str) -> str:
    if not isinstance(item[name], str):
        raise TypeError(f"the field {name!r} is no text")
    return str(item[name])


def _items(source: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    try:
        with cast("BinaryIO", gzip.open(source) if source.suffix == ".gz" else source.open("rb")) as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, _item(source, number, line)
    except (OSError, EOFError) as error:
        why = getattr(error, "strerror", None) or error
        raise CommandFailed(f"{source} cannot be read: {why}", USAGE) from None


def _item(source: Path, number: int, line: bytes) -> Mapping[str, Any]:
    try:
        item = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise CommandFailed(f"{source}, line {number}: no JSON: {error}", USAGE) from None
    if not isinstance(item, dict):
        raise CommandFailed(f"{source}, line {number}: no JSON object", USAGE)
    return item
