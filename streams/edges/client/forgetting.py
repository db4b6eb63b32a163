"""Conversations to forget: which a user spoke in, what was erased of them, and waiting until every store has erased."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import aclosing, asynccontextmanager
from math import inf

from aiokafka import AIOKafkaConsumer

from schemas import codec
from schemas.base import Conversation, derive
from schemas.chat import ConversationForgotten, Turn
from schemas.topics import CONVERSATION_TURNS, MEMORY_DECISIONS, MEMORY_ERASURES, MESSAGES_IN
from streams.edges.client import clients, log_lookup, records, send
from streams.edges.client.errors import DOWN, USAGE, CommandFailed
from streams.edges.client.records import BadInput, Identity
from streams.edges.client.send import SentRecord

POLL_S = 0.1
Counts = Mapping[str, int]


def wish(where: Conversation, user: str | None = None) -> ConversationForgotten:
    """The value of `messages.in` that has a conversation forgotten, and with a user who that is."""
    return ConversationForgotten(conversation_id=where.conversation_id, client_id=where.client_id, user_id=user)


async def sent(
    bootstrap: str, wanted: Mapping[Conversation, ConversationForgotten], by: str | None
) -> dict[Conversation, SentRecord]:
    """Send wishes; their places. Raises `CommandFailed`."""
    found = {}
    async with clients.producing(bootstrap) as producer:
        for where, value in wanted.items():
            try:
                prepared = records.record_of(MESSAGES_IN, codec.dump(value), Identity(where.tenant, by))
            except BadInput as error:
                raise CommandFailed(f"this cannot be forgotten: {error}", USAGE) from None
            found[where] = await send.deliver(producer, prepared)
    return found


async def conversations_of(bootstrap: str, tenant: str, user: str) -> list[Conversation]:
    """The conversations that a user spoke in and that are not forgotten; the whole log is read."""
    last: dict[Conversation, int] = {}
    async with aclosing(log_lookup.newest_first(bootstrap, CONVERSATION_TURNS, inf)) as windows:
        async for read, _ in windows:
            for one in log_lookup.of_tenant(CONVERSATION_TURNS, read, tenant, user):
                if isinstance(one.event, Turn) and one.event.user_id == user:
                    where = one.conversation(one.event.client_id, one.event.conversation_id)
                    last[where] = max(one.event.seq, last.get(where, -1))
    erased: dict[Conversation, int] = {}
    async with aclosing(log_lookup.newest_first(bootstrap, MEMORY_ERASURES, inf)) as windows:
        async for read, _ in windows:
            for one in log_lookup.of_tenant(MEMORY_ERASURES, read, tenant, None):
                where = one.conversation(one.event.client_id, one.event.conversation_id)
                erased[where] = max(one.event.up_to_seq, erased.get(where, -1))
    return sorted((where for where, seq in last.items() if seq > erased.get(where, -1)), key=Conversation.key)


class Erasing:
    """Follows conversations to forget from `messages.in` to the audit of their erasure; opened before they are sent."""

    def __init__(self, consumer: AIOKafkaConsumer) -> None:
        self._consumer = consumer
        self._erased: dict[str, Counts] = {}

    async def wait(self, sent: Mapping[Conversation, SentRecord], seconds: float) -> dict[Conversation, Counts]:
        """How many of what was erased of each; raises `CommandFailed` after so many seconds in which none was."""
        ids = {where: derive("erasure", where.key(), place.offset) for where, place in sent.items()}
        loop = asyncio.get_running_loop()
        moved, left = loop.time(), len(ids)
        while waiting := sum(each not in self._erased for each in ids.values()):
            if waiting < left:
                moved, left = loop.time(), waiting
            elif loop.time() > moved + seconds:
                raise CommandFailed(
                    f"{waiting} of {len(ids)} conversations are not erased yet, and nothing moved for {seconds:g} s; "
                    "nothing is lost, a worker with the groups depth and index-writers goes on with it: "
                    "`fathom doctor` says whether one runs",
                    DOWN,
                )
            await self._read(ids)
        return {where: self._erased[each] for where, each in ids.items()}

    async def _read(self, whose: Collection[Conversation]) -> None:
        found = await clients.poll(self._consumer, POLL_S)
        for tenant in {where.tenant for where in whose}:
            for one in log_lookup.of_tenant(MEMORY_DECISIONS, found, tenant, None):
                if one.event.kind == "erasure":
                    self._erased[one.event.id] = one.event.detail["erased"]


@asynccontextmanager
async def following(bootstrap: str) -> AsyncIterator[Erasing]:
    """Follow what is sent from now on."""
    partitions = clients.partitions_of(await clients.partition_counts(bootstrap), [MEMORY_DECISIONS.name])
    async with clients.reading(bootstrap, partitions) as consumer:
        yield Erasing(consumer)
