"""Selection of records for a replay by time, tenant and conversation; and the topics it writes to."""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from schemas.base import Event, derive
from schemas.envelope import Received

ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
# The durations of ISO 8601 accepted by kafka-consumer-groups, PnDTnHnMnS, and a short form without P and T.
DURATION = re.compile(
    r"(?:P(?=.))?(?:(?P<days>\d+)D)?(?:T(?=.))?(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d+)?)S)?",
    re.IGNORECASE,
)
# The header that marks a record as a replay's, with its id.
REPLAY_HEADER = "fathom_replay"
# The parts that messages are divided into for a sample.
SHARES = 1_000_000


@dataclass(frozen=True, slots=True)
class Selection:
    """A start (ms since the epoch), a tenant and a conversation; None selects all.

    Of a reprocessing also a first offset by partition of `messages.in`, and the share of messages that is a `sample`.
    """

    since: int | None = None
    tenant: str | None = None
    conversation: str | None = None
    offsets: Mapping[int, int] | None = None
    sample: float = 1.0

    def has(self, record: Received[Event]) -> bool:
        """Whether the record is selected; with a conversation, records without one are not."""
        if self.tenant is not None and record.envelope.tenant != self.tenant:
            return False
        if self.conversation is not None:
            return getattr(record.event, "conversation_id", None) == self.conversation
        return True

    def answers(self, record: Received[Event], message_id: str) -> bool:
        """Whether a message is answered again; by its id, so that every run has the same sample."""
        if self.since is not None and record.timestamp < self.since:
            return False
        if self.offsets is not None and record.offset < self.offsets.get(record.partition, 0):
            return False
        return self.sample >= 1 or UUID(derive("sample", message_id)).int % SHARES < self.sample * SHARES

    @property
    def whole(self) -> bool:
        """Whether the start is the only criterion."""
        return self.tenant is None and self.conversation is None


def new_id(at: datetime) -> str:
    """A unique id of a replay that sorts by time."""
    return f"{at.astimezone(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def topic_of(topic: str, replay_id: str) -> str:
    """The topic that a replay writes to instead of another."""
    return f"{topic}.replay.{replay_id}"


def moment(text: str) -> int:
    """The time in ms since the epoch of an ISO 8601 text, UTC without a zone; raises `ValueError`."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is no time: write 2026-01-31T14:00 or 2026-01-31T14:00+02:00") from None
    return round((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)


def duration(text: str) -> timedelta:
    """The duration of PnDTnHnMnS, or of a short form such as 90m; raises `ValueError`."""
    found = DURATION.fullmatch(text.strip())
    parts = {name: float(number) for name, number in found.groupdict().items() if number} if found else {}
    if not parts:
        raise ValueError(f"{text!r} is no duration: write P7D, PT36H or 90m")
    return timedelta(**parts)
