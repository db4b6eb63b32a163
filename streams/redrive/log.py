"""Reading of dead-letter topics, and the writing of redriven records and of marks. No group's offsets are moved."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

from aiokafka import AIOKafkaProducer, ConsumerRecord

from schemas.envelope import ERASED
from streams.redrive import letters
from streams.redrive.choice import LetterFilter, LetterStatus, with_states
from streams.redrive.letters import DeadLetter, LetterMark, RawRecord, State
from streams.replay.log import Log, PartitionRange
from streams.runtime.dead_letters import LogPosition


@dataclass(frozen=True, slots=True)
class RedrivenLetter:
    """A letter that was sent again, and where its record is now."""

    status: LetterStatus
    to: LogPosition


async def read(
    log: Log, topics: Iterable[str], wanted: LetterFilter, only: LogPosition | None = None
) -> tuple[list[LetterStatus], int]:
    """The wanted letters of the topics by time, with their states, and the number of records read.

    With `only`, a letter's own position, nothing before it and no other partition is read.
    """
    spans = await _spans(log, topics, wanted, only)
    found: list[DeadLetter] = []
    marks: list[LetterMark] = []
    async for batch in log.read(spans):
        for record in cast("list[RawRecord]", batch):
            letter = letters.letter_of(record)
            if letter is not None and wanted.has(letter):
                found.append(letter)
            elif letter is None and (mark := letters.mark_of(record)) is not None:
                marks.append(mark)
    found.sort(key=lambda each: (each.time, each.at))
    return with_states(found, marks), sum(len(span) for span in spans)


async def _spans(
    log: Log, topics: Iterable[str], wanted: LetterFilter, only: LogPosition | None
) -> list[PartitionRange]:
    # A mark is younger than its letter, so that a start in time leaves out no mark.
    if only is None:
        return await log.spans_of(topics, wanted.since)
    spans = await log.spans(only.topic)
    return [replace(span, begin=max(only.offset, span.begin)) for span in spans if span.partition == only.partition]


async def raw(log: Log, place: LogPosition) -> ConsumerRecord | None:
    """The record at a position; None where there is none."""
    spans = [span for span in await log.spans(place.topic) if span.partition == place.partition]
    one = [replace(span, begin=place.offset, end=min(place.offset + 1, span.end)) for span in spans]
    async for batch in log.read(one):
        return batch[0]
    return None


async def redrive(
    log: Log, producer: AIOKafkaProducer, chosen: Sequence[LetterStatus], now: datetime, advance: Callable[[int], None]
) -> list[RedrivenLetter]:
    """Send the originals again, each to its topic and partition in the order of the dead letters, and mark them.

    A record that several stages could not process is sent once. A mark is written after its record is acknowledged: an
    interrupted redrive leaves letters open that were sent, which may be sent again without a second effect.
    """
    wanted = {each.letter.at: each for each in chosen}
    sent: dict[LogPosition, LogPosition] = {}
    done: list[RedrivenLetter] = []
    async for batch in log.read(await _reread(log, wanted)):
        # What is erased cannot be sent again; its letter stays open until it is discarded.
        there = [one for one in cast("list[RawRecord]", batch) if one.value is not ERASED]
        mine = [(one, wanted[at]) for one in there if (at := _place(one)) in wanted]
        sent |= await _send(producer, [one for one in mine if one[1].letter.original not in sent], now)
        now_sent = [
            RedrivenLetter(status, sent[of]) for _, status in mine if (of := status.letter.original) is not None
        ]
        await _write(producer, [(each.status.letter.at, "redriven", str(each.to)) for each in now_sent])
        done += now_sent
        advance(len(now_sent))
    return done


async def _reread(log: Log, wanted: dict[LogPosition, LetterStatus]) -> list[PartitionRange]:
    offsets: dict[tuple[str, int], list[int]] = {}
    for at in wanted:
        offsets.setdefault((at.topic, at.partition), []).append(at.offset)
    spans = await log.spans_of(sorted({topic for topic, _ in offsets}))
    return [
        replace(span, begin=max(span.begin, min(of)), end=min(span.end, max(of) + 1))
        for span in spans
        if (of := offsets.get((span.topic, span.partition)))
    ]


async def _send(
    producer: AIOKafkaProducer, mine: Sequence[tuple[RawRecord, LetterStatus]], now: datetime
) -> dict[LogPosition, LogPosition]:
    """Send each original once; where it is now, by where it was."""
    futures: dict[LogPosition, asyncio.Future[Any]] = {}
    for record, status in mine:
        letter = status.letter
        assert letter.original is not None
        if letter.original in futures:
            continue
        out = letters.original_of(record, letter, status.redrives + 1)
        futures[letter.original] = await producer.send(
            out.to.topic,
            out.value,
            key=out.key,
            partition=out.to.partition,
            timestamp_ms=letters.stored_at(letter, now),
            headers=out.headers,
        )
    acknowledged = {original: await future for original, future in futures.items()}
    return {original: LogPosition(meta.topic, meta.partition, meta.offset) for original, meta in acknowledged.items()}


async def mark(producer: AIOKafkaProducer, chosen: Iterable[LetterStatus], state: State) -> None:
    """Mark letters as discarded, or as open again."""
    await _write(producer, [(each.letter.at, state, "") for each in chosen])


async def _write(producer: AIOKafkaProducer, marks: Iterable[tuple[LogPosition, State, str]]) -> None:
    futures = [
        await producer.send(
            at.topic,
            None,
            key=f"{at.partition}:{at.offset}".encode(),
            partition=at.partition,
            headers=letters.mark_headers(at, state, to),
        )
        for at, state, to in marks
    ]
    for future in futures:
        await future


def _place(record: RawRecord) -> LogPosition:
    return LogPosition(record.topic, record.partition, record.offset)
