"""The one reader of what messages reach in a process: it follows their topics while somebody watches one.

Nothing is written for it: a message that is watched is read from the log once, and its events follow from its records.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from heapq import merge
from operator import attrgetter
from typing import Any

from aiokafka import ConsumerRecord
from aiokafka.errors import KafkaError

from agents.core.progress.message_events import MessageEvents
from agents.ports.cognition import CognitionOptions
from schemas import codec
from schemas.base import Conversation, entity_key
from schemas.codec import Undecodable
from schemas.envelope import Received
from schemas.retrieval import RetrievalPlan
from schemas.topics import (
    BY_NAME,
    COGNITION_STEPS,
    CONTEXT_PACKS,
    MEMORY_ERASURES,
    PACKS_PARTIAL,
    RETRIEVAL_PLANS,
    TOOLS_CALLS_IN,
    TOOLS_CALLS_OUT,
    Topic,
)
from streams import extensions
from streams.edges.client import clients, log_lookup
from streams.edges.client.errors import DOWN, CommandFailed
from streams.edges.http.events.message_progress import MessageProgress
from streams.kafka.records import may_name
from streams.telemetry import metrics

LOG = logging.getLogger("fathom.events")
CALLS = (TOOLS_CALLS_IN, TOOLS_CALLS_OUT)
TOPICS = (RETRIEVAL_PLANS, PACKS_PARTIAL, CONTEXT_PACKS, COGNITION_STEPS, *CALLS, MEMORY_ERASURES)
POLL_S = 1.0
# After the last one has gone: to connect takes a tenth of a second.
LINGER_S = 30.0
RETRY_S = 1.0
SEARCH_S = 5.0
MAX_SEARCHES = 4
# How much earlier than its plan a record of a message may be timed, by another host's clock.
SKEW_MS = 60_000

Sees = Callable[[RetrievalPlan], bool]
Plan = Received[RetrievalPlan]


@dataclass(slots=True, eq=False)
class _Watched:
    """A message that is watched; `came` are the records that came before it was read from the log."""

    told: MessageEvents
    progress: MessageProgress
    reading: "asyncio.Task[None] | None" = None
    came: list[Received[Any]] | None = field(default_factory=list)

    def take(self, record: Received[Any]) -> None:
        if self.came is not None:
            self.came.append(record)
        else:
            self.progress.add(self.told.of(record))


class ProgressTail:
    """Follows the log while `keep` runs and somebody watches."""

    def __init__(self, bootstrap: Callable[[], str], options: CognitionOptions) -> None:
        """`options` are those of the workers with cognition: they say of which messages a run is awaited.

        A run that has begun is told whatever they say.
        """
        self._bootstrap = bootstrap
        self._options = options
        self._watched: dict[str, _Watched] = {}
        self._awaited: dict[asyncio.Queue[Plan | None], tuple[str, str]] = {}
        self._watchers = 0
        self._wanted, self._following = asyncio.Event(), asyncio.Event()
        self._why = "the connection to the broker is being made"
        self._searches = asyncio.Semaphore(MAX_SEARCHES)

    async def watch(
        self, tenant: str, message_id: str, sees: Sees, stated: Conversation | None, until: float
    ) -> MessageProgress | None:
        """The progress of the newest message of this id that may be seen; the caller has to `leave` it.

        None where none came until then, a time of the loop. Raises `CommandFailed` where no broker answers.
        """
        plans: asyncio.Queue[Plan | None] = asyncio.Queue()
        self._awaited[plans] = tenant, message_id
        self._watchers += 1
        self._wanted.set()
        progress = None
        try:
            await self._connected(until)
            async with self._searches:
                plan = await self._logged(tenant, message_id, sees, stated)
            with suppress(TimeoutError):
                async with asyncio.timeout_at(until):
                    while plan is None and (came := await plans.get()) is not None:
                        plan = came if sees(came.event) else None
            progress = None if plan is None else await self._progress(plan)
            return progress
        finally:
            del self._awaited[plans]
            if progress is None:
                self._watchers -= 1

    def leave(self, progress: MessageProgress) -> None:
        """Stop watching."""
        self._watchers -= 1
        self._release(progress)

    def _release(self, progress: MessageProgress) -> None:
        progress.watchers -= 1
        if not progress.watchers:
            for pack_id in [pack_id for pack_id, each in self._watched.items() if each.progress is progress]:
                del self._watched[pack_id]

    def stop(self) -> None:
        """End all streams: the server is shutting down."""
        for plans in self._awaited:
            plans.put_nowait(None)
        self._end(self._watched.values())

    async def keep(self) -> None:
        """Follow whenever somebody watches, until cancelled."""
        while True:
            await self._wanted.wait()
            try:
                await self._follow()
                continue
            except (CommandFailed, KafkaError, OSError) as error:
                if str(error) != self._why:  # retried every second, logged once
                    metrics.log(LOG, logging.WARNING, "events.disconnected", why=str(error))
                self._why = str(error)
            finally:
                self._following.clear()
                # What is logged meanwhile would be missing: who watches connects again.
                self._end(self._watched.values())
            await asyncio.sleep(RETRY_S)

    async def _follow(self) -> None:
        bootstrap, loop = self._bootstrap(), asyncio.get_running_loop()
        names = [topic.name for topic in TOPICS]
        partitions = clients.partitions_of(await clients.partition_counts(bootstrap), names)
        async with clients.following(bootstrap, partitions) as consumer:
            self._following.set()
            watched_at = loop.time()
            while loop.time() < watched_at + LINGER_S:
                for record in await clients.poll(consumer, POLL_S):
                    self._take(record)
                if self._watchers:
                    watched_at = loop.time()
            # Before the consumer stops: who watches from now on waits for the next one.
            self._wanted.clear()
            self._following.clear()

    def _take(self, record: ConsumerRecord) -> None:
        if record.value is None:
            return
        topic = BY_NAME[record.topic]
        names = [_name_in(topic, each.told) for each in self._watched.values()]
        if topic is RETRIEVAL_PLANS:
            names += [message_id for _, message_id in self._awaited.values()]
        if not (topic is MEMORY_ERASURES and names) and not any(may_name(record, name) for name in names):
            return
        try:
            received = codec.decode_record(topic, record)
        except Undecodable:
            return  # a record of some other writer
        if topic is MEMORY_ERASURES:
            self._erase(received)
            return
        for plans, named in self._awaited.items() if topic is RETRIEVAL_PLANS else ():
            if named == (received.envelope.tenant, received.event.message_id):
                plans.put_nowait(received)
        for each in self._watched.values():
            each.take(received)

    def _erase(self, record: Received[Any]) -> None:
        """End the streams that show what is erased."""
        where = record.conversation(record.event.client_id, record.event.conversation_id)
        gone = [each for each in self._watched.values() if each.told.where == where]
        self._end(each for each in gone if each.told.plan.seq <= record.event.up_to_seq)

    def _end(self, watched: Iterable[_Watched]) -> None:
        for each in [*watched]:
            each.progress.end()
            self._watched.pop(each.told.plan.pack_id, None)

    async def _connected(self, until: float) -> None:
        try:
            async with asyncio.timeout_at(max(until, asyncio.get_running_loop().time() + SEARCH_S)):
                await self._following.wait()
        except TimeoutError:
            raise CommandFailed(self._why, DOWN) from None

    async def _logged(self, tenant: str, message_id: str, sees: Sees, stated: Conversation | None) -> Plan | None:
        """The newest plan in the log of a message of this id that may be seen, and is not erased."""
        key = None if stated is None else stated.key()
        windows = log_lookup.newest_first(self._bootstrap(), RETRIEVAL_PLANS, SEARCH_S, key)
        async with aclosing(windows):
            async for records, _ in windows:
                plans = log_lookup.of_tenant(RETRIEVAL_PLANS, records, tenant, message_id)
                seen = [plan for plan in plans if plan.event.message_id == message_id and sees(plan.event)]
                for plan in sorted(seen, key=attrgetter("timestamp"), reverse=True):
                    where = plan.conversation(plan.event.client_id, plan.event.conversation_id)
                    if plan.event.seq > await log_lookup.erased_up_to(self._bootstrap(), where, SEARCH_S):
                        return plan
        return None

    async def _progress(self, plan: Plan) -> MessageProgress | None:
        """The progress of a message, as far as the log has it; None for one that was erased meanwhile."""
        watched = self._watched.get(plan.event.pack_id)
        if watched is None:
            told = MessageEvents(plan, extensions.run_of(plan.event, self._options))
            watched = self._watched[plan.event.pack_id] = _Watched(told, MessageProgress(told.has_run))
            watched.reading = asyncio.create_task(self._read(watched))
        watched.progress.watchers += 1
        try:
            assert watched.reading is not None
            await asyncio.shield(watched.reading)
        except BaseException:
            self._release(watched.progress)
            raise
        return watched.progress

    async def _read(self, watched: _Watched) -> None:
        """Take a message's records from the log, then those that came meanwhile."""
        told = watched.told
        own, of_run = told.where.key(), entity_key(told.where.tenant, told.job_id)
        keys = {PACKS_PARTIAL: own, CONTEXT_PACKS: own, COGNITION_STEPS: of_run, **dict.fromkeys(CALLS, own)}
        searched = {**keys, RETRIEVAL_PLANS: own}
        *read, later = await asyncio.gather(*(self._records(told, *each) for each in searched.items()))
        for plan in later:
            watched.progress.add(told.of(plan))
        watched.progress.add([told.first])
        for record in (*merge(*read, key=attrgetter("timestamp")), *(watched.came or ())):
            watched.progress.add(told.of(record))
        watched.came = None

    async def _records(self, told: MessageEvents, topic: Topic, key: str) -> list[Received[Any]]:
        """The records of a topic that may tell of a message, in the order of the log."""
        found: list[Received[Any]] = []
        async with aclosing(log_lookup.newest_first(self._bootstrap(), topic, SEARCH_S, key)) as windows:
            async for records, _ in windows:
                found = [*log_lookup.of_tenant(topic, records, told.where.tenant, _name_in(topic, told)), *found]
                if records and min(record.timestamp for record in records) < told.first.timestamp - SKEW_MS:
                    break
        return found


def _name_in(topic: Topic, told: MessageEvents) -> str:
    """What is looked for in a record: calls and later plans know the conversation, and not the pack."""
    return told.where.conversation_id if topic in (*CALLS, RETRIEVAL_PLANS) else told.plan.pack_id
