"""Decoding and encoding of events: CloudEvents binary and structured, and plain JSON (users' convention A10).

`decode` never guesses: for an invalid record it raises `Undecodable` with a reason code that tells the remedy.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol

import orjson
from pydantic import ValidationError

from schemas.base import PUBLIC_TENANT, Event, derive, printable_id, sentence_of
from schemas.depth import RequestOptions
from schemas.envelope import (
    ERASED,
    KEYS_HEADER,
    PIPELINE_VERSION,
    SCHEMA_VERSION,
    SOURCE,
    USER_BOUND,
    Envelope,
    Erased,
    KeysNeeded,
    Outgoing,
    Received,
    UnreadableBatch,
    header_map,
    is_encrypted,
)
from schemas.envelope import Undecodable as Undecodable
from schemas.topics import MESSAGES_IN, Topic

Headers = Sequence[tuple[str, bytes]]
STRUCTURED = "application/cloudevents+json"
# Fields by which clients try to supply context; it comes from memory only.
CONTEXT_FIELDS = frozenset(
    {
        "history",
        "context",
        "turns",
        "messages",
        "working_set",
        "memory",
        "memories",
        "session",
        "context_pack",
        "pack",
    }
)


def decode(
    topic: Topic,
    key: bytes | None,
    value: bytes | None,
    headers: Headers,
    *,
    partition: int,
    offset: int,
    timestamp: int,
) -> Received[Event]:
    """The event of a record, with an envelope from its headers, completed from its position in the log.

    Raises `Undecodable`, `Erased` where the subject's key is destroyed, `KeysNeeded` for one of ours still encrypted.
    """
    if value is None:
        raise Undecodable("empty", "the record has no value; a tombstone means nothing on this topic")
    if value is ERASED:
        raise Erased
    if isinstance(value, UnreadableBatch):
        raise value.refusal(topic.name, partition, offset)
    if len(value) > topic.max_bytes:
        raise Undecodable("too_large", f"{len(value)} bytes, the limit of {topic.name} is {topic.max_bytes}")
    found = header_map(headers)
    if KEYS_HEADER in found:
        needed = KeysNeeded(f"{topic.name}[{partition}]@{offset}")
        # Anybody who may write can forge the header; on our own topics a stage must not pass what it cannot read.
        raise needed if not topic.outside and is_encrypted(headers, value) else Undecodable("keys_needed", str(needed))
    if topic.outside:
        _refuse_repeated(value)
    if found.get("content-type", "").lower().startswith(STRUCTURED):
        value, found = _unwrap(value, found)
    event = _validate(topic, value)
    envelope = _envelope(event, found, topic, partition, offset, timestamp)
    return Received(event, envelope, (key or b"").decode(errors="replace"), topic.name, partition, offset, timestamp)


class Written(Protocol):
    """A raw record of the log; `timestamp` in ms since the epoch."""

    @property
    def key(self) -> bytes | None: ...
    @property
    def value(self) -> bytes | None: ...
    @property
    def headers(self) -> Headers: ...
    @property
    def partition(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def timestamp(self) -> int: ...


def decode_record(topic: Topic, record: Written) -> Received[Any]:
    """The decoded event of a raw record; raises `Undecodable`."""
    return decode(
        topic,
        record.key,
        record.value,
        record.headers,
        partition=record.partition,
        offset=record.offset,
        timestamp=record.timestamp,
    )


def encode(out: Outgoing, stage: str) -> tuple[bytes, bytes, list[tuple[str, bytes]]]:
    """Key, value and headers of an event to send."""
    return out.key.encode(), dump(out.event), to_headers(out.envelope(stage))


def dump(event: Event) -> bytes:
    """The event's JSON; equal events give equal bytes."""
    return event.model_dump_json().encode()


_FIXED = (
    ("ce_specversion", b"1.0"),
    ("content-type", b"application/json"),
    ("ce_schemaversion", SCHEMA_VERSION.encode()),
    ("ce_pipelineversion", PIPELINE_VERSION.encode()),
)
_OPTIONAL = ("user_id", "request_id", "locale", "tier", "traceparent", "tracestate")


