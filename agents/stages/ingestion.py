"""Turn documents and profiles into knowledge: passages, definitions, concepts, processes, personas.

reads   documents.in      key entity (the document), also its deletion
writes  memory.knowledge  in batches; the same content gives the same ids
state   none
"""

import asyncio
import base64
import binascii
from collections.abc import Sequence

from agents.core.documents import kinds, knowledge
from agents.core.documents.entities import DocumentEntities, no_references
from agents.core.language.identification import first_language
from agents.core.language.messages import DEFAULT
from agents.errors import Rejected
from agents.ports.models import DocumentReader
from schemas.base import PUBLIC_TENANT, entity_key
from schemas.envelope import Outgoing, Received
from schemas.memory import DocumentDeleted, DocumentSubmitted
from schemas.topics import MEMORY_KNOWLEDGE

SAMPLE_CHARS = 2_000


class Ingestion:
    """`admin` also takes documents of `_public`, which every tenant reads; `referred` finds what documents refer to."""

    def __init__(
        self, reader: DocumentReader, *, admin: bool = False, referred: DocumentEntities = no_references
    ) -> None:
        self._reader = reader
        self._referred = referred
        self._admin = admin

    async def handle(self, record: Received[DocumentSubmitted | DocumentDeleted]) -> Sequence[Outgoing]:
        """The knowledge of one document, none of a deleted one; raises `Rejected` for one that is unreadable or adds
        nothing.
        """
        tenant = record.envelope.tenant
        if tenant == PUBLIC_TENANT and not self._admin:
            raise Rejected(
                "public_tenant_read_only",
                f"{PUBLIC_TENANT} is written only by an administrator: workers with FATHOM_PUBLIC_WRITER=on",
            )
        key = entity_key(tenant, record.event.document_id)
        if isinstance(record.event, DocumentDeleted):
            gone = knowledge.of_deleted(record.event, record.event.created_at or record.envelope.time)
            return [Outgoing(MEMORY_KNOWLEDGE, key, gone, record.envelope, str(gone.batch))]
        document = await self._read(record.event)
        lang = document.lang or first_language((document.text or document.title)[:SAMPLE_CHARS], DEFAULT)
        recorded_at = document.created_at or record.envelope.time
        # A large document takes seconds of computation: not on the event loop that serves packs.
        batches = await asyncio.to_thread(
            knowledge.knowledge_of,
            document,
            tenant=tenant,
            lang=lang,
            recorded_at=recorded_at,
            referred=self._referred,
        )
        if not batches:
            raise Rejected("document_empty", f"the document {document.document_id!r} has no text to remember")
        return [Outgoing(MEMORY_KNOWLEDGE, key, batch, record.envelope, str(batch.batch)) for batch in batches]

    async def _read(self, document: DocumentSubmitted) -> DocumentSubmitted:
        """The document with its text converted to Markdown."""
        if document.kind == "profile":
            return document
        try:
            data = _bytes_of(document)
            kind = kinds.kind_of(data, document.kind)
            if kind in kinds.PARSED:
                text = await self._reader.read(kind, data)
            else:
                text = kinds.decoded(data)
        except Rejected as refused:
            raise Rejected(refused.code, f"document {document.document_id!r}: {refused.detail}") from None
        shown = "markdown" if kind in kinds.PARSED - kinds.SENT_AS_BYTES else kind
        return document.model_copy(update={"text": text, "data": None, "kind": shown})


def _bytes_of(document: DocumentSubmitted) -> bytes:
    if document.data is None:
        return kinds.checked(document.text or "").encode(errors="replace")
    try:
        return base64.b64decode(document.data, validate=True)
    except binascii.Error as error:
        raise Rejected("document_encoding", f"the field data is no base64 ({error}); encode the file's bytes") from None
