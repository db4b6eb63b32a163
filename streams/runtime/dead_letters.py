"""Dead letters: their headers, and the limit at which they stop a stage.

Both common header families are written, so that existing tools can redrive: Kafka Streams' (KIP-1034) and Spring's.
Bytes, key and headers are the original's. All header values are text.
"""

import hashlib
from collections import deque
from dataclasses import dataclass

from streams.kafka.records import Record

STREAMS, SPRING = "__streams.errors.", "kafka_dlt-original-"
TRACE_CHARS = 32
RATIO_WINDOW = 2_000


@dataclass(frozen=True, slots=True)
class Failure:
    """The failure of a record: a reason code, one sentence, the exception's name, the number of attempts."""

    code: str
    detail: str
    exception: str
    attempts: int = 1


def headers_of(record: Record, stage: str, failure: Failure) -> list[tuple[str, bytes]]:
    """The headers of a dead letter: the original ones, then what failed, where, why and how often."""
    place = {"topic": record.topic, "partition": str(record.partition), "offset": str(record.offset)}
    fingerprint = hashlib.sha256(f"{failure.exception}:{failure.detail}".encode()).hexdigest()[:TRACE_CHARS]
    added = {
        STREAMS + "exception": failure.exception,
        STREAMS + "message": failure.detail,
        # A hash groups like failures; a real stack trace would carry the record's contents into headers.
        STREAMS + "stacktrace": fingerprint,
        **{STREAMS + name: text for name, text in place.items()},
        **{SPRING + name: text for name, text in place.items()},
        "fathom_stage": stage,
        "fathom_reason": failure.code,
        "fathom_attempts": str(failure.attempts),
    }
    return [*record.headers, *((name, text.encode()) for name, text in added.items())]


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
