"""The one reader of progress in a process: it follows the topic from a minute back, and looks up what is older.

Without a group: every process reads all of it, and keeps what it may be asked for.
"""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import aclosing

import orjson
from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from aiokafka.errors import KafkaError

from schemas import codec
from schemas.base import Conversation
from schemas.envelope import header_map
from schemas.topics import MEMORY_ERASURES, PROGRESS_EVENTS
from streams.edges.client import clients, known
from streams.edges.client.errors import CommandFailed
from streams.edges.http.events.message_progress import LoggedProgress, MessageProgress, ProgressStore, Sees
from streams.telemetry import metrics

LOG = logging.getLogger("fathom.events")
TOPICS = (PROGRESS_EVENTS.name, MEMORY_ERASURES.name)
LOOK_BACK_S = 60.0
POLL_S = 1.0
# Between two fetches: under load one for each record would cost more than all that is done with it.
REST_S = 0.05
RETRY_S = 1.0
SEARCH_S = 5.0
MAX_SEARCHES = 4


class ProgressTail:
    """Follows the log while `keep` runs."""

    def __init__(
        self, bootstrap: Callable[[], str], store: ProgressStore, failed: Callable[[bytes, bytes], None] | None = None
    ) -> None:
        """`failed` gets the key and the value of each event that says that a run has failed."""
        self._bootstrap = bootstrap
        self._failed = failed
        self.store = store
        self._read: dict[TopicPartition, int] = {}
        self._why = ""
        self._searches = asyncio.Semaphore(MAX_SEARCHES)

    async def keep(self) -> None:
        """Stay connected until cancelled."""
        while True:
            try:
                await self._follow()
            except (CommandFailed, KafkaError, OSError) as error:
                if str(error) != self._why:  # retried every second, logged once
                    metrics.log(LOG, logging.WARNING, "events.disconnected", why=str(error))
                self._why = str(error)
            await asyncio.sleep(RETRY_S)

    async def _follow(self) -> None:
        bootstrap = self._bootstrap()
        partitions = clients.partitions_of(await clients.partition_counts(bootstrap), TOPICS)
        async with clients.following(bootstrap, partitions) as consumer:
            await self._place(consumer)
            never = asyncio.Event()
            while True:
                records = await clients.poll(consumer, POLL_S)
                for record in records:
                    self._read[TopicPartition(record.topic, record.partition)] = record.offset + 1
                    self._take(record)
                if records:
                    await clients.rest(consumer, REST_S, never)

    async def _place(self, consumer: AIOKafkaConsumer) -> None:
        """Go on where the last connection ended; the first one begins a minute back."""
        since = int((time.time() - LOOK_BACK_S) * 1000)
        fresh = [tp for tp in consumer.assignment() if tp not in self._read]
        for tp, found in (await consumer.offsets_for_times(dict.fromkeys(fresh, since))).items() if fresh else ():
            if found is not None:
                consumer.seek(tp, found.offset)
        for tp, offset in self._read.items():
            if tp in consumer.assignment():
                consumer.seek(tp, offset)

    def _take(self, record: ConsumerRecord) -> None:
        if record.value is None or not (tenant := header_map(record.headers).get("tenant")):
            return
        try:
            if record.topic == PROGRESS_EVENTS.name:
                event = LoggedProgress.of(record.partition, record.offset, record.timestamp, bytes(record.value))
                self.store.came(tenant, event)
                if event.type == "COGRAG_FAILED" and self._failed is not None:
                    self._failed(record.key or b"", event.value)
                return
            said = orjson.loads(record.value)
            self.store.erased(tenant, said["client_id"], said["conversation_id"], said["up_to_seq"])
        except (ValueError, KeyError, TypeError):
            return  # a record of some other writer

    async def look_up(self, tenant: str, message_id: str, sees: Sees) -> None:
        """Read what the log has of the messages of an id that may be seen into the store.

        The search ends at the newest one that is whole. Raises `CommandFailed` where no broker answers.
        """
        async with self._searches:
            for found in await self._search(tenant, message_id, sees):
                whose, up_to = found[0], await self._erased_up_to(tenant, found)
                if up_to is None:
                    self.store.joined(tenant, found)
                else:
                    self.store.erased(tenant, whose.client_id, whose.conversation_id, up_to)

    async def _search(self, tenant: str, message_id: str, sees: Sees) -> list[list[LoggedProgress]]:
        found: dict[tuple[str, str], list[LoggedProgress]] = defaultdict(list)
        async with aclosing(known.newest_first(self._bootstrap(), PROGRESS_EVENTS, SEARCH_S)) as windows:
            async for records, _ in windows:
                for one in known.of_tenant(PROGRESS_EVENTS, records, tenant, message_id):
                    event = LoggedProgress.of(one.partition, one.offset, one.timestamp, codec.dump(one.event))
                    if event.message_id == message_id and sees(event):
                        found[event.client_id, event.conversation_id].append(event)
                if any(_joined(events).is_whole for events in found.values()):
                    break
        return [*found.values()]

    async def _erased_up_to(self, tenant: str, found: list[LoggedProgress]) -> int | None:
        """The position up to which the message's conversation is erased; None where the message is not of that part."""
        read = _joined(found)
        where = Conversation(tenant=tenant, client_id=found[0].client_id, conversation_id=found[0].conversation_id)
        up_to = await known.erased_up_to(self._bootstrap(), where, SEARCH_S)
        seq = read.planned.data.get("message_seq", 0) if read.planned else 0
        return up_to if seq <= up_to else None


def _joined(events: Iterable[LoggedProgress]) -> MessageProgress:
    read = MessageProgress()
    read.join(events)
    return read
