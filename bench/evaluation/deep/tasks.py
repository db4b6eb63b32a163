"""Predictions by law and by deep answers, packages that may be left out."""

from collections.abc import Iterator

from agents.cognition.decomposition.parts import replaced
from agents.cognition.decomposition.tree import decompose
from agents.core.documents import entities
from agents.legal import mentions as legal
from agents.legal.references import legal_references
from bench.evaluation.measures import Item
from bench.evaluation.predictions import text_of
from schemas.cognition import CognitionLimits, CognitiveTree

LEGAL_TYPES = {"jurisprudencia": "JURISPRUDENCIA", "legislacao": "LEGISLACAO"}
NAMED_TYPES = {"pessoa": "PESSOA", "organizacao": "ORGANIZACAO", "sigla": "ORGANIZACAO"}


def legal_entities(item: Item) -> Iterator[Item]:
    """`spans`: mentions of law, and the people and organisations that documents are indexed by."""
    text = text_of(item)
    spans = {(each.start, each.end, LEGAL_TYPES[each.kind]) for each in legal.mentions(text)}
    for named in entities.entities(text, legal_references):
        if (kind := NAMED_TYPES.get(named.kind)) and (start := text.find(named.name)) >= 0:
            spans.add((start, start + len(named.name), kind))
    yield {
        "id": item["id"],
        "spans": [dict(zip(("start", "end", "type"), each, strict=True)) for each in sorted(spans)],
    }


def decomposition(item: Item) -> Iterator[Item]:
    """`sub_questions` in the order they are answered, with `#n` for the n-th; a comparison ends with what compares."""
    tree = decompose(text_of(item), str(item.get("lang", "en")), CognitionLimits())
    kind = "comparison" if tree.root().kind in ("comparison", "both") else "bridge"
    yield {"id": item["id"], "sub_questions": steps(tree), "kind": kind}


def steps(tree: CognitiveTree) -> list[str]:
    """The nodes of a tree as steps, children first; inner nodes that only list their children are no steps."""
    done: dict[str, int] = {}
    said: list[str] = []

    def walk(node_id: str) -> None:
        node = tree.nodes[node_id]
        for child in node.children:
            walk(child)
        if not node.children:
            said.append(replaced(node.question, node.uses, lambda name: f"#{done[name]}"))
        elif node.kind in ("comparison", "both"):
            named = " and ".join(f"#{done[child]}" for child in node.children)
            said.append(f"Are both {named} true?" if node.kind == "both" else f"How do {named} compare?")
        done[node_id] = len(said)

    walk(tree.root().node_id)
    return said
