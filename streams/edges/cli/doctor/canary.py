"""A message of a tenant of its own through the whole pipeline to its pack, and erased again."""

import time
from uuid import uuid4

from schemas import codec
from schemas.base import Conversation
from schemas.topics import MESSAGES_IN
from streams.edges.cli.doctor.findings import DOWN, OK, SKIPPED, WARN, Finding, found
from streams.edges.client import clients, forgetting, records
from streams.edges.client.ask import PACK, answer_to
from streams.edges.client.errors import CommandFailed
from streams.edges.client.records import Identity
from streams.edges.client.send import deliver

TENANT, CLIENT, USER = "_canary", "fathom-doctor", "fathom-doctor"
TEXT = "Is anybody there?"
PACK_S, ERASED_S, SLOW_S = 20.0, 30.0, 5.0


async def canary(bootstrap: str) -> Finding:
    """Send a message, await its pack, erase its conversation from every store; what that took."""
    where = Conversation(tenant=TENANT, client_id=CLIENT, conversation_id=f"canary-{uuid4()}")
    whose = Identity(TENANT, USER)
    question = records.turn(TEXT, whose, client=CLIENT, conversation=where.conversation_id)
    began = time.monotonic()
    trouble, seconds = "", 0.0
    try:
        await answer_to(question, PACK, bootstrap, PACK_S)
        seconds = time.monotonic() - began
    except CommandFailed as failed:
        trouble = str(failed)
    # Also without a pack: what has got through by now, or will, is erased.
    try:
        await _erase(bootstrap, where, whose)
    except CommandFailed as failed:
        trouble = trouble or f"its pack came, but it is not erased yet: {failed}"
    return judged(trouble, seconds)


async def _erase(bootstrap: str, where: Conversation, whose: Identity) -> None:
    wish = records.record_of(MESSAGES_IN, codec.dump(forgetting.wish(where)), whose)
    async with forgetting.following(bootstrap) as erasing, clients.producing(bootstrap) as producer:
        await erasing.wait({where: await deliver(producer, wish)}, ERASED_S)


def judged(trouble: str, seconds: float) -> Finding:
    """The finding by what went wrong, if anything, and the time from the question to its pack."""
    if trouble:
        return found("canary", DOWN, trouble)
    seen = f"its pack came after {seconds:.2f} s, and its conversation is erased"
    return found("canary", WARN if seconds > SLOW_S else OK, seen)


def unsent() -> Finding:
    """The finding without a canary."""
    return found("canary", SKIPPED, "--canary sends one; it writes a conversation to the log and erases it again")
