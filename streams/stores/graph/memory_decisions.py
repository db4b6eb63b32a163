"""The reads of the in-memory graph for what was decided in a time, with the semantics of their Cypher texts."""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from streams.stores.graph import queries

if TYPE_CHECKING:
    from streams.stores.graph.memory import MemoryEngine

Node = dict[str, Any]
Asked = Mapping[str, Any]
SAID = ("client_id", "user_id", "topic", "partition", "offset")


def _decisions(engine: "MemoryEngine", asked: Asked) -> Sequence[Node]:
    found: dict[str, Node] = {}
    for decision, _, message in engine.joined("FOR_MESSAGE"):
        mine = _is_said(decision, message)
        if (
            decision["tenant_id"] == message["tenant_id"] == asked["tenant"]
            and _is_within(decision, asked)
            and (mine or not (asked["client_id"] or asked["user_id"]))
            and _is_of(message, asked, "user_id")
        ):
            known = found.get(decision["id"], {}).get("client_id")
            client = decision.get("client_id") or known or (message.get("client_id") if mine else None)
            found[decision["id"]] = {**decision, "client_id": client}
    return _newest([*found.values()], asked)


def _corrections(engine: "MemoryEngine", asked: Asked) -> Sequence[Node]:
    found = [
        node
        for node in engine.all("Correcao", [asked["tenant"]])
        if _is_within(node, asked) and _is_of(node, asked, "usuario_id")
    ]
    return _newest(found, asked)


def _questions(engine: "MemoryEngine", asked: Asked) -> Sequence[Node]:
    return [
        {"id": decision["id"], "content": message["content"], "message_id": decision["message_id"]}
        | {name: message.get(name) for name in ("client_id", "conversation_id", "user_id")}
        for decision, _, message in engine.joined("FOR_MESSAGE")
        if decision["id"] in asked["ids"]
        and decision["tenant_id"] == message["tenant_id"] == asked["tenant"]
        # A stub, made by its decision, says nothing yet.
        and _is_said(decision, message)
        and message["created_at"] <= asked["as_of"]
    ]


def _decision_on(engine: "MemoryEngine", asked: Asked) -> Sequence[Node]:
    found = [
        {**decision, **{name: message.get(name) for name in SAID}, "said_in": message.get("conversation_id")}
        for decision, _, message in engine.joined("FOR_MESSAGE")
        if decision.get("message_id") == asked["message_id"]
        and decision["tenant_id"] == message["tenant_id"] == asked["tenant"]
        and "created_at" in decision
        and decision["created_at"] <= asked["as_of"]
    ]
    return sorted(found, key=itemgetter("id"))


def _contested(engine: "MemoryEngine", asked: Asked) -> Sequence[Node]:
    found = [
        {**correction, "claim_id": claim["id"]}
        for correction, _, claim in engine.joined("CORRECTS")
        if claim["id"] in asked["ids"]
        and correction["tenant_id"] == claim["tenant_id"] == asked["tenant"]
        and "created_at" in correction
        and correction["created_at"] <= asked["as_of"]
    ]
    return sorted(found, key=itemgetter("created_at", "id"))


def _is_said(decision: Node, message: Node) -> bool:
    return "conversation_id" in message and message["conversation_id"] == decision.get("conversation_id")


def _is_within(node: Node, asked: Asked) -> bool:
    return "created_at" in node and bool(asked["since"] <= node["created_at"] <= asked["as_of"])


def _is_of(node: Node, asked: Asked, user: str) -> bool:
    of_client = asked["client_id"] in ("", node.get("client_id"))
    return of_client and asked["user_id"] in ("", node.get(user))


def _newest(found: Sequence[Node], asked: Asked) -> Sequence[Node]:
    ordered = sorted(sorted(found, key=itemgetter("id")), key=itemgetter("created_at"), reverse=True)
    return ordered[: asked["limit"]]


DECIDING: dict[str, Callable[["MemoryEngine", Asked], Sequence[Node]]] = {
    queries.DECISIONS_MADE: _decisions,
    queries.CORRECTIONS_MADE: _corrections,
    queries.QUESTIONS: _questions,
    queries.DECISION_ON: _decision_on,
    queries.CONTESTED: _contested,
}
