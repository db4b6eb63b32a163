"""The knowledge in a document: passages, definitions, concepts, processes, profiles. Pure; ids derive from content.

An unchanged passage of a changed document keeps its id; the same document gives the same entries in the same batches.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256

from agents.core.documents import references
from agents.core.documents.blocks import Block, blocks, headings
from agents.core.documents.comments import without_comments
from agents.core.documents.entities import DocumentEntities, entities, no_references
from agents.core.documents.markup import unescaped, without_markup
from agents.core.documents.passages import DocumentPassage, by_words, passages
from agents.core.documents.terms import Procedure, definitions, procedures, related
from agents.core.documents.themes import Themes, themes
from agents.errors import Rejected
from schemas.base import derive
from schemas.memory import (
    ChunkEntry,
    ConceptEntry,
    DefinitionEntry,
    DocumentDeleted,
    DocumentSubmitted,
    EntityMention,
    Entry,
    KnowledgeRecorded,
    ProcessEntry,
    ProfileEntry,
    StepEntry,
    Theme,
)

MAX_BYTES = 2_000_000
BATCH = 40
MAX_STEPS = 200
PATH_JOINT = " › "


def knowledge_of(
    document: DocumentSubmitted,
    *,
    tenant: str,
    lang: str,
    recorded_at: datetime,
    referred: DocumentEntities = no_references,
) -> tuple[KnowledgeRecorded, ...]:
    """The knowledge of a document, in batches of at most 40 entries; `referred` finds what its text refers to.

    Raises `Rejected` (document_empty, document_too_large) for a text that is blank or over 2 MB.
    """
    about: tuple[Theme, ...] = ()
    entries = _profile(document, tenant, lang, recorded_at)
    if not entries:
        about, entries = _read(document, tenant, lang, recorded_at, referred)
    digest = _digest(document)
    return tuple(
        KnowledgeRecorded(
            document_id=document.document_id,
            title=_title(document),
            uri=document.uri,
            content_hash=digest,
            batch=number,
            batches=-(-len(entries) // BATCH),
            entries=tuple(entries[start : start + BATCH]),
            access_level=document.access_level,
            themes=about if number == 0 else (),
            recorded_at=recorded_at,
        )
        for number, start in enumerate(range(0, len(entries), BATCH))
    )


def of_deleted(document: DocumentDeleted, recorded_at: datetime) -> KnowledgeRecorded:
    """The version of a deleted document: nothing is in it, so that everything before it is retired."""
    return KnowledgeRecorded(
        document_id=document.document_id,
        title="",
        content_hash=sha256(b"").hexdigest(),
        batch=0,
        batches=1,
        recorded_at=recorded_at,
    )


def _title(document: DocumentSubmitted) -> str:
    """The title in one line, without comments; the document's id where nothing is left."""
    return " ".join(unescaped(without_comments(document.title)).split()) or document.document_id


def _digest(document: DocumentSubmitted) -> str:
    content = document.profile.model_dump_json() if document.profile else document.text or ""
    return sha256(
        "\0".join((document.kind or "markdown", document.title, content)).encode(errors="replace")
    ).hexdigest()


def _profile(document: DocumentSubmitted, tenant: str, lang: str, recorded_at: datetime) -> list[Entry]:
    if document.kind != "profile" or document.profile is None:
        return []
    common = _common(document, lang, recorded_at)
    return [ProfileEntry(id=derive("profile", tenant, document.profile.user_id), profile=document.profile, **common)]


def _common(document: DocumentSubmitted, lang: str, recorded_at: datetime) -> dict[str, object]:
    return {
        "document_id": document.document_id,
        "access_level": document.access_level,
        "recency": document.created_at or recorded_at,
        "lang": lang,
    }


def _read(
    document: DocumentSubmitted, tenant: str, lang: str, recorded_at: datetime, referred: DocumentEntities
) -> tuple[tuple[Theme, ...], list[Entry]]:
    text = _checked(document)
    found = blocks(text) or [Block((), "text", part) for part in by_words("\n".join(headings(text)) or text.strip())]
    place = (tenant, document.document_id)
    common = _common(document, lang, recorded_at)
    title = _title(document)
    about = themes(found, title, lang)
    return _as_events(about), [
        *_chunks(title, passages(found, lang), place, common, referred),
        *_defined(found, lang, place, common),
        *(_process(procedure, place, common) for procedure in procedures(found, lang)),
        *references.entries(found, about, lang, common, referred),
    ]


def _as_events(about: Themes) -> tuple[Theme, ...]:
    return tuple(
        Theme(
            name=each.name, level=each.level, description=each.description, parent=each.parent, relevance=each.relevance
        )
        for each in about.all
    )


def _checked(document: DocumentSubmitted) -> str:
    text = without_comments(document.text or "")
    # What was a PDF or a page is read as it shows: a tag in it is one that it shows.
    text = text if document.kind in ("pdf", "html") else without_markup(text)
    if len(text) > MAX_BYTES or len(text.encode(errors="replace")) > MAX_BYTES:
        raise Rejected("document_too_large", f"the text of {document.document_id!r} is over {MAX_BYTES} bytes")
    if not any(char.isalnum() for char in text):
        raise Rejected("document_empty", f"the text of {document.document_id!r} has no words")
    return text


def _chunks(
    title: str,
    found: Iterable[DocumentPassage],
    place: tuple[str, str],
    common: dict[str, object],
    referred: DocumentEntities,
) -> list[ChunkEntry]:
    # The n-th passage with the same words is another passage; its position in the document is not part of its id.
    seen: Counter[tuple[tuple[str, ...], str]] = Counter()
    chunks: list[ChunkEntry] = []
    for position, passage in enumerate(found):
        path = passage.path[1:] if passage.path[:1] == (title,) else passage.path
        key = (path, passage.text)
        chunks.append(
            ChunkEntry(
                id=derive("chunk", *place, *path, passage.text, seen[key]),
                title=PATH_JOINT.join((title, *path)),
                text=passage.text,
                position=position,
                context=passage.context,
                page=passage.page,
                block=passage.block,
                entities=tuple(
                    EntityMention(name=each.name, kind=each.kind) for each in entities(passage.text, referred)
                ),
                **common,
            )
        )
        seen[key] += 1
    return chunks


def _defined(found: list[Block], lang: str, place: tuple[str, str], common: dict[str, object]) -> list[Entry]:
    """A definition to quote and a concept for each defined term; concepts refer to each other."""
    entries: list[Entry] = []
    defined = definitions(found, lang)
    ids = [derive("concept", *place, one.term, one.text) for one in defined]
    for one, concept_id, others in zip(defined, ids, related(defined, lang), strict=True):
        content = (*place, one.term, one.text)
        entries.append(
            DefinitionEntry(
                id=derive("definition", *content), title=one.term, text=one.text, confidence=one.confidence, **common
            )
        )
        near = tuple(ids[other] for other in others)
        entries.append(ConceptEntry(id=concept_id, name=one.term, definition=one.text, related=near, **common))
    return entries


def _process(procedure: Procedure, place: tuple[str, str], common: dict[str, object]) -> ProcessEntry:
    process_id = derive("process", *place, procedure.name, *procedure.steps)
    steps = tuple(
        StepEntry(id=derive("step", process_id, order), order=order, text=text)
        for order, text in enumerate(procedure.steps[:MAX_STEPS], 1)
    )
    return ProcessEntry(id=process_id, name=procedure.name, how_to_terms=procedure.how_to_terms, steps=steps, **common)
