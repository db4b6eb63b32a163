"""The reads of the embedded graph for complex questions, with the semantics of their Cypher texts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any

from streams.stores.graph import cognition_queries as queries
from streams.stores.graph.embedded.tables import GraphTables, Node
from streams.stores.graph.schema import relation

Asked = Mapping[str, Any]


def is_offered(node: Node, as_of: Any) -> bool:
    """Whether the newest version of its document as of then contains it."""
    retired = node.get("retired_at")
    return retired is None or retired > as_of or retired <= node["recorded_at"] <= as_of


def _is_visible(chunk: Node, asked: Asked) -> bool:
    # A stub has no time: it was made by a link, its own document has not arrived yet.
    at = chunk.get("created_at")
    return (
        at is not None
        and at <= asked["as_of"]
        and chunk["access"] <= asked["access"]
        and is_offered(chunk, asked["as_of"])
    )


def _is_known(node: Node, asked: Asked) -> bool:
    return "created_at" in node and bool(node["created_at"] <= asked["as_of"])


def _documents_of(tables: GraphTables, theme: Node, asked: Asked) -> Iterator[Node]:
    for document, props, _ in tables.joined("ABOUT_THEME", ends=[theme["id"]]):
        if document["tenant_id"] == theme["tenant_id"] and props.get("access", asked["access"] + 1) <= asked["access"]:
            yield document


def _themes(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    found = []
    for theme in tables.started("HAS_TERM:Tema", ends=asked["term_ids"], tenants=asked["tenants"]):
        keys = theme.get("term_keys", ())
        met = sum(key in asked["terms"] for key in keys)
        if _is_known(theme, asked) and met > 0 and len(keys) <= 2 * met and any(_documents_of(tables, theme, asked)):
            named = {"id": theme["id"], "name": theme["nome"], "level": theme["nivel"]}
            found.append({**named, "met": met, "wanted": len(keys)})
    found.sort(key=lambda row: (-row["met"] / row["wanted"], -row["met"], row["id"]))
    return found[: asked["limit"]]


def _near_themes(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    found = []
    above = ((lower, upper) for lower, _, upper in tables.joined("SUBTEMA_DE", starts=asked["ids"]))
    below = ((upper, lower) for lower, _, upper in tables.joined("SUBTEMA_DE", ends=asked["ids"]))
    for theme, near in (*above, *below):
        is_own = near["tenant_id"] == theme["tenant_id"] in asked["tenants"] and _is_known(near, asked)
        if is_own and any(_documents_of(tables, near, asked)):
            named = {"id": near["id"], "name": near["nome"], "level": near["nivel"]}
            found.append({**named, "near": theme["id"]})
    return sorted(found, key=lambda row: (row["id"], row["near"]))[: asked["limit"]]


def _documents_about(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    themes = [tables.one("Tema", each, asked["tenants"]) for each in asked["ids"]]
    return [
        {"id": theme["id"], "document": document["id"]}
        for theme in themes
        if theme is not None
        for document in _documents_of(tables, theme, asked)
    ]


def _sections_about(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    about = [
        (document["id"], theme)
        for document, _, theme in tables.joined("ABOUT_THEME", ends=asked["ids"])
        if document["tenant_id"] == theme["tenant_id"] in asked["tenants"] and "nome" in theme
    ]
    parts: dict[str, list[Node]] = {}
    for chunk, _, document in tables.joined("PART_OF", ends=[document for document, _ in about]):
        if chunk["tenant_id"] == document["tenant_id"] and _is_visible(chunk, asked):
            parts.setdefault(document["id"], []).append(chunk)
    found = {
        (chunk["position"], chunk["id"], theme["id"], chunk["document_id"])
        for document, theme in about
        for chunk in parts.get(document, ())
        if theme["nome"].lower() in chunk["title"].lower()
    }
    rows = [{"id": id_, "by": by, "position": at, "document_id": of} for at, id_, by, of in sorted(found)]
    return rows[: asked["limit"]]


def _law_about(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    found = [
        _law(theme, type_, props, node)
        for type_ in ("TRATA_DE", "SOBRE_TEMA", "RELACIONADO_A")
        for node, props, theme in tables.joined(type_, ends=asked["ids"])
        if node["tenant_id"] == theme["tenant_id"] in asked["tenants"] and _is_known(node, asked)
    ]
    return sorted(found, key=itemgetter("below", "id", "by"))[: asked["limit"]]


def _law(theme: Node, type_: str, props: Node, node: Node) -> Node:
    named = {name: node.get(known) for name, known in _LAW_NAMES.items()}
    share = float(props["relevancia"])
    return {"by": theme["id"], "link": relation(type_), "id": node["id"], "below": -share, **named}


_LAW_NAMES = {"case": "referencia", "ruling": "numero", "law": "lei", "article": "artigo"}


def _is_telling(tables: GraphTables, entity: Node, asked: Asked) -> bool:
    """Whether an entity tells passages apart: few mention it."""
    return bool(tables.count("MENTIONS", end=entity["id"]) <= asked["most"])


def _naming(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    entities = (tables.one("Entity", each, asked["tenants"]) for each in dict.fromkeys(asked["ids"]))
    telling = [each["id"] for each in entities if each is not None and _is_telling(tables, each, asked)]
    found = [
        {"id": chunk["id"], "entity": entity["id"], "document_id": chunk["document_id"]}
        for chunk, _, entity in tables.joined("MENTIONS", ends=telling)
        if chunk["tenant_id"] == entity["tenant_id"] and _is_visible(chunk, asked)
    ]
    return sorted(found, key=lambda row: (row["id"], row["entity"]))[: asked["limit"]]


def _connected(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    entities = {
        entity["id"]: entity
        for start, _, entity in tables.joined("MENTIONS", starts=asked["ids"])
        if start["tenant_id"] == entity["tenant_id"] in asked["tenants"]
    }
    telling = [each["id"] for each in entities.values() if _is_telling(tables, each, asked)]
    shared: dict[tuple[str, str], dict[str, str]] = {}
    for chunk, _, entity in tables.joined("MENTIONS", ends=telling):
        is_other = chunk["id"] not in asked["ids"] and chunk["tenant_id"] == entity["tenant_id"]
        if is_other and _is_visible(chunk, asked):
            shared.setdefault((chunk["id"], chunk["document_id"]), {})[entity["id"]] = entity["name"]
    found: list[Node] = [
        {"id": key, "document_id": document, "via": min(by.values()), "shared": len(by)}
        for (key, document), by in shared.items()
    ]
    return sorted(found, key=lambda row: (-row["shared"], row["id"]))[: asked["limit"]]


def _asked_by(node: Node) -> Node:
    """Who said it, and where: columns of what may be hidden."""
    place = {name: node.get(name) for name in ("client_id", "conversation_id")}
    return {**place, "user_id": node.get("usuario_id")}


def _consultations(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    found = (
        {
            **{"id": node["id"], "question": node["pergunta_usuario"], "status": node["verification_status"]},
            **{"access_level": node["access_level"], "scope": node.get("scope"), "case_id": node.get("case_id")},
            **_asked_by(node),
            "created_at": node["created_at"],
        }
        for node in tables.keyed("Consulta", asked["tenant"], asked["as_of"], signature=asked["signature"])
        if "created_at" in node
    )
    return [*islice(found, asked["limit"])]


def _answers_of(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    found = [
        {
            **{"consultation": node["id"], "id": sub["id"], "question": sub["texto"], "answer": sub["resposta"]},
            **{name: sub.get(name) for name in ("signature", "chunks", "evidence", "confidence", "verified")},
        }
        for node, _, sub in tables.joined("DECOMPOSTA_EM", starts=asked["ids"])
        if node["tenant_id"] == sub["tenant_id"] == asked["tenant"] and _is_known(sub, asked)
    ]
    return sorted(found, key=lambda row: (row["consultation"], row["id"]))


def _consultations_corrected(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    found = {
        (node["id"], correction["id"]): _asked_by(correction)
        for node, _, correction in tables.joined("CORRIGIDA_POR", starts=asked["ids"])
        if node["tenant_id"] == correction["tenant_id"] == asked["tenant"]
        and _is_known(correction, asked)
        and correction["tipo"] != "formatacao"
    }
    return [{"id": each, "correction": correction, **by} for (each, correction), by in sorted(found.items())]


def _penalties(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    given = [
        (correction, props, chunk)
        for correction, props, chunk in tables.joined("PENALIZA:Chunk", ends=asked["ids"])
        if correction["tenant_id"] == asked["tenant"]
        and chunk["tenant_id"] in asked["tenants"]
        and _is_known(correction, asked)
    ]
    found = [
        {
            **{"id": chunk["id"], "weight": props.get("peso"), "correction": correction["id"]},
            **{"question": node["pergunta_usuario"], "of": node["id"], "document_id": chunk.get("document_id")},
            **_asked_by(correction),
        }
        for correction, props, chunk in given
        for node, _, _ in tables.joined("CORRIGIDA_POR", ends=[correction["id"]])
        if node["tenant_id"] == asked["tenant"] and _is_known(node, asked)
    ]
    return sorted(found, key=lambda row: (row["id"], row["correction"], row["of"]))


READING: dict[str, Callable[[GraphTables, Asked], Sequence[Node]]] = {
    queries.THEMES: _themes,
    queries.NEAR_THEMES: _near_themes,
    queries.DOCUMENTS_ABOUT: _documents_about,
    queries.SECTIONS_ABOUT: _sections_about,
    queries.LAW_ABOUT: _law_about,
    queries.NAMING: _naming,
    queries.CONNECTED: _connected,
    queries.CONSULTATIONS: _consultations,
    queries.ANSWERS_OF: _answers_of,
    queries.CONSULTATIONS_CORRECTED: _consultations_corrected,
    queries.PENALTIES: _penalties,
}
