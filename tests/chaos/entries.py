"""What the checker looks at: messages that were sent, records that were found in the log, the graph that was left."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import orjson

from schemas.base import Conversation
from schemas.envelope import header_map
from schemas.learning import DepthVote
from schemas.tool_session import ToolSession
from streams.kafka.records import Record


@dataclass(frozen=True, slots=True)
class Sent:
    """A message that the broker acknowledged; `again` for one whose id was sent before."""

    message_id: str
    conversation: Conversation
    role: str
    content: str
    partition: int
    offset: int
    again: bool = False

    @property
    def key(self) -> str:
        return self.conversation.key()


@dataclass(frozen=True, slots=True)
class Given:
    """A request that the broker acknowledged, and what must come of it; see `tests.chaos.requests`."""

    topic: str
    id: str
    conversation: Conversation
    key: str
    subject: str
    event: Mapping[str, Any]
    partition: int
    offset: int
    wants: tuple[str, ...] = ()
    status: str = ""
    refused: bool = False

    @property
    def tenant(self) -> str:
        return self.conversation.tenant


@dataclass(frozen=True)
class Entry:
    """A record of the log; `timestamp` in ms since the epoch, headers as text."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: str
    headers: Mapping[str, str]
    value: bytes

    @classmethod
    def of(cls, record: Record) -> "Entry":
        """The entry of a record."""
        return cls(
            record.topic,
            record.partition,
            record.offset,
            record.timestamp,
            (record.key or b"").decode(),
            header_map(record.headers),
            record.value or b"",
        )

    @property
    def ce_id(self) -> str:
        return self.headers.get("ce_id", "")

    @property
    def tenant(self) -> str:
        return self.headers.get("tenant", "")

    @property
    def cause(self) -> tuple[str, str]:
        """The tenant, and the id of the event that this one came of."""
        return self.tenant, self.headers.get("ce_causationid", "")

    @cached_property
    def event(self) -> dict[str, Any]:
        """The plain fields of the value: kept, so not the large ones; empty when it is no object."""
        return {name: field for name, field in self.whole().items() if not isinstance(field, dict | list)}

    def whole(self) -> dict[str, Any]:
        """The value, parsed."""
        try:
            parsed = orjson.loads(self.value)
        except orjson.JSONDecodeError:
            return {}
        return parsed if isinstance(parsed, dict) else {}


@dataclass(frozen=True, slots=True)
class Node:
    label: str
    id: str
    props: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Link:
    type: str
    start: str
    finish: str


@dataclass(frozen=True, slots=True)
class Graph:
    """Every node and relationship, repeats included."""

    nodes: tuple[Node, ...] = ()
    links: tuple[Link, ...] = ()

    @classmethod
    def of(cls, nodes: Iterable[Mapping[str, Any]], links: Iterable[Mapping[str, Any]]) -> "Graph":
        """The graph of the rows that a graph engine answers."""
        return cls(
            tuple(Node(str(row["label"]), str(row["id"]), row["props"]) for row in nodes),
            tuple(Link(str(row["type"]), str(row["start"]), str(row["finish"])) for row in links),
        )


@dataclass(frozen=True, slots=True)
class Kept:
    """What is left where workers keep state of their own: the votes of each tenant, the tool session of each key."""

    votes: Mapping[str, tuple[DepthVote, ...]] = field(default_factory=dict)
    sessions: Mapping[str, ToolSession] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that is known at the end of a run; `given` is in the order in which it was acknowledged.

    `canaries` are words that only one tenant's messages hold.
    """

    sent: tuple[Sent, ...]
    log: tuple[Entry, ...]
    graph: Graph = field(default_factory=Graph)
    given: tuple[Given, ...] = ()
    kept: Kept = field(default_factory=Kept)
    documents: tuple[str, ...] = ()
    canaries: Mapping[str, str] = field(default_factory=dict)
