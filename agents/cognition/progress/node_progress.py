"""What each node of cognition tells of its step: events of the run and of single sub-questions, not yet numbered."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from agents.cognition.core.integrator import is_delivered
from agents.cognition.core.route import is_searched_again, max_steps
from agents.cognition.progress.tree_nodes import node_document, searched, tree_nodes
from agents.core.progress.reduction import set_to
from schemas.base import JsonObject
from schemas.cognition import AnswerStatus, CognitionStep, CognitiveState, MindMapNode, Node
from schemas.progress import CognitionProgress, CogragStatus, PatchOperation


class Told(NamedTuple):
    """An event without its number: `patch` lacks the status, which every event sets."""

    type: CognitionProgress
    status: CogragStatus
    data: JsonObject
    patch: tuple[PatchOperation, ...] = ()
    node_id: str | None = None


Telling = Callable[[CognitionStep], Iterator[Told]]


def spent(step: CognitionStep) -> JsonObject:
    """What the run has spent of what it may spend."""
    state = step.state
    return {
        "steps": step.step,
        "max_steps": max_steps(state),
        "searches": state.spent.searches,
        "llm_calls": state.spent.llm_calls,
        "max_llm_calls": state.limits.max_llm_calls,
        "rethinks": state.rethink_count,
        "max_rethink": state.limits.max_rethink,
    }


def answer_status(state: CognitiveState) -> AnswerStatus:
    """How far the whole question was answered."""
    if state.verification_status == "abstain":
        return "abstained"
    return "partial" if state.abstain_info else "answered"


def _of_node(kind: CognitionProgress, status: CogragStatus, step: CognitionStep, node: MindMapNode) -> Told:
    """An event of one node: its patch is the whole node, its data what matters most of it."""
    shown = node_document(step, node)
    said = {name: shown[name] for name in ("question", "state", "evidence", "conflict", "missing")}
    return Told(kind, status, said, (set_to(shown, "nodes", node.node_id),), node.node_id)


def _nodes(step: CognitionStep, nodes: Iterable[MindMapNode]) -> tuple[PatchOperation, ...]:
    return tuple(set_to(node_document(step, node), "nodes", node.node_id) for node in nodes)


def _inner(state: CognitiveState) -> list[MindMapNode]:
    return [node for node in tree_nodes(state) if node.children]


def _is_reused(state: CognitiveState, node_id: str) -> bool:
    answer = state.sub_answers.get(node_id)
    return answer is not None and answer.reused_from is not None


def _judged(step: CognitionStep) -> frozenset[str]:
    """The nodes with a verdict of this step; of a run sent back all, since the record names those to be done next."""
    state = step.state
    if step.next is Node.INTEGRATOR and state.todo is not None:
        return frozenset(state.todo)
    return frozenset(state.verifications)


def _verdict(state: CognitiveState, node_id: str) -> JsonObject:
    """The verdict on a node in numbers: its claims, and the checks that any of them did not pass."""
    judged = state.verifications[node_id]
    checks = {
        check.number for claim in judged.claims for check in claim.checks if check.verdict in ("fail", "unverified")
    }
    return {
        "status": judged.status,
        "claims": len(judged.claims),
        "failed_checks": sorted(checks),
        "attempts": 1 + state.rethinks.get(node_id, 0) + state.searches_again.get(node_id, 0),
    }


def _cited(state: CognitiveState) -> dict[str, JsonObject]:
    """The passages that the delivered answers cite."""
    answers = [each for each in state.sub_answers.values() if is_delivered(state, each)]
    cited = dict.fromkeys(claim.chunk_uid for each in answers for claim in each.claims)
    kept = {"chunk_uid", "title", "cite", "text", "document_id"}
    return {uid: state.passages[uid].model_dump(mode="json", include=kept) for uid in cited if uid in state.passages}


def begun(step: CognitionStep) -> tuple[PatchOperation, ...]:
    """The keys of a state document that every run has."""
    state = step.state
    empty: JsonObject = {
        "job_id": state.job_id,
        "message_id": state.message_id,
        "question": state.query,
        "conditions": _conditions(state),
        "nodes": {},
        "passages": {},
        "themes": [],
        "conflicts": {},
        "budget": spent(step),
        "sections": [],
        "citations": [],
        "missing": [],
    }
    return tuple(set_to(value, name) for name, value in empty.items())


def _conditions(state: CognitiveState) -> list[str]:
    return list(state.mind_map.conditions) if state.mind_map else []


def _planner(step: CognitionStep) -> Iterator[Told]:
    state = step.state
    said: JsonObject = {"question": state.query, "conditions": _conditions(state)}
    yield Told("COGRAG_DECOMPOSE_START", "decomposing", said, begun(step))
    nodes = tree_nodes(state)
    for node in nodes:
        shown = node_document(step, node, "decomposing")
        said = {name: shown[name] for name in ("question", "level", "kind")}
        patch = (set_to(shown, "nodes", node.node_id),)
        yield Told("COGRAG_DECOMPOSE_NODE", "decomposing", said, patch, node.node_id)
    told = {
        "nodes": len(nodes),
        "leaves": sum(not node.children for node in nodes),
        "fallback": state.fallback,
    }
    yield Told("COGRAG_DECOMPOSE_COMPLETE", "decomposing", told, _nodes(step, nodes))


def _theme_activator(step: CognitionStep) -> Iterator[Told]:
    names = [each.name for each in step.state.themes]
    yield Told("COGRAG_THEME_COMPLETE", "decomposing", {"themes": names}, (set_to(names, "themes"),))


def _dual_retriever(step: CognitionStep) -> Iterator[Told]:
    found = searched(step)
    for node in found:
        shown = node_document(step, node)
        said = {name: shown[name] for name in ("question", "evidence", "sources")}
        patch = (set_to(shown, "nodes", node.node_id),)
        yield Told("COGRAG_RETRIEVAL_NODE", "retrieving", said, patch, node.node_id)
    said = {"nodes": len(found), "passages": len(step.state.passages)}
    yield Told("COGRAG_RETRIEVAL_COMPLETE", "retrieving", said, _nodes(step, _inner(step.state)))


def _evidence_refiner(step: CognitionStep) -> Iterator[Told]:
    state = step.state
    conflicts = {
        f"{each.node_id}:{each.a}:{each.b}:{each.type}": each.model_dump(mode="json") for each in state.conflicts
    }
    kept = {each.chunk_uid for listed in state.refined_evidence.values() for each in listed}
    said = {"kept": len(kept), "discarded": len(state.discarded), "conflicts": len(conflicts)}
    patch = (set_to(conflicts, "conflicts"), *_nodes(step, tree_nodes(state)))
    yield Told("COGRAG_REFINE_COMPLETE", "refining", said, patch)


def _corrections(state: CognitiveState) -> JsonObject:
    """What corrections did: earlier answers that are not given again, passages that count less; empty for nothing."""
    refused = [each.consultation_id for each in state.near_misses if each.reason in ("corrected", "penalised")]
    lowered = {
        uid: {"cite": state.passages[uid].cite, "title": state.passages[uid].title, "factor": factor}
        for uid, factor in state.penalties.items()
        if factor < 1 and uid in state.passages
    }
    return {"consultations": refused, "passages": lowered} if refused or lowered else {}


def _memory_check(step: CognitionStep) -> Iterator[Told]:
    state = step.state
    if corrected := _corrections(state):
        yield Told("COGRAG_CORRECTION", "refining", corrected, (set_to(corrected, "corrections"),))
    reused = [node for node in tree_nodes(state) if _is_reused(state, node.node_id)]
    if state.similar_consultation is not None:
        said = {"consultation_id": state.similar_consultation, "nodes": [node.node_id for node in reused]}
        patch = (set_to(state.similar_consultation, "reuse"), *_nodes(step, reused))
        yield Told("COGRAG_MEMORY_HIT", "refining", said, patch)


def _reasoner(step: CognitionStep) -> Iterator[Told]:
    state = step.state
    for node in tree_nodes(state):
        if node.node_id in state.sub_answers and (state.todo is None or node.node_id in state.todo):
            told = _of_node("COGRAG_REASON_NODE", "refining", step, node)
            answer = state.sub_answers[node.node_id]
            said = {"status": answer.status, "claims": len(answer.claims), "confidence": answer.confidence}
            yield told._replace(data={**told.data, **said})


def _verifier(step: CognitionStep) -> Iterator[Told]:
    state = step.state
    if not state.flags.verification:
        return
    for node in tree_nodes(state):
        if node.node_id in state.verifications and node.node_id in _judged(step):
            told = _of_node("COGRAG_VERIFY_NODE", "verifying", step, node)
            yield told._replace(data={**told.data, **_verdict(state, node.node_id)})
    statuses = [each.status for each in state.verifications.values()]
    said: JsonObject = {"status": state.verification_status, **{str(each): statuses.count(each) for each in statuses}}
    yield Told("COGRAG_VERIFY_COMPLETE", "verifying", said)
    if step.next is not Node.INTEGRATOR:
        again = [node for node in tree_nodes(state) if state.todo is None or node.node_id in state.todo]
        said = {
            "round": state.rethink_count,
            "nodes": [node.node_id for node in again],
            "searched": [node.node_id for node in again if is_searched_again(state, node.node_id)],
        }
        patch = tuple(set_to(node_document(step, node, "pending"), "nodes", node.node_id) for node in again)
        yield Told("COGRAG_RETHINK", "verifying", said, patch)


def _query_rewriter(step: CognitionStep) -> Iterator[Told]:
    state = step.state
    for node in tree_nodes(state):
        if not node.children and is_searched_again(state, node.node_id):
            said = {"question": node.question, "query": state.queries.get(node.node_id, node.question)}
            patch = (set_to(node_document(step, node), "nodes", node.node_id),)
            yield Told("COGRAG_REWRITE", "verifying", said, patch, node.node_id)


def _integrator(step: CognitionStep) -> Iterator[Told]:
    state = step.state
    if not state.flags.verification:
        return
    told: JsonObject = {
        "sections": [each.model_dump(mode="json") for each in state.sections],
        "citations": list(state.citations_used),
        "missing": list(state.abstain_info.missing) if state.abstain_info else [],
        "passages": _cited(state),
        "answer_status": answer_status(state),
    }
    said = {name: told[name] for name in ("answer_status", "citations", "missing")}
    yield Told("COGRAG_INTEGRATE_COMPLETE", "verifying", said, tuple(set_to(each, name) for name, each in told.items()))


def _nothing(_: CognitionStep) -> Iterator[Told]:
    yield from ()


TELLING: Mapping[Node, Telling] = {
    Node.PLANNER: _planner,
    Node.THEME_ACTIVATOR: _theme_activator,
    Node.DUAL_RETRIEVER: _dual_retriever,
    Node.EVIDENCE_REFINER: _evidence_refiner,
    Node.MEMORY_CHECK: _memory_check,
    Node.REASONER: _reasoner,
    Node.VERIFIER: _verifier,
    Node.QUERY_REWRITER: _query_rewriter,
    Node.INTEGRATOR: _integrator,
    Node.MEMORY_STORE: _nothing,
    Node.END: _nothing,
}
