"""Far more callers over HTTP than can be answered: who is answered, who is refused, and the time after.

    python -m tests.proofs.overload.callers                 ten times what the machine holds, for two minutes
    python -m tests.proofs.overload.callers --rate 400 --seconds 30

One tenant asks at the rate with `POST /ask`, half of it simple (D0), half deep (D2); another asks once a second. Both
ask now and then before and after the burst. Said are what the callers of each got, how long until 95 of 100 callers are
answered in time again, and until what learns has caught up. Exit code 1 where a question in the log has no pack or two,
a refused one is in the log, the quiet tenant was refused, or one of the two times is longer than it may be.
"""

import argparse
import asyncio
import itertools
import json
import math
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaConsumer

from bench.measure import percentile
from bench.pipeline import HISTORY, QUESTIONS, Client, caught_up, paced
from bench.running import Running, fathom_up, resident_mb
from schemas.topics import CONTEXT_PACKS, MESSAGES_IN
from tests import counters
from tests.proofs.overload.run import TIMES, highest

BUSY, QUIET = "busy", "quiet"
TOKENS = {tenant: f"a-token-of-{tenant}-0123456789" for tenant in (BUSY, QUIET)}
LEVELS = ("D0", "D2")
CONVERSATIONS, PROBES_PER_S, QUIET_PER_S = 200, 5, 1
WARM_S, BEFORE_S, AFTER_S, WINDOW_S = 5.0, 10.0, 30.0, 5.0
LEARNT_S = 900.0
# What may be: of the quiet tenant's callers, after the burst, and until what learns has caught up.
STEADY_MS, STEADY_S, CAUGHT_UP_S = 500.0, 10.0, 120.0
# In the log, whether or not its caller waited for the pack.
TAKEN = (200, 504)


@dataclass(frozen=True)
class Call:
    """A question over HTTP: when it was asked, by this process's clock, and what came of it."""

    question: str
    at: float
    status: int
    took_ms: float
    retry_after: str | None = None


@dataclass
class Burst:
    """What came of a burst; times in seconds from its end, memory in MB."""

    rate: int
    began: float = 0.0
    ended: float = 0.0
    calls: dict[str, list[Call]] = field(default_factory=lambda: {BUSY: [], QUIET: []})
    packs: Counter[str] = field(default_factory=Counter)
    logged: Counter[str] = field(default_factory=Counter)
    degraded: int = 0
    caught_up_s: float = 0.0
    resident: tuple[float, float] = (0.0, 0.0)

    def within(self, tenant: str, since: float, until: float) -> list[Call]:
        """The calls of a tenant that began in a part of the run."""
        return [call for call in self.calls[tenant] if since <= call.at < until]

    @property
    def p95_after(self) -> list[float]:
        """Of both tenants, from each second after the burst on for some seconds; those not answered took for ever."""
        found = []
        for second in range(int(AFTER_S - WINDOW_S) + 1):
            part = self.ended + second, self.ended + second + WINDOW_S
            calls = [call for tenant in (BUSY, QUIET) for call in self.within(tenant, *part)]
            took = [call.took_ms if call.status == 200 else math.inf for call in calls]
            found.append(round(percentile(took, 0.95), 1))
        return found

    @property
    def steady_s(self) -> float:
        """Seconds after the burst from which on 95 of 100 are answered in time for some seconds."""
        return next((float(at) for at, p95 in enumerate(self.p95_after) if p95 <= STEADY_MS), math.inf)

    @property
    def faults(self) -> dict[str, int]:
        """How often there was what must not be, whatever the load."""
        every = [*self.calls[BUSY], *self.calls[QUIET]]
        taken = [call for call in every if call.status in TAKEN]
        return {
            "questions in the log without exactly one pack": sum(self.packs[call.question] != 1 for call in taken),
            "refused questions in the log": sum(self.logged[c.question] for c in every if c.status not in TAKEN),
            "questions of the quiet tenant that were refused": sum(c.status not in TAKEN for c in self.calls[QUIET]),
        }

    @property
    def wrong(self) -> list[str]:
        """What must not be, in words."""
        return [f"{count} {what}" for what, count in self.faults.items() if count]

    @property
    def slow(self) -> list[str]:
        """What took longer than it may."""
        times = {"95 of 100 in time": (self.steady_s, STEADY_S), "caught up": (self.caught_up_s, CAUGHT_UP_S)}
        return [f"{what} only {took:.1f} s after the burst" for what, (took, most) in times.items() if took > most]

    def said(self) -> dict[str, Any]:
        """What is printed."""
        parts = {"before": (0.0, self.began), "burst": (self.began, self.ended), "after": (self.ended, math.inf)}
        callers = {
            f"{tenant}, {name}": _summary(self.within(tenant, *part))
            for tenant in (BUSY, QUIET)
            for name, part in parts.items()
        }
        figures = ("rate", "steady_s", "p95_after", "caught_up_s", "degraded", "resident")
        seconds = round(self.ended - self.began, 1)
        return {name: getattr(self, name) for name in figures} | {
            "seconds": seconds, "packs": self.packs.total(), **callers
        }  # fmt: skip


