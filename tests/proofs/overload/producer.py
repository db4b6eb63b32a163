"""`python -m tests.proofs.overload.producer`: a producer that sends what is none, beside others that ask as always.

    python -m tests.proofs.overload.producer    shares of 1 %, 10 % and 100 % of every kind, then a thousand in a row
    python -m tests.proofs.overload.producer --seconds 5 --in-a-row 600

Healthy messages come at one rate throughout: alone, then beside bad records on every topic that outsiders write, as
many for each hundred of them as the share says, and at last beside bad records in a row, more than the number that
stops a stage for failures of its own. Said are the times of the healthy packs. Exit code 1 where a healthy message has
no pack, a bad record is not in the dead letters exactly once with its headers, or the worker is not ready at the end.
"""

import argparse
import asyncio
import itertools
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from urllib.error import HTTPError
from urllib.request import urlopen

from aiokafka import AIOKafkaConsumer

from bench.measure import percentile
from bench.pipeline import HISTORY, QUESTIONS, Client, caught_up, paced
from bench.running import Running, fathom_up
from schemas.topics import TOPICS, Topic, dead_letter_topic
from streams.topology import STAGES
from tests import counters

LEVELS = ("D0", "D2")
RATE, CONVERSATIONS = 20, 40
SHARES = (0.01, 0.1, 1.0)
IN_A_ROW = 1_000
MOST_ATTEMPTS = 3
# Of the 99th percentile without bad records.
MOST_SLOWER = 1.5
ANSWERED_S, LEARNT_S = 300.0, 300.0
ENTRIES: tuple[Topic, ...] = tuple(topic for topic in TOPICS if topic.outside)
GOOD = (("tenant", b"careless"),)
# What no topic takes, by what is wrong with it: value and headers.
KINDS: dict[str, tuple[bytes | None, tuple[tuple[str, bytes], ...]]] = {
    "no value": (None, GOOD),
    "empty": (b"", GOOD),
    "not UTF-8": (b"\xff\xfe\x00", GOOD),
    "cut off": (b'{"message_id": "m', GOOD),
    "not JSON": (b"<message/>", GOOD),
    "no object": (b"[1, 2]", GOOD),
    "null": (b"null", GOOD),
    "without fields": (b"{}", GOOD),
    "unknown fields": (b'{"colour": "blue"}', GOOD),
    "wrong types": (b'{"message_id": 7, "role": [], "content": {"a": 1}}', GOOD),
    "too deep": (b"[" * 50_000, GOOD),
    "a number too large": (b'{"message_id": 1e999999}', GOOD),
    "everybody's tenant": (b"{}", (("tenant", b"_public"),)),
    "a tenant of two lines": (b"{}", (("tenant", b"a\nb"),)),
    "a tenant not UTF-8": (b"{}", (("tenant", b"\xff\xfe"),)),
}
NUMBER = "bad"


@dataclass
class Part:
    """What the healthy messages got in one part of a run; times in milliseconds."""

    name: str
    bad: int
    sent: int
    packs: int
    p50_ms: float
    p95_ms: float
    p99_ms: float
    degraded: int


@dataclass
class Outcome:
    """A run: its parts, the bad records by topic and kind, and what was wrong."""

    parts: list[Part] = field(default_factory=list)
    bad: dict[str, tuple[Topic, str]] = field(default_factory=dict)
    letters: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    @property
    def slower(self) -> dict[str, float]:
        """How many times the 99th percentile without bad records each part had; the first part is without."""
        alone = max(self.parts[0].p99_ms, 1.0)
        return {part.name: round(part.p99_ms / alone, 2) for part in self.parts[1:]}


async def run(running: Running, shares: Sequence[float], seconds: float, in_a_row: int) -> Outcome:
    """All parts of a run, then the reading of the dead letters."""
    client, outcome = Client(running.bootstrap), Outcome()
    await client.start()
    try:
        for number in range(CONVERSATIONS):
            for role, text in HISTORY:
                await client.say(f"talk-{number}", text.format(n=number), role)
        await client.producer.flush()
        await _part(client, running, outcome, "warm", 3, iter(()))
        outcome.parts.clear()
        kinds = itertools.cycle(itertools.product(ENTRIES, KINDS))
        await _part(client, running, outcome, "alone", seconds, iter(()))
        for share in shares:
            bad = itertools.islice(kinds, int(share * RATE * seconds))
            await _part(client, running, outcome, f"bad {share:.0%}", seconds, bad)
        row = itertools.chain.from_iterable(
            zip(itertools.repeat(topic, in_a_row), itertools.cycle(KINDS)) for topic in ENTRIES
        )
        await _part(client, running, outcome, f"{in_a_row} in a row", seconds, row)
        await _letters(running.bootstrap, outcome)
        outcome.wrong += [*_lacking(outcome), *await asyncio.to_thread(_not_ready, running.http)]
        return outcome
    finally:
        await client.stop()


