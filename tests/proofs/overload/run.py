"""Far more messages than can be handled, bad records among them, and the time after.

    python -m tests.proofs.overload.run                 ten times what the machine holds, for two minutes
    python -m tests.proofs.overload.run --rate 400 --seconds 8

Half of the messages are simple (D0), half deep (D2). One producer sends bad records meanwhile. Said are: packs and late
parts, how many packs were degraded by level, memory before and at the end of the burst, how long until a message is
answered in time again, and until what learns has caught up. Exit code 1 where a message has no pack or two, or an audit
more than its pack.
"""

import argparse
import asyncio
import itertools
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from aiokafka import AIOKafkaConsumer

from bench.pipeline import HISTORY, QUESTIONS, Client, at_rate, caught_up, paced
from bench.running import Running, fathom_up, resident_mb
from schemas.topics import CONTEXT_PACKS, MEMORY_DECISIONS, MESSAGES_IN
from tests import counters

LEVELS = ("D0", "D2")
CONVERSATIONS = 200
BAD_EVERY = 4
# Of the highest rate that is held, which is found first; steps of it, in messages a second.
STEPS, TIMES = (25, 50, 100, 200, 400, 800), 10
ANSWERED_S, STEADY_S, LEARNT_S = 1800.0, 120.0, 900.0
STEADY_MS = 200.0


@dataclass
class Burst:
    """What came of a burst; times in seconds from its end, memory in MB."""

    rate: int
    sent: int
    bad: int = 0
    packs: Counter[str] = field(default_factory=Counter)
    degraded: Counter[str] = field(default_factory=Counter)
    twice: int = 0
    audits: int = 0
    audited_twice: int = 0
    resident_before: float = 0.0
    resident_after: float = 0.0
    all_packed_s: float = 0.0
    steady_s: float = 0.0
    caught_up_s: float = 0.0

    @property
    def wrong(self) -> list[str]:
        """What must not be, whatever the load."""
        lacking = self.sent - sum(self.packs.values())
        found = {
            "messages without a pack": lacking,
            "packs twice": self.twice,
            "packs with more than one audit of late parts": self.audited_twice,
        }
        return [f"{count} {what}" for what, count in found.items() if count]


def record(result: Burst, seconds: float) -> None:
    """Hand on what was counted."""
    lost = max(result.sent - sum(result.packs.values()), 0)
    counters.record(
        "B16", "ten times the load, on the embedded broker",
        {"messages": result.sent, "bad records": result.bad, "seconds": round(seconds)},
        {"lost": lost, "duplicate effect": result.twice, "audited twice": result.audited_twice},
        {"degraded packs": result.degraded.total(), "RSS, times before": result.resident_after / result.resident_before,
         "steady after s": result.steady_s},
    )  # fmt: skip


async def burst(running: Running, rate: int, seconds: float) -> Burst:
    """A burst of so many messages a second, and what followed."""
    client = Client(running.bootstrap)
    await client.start()
    try:
        await client.remember()
        await at_rate(client, "D2", 10, 3, running)
        for number, (role, text) in itertools.product(range(CONVERSATIONS), HISTORY):
            await client.say(f"burst-{number}", text.format(n=number), role)
        await client.producer.flush()
        await caught_up(running)
        result = Burst(rate, 0, resident_before=resident_mb(running.pid)["up"])
        levels = await _sent(client, result, int(rate * seconds))
        result.resident_after = resident_mb(running.pid)["up"]
        ended = time.monotonic()
        await client.all_packed([*levels], ANSWERED_S)
        result.all_packed_s = time.monotonic() - ended
        result.steady_s = await _steady(client, ended)
        await caught_up(running, LEARNT_S)
        result.caught_up_s = time.monotonic() - ended
        for message, level in levels.items():
            if message in client.packs:
                result.packs[level] += 1
                result.degraded[level] += client.packs[message][2]
        await _read(running.bootstrap, result)
        return result
    finally:
        await client.stop()


async def _sent(client: Client, result: Burst, total: int) -> dict[str, str]:
    """The level of each message of the burst; every fourth is followed by a record that is none."""
    texts = {level: itertools.cycle(QUESTIONS[level]) for level in LEVELS}
    sent: dict[str, str] = {}
    for due in paced(total, result.rate):
        await due
        number = len(sent)
        level = LEVELS[number % len(LEVELS)]
        message = await client.say(f"burst-{number % CONVERSATIONS}", next(texts[level]).format(n=number))
        sent[message] = level
        if number % BAD_EVERY == 0:
            await client.producer.send(MESSAGES_IN.name, b"{", key=b"bad", headers=[("tenant", b"careless")])
            result.bad += 1
    await client.producer.flush()
    result.sent = len(sent)
    return sent


async def _steady(client: Client, ended: float) -> float:
    """Seconds from the end of the burst until a message is answered whole and in time."""
    while time.monotonic() - ended < ANSWERED_S + STEADY_S:
        asked = await client.say("after", QUESTIONS["D0"][0].format(n=1))
        await client.all_packed([asked], STEADY_S)
        _, took, degraded = client.packs.get(asked, ("", float("inf"), True))
        if took <= STEADY_MS and not degraded:
            break
    return time.monotonic() - ended


async def _read(bootstrap: str, result: Burst) -> None:
    """Count packs of the log by message and audits by pack.

    A message id is unique within its conversation only: `highest` sends the same ids in others.
    """
    consumer = AIOKafkaConsumer(
        CONTEXT_PACKS.name, MEMORY_DECISIONS.name, bootstrap_servers=bootstrap, auto_offset_reset="earliest"
    )
    await consumer.start()
    packs: Counter[tuple[str, str]] = Counter()
    audits: Counter[str] = Counter()
    try:
        ends = await consumer.end_offsets(consumer.assignment())
        left = {tp for tp, end in ends.items() if end}
        while left:
            for tp, records in (await consumer.getmany(timeout_ms=500, max_records=5_000)).items():
                for record in records:
                    event = json.loads(record.value)
                    if record.topic == CONTEXT_PACKS.name:
                        packs[event["conversation_id"], event["message_id"]] += 1
                    elif event["kind"] == "late-part":
                        audits[event["subject_id"]] += 1
                if await consumer.position(tp) >= ends[tp]:
                    left.discard(tp)
    finally:
        await consumer.stop()
    result.twice = sum(count > 1 for count in packs.values())
    result.audits = sum(audits.values())
    result.audited_twice = sum(count > 1 for count in audits.values())


async def highest(running: Running) -> int:
    """The highest of some rates at which deep messages get their packs in time."""
    client = Client(running.bootstrap)
    await client.start()
    held = STEPS[0]
    try:
        await client.remember()
        for rate in STEPS:
            row = await at_rate(client, "D2", rate, 5, running)
            if row["packs"] < row["sent"] or row["degraded"] or row["p95_ms"] > STEADY_MS:
                break
            held = rate
    finally:
        await client.stop()
    return held


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.proofs.overload.run", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--rate", type=int, help="messages a second; without it ten times the highest that is held")
    parser.add_argument("--seconds", type=float, default=120)
    given = parser.parse_args(arguments)
    with fathom_up() as running:
        rate = given.rate or TIMES * asyncio.run(highest(running))
        result = asyncio.run(burst(running, rate, given.seconds))
    record(result, given.seconds)
    print(json.dumps(vars(result), indent=2))
    for what in result.wrong:
        print(f"wrong: {what}")
    return 1 if result.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
