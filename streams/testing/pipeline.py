"""The whole pipeline in memory, for tests: real stages and runners, in-memory stores, a list for each topic.

    with Pipeline() as fathom:
        fathom.say("O prazo é dia 15", role="assistant", conversation="c1")
        pack = fathom.ask("Não, o prazo mudou para dia 20", conversation="c1")
        assert pack.depth_level == "D3"

Time is a clock that tests advance; nothing sleeps, nothing listens.
"""

import asyncio
from collections.abc import Collection, Coroutine, Iterable
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Self, TypeVar

import orjson

from agents.context import ContextManager
from agents.core.quarantine.sources import Quarantines
from schemas.base import Conversation, derive
from schemas.envelope import Received
from schemas.packs import ContextPack
from schemas.policy import ContextPolicy
from schemas.retrieval import PartFound
from schemas.tool_policy import ToolPolicy
from schemas.topics import CONTEXT_PACKS, DOCUMENTS_IN, MEMORY_QUARANTINES, MESSAGES_IN, PACKS_PARTIAL, Topic
from streams import config, policies
from streams.dependencies import Dependencies
from streams.kafka.ledger import LOOK_BACK_MS, Start
from streams.kafka.records import Record, TopicPartition
from streams.runtime.group_runner import GroupRunner
from streams.stage import Stage
from streams.stores.graph.embedded.engine import EmbeddedGraph
from streams.stores.passages.memory import MemoryPassageIndex
from streams.stores.passages.vectors import HashingEmbedder
from streams.stores.sessions.memory import MemoryWorkingSets
from streams.stores.sessions.tool_sessions import MemoryToolSessions
from streams.stores.sessions.votes import MemorySignalWeights
from streams.stores.tokens import EstimatedTokens
from streams.testing.log import EPOCH, FakeClock, MemoryLog, MemoryMember, MemoryToolLog, MemoryTurnLog, decoded
from streams.topology import STAGES
from streams.views.tool_sessions import RecoverableToolSessions
from streams.views.working_sets import RecoverableWorkingSets

__all__ = ["EPOCH", "FakeClock", "MemoryLog", "Pipeline", "decoded"]

T = TypeVar("T")