async def _part(
    client: Client, running: Running, outcome: Outcome, name: str, seconds: float, bad: Iterator[tuple[Topic, str]]
) -> None:
    """Healthy messages for so many seconds, and bad ones evenly among them."""
    before, asked = len(outcome.bad), list[str]()
    texts, poisons, total = {level: itertools.cycle(QUESTIONS[level]) for level in LEVELS}, [*bad], int(RATE * seconds)
    for due in paced(total, RATE):
        await due
        number = len(asked)
        text = next(texts[LEVELS[number % len(LEVELS)]]).format(n=number)
        asked.append(await client.say(f"talk-{number % CONVERSATIONS}", text))
        for topic, kind in poisons[number * len(poisons) // total : (number + 1) * len(poisons) // total]:
            await _spoil(client, outcome, topic, kind)
    await client.producer.flush()
    await client.all_packed(asked, ANSWERED_S)
    await caught_up(running, LEARNT_S)
    found = [client.packs[one] for one in asked if one in client.packs]
    times = [latency for _, latency, _ in found]
    said = (percentile(times, one) for one in (0.5, 0.95, 0.99)) if times else (float("inf"),) * 3
    degraded = sum(degraded for *_, degraded in found)
    outcome.parts.append(Part(name, len(outcome.bad) - before, len(asked), len(found), *said, degraded))


async def _spoil(client: Client, outcome: Outcome, topic: Topic, kind: str) -> None:
    value, headers = KINDS[kind]
    number = f"{len(outcome.bad)}"
    outcome.bad[number] = topic, kind
    await client.producer.send(topic.name, value, key=b"bad", headers=[*headers, (NUMBER, number.encode())])


async def _letters(bootstrap: str, outcome: Outcome) -> None:
    """Count the dead letters of each bad record, and look at the headers of each."""
    readers = {stage.name for stage in STAGES if set(stage.reads) & set(ENTRIES)}
    consumer = AIOKafkaConsumer(
        *map(dead_letter_topic, sorted(readers)), bootstrap_servers=bootstrap, auto_offset_reset="earliest"
    )
    await consumer.start()
    try:
        ends = await consumer.end_offsets(consumer.assignment())
        left = {tp for tp, end in ends.items() if end}
        while left:
            for tp, records in (await consumer.getmany(timeout_ms=500, max_records=5_000)).items():
                for record in records:
                    _note(outcome, record.value, tuple(record.headers))
                if await consumer.position(tp) >= ends[tp]:
                    left.discard(tp)
    finally:
        await consumer.stop()


def _note(outcome: Outcome, value: bytes | None, headers: tuple[tuple[str, bytes], ...]) -> None:
    named = {name: text.decode(errors="replace") for name, text in headers}
    number = named.get(NUMBER, "")
    outcome.letters[number] += 1
    if number not in outcome.bad:
        outcome.wrong.append(f"a dead letter of no bad record: {named.get('__streams.errors.message')}")
        return
    topic, kind = outcome.bad[number]
    sent, original = KINDS[kind]
    if (value or b"") != (sent or b"") or headers[: len(original)] != original:
        outcome.wrong.append(f"{topic.name}, {kind}: other bytes or headers than were sent")
    if named.get("__streams.errors.topic") != topic.name or int(named["fathom_attempts"]) > MOST_ATTEMPTS:
        outcome.wrong.append(f"{topic.name}, {kind}: not said where it was, or tried too often")


def _lacking(outcome: Outcome) -> Iterator[str]:
    counts = Counter(
        f"{topic.name}, {kind}: {outcome.letters[number]} dead letters of one record"
        for number, (topic, kind) in outcome.bad.items()
        if outcome.letters[number] != 1
    )
    yield from (f"{what} ({count} times)" for what, count in counts.items())
    yield from (f"{part.name}: {part.packs} packs of {part.sent}" for part in outcome.parts if part.packs < part.sent)


def _not_ready(http: str) -> list[str]:
    try:
        with urlopen(f"http://{http}/health/ready", timeout=30) as answer:
            return [] if answer.status == 200 else [f"not ready: {answer.status}"]
    except HTTPError as error:
        return [f"not ready: {error.read(500)!r}"]


def record(outcome: Outcome) -> None:
    """Hand on what was counted."""
    ran = {"messages": sum(part.sent for part in outcome.parts), "bad records": len(outcome.bad)}
    faults = {
        "lost": sum(part.sent - part.packs for part in outcome.parts),
        "not once a dead letter": sum(outcome.letters[number] != 1 for number in outcome.bad),
        "wrong": len(outcome.wrong),
    }
    slower = max(outcome.slower.values())
    counters.record("B13", "bad records on every topic of outsiders", ran, faults, {"p99, times alone": slower})


def table(outcome: Outcome) -> str:
    """What is printed."""
    lines = ["| | bad records | packs | p50 ms | p95 ms | p99 ms | of p99 alone | degraded |", "|" + "---|" * 8]
    for part in outcome.parts:
        times = f"{part.p50_ms:.0f} | {part.p95_ms:.0f} | {part.p99_ms:.0f} | {outcome.slower.get(part.name, 1):.2f}"
        lines.append(f"| {part.name} | {part.bad} | {part.packs} of {part.sent} | {times} | {part.degraded} |")
    once = sum(outcome.letters[number] == 1 for number in outcome.bad)
    held = [name for name, times in outcome.slower.items() if times <= MOST_SLOWER]
    lines.append(
        f"in the dead letters once: {once} of {len(outcome.bad)}, of {len(KINDS)} kinds on {len(ENTRIES)} topics"
    )
    lines.append(f"within {MOST_SLOWER} x p99: {len(held)} of {len(outcome.slower)} ({', '.join(held) or 'none'})")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.proofs.overload.producer", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--seconds", type=float, default=30, help="of each part")
    parser.add_argument("--in-a-row", type=int, default=IN_A_ROW, help="bad records in a row on each topic")
    given = parser.parse_args(arguments)
    with fathom_up() as running:
        outcome = asyncio.run(run(running, SHARES, given.seconds, given.in_a_row))
    record(outcome)
    print(table(outcome))
    for what in outcome.wrong[:50]:
        print(f"wrong: {what}")
    return 1 if outcome.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
