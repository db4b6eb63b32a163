"""Tenants that ask now and then, beside one that sends ten times what they do.

    python -m tests.proofs.overload.neighbour                 below what the machine holds, and above it
    python -m tests.proofs.overload.neighbour --rate 400 --seconds 10

Nine quiet tenants ask once a second each, half of it simple (D0), half deep (D2): alone, beside a neighbour that sends
at the given rates, and alone again. Said are the times of their packs, how many were degraded, and what the neighbour
got. Exit code 1 where a message has no pack.
"""

import argparse
import asyncio
import itertools
import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass

from bench.measure import percentile
from bench.pipeline import HISTORY, QUESTIONS, Client, caught_up, paced
from bench.running import Running, fathom_up
from tests import counters

QUIET = tuple(f"quiet-{number}" for number in range(9))
NEIGHBOUR = "neighbour"
LEVELS = ("D0", "D2")
EACH_PER_S = 1
CONVERSATIONS = 10
# Of the neighbour, messages a second: ten times what one of the others sends, and what all of them send.
BELOW, TENFOLD, ABOVE = 10 * EACH_PER_S, 10 * EACH_PER_S * len(QUIET), 300
ANSWERED_S, LEARNT_S = 900.0, 900.0


@dataclass(frozen=True)
class Shares:
    """What the quiet tenants got in one part of a run; times in milliseconds, the neighbour's rate a second."""

    neighbour: int
    sent: int
    packs: int
    p50_ms: float
    p95_ms: float
    p99_ms: float
    degraded: int
    neighbour_sent: int
    neighbour_p95_ms: float
    neighbour_degraded: int


@asynccontextmanager
async def beginning(running: Running) -> AsyncIterator[Client]:
    """A client whose tenants have the conversations that deep questions ask about."""
    client = Client(running.bootstrap)
    await client.start()
    try:
        for tenant, number in itertools.product((*QUIET, NEIGHBOUR), range(CONVERSATIONS)):
            for role, text in HISTORY:
                await client.say(f"talk-{number}", text.format(n=number), role, tenant=tenant)
        await client.producer.flush()
        await caught_up(running, LEARNT_S)
        yield client
    finally:
        await client.stop()


async def share(client: Client, running: Running, rate: int, seconds: float) -> Shares:
    """One part of a run: the quiet tenants at their rate, the neighbour at its own, until all messages have packs."""
    ours, theirs = await asyncio.gather(
        _asked(client, itertools.cycle(QUIET), EACH_PER_S * len(QUIET), seconds),
        _asked(client, itertools.repeat(NEIGHBOUR), rate, seconds),
    )
    await client.all_packed([*ours, *theirs], ANSWERED_S)
    await caught_up(running, LEARNT_S)
    found = [client.packs[one] for one in ours if one in client.packs]
    beside = [client.packs[one] for one in theirs if one in client.packs]
    times = sorted(latency for _, latency, _ in found)
    return Shares(
        neighbour=rate,
        sent=len(ours),
        packs=len(found),
        p50_ms=percentile(times, 0.5),
        p95_ms=percentile(times, 0.95),
        p99_ms=percentile(times, 0.99),
        degraded=sum(degraded for *_, degraded in found),
        neighbour_sent=len(theirs),
        neighbour_p95_ms=percentile([latency for _, latency, _ in beside], 0.95) if beside else 0.0,
        neighbour_degraded=sum(degraded for *_, degraded in beside),
    )


async def _asked(
    client: Client, tenants: "itertools.cycle[str] | itertools.repeat[str]", rate: int, seconds: float
) -> list[str]:
    texts = {level: itertools.cycle(QUESTIONS[level]) for level in LEVELS}
    sent: list[str] = []
    for due in paced(int(rate * seconds), rate):
        await due
        number = len(sent)
        text = next(texts[LEVELS[number % len(LEVELS)]]).format(n=number)
        sent.append(await client.say(f"talk-{number % CONVERSATIONS}", text, tenant=next(tenants)))
    await client.producer.flush()
    return sent


async def measured(running: Running, rates: Sequence[int], seconds: float) -> list[Shares]:
    """The parts of a run: alone, beside the neighbour at each rate, alone again."""
    async with beginning(running) as client:
        await share(client, running, 0, 3)  # warm
        found = []
        for rate in (0, *rates, 0):
            found.append(await share(client, running, rate, seconds))
            print(json.dumps(asdict(found[-1])), flush=True)
        return found


def table(found: Sequence[Shares]) -> str:
    """What is printed: of the quiet tenants, and of the neighbour; the first part is the one without it."""
    lines = [
        "| the neighbour sends | packs | p50 ms | p95 ms | p99 ms | of p95 alone | degraded | its p95 | its degraded |",
        "|" + "---|" * 9,
    ]
    alone = max(found[0].p95_ms, 1.0)
    for part in found:
        times = f"{part.p50_ms:.0f} | {part.p95_ms:.0f} | {part.p99_ms:.0f} | {part.p95_ms / alone:.2f}"
        degraded = f"{part.degraded / max(part.sent, 1):.0%}"
        beside = f"{part.neighbour_p95_ms:.0f} | {part.neighbour_degraded / max(part.neighbour_sent, 1):.0%}"
        lines.append(f"| {part.neighbour}/s | {part.packs} of {part.sent} | {times} | {degraded} | {beside} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.proofs.overload.neighbour", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--rate", type=int, action="append", help="the neighbour's messages a second; may be repeated")
    parser.add_argument("--seconds", type=float, default=20)
    given = parser.parse_args(arguments)
    with fathom_up() as running:
        found = asyncio.run(measured(running, given.rate or (BELOW, TENFOLD, ABOVE), given.seconds))
    print(table(found))
    lacking = sum(part.sent - part.packs for part in found)
    ran = {"messages": sum(part.sent + part.neighbour_sent for part in found)}
    counters.record("", "one loud tenant of ten, on the embedded broker", ran, {"lost": lacking})
    return 1 if lacking else 0


if __name__ == "__main__":
    sys.exit(main())
