"""What this process knows of the progress of messages: their events in the order of the log, and who waits for more.

No Kafka in here. The memory of all messages is bounded; those that are watched stay.
"""

import asyncio
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from sys import intern
from typing import Any

import orjson

from agents.core.caching.budget import CacheShare, share_of
from agents.core.caching.lru import ByteCache
from schemas.codec import rfc3339
from schemas.progress import TERMINAL, ProgressMade

# Tenant, client, conversation and message; and tenant and message.
Place = tuple[str, str, str, str]
Named = tuple[str, str]
PROGRESS = share_of("progress")
# What an event takes beside its value: its own fields, its place in a list, its share of what its message takes.
OVERHEAD = 300


@dataclass(frozen=True, slots=True)
class LoggedProgress:
    """An event as it is in the log: its place, time (ms) and value, and what is asked of it most."""

    partition: int
    offset: int
    timestamp: int
    value: bytes
    message_id: str
    client_id: str
    conversation_id: str
    user_id: str
    stage: str
    type: str
    seq: int
    prev_seq: int

    @classmethod
    def of(cls, partition: int, offset: int, timestamp: int, value: bytes) -> "LoggedProgress":
        """The event of a record's value; raises `ValueError` or `KeyError` for what is none."""
        said = orjson.loads(value)
        names = ("message_id", "client_id", "conversation_id", "user_id", "stage", "type", "seq", "prev_seq")
        found: list[Any] = [said[name] for name in names]
        # Interned: the events of a message, and mostly of a conversation, say the same.
        shared: list[Any] = [intern(one) if isinstance(one, str) else one for one in found]
        return cls(partition, offset, timestamp, value, *shared)

    @property
    def size(self) -> int:
        """The bytes of memory that it takes, about."""
        return len(self.value) + OVERHEAD

    @property
    def event(self) -> ProgressMade:
        return ProgressMade.model_validate_json(self.value)

    @property
    def data(self) -> bytes:
        """The event with the time at which it was logged, as JSON."""
        at = datetime.fromtimestamp(self.timestamp / 1000, UTC)
        return orjson.dumps({**orjson.loads(self.value), "ts": rfc3339(at)})


Sees = Callable[[LoggedProgress], bool]


