"""Division of a question into a tree of sub-questions: rules R1 to R9, breadth-first, no model."""

from collections import deque

from agents.cognition.decomposition.conditions import without_conditions
from agents.cognition.decomposition.masking import Asked, asked
from agents.cognition.decomposition.parts import ANSWER, Part, replaced
from agents.cognition.decomposition.splitting import split
from agents.core.language import text
from schemas.cognition import CognitionLimits, CognitiveTree, MindMapNode, NodeState

ROOT = "0"
# 3 + 1 + 2N + 1 calls of 20; a tree without a model is no larger.
MAX_ANSWERED = 7


def decompose(question: str, lang: str, limits: CognitionLimits) -> CognitiveTree:
    """The tree of a question: the root `0`, its parts `1`, `2`, theirs `1.1`; the root alone where nothing divides it.

    Only the first 2,000 characters are divided; the root holds the question as written. At most seven nodes are
    answered, inner ones too. `#1` in a question stands for the answer of the node `1`. Never raises.
    """
    whole = asked(question, lang)
    conditions, main = without_conditions(whole)
    nodes = {ROOT: MindMapNode(node_id=ROOT, question=question, level=0)}
    waiting = deque([(ROOT, main)])
    seen = {text.content_set(main, lang)}
    while waiting:
        node_id, said = waiting.popleft()
        if nodes[node_id].level < limits.max_depth:
            waiting += _divide(nodes, node_id, asked(said, lang), limits, seen)
    if len(nodes) == 1:
        conditions = ()
    return CognitiveTree(
        root_question=question,
        conditions=conditions,
        nodes=nodes,
        max_depth=limits.max_depth,
        max_children=limits.max_children,
    )


def _divide(
    nodes: dict[str, MindMapNode], node_id: str, read: Asked, limits: CognitionLimits, seen: set[frozenset[str]]
) -> list[tuple[str, str]]:
    """Add the parts of a node to the tree; they are returned, those whose words are new, to be divided further."""
    node = nodes[node_id]
    # A question that waits for an answer is divided once that answer is known.
    made = None if node.uses else split(read)
    if made is None:
        return []
    room = min(limits.max_children, MAX_ANSWERED - len(nodes))
    # A bridge is never cut: its last part is what was asked.
    parts = [each for each in made.parts if node_id == ROOT or text.content_set(each.question, read.lang) not in seen]
    parts = parts[:room] if made.kind != "bridge" or room >= len(parts) else []
    if len(parts) < 2:
        return []
    prefix = "" if node_id == ROOT else f"{node_id}."
    ids = [f"{prefix}{number}" for number, _ in enumerate(parts, 1)]
    for each_id, part in zip(ids, parts, strict=True):
        seen.add(text.content_set(part.question, read.lang))
        nodes[each_id] = _node(each_id, node_id, part, ids, node.level + 1)
    nodes[node_id] = node.model_copy(update={"children": tuple(ids), "kind": made.kind, "state": NodeState.CONTINUE})
    return [(each_id, nodes[each_id].question) for each_id in ids]


def _node(node_id: str, parent: str, part: Part, ids: list[str], level: int) -> MindMapNode:
    """The node of a part, with the ids of the tree in the places of its answers."""
    uses = tuple(ids[at] for at in part.uses)
    # What the user wrote just like a reference is set apart from it.
    question = replaced(part.question, uses, lambda name: f"# {name}")
    for each in uses:
        question = question.replace(ANSWER, f"#{each}", 1)
    return MindMapNode(
        node_id=node_id, question=question, level=level, parent_id=parent, uses=uses, expects=part.expects
    )
