"""What documents add to memory, as rows of the graph; pure."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from schemas.base import entity_key
from schemas.envelope import Received
from schemas.items import ACCESS_ORDER, AccessLevel
from schemas.memory import (
    ChunkEntry,
    ConceptEntry,
    DefinitionEntry,
    Entry,
    KnowledgeRecorded,
    ProcessEntry,
    Profile,
    ProfileEntry,
)
from streams.stores.graph_rows import Latest, Named, Row, link, name_key, present, term_keys
from streams.stores.tenant import node_id, writable


def knowledge_rows(received: Sequence[Received[KnowledgeRecorded]], *, admin: bool = False) -> Iterable[Row]:
    """Documents and what was found in them; of several recordings of one thing the last one stays."""
    for row in received:
        event, tenant = row.event, writable(row.envelope.tenant, admin=admin)
        props = {"title": event.title, "content_hash": event.content_hash}
        yield _latest("Document", tenant, event.document_id, event.recorded_at, **props)
        for entry in event.entries:
            yield from _entry_rows(entry, tenant, event.recorded_at)


def _entry_rows(entry: Entry, tenant: str, at: datetime) -> Iterable[Row]:
    match entry:
        case ChunkEntry():
            props = {"chunk_uid": entry.id, "title": entry.title, "text": entry.text, "position": entry.position}
            yield _latest("Chunk", tenant, entry.id, at, **props, **_common(entry))
            yield link("PART_OF", tenant, entry.id, entry.document_id)
        case ConceptEntry():
            props = {"name": entry.name, "definition": entry.definition, **_found_by(entry.name, entry.lang)}
            yield _latest("Concept", tenant, entry.id, at, **props, **_common(entry))
            yield Named(tenant, name_key(entry.name))
        case DefinitionEntry():
            yield _latest("Knowledge", tenant, entry.id, at, **_definition(entry), **_common(entry))
            yield Named(tenant, name_key(entry.title))
        case ProcessEntry():
            yield from _process_rows(entry, tenant, at)
        case ProfileEntry():
            yield from _profile_rows(entry.profile, tenant, at)


def _definition(entry: DefinitionEntry) -> dict[str, Any]:
    return {
        "memory_class": "semantic",
        "title": entry.title,
        "text": entry.text,
        "confidence": entry.confidence,
        **_found_by(entry.title, entry.lang),
    }


def _process_rows(entry: ProcessEntry, tenant: str, at: datetime) -> Iterable[Row]:
    keys = term_keys(" ".join(entry.how_to_terms), entry.lang)
    props = {"name": entry.name, "how_to_terms": entry.how_to_terms, "term_keys": keys}
    yield _latest("Process", tenant, entry.id, at, **props, **_common(entry))
    for step in entry.steps:
        yield _latest("Step", tenant, step.id, at, order=step.order, text=step.text)
        yield link("HAS_STEP", tenant, entry.id, step.id, order=step.order)


def _profile_rows(profile: Profile, tenant: str, at: datetime) -> Iterable[Row]:
    # The profile lists its objectives, so that one which is no longer there is no longer found; its link stays.
    own = [_objective_id(profile.user_id, each.id) for each in profile.objectives]
    yield _latest(
        "UserProfile",
        tenant,
        profile.user_id,
        at,
        user_id=profile.user_id,
        user_role=profile.user_role,
        department=profile.department,
        access_level=profile.access_level,
        objective_ids=[node_id(tenant, each) for each in own],
    )
    for objective, natural in zip(profile.objectives, own, strict=True):
        props = {"objective_id": objective.id, "title": objective.title, "status": objective.status}
        yield _latest("Objective", tenant, natural, at, **props)
        yield link("HAS_OBJECTIVE", tenant, profile.user_id, natural)


def _latest(label: str, tenant: str, natural_id: str, recorded_at: datetime, **props: Any) -> Latest:
    [at] = present(at=recorded_at).values()
    return Latest(label, node_id(tenant, natural_id), tenant, at, present(**props), at)


def _common(entry: ChunkEntry | ConceptEntry | DefinitionEntry | ProcessEntry) -> dict[str, Any]:
    return {
        "document_id": entry.document_id,
        "lang": entry.lang,
        "recency": entry.recency,
        "access_level": entry.access_level,
        "access": access_order(entry.access_level),
    }


def access_order(level: AccessLevel) -> int:
    """The level as a number that grows with secrecy."""
    return ACCESS_ORDER[level]


def _found_by(name: str, lang: str) -> dict[str, Any]:
    return {"name_key": name_key(name), "term_keys": term_keys(name, lang)}


def _objective_id(user_id: str, objective: str) -> str:
    # People number their objectives alike.
    return entity_key(user_id, objective)