def record(result: Burst) -> None:
    """Hand on what was counted."""
    ran = {"calls": sum(map(len, result.calls.values())), "seconds": round(result.ended - result.began)}
    measured = {"steady after s": result.steady_s, "caught up after s": result.caught_up_s}
    faults = {**result.faults, "too slow": len(result.slow)}
    counters.record("B16", "callers over HTTP, on the embedded broker", ran, faults, measured)


def _summary(calls: Sequence[Call]) -> dict[str, Any]:
    answered = [call.took_ms for call in calls if call.status == 200]
    refused = [call.took_ms for call in calls if call.status in (429, 503)]
    shares = {"p50_ms": 0.5, "p95_ms": 0.95}
    return {
        "statuses": dict(Counter(str(call.status) for call in calls)),
        **{name: round(percentile(answered, share)) for name, share in shares.items() if answered},
        **{f"refused_{name}": round(percentile(refused, share)) for name, share in shares.items() if refused},
        "retry_after": dict(Counter(call.retry_after for call in calls if call.retry_after)),
    }


class Callers:
    """Asks over HTTP as a tenant, each question one of its own."""

    def __init__(self, http: str, result: Burst) -> None:
        self._http = http
        self._result = result
        self._numbers = itertools.count()
        self._asking: set[asyncio.Task[None]] = set()

    async def at(self, tenant: str, rate: int, seconds: float) -> None:
        """Ask at an even rate, whether or not others are answered; they are waited for with `answered`."""
        for due in paced(int(rate * seconds), rate):
            await due
            task = asyncio.create_task(self._ask(tenant))
            self._asking.add(task)
            task.add_done_callback(self._asking.discard)

    async def answered(self) -> None:
        while self._asking:
            await asyncio.wait(self._asking)

    async def _ask(self, tenant: str) -> None:
        number = next(self._numbers)
        texts = QUESTIONS[LEVELS[number % len(LEVELS)]]
        question = f"{texts[number % len(texts)].format(n=number)} #{number}"
        where = {"conversation_id": f"talk-{number % CONVERSATIONS}", "client_id": "web"}
        began = time.monotonic()
        status, retry_after = await self._posted(tenant, json.dumps({"question": question, **where}).encode())
        took = (time.monotonic() - began) * 1000
        self._result.calls[tenant].append(Call(question, began, status, took, retry_after))

    async def _posted(self, tenant: str, body: bytes) -> tuple[int, str | None]:
        """Status and `Retry-After`; by hand, for a client library would have more of the machine than the server."""
        head = (
            f"POST /ask HTTP/1.1\r\nhost: {self._http}\r\nauthorization: Bearer {TOKENS[tenant]}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        host, _, port = self._http.rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            writer.write(head.encode() + body)
            status, *lines = (await reader.read()).partition(b"\r\n\r\n")[0].decode().split("\r\n")
        finally:
            writer.close()
        headers = dict(line.lower().split(": ", 1) for line in lines)
        return int(status.split()[1]), headers.get("retry-after")


async def burst(running: Running, rate: int, seconds: float) -> Burst:
    """A burst of so many calls a second of one tenant beside the quiet one, and what followed."""
    result = Burst(rate)
    await _begun(running)
    callers = Callers(running.http, result)
    await callers.at(BUSY, PROBES_PER_S, WARM_S)
    await callers.answered()
    result.calls[BUSY].clear()
    quiet = asyncio.create_task(callers.at(QUIET, QUIET_PER_S, BEFORE_S + seconds + AFTER_S))
    await callers.at(BUSY, PROBES_PER_S, BEFORE_S)
    before, result.began = resident_mb(running.pid)["up"], time.monotonic()
    await callers.at(BUSY, rate, seconds)
    result.resident, result.ended = (before, resident_mb(running.pid)["up"]), time.monotonic()
    learning = asyncio.create_task(caught_up(running, LEARNT_S))
    await callers.at(BUSY, PROBES_PER_S, AFTER_S)
    await asyncio.gather(quiet, callers.answered())
    result.caught_up_s = await learning
    await _read(running.bootstrap, result)
    return result


async def _begun(running: Running) -> None:
    """The conversations that deep questions ask about, learnt."""
    client = Client(running.bootstrap)
    await client.start()
    try:
        for tenant, number in itertools.product((BUSY, QUIET), range(CONVERSATIONS)):
            for role, text in HISTORY:
                await client.say(f"talk-{number}", text.format(n=number), role, tenant=tenant)
        await client.producer.flush()
        await caught_up(running, LEARNT_S)
    finally:
        await client.stop()


async def _read(bootstrap: str, result: Burst) -> None:
    """Count the log's questions and their packs, by the question's text, which is one call's."""
    consumer = AIOKafkaConsumer(
        MESSAGES_IN.name, CONTEXT_PACKS.name, bootstrap_servers=bootstrap, auto_offset_reset="earliest"
    )
    await consumer.start()
    asked: dict[str, str] = {}
    packed: list[str] = []
    try:
        ends = await consumer.end_offsets(consumer.assignment())
        left = {tp for tp, end in ends.items() if end}
        while left:
            for tp, records in (await consumer.getmany(timeout_ms=500, max_records=5_000)).items():
                for record in records:
                    event = json.loads(record.value)
                    if record.topic == CONTEXT_PACKS.name:
                        packed.append(event["message_id"])
                        result.degraded += event["degraded"]
                    elif "question" in event:
                        result.logged[event["question"]] += 1
                        asked[dict(record.headers)["ce_id"].decode()] = event["question"]
                if await consumer.position(tp) >= ends[tp]:
                    left.discard(tp)
    finally:
        await consumer.stop()
    result.packs.update(asked[message] for message in packed if message in asked)


@contextmanager
def served() -> Iterator[Running]:
    """`fathom up` for both tenants, which may call as often as they like."""
    with tempfile.TemporaryDirectory(prefix="fathom-proof-") as folder:
        tokens = Path(folder) / "tokens.json"
        tokens.write_text(json.dumps({token: {"tenant": tenant} for tenant, token in TOKENS.items()}))
        with fathom_up(
            ask_tokens_file=str(tokens), ask_calls_per_minute="1000000", ask_most_waiting="100000", embedder="hashing"
        ) as running:
            yield running


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.proofs.overload.callers", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--rate", type=int, help="calls a second; without it ten times the highest that is held")
    parser.add_argument("--seconds", type=float, default=120)
    given = parser.parse_args(arguments)
    with served() as running:
        rate = given.rate or TIMES * asyncio.run(highest(running))
        result = asyncio.run(burst(running, rate, given.seconds))
    record(result)
    print(json.dumps(result.said(), indent=2))
    for what in (*result.wrong, *result.slow):
        print(f"wrong: {what}")
    return 1 if result.wrong or result.slow else 0


if __name__ == "__main__":
    sys.exit(main())
