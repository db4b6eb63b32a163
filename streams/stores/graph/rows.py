"""Rows to write to the graph: nodes and links, pure. Every row can be written repeatedly and in any order.

A `NodeInsert` is written by one event only. A `NodeUpsert` is written by many: the greatest `version` wins, and
`created_at` is the first time. An `Edge` joins two nodes that need not exist yet: a missing one becomes a stub with id
and tenant only, which a later write fills. No write removes a property from a node.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from agents.core.language.text import content_words, fold, words
from schemas.base import Value, attributes_by_wire_name, derive
from schemas.items import ClaimStatus
from streams.stores.graph.schema import VERSION
from streams.stores.tenant import node_id

K = TypeVar("K", tuple[str, str], tuple[str, str, str])
R = TypeVar("R")

Properties = Mapping[str, object]
Found = Mapping[str, Any]  # as a query gives it

# A claim's status only rises, so the order of its own event and the events about it does not matter.
# Among the readers of a claim: all users of the tenant. No user has an empty id.
ANYBODY = ""
# And those who are shown what others said, where the policy shares it. No id begins with a blank.
SHARED = " shared"
STATUS_RANK: dict[ClaimStatus, int] = {"asserted": 0, "confirmed": 1, "contested": 2, "superseded": 3, "retracted": 4}


@dataclass(frozen=True, slots=True)
class NodeInsert:
    label: str
    id: str
    tenant_id: str
    props: Properties

    def row(self) -> dict[str, object]:
        return {"id": self.id, "tenant_id": self.tenant_id, "props": dict(self.props)}


@dataclass(frozen=True, slots=True)
class NodeUpsert:
    label: str
    id: str
    tenant_id: str
    version: Any
    props: Properties
    created_at: datetime | None = None

    @property
    def guard(self) -> str:
        return VERSION[self.label]

    def row(self) -> dict[str, object]:
        props = {**self.props, self.guard: self.version}
        found = {"id": self.id, "tenant_id": self.tenant_id, "version": self.version, "props": props}
        return found if self.created_at is None else {**found, "created_at": self.created_at}


@dataclass(frozen=True, slots=True)
class Edge:
    type: str
    start: str
    end: str
    tenant_id: str
    end_tenant: str
    props: Properties = field(default_factory=dict)

    def row(self) -> dict[str, object]:
        ends = {"from_id": self.start, "to_id": self.end, "tenant_id": self.tenant_id, "to_tenant": self.end_tenant}
        return {**ends, "props": dict(self.props)}


@dataclass(frozen=True, slots=True)
class NameLink:
    """A name shared by a concept and the knowledge about it: the second of them makes the link."""

    tenant_id: str
    name_key: str

    def row(self) -> dict[str, object]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """A recorded version of a document, partial or whole; entries that it no longer contains are retired.

    Those are the entries recorded before the newest whole version and not with it.
    """

    tenant_id: str
    id: str
    document_id: str
    at: datetime
    whole: bool

    def row(self) -> dict[str, object]:
        return asdict(self)


Row = NodeInsert | NodeUpsert | Edge | NameLink | DocumentVersion


@dataclass(frozen=True, slots=True)
class RowBatch:
    """Rows without repetitions, ordered by id: two writers that lock in one order cannot deadlock."""

    facts: tuple[NodeInsert, ...]
    latest: tuple[NodeUpsert, ...]
    links: tuple[Edge, ...]
    names: tuple[NameLink, ...]
    versions: tuple[DocumentVersion, ...] = ()


def batch(rows: Iterable[Row]) -> RowBatch:
    """The rows as one batch, each node and each link once."""
    given = [*rows]
    facts = {(row.label, row.id): row for row in given if isinstance(row, NodeInsert)}
    latest: dict[tuple[str, str], NodeUpsert] = {}
    for row in given:
        if isinstance(row, NodeUpsert):
            latest[row.label, row.id] = _later(latest.get((row.label, row.id), row), row)
    links = {(row.type, row.start, row.end): row for row in given if isinstance(row, Edge)}
    names = {(row.tenant_id, row.name_key): row for row in given if isinstance(row, NameLink)}
    versions = {(row.id, f"{row.at} {row.whole}"): row for row in given if isinstance(row, DocumentVersion)}
    return RowBatch(_ordered(facts), _ordered(latest), _ordered(links), _ordered(names), _ordered(versions))


def _ordered(rows: Mapping[K, R]) -> tuple[R, ...]:
    return tuple(rows[key] for key in sorted(rows))


def _later(known: NodeUpsert, row: NodeUpsert) -> NodeUpsert:
    winner = row if row.version >= known.version else known
    times = [each.created_at for each in (known, row) if each.created_at is not None]
    return replace(winner, created_at=min(times, default=None))


def present(**props: object) -> dict[str, object]:
    """The properties that have a value, in types of both graphs: lists, and times in UTC.

    In Neo4j the same instant in another zone is unequal.
    """
    return {name: _flat(value) for name, value in props.items() if value is not None}


def picked(event: Value, *names: str) -> dict[str, object]:
    """The fields of these wire names, as `present` gives them; one argument may hold several names."""
    attributes = attributes_by_wire_name(type(event))
    return present(**{name: getattr(event, attributes[name]) for some in names for name in some.split()})


def _flat(value: object) -> object:
    match value:
        case datetime():
            return value.astimezone(UTC)
        case tuple():
            return list(value)
        case _:
            return value


def term_keys(text: str, lang: str) -> list[str]:
    """The search words of a name: its folded stems, or all its words where it has no stems."""
    return list(dict.fromkeys(content_words(text, lang) or words(text)))


def term_links(label: str, tenant: str, natural_id: str, keys: Iterable[str]) -> Iterable[Edge]:
    """Links from a node to its search words, through which a question's words find it.

    A term has only an id. Links to terms that a later version of the node lost stay: results are checked against the
    node's own `term_keys`.
    """
    return (link(f"HAS_TERM:{label}", tenant, natural_id, term_id(key)) for key in keys)


def term_id(key: str) -> str:
    """A term's id in its tenant: a hash, since words have no maximum length and a server's index has."""
    return derive("term", key)


def name_key(name: str) -> str:
    """The form in which two spellings of one name are equal."""
    return fold(name)


def link(type_: str, tenant: str, start: str, end: str, end_tenant: str | None = None, **props: object) -> Edge:
    """A link between two nodes given by their natural ids."""
    end_tenant = end_tenant or tenant
    return Edge(type_, node_id(tenant, start), node_id(end_tenant, end), tenant, end_tenant, present(**props))
