"""The shipped conversation, documents and profiles, ready to send."""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import PurePath
from secrets import token_hex
from typing import Any

import orjson

from streams.edges import cli_records
from streams.edges.cli_records import Prepared, Whose


@dataclass(frozen=True, slots=True)
class Said:
    """One turn: who said it to whom, and its record."""

    tenant: str
    user: str
    conversation: str
    role: str
    text: str
    record: Prepared


@dataclass(frozen=True, slots=True)
class Script:
    """`texts` are the documents of each tenant, for counting what sending all of them would cost."""

    knowledge: tuple[Prepared, ...]
    turns: tuple[Said, ...]
    texts: dict[str, tuple[str, ...]]


def load(*, fresh: bool) -> Script:
    """The shipped script; `fresh` gives its conversations and messages ids of their own, to play it again."""
    suffix = f"-{token_hex(3)}" if fresh else ""
    knowledge, texts = [], {}
    for tenant in sorted(_shipped("documents").iterdir(), key=lambda place: place.name):
        if not tenant.is_dir():
            continue
        found = [(place.name, place.read_text(encoding="utf-8")) for place in tenant.iterdir()]
        texts[tenant.name] = tuple(text for _, text in sorted(found))
        knowledge += [_document(tenant.name, name, text) for name, text in sorted(found)]
    knowledge += [cli_records.document(line, Whose()) for line in _lines("profiles.jsonl")]
    turns = tuple(_said(orjson.loads(line), suffix) for line in _lines("conversation.jsonl"))
    return Script(tuple(knowledge), turns, texts)


def _shipped(name: str) -> Any:
    return files("streams.demo").joinpath(name)


def _lines(name: str) -> list[bytes]:
    return [line for line in _shipped(name).read_bytes().splitlines() if line.strip()]


def _document(tenant: str, name: str, text: str) -> Prepared:
    value = cli_records.document_of(PurePath(name), text, None, "public")
    return cli_records.document(value, Whose(tenant=tenant))


def _said(event: dict[str, Any], suffix: str) -> Said:
    turn = event["data"]
    for name in ("message_id", "answers", "conversation_id"):
        if name in turn:
            turn[name] += suffix
    event["id"] += suffix
    record = cli_records.message(orjson.dumps(event), Whose())
    return Said(event["tenant"], event["userid"], turn["conversation_id"], turn["role"], turn["content"], record)
