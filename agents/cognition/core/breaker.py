"""The circuit breaker of a source: after failures in a row it is not asked for a while, then once, to see."""

from dataclasses import dataclass
from datetime import datetime, timedelta

FAILURES = 3
PAUSE = timedelta(seconds=10)


@dataclass(slots=True)
class SourceBreaker:
    """Whether a source may be asked, by its last answers and the time given."""

    failures: int = 0
    opened_at: datetime | None = None

    def admits(self, now: datetime) -> bool:
        """Whether to ask: while it is closed, and once after each pause."""
        if self.opened_at is None:
            return True
        if now < self.opened_at + PAUSE:
            return False
        # Half open: whoever comes next waits for what this one finds.
        self.opened_at = now
        return True

    def note(self, now: datetime, *, answered: bool) -> None:
        """Keep how a call ended; the failure of the call after a pause opens it again at once."""
        if answered:
            self.failures, self.opened_at = 0, None
            return
        self.failures += 1
        if self.failures >= FAILURES:
            self.opened_at = now
