"""Frames of server-sent events: a snapshot or the events behind a position, heartbeats, and the end."""

import asyncio
import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass

import orjson

from agents.core.progress.reduction import snapshot
from streams.edges.http.events.message_progress import LoggedProgress, MessageProgress, ProgressStore

RETRY = b"retry: 1000\n\n"
HEARTBEAT = b":\n\n"
END = b"event: end\ndata: {}\n\n"
POSITION = re.compile(r"(\d{1,9})-(\d{1,18})")
HEARTBEAT_S = 15.0
# A run has two minutes; one that says nothing for longer will say nothing more.
SILENT_S = 150.0
# Bytes of events that are sent one by one to who comes late; a snapshot is a tenth of them.
MOST_REPLAYED = 4_000_000


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds between heartbeats, and of silence after which a stream ends."""

    heartbeat_s: float = HEARTBEAT_S
    silent_s: float = SILENT_S


def position(event: LoggedProgress) -> str:
    """The id of an event's frame."""
    return f"{event.partition}-{event.offset}"


def frame(kind: str, data: bytes, at: LoggedProgress) -> bytes:
    """One frame; the data is JSON in one line."""
    return b"id: %b\nevent: %b\ndata: %b\n\n" % (position(at).encode(), kind.encode(), data)


def resumed(progress: MessageProgress, last_id: str | None) -> int | None:
    """The offset behind which a reader goes on; None for one that needs a snapshot: new, or of a position not held."""
    found = POSITION.fullmatch(last_id or "")
    if found is None or not progress.events:
        return None
    first, offset = progress.events[0], int(found[2])
    if int(found[1]) != first.partition or offset > progress.events[-1].offset:
        return None
    return offset if progress.is_whole or offset >= first.offset else None


async def frames(
    message_id: str,
    progress: MessageProgress,
    store: ProgressStore,
    last_id: str | None,
    pace: Pace,
    *,
    replay: bool = False,
) -> AsyncGenerator[bytes, None]:
    """The stream of a message that has events. What a slow reader has not read stays in the store, once for all.

    With `replay` a reader that needs a snapshot gets every event instead, where all are held and not too much.
    """
    yield RETRY
    at = resumed(progress, last_id)
    if at is None and replay and progress.is_whole and progress.size <= MOST_REPLAYED:
        at = progress.events[0].offset - 1
    if at is None:
        events = tuple(progress.events)
        if not events:
            return
        told = snapshot(message_id, (each.event for each in events))
        at = events[-1].offset
        yield frame("snapshot", orjson.dumps(told), events[-1])
    quiet = 0.0
    while not (store.ending or progress.ending):
        if events := tuple(progress.after(at)):
            at, quiet = events[-1].offset, 0.0
            yield b"".join(frame(each.type, each.data, each) for each in events)
        elif progress.is_ended or quiet >= pace.silent_s:
            yield END
            return
        else:
            try:
                async with asyncio.timeout(pace.heartbeat_s):
                    await progress.changed()
            except TimeoutError:
                quiet += pace.heartbeat_s
                yield HEARTBEAT
