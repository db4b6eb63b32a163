"""Waiting until what sent documents say can be found, or until it is known why it never will be.

The writers commit the offset of a record after their stores hold it, and a store answers searches with it from then on:
so an offset that both groups have committed says that a document is searchable, whichever process the stores are in.
"""

import asyncio
from bisect import bisect_left
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping
from contextlib import asynccontextmanager

from aiokafka import ConsumerRecord, TopicPartition

from schemas.envelope import header_map
from schemas.topics import MEMORY_KNOWLEDGE, dead_letter_topic
from streams.edges.client import clients
from streams.edges.client.clients import Connected
from streams.edges.client.errors import DOWN, FAILURE, CommandFailed
from streams.edges.client.send import SentRecord
from streams.runtime.dead_letters import REASON, STREAMS, place_of

INGESTION, WRITERS = "fathom.ingestion", "fathom.index-writers"
REFUSED = dead_letter_topic("ingestion")
POLL_S = 0.1
# Of what is read into passages and of what is written to the stores: the number left.
Seen = Callable[[int, str], None]


class DocumentRefused(CommandFailed):
    """A document that ingestion refused; the text is its reason."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, FAILURE)


class Visibility:
    """Follows documents from `documents.in` to the stores; opened before they are sent.

    `letters` is the topic of what is refused, which the consumer reads.
    """

    def __init__(self, broker: Connected, letters: str = REFUSED) -> None:
        self._broker = broker
        self._letters = letters
        self._refused: dict[tuple[int, int], str] = {}

    async def wait(self, sent: SentRecord, seconds: float) -> None:
        """Return once the document can be found; raises `DocumentRefused`, and `CommandFailed` after these seconds."""
        for why in (await self.wait_all([sent], seconds)).values():
            raise DocumentRefused(why)

    async def wait_all(
        self, sent: Collection[SentRecord], patience: float, seen: Seen = lambda _left, _what: None
    ) -> dict[SentRecord, str]:
        """Return once all can be found that are not refused; the reasons for those that are.

        Raises `CommandFailed` after so many seconds in which nothing moved.
        """
        if not sent:
            return {}
        await self._read(sent, patience, seen)
        await self._committed(WRITERS, await self._broker.ends([MEMORY_KNOWLEDGE.name]), patience, seen)
        return await self._refusals(sent)

    async def _refusals(self, sent: Collection[SentRecord]) -> dict[SentRecord, str]:
        await self._note_refusals()
        refused = {each: self._refused.get((each.partition, each.offset)) for each in sent}
        return {each: why for each, why in refused.items() if why is not None}

    async def _read(
        self,
        sent: Collection[SentRecord],
        patience: float,
        seen: Seen,
        *,
        group: str = INGESTION,
        what: str = "documents to read",
    ) -> None:
        """Wait until the group that reads them has committed the offsets of records."""

        ends: dict[TopicPartition, list[int]] = {}
        for each in sent:
            ends.setdefault(TopicPartition(each.topic, each.partition), []).append(each.offset)
        for offsets in ends.values():
            offsets.sort()

        def left(found: Mapping[TopicPartition, int]) -> int:
            return sum(len(offsets) - bisect_left(offsets, found.get(tp, 0)) for tp, offsets in ends.items())

        await self._none_left(group, left, what, patience, seen)

    async def _committed(
        self,
        group: str,
        ends: Mapping[TopicPartition, int],
        patience: float,
        seen: Seen,
        *,
        what: str = "parts of documents to store",
    ) -> None:
        # Records that retention has removed are committed by nobody.
        begins = await self._broker.consumer.beginning_offsets(list(ends))

        def left(found: Mapping[TopicPartition, int]) -> int:
            return sum(max(end - max(found.get(tp, 0), begins[tp]), 0) for tp, end in ends.items())

        await self._none_left(group, left, what, patience, seen)

    async def _none_left(
        self, group: str, left: Callable[[Mapping[TopicPartition, int]], int], what: str, patience: float, seen: Seen
    ) -> None:
        loop = asyncio.get_running_loop()
        fewest, moved = None, loop.time()
        while number := left(await self._offsets(group)):
            seen(number, what)
            if fewest is None or number < fewest:
                fewest, moved = number, loop.time()
            elif loop.time() > moved + patience:
                raise CommandFailed(
                    f"there are {number} {what}, and nothing moved for {patience:g} s; nothing is lost, a worker with "
                    f"the group {group.removeprefix('fathom.')} goes on with it: `fathom doctor` says whether one runs",
                    DOWN,
                )
            await asyncio.sleep(POLL_S)

    async def _offsets(self, group: str) -> dict[TopicPartition, int]:
        found = await self._broker.admin.list_consumer_group_offsets(group)
        return {tp: committed.offset for tp, committed in found.items()}

    async def _note_refusals(self) -> None:
        ends = await self._broker.ends([self._letters])
        while not await clients.arrived(self._broker.consumer, ends):
            self._note(await clients.poll(self._broker.consumer, POLL_S))

    def _note(self, records: Iterable[ConsumerRecord]) -> None:
        for record in records:
            headers = header_map(record.headers)
            if (place := place_of(record.headers)) is not None:
                why = f"{headers.get(REASON, '')}: {headers.get(f'{STREAMS}message', '')}"
                self._refused[place.partition, place.offset] = why


@asynccontextmanager
async def following(bootstrap: str) -> AsyncIterator[Visibility]:
    """Follow what is sent from now on."""
    async with clients.connected(bootstrap, [REFUSED]) as broker:
        yield Visibility(broker)
