"""Bytes of a file as a document of `documents.in`, read and checked before sending, for command and HTTP."""

import base64
from collections.abc import Mapping
from pathlib import Path, PurePath

from agents.core.documents import kinds
from agents.core.documents.kinds import DocumentKind
from agents.core.documents.knowledge import MAX_BYTES
from agents.errors import Rejected
from agents.ports.models import DocumentReader
from schemas.base import derive
from schemas.topics import DOCUMENTS_IN
from streams.edges.client import records

SUFFIXES: Mapping[str, DocumentKind] = {
    ".md": "markdown", ".markdown": "markdown", ".txt": "text", ".html": "html", ".htm": "html", ".pdf": "pdf",
    ".docx": "docx", ".csv": "csv", ".eml": "eml",
}  # fmt: skip
Stated = Mapping[str, str | None]
# The size as base64 in a record, beside the other fields.
LARGEST_DATA = (DOCUMENTS_IN.max_bytes - 50_000) // 4 * 3


def id_of_file(name: str, tenant: str) -> str:
    """The id of a file by its name: sent again, from wherever, it is the next version of the same document."""
    return _named(name, derive("document", tenant, name))


def id_of_path(path: Path, tenant: str) -> str:
    """The id of a file by its place: names come again from folder to folder. The working directory makes no odds."""
    return _named(path.name, derive("document", tenant, path.resolve().as_posix()))


def _named(name: str, digest: str) -> str:
    return f"{records.NOT_IN_ID.sub('-', name)[:200]}-{digest[:8]}"


async def value_of(
    name: PurePath, data: bytes, kind: DocumentKind | None, stated: Stated, reader: DocumentReader, tenant: str
) -> bytes:
    """The value to send: the file's bytes, or its text where they are too large or are text; `stated` are fields.

    Without a `document_id` the id is of tenant and text: what has no name is a version of nothing.

    Raises `Rejected` and `BadInput`.
    """
    found = kinds.kind_of(data, kind)
    text = await reader.read(found, data) if found in kinds.PARSED else kinds.decoded(data)
    if len(text.encode(errors="replace")) > MAX_BYTES:
        raise Rejected("document_too_large", f"it has more than {MAX_BYTES} bytes of text; split it")
    if not any(map(str.isalnum, text)):
        raise Rejected("document_empty", "it has no words")
    # Of a file that is too large for a record, and of a kind that an older worker cannot read, only the text is sent.
    as_bytes = found in kinds.SENT_AS_BYTES and len(data) <= LARGEST_DATA
    fields = {
        **stated,
        "document_id": stated.get("document_id") or _named(name.name, derive("document", tenant, text)),
        "text": None if as_bytes else text,
        "data": base64.b64encode(data).decode() if as_bytes else None,
        "tipo": found if as_bytes or found == "text" else "markdown",
    }
    return records.document_of(name, text, **fields)
