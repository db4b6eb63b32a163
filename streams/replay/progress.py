"""How far a replay is, on stderr: records done of all, and how many in a second."""

import sys
import time
from collections.abc import Callable

SAY_EVERY_S = 2.0


class Progress:
    """Says it every two seconds, and once at the end."""

    def __init__(
        self, total: int, *, say: Callable[[str], object] = sys.stderr.write, now: Callable[[], float] = time.monotonic
    ) -> None:
        self.total = total
        self.done = 0
        self._say = say
        self._now = now
        self._began = self._said_at = now()

    def advance(self, records: int, what: str = "") -> None:
        """Some more records of a topic are done."""
        self.done += records
        if self._now() - self._said_at >= SAY_EVERY_S:
            self._said_at = self._now()
            self._say(f"{self._line()}{f'  {what}' if what else ''}\n")

    def end(self) -> None:
        """All is done."""
        self._say(f"{self._line()}\n")

    @property
    def seconds(self) -> float:
        return self._now() - self._began

    def _line(self) -> str:
        rate = self.done / self.seconds if self.seconds > 0 else 0.0
        return f"{self.done:,} of {self.total:,} records, {rate:,.0f}/s"
