"""A log filter against repeated lines of libraries.

While a broker is away or creates its first group, a client logs that for each group every few milliseconds.
"""

import logging
import time
from collections.abc import Callable

from agents.core.caching.lru import ByteCache

QUIET_S = 10.0


class RepeatFilter(logging.Filter):
    """Passes our own lines, and each line of a library once in `QUIET_S`; the field `repeated` counts the dropped ones.

    Lines with a traceback always pass: the same text may have different causes.
    """

    def __init__(self, ours: str, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._ours = logging.Filter(ours)
        self._clock = clock
        self._said: ByteCache[tuple[str, str], tuple[float, int]] = ByteCache("log_lines")

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line is logged."""
        if record.exc_info or self._ours.filter(record):
            return True
        line, now = (record.name, record.getMessage()), self._clock()
        at, again = self._said.get(line) or (float("-inf"), 0)
        if now - at < QUIET_S:
            self._said.put(line, (at, again + 1))
            return False
        self._said.put(line, (now, 0))
        if again:
            record.fields = {**getattr(record, "fields", {}), "repeated": again}
        return True
