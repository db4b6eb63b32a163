"""Records of a call's tenant in the log, newest first, as far back as the call's time allows."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from typing import Any
from urllib.parse import quote

from aiokafka import ConsumerRecord

from schemas.envelope import Received
from schemas.topics import Topic
from streams.edges.client import log_lookup
from streams.edges.mcp.tool import Call


async def newest_first(topic: Topic, call: Call, *key: str) -> AsyncGenerator[tuple[list[ConsumerRecord], bool], None]:
    """Records whose key begins with these parts, and whether none are before them; raises `CommandFailed`."""
    begins_with = "".join(f"{quote(part, safe='')}|" for part in key).encode()
    async with aclosing(log_lookup.newest_first(call.site.bootstrap(), topic, call.site.seconds)) as windows:
        async for found, whole in windows:
            yield [record for record in found if record.key is not None and record.key.startswith(begins_with)], whole


def received(topic: Topic, records: Iterable[ConsumerRecord], call: Call) -> list[Received[Any]]:
    """The events of the caller's tenant, without undecodable ones."""
    return log_lookup.of_tenant(topic, records, call.caller.tenant, None)
