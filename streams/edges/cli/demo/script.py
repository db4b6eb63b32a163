"""The shipped conversation, with concurrent tool calls, documents and profiles, as records to send."""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from secrets import token_hex
from typing import Any

import orjson

from schemas.chat import ChatMessage
from schemas.topics import DOCUMENTS_IN, TOPICS, Topic
from streams.edges.client import records
from streams.edges.client.records import Identity, OutgoingRecord

TAKES: dict[str, Topic] = {event.TYPE: topic for topic in TOPICS if topic.outside for event in topic.events}
# Ids that must be unique to one play of the script.
IDS = ("message_id", "answers", "conversation_id", "session_id", "call_id", "request_id")


@dataclass(frozen=True, slots=True)
class ScriptStep:
    """One record to send: a turn, a tool's result, a call, a confirmation, or a query to assess.

    `conversation` is empty for a query. Where the script says so, `evidence` are the words that the answer depends on,
    and `shows` is what the step is the example of.
    """

    tenant: str
    user: str
    conversation: str
    event: Any
    record: OutgoingRecord
    evidence: tuple[str, ...] = ()
    shows: str | None = None

    @property
    def is_turn(self) -> bool:
        return isinstance(self.event, ChatMessage)

    @property
    def by_assistant(self) -> bool:
        """Whether it is a turn without a pack."""
        return self.is_turn and self.event.role != "user"


@dataclass(frozen=True, slots=True)
class Script:
    """`texts` are the documents of each tenant, for the token count of sending all of them."""

    knowledge: tuple[OutgoingRecord, ...]
    steps: tuple[ScriptStep, ...]
    texts: dict[str, tuple[str, ...]]

    @property
    def turns(self) -> tuple[ScriptStep, ...]:
        return tuple(step for step in self.steps if step.is_turn)


def load(*, fresh: bool) -> Script:
    """The shipped script; `fresh` gives its conversations, messages and calls new ids, to play it again."""
    suffix = f"-{token_hex(3)}" if fresh else ""
    shipped = Path(str(files("streams.edges.cli.demo")))
    knowledge: list[OutgoingRecord] = []
    texts: dict[str, tuple[str, ...]] = {}
    for path in sorted(shipped.glob("documents/*/*")):
        text, tenant = path.read_text(encoding="utf-8"), path.parent.name
        texts[tenant] = (*texts.get(tenant, ()), text)
        knowledge.append(records.record_of(DOCUMENTS_IN, records.document_of(path, text), Identity(tenant)))
    knowledge += [records.record_of(DOCUMENTS_IN, line) for line in _lines(shipped / "profiles.jsonl")]
    steps = tuple(_step(orjson.loads(line), suffix) for line in _lines(shipped / "conversation.jsonl"))
    return Script(tuple(knowledge), steps, texts)


def _lines(path: Path) -> list[bytes]:
    with path.open("rb") as file:
        return [line for _, line in records.lines(file)]


def _step(event: dict[str, Any], suffix: str) -> ScriptStep:
    """A line of the script; its type determines the topic."""
    fields, topic = event["data"], TAKES[event["type"]]
    for name in IDS:
        if name in fields:
            fields[name] += suffix
    event["id"] += suffix
    conversation = fields.get("conversation_id") or fields.get("session_id", "")
    sent = topic.adapter.validate_python(fields, by_alias=True, by_name=False)
    return ScriptStep(
        event["tenant"], event["userid"], conversation, sent, records.record_of(topic, orjson.dumps(event))
    )
