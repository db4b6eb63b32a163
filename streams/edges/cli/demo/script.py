"""The shipped conversation, what agents do beside it, documents and profiles, ready to send."""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import PurePath
from secrets import token_hex
from typing import Any

import orjson

from schemas.topics import ASSESSMENTS_IN, MESSAGES_IN, TOPICS, Topic
from streams.edges.client import records
from streams.edges.client.records import Identity, OutgoingRecord

TAKES: dict[str, Topic] = {event.TYPE: topic for topic in TOPICS if topic.outside for event in topic.events}
# Ids that one play of the script must not share with another.
IDS = ("message_id", "answers", "conversation_id", "session_id", "call_id", "request_id")


@dataclass(frozen=True, slots=True)
class ScriptTurn:
    """One turn: who said it to whom, and its record."""

    tenant: str
    user: str
    conversation: str
    role: str
    text: str
    record: OutgoingRecord


@dataclass(frozen=True, slots=True)
class ToolStep:
    """What an agent or its user sent beside the talk: a tool's result, a call, a yes, a query to assess.

    `conversation` is empty for a query.
    """

    tenant: str
    user: str
    conversation: str
    event: Any
    record: OutgoingRecord


@dataclass(frozen=True, slots=True)
class Script:
    """`texts` are the documents of each tenant, for counting what sending all of them would cost."""

    knowledge: tuple[OutgoingRecord, ...]
    steps: tuple[ScriptTurn | ToolStep, ...]
    texts: dict[str, tuple[str, ...]]

    @property
    def turns(self) -> tuple[ScriptTurn, ...]:
        return tuple(step for step in self.steps if isinstance(step, ScriptTurn))

    @property
    def acts(self) -> tuple[ToolStep, ...]:
        return tuple(step for step in self.steps if isinstance(step, ToolStep))


def load(*, fresh: bool) -> Script:
    """The shipped script; `fresh` gives its conversations, messages and calls ids of their own, to play it again."""
    suffix = f"-{token_hex(3)}" if fresh else ""
    knowledge, texts = [], {}
    for tenant in sorted(_shipped("documents").iterdir(), key=lambda place: place.name):
        if not tenant.is_dir():
            continue
        found = [(place.name, place.read_text(encoding="utf-8")) for place in tenant.iterdir()]
        texts[tenant.name] = tuple(text for _, text in sorted(found))
        knowledge += [_document(tenant.name, name, text) for name, text in sorted(found)]
    knowledge += [records.document(line, Identity()) for line in _lines("profiles.jsonl")]
    steps = tuple(_step(orjson.loads(line), suffix) for line in _lines("conversation.jsonl"))
    return Script(tuple(knowledge), steps, texts)


def _shipped(name: str) -> Any:
    return files("streams.edges.cli.demo").joinpath(name)


def _lines(name: str) -> list[bytes]:
    return [line for line in _shipped(name).read_bytes().splitlines() if line.strip()]


def _document(tenant: str, name: str, text: str) -> OutgoingRecord:
    value = records.document_of(PurePath(name), text, None, "public")
    return records.document(value, Identity(tenant=tenant))


def _step(event: dict[str, Any], suffix: str) -> ScriptTurn | ToolStep:
    """A line of the script; its type says to which topic it goes."""
    fields = event["data"]
    for name in IDS:
        if name in fields:
            fields[name] += suffix
    event["id"] += suffix
    tenant, user, raw = event["tenant"], event["userid"], orjson.dumps(event)
    topic = TAKES[event["type"]]
    if topic is MESSAGES_IN:
        record = records.message(raw, Identity())
        return ScriptTurn(tenant, user, fields["conversation_id"], fields["role"], fields["content"], record)
    record = records.assessment(raw, Identity()) if topic is ASSESSMENTS_IN else records.tool(topic, raw, Identity())
    acted = topic.adapter.validate_python(fields)
    return ToolStep(tenant, user, fields.get("session_id", ""), acted, record)
