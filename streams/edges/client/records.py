"""Records as a client writes them: a turn, a line of a file, a document, a tool call, with key and headers."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePath
from secrets import token_hex
from typing import Any
from uuid import uuid4

import orjson
from pydantic import ValidationError

from schemas import codec
from schemas.base import entity_key
from schemas.codec import Undecodable
from schemas.envelope import Envelope, Received
from schemas.memory import DocumentSubmitted
from schemas.topics import ASSESSMENTS_IN, DOCUMENTS_IN, MESSAGES_IN, Topic
from streams.edges.client.errors import USAGE, CommandFailed
from streams.edges.client.options import Send

SOURCE = "urn:fathom:cli"
HEADING = re.compile(r"^\s{0,3}#\s+(.+?)\s*#*\s*$", re.MULTILINE)
NOT_IN_ID = re.compile(r"[^\w.-]+")
KINDS = {".md": "markdown", ".markdown": "markdown", ".txt": "text"}


@dataclass(frozen=True, slots=True)
class OutgoingRecord:
    """A record to send; `name` is what the answer to it will call it: the message or the document."""

    topic: str
    key: bytes
    value: bytes
    headers: list[tuple[str, bytes]]
    name: str


@dataclass(frozen=True, slots=True)
class Identity:
    """What the headers say beside the value; None leaves it to the rule of the topic."""

    tenant: str | None = None
    user: str | None = None


class BadInput(Exception):
    """What was given cannot be sent; the text says why."""


def turn(wanted: Send, text: str) -> OutgoingRecord:
    """One turn of a conversation, as the options describe it. Raises `CommandFailed`."""
    fields = {
        "message_id": wanted.message_id or str(uuid4()),
        "role": wanted.role,
        "content": text,
        "conversation_id": wanted.conversation,
        "client_id": wanted.client,
        "created_at": datetime.now(UTC).isoformat(),
        "answers": wanted.answers,
        "look_up": wanted.look_up,
    }
    value = orjson.dumps({name: field for name, field in fields.items() if field is not None})
    try:
        return message(value, Identity(wanted.tenant, wanted.user))
    except BadInput as error:
        raise CommandFailed(f"this is no turn: {error}", USAGE) from None


def message(value: bytes, whose: Identity) -> OutgoingRecord:
    """A value of `messages.in`, in one of its shapes, or a structured CloudEvent around one. Raises `BadInput`."""
    received, envelope, headers = prepare(MESSAGES_IN, value, whose)
    event = received.event
    name = getattr(event, "message_id", None) or envelope.id
    key = received.conversation(event.client_id, event.conversation_id).key()
    return OutgoingRecord(MESSAGES_IN.name, key.encode(), value, headers, name)


def document(value: bytes, whose: Identity) -> OutgoingRecord:
    """A value of `documents.in`, or a structured CloudEvent around one. Raises `BadInput`."""
    received, _, headers = prepare(DOCUMENTS_IN, value, whose)
    document_id = received.event.document_id
    key = entity_key(received.envelope.tenant, document_id)
    return OutgoingRecord(DOCUMENTS_IN.name, key.encode(), value, headers, document_id)


def tool(topic: Topic, value: bytes, whose: Identity) -> OutgoingRecord:
    """A value of one of the `tools.….in` topics, or a structured CloudEvent around one. Raises `BadInput`."""
    received, _, headers = prepare(topic, value, whose)
    event = received.event
    key = received.conversation(event.client_id, event.conversation_id).key()
    return OutgoingRecord(topic.name, key.encode(), value, headers, event.call_id)


def assessment(value: bytes, whose: Identity) -> OutgoingRecord:
    """A value of `assessments.in`, or a structured CloudEvent around one. Raises `BadInput`."""
    received, _, headers = prepare(ASSESSMENTS_IN, value, whose)
    request_id = received.event.request_id
    key = entity_key(received.envelope.tenant, request_id)
    return OutgoingRecord(ASSESSMENTS_IN.name, key.encode(), value, headers, request_id)


def prepare(topic: Topic, value: bytes, whose: Identity) -> tuple[Received[Any], Envelope, list[tuple[str, bytes]]]:
    """The value as the first stage will read it (what that would refuse is not sent), and the headers to send."""
    cloud_event = _cloud_event(value)
    if cloud_event is not None and not cloud_event.get("id"):
        raise BadInput("a CloudEvent needs the attribute 'id'")
    stated = [(name, text.encode()) for name, text in (("tenant", whose.tenant), ("user_id", whose.user)) if text]
    if cloud_event is not None:
        stated.insert(0, ("content-type", codec.STRUCTURED.encode()))
    now = int(datetime.now(UTC).timestamp() * 1000)
    try:
        received = codec.decode(topic, None, value, stated, partition=0, offset=0, timestamp=now)
    except Undecodable as error:
        raise BadInput(str(error)) from None
    if cloud_event is not None:
        return received, received.envelope, stated
    envelope = _fresh(received.envelope, received.event.TYPE)
    return received, envelope, codec.to_headers(envelope)


def document_of(path: PurePath, text: str, title: str | None, access_level: str) -> bytes:
    """A text or Markdown file as a value of `documents.in`; its id is its file name. Raises `BadInput`."""
    heading = HEADING.search(text)
    try:
        submitted = DocumentSubmitted(
            document_id=NOT_IN_ID.sub("-", path.name),
            title=title or (heading.group(1) if heading else path.stem),
            text=text,
            tipo=KINDS.get(path.suffix.lower(), "text"),
            access_level=access_level,
            created_at=datetime.now(UTC),
        )
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise BadInput(f"{first['loc'][0] if first['loc'] else 'document'}: {first['msg']}") from None
    return codec.dump(submitted)


def lines(raw: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """Line numbers, from 1, and the lines that are not blank."""
    for number, line in enumerate(raw, 1):
        if stripped := line.strip():
            yield number, stripped


def _cloud_event(value: bytes) -> dict[str, Any] | None:
    """The attributes and data of a structured CloudEvent; None for anything else."""
    try:
        said = orjson.loads(value)
    except orjson.JSONDecodeError:
        return None  # the codec says what is wrong with it
    return said if isinstance(said, dict) and "specversion" in said and "data" in said else None


def _fresh(envelope: Envelope, kind: str) -> Envelope:
    """The envelope of something that happens now: an id and a trace of its own."""
    event_id = str(uuid4())
    return Envelope(
        id=event_id,
        type=kind,
        source=SOURCE,
        time=envelope.time,
        tenant=envelope.tenant,
        correlation_id=event_id,
        user_id=envelope.user_id,
        traceparent=f"00-{token_hex(16)}-{token_hex(8)}-01",
    )
