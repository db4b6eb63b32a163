"""What of the log a replay is about: since when, whose, which conversation; and where what it writes goes."""

import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from schemas.base import Event
from schemas.envelope import Received

ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
# Of ISO 8601 what kafka-consumer-groups takes, PnDTnHnMnS, and its short form without P and T.
DURATION = re.compile(
    r"(?:P(?=.))?(?:(?P<days>\d+)D)?(?:T(?=.))?(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d+)?)S)?",
    re.IGNORECASE,
)
# The header that marks a record as a replay's, with its id.
REPLAY_HEADER = "fathom_replay"


@dataclass(frozen=True, slots=True)
class Selection:
    """Since when (ms since the epoch; None: from the beginning), for whom, about which conversation; None: all."""

    since: int | None = None
    tenant: str | None = None
    conversation: str | None = None

    def has(self, record: Received[Event]) -> bool:
        """Whether the record is selected; what belongs to no conversation is not, where one is named."""
        if self.tenant is not None and record.envelope.tenant != self.tenant:
            return False
        if self.conversation is not None:
            return getattr(record.event, "conversation_id", None) == self.conversation
        return True

    @property
    def whole(self) -> bool:
        """Whether everything since then is selected."""
        return self.tenant is None and self.conversation is None


def new_id(at: datetime) -> str:
    """An id of a replay that sorts by time and is nobody else's."""
    return f"{at.astimezone(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def topic_of(topic: str, replay_id: str) -> str:
    """Where a replay writes what it makes for a topic."""
    return f"{topic}.replay.{replay_id}"


def moment(text: str) -> int:
    """The milliseconds since the epoch of an ISO 8601 time, UTC where it names no zone; raises `ValueError`."""
    found = datetime.fromisoformat(text)
    return round((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)


def duration(text: str) -> timedelta:
    """The duration of PnDTnHnMnS, or of its short form such as 90m; raises `ValueError`."""
    found = DURATION.fullmatch(text.strip())
    parts = {name: float(number) for name, number in found.groupdict().items() if number} if found else {}
    if not parts:
        raise ValueError(f"{text!r} is no duration: write P7D, PT36H or 90m")
    return timedelta(**parts)
