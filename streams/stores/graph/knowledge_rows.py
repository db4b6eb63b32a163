"""Rows of the graph for documents and their contents; pure."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from schemas.base import derive, entity_key
from schemas.envelope import Received
from schemas.items import ACCESS_ORDER
from schemas.memory import (
    ChunkEntry,
    ConceptEntry,
    DefinitionEntry,
    EntityMention,
    Entry,
    KnowledgeRecorded,
    LegalEntry,
    ProcessEntry,
    Profile,
    ProfileEntry,
    Theme,
)
from streams.stores.graph.rows import (
    DocumentVersion,
    NameLink,
    NodeInsert,
    NodeUpsert,
    Row,
    link,
    name_key,
    picked,
    present,
    term_keys,
    term_links,
)
from streams.stores.tenant import node_id, writable

# Of a version without entries, which has no themes either.
DEFAULT_LANG = "pt"


def knowledge_rows(received: Sequence[Received[KnowledgeRecorded]], *, admin: bool = False) -> Iterable[Row]:
    """Documents and their entries; of several records of one node the last wins."""
    for row in received:
        event, tenant = row.event, writable(row.envelope.tenant, admin=admin)
        whole = event.batch + 1 == event.batches
        props: dict[str, object] = {"title": event.title, "uri": event.uri, "content_hash": event.content_hash}
        if whole:
            props["complete_at"] = event.recorded_at
        yield _latest("Document", tenant, event.document_id, event.recorded_at, **props)
        for theme in event.themes:
            yield from _theme_rows(theme, event, tenant)
        for entry in event.entries:
            yield from _entry_rows(entry, tenant, event.recorded_at)
        if event.batches:
            document = node_id(tenant, event.document_id)
            yield DocumentVersion(tenant, document, event.document_id, event.recorded_at.astimezone(UTC), whole)


def _entry_rows(entry: Entry, tenant: str, at: datetime) -> Iterable[Row]:
    match entry:
        case ChunkEntry():
            props = {"chunk_uid": entry.id, **picked(entry, "title text position page")}
            yield _latest("Chunk", tenant, entry.id, at, **props, **_common(entry))
            yield link("PART_OF", tenant, entry.id, entry.document_id)
            for mention in entry.entities:
                yield from _mention_rows(mention, entry.id, tenant, at)
        case ConceptEntry():
            props = {"name": entry.name, "definition": entry.definition, **_found_by(entry.name, entry.lang)}
            yield _latest("Concept", tenant, entry.id, at, **props, **_common(entry))
            yield from term_links("Concept", tenant, entry.id, term_keys(entry.name, entry.lang))
            yield NameLink(tenant, name_key(entry.name))
            for other in entry.related:
                yield link("RELATED_TO", tenant, entry.id, other)
        case DefinitionEntry():
            yield _latest("Knowledge", tenant, entry.id, at, **_definition(entry), **_common(entry))
            yield from term_links("Knowledge", tenant, entry.id, term_keys(entry.title, entry.lang))
            yield NameLink(tenant, name_key(entry.title))
        case ProcessEntry():
            yield from _process_rows(entry, tenant, at)
        case ProfileEntry():
            yield from _profile_rows(entry.profile, entry.document_id, tenant, at)
        case LegalEntry():
            yield from _legal_rows(entry, tenant, at)


def theme_id(level: str, name: str) -> str:
    """A theme's id in its tenant: one theme per level and name, regardless of spelling."""
    return derive("tema", level, name_key(name))


def entity_id(kind: str, name: str) -> str:
    """An entity's id in its tenant: one entity per kind and name, regardless of spelling."""
    return derive("entity", kind, name_key(name))


def _theme_rows(theme: Theme, event: KnowledgeRecorded, tenant: str) -> Iterable[Row]:
    own = theme_id(theme.level, theme.name)
    # Documents share a theme; users without access to this one may find it through another.
    said = theme.description if event.access_level == "public" else theme.name
    keys = term_keys(theme.name, _lang_of(event))
    props = {"nome": theme.name, "nivel": theme.level, "descricao": said, "name_key": name_key(theme.name)}
    yield _latest("Tema", tenant, own, event.recorded_at, **props, term_keys=keys)
    yield from term_links("Tema", tenant, own, keys)
    access = ACCESS_ORDER[event.access_level]
    yield link("ABOUT_THEME", tenant, event.document_id, own, relevancia=theme.relevance, access=access)
    if theme.parent is not None:
        yield link("SUBTEMA_DE", tenant, own, theme_id("macro", theme.parent))


