"""The record of a run: what was asked, how it was answered and from what, kept to be found and corrected."""

from agents.cognition.core.dual_retriever import bound
from agents.cognition.core.integrator import is_delivered
from agents.cognition.core.memory_check import signature_of, signature_of_node
from agents.core.retrieval.ranking import highest
from schemas.base import derive
from schemas.cognition import CognitiveState, MindMapNode
from schemas.learning import ConsultationRecorded, GraphRef, SubQuestion


def consultation(state: CognitiveState) -> ConsultationRecorded | None:
    """The consultation of a finished run; None where it has no tree or no answer, or quotes a conversation.

    Consultations are the tenant's: what one user said is neither told to others nor kept where it is not erased.
    """
    if state.mind_map is None or state.verification_status is None:
        return None
    used = {claim.chunk_uid for answer in state.sub_answers.values() for claim in answer.claims}
    given = {
        claim.chunk_uid for each in state.sub_answers.values() if is_delivered(state, each) for claim in each.claims
    }
    if any(uid in state.passages and state.passages[uid].turn is not None for uid in given):
        return None
    return ConsultationRecorded(
        consultation_id=derive("consultation", state.tenant_id, state.scope, state.case_id, state.job_id),
        job_id=state.job_id,
        user_question=state.query,
        final_answer=state.integrated_response or "",
        sub_questions=tuple(_sub_question(state, node) for node in state.mind_map.nodes.values()),
        verification_status=state.verification_status,
        user_id=state.user_id,
        conversation_id=state.conversation_id,
        client_id=state.client_id,
        access_level=highest(state.passages[uid].access_level for uid in used if uid in state.passages),
        lang=state.lang,
        consulted_at=state.as_of,
        reused=_reused(state),
        signature=signature_of(state),
        scope=state.scope,
        case_id=state.case_id,
    )


def _read_documents(state: CognitiveState, node: MindMapNode) -> tuple[str, ...]:
    listed = (each.chunk_uid for each in state.refined_evidence.get(node.node_id, ()))
    return tuple(uid for uid in listed if state.passages[uid].turn is None)


def _reused(state: CognitiveState) -> tuple[str, ...]:
    """The consultations whose answers are delivered again."""
    delivered = (each for each in state.sub_answers.values() if is_delivered(state, each))
    return tuple(dict.fromkeys(each.reused_from for each in delivered if each.reused_from is not None))


def _sub_question(state: CognitiveState, node: MindMapNode) -> SubQuestion:
    answer = state.sub_answers.get(node.node_id)
    delivered = answer is not None and is_delivered(state, answer)
    claims = answer.claims if answer is not None and delivered else ()
    return SubQuestion(
        node_id=node.node_id,
        # As it was answered: with what its pointers stand for.
        text=bound(state, node),
        answer=answer.text if answer is not None and delivered else "",
        citations=tuple(dict.fromkeys(f"[{claim.cite}]" for claim in claims)),
        parent_id=node.parent_id,
        uses=tuple(GraphRef(label="Chunk", id=uid) for uid in dict.fromkeys(claim.chunk_uid for claim in claims)),
        confidence=answer.confidence if answer is not None else 0.0,
        verified=bool(claims),
        signature=signature_of_node(state, node),
        evidence=_read_documents(state, node) or None,
    )