def to_headers(envelope: Envelope) -> list[tuple[str, bytes]]:
    """The envelope as CloudEvents binary-mode headers."""
    headers = [
        *_FIXED,
        ("ce_id", envelope.id.encode()),
        ("ce_type", envelope.type.encode()),
        ("ce_source", envelope.source.encode()),
        ("ce_time", rfc3339(envelope.time).encode()),
        ("tenant", envelope.tenant.encode()),
        ("ce_correlationid", envelope.correlation_id.encode()),
    ]
    if envelope.causation_id is not None:
        headers.append(("ce_causationid", envelope.causation_id.encode()))
    for name in _OPTIONAL:
        text = getattr(envelope, name)
        if text is not None:
            headers.append((name, text.encode()))
    if envelope.user_bound:
        headers.append((USER_BOUND, b"true"))
    if envelope.options is not None:
        for name, stated in envelope.options.stated().items():
            text = ",".join(map(str, stated)) if isinstance(stated, tuple) else str(stated)
            headers.append((name, text.encode()))
    return headers


def rfc3339(moment: datetime) -> str:
    """A UTC time in the format of CloudEvents."""
    return (moment if moment.tzinfo is UTC else moment.astimezone(UTC)).isoformat()[:-6] + "Z"


def _refuse_repeated(value: bytes) -> None:
    """Refuse JSON that gives a name twice: of two values nobody knows which was meant, and parsers differ."""
    try:
        json.loads(value, object_pairs_hook=_names_once, parse_int=len, parse_float=len)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        return  # no JSON, which is found below


def _names_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise Undecodable("schema_invalid", f"the field {twice!r} is given twice; leave one out")
    return found


def _parsed(value: bytes) -> Any:
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError as error:
        raise Undecodable("not_json", f"the value is no JSON: {error!s}") from None


def _validate(topic: Topic, value: bytes) -> Event:
    if topic.outside:
        # pydantic's own parser accepts NaN and Infinity, which are not JSON.
        _parsed(value)
    try:
        # On inner topics an unknown field is a newer producer's; on outside topics it is a mistake to report.
        event: Event = topic.adapter.validate_json(
            value, extra="forbid" if topic.outside else "ignore", by_alias=True, by_name=False
        )
    except ValidationError as error:
        raise _explain(error, shapes=len(topic.events) > 1) from None
    return event


def _explain(error: ValidationError, *, shapes: bool) -> Undecodable:
    """The refusal; with `shapes` every place begins with the name of the event, which is no field."""
    details: list[dict[str, Any]] = [
        {**detail, "loc": detail["loc"][1:] if shapes else detail["loc"], "msg": sentence_of(detail)}
        for detail in error.errors(include_url=False, include_context=False)
    ]
    for detail in details:
        if detail["type"] == "json_invalid":
            return Undecodable("not_json", f"the value is no JSON: {detail['msg']}")
        field = str(detail["loc"][-1]) if detail["loc"] else ""
        if field in CONTEXT_FIELDS and (detail["type"] == "extra_forbidden" or not isinstance(detail["input"], bool)):
            return Undecodable(
                "context_field_not_allowed",
                f"the field {field!r} is not accepted: context comes from memory, never from the client",
            )
    for detail in details:
        if detail["loc"] and detail["loc"][-1] == "role" and detail["type"] in ("enum", "literal_error"):
            return Undecodable("unknown_role", f"role: {detail['msg']}")
    return Undecodable("schema_invalid", "; ".join(map(_at_its_place, details[:5])))


def _unwrap(value: bytes, found: dict[str, str]) -> tuple[bytes, dict[str, str]]:
    """The data of a structured-mode CloudEvent, and its attributes in the form of headers."""
    envelope = _parsed(value)
    if not isinstance(envelope, dict) or "data" not in envelope:
        raise Undecodable("bad_envelope", "a structured CloudEvent is an object with a field 'data'")
    attributes = {f"ce_{name}": str(text) for name, text in envelope.items() if name != "data" and text is not None}
    try:
        return orjson.dumps(envelope["data"]), {**found, **attributes}
    except TypeError:
        # orjson reads deeper than it writes.
        raise Undecodable("not_json", "the data of the event is nested too deeply") from None


