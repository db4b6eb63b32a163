"""What the log knows of an id: messages, packs, claims and consultations of one tenant, newest first.

Logs are read backwards for a bounded time, so an id counts as unknown only where the whole log was searched. What
belongs to a conversation is in the partition of its key, also where its producer had put it into another one, and is
looked for only there.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from typing import Any

from aiokafka import ConsumerRecord

from agents.core.quarantine.sources import Quarantines
from schemas import codec
from schemas.base import Conversation
from schemas.chat import AskPayload, ChatMessage, Role, Turn
from schemas.codec import Undecodable
from schemas.envelope import Received
from schemas.topics import (
    CONVERSATION_TURNS,
    DOCUMENTS_IN,
    MEMORY_CLAIMS,
    MEMORY_CONSULTATIONS,
    MEMORY_ERASURES,
    MEMORY_QUARANTINES,
    MESSAGES_IN,
    Topic,
)
from streams.edges.client import clients
from streams.edges.client.errors import FAILURE, CommandFailed
from streams.kafka import log_reader
from streams.kafka.clients import PROMPT_MS
from streams.kafka.producer import partition_of
from streams.kafka.records import may_name

SECONDS = 5.0
# A pack shows the claims of its own message, and an answer comes, some 100 ms before they are in the log.
CLAIM_S = 1.0
# Records of a partition per window: packs are some ten kilobytes each.
WINDOW, LONGEST_WINDOW = 200, 1_600


class UnknownId(CommandFailed):
    """An id that names nothing of this tenant; the text says what to name instead."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, FAILURE)


async def newest_first(
    bootstrap: str, topic: Topic, seconds: float = SECONDS, key: str | None = None
) -> AsyncGenerator[tuple[list[ConsumerRecord], bool], None]:
    """Records window by window backwards, and whether none are before them, until the beginning or the time is reached.

    With `key` only those of its partition. Raises `CommandFailed` where no broker answers or the topic is not there.
    """
    deadline = time.monotonic() + seconds
    partitions = clients.partitions_of(await clients.partition_counts(bootstrap), [topic.name])
    if key is not None:
        partitions = [partitions[partition_of(key, len(partitions))]]
    # What is looked for is in the log already: no fetch has to wait for records to come.
    async with clients.reading(bootstrap, partitions, wait_ms=PROMPT_MS) as consumer:
        there = await log_reader.bounds(consumer, topic.name, [tp.partition for tp in partitions])
        async with aclosing(
            log_reader.newest_first(consumer, there, WINDOW, WINDOW if key is None else LONGEST_WINDOW)
        ) as windows:
            async for found, left in windows:
                yield found, all(begin >= end for begin, end in left.values())
                if time.monotonic() >= deadline:
                    return


def of_tenant(topic: Topic, records: Iterable[ConsumerRecord], tenant: str, named: str | None) -> list[Received[Any]]:
    """The events of a tenant, without undecodable ones, and where an id is named only those that may hold it."""
    found = []
    for record in records:
        if named is not None and not may_name(record, named):
            continue
        try:
            one = codec.decode_record(topic, record)
        except Undecodable:
            continue
        if one.envelope.tenant == tenant:
            found.append(one)
    return found


async def search(
    bootstrap: str, topic: Topic, tenant: str, named: str, fits: Callable[[Received[Any]], bool], seconds: float,
    key: str | None = None,
) -> tuple[list[Received[Any]], bool]:  # fmt: skip
    """The events that fit, of the newest window that has any; and whether there can be none before it."""
    whole = False
    async with aclosing(newest_first(bootstrap, topic, seconds, key)) as windows:
        async for records, last in windows:
            whole = last
            if found := [one for one in of_tenant(topic, records, tenant, named) if fits(one)]:
                return found, whole
    return [], whole


async def erased_up_to(bootstrap: str, where: Conversation, seconds: float = SECONDS) -> int:
    """The position of messages up to which a conversation is erased; -1 for one that never was."""
    found, _ = await search(
        bootstrap, MEMORY_ERASURES, where.tenant, where.conversation_id, _is_of(where), seconds, where.key()
    )
    return max((one.event.up_to_seq for one in found), default=-1)


def _is_of(where: Conversation) -> Callable[[Received[Any]], bool]:
    return lambda one: one.conversation(one.event.client_id, one.event.conversation_id) == where


def unknown_conversation(where: Conversation) -> str:
    """The sentence for a conversation that is not there, or is not the asker's: nobody learns which."""
    return f"there is no conversation {where.conversation_id!r} of client {where.client_id!r}"


async def check_conversation(
    bootstrap: str, where: Conversation, user: str | None = None, seconds: float = SECONDS
) -> None:
    """Raises `UnknownId` for a conversation in which nobody spoke, or, of a user, where that one takes no part."""
    unknown, here = unknown_conversation(where), _is_of(where)
    if user is None:
        await _check(
            bootstrap, MESSAGES_IN, where.tenant, where.conversation_id, here, unknown, key=where.key(), seconds=seconds
        )
        return
    erased = await erased_up_to(bootstrap, where, seconds)

    def by_user(one: Received[Any]) -> bool:
        turn = one.event
        return here(one) and turn.user_id == user and turn.user_named is not False and turn.seq > erased

    found, _ = await search(
        bootstrap, CONVERSATION_TURNS, where.tenant, where.conversation_id, by_user, seconds, where.key()
    )
    if not found:  # also where the log was too long to search: what is not known to be the user's is not
        raise UnknownId(unknown)


