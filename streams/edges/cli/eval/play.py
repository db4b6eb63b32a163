"""Memory and questions in over Kafka, packs out: the measurement of `fathom eval packs`, as a client would see it."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
from aiokafka import ConsumerRecord

from schemas.memory import DocumentSubmitted
from schemas.topics import CONTEXT_PACKS, DOCUMENTS_IN, PACKS_PARTIAL
from streams.edges.client import clients, records
from streams.edges.client.clients import Connected
from streams.edges.client.errors import DOWN, CommandFailed
from streams.edges.client.records import Identity, OutgoingRecord
from streams.edges.client.send import acknowledged, hand_over
from streams.evaluation.pack_figures import PackAnswer
from streams.evaluation.questions import Material, PackQuestion, Utterable
from streams.topology import STAGES

CLIENT = "eval"
TELLER = "someone"
POLL_S, CALM_S, LOOKS = 0.05, 1.0, 3
PACK_TIMEOUT_S = 60.0
# The maximum of awaited packs: a slow machine is asked more slowly.
CONCURRENCY = 16
SECOND, MINUTE, LONG_AGO = timedelta(seconds=1), timedelta(minutes=1), timedelta(days=30)
Say = Callable[[str], None]


@dataclass(slots=True)
class PackPlayer:
    """Plays on one broker; every run has its own tenants, named by `run`; `rate` is in questions per second.

    `alone` dates each question before the one asked earlier, so that none finds another: records later than a message
    are not in its memory.
    """

    broker: Connected
    run: str
    rate: float
    alone: bool
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    _room: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(CONCURRENCY))
    _packs: dict[str, dict[str, Any]] = field(default_factory=dict)
    _parts: dict[str, list[dict[str, object]]] = field(default_factory=dict)
    _awaited: dict[str, asyncio.Event] = field(default_factory=dict)

    @classmethod
    @asynccontextmanager
    async def on(cls, bootstrap: str, *, run: str, rate: float, alone: bool) -> "AsyncIterator[PackPlayer]":
        """A player that reads every pack from now on."""
        async with clients.connected(bootstrap, (CONTEXT_PACKS.name, PACKS_PARTIAL.name)) as broker:
            player = cls(broker, run, rate, alone)
            reading = asyncio.create_task(player._read())
            try:
                yield player
            finally:
                reading.cancel()
                with suppress(asyncio.CancelledError):
                    await reading

    @property
    def packs(self) -> dict[str, dict[str, object]]:
        """The packs of this run by id."""
        return {pack["pack_id"]: pack for pack in self._packs.values()}

    async def teach(self, materials: Iterable[Material]) -> int:
        """Send documents and conversations; returns the number of records."""
        sent = [
            await hand_over(self.broker.producer, each) for material in materials for each in self._records(material)
        ]
        await asyncio.gather(*sent)
        return len(sent)

    def _records(self, material: Material) -> Iterable[OutgoingRecord]:
        tenant = self._tenant(material.tenant)
        for number, (title, text) in enumerate(material.documents):
            submitted = DocumentSubmitted(
                document_id=f"{tenant}-{number}", title=title, text=text, created_at=self.began - LONG_AGO
            )
            yield records.record_of(
                DOCUMENTS_IN, submitted.model_dump_json(exclude_none=True).encode(), Identity(tenant)
            )
        for name, turns in material.talks:
            for position, turn in enumerate(turns):
                # Turns of a session have one time: seconds keep them in order.
                at = (turn.at or self.began - LONG_AGO) + position * SECOND
                yield self._turn(tenant, TELLER, f"talk-{name}", f"{tenant}-{name}-{position}", turn, at)

    def _turn(
        self, tenant: str, user: str, conversation: str, message_id: str, turn: Utterable, at: datetime
    ) -> OutgoingRecord:
        said = {"client": CLIENT, "conversation": conversation, "message_id": message_id, "role": turn.role}
        return records.turn(turn.text, Identity(tenant, user), **said, at=at)

    def _tenant(self, name: str) -> str:
        return f"{name}-{self.run}"

    async def settle(self, patience: float) -> None:
        """Wait until every group has caught up, several times in a row; raises `CommandFailed`."""
        deadline, calm = time.monotonic() + patience, 0
        while calm < LOOKS:
            await asyncio.sleep(CALM_S)
            behind = await self._behind()
            calm = 0 if behind else calm + 1
            if behind and time.monotonic() > deadline:
                raise CommandFailed(
                    f"memory has not settled within {patience:g} s: {', '.join(behind)} lag behind; "
                    "is a worker running on this broker? give it more time with --patience",
                    DOWN,
                )

    async def _behind(self) -> list[str]:
        """The groups that have not committed the ends of their topics."""
        reads: dict[str, set[str]] = {}
        for stage in STAGES:
            reads.setdefault(stage.consumer_group, set()).update(topic.name for topic in stage.reads)
        there = self.broker.counts
        return [
            group
            for group, topics in reads.items()
            if not await self.broker.committed(group, sorted(topics & there.keys()))
        ]

    async def ask(self, questions: Sequence[PackQuestion], say: Say) -> list[PackAnswer]:
        """Ask every question in a conversation of its own, after its earlier turns, each user's turn with its pack."""
        done = 0

        async def one(number: int, question: PackQuestion) -> PackAnswer:
            nonlocal done
            async with self._room:
                answer = await self._converse(number, question)
            done += 1
            if done % 50 == 0:
                say(f"{done} of {len(questions)} asked")
            return answer

        asking = []
        for number, each in enumerate(questions):
            # Paced like people: at full speed no question would find the ones before it in memory.
            asking.append(asyncio.create_task(one(number, each)))
            await asyncio.sleep(1 / self.rate)
        return list(await asyncio.gather(*asking))

    async def _converse(self, number: int, question: PackQuestion) -> PackAnswer:
        tenant, name = self._tenant(question.tenant), f"{self.run}-{number}"
        for position, turn in enumerate((*question.turns, Utterable("user", question.text))):
            message_id = f"{name}-{position}"
            at = self.began - number * MINUTE + position * SECOND if self.alone else datetime.now(UTC)
            record = self._turn(tenant, question.user, f"q-{name}", message_id, turn, at)
            came = self._awaited[message_id] = asyncio.Event()
            await acknowledged(await hand_over(self.broker.producer, record), record)
            if turn.role == "user":
                with suppress(TimeoutError):
                    await asyncio.wait_for(came.wait(), PACK_TIMEOUT_S)
        return PackAnswer(question, self._packs.get(message_id), tuple(self._parts.get(message_id, ())))

    async def _read(self) -> None:
        while True:
            for record in await clients.poll(self.broker.consumer, POLL_S):
                self._take(record)

    def _take(self, record: ConsumerRecord) -> None:
        event = orjson.loads(record.value) if record.value else {}
        message_id = event.get("message_id")
        if message_id not in self._awaited:
            return  # another run's, or a turn of the memory
        if record.topic == PACKS_PARTIAL.name:
            if event.get("kind") == "part":
                self._parts.setdefault(message_id, []).append(event)
            return
        self._packs.setdefault(message_id, event)
        self._awaited[message_id].set()
