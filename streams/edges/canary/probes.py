"""Canaries: questions of a tenant of our own through the whole pipeline to their packs, erased again.

`fathom doctor --canary` asks once; a process that serves HTTP asks every so many seconds where it is told to.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import uuid4

from aiokafka.errors import KafkaError

from schemas import codec
from schemas.base import Conversation
from schemas.topics import MESSAGES_IN
from streams.edges.client import clients, forgetting, records
from streams.edges.client.ask import PACK, answered, answers_of
from streams.edges.client.errors import CommandFailed
from streams.edges.client.records import Identity
from streams.edges.client.send import deliver
from streams.runtime.admission.fairness import CANARY
from streams.telemetry import metrics

LOGGER = logging.getLogger("fathom.canary")
CLIENT, USER = "fathom-doctor", "fathom-doctor"
TEXT = "Is anybody there?"
PACK_S, ERASED_S = 20.0, 30.0


@dataclass(frozen=True, slots=True)
class CanaryResult:
    """What became of a canary: the seconds from its question sent to its pack, and what went wrong, if anything."""

    seconds: float | None
    lost: str = ""
    left: str = ""

    @property
    def trouble(self) -> str:
        """What to tell of it."""
        return self.lost or (f"its pack came, but it is not erased yet: {self.left}" if self.left else "")


async def probe(bootstrap: str) -> CanaryResult:
    """Send a message, await its pack, erase its conversation from every store."""
    where = Conversation(tenant=CANARY, client_id=CLIENT, conversation_id=f"canary-{uuid4()}")
    whose = Identity(CANARY, USER)
    question = records.turn(TEXT, whose, client=CLIENT, conversation=where.conversation_id)
    seconds, lost, left = None, "", ""
    try:
        async with answers_of(PACK, bootstrap) as answers, clients.producing(bootstrap) as producer:
            began = time.monotonic()
            await answered(question, PACK, answers, producer, PACK_S)
            seconds = time.monotonic() - began
    except (CommandFailed, KafkaError, OSError) as failed:
        lost = str(failed) or repr(failed)
    # Also without a pack: what has got through by now, or will, is erased.
    try:
        await _erase(bootstrap, where, whose)
    except (CommandFailed, KafkaError, OSError) as failed:
        left = str(failed) or repr(failed)
    return CanaryResult(seconds, lost, left)


async def timed(bootstrap: str, texts: Sequence[str]) -> list[float]:
    """The seconds from each message to its pack, one at a time, in a conversation that is erased afterwards.

    Raises `CommandFailed` where a pack does not come.
    """
    where = Conversation(tenant=CANARY, client_id=CLIENT, conversation_id=f"canary-{uuid4()}")
    whose = Identity(CANARY, USER)
    found = []
    try:
        async with answers_of(PACK, bootstrap) as answers, clients.producing(bootstrap) as producer:
            for text in texts:
                question = records.turn(text, whose, client=CLIENT, conversation=where.conversation_id)
                began = time.monotonic()
                await answered(question, PACK, answers, producer, PACK_S)
                found.append(time.monotonic() - began)
    finally:
        await _erase(bootstrap, where, whose)
    return found


async def _erase(bootstrap: str, where: Conversation, whose: Identity) -> None:
    wish = records.record_of(MESSAGES_IN, codec.dump(forgetting.wish(where)), whose)
    async with forgetting.following(bootstrap) as erasing, clients.producing(bootstrap) as producer:
        await erasing.wait({where: await deliver(producer, wish)}, ERASED_S)


async def keep_probing(bootstrap: Callable[[], str], every_s: float) -> None:
    """Ask every so many seconds, one at a time, and count what came of it; until cancelled."""
    while True:
        await asyncio.sleep(every_s)
        try:
            result = await probe(bootstrap())
        except CommandFailed as failed:  # no broker is known yet, or any more
            result = CanaryResult(None, str(failed))
        count(result)


def count(result: CanaryResult) -> None:
    """Count what became of a canary, and tell of one that is lost."""
    if result.seconds is not None:
        metrics.CANARY_SECONDS.observe(result.seconds)
    else:
        metrics.CANARY_LOST.inc()
    if result.left:
        metrics.CANARY_LEFT.inc()
    if result.trouble:
        metrics.log(LOGGER, logging.WARNING, "canary.lost", why=result.trouble, next="fathom doctor says what is wrong")