async def check_message(bootstrap: str, where: Conversation, message_id: str, recent: Sequence[Turn] = ()) -> None:
    """Raises `UnknownId` for an id that is no user's message of the conversation, or of what was erased of it.

    `recent` are turns of the conversation that are known without the log, which then need not be searched.
    """
    erased = await erased_up_to(bootstrap, where)
    if any(turn.message_id == message_id and turn.role is Role.USER and turn.seq > erased for turn in recent):
        return

    def fits(one: Received[Any]) -> bool:
        asked = one.event
        if not isinstance(asked, AskPayload | ChatMessage) or one.offset <= erased:
            return False
        stated = asked.message_id if isinstance(asked, ChatMessage) else None
        by_user = isinstance(asked, AskPayload) or asked.role is Role.USER
        here = one.conversation(asked.client_id, asked.conversation_id) == where
        return by_user and here and (stated or one.envelope.id) == message_id

    await _check(
        bootstrap, MESSAGES_IN, where.tenant, message_id, fits,
        f"no user's message {message_id!r} is in conversation {where.conversation_id!r} of client "
        f"{where.client_id!r}; name the message_id of a pack, and its conversation", key=where.key(),
    )  # fmt: skip


async def check_claim(bootstrap: str, tenant: str, claim_id: str, user: str | None = None) -> None:
    """Raises `UnknownId` for an id that is no claim of the tenant, or one of a conversation erased since.

    Of a user also for a claim of a conversation in which that one takes no part.
    """
    unknown = f"there is no claim {claim_id!r}; take the id of a claim from a pack"
    found = await _check(
        bootstrap, MEMORY_CLAIMS, tenant, claim_id, lambda one: bool(one.event.claim_id == claim_id),
        unknown, again_s=CLAIM_S,
    )  # fmt: skip
    for one in found[:1]:
        where = one.conversation(one.event.client_id, one.event.conversation_id)
        if one.event.seq <= await erased_up_to(bootstrap, where):
            raise UnknownId(unknown)
        if user is not None:
            try:
                await check_conversation(bootstrap, where, user)
            except UnknownId:
                raise UnknownId(unknown) from None


async def consultation_of(bootstrap: str, tenant: str, named: str, user: str | None = None) -> str:
    """The id of a consultation named by it, or by the job_id of its deep answer; where the log is too long, `named`.

    Raises `UnknownId` for an id that is neither for this tenant, or for this user.
    """

    def fits(one: Received[Any]) -> bool:
        return named in (one.event.consultation_id, one.event.job_id) and user in (None, one.event.user_id)

    found = await _check(
        bootstrap, MEMORY_CONSULTATIONS, tenant, named, fits,
        f"there is no consultation {named!r}; take the job_id of a deep answer, or the id of a consultation from a "
        "pack; answers are kept as consultations where RAG_COGRAG_MEMORY_ENABLED is on", again_s=CLAIM_S,
    )  # fmt: skip
    return str(found[0].event.consultation_id) if found else named


async def check_document(bootstrap: str, tenant: str, document_id: str) -> None:
    """Raises `UnknownId` for an id under which the tenant sent no document; a profile is none."""

    def fits(one: Received[Any]) -> bool:
        return bool(one.event.document_id == document_id) and getattr(one.event, "kind", None) != "profile"

    await _check(
        bootstrap, DOCUMENTS_IN, tenant, document_id, fits,
        f"no document {document_id!r} was sent; take the id that sending it gave, or the document_id of a passage",
    )  # fmt: skip


async def _check(
    bootstrap: str, topic: Topic, tenant: str, named: str, fits: Callable[[Received[Any]], bool], sentence: str,
    again_s: float = 0.0, key: str | None = None, seconds: float = SECONDS,
) -> list[Received[Any]]:  # fmt: skip
    found, whole = await search(bootstrap, topic, tenant, named, fits, seconds, key)
    if whole and not found and again_s:
        await asyncio.sleep(again_s)
        found, whole = await search(bootstrap, topic, tenant, named, fits, seconds, key)
    if whole and not found:
        raise UnknownId(sentence)
    return found


async def in_force(bootstrap: str) -> Quarantines:
    """The quarantines of all tenants, as the log has them."""
    found = Quarantines()
    partitions = clients.partitions_of(await clients.partition_counts(bootstrap), [MEMORY_QUARANTINES.name])
    async with clients.reading(bootstrap, partitions, wait_ms=PROMPT_MS) as consumer:
        ranges = await log_reader.bounds(consumer, MEMORY_QUARANTINES.name, [each.partition for each in partitions])
        async for batch in log_reader.batches(consumer, ranges):
            for record in batch:
                try:
                    found.apply(codec.decode_record(MEMORY_QUARANTINES, record))
                except Undecodable:
                    continue
    return found