@dataclass(slots=True)
class MessageProgress:
    """The events of one message, each once; `ending` once nothing more may be shown of it."""

    events: list[LoggedProgress] = field(default_factory=list)
    ending: bool = False
    watchers: int = 0
    size: int = 0
    _seqs: dict[str, int] = field(default_factory=dict)
    _waiting: set["asyncio.Future[None]"] = field(default_factory=set)

    def add(self, event: LoggedProgress) -> bool:
        """Take an event of the log; whether it is new."""
        if self.events and event.offset <= self.events[-1].offset and event.partition == self.events[-1].partition:
            return False
        if event.seq <= self._seqs.get(event.stage, 0):
            return False
        self._seqs[event.stage] = event.seq
        self.events.append(event)
        self.size += event.size
        self.wake()
        return True

    def join(self, earlier: Iterable[LoggedProgress]) -> None:
        """Take events that were read from the log afterwards, which may come before those that are known."""
        known = {event.offset: event for event in (*earlier, *self.events)}
        self.events, self._seqs, self.size = [], {}, 0
        for offset in sorted(known):
            self.add(known[offset])

    def after(self, offset: int) -> Sequence[LoggedProgress]:
        """The events behind a position."""
        return self.events[bisect_right(self.events, offset, key=lambda event: event.offset) :]

    @property
    def is_whole(self) -> bool:
        """Whether the first events are known of both stages, as far as they have any."""
        firsts: dict[str, LoggedProgress] = {}
        for event in self.events:
            firsts.setdefault(event.stage, event)
        return "pack" in firsts and all(event.prev_seq == 0 for event in firsts.values())

    @property
    def is_ended(self) -> bool:
        """Whether the pack is there, and the cognitive run has ended or is known not to be opened."""
        ended = {event.stage for event in self.events if event.type in TERMINAL}
        if "pack" not in ended:
            return False
        planned = self.planned
        return "cognition" in ended or (planned is not None and not planned.data.get("cognition", False))

    @property
    def planned(self) -> ProgressMade | None:
        """The event of the plan, if it is known."""
        return next((event.event for event in self.events if event.type == "PACK_PLANNED"), None)

    async def changed(self) -> None:
        """Wait for the next event, or the end."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            await future
        finally:
            self._waiting.discard(future)

    def wake(self) -> None:
        """Let all that wait look again."""
        for future in self._waiting:
            if not future.done():
                future.set_result(None)


class ProgressStore:
    """The progress of messages by tenant, conversation and id, within a share of the byte budget.

    The oldest that nobody watches goes first.
    """

    def __init__(self, share: CacheShare = PROGRESS) -> None:
        self._share = share
        self.size_bytes = 0
        self._share.join(self)
        self._found: OrderedDict[Place, MessageProgress] = OrderedDict()
        # Which conversations have a message of an id, for callers who name no more than that.
        self._places: dict[Named, dict[Place, None]] = {}
        self._awaited: dict[Named, set[asyncio.Future[None]]] = {}
        self._erased: ByteCache[Place, bool] = ByteCache("erased_messages")
        self.ending = False

    def newest(self, tenant: str, message_id: str, sees: Sees) -> MessageProgress | None:
        """The message of this id that has the latest event, of those of which all events may be seen."""
        known = (self._found[place] for place in self._places.get((tenant, message_id), ()))
        seen = (found for found in known if found.events and all(map(sees, found.events)))
        return max(seen, key=lambda found: found.events[-1].timestamp, default=None)

    async def changed(self, tenant: str, message_id: str) -> None:
        """Wait for the next event of a message of this id, of any conversation, or the end."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiting = self._awaited.setdefault((tenant, message_id), set())
        waiting.add(future)
        try:
            await future
        finally:
            waiting.discard(future)
            if not waiting:
                self._awaited.pop((tenant, message_id), None)

    def came(self, tenant: str, event: LoggedProgress) -> None:
        """Take an event of the log."""
        place = _place(tenant, event)
        if place in self._erased:
            return
        found = self._at(place)
        if found.add(event):
            self._found.move_to_end(place)
            self.size_bytes += event.size
            self._wake(self._awaited.get((tenant, event.message_id), ()))
            self._bound()

    def joined(self, tenant: str, earlier: Sequence[LoggedProgress]) -> None:
        """Take the events of one message that were read from the log afterwards."""
        if not earlier or _place(tenant, earlier[0]) in self._erased:
            return
        found = self._at(_place(tenant, earlier[0]))
        before = found.size
        found.join(earlier)
        self.size_bytes += found.size - before
        self._bound()

    def erased(self, tenant: str, client_id: str, conversation_id: str, up_to_seq: int) -> None:
        """Drop what is known of the messages of a conversation up to a position, and end the streams that show it."""
        for place, found in tuple(self._found.items()):
            if place[:3] != (tenant, client_id, conversation_id):
                continue
            planned = found.planned
            if planned is None or planned.data.get("message_seq", 0) <= up_to_seq:
                self._erased.put(place, True)
                self._drop(place)

    def stop(self) -> None:
        """End all streams: the server is shutting down."""
        self.ending = True
        for found in self._found.values():
            found.wake()
        for waiting in self._awaited.values():
            self._wake(waiting)

    def _at(self, place: Place) -> MessageProgress:
        self._places.setdefault((place[0], place[3]), {})[place] = None
        return self._found.setdefault(place, MessageProgress())

    @staticmethod
    def _wake(waiting: "Iterable[asyncio.Future[None]]") -> None:
        for future in waiting:
            if not future.done():
                future.set_result(None)

    def _drop(self, place: Place) -> None:
        found = self._found.pop(place)
        named = place[0], place[3]
        del self._places[named][place]
        if not self._places[named]:
            del self._places[named]
        self.size_bytes -= found.size
        found.events.clear()
        found.ending = True
        found.wake()

    def _bound(self) -> None:
        # Once it is full each event comes here: all that is known must not be gone through.
        while self.size_bytes > self._share.allowed:
            oldest = next((place for place, found in self._found.items() if not found.watchers), None)
            if oldest is None:
                return
            self._drop(oldest)


def _place(tenant: str, event: LoggedProgress) -> Place:
    return tenant, event.client_id, event.conversation_id, event.message_id