def _lang_of(event: KnowledgeRecorded) -> str:
    return event.entries[0].lang if event.entries else DEFAULT_LANG


def _mention_rows(mention: EntityMention, chunk_id: str, tenant: str, at: datetime) -> Iterable[Row]:
    entity = entity_id(mention.kind, mention.name)
    yield _latest("Entity", tenant, entity, at, name=mention.name, tipo=mention.kind, name_key=name_key(mention.name))
    yield link("MENTIONS", tenant, chunk_id, entity)


# The label of a reference, and the type of its links to themes.
_LEGAL = {
    "processo": ("Processo", "TRATA_DE"),
    "jurisprudencia": ("Jurisprudencia", "SOBRE_TEMA"),
    "dispositivo": ("Dispositivo", "RELACIONADO_A"),
}


def _legal_rows(entry: LegalEntry, tenant: str, at: datetime) -> Iterable[Row]:
    label, about = _LEGAL[entry.reference_kind]
    said = entry.text if entry.access_level == "public" else entry.reference
    props: dict[str, object] = {"lang": entry.lang, "recency": entry.recency}
    if entry.reference_kind == "processo":
        props |= {"referencia": entry.reference, "tipo": "judicial"}
    elif entry.reference_kind == "jurisprudencia":
        props |= {"tribunal": entry.court, "numero": entry.reference, "ementa": said}
    else:
        props |= {"lei": entry.law, "artigo": entry.article, "texto": said}
    yield _latest(label, tenant, entry.id, at, **props)
    for theme in entry.themes:
        yield link(about, tenant, entry.id, theme_id(theme.level, theme.name), relevancia=theme.relevance)


def _definition(entry: DefinitionEntry) -> dict[str, object]:
    own = picked(entry, "title text confidence")
    return {"memory_class": "semantic", **own, **_found_by(entry.title, entry.lang)}


def _process_rows(entry: ProcessEntry, tenant: str, at: datetime) -> Iterable[Row]:
    keys = term_keys(" ".join(entry.how_to_terms), entry.lang)
    props = {"name": entry.name, "how_to_terms": entry.how_to_terms, "term_keys": keys}
    yield _latest("Process", tenant, entry.id, at, **props, **_common(entry))
    yield from term_links("Process", tenant, entry.id, keys)
    for step in entry.steps:
        yield _latest("Step", tenant, step.id, at, order=step.order, text=step.text)
        yield link("HAS_STEP", tenant, entry.id, step.id, order=step.order)


def _profile_rows(profile: Profile, document_id: str, tenant: str, at: datetime) -> Iterable[Row]:
    # The profile lists its objectives, so that removed ones are no longer found; their links stay.
    own = [_objective_id(profile.user_id, each.id) for each in profile.objectives]
    props = picked(profile, "user_id user_role department access_level")
    listed = [node_id(tenant, each) for each in own]
    yield _latest("UserProfile", tenant, profile.user_id, at, **props, objective_ids=listed, document_id=document_id)
    # Earlier profiles: a message of that time is answered with the profile of that time.
    said = profile.model_dump_json()
    then = at.astimezone(UTC)
    yield NodeInsert(
        "AuditEvent",
        node_id(tenant, derive("profile", profile.user_id, then.isoformat(), said)),
        tenant,
        {
            **{"kind": "profile", "actor": "ingestion", "subject_id": profile.user_id, "detail": said},
            **{"created_at": then, "document_id": document_id},
        },
    )
    for objective, natural in zip(profile.objectives, own, strict=True):
        props = {"objective_id": objective.id, "title": objective.title, "status": objective.status}
        yield _latest("Objective", tenant, natural, at, **props)
        yield link("HAS_OBJECTIVE", tenant, profile.user_id, natural)


def _latest(label: str, tenant: str, natural_id: str, recorded_at: datetime, **props: object) -> NodeUpsert:
    at = recorded_at.astimezone(UTC)
    return NodeUpsert(label, node_id(tenant, natural_id), tenant, at, present(**props), at)


def _common(entry: ChunkEntry | ConceptEntry | DefinitionEntry | ProcessEntry) -> dict[str, object]:
    access = {"access": ACCESS_ORDER[entry.access_level]}
    return picked(entry, "document_id lang recency access_level") | access


def _found_by(name: str, lang: str) -> dict[str, object]:
    return {"name_key": name_key(name), "term_keys": term_keys(name, lang)}


def _objective_id(user_id: str, objective: str) -> str:
    # Objective numbers are not unique across people.
    return entity_key(user_id, objective)
