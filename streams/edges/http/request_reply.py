"""Questions to the topics, and what comes back: one producer and one reader for all requests of a process.

The reader is of no group: each process reads all answers, since any may answer a caller of any. Broken off, it begins a
little before where it was, so that nothing that came meanwhile is missed.
"""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.errors import KafkaError

from schemas.topics import ANSWERS_OUT, CONTEXT_PACKS
from streams.edges.client import clients
from streams.edges.client.errors import CommandFailed
from streams.edges.client.records import OutgoingRecord
from streams.edges.client.send import SentRecord, deliver
from streams.edges.http.pending_replies import ExpectedReply, PendingReplies
from streams.telemetry import metrics

LOG = logging.getLogger("fathom.ask")
TOPICS = (ANSWERS_OUT.name, CONTEXT_PACKS.name)
# An answer is sought this far back for who asks again of a process that has just begun.
LOOK_BACK_S = 60.0
POLL_S = 0.2
RETRY_S = 1.0
MAX_CACHED = 10_000


class NotReachable(Exception):
    """The broker cannot be reached now, or did not take the question; the text says why."""


@dataclass(slots=True)
class _Session:
    producer: AIOKafkaProducer
    broken: bool = False


class Exchange:
    """`keep` holds the connections for as long as it runs; without it nothing can be asked."""

    def __init__(self, bootstrap: Callable[[], str], waiting: PendingReplies) -> None:
        self._bootstrap = bootstrap
        self._waiting = waiting
        self._session: _Session | None = None
        self._why = "the connection to the broker is being made"
        self._sent: OrderedDict[str, asyncio.Task[SentRecord]] = OrderedDict()

    @property
    def reachable(self) -> bool:
        """Whether questions can be asked now."""
        return self._session is not None

    @property
    def waiting(self) -> int:
        """How many wait for an answer."""
        return len(self._waiting)

    def stop(self) -> None:
        """Say to all that wait that they wait in vain."""
        self._waiting.fail(NotReachable("this server is ending; ask again with the same Idempotency-Key"))

    async def keep(self) -> None:
        """Stay connected until cancelled."""
        while True:
            try:
                await self._connected()
            except (CommandFailed, KafkaError, OSError) as error:
                if str(error) != self._why:  # it is tried every second, and said once
                    metrics.log(LOG, logging.WARNING, "ask.disconnected", why=str(error))
                self._why = str(error)
            finally:
                self._session = None
            await asyncio.sleep(RETRY_S)

    async def _connected(self) -> None:
        bootstrap = self._bootstrap()
        partitions = clients.partitions_of(await clients.partition_counts(bootstrap), TOPICS)
        async with (
            clients.reading(bootstrap, partitions) as consumer,
            clients.producing(bootstrap, linger_ms=0) as producer,
        ):
            await _step_back(consumer)
            session = self._session = _Session(producer)
            metrics.log(LOG, logging.INFO, "ask.connected", bootstrap=bootstrap)
            while not session.broken:
                for record in await clients.poll(consumer, POLL_S):
                    if record.key is not None and record.value is not None:
                        self._waiting.came(record.topic, record.key, record.value)

    async def ask(
        self, prepared: OutgoingRecord, wanted: ExpectedReply
    ) -> tuple[SentRecord | None, "asyncio.Future[bytes]"]:
        """Send a message, once however often it is asked; where it is, and what is done when its answer is here.

        Without a place where it was not sent, since its answer is here already. Raises `NotReachable`, and `TooMany`.
        """
        answer = self._waiting.wait(wanted)
        if answer.done():
            return None, answer
        try:
            sending = self._sent.get(prepared.name)
            if sending is None or (sending.done() and (sending.cancelled() or sending.exception() is not None)):
                sending = self._sent[prepared.name] = asyncio.create_task(self._send(prepared))
                sending.add_done_callback(_looked_at)
                if len(self._sent) > MAX_CACHED:
                    self._sent.popitem(last=False)
            # Whoever gives up waiting leaves the sending to those who ask the same.
            return await asyncio.shield(sending), answer
        except BaseException:
            answer.cancel()
            raise

    async def _send(self, prepared: OutgoingRecord) -> SentRecord:
        session = self._session
        if session is None:
            raise NotReachable(f"the question was not taken: {self._why}")
        try:
            return await deliver(session.producer, prepared)
        except CommandFailed as error:
            # An idempotent producer that met one error of a kind fails for good.
            session.broken = True
            raise NotReachable(f"the question was not taken: {error}") from error


def _looked_at(sending: "asyncio.Task[SentRecord]") -> None:
    """Perhaps nobody waits for it any more, and asyncio would say that nobody looked."""
    if not sending.cancelled():
        sending.exception()


async def _step_back(consumer: AIOKafkaConsumer) -> None:
    since = int((time.time() - LOOK_BACK_S) * 1000)
    for tp, found in (await consumer.offsets_for_times(dict.fromkeys(consumer.assignment(), since))).items():
        if found is not None:
            consumer.seek(tp, found.offset)
