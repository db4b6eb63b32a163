"""Nodes, links and keys of the embedded graph: a SQLite file, or a database in memory.

A node's properties are JSON. A key is what nodes of a label are found by: a property or several, with the tenant, in
the order of a time. Writing a node writes its keys.
"""

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

import orjson

from streams.stores.graph.schema import INSERTED, LINK_ENDS, SHARED, VERSION, WORD

Node = dict[str, Any]

FILE = "graph.sqlite"
# What says that a file is a graph of ours, `FtmG`; a damaged file is not written to.
APPLICATION: Final = 0x46746D47
MARKED: Final = "PRAGMA application_id = 1182035271"
# A deleted node is overwritten in the file; `checkpoint` then cuts off the log of writes, which has its text as well.
OPENED = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA secure_delete = ON;
PRAGMA wal_autocheckpoint = 0;
CREATE TABLE IF NOT EXISTS name (number INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS node (
    number INTEGER PRIMARY KEY, label INTEGER NOT NULL, id TEXT NOT NULL, tenant TEXT NOT NULL, body BLOB NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS node_by_id ON node (label, id);
CREATE TABLE IF NOT EXISTS link (
    start INTEGER NOT NULL, kind INTEGER NOT NULL, finish INTEGER NOT NULL, body BLOB, PRIMARY KEY (start, kind, finish)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS link_by_end ON link (finish, kind);
CREATE TABLE IF NOT EXISTS found (
    key INTEGER NOT NULL, value TEXT NOT NULL, at INTEGER NOT NULL, node INTEGER NOT NULL,
    PRIMARY KEY (key, value, at, node)
) WITHOUT ROWID;
"""

LABELS: Final = (*INSERTED, SHARED, *VERSION, WORD)
# Links by a shared name are made by `NameLink`.
ENDS: Final = {**LINK_ENDS, "ABOUT": ("Knowledge", "Concept")}
# What the nodes of a label are found by besides their ids; by nothing: all of the tenant, newest first.
KEYS: Final[Mapping[str, Sequence[tuple[str, ...]]]] = {
    "Message": (("pack",),),
    "ConversationSummary": (("user_id",), ("user_id", "conversation_id")),
    "Claim": (("subject_key",), ("client_id", "conversation_id"), ("user_id",)),
    "CDCDecision": (("message_id",), ()),
    "Correcao": ((),),
    "AuditEvent": (("subject_id",), ("client_id", "conversation_id")),
    "Consulta": (("signature",), ("client_id", "conversation_id")),
    "Knowledge": (("document_id",), ("name_key",)),
    "Concept": (("document_id",), ("name_key",)),
    "Chunk": (("document_id",),),
    "Process": (("document_id",),),
    "Document": ((),),
}
TIME: Final = {"ConversationSummary": "recency", "Document": "recorded_at"}  # of other labels: created_at
EPOCH, MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)

INTERN = "INSERT OR IGNORE INTO name (text) VALUES (?)"
NAMES = "SELECT text, number FROM name"
ONE = "SELECT number, tenant, body FROM node WHERE label = ? AND id = ?"
OF_LABEL = "SELECT number, id, tenant, body FROM node WHERE label = ?"
ADD_NODE = "INSERT INTO node (label, id, tenant, body) VALUES (?, ?, ?, ?)"
SET_NODE = "UPDATE node SET body = ? WHERE number = ?"
REMOVE_NODE = "DELETE FROM node WHERE number = ?"
ADD_LINK = "INSERT OR IGNORE INTO link (start, kind, finish, body) VALUES (?, ?, ?, ?)"
LINK = "SELECT body FROM link WHERE start = ? AND kind = ? AND finish = ?"
SET_LINK = "UPDATE link SET body = ? WHERE start = ? AND kind = ? AND finish = ?"
REMOVE_LINKS = "DELETE FROM link WHERE start = ?1", "DELETE FROM link WHERE finish = ?1"
ADD_KEY = "INSERT OR IGNORE INTO found (key, value, at, node) VALUES (?, ?, ?, ?)"
REMOVE_KEY = "DELETE FROM found WHERE key = ? AND value = ? AND at = ? AND node = ?"
KEYED = """
    SELECT f.at, n.id, n.tenant, n.body FROM found f CROSS JOIN node n ON n.number = f.node
    WHERE f.key = ? AND f.value = ? AND f.at <= ? ORDER BY f.at DESC, f.node DESC"""
HAS = "SELECT 1 FROM found WHERE key = ? AND value = ? LIMIT 1"
FROM_STARTS = """
    SELECT s.id, s.tenant, s.body, l.body, e.id, e.tenant, e.body
    FROM json_each(?) i CROSS JOIN node s ON s.label = ? AND s.id = i.value
    CROSS JOIN link l ON l.start = s.number AND l.kind = ? CROSS JOIN node e ON e.number = l.finish"""
FROM_ENDS = """
    SELECT s.id, s.tenant, s.body, l.body, e.id, e.tenant, e.body
    FROM json_each(?) i CROSS JOIN node e ON e.label = ? AND e.id = i.value
    CROSS JOIN link l ON l.finish = e.number AND l.kind = ? CROSS JOIN node s ON s.number = l.start"""
COUNTED = """
    SELECT count(*) FROM node e CROSS JOIN link l ON l.finish = e.number AND l.kind = ?
    WHERE e.label = ? AND e.id = ?"""
PAGE = "SELECT number, id FROM node WHERE label = ? AND tenant = ? AND id > ? AND id < ? ORDER BY id LIMIT ?"
LINKED = "SELECT l.kind, e.id, e.tenant FROM link l JOIN node e ON e.number = l.finish WHERE l.start = ?"
ALL_NODES = "SELECT a.text, n.id, n.tenant, n.body FROM node n JOIN name a ON a.number = n.label"
ALL_LINKS = """
    SELECT a.text, s.id, e.id, l.body FROM link l JOIN name a ON a.number = l.kind
    JOIN node s ON s.number = l.start JOIN node e ON e.number = l.finish"""

Change = Callable[[Node], Mapping[str, object]]
Other = tuple[str, str, str]  # the kind of a link, the id and the tenant of its end


class GraphTables:
    """Reads and writes of nodes and links, in the transaction that the caller has begun; none of them waits.

    Raises `sqlite3.Error`.
    """

    def __init__(self, path: Path | None, *, writes: bool = True) -> None:
        where = ":memory:" if path is None else path.resolve().as_uri() + ("?mode=rwc" if writes else "?mode=ro")
        # No transaction begins by itself. A thread may write the checkpoint at the end.
        is_old = path is not None and path.exists()
        self._file = sqlite3.connect(where, uri=True, isolation_level=None, check_same_thread=False)
        try:
            if is_old and self._file.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
                raise sqlite3.DatabaseError("it is a database, and no graph of Fathom")
            if not is_old:
                self._file.execute(MARKED)
            keys = {key_name(label, names): label for label, every in KEYS.items() for names in every}
            known: set[str] = set()
            if writes:
                self._file.executescript(OPENED)
                known = {text for text, _ in self._file.execute(NAMES)}
                self._file.executemany(INTERN, [(text,) for text in (*LABELS, *ENDS, *keys)])
            self._numbers: dict[str, int] = dict(self._file.execute(NAMES))
            if known:
                self._add_keys({label for key, label in keys.items() if key not in known})
        except BaseException:
            self._file.close()
            raise

    def _add_keys(self, labels: Collection[str]) -> None:
        """Write the keys of the nodes of these labels: the file is of a version that had fewer."""
        self.begin()
        for label in labels:
            nodes = self._file.execute(OF_LABEL, (self._numbers[label],)).fetchall()
            keys = [(*key, number) for number, *row in nodes for key in self._keys(label, _node(*row))]
            self._file.executemany(ADD_KEY, keys)
        self.commit()

    def check(self) -> str:
        """What is wrong with the file; nothing where it is whole."""
        found = str(self._file.execute("PRAGMA quick_check(1)").fetchone()[0])
        return "" if found == "ok" else found

    def checkpoint(self) -> int:
        """Write the log of writes into the file and cut it off; returns how many pages it had that could be read."""
        [_, pages, _] = self._file.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        self._file.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return int(pages)

    def begin(self) -> None:
        self._file.execute("BEGIN")

    def commit(self) -> None:
        self._file.execute("COMMIT")

    def roll_back(self) -> None:
        # After some errors, of a full disk among them, SQLite has done it itself.
        if self._file.in_transaction:
            self._file.execute("ROLLBACK")

    def close(self) -> None:
        self._file.close()

    def one(self, label: str, node_id: str, tenants: Collection[str]) -> Node | None:
        """A node by id, if it belongs to one of the tenants."""
        row = self._file.execute(ONE, (self._numbers[label], node_id)).fetchone()
        return _node(node_id, *row[1:]) if row is not None and row[1] in tenants else None

    def keyed(self, label: str, tenant: str, until: datetime | None = None, **by: str) -> Iterator[Node]:
        """A tenant's nodes that have these properties, newest first, equal ones by id; `by` are some of `KEYS`."""
        at = 2**62 if until is None else _micros(until)
        key = self._numbers[key_name(label, tuple(by))]
        with closing(self._file.execute(KEYED, (key, key_value(tenant, by.values()), at))) as found:
            for _, same in groupby(found, key=itemgetter(0)):
                yield from (_node(*row[1:]) for row in sorted(same, key=itemgetter(1)))

    def has(self, label: str, tenant: str, **by: str) -> bool:
        """Whether a tenant has a node with these properties, which are some of `KEYS`; none is read."""
        key = self._numbers[key_name(label, tuple(by))]
        return self._file.execute(HAS, (key, key_value(tenant, by.values()))).fetchone() is not None

    def joined(
        self, kind: str, *, starts: Collection[str] = (), ends: Collection[str] = ()
    ) -> Iterator[tuple[Node, Node, Node]]:
        """Start, properties and end of the links of a kind that begin, or that end, at nodes of these ids."""
        start, end = ENDS[kind]
        text = FROM_STARTS if starts else FROM_ENDS
        ids = orjson.dumps([*dict.fromkeys(starts or ends)]).decode()
        asked = (ids, self._numbers[start if starts else end], self._numbers[kind])
        with closing(self._file.execute(text, asked)) as found:
            for row in found:
                yield _node(*row[:3]), _props(row[3]), _node(*row[4:])

    def started(self, kind: str, *, ends: Collection[str], tenants: Collection[str]) -> Collection[Node]:
        """The tenants' nodes from which a link of a kind goes to a node of these ids, each once."""
        found = (start for start, _, _ in self.joined(kind, ends=ends))
        return {each["id"]: each for each in found if each["tenant_id"] in tenants}.values()

    def count(self, kind: str, *, end: str) -> int:
        """How many links of a kind end at a node."""
        asked = (self._numbers[kind], self._numbers[ENDS[kind][1]], end)
        return int(self._file.execute(COUNTED, asked).fetchone()[0])

    def page(self, label: str, tenant: str, first: str, last: str, limit: int) -> list[tuple[str, list[Other]]]:
        """A tenant's ids of a label between two, by id, each with the kinds, ids and tenants of what it links to."""
        kinds = {number: text for text, number in self._numbers.items()}
        rows = self._file.execute(PAGE, (self._numbers[label], tenant, first, last, limit)).fetchall()
        linked = ((id_, self._file.execute(LINKED, (number,))) for number, id_ in rows)
        return [(id_, [(kinds[kind], *other) for kind, *other in found]) for id_, found in linked]

    def all_nodes(self) -> Iterator[tuple[str, Node]]:
        """Every node with its label."""
        return ((label, _node(*row)) for label, *row in self._file.execute(ALL_NODES))

    def all_links(self) -> Iterator[tuple[str, str, str, Node]]:
        """Every link: its kind, the ids of its ends, its properties."""
        return ((kind, start, end, _props(body)) for kind, start, end, body in self._file.execute(ALL_LINKS))

    def merged(self, label: str, node_id: str, tenant: str, change: Change = lambda _: {}) -> int:
        """Give a node the properties that `change` makes of those it has, making it if needed; returns its number."""
        known = self._file.execute(ONE, (self._numbers[label], node_id)).fetchone()
        if known is None:
            node = {**change({}), "id": node_id, "tenant_id": tenant}
            made = self._file.execute(ADD_NODE, (self._numbers[label], node_id, tenant, _body(node)))
            number = made.lastrowid or 0
            self._file.executemany(ADD_KEY, [(*key, number) for key in self._keys(label, node)])
            return number
        number, whose, body = known
        if whose != tenant:
            raise ValueError(f"a node of {whose!r} is not written for {tenant!r}")
        before = _node(node_id, whose, body)
        after = {**before, **change(before), "id": node_id, "tenant_id": whose}
        if before != after:
            self._file.execute(SET_NODE, (_body(after), number))
            had, has = {*self._keys(label, before)}, {*self._keys(label, after)}
            self._file.executemany(REMOVE_KEY, [(*key, number) for key in had - has])
            self._file.executemany(ADD_KEY, [(*key, number) for key in has - had])
        return int(number)

    def linked(self, kind: str, start: int, end: int, change: Mapping[str, object]) -> None:
        """Join two nodes, given by their numbers; give the link these properties."""
        place = (start, self._numbers[kind], end)
        made = self._file.execute(ADD_LINK, (*place, _body(change) if change else None)).rowcount
        if change and not made:
            [body] = self._file.execute(LINK, place).fetchone()
            self._file.execute(SET_LINK, (_body({**_props(body), **change}), *place))

    def removed(self, label: str, node_id: str, tenant: str) -> None:
        """Remove a tenant's node with its links; an unknown id changes nothing."""
        known = self._file.execute(ONE, (self._numbers[label], node_id)).fetchone()
        if known is None or known[1] != tenant:
            return
        number, whose, body = known
        for text in REMOVE_LINKS:
            self._file.execute(text, (number,))
        self._file.executemany(REMOVE_KEY, [(*key, number) for key in self._keys(label, _node(node_id, whose, body))])
        self._file.execute(REMOVE_NODE, (number,))

    def _keys(self, label: str, node: Node) -> Iterator[tuple[int, str, int]]:
        at = node.get(TIME.get(label, "created_at"))
        for names in KEYS.get(label, ()):
            values = [node.get(name) for name in names]
            # A stub, made by a link, is found by nothing until its own event has come.
            if None not in values and (names or at is not None):
                number = self._numbers[key_name(label, names)]
                yield number, key_value(node["tenant_id"], map(str, values)), 0 if at is None else _micros(at)


def always(properties: Mapping[str, object], _: Node) -> Mapping[str, object]:
    """A change that gives a node these properties, whatever it has."""
    return properties


def key_name(label: str, names: Sequence[str]) -> str:
    """The name of a key: its label and properties."""
    return ".".join((label, *names))


def key_value(tenant: str, values: Iterable[str]) -> str:
    """What the nodes of a tenant that have these values are found by."""
    # With their lengths: values come from outside, and none may imitate the end of another.
    return "".join(f"{len(each)}:{each}" for each in (tenant, *values))


def _micros(at: datetime) -> int:
    return (at - EPOCH) // MICROSECOND


def _body(properties: Mapping[str, object]) -> bytes:
    """Properties with the names of those that are times: JSON has none."""
    own = {name: value for name, value in properties.items() if name not in ("id", "tenant_id")}
    return orjson.dumps([own, [name for name, value in own.items() if isinstance(value, datetime)]])


def _props(body: bytes | None) -> Node:
    if body is None:
        return {}
    found: Node
    found, times = orjson.loads(body)
    for name in times:
        found[name] = datetime.fromisoformat(found[name])
    return found


def _node(node_id: str, tenant: str, body: bytes) -> Node:
    return {**_props(body), "id": node_id, "tenant_id": tenant}
