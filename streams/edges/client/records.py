"""Records as sent by clients: a turn, a document, a tool call, feedback, with key and headers."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePath
from secrets import token_hex
from typing import Any
from uuid import uuid4

import orjson
from pydantic import ValidationError

from schemas import codec
from schemas.base import entity_key, sentence_of
from schemas.codec import Undecodable
from schemas.envelope import Envelope, Received
from schemas.memory import DocumentSubmitted
from schemas.topics import MESSAGES_IN, Topic
from streams.edges.client.errors import USAGE, CommandFailed
from streams.edges.client.in_english import fields_of

SOURCE = "urn:fathom:cli"
HEADING = re.compile(r"^\s{0,3}#\s+(.+?)\s*#*\s*$", re.MULTILINE)
NOT_IN_ID = re.compile(r"[^\w.-]+")
KINDS = {".md": "markdown", ".markdown": "markdown", ".txt": "text"}
# The id field of each event, by which its answers refer to it and an entity's key is made.
NAMES = ("call_id", "request_id", "document_id", "claim_id", "consultation_id", "message_id")


@dataclass(frozen=True, slots=True)
class OutgoingRecord:
    """A record to send; `name` is the id by which its answer refers to it: of the message or the document."""

    topic: str
    key: bytes
    value: bytes
    headers: list[tuple[str, bytes]]
    name: str


@dataclass(frozen=True, slots=True)
class Identity:
    """Tenant, user, trace and language as the headers state them; None leaves it to the rule of the topic.

    `event_id` is the id of what happens once, however often it is sent; None makes a new one. `bound`: the sender
    speaks for this user alone.
    """

    tenant: str | None = None
    user: str | None = None
    traceparent: str | None = None
    event_id: str | None = None
    source: str = SOURCE
    locale: str | None = None
    bound: bool = False


NOBODY = Identity()


class BadInput(Exception):
    """Input that cannot be sent; the text gives the reason."""


def turn(
    text: str,
    whose: Identity = NOBODY,
    *,
    client: str = "default",
    conversation: str = "default",
    role: str = "user",
    message_id: str | None = None,
    answers: str | None = None,
    at: datetime | None = None,
    **options: object,
) -> OutgoingRecord:
    """One turn of a conversation, dated now unless stated otherwise, with the fields of `RequestOptions`.

    Raises `CommandFailed`.
    """
    fields = {
        "message_id": message_id or str(uuid4()),
        "role": role,
        "content": text,
        "conversation_id": conversation,
        "client_id": client,
        "created_at": (at or datetime.now(UTC)).isoformat(),
        "answers": answers,
        **options,
    }
    return of_fields(MESSAGES_IN, fields, whose, refusal="this message cannot be sent")


def of_fields(
    topic: Topic, fields: Mapping[str, object], whose: Identity, *, refusal: str = "this cannot be sent"
) -> OutgoingRecord:
    """An event by its fields, without those that are None. Raises `CommandFailed`, starting with the refusal."""
    try:
        return record_of(topic, orjson.dumps({name: text for name, text in fields.items() if text is not None}), whose)
    except BadInput as error:
        raise CommandFailed(f"{refusal}: {fields_of(topic, str(error))}", USAGE) from None


def record_of(topic: Topic, value: bytes, whose: Identity = NOBODY) -> OutgoingRecord:
    """A value of an `….in` topic, or a structured CloudEvent with one; checked as by its first stage before sending.

    Raises `BadInput`.
    """
    received, envelope, headers = _prepared(topic, value, whose)
    event = received.event
    name = next((str(found) for field in NAMES if (found := getattr(event, field, None))), envelope.id)
    if topic.key == "conversation":
        key = received.conversation(event.client_id, event.conversation_id).key()
    else:
        key = entity_key(received.envelope.tenant, name)
    return OutgoingRecord(topic.name, key.encode(), value, headers, name)


def document_of(path: PurePath, text: str, /, title: str | None = None, **fields: object) -> bytes:
    """A text as a value of `documents.in`, with the file's name unless a field states one. Raises `BadInput`."""
    heading = HEADING.search(text)
    found = {
        "document_id": NOT_IN_ID.sub("-", path.name),
        "title": title or (heading.group(1) if heading else path.stem),
        "text": text,
        "tipo": KINDS.get(path.suffix.lower(), "text"),
        "created_at": datetime.now(UTC),
    }
    try:
        return codec.dump(DocumentSubmitted.model_validate(found | fields, by_alias=True, by_name=False))
    except ValidationError as error:
        raise BadInput(first_wrong(error, "document")) from None


def first_wrong(error: ValidationError, whole: str) -> str:
    """The first error, without its value; `whole` is the name to use where it is not in a single field."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return f"{first['loc'][0] if first['loc'] else whole}: {sentence_of(first)}"


def lines(raw: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """Line numbers, from 1, and the non-blank lines."""
    for number, line in enumerate(raw, 1):
        if stripped := line.strip():
            yield number, stripped


def _prepared(topic: Topic, value: bytes, whose: Identity) -> tuple[Received[Any], Envelope, list[tuple[str, bytes]]]:
    """The value as read by the first stage, its envelope and the headers to send."""
    cloud_event = _cloud_event(value)
    if cloud_event is not None and not cloud_event.get("id"):
        raise BadInput("a CloudEvent needs the attribute 'id'")
    named = {"tenant": whose.tenant, "user_id": whose.user, "locale": whose.locale}
    stated = [(name, text.encode()) for name, text in named.items() if text]
    if cloud_event is not None:
        stated.insert(0, ("content-type", codec.STRUCTURED.encode()))
    now = int(datetime.now(UTC).timestamp() * 1000)
    try:
        received = codec.decode(topic, None, value, stated, partition=0, offset=0, timestamp=now)
    except Undecodable as error:
        raise BadInput(error.detail) from None
    if cloud_event is not None:
        return received, received.envelope, stated
    envelope = _fresh(received.envelope, received.event.TYPE, whose)
    return received, envelope, codec.to_headers(envelope)


def _cloud_event(value: bytes) -> dict[str, object] | None:
    """The attributes and data of a structured CloudEvent; None for anything else."""
    try:
        said = orjson.loads(value)
    except orjson.JSONDecodeError:
        return None  # the codec reports the error
    return said if isinstance(said, dict) and "specversion" in said and "data" in said else None


def _fresh(envelope: Envelope, kind: str, whose: Identity) -> Envelope:
    """The envelope of something that happens now, with an id of its own."""
    event_id = whose.event_id or str(uuid4())
    trace = whose.traceparent or f"00-{token_hex(16)}-{token_hex(8)}-01"
    return envelope._replace(
        id=event_id, type=kind, source=whose.source, correlation_id=event_id, traceparent=trace, user_bound=whose.bound
    )
