"""What is shown of a node of the tree: its question, evidence, counters and answer, and the verdict on each claim.

All of it is read off the state after a step, so that a step read again shows the same.
"""

from collections.abc import Iterator, Mapping
from typing import Literal

from agents.cognition.core.route import is_searched_again
from schemas.base import JsonObject
from schemas.cognition import Check, Claim, ClaimVerdict, CognitionStep, CognitiveState, MindMapNode, Node

Shown = Literal["decomposing", "pending", "verified", "failed", "abstain"]
CHECK_NAMES = (
    "evidence_present",
    "citation_known",
    "span_proved",
    "normative_cited",
    "provisions_bound",
    "amounts_known",
    "case_numbers_known",
    "polarity_kept",
    "covered",
    "both_sides_cited",
    "hedged",
    "competent",
)
VERDICTS: Mapping[str, Shown] = {"approved": "verified", "rejected": "failed", "abstain": "abstain"}
# Nodes of cognition in which a sub-question that was sent back has no new verdict yet, and those before a refined one.
REDOING = frozenset({Node.QUERY_REWRITER, Node.DUAL_RETRIEVER, Node.EVIDENCE_REFINER, Node.MEMORY_CHECK, Node.REASONER})
FINDING = frozenset({Node.PLANNER, Node.THEME_ACTIVATOR, Node.DUAL_RETRIEVER})


def tree_nodes(state: CognitiveState) -> tuple[MindMapNode, ...]:
    """The nodes of the tree, in its order; none before there is one."""
    return tuple(state.mind_map.nodes.values()) if state.mind_map else ()


def shown_state(step: CognitionStep, node_id: str) -> Shown:
    """Whether a sub-question waits, or how it was judged."""
    state = step.state
    if step.node in REDOING and state.todo is not None and node_id in state.todo:
        return "pending"
    answer = state.sub_answers.get(node_id)
    if answer is not None and answer.status == "abstained":
        return "abstain"
    judged = state.verifications.get(node_id)
    return VERDICTS[judged.status] if judged else "pending"


def node_document(step: CognitionStep, node: MindMapNode, shown: Shown | None = None) -> JsonObject:
    """A node as in the state document; `shown` where its state is another than the step's record says."""
    state, name = step.state, node.node_id
    answer = state.sub_answers.get(name)
    found: dict[str, object] = {
        "node_id": name,
        "question": node.question,
        "children": list(node.children),
        "level": node.level,
        "kind": node.kind,
        "state": shown or shown_state(step, name),
        "evidence": len(_evidence(step, node)),
        "sources": _sources(state, name),
        "conflict": any(each.node_id == name for each in state.conflicts),
        "reused": answer is not None and answer.reused_from is not None,
        "rethinks": state.rethinks.get(name, 0),
        "searches": len({each.attempt for each in state.sources if each.node_id == name}),
        "missing": list(answer.missing) if answer else [],
        "claims": list(_claims(state, name)),
    }
    if node.parent_id is not None:
        found["parent_id"] = node.parent_id
    if answer is not None:
        found["answer"] = answer.text
    return found


def searched(step: CognitionStep) -> tuple[MindMapNode, ...]:
    """The leaves that the retriever has searched in this step."""
    state = step.state
    again = bool(state.rethink_count)
    return tuple(
        node
        for node in tree_nodes(state)
        if not node.children and (is_searched_again(state, node.node_id) if again else _sources(state, node.node_id))
    )


def _evidence(step: CognitionStep, node: MindMapNode) -> frozenset[str]:
    """The passages of a sub-question, of those below it for an inner node."""
    state = step.state
    listed = state.evidence_map if step.node in FINDING else state.refined_evidence
    nodes = {each.node_id: each for each in tree_nodes(state)}
    below = frozenset[str]().union(*(_evidence(step, nodes[child]) for child in node.children))
    return below | {each.chunk_uid for each in listed.get(node.node_id, ())}


def _sources(state: CognitiveState, node_id: str) -> dict[str, JsonObject]:
    """What each source answered last."""
    mine = (each for each in state.sources if each.node_id == node_id)
    return {
        each.source: {"status": each.status, "found": each.found}
        for each in sorted(mine, key=lambda each: each.attempt)
    }


def _claims(state: CognitiveState, node_id: str) -> Iterator[JsonObject]:
    """The claims of an answer, each with what the checks said of it; without them where it was not checked."""
    answer, judged = state.sub_answers.get(node_id), state.verifications.get(node_id)
    verdicts = {(each.text, each.cite): each for each in (judged.claims if judged else ())}
    for claim in answer.claims if answer else ():
        yield _claim(claim, verdicts.get((claim.text, claim.cite)))


def _claim(claim: Claim, verdict: ClaimVerdict | None) -> JsonObject:
    return {
        "text": claim.text,
        "cite": claim.cite,
        "chunk_uid": claim.chunk_uid,
        "start": claim.start,
        "end": claim.end,
        "support": verdict.support if verdict else 0.0,
        "checks": [_check(each) for each in verdict.checks] if verdict else [],
    }


def _check(check: Check) -> JsonObject:
    return {
        "number": check.number,
        "name": CHECK_NAMES[check.number - 1],
        "verdict": check.verdict,
        "expected": check.expected,
        "found": check.found,
    }
