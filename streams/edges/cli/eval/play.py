"""Memory in and questions in over Kafka, packs out: what `fathom eval packs` measures, as any client would see it."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord
from aiokafka.admin import AIOKafkaAdminClient

from schemas.memory import DocumentSubmitted
from schemas.topics import CONTEXT_PACKS, DOCUMENTS_IN, MESSAGES_IN, PACKS_PARTIAL
from streams.edges.client import clients, records
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
# More packs than this are not awaited at a time: a slow machine is asked more slowly.
CONCURRENCY = 16
SECOND, MINUTE, LONG_AGO = timedelta(seconds=1), timedelta(minutes=1), timedelta(days=30)
Say = Callable[[str], None]


class PackPlayer:
    """Plays on one broker; every run has tenants of its own, named by `run`; `rate` questions a second.

    `alone` dates each question before the one asked before it, so that none finds another: what is recorded later than
    a message is no memory of it.
    """

    def __init__(
        self,
        consumer: AIOKafkaConsumer,
        producer: AIOKafkaProducer,
        admin: AIOKafkaAdminClient,
        counts: dict[str, int],
        *,
        run: str,
        rate: float,
        alone: bool,
    ) -> None:
        self._consumer = consumer
        self._producer = producer
        self._admin = admin
        self._counts = counts
        self._run = run
        self._rate = rate
        self._alone = alone
        self._began = datetime.now(UTC)
        self._room = asyncio.Semaphore(CONCURRENCY)
        self._packs: dict[str, dict[str, Any]] = {}
        self._parts: dict[str, list[dict[str, Any]]] = {}
        self._awaited: dict[str, asyncio.Event] = {}

    @classmethod
    @asynccontextmanager
    async def on(cls, bootstrap: str, *, run: str, rate: float, alone: bool) -> "AsyncIterator[PackPlayer]":
        """A player that sees every pack written from now on."""
        counts = await clients.partition_counts(bootstrap)
        watched = clients.partitions_of(counts, [CONTEXT_PACKS.name, PACKS_PARTIAL.name])
        async with (
            clients.reading(bootstrap, watched) as consumer,
            clients.producing(bootstrap) as producer,
            clients.administering(bootstrap) as admin,
        ):
            player = cls(consumer, producer, admin, counts, run=run, rate=rate, alone=alone)
            reading = asyncio.create_task(player._read())
            try:
                yield player
            finally:
                reading.cancel()
                with suppress(asyncio.CancelledError):
                    await reading

    @property
    def packs(self) -> dict[str, dict[str, Any]]:
        """Every pack of this run by its id."""
        return {pack["pack_id"]: pack for pack in self._packs.values()}

    async def teach(self, materials: Iterable[Material]) -> int:
        """Give documents and say talks; how many records that were."""
        sent = [await hand_over(self._producer, each) for material in materials for each in self._records(material)]
        await asyncio.gather(*sent)
        return len(sent)

    def _records(self, material: Material) -> Iterable[OutgoingRecord]:
        tenant = self._tenant(material.tenant)
        for number, (title, text) in enumerate(material.documents):
            submitted = DocumentSubmitted(
                document_id=f"{tenant}-{number}", title=title, text=text, created_at=self._began - LONG_AGO
            )
            yield records.record_of(
                DOCUMENTS_IN, submitted.model_dump_json(exclude_none=True).encode(), Identity(tenant)
            )
        for name, turns in material.talks:
            for position, turn in enumerate(turns):
                # Turns of a session share their time: seconds keep them apart.
                at = (turn.at or self._began - LONG_AGO) + position * SECOND
                yield self._turn(tenant, TELLER, f"talk-{name}", f"{tenant}-{name}-{position}", turn, at)

    def _turn(
        self, tenant: str, user: str, conversation: str, message_id: str, turn: Utterable, at: datetime
    ) -> OutgoingRecord:
        value = {
            "message_id": message_id,
            "role": turn.role,
            "content": turn.text,
            "conversation_id": conversation,
            "client_id": CLIENT,
            "created_at": at.isoformat(),
        }
        return records.record_of(MESSAGES_IN, orjson.dumps(value), Identity(tenant, user))

    def _tenant(self, name: str) -> str:
        return f"{name}-{self._run}"

    async def settle(self, patience: float) -> None:
        """Wait until every group has done with all there is, some looks in a row; raises `CommandFailed`."""
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
        """The groups that have not committed all there is of their topics."""
        reads: dict[str, set[str]] = {}
        for stage in STAGES:
            reads.setdefault(stage.consumer_group, set()).update(topic.name for topic in stage.reads)
        found = []
        for group, topics in reads.items():
            partitions = clients.partitions_of(self._counts, sorted(topics & set(self._counts)))
            if not await clients.committed(self._admin, self._consumer, group, partitions):
                found.append(group)
        return found

    async def ask(self, questions: Sequence[PackQuestion], say: Say) -> list[PackAnswer]:
        """Every question in a conversation of its own, its earlier turns first, each user's turn with its pack."""
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
            # As people do: asked as fast as it goes, no question would meet the ones before it in memory.
            asking.append(asyncio.create_task(one(number, each)))
            await asyncio.sleep(1 / self._rate)
        return list(await asyncio.gather(*asking))

    async def _converse(self, number: int, question: PackQuestion) -> PackAnswer:
        tenant, name = self._tenant(question.tenant), f"{self._run}-{number}"
        for position, turn in enumerate((*question.turns, Utterable("user", question.text))):
            message_id = f"{name}-{position}"
            at = self._began - number * MINUTE + position * SECOND if self._alone else datetime.now(UTC)
            record = self._turn(tenant, question.user, f"q-{name}", message_id, turn, at)
            came = self._awaited[message_id] = asyncio.Event()
            await acknowledged(await hand_over(self._producer, record), record)
            if turn.role == "user":
                with suppress(TimeoutError):
                    await asyncio.wait_for(came.wait(), PACK_TIMEOUT_S)
        return PackAnswer(question, self._packs.get(message_id), tuple(self._parts.get(message_id, ())))

    async def _read(self) -> None:
        while True:
            for record in await clients.poll(self._consumer, POLL_S):
                self._take(record)

    def _take(self, record: ConsumerRecord) -> None:
        event = orjson.loads(record.value) if record.value else {}
        message_id = event.get("message_id")
        if message_id not in self._awaited:
            return  # somebody else's, or a turn of the memory
        if record.topic == PACKS_PARTIAL.name:
            if event.get("kind") == "part":
                self._parts.setdefault(message_id, []).append(event)
            return
        self._packs.setdefault(message_id, event)
        self._awaited[message_id].set()
