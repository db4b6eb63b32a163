"""Turn documents and profiles into knowledge: passages, definitions, concepts, processes, personas.

reads   documents.in      key entity (the document)
writes  memory.knowledge  in batches; the same content gives the same ids
state   none
"""

import asyncio
from collections.abc import AsyncIterator

from agents.core import documents
from agents.errors import Rejected
from agents.ports import LanguageIdentifier
from schemas.base import entity_key
from schemas.envelope import Outgoing, Received
from schemas.memory import DocumentSubmitted
from schemas.topics import MEMORY_KNOWLEDGE

SAMPLE_CHARS = 2_000


class Ingestion:
    def __init__(self, language: LanguageIdentifier) -> None:
        self._language = language

    async def handle(self, record: Received[DocumentSubmitted]) -> AsyncIterator[Outgoing]:
        """What one document adds to memory; a document that adds nothing is rejected, with the reason."""
        document, tenant = record.event, record.envelope.tenant
        lang = document.lang or self._language.identify((document.text or document.title)[:SAMPLE_CHARS], "pt")
        recorded_at = document.created_at or record.envelope.time
        # A large document is seconds of computation: not on the loop that packs are served from.
        batches = await asyncio.to_thread(
            documents.knowledge_of, document, tenant=tenant, lang=lang, recorded_at=recorded_at
        )
        if not batches:
            raise Rejected("document_empty", f"the document {document.document_id!r} has no text to remember")
        for batch in batches:
            key = entity_key(tenant, document.document_id)
            yield Outgoing(MEMORY_KNOWLEDGE, key, batch, record.envelope, str(batch.batch))
