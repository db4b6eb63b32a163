"""What a site should have stored by what its log holds, against what it has."""

from collections.abc import Iterable
from typing import Any

import httpx

from agents.core.language.text import content_words
from schemas import codec
from schemas.base import message_key
from schemas.chat import Role, Turn
from schemas.envelope import Received
from schemas.memory import KnowledgeRecorded, SummaryMade
from schemas.topics import BY_NAME, CONVERSATION_TURNS, MESSAGES_IN
from streams.stores.tenant import point_id
from tests.chaos.entries import Entry
from tests.proofs.outages.site import SECRET, Site
from tests.proofs.repeats.deliveries import difference
from tests.proofs.repeats.stores import closed, once, opened, whole

STORED = {name for name in BY_NAME if name.startswith("memory.")} | {CONVERSATION_TURNS.name}
SEARCHED = ("chunk", "concept", "definition")


async def lost(site: Site, entries: Iterable[Entry]) -> list[str]:
    """What is missing, dead or different; empty when nothing is."""
    entries = list(entries)
    wrong = [f"a dead letter on {e.topic}: {e.headers}" for e in entries if e.topic.startswith("dead-letters")]
    said = {e.event["message_id"] for e in entries if e.topic == MESSAGES_IN.name}
    kept = {e.event["message_id"] for e in entries if e.topic == CONVERSATION_TURNS.name}
    if said != kept:
        wrong.append(f"messages that are no turns: {sorted(said - kept)}")
    events = [_received(entry) for entry in entries if entry.topic in STORED]
    store = opened(site.graph)
    try:
        if unequal := difference(await once(events), await whole(store, site.graph)):
            wrong.append(f"the graph is not that of the log: {unequal}")
    finally:
        await closed(store)
    wanted, found = dict(_passages(events)), dict(await _points(site))
    if wanted != found:
        unequal_ids = [id_ for id_ in wanted.keys() | found.keys() if wanted.get(id_) != found.get(id_)]
        wrong.append(f"{len(unequal_ids)} of {len(wanted)} passages of the index differ, such as {unequal_ids[:3]}")
    return wrong


def _received(entry: Entry) -> Received[Any]:
    headers = [(name, text.encode()) for name, text in entry.headers.items()]
    return codec.decode(
        BY_NAME[entry.topic],
        entry.key.encode(),
        entry.value,
        headers,
        partition=entry.partition,
        offset=entry.offset,
        timestamp=entry.timestamp,
    )


def _passages(events: Iterable[Received[Any]]) -> Iterable[tuple[str, str]]:
    """Point id and text of all that should be found again."""
    for record in events:
        tenant, event = record.envelope.tenant, record.event
        if isinstance(event, Turn) and event.role != Role.SYSTEM and content_words(event.content, event.lang):
            key = message_key(event.client_id, event.conversation_id, event.message_id)
            yield str(point_id(tenant, key)), event.content
        elif isinstance(event, SummaryMade):
            yield str(point_id(tenant, event.summary_id)), event.text
        elif isinstance(event, KnowledgeRecorded):
            for entry in event.entries:
                if entry.kind in SEARCHED:
                    yield str(point_id(tenant, entry.id)), getattr(entry, "text", None) or entry.definition
                elif entry.kind == "process":
                    yield str(point_id(tenant, entry.id)), "\n".join(step.text for step in entry.steps)


async def _points(site: Site) -> Iterable[tuple[str, str]]:
    found = []
    async with httpx.AsyncClient(base_url=site.qdrant.url, headers={"api-key": SECRET}) as client:
        for collection in ("fathom_episodic", "fathom_semantic"):
            body = {"limit": 1_000, "with_payload": True}
            offset = None
            while True:
                answer = await client.post(f"/collections/{collection}/points/scroll", json={**body, "offset": offset})
                answer.raise_for_status()
                result = answer.json()["result"]
                found += [(point["id"], point["payload"]["text"]) for point in result["points"]]
                if (offset := result["next_page_offset"]) is None:
                    break
    return found
