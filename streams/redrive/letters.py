"""Dead letters as their topics hold them, and the marks that say what became of them; pure.

A dead-letter topic is a log: nothing in it is changed. What was redriven or discarded is marked by a later record of
the same partition, without a value, whose headers name the letter; the last mark of a letter holds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol, get_args

import orjson

from schemas import codec
from schemas.base import derive
from schemas.codec import Undecodable
from schemas.envelope import Envelope, header_map
from schemas.topics import BY_NAME
from streams.runtime import dead_letters
from streams.runtime.dead_letters import REASON, STAGE, STREAMS, LogPosition

MARK, MARK_OF, MARK_TO = "fathom_mark", "fathom_mark_of", "fathom_mark_to"
# On a redriven record, and so on the dead letter that it may become again.
REDRIVES = "fathom_redrives"
ID, TIME = "ce_id", "ce_time"

Headers = Sequence[tuple[str, bytes]]
State = Literal["open", "redriven", "discarded"]
STATES: tuple[State, ...] = get_args(State)


class RawRecord(codec.Written, Protocol):
    """A record of a dead-letter topic, in raw bytes."""

    @property
    def topic(self) -> str: ...


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """One dead letter without its bytes: where it is, what failed, and whose it is.

    `at` is its own position, `original` the failed record's (None where no header tells), times are ms since the epoch.
    `event_id` is the id of the failed event, by which its effects are derived; `message_id` the one that its value
    states, else the same; `ids` are all it is known by. `redrives` is how often it had been sent again when it failed;
    a `bare` one has neither key nor value; `partial` says why it is not one whole record, which alone can be sent
    again.
    """

    at: LogPosition
    time: int
    stage: str
    reason: str
    detail: str
    exception: str
    attempts: int
    original: LogPosition | None
    original_time: int
    tenant: str
    event_id: str
    message_id: str
    ids: tuple[str, ...]
    redrives: int
    bare: bool
    partial: str | None = None


@dataclass(frozen=True, slots=True)
class LetterMark:
    """What became of a letter: the state it has since `time`, and where it was sent to."""

    of: LogPosition
    state: State
    time: int
    to: str


@dataclass(frozen=True, slots=True)
class Original:
    """A failed record as it is sent again: the same bytes, key and headers, to the same partition."""

    to: LogPosition
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes]]


def letter_of(record: RawRecord) -> DeadLetter | None:
    """The letter of a record; None for a mark or an outsider's record."""
    found = header_map(record.headers)
    # Checked before the marks: the headers of a failed record are a producer's, and may say what they like.
    if REASON not in found:
        return None
    original = dead_letters.place_of(record.headers)
    when = original_time(record)
    envelope = _envelope(record, original, when)
    value = _fields(record.value)
    own = _own_id(found, original) if envelope is None else envelope.id
    stated = value.get("message_id")
    message_id = stated if isinstance(stated, str) and stated else own
    ids = (message_id, own, found.get("ce_correlationid", ""))
    return DeadLetter(
        at=LogPosition(record.topic, record.partition, record.offset),
        time=record.timestamp,
        stage=found.get(STAGE, ""),
        reason=found[REASON],
        detail=found.get(STREAMS + "message", ""),
        exception=found.get(STREAMS + "exception", ""),
        attempts=_number(found.get(dead_letters.ATTEMPTS, "1")),
        original=original,
        original_time=when,
        tenant=_tenant(found, value) if envelope is None else envelope.tenant,
        event_id=own,
        message_id=message_id,
        ids=tuple(dict.fromkeys(each for each in ids if each)),
        redrives=redrives_of(record.headers),
        bare=record.key is None and record.value is None,
        partial=_why_partial(found),
    )


def mark_of(record: RawRecord) -> LetterMark | None:
    """The mark of a record; None for a letter or anything else."""
    found = header_map(record.headers)
    partition, _, offset = found.get(MARK_OF, "").partition(":")
    state = next((known for known in STATES if known == found.get(MARK)), None)
    if REASON in found or state is None or not (partition.isdecimal() and offset.isdecimal()):
        return None
    return LetterMark(
        LogPosition(record.topic, int(partition), int(offset)), state, record.timestamp, found.get(MARK_TO, "")
    )


