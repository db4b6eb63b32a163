"""The documents of a tenant, and the packs that a document is in."""

import asyncio
import time
from collections.abc import Callable
from contextlib import aclosing
from datetime import datetime
from typing import Literal

from pydantic import AwareDatetime

from agents.core.language.text import fold
from agents.ports.memories import DocumentLister
from schemas.base import Absent, Conversation, Id, Value
from schemas.depth import DepthLevel
from schemas.packs import ContextPack
from schemas.topics import CONTEXT_PACKS
from streams.edges.client import log_lookup

# `complete` is false where there are more.
MAX_DOCUMENTS = 10_000


class DocumentShown(Value):
    """A document as it was sent last; `passages` are those of its newest version, in no pack while `quarantined`."""

    document_id: Id
    title: str
    uri: Absent[str] = None
    passages: int
    recorded_at: AwareDatetime
    quarantined: Absent[Literal[True]] = None


class DocumentsShown(Value):
    """Documents, the newest first; `complete` is false where there are more than are read."""

    documents: tuple[DocumentShown, ...]
    total: int
    complete: bool


class DocumentUse(Value):
    """A pack with passages of the document, and the tokens of these."""

    message_id: Id
    conversation_id: Id
    client_id: Id
    user_id: Absent[Id] = None
    at: AwareDatetime
    level: DepthLevel
    passages: int
    tokens: int


class UsesShown(Value):
    """Packs, the newest first; `complete` is false where the log has more of them or was too long to search."""

    uses: tuple[DocumentUse, ...]
    complete: bool


async def documents(
    reader: DocumentLister,
    tenant: str,
    *,
    words: str,
    offset: int,
    limit: int,
    now: datetime,
    is_hidden: Callable[[str], bool],
) -> DocumentsShown:
    """A page of the documents whose titles, addresses or ids have all the words; `is_hidden` says which by their ids.

    Raises `Unavailable`.
    """
    found = await reader.documents(tenant, as_of=now, limit=MAX_DOCUMENTS + 1)
    complete = len(found) <= MAX_DOCUMENTS
    wanted = fold(words).split()
    fit = [
        each
        for each in found[:MAX_DOCUMENTS]
        if all(word in fold(f"{each.title} {each.uri or ''} {each.document_id}") for word in wanted)
    ]
    page = fit[offset : offset + limit]
    passages = await reader.passages_of(tenant, [each.document_id for each in page], now) if page else {}
    shown = tuple(
        DocumentShown(
            document_id=each.document_id,
            title=each.title,
            uri=each.uri,
            passages=passages.get(each.document_id, 0),
            recorded_at=each.recorded_at,
            quarantined=is_hidden(each.document_id) or None,
        )
        for each in page
    )
    return DocumentsShown(documents=shown, total=len(fit), complete=complete)


async def uses(
    bootstrap: str, tenant: str, document_id: str, *, client: str | None, limit: int, seconds: float
) -> UsesShown:
    """The newest packs with passages of a document, of one client or of all, each in its newest revision with any.

    Raises `CommandFailed` where no broker answers.
    """
    deadline = time.monotonic() + seconds
    newest: dict[tuple[Conversation, str], tuple[int, int, DocumentUse]] = {}
    whole = False
    async with aclosing(log_lookup.newest_first(bootstrap, CONTEXT_PACKS, seconds)) as windows:
        async for records, last in windows:
            whole = last
            for one in await asyncio.to_thread(log_lookup.of_tenant, CONTEXT_PACKS, records, tenant, document_id):
                pack = one.event
                use = _use(pack, document_id, one.envelope.time)
                key = (one.conversation(pack.client_id, pack.conversation_id), pack.message_id)
                before = newest.get(key)
                if client in (None, pack.client_id) and use and (before is None or before[0] < pack.revision):
                    newest[key] = pack.revision, pack.seq, use
            if len(newest) > limit:
                break
    erased: dict[Conversation, int] = {}
    found: list[DocumentUse] = []
    for (where, _), (_, seq, use) in sorted(newest.items(), key=lambda each: each[1][2].at, reverse=True):
        if len(found) == limit or time.monotonic() >= deadline:
            whole = False
            break
        if where not in erased:
            erased[where] = await log_lookup.erased_up_to(bootstrap, where, seconds)
        if seq > erased[where]:
            found.append(use)
    return UsesShown(uses=tuple(found), complete=whole)


def _use(pack: ContextPack, document_id: str, at: datetime) -> DocumentUse | None:
    chunks = pack.semantic.knowledge_chunks if pack.semantic else ()
    items = [chunk for chunk in chunks if chunk.document_id == document_id]
    if not items:
        return None
    return DocumentUse(
        message_id=pack.message_id,
        conversation_id=pack.conversation_id,
        client_id=pack.client_id,
        user_id=pack.user_id,
        at=at,
        level=pack.depth_level,
        passages=len(items),
        tokens=sum(item.tokens for item in items),
    )
