"""A model's division of a question: its conditions, then one level of sub-questions per call.

A reply is taken only where its sub-questions stand alone and hold no number or reference that was not asked for.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from agents.cognition.core.prompts.json_reply import first_list, line, objects, word
from agents.cognition.core.prompts.prompt import Prompt, composed, question, texts
from agents.cognition.decomposition.masking import asked, pattern
from agents.cognition.decomposition.parts import replaced
from agents.cognition.decomposition.tree import MAX_ANSWERED, ROOT
from agents.core.language import text
from agents.legal.citations import citation
from agents.legal.references import legal_references
from schemas.cognition import CognitionLimits, CognitiveState, CognitiveTree, MindMapNode, NodeState, QuestionKind

MAX_TOKENS, TEMPERATURE = 800, 0.0
MAX_CONDITIONS, MAX_QUESTION = 4, 400
# With the one for the conditions, two or three calls.
MAX_LEVELS = 2
_POINTER = re.compile(r"#(\d)(?![\w.]*\w)")


def ask_conditions(state: CognitiveState) -> Prompt:
    """The prompt for what restricts the whole answer."""
    return composed(texts()["conditions"], question(state.query), max_tokens=MAX_TOKENS, temperature=TEMPERATURE)


def read_conditions(reply: str, state: CognitiveState) -> tuple[str, ...] | None:
    """The conditions in a reply that the question has word for word; None for a reply that cannot be read. Total."""
    found = next((each["condicoes"] for each in objects(reply) if isinstance(each.get("condicoes"), list)), None)
    if found is None:
        return None
    whole = text.fold(state.query)
    said = [line(each, MAX_QUESTION).strip(" .,;") for each in found]
    return tuple(dict.fromkeys(each for each in said if each and text.fold(each) in whole))[:MAX_CONDITIONS]


def ask_level(state: CognitiveState, tree: CognitiveTree | None) -> Prompt | None:
    """The prompt for the next level: of the whole question, or of the leaves of a tree that go on; None without any."""
    waiting = [(each.node_id, each.question) for each in _waiting(tree)] if tree else [(ROOT, state.query)]
    data = [question(said, name) for name, said in waiting]
    if not data:
        return None
    return composed(texts()["decompose"], *data, max_tokens=MAX_TOKENS, temperature=TEMPERATURE)


def read_level(reply: str, state: CognitiveState, tree: CognitiveTree | None) -> CognitiveTree | None:
    """The tree with one level more; None where a reply has no two good sub-questions for any question. Total."""
    items = [each for each in first_list(reply) if isinstance(each, dict)]
    if tree is None:
        root = MindMapNode(node_id=ROOT, question=state.query, level=0, state=NodeState.CONTINUE)
        tree = _tree(state, {ROOT: root}, state.limits)
    waiting = _waiting(tree)
    nodes = dict(tree.nodes)
    for parent in waiting:
        mine = [each for each in items if len(waiting) == 1 or str(each.get("de", "")) == parent.node_id]
        _add(nodes, parent, mine, state)
    return _tree(state, nodes, state.limits) if len(nodes) > len(tree.nodes) else None


def closed(tree: CognitiveTree, conditions: Sequence[str]) -> CognitiveTree:
    """The tree with its conditions, in which no leaf waits for more."""
    nodes = {
        name: node if node.children else node.model_copy(update={"state": NodeState.END})
        for name, node in tree.nodes.items()
    }
    return tree.model_copy(update={"nodes": nodes, "conditions": tuple(conditions)})


def _tree(state: CognitiveState, nodes: Mapping[str, MindMapNode], limits: CognitionLimits) -> CognitiveTree:
    return CognitiveTree(
        root_question=state.query, nodes=nodes, max_depth=limits.max_depth, max_children=limits.max_children
    )


def _waiting(tree: CognitiveTree) -> tuple[MindMapNode, ...]:
    """The leaves to be divided further; one that waits for an answer is divided once that is known."""
    return tuple(each for each in tree.leaves() if each.state is NodeState.CONTINUE and not each.uses)


def _add(
    nodes: dict[str, MindMapNode], parent: MindMapNode, items: Sequence[Mapping[str, Any]], state: CognitiveState
) -> None:
    """Add the sub-questions of one parent, if there are two or more good ones and room for all."""
    seen = {text.content_set(each.question, state.lang) for each in nodes.values() if each.node_id != ROOT}
    kept: list[tuple[str, Mapping[str, Any]]] = []
    for each in items:
        said = line(each.get("pergunta"), MAX_QUESTION)
        words = text.content_set(said, state.lang)
        # A dropped sub-question would leave its number to another.
        if not _is_good(said, len(kept), state) or words in seen:
            return
        seen.add(words)
        kept.append((said, each))
    room = min(state.limits.max_children, MAX_ANSWERED - len(nodes))
    if not 2 <= len(kept) <= room or parent.level >= state.limits.max_depth:
        return
    prefix = "" if parent.node_id == ROOT else f"{parent.node_id}."
    ids = [f"{prefix}{number}" for number in range(1, len(kept) + 1)]
    for name, (said, each) in zip(ids, kept, strict=True):
        pointers = _pointers(said, state)
        nodes[name] = MindMapNode(
            node_id=name,
            question=replaced(said, pointers, lambda place: f"#{ids[int(place) - 1]}"),
            level=parent.level + 1,
            parent_id=parent.node_id,
            uses=tuple(ids[int(place) - 1] for place in pointers),
            state=NodeState.CONTINUE if word(each.get("estado")) == "continue" else NodeState.END,
        )
    kind = "bridge" if nodes[ids[-1]].uses else _kind(state, parent, len(ids))
    nodes[parent.node_id] = parent.model_copy(
        update={"children": tuple(ids), "kind": kind, "state": NodeState.CONTINUE}
    )


def _kind(state: CognitiveState, parent: MindMapNode, parts: int) -> QuestionKind:
    """How the answers compose: as the rules say of the whole question, where they see as many parts."""
    rules = state.mind_map.root() if state.mind_map and parent.node_id == ROOT else None
    return rules.kind if rules and rules.kind in ("comparison", "both") and len(rules.children) == parts else "list"


def _pointers(said: str, state: CognitiveState) -> tuple[str, ...]:
    """The numbers of the sub-questions that one points to, `#1`; what the question itself writes so is none."""
    return tuple(dict.fromkeys(each for each in _POINTER.findall(said) if each not in _POINTER.findall(state.query)))


def _is_good(said: str, place: int, state: CognitiveState) -> bool:
    """Whether a sub-question has content, points to earlier ones only, and invents no reference, number or pronoun."""
    pointers = _pointers(said, state)
    bare = replaced(said, pointers, lambda _: "")
    if not text.content_set(bare, state.lang) or any(not 0 < int(each) <= place for each in pointers):
        return False
    if {citation(each) for each in legal_references(bare)} - {citation(each) for each in legal_references(state.query)}:
        return False
    if set(re.findall(r"\d+", bare)) - set(re.findall(r"\d+", state.query)):
        return False
    open_now = pattern(state.lang, r"\b<<pronouns>>(?=\W|$)")
    new, whole = (open_now.search(asked(each, state.lang).flat) for each in (bare, state.query))
    return new is None or whole is not None
