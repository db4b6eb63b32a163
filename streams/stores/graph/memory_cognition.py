"""The reads of the in-memory graph for complex questions, with the semantics of their Cypher texts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from streams.stores.graph import cognition_queries as queries
from streams.stores.graph.schema import relation

if TYPE_CHECKING:
    from streams.stores.graph.memory import MemoryEngine

Node = dict[str, Any]
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


def _documents_of(engine: "MemoryEngine", theme: Node, asked: Asked) -> Iterator[Node]:
    for document, props, about in engine.joined("ABOUT_THEME"):
        is_its = about["id"] == theme["id"] and document["tenant_id"] == theme["tenant_id"]
        if is_its and props.get("access", asked["access"] + 1) <= asked["access"]:
            yield document


def _themes(engine: "MemoryEngine", asked: Asked) -> Sequence[Node]:
    found = []
    for theme in engine.all("Tema", asked["tenants"]):
        keys = theme.get("term_keys", ())
        met = sum(key in asked["terms"] for key in keys)
        if _is_known(theme, asked) and met > 0 and len(keys) <= 2 * met and any(_documents_of(engine, theme, asked)):
            named = {"id": theme["id"], "name": theme["nome"], "level": theme["nivel"]}
            found.append({**named, "met": met, "wanted": len(keys)})
    found.sort(key=lambda row: (-row["met"] / row["wanted"], -row["met"], row["id"]))
    return found[: asked["limit"]]


def _near_themes(engine: "MemoryEngine", asked: Asked) -> Sequence[Node]:
    found = []
    for lower, _, upper in engine.joined("SUBTEMA_DE"):
        for theme, near in ((lower, upper), (upper, lower)):
            if theme["id"] not in asked["ids"] or theme["tenant_id"] not in asked["tenants"]:
                continue
            is_own = near["tenant_id"] == theme["tenant_id"] and _is_known(near, asked)
            if is_own and any(_documents_of(engine, near, asked)):
                named = {"id": near["id"], "name": near["nome"], "level": near["nivel"]}
                found.append({**named, "near": theme["id"]})
    return sorted(found, key=lambda row: (row["id"], row["near"]))[: asked["limit"]]


def _documents_about(engine: "MemoryEngine", asked: Asked) -> Sequence[Node]:
    themes = [engine.one("Tema", each, asked["tenants"]) for each in asked["ids"]]
    return [
        {"id": theme["id"], "document": document["id"]}
        for theme in themes
        if theme is not None
        for document in _documents_of(engine, theme, asked)
    ]


def _sections_about(engine: "MemoryEngine", asked: Asked) -> Sequence[Node]:
    parts: dict[str, list[Node]] = {}
    for chunk, _, document in engine.joined("PART_OF"):
        if chunk["tenant_id"] == document["tenant_id"] and _is_visible(chunk, asked):
            parts.setdefault(document["id"], []).append(chunk)
    found = {
        (chunk["position"], chunk["id"], theme["id"], chunk["document_id"])
        for document, _, theme in engine.joined("ABOUT_THEME")
        if theme["id"] in asked["ids"]
        and theme["tenant_id"] in asked["tenants"]
        and document["tenant_id"] == theme["tenant_id"]
        and "nome" in theme
        for chunk in parts.get(document["id"], ())
        if theme["nome"].lower() in chunk["title"].lower()
    }
    rows = [{"id": id_, "by": by, "position": at, "document_id": of} for at, id_, by, of in sorted(found)]
    return rows[: asked["limit"]]


def _law_about(engine: "MemoryEngine", asked: Asked) -> Sequence[Node]:
    found = [
        _law(theme, type_, props, node)
        for type_ in ("TRATA_DE", "SOBRE_TEMA", "RELACIONADO_A")
        for node, props, theme in engine.joined(type_)
        if theme["id"] in asked["ids"]
        and theme["tenant_id"] in asked["tenants"]
        and node["tenant_id"] == theme["tenant_id"]
        and _is_known(node, asked)
    ]
    return sorted(found, key=itemgetter("below", "id", "by"))[: asked["limit"]]


def _law(theme: Node, type_: str, props: Node, node: Node) -> Node:
    named = {name: node.get(known) for name, known in _LAW_NAMES.items()}
    share = float(props["relevancia"])
    return {"by": theme["id"], "link": relation(type_), "id": node["id"], "below": -share, **named}


_LAW_NAMES = {"case": "referencia", "ruling": "numero", "law": "lei", "article": "artigo"}


def _mentions(engine: "MemoryEngine", most: int) -> tuple[dict[str, list[Node]], dict[str, list[Node]]]:
    """The passages of each entity, and the entities of each passage; of entities that tell passages apart."""
    chunks: dict[str, list[Node]] = {}
    entities: dict[str, list[Node]] = {}
    for chunk, _, entity in engine.joined("MENTIONS"):
        chunks.setdefault(entity["id"], []).append(chunk)
        entities.setdefault(chunk["id"], []).append(entity)
    few = {key: found for key, found in chunks.items() if len(found) <= most}
    return few, {key: [each for each in found if each["id"] in few] for key, found in entities.items()}


def _naming(engine: "MemoryEngine", asked: Asked) -> Sequence[Node]:
    chunks, _ = _mentions(engine, asked["most"])
    found = [
        {"id": chunk["id"], "entity": entity["id"], "document_id": chunk["document_id"]}
        for each in dict.fromkeys(asked["ids"])
        if (entity := engine.one("Entity", each, asked["tenants"])) is not None
        for chunk in chunks.get(each, ())
        if chunk["tenant_id"] == entity["tenant_id"] and _is_visible(chunk, asked)
    ]
    return sorted(found, key=lambda row: (row["id"], row["entity"]))[: asked["limit"]]


def _connected(engine: "MemoryEngine", asked: Asked) -> Sequence[Node]:
    chunks, entities = _mentions(engine, asked["most"])
    shared: dict[tuple[str, str], dict[str, str]] = {}
    for each in asked["ids"]:
        start = engine.one("Chunk", each, asked["tenants"])
        for entity in entities.get(each, ()) if start is not None else ():
            for chunk in chunks[entity["id"]]:
                if not entity["tenant_id"] == chunk["tenant_id"] == (start or {}).get("tenant_id"):
                    continue
                if chunk["id"] not in asked["ids"] and _is_visible(chunk, asked):
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


def _consultations(engine: "MemoryEngine", asked: Asked) -> Sequence[Node]:
    found = [
        {
            **{"id": node["id"], "question": node["pergunta_usuario"], "status": node["verification_status"]},
            **{"access_level": node["access_level"], "scope": node.get("scope"), "case_id": node.get("case_id")},
            **_asked_by(node),
            "created_at": node["created_at"],
        }
        for node in engine.all("Consulta", [asked["tenant"]])
        if node.get("signature") == asked["signature"] and _is_known(node, asked)
    ]
    found.sort(key=lambda row: row["id"])
    return sorted(found, key=lambda row: row["created_at"], reverse=True)[: asked["limit"]]


def _answers_of(engine: "MemoryEngine", asked: Asked) -> Sequence[Node]:
    found = [
        {
            **{"consultation": node["id"], "id": sub["id"], "question": sub["texto"], "answer": sub["resposta"]},
            **{name: sub.get(name) for name in ("signature", "chunks", "evidence", "confidence", "verified")},
        }
        for node, _, sub in engine.joined("DECOMPOSTA_EM")
        if node["id"] in asked["ids"]
        and node["tenant_id"] == asked["tenant"]
        and sub["tenant_id"] == asked["tenant"]
        and _is_known(sub, asked)
    ]
    return sorted(found, key=lambda row: (row["consultation"], row["id"]))


def _corrections(engine: "MemoryEngine", asked: Asked) -> Iterator[tuple[Node, Node]]:
    for node, _, correction in engine.joined("CORRIGIDA_POR"):
        is_own = node["tenant_id"] == asked["tenant"] and correction["tenant_id"] == asked["tenant"]
        if is_own and _is_known(correction, asked):
            yield node, correction


def _consultations_corrected(engine: "MemoryEngine", asked: Asked) -> Sequence[Node]:
    found = {
        (node["id"], correction["id"]): _asked_by(correction)
        for node, correction in _corrections(engine, asked)
        if node["id"] in asked["ids"] and correction["tipo"] != "formatacao"
    }
    return [{"id": each, "correction": correction, **by} for (each, correction), by in sorted(found.items())]


def _penalties(engine: "MemoryEngine", asked: Asked) -> Sequence[Node]:
    found = [
        {
            **{"id": chunk["id"], "weight": props.get("peso"), "correction": correction["id"]},
            **{"question": node["pergunta_usuario"], "of": node["id"], "document_id": chunk.get("document_id")},
            **_asked_by(correction),
        }
        for node, correction in _corrections(engine, asked)
        if _is_known(node, asked)
        for start, props, chunk in engine.joined("PENALIZA:Chunk")
        if start["id"] == correction["id"] and chunk["id"] in asked["ids"] and chunk["tenant_id"] in asked["tenants"]
    ]
    return sorted(found, key=lambda row: (row["id"], row["correction"], row["of"]))


READING: "dict[str, Callable[[MemoryEngine, Asked], Sequence[Node]]]" = {
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
