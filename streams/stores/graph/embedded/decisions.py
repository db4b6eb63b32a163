"""The reads of the embedded graph for what was decided in a time, with the semantics of their Cypher texts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, takewhile
from operator import itemgetter
from typing import Any

from streams.stores.graph import decision_reads, queries
from streams.stores.graph.embedded.tables import GraphTables, Node

Asked = Mapping[str, Any]
SAID = ("client_id", "user_id", "topic", "partition", "offset")


def _decisions(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    found = (_made(tables, node, asked) for node in _within(tables, "CDCDecision", asked))
    return [*islice((row for row in found if row is not None), asked["limit"])]


def _made(tables: GraphTables, decision: Node, asked: Asked) -> Node | None:
    """A decision with the client and the user whose message it is of, if the asker may see it."""
    client, users, is_found = decision.get("client_id"), [""], False
    for _, _, message in tables.joined("FOR_MESSAGE", starts=[decision["id"]]):
        mine = _is_said(decision, message)
        is_visible = message["tenant_id"] == asked["tenant"] and (mine or not (asked["client_id"] or asked["user_id"]))
        if is_visible and _is_of(message, asked, "user_id"):
            is_found = True
            users.append(message.get("user_id") or "")
            client = client or (message.get("client_id") if mine else None)
    return {**decision, "client_id": client, "user_id": max(users) or None} if is_found else None


def _unanswered(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    found = takewhile(
        lambda node: bool(node["created_at"] >= asked["since"]),
        tables.keyed("Message", asked["tenant"], asked["as_of"], pack=str(False)),
    )
    return [
        *islice((node for node in found if node["role"] == "user" and _is_of(node, asked, "user_id")), asked["limit"])
    ]


def _corrections(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    found = (node for node in _within(tables, "Correcao", asked) if _is_of(node, asked, "usuario_id"))
    return [*islice(found, asked["limit"])]


def _questions(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    return [
        {"id": decision["id"], "content": message["content"], "message_id": decision["message_id"]}
        | {name: message.get(name) for name in ("client_id", "conversation_id", "user_id")}
        for decision, _, message in tables.joined("FOR_MESSAGE", starts=asked["ids"])
        if decision["tenant_id"] == message["tenant_id"] == asked["tenant"]
        # A stub, made by its decision, says nothing yet.
        and _is_said(decision, message)
        and message["created_at"] <= asked["as_of"]
    ]


def _decision_on(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    made = tables.keyed("CDCDecision", asked["tenant"], asked["as_of"], message_id=asked["message_id"])
    found = [
        {**decision, **{name: message.get(name) for name in SAID}, "said_in": message.get("conversation_id")}
        for decision, _, message in tables.joined("FOR_MESSAGE", starts=[each["id"] for each in made])
        if message["tenant_id"] == asked["tenant"] and "created_at" in decision
    ]
    return sorted(found, key=itemgetter("id"))


def _contested(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    found = [
        {**correction, "claim_id": claim["id"]}
        for correction, _, claim in tables.joined("CORRECTS", ends=asked["ids"])
        if correction["tenant_id"] == claim["tenant_id"] == asked["tenant"]
        and "created_at" in correction
        and correction["created_at"] <= asked["as_of"]
    ]
    return sorted(found, key=itemgetter("created_at", "id"))


def _within(tables: GraphTables, label: str, asked: Asked) -> Iterator[Node]:
    """The tenant's nodes of the time asked for, newest first, equal ones by id."""
    found = tables.keyed(label, asked["tenant"], asked["as_of"])
    return takewhile(lambda node: bool(node["created_at"] >= asked["since"]), found)


def _is_said(decision: Node, message: Node) -> bool:
    return "conversation_id" in message and message["conversation_id"] == decision.get("conversation_id")


def _is_of(node: Node, asked: Asked, user: str) -> bool:
    of_client = asked["client_id"] in ("", node.get("client_id"))
    return of_client and asked["user_id"] in ("", node.get(user))


DECIDING: dict[str, Callable[[GraphTables, Asked], Sequence[Node]]] = {
    queries.DECISIONS_MADE: _decisions,
    decision_reads.UNANSWERED: _unanswered,
    queries.CORRECTIONS_MADE: _corrections,
    queries.QUESTIONS: _questions,
    queries.DECISION_ON: _decision_on,
    queries.CONTESTED: _contested,
}
