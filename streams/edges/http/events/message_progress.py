"""The progress of a message while somebody watches it: its events so far, and who waits for more. No Kafka in here."""

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import get_args

import orjson

from agents.core.progress.message_events import TimedEvent
from schemas.codec import rfc3339
from schemas.progress import TERMINAL, ProgressStage

# The number of the last event of the pack, of the cognitive run, and of the tool calls.
Position = tuple[int, int, int]
STAGES: tuple[ProgressStage, ...] = get_args(ProgressStage)
POSITION = re.compile(r"(\d{1,18})\.(\d{1,18})(?:\.(\d{1,18}))?")


@dataclass(frozen=True, slots=True)
class ShownEvent:
    """An event with the position behind it, and its data: with the time at which it was logged, as JSON."""

    told: TimedEvent
    at: Position
    data: bytes

    @property
    def id(self) -> str:
        """The id of its frame."""
        return ".".join(map(str, self.at if self.at[2] else self.at[:2]))


@dataclass(slots=True, eq=False)
class MessageProgress:
    """The events of one message; `ending` once nothing more may be shown of it."""

    has_run: bool
    events: list[ShownEvent] = field(default_factory=list)
    ending: bool = False
    watchers: int = 0
    _waiting: set["asyncio.Future[None]"] = field(default_factory=set)

    def add(self, told: Iterable[TimedEvent]) -> None:
        """Take the next events."""
        for each in told:
            at = list(self.events[-1].at if self.events else (0, 0, 0))
            at[STAGES.index(each.event.stage)] = each.event.seq
            logged = datetime.fromtimestamp(each.timestamp / 1000, UTC)
            data = orjson.dumps({**each.event.model_dump(mode="json"), "ts": rfc3339(logged)})
            self.events.append(ShownEvent(each, (at[0], at[1], at[2]), data))
        self.wake()

    def behind(self, last_id: str | None) -> Sequence[ShownEvent] | None:
        """The events that a reader has not seen; None for the id of no event of this message."""
        found = POSITION.fullmatch(last_id or "")
        if found is None:
            return None
        seen = dict(zip(STAGES, map(int, found.groups("0")), strict=True))
        known = {(each.told.event.stage, each.told.event.seq) for each in self.events}
        # Another process may have read the records of the two stages in another order.
        if any(seq and (stage, seq) not in known for stage, seq in seen.items()) or not any(seen.values()):
            return None
        return [each for each in self.events if each.told.event.seq > seen[each.told.event.stage]]

    @property
    def size(self) -> int:
        """The bytes of all events."""
        return sum(len(each.data) for each in self.events)

    @property
    def is_ended(self) -> bool:
        """Whether the pack is there, and the cognitive run, if one is opened, has ended."""
        stages = {each.told.event.stage for each in self.events}
        ended = {each.told.event.stage for each in self.events if each.told.event.type in TERMINAL}
        return "pack" in ended and ("cognition" in ended or not (self.has_run or "cognition" in stages))

    async def changed(self) -> None:
        """Wait for the next event, or the end."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            await future
        finally:
            self._waiting.discard(future)

    def end(self) -> None:
        """Show nothing more."""
        self.ending = True
        self.wake()

    def wake(self) -> None:
        """Let all that wait look again."""
        for future in self._waiting:
            if not future.done():
                future.set_result(None)
