"""Load shedding: whether a question's turn would come while its caller still waits. No Kafka in here.

An overload waits at the first stage: a question waits from when it is sent until its turn is in the log. How long one
more would is seen by those of the same tenant that this process has sent: tenants take turns there, so that each has a
backlog of its own.
"""

import math
from collections import OrderedDict, deque
from collections.abc import Callable
from time import monotonic
from urllib.parse import unquote

import orjson

from streams.edges.http.problems import Problem
from streams.telemetry import metrics

# What is over by then is no overload.
CALM_S = 0.5
# A question may wait for its turn for a third of the time of its caller: the rest is for its pack, and for what the
# estimate is wrong by.
SHARE = 3
# How long ago a turn still says how many come in a second, which are read many at a time; and the last few always do.
MEASURED_S, MEASURED = 2.0, 16
# Of fewer that wait, how many come says how many are asked.
FEW = 16
# By how much a turn may come before that of a question which was sent earlier.
OUT_OF_ORDER_S = 30.0
MAX_RETRY_AFTER_S = 10
# Of a tenant; the oldest are forgotten beyond it.
MOST_WAITING = 10_000


class _Backlog:
    """Questions of a tenant that are sent and have no turn yet, the oldest first; as numbers, for ids may be long."""

    def __init__(self, now: float) -> None:
        self.sent: OrderedDict[int, float] = OrderedDict()
        self.newest = now
        self._since = now
        self._came: deque[float] = deque()

    def join(self, question: int, now: float) -> None:
        self.sent[question] = self.newest = now
        if len(self.sent) > MOST_WAITING:
            self.sent.popitem(last=False)

    def came(self, question: int, now: float) -> None:
        """Take a turn. Those sent long before it leave, too: of a repeat no turn comes."""
        if (at := self.sent.pop(question, None)) is None:
            return
        self._came.append(now)
        while self.sent and next(iter(self.sent.values())) < at - OUT_OF_ORDER_S:
            self.sent.popitem(last=False)

    def wait_s(self, now: float) -> float:
        """How long one more would wait: until all have turns, as fast as they come lately; of few, as the first has."""
        age = now - next(iter(self.sent.values()), now)
        if age <= CALM_S or len(self.sent) < FEW or not self._came:
            return age
        while len(self._came) > MEASURED and self._came[0] < now - MEASURED_S:
            self._since = self._came.popleft()
        return len(self.sent) * (now - self._since) / len(self._came)


class LoadShedding:
    """The backlogs of all tenants, as far as this process has sent what waits."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._backlogs: dict[str, _Backlog] = {}

    def check(self, tenant: str, seconds: float) -> None:
        """Raises `Problem` (503) where a new question of a tenant would not be answered within so many seconds.

        One of those that come in a third of that time is let through whatever waits: what waits may have been missed.
        """
        backlog, now, most = self._backlogs.get(tenant), self._clock(), seconds / SHARE
        if backlog is not None and now - backlog.newest < most and (wait_s := backlog.wait_s(now)) > max(most, CALM_S):
            metrics.CALLS_REFUSED.labels("503").inc()
            again = str(min(math.ceil(wait_s), MAX_RETRY_AFTER_S))
            said = f"too many questions wait: one more would not be answered within {seconds:g} s, and is not taken"
            raise Problem(503, f"{said}; ask again in {again} s", retry_after=again)

    def sent(self, key: bytes, message_id: str) -> None:
        """Count a question as waiting; it is about to be sent."""
        now = self._clock()
        self._backlogs.setdefault(tenant_of(key), _Backlog(now)).join(hash((key, message_id)), now)

    def turn(self, key: bytes, value: bytes) -> None:
        """Take a turn of the log."""
        if (backlog := self._backlogs.get(tenant_of(key))) is not None:
            backlog.came(hash((key, _id_of(value))), self._clock())
            self._drop(key, backlog)

    def not_sent(self, key: bytes, message_id: str) -> None:
        """Count a question no longer: it was not taken, or is refused by its stage."""
        if (backlog := self._backlogs.get(tenant_of(key))) is not None:
            backlog.sent.pop(hash((key, message_id)), None)
            self._drop(key, backlog)

    def _drop(self, key: bytes, backlog: _Backlog) -> None:
        """Forget a backlog that is done: how many turns come says nothing where nobody waits."""
        if not backlog.sent:
            del self._backlogs[tenant_of(key)]


def tenant_of(key: bytes) -> str:
    """The first part of a conversation's key."""
    return unquote(key.partition(b"|")[0])


def _id_of(value: bytes) -> str:
    try:
        return str(orjson.loads(value)["message_id"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return ""  # a record of some other writer