class Pipeline:
    """A pipeline of all (or the given) stages on one in-memory log; settings are keyword arguments."""

    def __init__(
        self,
        *,
        stages: Iterable[Stage] = STAGES,
        policy: ContextPolicy | None = None,
        partitions: int = 3,
        tenant: str = "acme",
        client: str = "web",
        replace: dict[str, object] | None = None,
        working_sets: MemoryWorkingSets | None = None,
        tools: ToolPolicy | None = None,
        **settings: object,
    ) -> None:
        self.clock = FakeClock()
        self.settings = config.load({}, **settings)
        self.log = MemoryLog(self.clock, partitions)
        self.tenant, self.client = tenant, client
        self.working_sets = working_sets or MemoryWorkingSets()
        self.weights = MemorySignalWeights()
        self.tool_sessions = MemoryToolSessions()
        self.index = MemoryPassageIndex(HashingEmbedder(), admin=self.settings.public_writer)
        self.graph = EmbeddedGraph(admin=self.settings.public_writer)
        self.tokens = EstimatedTokens()
        self.quarantines = Quarantines()
        self._quarantined = 0
        self._policy = policy or ContextPolicy()
        self.turn_log = MemoryTurnLog(self.log.of)
        self.view = RecoverableWorkingSets(
            self.working_sets, self.turn_log, self._policy, partitions=partitions, place=self._place, patience=0
        )
        self._tools = tools or policies.shipped_tools()
        self.tool_log = MemoryToolLog(self.log.of)
        self.tool_view = RecoverableToolSessions(
            self.tool_sessions, self.tool_log, self._tools, partitions=partitions, place=self._place
        )
        self._stages = tuple(stages)
        self._replace = replace or {}
        self._members = {stage.group_name: MemoryMember(self.log) for stage in self._stages}
        self._runners: dict[str, GroupRunner] = {}
        self._loop = asyncio.new_event_loop()
        self._count = 0

    def __enter__(self) -> Self:
        self._run(self._start())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._run(self._stop())
        self._loop.close()

    # --- input

    def publish(self, topic: Topic, value: object, headers: dict[str, str] | None = None, key: bytes = b"k") -> Record:
        """Append one raw record and process everything that follows from it."""
        raw = value if isinstance(value, bytes) else orjson.dumps(value)
        record = self.log.append(topic.name, key, raw, [(n, t.encode()) for n, t in (headers or {}).items()])
        self.settle()
        return record

    def say(self, text: str, *, role: str = "user", conversation: str = "c1", **fields: Any) -> str:
        """Publish a turn on `messages.in` and return its message id; extra fields go into the value."""
        self._count += 1
        headers = {"tenant": fields.pop("tenant", self.tenant), **fields.pop("headers", {})}
        client = fields.pop("client_id", self.client)
        message_id = fields.pop("message_id", derive("test-message", self._count))
        value = {
            "message_id": message_id,
            "role": role,
            "content": text,
            "conversation_id": conversation,
            "client_id": client,
            "created_at": fields.pop("created_at", self.clock.now()),
            **fields,
        }
        key = self.conversation(conversation, tenant=headers["tenant"], client=client).key()
        self.clock.advance(0.001)
        self.publish(MESSAGES_IN, value, headers, key.encode())
        return str(message_id)

    def conversation(self, name: str, tenant: str | None = None, client: str | None = None) -> Conversation:
        """A conversation of the pipeline's tenant and client, or of others."""
        return Conversation(tenant=tenant or self.tenant, client_id=client or self.client, conversation_id=name)

    def ask(self, text: str, **fields: Any) -> ContextPack:
        """Publish a user's message and return its pack."""
        message_id = self.say(text, **fields)
        return self.pack_of(message_id)

    def document(self, document_id: str, title: str, text: str = "", **fields: Any) -> None:
        """Publish a document on `documents.in`."""
        headers = {"tenant": fields.pop("tenant", self.tenant)}
        value = {"document_id": document_id, "title": title, "created_at": self.clock.now(), **fields}
        self.publish(DOCUMENTS_IN, {**value, "text": text} if text else value, headers, document_id.encode())

    def quarantine(self, kind: str, source_id: str, *, tenant: str | None = None, **fields: Any) -> None:
        """Quarantine a source, or with `state="lifted"` lift it; in force at once."""
        stated = {"state": "quarantined", "asked_by": "tests", "issued_at": self.clock.now(), **fields}
        value = {"source_kind": kind, "source_id": source_id, **stated}
        self.publish(MEMORY_QUARANTINES, value, {"tenant": tenant or self.tenant})

    def settle(self) -> None:
        """Process until all records are read; what was quarantined meanwhile is hidden from then on."""
        self._run(self._pump())
        for received in self.events(MEMORY_QUARANTINES)[self._quarantined :]:
            self.quarantines.apply(received)
            self._quarantined += 1

    def wait(self, seconds: float) -> None:
        """Advance the clock, so that deadlines of idle partitions pass."""
        self.clock.advance(seconds)
        self._run(self._tick())
        self.settle()

    # --- output

    def events(self, topic: Topic) -> list[Received[Any]]:
        """Every event of a topic, decoded."""
        return [decoded(record) for record in self.log.of(topic.name)]

    def parts(self) -> list[PartFound]:
        """Every answer of a memory class, sent alone or with others."""
        found = [
            received.event for received in self.events(PACKS_PARTIAL) if received.event.kind not in ("open", "tick")
        ]
        return [part for event in found for part in getattr(event, "parts", (event,))]

    def packs(self) -> list[ContextPack]:
        return [received.event for received in self.events(CONTEXT_PACKS)]

    def pack_of(self, message_id: str) -> ContextPack:
        """The one pack of a message."""
        named = orjson.dumps(message_id)  # of a log of many packs few name it: the others are not decoded
        naming = (record for record in self.log.of(CONTEXT_PACKS.name) if named in (record.value or b""))
        received: list[Received[Any]] = [decoded(record) for record in naming]
        packs: list[ContextPack] = [each.event for each in received if each.event.message_id == message_id]
        [pack] = packs
        return pack

    def one(self, topic: Topic, **fields: Any) -> Any:
        """The one event of a topic with these field values."""
        found = [r.event for r in self.events(topic) if all(getattr(r.event, n) == v for n, v in fields.items())]
        assert len(found) == 1, f"{len(found)} events of {topic.name} with {fields}"
        return found[0]

    def committed(self, group: str, topic: Topic) -> dict[int, int]:
        """The low watermark of a group, by partition."""
        member = self._members[group]
        return {tp.partition: member.committed(tp) for tp in self.log.records if tp.topic == topic.name}

    def nodes(self, label: str) -> list[dict[str, object]]:
        """The graph's nodes of a label."""
        return [dict(node) for node in self.graph.engine.nodes.get(label, {}).values()]

    def edges(self, kind: str) -> list[tuple[str, str, dict[str, object]]]:
        """The graph's relationships of a type: start id, end id, properties."""
        links = self.graph.engine.links.items()
        return [(start, end, dict(props)) for (found, start, end), props in links if found == kind]

    # --- crashes

    def crash(self, group: str) -> None:
        """Crash a group: its state is lost, unacknowledged records are read again."""
        self._run(self._restart(group))

    async def _restart(self, group: str) -> None:
        await self._runners[group].stop()
        member = self._members[group]
        fresh = self._members[group] = MemoryMember(self.log)
        for tp in list(self.log.records):
            fresh.acked[tp] = {o for o in member.acked[tp] if o < member.committed(tp)}
            if member.committed(tp):
                fresh.read[tp] = member.committed(tp)
        await self._start_group(group)

    # --- wiring

    def _place(self, conversation: Conversation) -> int:
        return sum(conversation.key().encode()) % self.log.partitions

    def _run(self, work: Coroutine[object, object, T]) -> T:
        return self._loop.run_until_complete(work)

    def dependencies(self) -> Dependencies:
        parts: dict[str, Any] = {
            "settings": self.settings,
            "clock": self.clock,
            "tokens": self.tokens,
            "context": ContextManager(self.view, self._policy),
            "references": policies.shipped(),
            "profiles": policies.query_profiles(self.settings.profile_policy),
            "packs": policies.pack_policy(self.settings.pack_policy),
            "tools": self._tools,
            "tool_sessions": self.tool_view,
            "working_sets": self.view,
            "weights": self.weights,
            "index": self.index,
            "graph": self.graph,
            "writer": self.graph,
            "quarantines": self.quarantines,
            # The clock stands while a record is handled: on a slow machine, too, nothing is late.
            "hurried": False,
        }
        return Dependencies(**{**parts, **self._replace})

    async def _start(self) -> None:
        for name in self._members:
            await self._start_group(name)

    async def _start_group(self, name: str) -> None:
        built = self.dependencies()
        rows = [(stage, stage.handler(built)) for stage in self._stages if stage.group_name == name]

        async def emitted(
            stage: Stage, partitions: Collection[int], start: Start, since: datetime | None
        ) -> dict[int, datetime]:
            assert stage.own_output is not None
            begin = since or self.clock.now() - timedelta(milliseconds=LOOK_BACK_MS)
            for number in partitions:
                take = start(number)
                for record in map(decoded, self.log.records[TopicPartition(stage.own_output.name, number)]):
                    if record.logged_at >= begin:
                        take(record)
            return dict.fromkeys(partitions, begin)

        runner = GroupRunner(name, rows, self.log, self.settings, read_ledger=emitted)
        if name == "depth":
            await self.view.on_assigned(range(self.log.partitions))
        runner.join(self._members[name])
        self._runners[name] = runner
        await runner.on_assigned(
            frozenset(TopicPartition(t, p) for t in runner.topics for p in range(self.log.partitions))
        )

    async def _stop(self) -> None:
        for runner in self._runners.values():
            await runner.stop()

    async def _pump(self) -> None:
        moved = True
        while moved:
            moved = False
            for name, runner in self._runners.items():
                moved = await self._deliver(runner, self._members[name]) or moved

    async def _deliver(self, runner: GroupRunner, member: MemoryMember) -> bool:
        unread = self._unread(runner, member)
        for record in unread:
            member.read[TopicPartition(record.topic, record.partition)] += 1
            waiting = runner.sink(record)
            if waiting is not None:
                await waiting
        await runner.idle()
        if runner.failed.done():
            raise runner.failed.result()
        return bool(unread)

    def _unread(self, runner: GroupRunner, member: MemoryMember) -> list[Record]:
        """What a group has not read: partition by partition, and topics that are read in step by time, as on Kafka."""
        topics = frozenset(runner.topics)
        mine = [tp for tp in self.log.records if tp.topic in topics]
        records = [record for tp in mine for record in self.log.records[tp][member.read[tp] :]]
        places = {topic: place for place, topic in enumerate(runner.copartitioned)}
        if not places:
            return records
        return sorted(records, key=lambda each: (each.timestamp, places.get(each.topic, 0)))

    async def _tick(self) -> None:
        for runner in self._runners.values():
            await runner.tick(self.clock.now())
