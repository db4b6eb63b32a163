"""Request and reply over topics: one producer and one consumer for all HTTP requests of a process.

The consumer has no group: each process reads all answers and picks those of its own callers. After a reconnect it
starts a minute back, so that no answer is missed.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord
from aiokafka.errors import KafkaError

from agents.core.caching.lru import ByteCache
from schemas.base import Conversation
from schemas.chat import Turn
from schemas.codec import Undecodable, decode_record
from schemas.envelope import Erased, header_map
from schemas.topics import (
    ANSWERS_OUT,
    CONTEXT_PACKS,
    CONVERSATION_TURNS,
    MEMORY_ERASURES,
    SEARCHES_OUT,
    TOOLS_CALLS_OUT,
)
from streams.edges.client import ask, clients
from streams.edges.client.deep_answers import LETTERS_OF_RUNS, failure_of
from streams.edges.client.errors import CommandFailed
from streams.edges.client.records import OutgoingRecord
from streams.edges.client.send import SentRecord, deliver
from streams.edges.http.load_shedding import LoadShedding, tenant_of
from streams.edges.http.pending_replies import ExpectedReply, PendingReplies
from streams.telemetry import metrics

LOG = logging.getLogger("fathom.ask")
TOPICS = (
    ANSWERS_OUT.name, CONTEXT_PACKS.name, CONVERSATION_TURNS.name, TOOLS_CALLS_OUT.name, MEMORY_ERASURES.name,
    SEARCHES_OUT.name, *ask.LETTERS, LETTERS_OF_RUNS,
)  # fmt: skip
# A repeated question finds an answer this old, also in a process that has just started.
LOOK_BACK_S = 60.0
POLL_S = 1.0
# Between two fetches while nobody waits: every pack of the process would cost one.
REST_S = 0.2
RETRY_S = 1.0
# A task that is done, with the place of its record.
TASK_BYTES = 1_000


class NotReachable(Exception):
    """The broker is unreachable or refused the record; the text says why."""


@dataclass(slots=True)
class _Session:
    producer: AIOKafkaProducer
    broken: bool = False


class Exchange:
    """Request/reply over Kafka; works while `keep` runs, which holds the connections."""

    def __init__(
        self,
        bootstrap: Callable[[], str],
        waiting: PendingReplies,
        full: Callable[[], str | None] = lambda: None,
        shedding: LoadShedding | None = None,
    ) -> None:
        """`full` says why the broker has no room, if it has none: it does not answer then, but waits for room.

        `shedding` counts the questions that are sent, and refuses those that would wait for too long.
        """
        self._bootstrap = bootstrap
        self._full = full
        self._waiting = waiting
        self.shedding = shedding or LoadShedding()
        self._session: _Session | None = None
        # Set at the first connection; for other threads.
        self.connected = threading.Event()
        self._why = "the connection to the broker is being made"
        self._sent: ByteCache[tuple[str, bytes, str, str], asyncio.Task[SentRecord]] = ByteCache("sent_records")

    @property
    def reachable(self) -> bool:
        """Whether the broker is connected."""
        return self._session is not None

    @property
    def waiting(self) -> int:
        """The number of callers that wait."""
        return len(self._waiting)

    def bootstrap(self) -> str:
        """The address of the broker; raises `CommandFailed` where none is known."""
        return self._bootstrap()

    def recent_turns(self, where: Conversation) -> list[Turn]:
        """The turns of a conversation that came lately, as far as they are cached."""
        values = self._waiting.recent(CONVERSATION_TURNS.name, where.key().encode())
        turns = []
        for value in values:
            with suppress(ValueError):  # a record of some other writer
                turns.append(Turn.model_validate_json(value, extra="ignore"))
        return turns

    def stop(self) -> None:
        """Fail all waiting callers: the server is shutting down."""
        self._waiting.fail(NotReachable("this server is ending; ask again with the same Idempotency-Key"))

    async def keep(self) -> None:
        """Stay connected until cancelled."""
        while True:
            try:
                await self._connected()
            except (CommandFailed, KafkaError, OSError) as error:
                if str(error) != self._why:  # retried every second, logged once
                    metrics.log(LOG, logging.WARNING, "ask.disconnected", why=str(error))
                self._why = str(error)
            finally:
                self._session = None
            await asyncio.sleep(RETRY_S)

    async def _connected(self) -> None:
        bootstrap = self._bootstrap()
        partitions = clients.partitions_of(await clients.partition_counts(bootstrap), TOPICS)
        async with (
            clients.following(bootstrap, partitions) as consumer,
            clients.producing(bootstrap, linger_ms=0) as producer,
        ):
            await _step_back(consumer)
            session = self._session = _Session(producer)
            self.connected.set()
            metrics.log(LOG, logging.INFO, "ask.connected", bootstrap=bootstrap)
            while not session.broken:
                records = await clients.poll(consumer, POLL_S)
                for record in records:
                    self._came(record)
                if records and not self._waiting:
                    self._waiting.called.clear()
                    await clients.rest(consumer, REST_S, self._waiting.called)

    def _came(self, record: ConsumerRecord) -> None:
        if record.key is None:
            return
        if record.topic == LETTERS_OF_RUNS:
            if (failed := failure_of(record.headers)) is not None:
                self._waiting.failed(*failed)
        elif record.topic in ask.LETTERS:
            if (refused := ask.refusal_of(record.headers)) is not None:
                self._waiting.refused(record.key, *refused)
                self.shedding.not_sent(record.key, refused[0])
        elif record.topic == MEMORY_ERASURES.name:
            self._erased(record)
        elif record.value is not None:
            if record.topic == CONVERSATION_TURNS.name:
                self.shedding.turn(record.key, record.value)
            self._waiting.came(record.topic, record.key, record.value)

    def _erased(self, record: ConsumerRecord) -> None:
        try:
            erased = decode_record(MEMORY_ERASURES, record)
        except (Undecodable, Erased):
            return
        key = erased.conversation(erased.event.client_id, erased.event.conversation_id).key().encode()
        self._waiting.erased(key)
        for sent in [sent for sent, _ in self._sent.items() if sent[1] == key]:
            self._sent.pop(sent)

    async def ask(
        self, prepared: OutgoingRecord, wanted: ExpectedReply, within: float | None = None
    ) -> tuple[SentRecord | None, "asyncio.Future[bytes]"]:
        """Send a message once, however often it is asked; where it was stored, and the future of its answer.

        The place is None when nothing was sent because the answer is cached. Raises `NotReachable` and `TooMany`, and
        `Problem` (503) where the answer to a new message would not come within so many seconds.
        """
        answer = self._waiting.wait(wanted)
        if answer.done():
            return None, answer
        try:
            if within is not None and self._sending(prepared) is None:
                self.shedding.check(tenant_of(prepared.key), within)
                self.shedding.sent(prepared.key, prepared.name)
            return await self.send(prepared), answer
        except NotReachable:
            self.shedding.not_sent(prepared.key, prepared.name)
            answer.cancel()
            raise
        except BaseException:
            answer.cancel()
            raise

    async def send(self, prepared: OutgoingRecord) -> SentRecord:
        """Send a record once, however often it is given with the same key and name; raises `NotReachable`."""
        sending = self._sending(prepared)
        if sending is None:
            sending = asyncio.create_task(self._send(prepared))
            sending.add_done_callback(_retrieved)
            self._sent.put(_once(prepared), sending, TASK_BYTES)
        # Shielded: other callers may wait for the same send.
        return await asyncio.shield(sending)

    def _sending(self, prepared: OutgoingRecord) -> "asyncio.Task[SentRecord] | None":
        """The send of a record that was given before, unless it failed."""
        sending = self._sent.get(_once(prepared))
        failed = sending is not None and sending.done() and (sending.cancelled() or sending.exception() is not None)
        return None if failed else sending

    async def _send(self, prepared: OutgoingRecord) -> SentRecord:
        session = self._session
        if session is None:
            raise NotReachable(f"it was not taken: {self._why}")
        if wrong := self._full():
            raise NotReachable(f"it was not taken: {wrong}")
        try:
            return await deliver(session.producer, prepared)
        except CommandFailed as error:
            # After a fatal error an idempotent producer stays broken.
            session.broken = True
            raise NotReachable(f"it was not taken: {error}") from error


def _once(prepared: OutgoingRecord) -> tuple[str, bytes, str, str]:
    return prepared.topic, prepared.key, prepared.name, header_map(prepared.headers).get("user_id", "")


def _retrieved(sending: "asyncio.Task[SentRecord]") -> None:
    """Retrieve the exception: asyncio would log it as never retrieved when no caller is left."""
    if not sending.cancelled():
        sending.exception()


async def _step_back(consumer: AIOKafkaConsumer) -> None:
    since = int((time.time() - LOOK_BACK_S) * 1000)
    for tp, found in (await consumer.offsets_for_times(dict.fromkeys(consumer.assignment(), since))).items():
        if found is not None:
            consumer.seek(tp, found.offset)
