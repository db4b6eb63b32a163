"""The node that follows, and what a step costs: only the verifier charges loops, so that every run ends."""

from collections.abc import Mapping
from datetime import datetime

from agents.errors import Rejected
from schemas.cognition import CognitionStep, CognitiveState, CognitiveTree, Node

MAX_RECORD_BYTES = 512 * 1024
LINEAR: Mapping[Node, Node] = {
    Node.PLANNER: Node.THEME_ACTIVATOR,
    Node.THEME_ACTIVATOR: Node.DUAL_RETRIEVER,
    Node.DUAL_RETRIEVER: Node.EVIDENCE_REFINER,
    Node.EVIDENCE_REFINER: Node.MEMORY_CHECK,
    Node.MEMORY_CHECK: Node.REASONER,
    Node.REASONER: Node.VERIFIER,
    Node.QUERY_REWRITER: Node.DUAL_RETRIEVER,
    Node.INTEGRATOR: Node.MEMORY_STORE,
    Node.MEMORY_STORE: Node.END,
}


def max_steps(state: CognitiveState) -> int:
    """Nine nodes of a run without a loop, and six more for each round sent back."""
    return 9 + 6 * state.limits.max_rethink


def step_after(state: CognitiveState, node: Node, step: int, now: datetime) -> CognitionStep:
    """The record of a node that has run as the given step of its job, with its loop charged and its size bounded.

    Raises `Rejected` past the bound of steps, which no fault of a node can then exceed.
    """
    if step > max_steps(state):
        raise Rejected("endless_job", f"job {state.job_id} took more than {max_steps(state)} steps")
    following = Node.END if state.fallback else LINEAR.get(node) or route(state, now)
    if node is Node.VERIFIER and following is not Node.INTEGRATOR:
        # Routed first, then charged: the other way round a limit of 1 would forbid every return.
        state = _charged(state, now)
    spent = state.spent.model_copy(update={"steps": max(state.spent.steps, step)})
    state = trimmed(state.model_copy(update={"spent": spent}))
    return CognitionStep(job_id=state.job_id, step=step, node=node, next=following, state=state)


def route(state: CognitiveState, now: datetime) -> Node:
    """The node after the verifier."""
    may_return = state.rethink_count < state.limits.max_rethink and retryable(state, now)
    if state.verification_status != "rejected" or not may_return:
        return Node.INTEGRATOR
    return Node.QUERY_REWRITER if state.requires_new_search else Node.REASONER


def retryable(state: CognitiveState, now: datetime) -> tuple[str, ...]:
    """The rejected nodes that have tries, calls and time left."""
    if now >= state.deadline_at or state.mind_map is None or state.spent.llm_calls >= state.limits.max_llm_calls:
        return ()
    return tuple(node for node in state.mind_map.nodes if is_rejected(state, node) and _has_tries(state, node))


def is_rejected(state: CognitiveState, node: str) -> bool:
    """Whether the verifier rejected the answer of a node."""
    return node in state.verifications and state.verifications[node].status == "rejected"


def is_searched_again(state: CognitiveState, node: str) -> bool:
    """Whether a node sent back lacks evidence: in a mixed round only such nodes are searched again."""
    return state.requires_new_search and is_rejected(state, node) and state.verifications[node].needs_search


def _has_tries(state: CognitiveState, node: str) -> bool:
    if is_searched_again(state, node):
        left = sum(state.searches_again.values()) < state.limits.max_searches_again
        return left and state.searches_again.get(node, 0) < state.limits.max_rethink
    return state.rethinks.get(node, 0) < state.limits.max_rethink


def to_redo(tree: CognitiveTree, nodes: tuple[str, ...]) -> tuple[str, ...]:
    """The nodes, those that name them by `#n`, and the ancestors of all, in the order of the tree."""
    found: set[str] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            parent = tree.nodes[node].parent_id
            waiting += [parent] if parent is not None else []
            waiting += [each.node_id for each in tree.nodes.values() if node in each.uses]
    return tuple(node for node in tree.nodes if node in found)


def _charged(state: CognitiveState, now: datetime) -> CognitiveState:
    """The state of a run sent back: one round more, and one try more for each node done again."""
    counts = {True: dict(state.searches_again), False: dict(state.rethinks)}
    again: list[str] = []
    for node in retryable(state, now):
        searched = is_searched_again(state, node)
        if searched and sum(counts[True].values()) >= state.limits.max_searches_again:
            continue
        counts[searched][node] = counts[searched].get(node, 0) + 1
        again.append(node)
    return state.model_copy(
        update={
            "rethink_count": state.rethink_count + 1,
            "searches_again": counts[True],
            "rethinks": counts[False],
            "todo": to_redo(state.mind_map, tuple(again)) if state.mind_map else (),
        }
    )


def trimmed(state: CognitiveState) -> CognitiveState:
    """The state in at most `MAX_RECORD_BYTES` bytes of JSON where its passages allow: the lowest-ranked go first."""
    excess = len(state.model_dump_json().encode()) - MAX_RECORD_BYTES
    if excess <= 0:
        return state
    best: dict[str, float] = dict.fromkeys(state.passages, 0.0)
    for found in state.evidence_map.values():
        for each in found:
            best[each.chunk_uid] = max(best.get(each.chunk_uid, 0.0), each.score)
    gone: set[str] = set()
    for uid in sorted(state.passages, key=lambda uid: (best[uid], uid)):
        if excess <= 0:
            break
        gone.add(uid)
        excess -= len(state.passages[uid].model_dump_json().encode())
    return _without(state, gone)


def _without(state: CognitiveState, gone: set[str]) -> CognitiveState:
    def kept(found: Mapping[str, tuple[object, ...]]) -> dict[str, tuple[object, ...]]:
        return {
            node: tuple(each for each in listed if getattr(each, "chunk_uid") not in gone)  # noqa: B009
            for node, listed in found.items()
        }

    return state.model_copy(
        update={
            "passages": {uid: passage for uid, passage in state.passages.items() if uid not in gone},
            "evidence_map": kept(state.evidence_map),
            "refined_evidence": kept(state.refined_evidence),
            "discarded": (*state.discarded, *sorted(gone)),
        }
    )
