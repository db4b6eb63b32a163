"""Play a script turn by turn, and gather what every stage wrote about each message until its pack is there."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient

from schemas.depth import DepthClassified
from schemas.packs import ContextPack
from schemas.retrieval import PartFound, RetrievalPlan
from schemas.topics import (
    BY_NAME,
    CONTEXT_PACKS,
    CONVERSATION_TURNS,
    DEPTH_CLASSIFIED,
    DOCUMENTS_IN,
    MEMORY_CLAIMS,
    MEMORY_CORRECTIONS,
    MEMORY_KNOWLEDGE,
    PACKS_PARTIAL,
    RETRIEVAL_PLANS,
)
from streams.edges import cli_clients
from streams.edges.cli_demo_script import Said, Script
from streams.edges.cli_records import Prepared
from streams.edges.cli_send import deliver
from streams.edges.cli_tail import DEAD_LETTERS
from streams.edges.errors import DOWN, CommandFailed

WATCHED = (DEPTH_CLASSIFIED, RETRIEVAL_PLANS, PACKS_PARTIAL, CONTEXT_PACKS)
PACK_TIMEOUT_S, HANDLED_TIMEOUT_S = 15.0, 30.0
POLL_S, ASK_AGAIN_S = 0.05, 0.1


@dataclass(slots=True)
class Played:
    """One message and what every stage wrote about it; `seconds` from sending to the pack being read."""

    said: Said
    classified: DepthClassified | None = None
    plan: RetrievalPlan | None = None
    parts: list[PartFound] = field(default_factory=list)
    pack: ContextPack | None = None
    seconds: float = 0.0

    def add(self, event: Any) -> None:
        match event:
            case DepthClassified():
                self.classified = event
            case RetrievalPlan():
                self.plan = event
            case PartFound():
                self.parts.append(event)
            case ContextPack():
                self.pack = event

    def complete(self) -> bool:
        """Whether the pack is there, and everything that went into it."""
        if self.pack is None or self.classified is None or self.plan is None:
            return False
        return {part.memory_class for part in self.parts} >= {
            report.memory_class for report in self.pack.parts if report.status != "missing"
        }


@dataclass(frozen=True, slots=True)
class Summary:
    """What the whole script came to. Tokens of `everything`: all turns so far and all documents, per message."""

    messages: int
    packs: int
    degraded: int
    by_depth: dict[str, int]
    tokens: int
    tokens_everything: int
    round_trip_p50_ms: float
    round_trip_p95_ms: float
    pack_p50_ms: float
    pack_p95_ms: float
    claims: int
    corrections: int
    dead_letters: int


class Totals:
    """Counts over the messages played so far."""

    def __init__(self, script: Script) -> None:
        from streams.stores.tokens import best_tokens

        self._count = best_tokens().count
        self._documents = {tenant: sum(map(self._count, texts)) for tenant, texts in script.texts.items()}
        self._turns = script.turns
        self.played: list[Played] = []
        self.everything = 0

    def add(self, played: Played) -> None:
        self.played.append(played)
        self.everything += self._documents.get(played.said.tenant, 0) + sum(
            self._count(turn.text) for turn in self._until(played.said)
        )

    def _until(self, said: Said) -> Iterable[Said]:
        """The conversation up to a turn."""
        for turn in self._turns:
            if turn.record.key == said.record.key:
                yield turn
            if turn is said:
                return

    def summary(self, recorded: Mapping[str, int]) -> Summary:
        packs = [played.pack for played in self.played if played.pack is not None]
        trips = [played.seconds * 1000 for played in self.played if played.pack is not None]
        return Summary(
            messages=len(self.played),
            packs=len(packs),
            degraded=sum(pack.degraded for pack in packs),
            by_depth=dict(sorted(Counter(pack.depth_level.value for pack in packs).items())),
            tokens=sum(pack.total_tokens_estimated for pack in packs),
            tokens_everything=self.everything,
            round_trip_p50_ms=quantile(trips, 0.5),
            round_trip_p95_ms=quantile(trips, 0.95),
            pack_p50_ms=quantile([pack.latency_ms for pack in packs], 0.5),
            pack_p95_ms=quantile([pack.latency_ms for pack in packs], 0.95),
            claims=recorded["claims"],
            corrections=recorded["corrections"],
            dead_letters=recorded["dead_letters"],
        )


def quantile(numbers: Iterable[float], share: float) -> float:
    """The number that `share` of them do not exceed, rounded to a tenth; 0 of none."""
    ordered = sorted(numbers)
    return round(ordered[min(int(len(ordered) * share), len(ordered) - 1)], 1) if ordered else 0.0


class Player:
    """Sends to one broker, and reads what its workers write."""

    def __init__(self, consumer: AIOKafkaConsumer, producer: AIOKafkaProducer, admin: AIOKafkaAdminClient) -> None:
        self._consumer = consumer
        self._producer = producer
        self._admin = admin
        self._counts: dict[str, int] = {}
        self._before: dict[TopicPartition, int] = {}

    @classmethod
    @asynccontextmanager
    async def on(cls, bootstrap: str) -> "AsyncIterator[Player]":
        """A player that sees everything written from now on."""
        counts = await cli_clients.partition_counts(bootstrap)
        watched = cli_clients.partitions_of(counts, [topic.name for topic in WATCHED])
        async with (
            cli_clients.reading(bootstrap, watched) as consumer,
            cli_clients.producing(bootstrap) as producer,
            cli_clients.administering(bootstrap) as admin,
        ):
            player = cls(consumer, producer, admin)
            player._counts = counts
            player._before = await player._ends(player._recorded())
            yield player

    async def teach(self, knowledge: Iterable[Prepared]) -> None:
        """Send documents and wait until they can be found."""
        for prepared in knowledge:
            await deliver(self._producer, prepared)
        await self._handled("fathom.ingestion", DOCUMENTS_IN.name)
        await self._handled("fathom.index-writers", MEMORY_KNOWLEDGE.name)

    async def say(self, said: Said) -> Played | None:
        """Send one turn; for a user's, wait for its pack and what led to it."""
        began = time.perf_counter()
        await deliver(self._producer, said.record)
        if said.role != "user":
            return None
        played = Played(said)
        deadline = began + PACK_TIMEOUT_S
        while not played.complete():
            for record in await cli_clients.poll(self._consumer, POLL_S):
                event = _event_about(record, said.record)
                played.add(event)
                if isinstance(event, ContextPack):
                    played.seconds = time.perf_counter() - began
            if time.perf_counter() > deadline:
                raise CommandFailed(
                    f"no pack came within {PACK_TIMEOUT_S:g} s for {said.record.name}; is a worker running on this "
                    "broker? look at `fathom tail dead-letters.depth --from-beginning`",
                    DOWN,
                )
        return played

    async def sum_up(self, totals: Totals) -> Summary:
        """What was recorded, once the writers are through."""
        await self._handled("fathom.learning", CONVERSATION_TURNS.name)
        recorded: Counter[str] = Counter()
        for tp, end in (await self._ends(self._recorded())).items():
            kind = {MEMORY_CLAIMS.name: "claims", MEMORY_CORRECTIONS.name: "corrections"}.get(tp.topic, "dead_letters")
            recorded[kind] += end - self._before.get(tp, 0)
        return totals.summary(recorded)

    def _recorded(self) -> list[TopicPartition]:
        letters = [topic for topic in self._counts if topic.startswith(DEAD_LETTERS)]
        return cli_clients.partitions_of(self._counts, [MEMORY_CLAIMS.name, MEMORY_CORRECTIONS.name, *letters])

    async def _ends(self, partitions: list[TopicPartition]) -> dict[TopicPartition, int]:
        ends: dict[TopicPartition, int] = await self._consumer.end_offsets(partitions)
        return ends

    async def _handled(self, group: str, topic: str) -> None:
        """Wait until a consumer group has committed all there is of a topic."""
        ends = await self._ends(cli_clients.partitions_of(self._counts, [topic]))
        deadline = time.monotonic() + HANDLED_TIMEOUT_S
        while True:
            committed = await self._admin.list_consumer_group_offsets(group)
            behind = [tp for tp, end in ends.items() if end and (tp not in committed or committed[tp].offset < end)]
            if not behind:
                return
            if time.monotonic() > deadline:
                raise CommandFailed(
                    f"the group {group} did not get through {topic} within {HANDLED_TIMEOUT_S:g} s; "
                    "is a worker with that group running?",
                    DOWN,
                )
            await asyncio.sleep(ASK_AGAIN_S)


def _event_about(record: ConsumerRecord, sent: Prepared) -> Any:
    """The event of a record, if it is about the message that was sent."""
    if record.key != sent.key:
        return None
    event = BY_NAME[record.topic].adapter.validate_json(record.value, extra="ignore")
    return event if getattr(event, "message_id", None) == sent.name else None
