"""The CloudEvents 1.0 envelope that travels in Kafka headers, binary mode; `tenant` and trace context beside it.

Named tuples: some are made for every record, and a frozen dataclass costs several times as much.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final, Generic, NamedTuple, TypeVar

import orjson

from schemas.base import Conversation, Event, derive
from schemas.depth import RequestOptions
from schemas.topics import Topic

E = TypeVar("E", bound=Event, covariant=True)

SOURCE = "urn:fathom"
SCHEMA_VERSION = "1"
PIPELINE_VERSION = "1"
MAX_DETAIL_CHARS = 500
# The ids of the keys that a record's value is encrypted under, with commas; a reader with the keys never shows it.
KEYS_HEADER = "fathom-keys"
# That the sender speaks for the stated user alone.
USER_BOUND = "user_bound"


class Undecodable(ValueError):
    """A record that is not an event of its topic.

    `code` is one of not_json, schema_invalid, context_field_not_allowed, unknown_role, too_large, bad_envelope,
    bad_options, empty, erased, keys_needed, unreadable_batch.
    """

    def __init__(self, code: str, detail: str) -> None:
        # The name of a hostile field may be as long as its record; the detail goes into headers and logs.
        detail = detail[:MAX_DETAIL_CHARS]
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail


class Erased(Undecodable):
    """A record whose content was erased with the key of a person whom it is about: nothing is wrong with it."""

    def __init__(self) -> None:
        super().__init__("erased", "the key of the person whom the record is about was destroyed")


class ErasedValue(bytes):
    """The type of `ERASED`: its own, so that no bytes of a log are taken for it."""


# The value of an erased record, as a reader with the keys returns it.
ERASED: Final = ErasedValue()


class UnreadableBatch(bytes):
    """The value of what stands for a record batch that no client can read: the batch's bytes as the broker has them.

    Its own type, so that no bytes of a log are taken for it. `first` is the offset of its first record that was not
    read; the record that has this value has the offset of its last one.
    """

    why: str
    first: int

    @classmethod
    def of(cls, raw: bytes, *, why: str, first: int) -> "UnreadableBatch":
        """The value for a batch."""
        made = cls(raw)
        made.why, made.first = why, first
        return made

    def refusal(self, topic: str, partition: int, offset: int) -> Undecodable:
        """The error of the record that stands for the batch, at its position."""
        where = f"{topic}[{partition}]@{self.first}" + (f" to {offset}" if offset > self.first else "")
        return Undecodable("unreadable_batch", f"{where}: {self.why}; its producer has to send its records again")


class KeysNeeded(Exception):
    """A record that is still encrypted where it should be read; the text names the setting."""

    def __init__(self, place: str) -> None:
        super().__init__(
            f"{place} is encrypted under keys that this process does not have, or was changed since: set "
            "FATHOM_SUBJECT_KEYS to the key store of the worker that wrote it, and FATHOM_MASTER_KEY_FILE to its key"
        )


def is_encrypted(headers: Sequence[tuple[str, bytes | None]], value: bytes | None) -> bool:
    """Whether a record is still under the keys that its last header names: then its value is no JSON."""
    if not value or not headers or headers[-1][0] != KEYS_HEADER:
        return False
    try:
        orjson.loads(value)
    except orjson.JSONDecodeError:
        return True
    return False


class Envelope(NamedTuple):
    """The metadata of an event: its cause, its time (event time, UTC), its tenant, and its trace.

    `options` are those in the headers of a user's message; later events carry them as a field. `user_bound` says that
    the sender speaks for this user alone, and may name no conversation in which the user does not take part.
    """

    id: str
    type: str
    source: str
    time: datetime
    tenant: str
    correlation_id: str
    causation_id: str | None = None
    user_id: str | None = None
    request_id: str | None = None
    locale: str | None = None
    tier: str | None = None
    traceparent: str | None = None
    tracestate: str | None = None
    options: RequestOptions | None = None
    user_bound: bool = False


class Position(NamedTuple):
    """The position of a record in the log."""

    topic: str
    partition: int
    offset: int


class Received(NamedTuple, Generic[E]):
    """A decoded record: the event, its envelope, its position; `timestamp` in ms since the epoch."""

    event: E
    envelope: Envelope
    key: str
    topic: str
    partition: int
    offset: int
    timestamp: int

    @property
    def logged_at(self) -> datetime:
        """The time the record was written to the log, by its timestamp."""
        return datetime.fromtimestamp(self.timestamp / 1000, UTC)

    @property
    def position(self) -> Position:
        return Position(self.topic, self.partition, self.offset)

    def conversation(self, client_id: str, conversation_id: str) -> Conversation:
        """The conversation of this tenant."""
        return Conversation(tenant=self.envelope.tenant, client_id=client_id, conversation_id=conversation_id)


class Outgoing(NamedTuple):
    """An event to send: its topic, key and cause; the id is derived from cause, stage and `discriminator`.

    `partition` is set by the join, which writes to the partition it reads; `settles` are the held inputs that are done
    once this event is acknowledged; `stage` is the one it belongs to, where another makes it along with its own.
    """

    topic: Topic
    key: str
    event: Event
    cause: Envelope
    discriminator: str = ""
    partition: int | None = None
    settles: tuple[Position, ...] = ()
    stage: str = ""

    def envelope(self, stage: str) -> Envelope:
        """The envelope of the event: same tenant, trace and event time as its cause, its own derived id."""
        cause, stage = self.cause, self.stage or stage
        # `_replace` takes three times as long, and this runs for every record.
        return Envelope(
            derive(cause.id, stage, self.topic.name, self.discriminator),
            self.event.TYPE,
            f"{SOURCE}:{stage}",
            cause.time,
            cause.tenant,
            cause.correlation_id,
            cause.id,
            cause.user_id,
            cause.request_id,
            cause.locale,
            cause.tier,
            cause.traceparent,
            cause.tracestate,
        )


class Settled(NamedTuple):
    """Held inputs that are done without output: duplicates, ticks."""

    positions: tuple[Position, ...]


class Refused(NamedTuple):
    """Held inputs that cannot be joined: dead letters, with the reason."""

    positions: tuple[Position, ...]
    code: str
    detail: str


Step = Outgoing | Settled | Refused


def header_map(headers: Iterable[tuple[str, bytes | None]]) -> dict[str, str]:
    """Headers as text; the last one of a name wins; empty where it has no value or is not text."""
    found: dict[str, str] = {}
    for name, value in headers:
        try:
            found[name] = "" if value is None else bytes(value).decode()
        except UnicodeDecodeError:
            found[name] = ""
    return found