# Header names by the attribute they fill; where two names mean one, the plain one takes precedence over `ce_`.
_ATTRIBUTES = {
    "ce_id": "id",
    "ce_correlationid": "correlation_id",
    "ce_causationid": "causation_id",
    "ce_tenant": "tenant",
    "ce_userid": "user_id",
    "ce_requestid": "request_id",
    "ce_locale": "locale",
    "ce_tier": "tier",
    "tenant": "tenant",
    "user_id": "user_id",
    "request_id": "request_id",
    "locale": "locale",
    "tier": "tier",
}

_TENANT = ("tenant", "ce_tenant")
# Attributes of CloudEvents have no underscore in their names.
_OPTION_HEADERS = tuple((f"ce_{name.replace('_', '')}", name) for name in RequestOptions.model_fields)


def _envelope(
    event: Event, found: dict[str, str], topic: Topic, partition: int, offset: int, timestamp: int
) -> Envelope:
    ids: dict[str, str] = {}
    for name in _TENANT:
        # Treated as absent, it would file the record under the client's name: in the wrong tenant's memory.
        if found.get(name) == "":
            raise Undecodable("bad_envelope", f"{name}: the tenant is stated and is empty or no text")
    for name, text in found.items():
        attribute = _ATTRIBUTES.get(name)
        if attribute is not None and text and (attribute not in ids or not name.startswith("ce_")):
            ids[attribute] = _checked(text, name)
    if "tenant" not in ids:
        ids["tenant"] = event.__dict__.get("client_id") or "default"
    if ids["tenant"] == PUBLIC_TENANT and not topic.shared:
        raise Undecodable("bad_envelope", "the tenant '_public' is shared: it has documents, and nothing else")
    if "id" not in ids:
        # The position gives the id only where no header does.
        ids["id"] = derive(f"{topic.name}:{partition}:{offset}")
    ids.setdefault("correlation_id", ids["id"])
    return Envelope(
        type=found.get("ce_type") or event.TYPE,
        source=found.get("ce_source") or SOURCE,
        time=_time(event, found, timestamp),
        traceparent=found.get("traceparent") or None,
        tracestate=found.get("tracestate") or None,
        options=_options(found) if topic.name == MESSAGES_IN.name else None,
        user_bound=(found.get(USER_BOUND) or found.get("ce_userbound")) == "true",
        **ids,
    )


def _options(found: Mapping[str, str]) -> RequestOptions | None:
    """The options of a message's headers; None without any."""
    stated = {name: text for ce, name in _OPTION_HEADERS if (text := found.get(name) or found.get(ce))}
    return options_of(stated) if stated else None


def options_of(stated: Mapping[str, str]) -> RequestOptions:
    """Options by their header names and texts, `have` with commas; raises `Undecodable` with the code bad_options."""
    values: dict[str, Any] = dict(stated)
    if "have" in values:
        values["have"] = tuple(each.strip() for each in stated["have"].split(",") if each.strip())
    try:
        return RequestOptions(**values)
    except ValidationError as error:
        raise Undecodable("bad_options", _first_sentence(error)) from None


def _first_sentence(error: ValidationError) -> str:
    return _at_its_place(error.errors(include_url=False, include_context=False, include_input=False)[0])


def _at_its_place(error: Mapping[str, Any]) -> str:
    return f"{'.'.join(map(str, error['loc']))}: {sentence_of(error)}".removeprefix(": ")


def _time(event: Event, found: dict[str, str], timestamp: int) -> datetime:
    try:
        logged_at = datetime.fromtimestamp(timestamp / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        raise Undecodable("bad_envelope", f"the record's timestamp {timestamp} is no time") from None
    stated = found.get("ce_time")
    if stated:
        try:
            moment = datetime.fromisoformat(stated)
        except ValueError:
            raise Undecodable("bad_envelope", "ce_time is no RFC 3339 time") from None
        if moment.tzinfo is None:
            raise Undecodable("bad_envelope", "ce_time has no time zone")
        return _utc(moment, "ce_time")
    created = event.__dict__.get("created_at")
    return _utc(created, "created_at") if isinstance(created, datetime) else logged_at


def _utc(moment: datetime, name: str) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise Undecodable("bad_envelope", f"{name} is not within the years 1 to 9999") from None


def _checked(text: str, name: str) -> str:
    try:
        return printable_id(text)
    except ValueError as error:
        raise Undecodable("bad_envelope", f"{name}: {error}") from None
