"""The retriever: what to search for each leaf, in waves, and what the sources found, merged."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from agents.cognition.core.passages import is_provision
from agents.cognition.core.route import is_searched_again
from agents.cognition.core.sources import adjusted
from agents.cognition.decomposition.parts import replaced
from agents.core.documents.entities import entities
from agents.core.language import text
from agents.legal.references import legal_references
from schemas.cognition import CognitiveState, CognitiveTree, EvidencePassage, LeafEvidence, MindMapNode, SourceAnswer

# Passages kept for one leaf, before they are refined.
MAX_EVIDENCE = 6
# An entity that the first passage of the best ones names counts this much more than that of the next.
RANK_DECAY = 0.7
_KINDS: Mapping[str, Collection[str]] = {
    "provision": ("dispositivo",),
    "ruling": ("jurisprudencia", "processo"),
    "case": ("processo",),
    "act": ("dispositivo",),
    "person": ("pessoa", "nome"),
    "organisation": ("organizacao", "sigla"),
    "place": ("nome",),
    "any": ("dispositivo", "jurisprudencia", "processo", "pessoa", "organizacao", "nome", "sigla"),
}


@dataclass(frozen=True, slots=True)
class LeafSearch:
    """One search for one leaf: what to search, and the words that complete it."""

    node_id: str
    query: str
    context: str
    attempt: int


@dataclass(frozen=True, slots=True)
class LeafFound:
    """What a search found, best first, each with its score 0-1, and what every source answered.

    `answerable` is the probability that the answer is among it.
    """

    search: LeafSearch
    answerable: float
    passages: Sequence[tuple[EvidencePassage, LeafEvidence]]
    sources: Sequence[SourceAnswer]


def searches(state: CognitiveState) -> tuple[LeafSearch, ...]:
    """The searches that can be made now: of leaves not yet searched in this round whose `#n` are all found.

    The answer of an inner node is found once all leaves below it are. Leaves that wait for each other are searched with
    the descriptions of what they name. In a round sent back only the leaves that lack evidence are searched, with what
    the rewriter made of them.
    """
    tree = state.mind_map
    if tree is None:
        return ()
    waiting = {leaf.node_id: leaf for leaf in tree.leaves() if _is_open(state, leaf)}
    ready = [leaf for leaf in waiting.values() if waiting.keys().isdisjoint(_awaited(tree, leaf))]
    return tuple(_search(state, leaf) for leaf in ready or waiting.values())


def _awaited(tree: CognitiveTree, leaf: MindMapNode) -> frozenset[str]:
    """The leaves whose answers a leaf names, those below the inner nodes that it names, never itself."""
    return frozenset(each.node_id for named in leaf.uses for each in _leaves_below(tree, named)) - {leaf.node_id}


def _leaves_below(tree: CognitiveTree, node_id: str) -> Iterator[MindMapNode]:
    """The leaves of a node in order; itself where it is one."""
    node = tree.nodes[node_id]
    if not node.children:
        yield node
    for child in node.children:
        yield from _leaves_below(tree, child)


def _attempt(state: CognitiveState, leaf: MindMapNode) -> int:
    return state.searches_again.get(leaf.node_id, 0)


def _is_open(state: CognitiveState, leaf: MindMapNode) -> bool:
    if state.rethink_count and not is_searched_again(state, leaf.node_id):
        return False
    tried = [each.attempt for each in state.sources if each.node_id == leaf.node_id]
    return not tried or (max(tried) < _attempt(state, leaf) and not _is_seen(state, leaf))


def _is_seen(state: CognitiveState, leaf: MindMapNode) -> bool:
    """Whether a leaf was already searched by an equal query: it would find the same."""
    query = bound(state, leaf, state.queries.get(leaf.node_id))
    return signature(query, state.lang) in state.queries_seen.get(leaf.node_id, ())


def _search(state: CognitiveState, leaf: MindMapNode) -> LeafSearch:
    query = bound(state, leaf, state.queries.get(leaf.node_id))
    whole = state.query if leaf.parent_id is not None else ""
    context = "\n".join(filter(None, (whole, *(state.mind_map.conditions if state.mind_map else ()))))
    return LeafSearch(leaf.node_id, query, context, _attempt(state, leaf))


def bound(state: CognitiveState, node: MindMapNode, said: str | None = None) -> str:
    """The question of a node, or what is said in its place, with what was found for each node that it uses.

    Where nothing was found, that node's question takes the place. Any other `#n` is the user's own.
    """

    def value(name: str) -> str:
        found = state.bindings.get(name)
        return found or (state.mind_map.nodes[name].question.rstrip("?") if state.mind_map else f"#{name}")

    return replaced(node.question if said is None else said, node.uses, value)


def signature(query: str, lang: str) -> str:
    """The distinct content words of a query in order: two queries of one signature find the same."""
    return " ".join(sorted(text.content_set(query, lang)))


def merged(state: CognitiveState, found: Sequence[LeafFound]) -> CognitiveState:
    """The state with what was found: passages once by id, evidence of each leaf best first, pointers bound."""
    passages, evidence = dict(state.passages), dict(state.evidence_map)
    seen, bindings, answerable = dict(state.queries_seen), dict(state.bindings), dict(state.answerable)
    for each in found:
        node = each.search.node_id
        best = {one.chunk_uid: one for one in evidence.get(node, ())}
        for passage, one in each.passages:
            passages.setdefault(passage.chunk_uid, passage)
            known = best.get(one.chunk_uid)
            best[one.chunk_uid] = _joined(known, one) if known else one
        ranked = sorted(best.values(), key=lambda one: (-one.score, one.chunk_uid))
        evidence[node] = tuple(ranked[:MAX_EVIDENCE])
        answerable[node] = max(answerable.get(node, 0.0), each.answerable)
        # What no source answered may be asked again.
        if any(answer.status in ("ok", "empty") for answer in each.sources):
            seen[node] = (*seen.get(node, ()), signature(each.search.query, state.lang))
        if state.mind_map:
            for named in _answered_by(state.mind_map, node):
                if name := _binding(named, evidence[node], passages):
                    bindings[named.node_id] = name
    spent = state.spent.model_copy(update={"searches": state.spent.searches + len(found)})
    used = {one.chunk_uid for listed in evidence.values() for one in listed}
    return state.model_copy(
        update={
            "passages": {uid: passage for uid, passage in passages.items() if uid in used},
            "evidence_map": evidence,
            "queries_seen": seen,
            "bindings": bindings,
            "answerable": answerable,
            "sources": (*state.sources, *(answer for each in found for answer in each.sources)),
            "spent": spent,
        }
    )


def _answered_by(tree: CognitiveTree, leaf: str) -> Iterator[MindMapNode]:
    """A leaf, and the bridges above it that it ends and that others name: their answer is that of their last part."""
    node, named = tree.nodes[leaf], {name for each in tree.nodes.values() for name in each.uses}
    yield node
    while node.parent_id is not None:
        above = tree.nodes[node.parent_id]
        if above.kind != "bridge" or above.children[-1] != node.node_id:
            return
        if above.node_id in named:
            yield above
        node = above


def weighed(found: LeafFound, by: Mapping[str, float]) -> LeafFound:
    """What a search found, with what earlier answers and corrections say of its passages."""
    ranked = [(passage, adjusted(one, by)) for passage, one in found.passages]
    return replace(found, passages=sorted(ranked, key=lambda each: (-each[1].score, each[1].chunk_uid)))


def _joined(one: LeafEvidence, other: LeafEvidence) -> LeafEvidence:
    sources = tuple(dict.fromkeys((*one.sources, *other.sources)))
    better = one if one.score >= other.score else other
    return better.model_copy(update={"sources": sources})


def _binding(node: MindMapNode, found: Sequence[LeafEvidence], passages: Mapping[str, EvidencePassage]) -> str:
    """The best supported entity of the expected type in the evidence of a node, that its question does not name."""
    asked = text.fold(node.question)
    weights: dict[str, float] = {}
    for rank, one in enumerate(found):
        passage = passages[one.chunk_uid]
        heading = passage.title.rpartition(" › ")[2]
        named = [
            each.name for each in entities(passage.text, legal_references) if each.kind in _KINDS.get(node.expects, ())
        ]
        if node.expects in ("provision", "any") and is_provision(passage.cite):
            named.insert(0, heading)
        for name in dict.fromkeys(named):
            if text.fold(name) not in asked:
                weights[name] = weights.get(name, 0.0) + one.score * RANK_DECAY**rank
    return max(weights, key=lambda name: weights[name]) if weights else ""
