"""The refiner: the passages that answer a leaf, the others discarded, and where they disagree."""

from collections.abc import Sequence

from agents.cognition.core.passages import covered
from agents.cognition.verification.conflicts import conflicts
from agents.core.retrieval.search_terms import question_terms
from schemas.cognition import CognitiveState, EvidenceConflict, LeafEvidence

# More texts that do not answer make answers worse.
MAX_PASSAGES = 5
LEAST_SCORE = 0.1


def refined(state: CognitiveState) -> CognitiveState:
    """The state with the evidence of each leaf that is worth reading; conflicts and discards only with the flag."""
    if state.mind_map is None:
        return state
    kept: dict[str, tuple[LeafEvidence, ...]] = {}
    discarded = set(state.discarded)
    found: list[EvidenceConflict] = []
    for leaf in state.mind_map.leaves():
        listed = state.evidence_map.get(leaf.node_id, ())
        if state.flags.refinement:
            worth = [each for each in listed if _is_worth(state, leaf.question, each)]
            discarded |= {each.chunk_uid for each in listed} - {each.chunk_uid for each in worth}
            listed = tuple(worth)
        kept[leaf.node_id] = listed[:MAX_PASSAGES]
        if state.flags.refinement:
            found += _conflicts(state, leaf.node_id, leaf.question, kept[leaf.node_id])
    used = {each.chunk_uid for listed in kept.values() for each in listed}
    return state.model_copy(
        update={"refined_evidence": kept, "discarded": tuple(sorted(discarded - used)), "conflicts": tuple(found)}
    )


def _is_worth(state: CognitiveState, question: str, evidence: LeafEvidence) -> bool:
    """Whether words or meaning speak for a passage: it goes only where both speak against it."""
    passage = state.passages[evidence.chunk_uid]
    asked = question_terms(question, state.lang)
    return evidence.score >= LEAST_SCORE or bool(covered(asked, f"{passage.title} {passage.text}", passage.lang))


def _conflicts(
    state: CognitiveState, node: str, question: str, kept: Sequence[LeafEvidence]
) -> tuple[EvidenceConflict, ...]:
    return conflicts(node, [state.passages[each.chunk_uid] for each in kept], question)
