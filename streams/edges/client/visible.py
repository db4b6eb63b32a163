"""Waiting until what a sent document says can be found, or until it is known why it never will be."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiokafka import ConsumerRecord, TopicPartition

from schemas.envelope import header_map
from schemas.topics import DOCUMENTS_IN, MEMORY_KNOWLEDGE, dead_letter_topic
from streams.edges.client import clients
from streams.edges.client.clients import Connected
from streams.edges.client.errors import DOWN, FAILURE, CommandFailed
from streams.edges.client.send import SentRecord

INGESTION, WRITERS = "fathom.ingestion", "fathom.index-writers"
REFUSED = dead_letter_topic("ingestion")
POLL_S = 0.1


class DocumentRefused(CommandFailed):
    """A document that ingestion refused; the text is its reason."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, FAILURE)


class Visibility:
    """Follows documents from `documents.in` to the stores; opened before they are sent."""

    def __init__(self, broker: Connected) -> None:
        self._broker = broker
        self._refused: dict[tuple[str, str], str] = {}

    async def wait(self, sent: SentRecord, seconds: float) -> None:
        """Return once the document can be found; raises `DocumentRefused`, and `CommandFailed` after these seconds."""
        try:
            async with asyncio.timeout(seconds):
                await self._committed(INGESTION, {TopicPartition(DOCUMENTS_IN.name, sent.partition): sent.offset + 1})
                for record in await clients.poll(self._broker.consumer, POLL_S):
                    self._note(record)
                why = self._refused.get((str(sent.partition), str(sent.offset)))
                if why is not None:
                    raise DocumentRefused(why)
                await self._committed(WRITERS, await self._broker.ends([MEMORY_KNOWLEDGE.name]))
        except TimeoutError:
            raise CommandFailed(
                f"the document is at {sent.topic}[{sent.partition}]@{sent.offset}, but cannot be found after "
                f"{seconds:g} s; a worker will go on with it: look at `fathom doctor` for how far behind it is",
                DOWN,
            ) from None

    async def _committed(self, group: str, wanted: dict[TopicPartition, int]) -> None:
        left = {tp: end for tp, end in wanted.items() if end}
        while True:
            found = await self._broker.admin.list_consumer_group_offsets(group)
            if all(tp in found and found[tp].offset >= end for tp, end in left.items()):
                return
            await asyncio.sleep(POLL_S)

    def _note(self, record: ConsumerRecord) -> None:
        headers = header_map(record.headers)
        place = (headers.get("kafka_dlt-original-partition", ""), headers.get("kafka_dlt-original-offset", ""))
        self._refused[place] = f"{headers.get('fathom_reason')}: {headers.get('__streams.errors.message')}"


@asynccontextmanager
async def following(bootstrap: str) -> AsyncIterator[Visibility]:
    """Follow what is sent from now on."""
    async with clients.connected(bootstrap, [REFUSED]) as broker:
        yield Visibility(broker)
