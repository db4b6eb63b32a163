"""Frames of server-sent events: a snapshot or the events behind a position, heartbeats, and the end."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

import orjson

from agents.core.progress.reduction import snapshot
from streams.edges.http.events.message_progress import MessageProgress, ShownEvent

RETRY = b"retry: 1000\n\n"
HEARTBEAT = b":\n\n"
END = b"event: end\ndata: {}\n\n"
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


def frame(kind: str, data: bytes, at: ShownEvent) -> bytes:
    """One frame; the data is JSON in one line."""
    return b"id: %b\nevent: %b\ndata: %b\n\n" % (at.id.encode(), kind.encode(), data)


async def frames(
    message_id: str,
    progress: MessageProgress,
    last_id: str | None,
    pace: Pace,
    *,
    replay: bool = False,
    calls: bool = False,
) -> AsyncGenerator[bytes, None]:
    """The stream of a message that has events. What a slow reader has not read stays in the progress, once for all.

    `end` says that the pack and the run are over. With `calls` it goes on behind it: verdicts on tool calls may come
    until it is silent for long.
    With `replay` a reader that needs a snapshot gets every event instead, where that is not too much.
    """
    yield RETRY
    if not progress.events:
        return
    count = len(progress.events)
    if first := _first(message_id, progress, last_id, replay=replay):
        yield first
    quiet, is_over = 0.0, False
    while not progress.ending:
        if new := progress.events[count:]:
            count, quiet = count + len(new), 0.0
            yield _framed(new)
        elif not is_over and (progress.is_ended or quiet >= pace.silent_s):
            yield END
            is_over = True
            if not calls:
                return
        elif quiet >= pace.silent_s:
            return
        else:
            try:
                async with asyncio.timeout(pace.heartbeat_s):
                    await progress.changed()
            except TimeoutError:
                quiet += pace.heartbeat_s
                yield HEARTBEAT


def _first(message_id: str, progress: MessageProgress, last_id: str | None, *, replay: bool) -> bytes:
    """What a reader lacks of the events so far: those behind the last that it has, all of them, or a snapshot."""
    events = progress.behind(last_id)
    if events is None and replay and progress.size <= MOST_REPLAYED:
        events = progress.events
    if events is not None:
        return _framed(events)
    told = snapshot(message_id, (each.told.event for each in progress.events))
    return frame("snapshot", orjson.dumps(told), progress.events[-1])


def _framed(events: Sequence[ShownEvent]) -> bytes:
    return b"".join(frame(each.told.event.type, each.data, each) for each in events)
