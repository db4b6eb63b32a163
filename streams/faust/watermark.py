"""The low watermark of one partition: below it, every delivered record is acknowledged.

Only it is ever committed. Records may be acknowledged in any order and held for
any time; the one held longest determines it. Pure: no clock, no client.
"""

from collections import deque


class Watermark:
    """The delivered records of one partition since its last seek, and the acknowledged ones among them."""

    __slots__ = ("_claimed", "_held", "_order", "_passed", "committed", "position")

    def __init__(self, start: int, committed: int | None) -> None:
        self.committed = committed
        # The next offset to deliver.
        self.position = start
        # Delivery order and unacknowledged offsets are stored separately, so that an acknowledgement
        # costs one set operation however far it is from the head.
        self._order: deque[tuple[int, float]] = deque()
        self._held: set[int] = set()
        self._passed = 0
        self._claimed = 0

    def deliver(self, offset: int, now: float) -> None:
        """Record the delivery of `offset`; `now` is any monotonic clock, in seconds."""
        self._order.append((offset, now))
        self._held.add(offset)
        self.position = offset + 1

    def pass_over(self, position: int) -> None:
        """Record that nothing is to be delivered before `position`: what is there are markers of transactions."""
        if position > self.position:
            self.position = position
            self._passed += 1

    def take_back(self, offset: int, position: int) -> None:
        """Undo the last `deliver`, of `offset` at `position`: it was not accepted."""
        if self._order and self._order[-1][0] == offset:
            self._order.pop()
            self._held.discard(offset)
            self.position = position

    def ack(self, offset: int) -> None:
        """Acknowledge a delivered record; a repeat, or one never delivered, does nothing."""
        self._held.discard(offset)

    def committable(self) -> int | None:
        """The offset to commit; None when it has not moved."""
        self._advance()
        if not self._passed:
            return None
        mark = self._order[0][0] if self._order else self.position
        if self.committed is not None and mark <= self.committed:
            return None
        self._claimed = self._passed
        return mark

    def stand(self) -> int:
        """The committed offset, where nothing has moved; before any commit, where reading begins."""
        if self.committed is None:
            self.committed = self._order[0][0] if self._order else self.position
        return self.committed

    def commit(self, offset: int) -> None:
        """Record that the broker has committed `offset`, the last result of `committable`."""
        self.committed = offset
        # Records acknowledged during the commit are not covered by it.
        self._passed -= self._claimed
        self._claimed = 0

    def uncommitted(self) -> int:
        """The number of delivered records that are not committed."""
        self._advance()
        return self._passed + len(self._order)

    def ahead(self) -> int:
        """The number of records that are done behind the oldest one that is not."""
        self._advance()
        return len(self._order) - len(self._held)

    def oldest(self) -> tuple[int, float] | None:
        """The offset that holds the watermark and its delivery time; None if there is none."""
        self._advance()
        return self._order[0] if self._order else None

    def _advance(self) -> None:
        order, held = self._order, self._held
        while order and order[0][0] not in held:
            order.popleft()
            self._passed += 1


def first_to_read(committed: int | None, first: int, end: int) -> int:
    """Where reading begins in a log from offset `first` up to before `end`; without a commit at its first.

    A commit beyond the end says that all that is there was done: the log has lost records that the commit outlived.
    """
    return first if committed is None else min(max(committed, first), end)
