"""Dead letters: their headers, and the limit at which they stop a stage.

Both common header families are written, each in its own form, so that existing tools can redrive: Kafka Streams'
(KIP-1034), whose values are text, and Spring's, whose numbers are big-endian bytes. Bytes, key and headers are the
original's; of one that does not fit with them the value is left out, and its hash and length are there.
"""

import hashlib
import logging
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from agents.ports.handlers import FailureHandler
from schemas.base import Event
from schemas.envelope import Outgoing, Received
from schemas.topics import dead_letter_topic
from streams.kafka.records import Record

LOGGER = logging.getLogger("fathom.stage")
BUG = "bug"
MAX_WHY = 500
STREAMS, SPRING = "__streams.errors.", "kafka_dlt-original-"
STAGE, REASON, ATTEMPTS = "fathom_stage", "fathom_reason", "fathom_attempts"
# Of a letter that was too large with its original's value: the value's SHA-256 and its length.
LEFT_OUT = "fathom_left_out"
# Spring's numbers by name, with their bytes. Earlier dead letters hold them as text.
SPRING_BYTES = {SPRING + "partition": 4, SPRING + "offset": 8, SPRING + "timestamp": 8}
TRACE_CHARS = 32
RATIO_WINDOW = 2_000
Headers = Sequence[tuple[str, bytes]]


@dataclass(frozen=True, slots=True)
class Failure:
    """The failure of a record: a reason code, one sentence, the exception's name, the number of attempts."""

    code: str
    detail: str
    exception: str
    attempts: int = 1


def headers_of(record: Record, stage: str, failure: Failure) -> list[tuple[str, bytes]]:
    """The headers of a dead letter: the original ones, then what failed, where, why and how often."""
    place: dict[str, str | int] = {"topic": record.topic, "partition": record.partition, "offset": record.offset}
    fingerprint = hashlib.sha256(f"{failure.exception}:{failure.detail}".encode()).hexdigest()[:TRACE_CHARS]
    added: dict[str, str | int] = {
        STREAMS + "exception": failure.exception,
        STREAMS + "message": failure.detail,
        # A hash groups like failures; a real stack trace would carry the record's contents into headers.
        STREAMS + "stacktrace": fingerprint,
        **{STREAMS + name: value for name, value in place.items()},
        **{SPRING + name: value for name, value in place.items()},
        SPRING + "timestamp": record.timestamp,
        SPRING + "timestamp-type": "CREATE_TIME",
        STAGE: stage,
        REASON: failure.code,
        ATTEMPTS: failure.attempts,
    }
    return [*record.headers, *((name, _bytes_of(name, value)) for name, value in added.items())]


def forms_of(record: Record, headers: Headers) -> Iterator[tuple[bytes | None, bytes | None, Headers]]:
    """Key, value and headers of a dead letter, whole and then ever smaller: the last of them always fits.

    The value is empty where there is neither key nor value, for the client sends no such record.
    """
    yield record.key, b"" if record.key is None and record.value is None else record.value, headers
    value = record.value or b""
    told = (LEFT_OUT, f"sha256:{hashlib.sha256(value).hexdigest()} bytes:{len(value)}".encode())
    yield record.key, b"" if record.key is None else None, [*headers, told]
    yield None, b"", [*(each for each in headers if is_added(each[0])), told]


def _bytes_of(name: str, value: str | int) -> bytes:
    if name in SPRING_BYTES and isinstance(value, int):
        return value.to_bytes(SPRING_BYTES[name], "big", signed=True)
    return str(value).encode()


def is_added(name: str) -> bool:
    """Whether a header is one that a dead letter has beyond its original's."""
    return name.startswith((STREAMS, SPRING)) or name in (STAGE, REASON, ATTEMPTS, LEFT_OUT)


def header_text(name: str, value: bytes | None) -> str:
    """A header as text, Spring's numbers in either form; bytes that are no text are replaced."""
    raw = bytes(value or b"")
    # Eight digits are no binary offset: as one they would be beyond any log.
    if len(raw) == SPRING_BYTES.get(name) and not raw.isdigit():
        return str(int.from_bytes(raw, "big", signed=True))
    return raw.decode(errors="replace")


class LogPosition(NamedTuple):
    """The position of a record: topic, partition and offset."""

    topic: str
    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.topic}:{self.partition}:{self.offset}"


def place_of(headers: Iterable[tuple[str, bytes | None]]) -> LogPosition | None:
    """The original's position by a dead letter's headers of either family; None where they do not tell."""
    found = {name: header_text(name, value) for name, value in headers}
    for family in (STREAMS, SPRING):
        topic, *numbers = (found.get(family + name, "") for name in ("topic", "partition", "offset"))
        if topic and all(number.isdecimal() for number in numbers):
            return LogPosition(topic, int(numbers[0]), int(numbers[1]))
    return None


def failure_events(
    handler: FailureHandler | None, received: Received[Event], failure: Failure, stage: str
) -> Sequence[Outgoing]:
    """What a stage says of a record that it could not process; nothing where it fails in that, too."""
    if handler is None:
        return ()
    why = failure.detail if failure.code == BUG else f"{failure.code}: {failure.detail}"
    try:
        return handler.failed(received, f"{why[:MAX_WHY]}; the record is in {dead_letter_topic(stage)}")
    except Exception as error:
        LOGGER.error("stage.bug", exc_info=error, extra={"fields": {"stage": stage}})
        return ()


class TooManyDeadLettersError(Exception):
    """A stage exceeded its dead-letter limit; continuing would move its whole source into dead letters."""


class DlqLimit:
    """Raises when a stage's dead letters in a row, or their share of the last 2,000 records, go over the limit."""

    def __init__(self, stage: str, *, max_consecutive: int, max_ratio: float) -> None:
        self._stage = stage
        self._max_consecutive = max_consecutive
        self._max_ratio = max_ratio
        self._consecutive = 0
        self._recent: deque[bool] = deque(maxlen=RATIO_WINDOW)
        self._bad = 0

    def passed(self) -> None:
        """A record was processed."""
        self._consecutive = 0
        self._count(bad=False)

    def failed(self, failure: Failure) -> None:
        """A record was dead-lettered; raises `TooManyDeadLettersError` above the limit."""
        self._consecutive += 1
        self._count(bad=True)
        full = len(self._recent) == RATIO_WINDOW
        if self._consecutive >= self._max_consecutive or (full and self._bad / RATIO_WINDOW > self._max_ratio):
            raise TooManyDeadLettersError(
                f"stage {self._stage} stopped: {self._consecutive} dead letters in a row, {self._bad} of the last "
                f"{len(self._recent)} records; the last one: {failure.code}: {failure.detail}. Mend the producer, or "
                f"raise FATHOM_DLQ_MAX_CONSECUTIVE, then start the worker again: it goes on where it stopped"
            )

    def _count(self, *, bad: bool) -> None:
        if len(self._recent) == RATIO_WINDOW:
            self._bad -= self._recent[0]
        self._recent.append(bad)
        self._bad += bad
