"""False alarms: a worker under load, whose loop and whose broker are slow, is ready all the time."""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from aiokafka import AIOKafkaProducer

from schemas.base import Conversation
from schemas.topics import MESSAGES_IN
from tests.chaos.messages import Message
from tests.proofs.health.site import KINDS, Site, running
from tests.proofs.health.trials import flaws

# As long as a broker, or a call that blocks the loop, may take without being declared dead.
SLOW_BROKER_S, SLOW_LOOP_S = 3.0, 1.0
BREATH_S = 0.3
BEHIND = 'fathom_consumer_lag_records{group="depth",topic="messages.in"}'
TEXTS = ("Qual é o prazo do projeto Jacarandá?", "Why did the budget grow by 5% this quarter?")


@dataclass
class Load:
    """What a run was like: seconds, questions asked of readiness, those that it denied, messages sent and not read."""

    seconds: float = 0.0
    asked: int = 0
    denied: list[object] = field(default_factory=list)
    sent: int = 0
    most_behind: float = 0.0
    most_late_s: float = 0.0

    def __str__(self) -> str:
        return (
            f"{self.seconds:.0f} s, {self.sent} messages, at most {self.most_behind:.0f} of them not read, the loop up "
            f"to {self.most_late_s:.1f} s late: readiness was asked {self.asked} times and denied {len(self.denied)}"
        )


def loaded(seconds: float, rate: float, directory: Path) -> Load:
    """A worker that gets `rate` messages a second, while its loop stands for a second and its broker for three."""
    load = Load()
    with running(KINDS["broker"], directory) as site, _sending(site, rate, load):
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            for slow, lasts in ((_slow_loop, SLOW_LOOP_S), (_slow_broker, SLOW_BROKER_S)):
                with slow(site):
                    load.denied += flaws(site, lasts, lambda: _look(site, load))
                load.denied += flaws(site, BREATH_S, lambda: _look(site, load))
        load.seconds = time.monotonic() - began
    return load


def _look(site: Site, load: Load) -> None:
    load.asked += 1
    load.most_behind = max(load.most_behind, site.metric(BEHIND))
    load.most_late_s = max(load.most_late_s, site.metric("fathom_loop_lag_seconds"))
    time.sleep(0.1)


@contextmanager
def _slow_loop(site: Site) -> Iterator[None]:
    site.hold_loop()
    try:
        yield
    finally:
        site.free_loop()


@contextmanager
def _slow_broker(site: Site) -> Iterator[None]:
    site.take()
    try:
        yield
    finally:
        site.give()


@contextmanager
def _sending(site: Site, rate: float, load: Load) -> Iterator[None]:
    ended = threading.Event()

    async def send() -> None:
        producer = AIOKafkaProducer(bootstrap_servers=site.bootstrap)
        await producer.start()
        try:
            while not ended.is_set():
                key, value, headers = _message(load.sent).record(datetime.now(UTC))
                await producer.send(MESSAGES_IN.name, value, key=key, headers=headers)
                load.sent += 1
                await asyncio.sleep(1 / rate)
        finally:
            await producer.stop()

    thread = threading.Thread(target=lambda: asyncio.run(send()))
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _message(number: int) -> Message:
    conversation = Conversation(tenant="acme", client_id="web", conversation_id=f"c{number % 50}")
    return Message(f"m{number}", conversation, "user", TEXTS[number % len(TEXTS)], False)
