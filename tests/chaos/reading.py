"""Read a run back: every record of every topic as it comes, what the groups have committed, the graph that is left."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from types import TracebackType
from typing import Self

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError
from aiokafka.structs import OffsetAndMetadata
from redis.asyncio import Redis

from agents.ports.sessions import SignalWeights, ToolSessions
from schemas.topics import MEMORY_CLAIMS, MEMORY_DECISIONS, TOOLS_CALLS_IN, TOOLS_CALLS_OUT, TOOLS_RESULTS_IN, TOPICS
from streams.kafka import topics_plan
from streams.kafka.records import Record
from streams.stage import Stage
from streams.stores.graph import queries
from streams.stores.graph.embedded.engine import EmbeddedGraph
from streams.stores.graph.neo4j_engine import Neo4jGraph
from streams.stores.sessions.tool_sessions import RedisToolSessions
from streams.stores.sessions.votes import RedisSignalWeights
from streams.topology import STAGES
from tests.chaos.entries import Entry, Given, Graph, Kept
from tests.chaos.requests import Place
from tests.chaos.servers import PARTITIONS

READ_S = 30.0
RETRY_S = 0.5
# What a record is about, and the field of its own id.
NAMED = {MEMORY_CLAIMS.name: ("message_id", "claim_id"), TOOLS_CALLS_OUT.name: ("call_id", "call_id")}

CALLED = (TOOLS_CALLS_IN.name, TOOLS_RESULTS_IN.name)


class Seen:
    """The ids of what requests wait for, by where it is: packs decided, claims made, calls judged."""

    def __init__(self) -> None:
        self.ids: dict[Place, str] = {}

    def add(self, entry: Entry) -> None:
        """Look at a record."""
        if entry.topic == MEMORY_DECISIONS.name:
            place = (f"{entry.topic} ({entry.event.get('kind')})", entry.tenant, str(entry.event.get("message_id")))
            self.ids.setdefault(place, entry.ce_id)
        elif entry.topic in NAMED:
            about, own = NAMED[entry.topic]
            self.ids.setdefault((entry.topic, entry.tenant, str(entry.event.get(about))), str(entry.event.get(own)))


class Tail:
    """All records of the topology's topics, collected in the background."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        # Twice a second is often enough: the workers need the processor more.
        self._consumer = AIOKafkaConsumer(
            bootstrap_servers=bootstrap, enable_auto_commit=False, fetch_min_bytes=4_000_000, fetch_max_wait_ms=500
        )
        self._admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
        self._collecting: asyncio.Task[None] | None = None
        self._read: dict[tuple[str, int], int] = {}
        self._moved = asyncio.Event()
        self.seen = Seen()
        self.entries: list[Entry] = []
        self.count: dict[str, set[str]] = {topic.name: set() for topic in TOPICS}

    async def __aenter__(self) -> Self:
        topics = [wanted.name for wanted in topics_plan.wanted(PARTITIONS)]
        await self._consumer.start()
        await self._admin.start()
        partitions = [TopicPartition(topic, number) for topic in topics for number in range(PARTITIONS)]
        self._consumer.assign(partitions)
        for tp in partitions:
            self._consumer.seek(tp, 0)
        self._collecting = asyncio.create_task(self._collect())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._collecting is not None:
            self._collecting.cancel()
            with suppress(asyncio.CancelledError):
                await self._collecting
        await self._consumer.stop()
        await self._admin.close()

    async def _collect(self) -> None:
        while True:
            for records in (await self._consumer.getmany(timeout_ms=200, max_records=2_000)).values():
                for raw in records:
                    self._add(raw)
            self._moved.set()

    def _add(self, raw: object) -> None:
        names = ("topic", "partition", "offset", "timestamp", "key", "value", "headers")
        entry = Entry.of(Record(*(getattr(raw, name) for name in names)))
        self.entries.append(entry)
        self.seen.add(entry)
        self._read[entry.topic, entry.partition] = entry.offset + 1
        self.count.setdefault(entry.topic, set()).add(entry.ce_id)

    async def lag(self, stages: Iterable[Stage] = STAGES) -> int:
        """Records of all sources that their groups have not committed."""
        sources: dict[str, set[str]] = {}
        for stage in stages:
            sources.setdefault(stage.consumer_group, set()).update(topic.name for topic in stage.consumes)
        lags = await asyncio.gather(*(self._lag(group, topics) for group, topics in sources.items()))
        return sum(lags)

    async def _lag(self, group: str, topics: Iterable[str]) -> int:
        partitions = [TopicPartition(topic, number) for topic in topics for number in range(PARTITIONS)]
        ends = await self._consumer.end_offsets(partitions)
        stored = await self._stored(group, partitions)
        return sum(ends[tp] - max(stored[tp].offset if tp in stored else 0, 0) for tp in partitions)

    async def _stored(self, group: str, partitions: list[TopicPartition]) -> dict[TopicPartition, OffsetAndMetadata]:
        async with asyncio.timeout(READ_S):
            while True:
                try:
                    found: dict[TopicPartition, OffsetAndMetadata] = await self._admin.list_consumer_group_offsets(
                        group, partitions=partitions
                    )
                    return found
                except KafkaError as error:
                    # A broker whose disk stood still for two seconds is no broker of its own cluster for a moment.
                    if not error.retriable:
                        raise
                await asyncio.sleep(RETRY_S)

    async def caught_up(self) -> None:
        """Wait until everything that is in the log now has been collected."""
        topics = [wanted.name for wanted in topics_plan.wanted(PARTITIONS)]
        partitions = [TopicPartition(topic, number) for topic in topics for number in range(PARTITIONS)]
        ends = await self._consumer.end_offsets(partitions)
        while any(self._read.get((tp.topic, tp.partition), 0) < end for tp, end in ends.items()):
            await asyncio.wait_for(self.more(), READ_S)

    async def more(self) -> None:
        """Wait until something was collected."""
        self._moved.clear()
        await self._moved.wait()


async def kept(weights: SignalWeights, sessions: ToolSessions, given: Sequence[Given]) -> Kept:
    """The votes of all tenants that asked for anything, and their tool sessions."""
    votes = {tenant: await weights.votes(tenant) for tenant in {one.tenant for one in given}}
    mine = {one.conversation.key(): one.conversation for one in given if one.topic in CALLED}
    return Kept(
        {tenant: tuple(chain(*by_pattern.values())) for tenant, by_pattern in votes.items()},
        {key: (await sessions.load(conversation))[0] for key, conversation in mine.items()},
    )


async def kept_in(url: str, given: Sequence[Given]) -> Kept:
    """What workers left in a Redis."""
    async with Redis.from_url(url) as client:
        return await kept(RedisSignalWeights(client), RedisToolSessions(client), given)


async def graph_of(left: EmbeddedGraph | Neo4jGraph) -> Graph:
    """Everything in a graph, which is closed then."""
    try:
        nodes: Sequence[Mapping[str, object]] = await left.engine.read(queries.ALL_NODES, {})
        links: Sequence[Mapping[str, object]] = await left.engine.read(queries.ALL_LINKS, {})
    finally:
        await left.close()
    return Graph.of(nodes, links)