def mark_headers(of: LogPosition, state: State, to: str = "") -> list[tuple[str, bytes]]:
    """The headers of a mark, which is written to the letter's own partition."""
    told = {MARK: state, MARK_OF: f"{of.partition}:{of.offset}", **({MARK_TO: to} if to else {})}
    return [(name, text.encode()) for name, text in told.items()]


def original_of(record: RawRecord, letter: DeadLetter, redrives: int) -> Original:
    """The failed record to send again for the `redrives`-th time.

    Its id and time are stated where they came from its position, so that what it makes has the ids it would have had.
    """
    assert letter.original is not None
    found = header_map(record.headers)
    kept = [each for each in record.headers if not dead_letters.is_added(each[0]) and each[0] != REDRIVES]
    if not found.get(ID):
        kept.append((ID, letter.event_id.encode()))
    envelope = _envelope(record, letter.original, letter.original_time)
    if envelope is not None and not found.get(TIME):
        kept.append((TIME, codec.rfc3339(envelope.time).encode()))
    kept.append((REDRIVES, str(redrives).encode()))
    return Original(letter.original, record.key, record.value, kept)


def redrives_of(headers: Headers) -> int:
    """How often a record was sent again: by its own count, or by the letters before it that a foreign tool left."""
    stated = max(
        (_number(bytes(value).decode(errors="replace")) for name, value in headers if name == REDRIVES), default=0
    )
    return max(stated, sum(name == REASON for name, _ in headers) - 1)


def original_time(record: RawRecord) -> int:
    """The time of the failed record in ms; of its letter, where earlier versions did not keep it."""
    name = dead_letters.SPRING + "timestamp"
    texts = [dead_letters.header_text(each, value) for each, value in record.headers if each == name]
    return int(texts[-1]) if texts and texts[-1].lstrip("-").isdecimal() else record.timestamp


def stored_at(letter: DeadLetter, now: datetime) -> int:
    """The time in ms that the record gets when it is sent again: its own, unless its topic would soon delete it."""
    topic, millis = BY_NAME.get(letter.original.topic if letter.original else ""), round(now.timestamp() * 1000)
    too_old = topic is not None and millis - letter.original_time > topic.retention.total_seconds() * 1000 / 2
    return millis if too_old else letter.original_time


def _envelope(record: RawRecord, original: LogPosition | None, when: int) -> Envelope | None:
    """The envelope of the failed record; None where it is no event of its topic."""
    if original is None or (topic := BY_NAME.get(original.topic)) is None:
        return None
    kept = [each for each in record.headers if not dead_letters.is_added(each[0])]
    where = {"partition": original.partition, "offset": original.offset, "timestamp": when}
    try:
        return codec.decode(topic, record.key, record.value, kept, **where).envelope
    except Undecodable:
        return None


def _why_partial(found: dict[str, str]) -> str | None:
    if found[REASON] == "unreadable_batch":
        return (
            "it is a batch that no client can read, not a record: have its producer send the records again, then "
            "discard it (`fathom dlq show --raw` gives its bytes)"
        )
    if (left_out := found.get(dead_letters.LEFT_OUT)) is not None:
        return (
            f"it was too large for a dead letter, so its value is not here ({left_out}): have its producer send it "
            "again in smaller parts, then discard it"
        )
    return None


def _own_id(found: dict[str, str], original: LogPosition | None) -> str:
    return found.get(ID) or ("" if original is None else derive(str(original)))


def _fields(value: bytes | None) -> dict[str, object]:
    """The fields of a value, or of the event in it; none where it is no JSON object."""
    try:
        event = orjson.loads(value or b"")
    except orjson.JSONDecodeError:
        return {}
    if isinstance(event, dict) and isinstance(event.get("data"), dict):
        return {**event, **event["data"]}
    return event if isinstance(event, dict) else {}


def _tenant(found: dict[str, str], value: dict[str, object]) -> str:
    """The tenant that an undecodable record states; empty for none."""
    client = value.get("client_id")
    return found.get("tenant") or found.get("ce_tenant") or (client if isinstance(client, str) else "")


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0
