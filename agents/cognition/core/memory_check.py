"""The memory check: sub-questions that were answered before, and the earlier answer, if it stands on what is found now.

What is reused are the sentences that the earlier answer cited, as they are in the passages found now: a text of then is
never repeated. The corpus is that of then where what was cited is found again and nothing unread is ranked above it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from agents.cognition.core.dual_retriever import bound
from agents.cognition.core.missing import missing_of
from agents.cognition.core.passages import sentences_of
from agents.cognition.core.reasoner import worded
from agents.cognition.core.signatures import question_signature
from agents.ports.cognition import PastAnswer, PastConsultation
from schemas.cognition import Claim, CognitiveState, MindMapNode, SubAnswer
from schemas.learning import NearMiss

# The cosine of two questions from which on they are one in other words, and from which on it is worth knowing of.
SIMILAR, NEAR = 0.85, 0.7
MAX_CONSULTATIONS = 20


@dataclass(frozen=True, slots=True)
class RecalledConsultations:
    """Earlier consultations with the same signature, the cosines of questions with those of now, and doubted passages.

    `near` are by the earlier question and that of now; `penalised` are the passages that any correction speaks against.
    """

    consultations: Sequence[PastConsultation] = ()
    near: Mapping[tuple[str, str], float] = field(default_factory=dict)
    penalised: frozenset[str] = frozenset()

    def cosine(self, earlier: str, now: str) -> float:
        """How similar two questions are, -1 to 1; 1 for one and the same."""
        return 1.0 if earlier == now else self.near.get((earlier, now), 0.0)

    def similar(self, query: str) -> tuple[PastConsultation, ...]:
        """The consultations that asked the same."""
        return tuple(each for each in self.consultations if self.cosine(each.question, query) >= SIMILAR)

    def verified(self, query: str) -> tuple[str, ...]:
        """The passages whose sentences were approved in answers to the same question, and not corrected since."""
        fine = [each for each in self.similar(query) if each.status == "approved" and not each.corrected]
        return tuple(dict.fromkeys(uid for each in fine for one in each.answers if one.verified for uid in one.chunks))


def signature_of(state: CognitiveState) -> str:
    """The signature of the whole question."""
    return question_signature(state.query, state.lang, state.mind_map.root().kind if state.mind_map else "single")


def signature_of_node(state: CognitiveState, node: MindMapNode) -> str:
    """The signature of a sub-question, with what its pointers stand for."""
    return question_signature(bound(state, node), state.lang, node.kind)


def checked(state: CognitiveState, recalled: RecalledConsultations) -> CognitiveState:
    """The state with the earlier answers to its leaves, to be verified as any, and the consultations that came near."""
    if state.mind_map is None:
        return state
    missed: list[NearMiss] = []
    for past in recalled.consultations:
        near = recalled.cosine(past.question, state.query)
        reason = _refusal(state, past, near, recalled.penalised)
        answers = {} if reason else dict(_reused(state, past, recalled))
        if answers:
            found = {**state.sub_answers, **answers}
            update = {"similar_consultation": past.id, "sub_answers": found, "near_misses": tuple(missed)}
            return state.model_copy(update=update)
        if near >= NEAR:
            missed.append(NearMiss(consultation_id=past.id, similarity=round(near, 4), reason=reason or "evidence"))
    return state.model_copy(update={"near_misses": tuple(missed)})


def _refusal(state: CognitiveState, past: PastConsultation, near: float, penalised: frozenset[str]) -> str:
    """Why nothing of a consultation may be reused; empty where it may."""
    if (past.scope, past.case_id) != (state.scope, state.case_id):
        return "scope"
    if past.status != "approved":
        return "status"
    if past.corrected:
        return "corrected"
    if penalised & {uid for each in past.answers for uid in each.chunks}:
        return "penalised"
    return "" if near >= SIMILAR else "similarity"


def _reused(
    state: CognitiveState, past: PastConsultation, recalled: RecalledConsultations
) -> Iterator[tuple[str, SubAnswer]]:
    assert state.mind_map is not None
    for leaf in state.mind_map.leaves():
        own, asked = signature_of_node(state, leaf), bound(state, leaf)
        for answer in past.answers:
            fits = answer.verified and answer.signature == own and recalled.cosine(answer.question, asked) >= SIMILAR
            if fits and (claims := _claims(state, leaf.node_id, answer)):
                lacking = missing_of(state, leaf)
                yield (
                    leaf.node_id,
                    SubAnswer(
                        node_id=leaf.node_id,
                        status="partial" if lacking else "answered",
                        text=worded(state, leaf.node_id, claims),
                        claims=claims,
                        confidence=answer.confidence,
                        missing=lacking,
                        reused_from=past.id,
                    ),
                )
                break


def _claims(state: CognitiveState, node: str, answer: PastAnswer) -> tuple[Claim, ...]:
    """The sentences that an earlier answer cited, in the evidence of now; none where the corpus is another one."""
    listed = [each.chunk_uid for each in state.refined_evidence.get(node, ())]
    cited = set(answer.chunks)
    if not cited or not cited <= set(listed):
        return ()
    last = max(listed.index(uid) for uid in cited)
    if not set(listed[: last + 1]) <= {*answer.evidence, *answer.chunks}:
        return ()
    found = tuple(
        Claim(text=each.text, chunk_uid=uid, start=each.start, end=each.end, cite=each.passage.cite)
        for uid in listed
        if uid in cited
        for each in sentences_of(state.passages[uid])
        if f"{each.text} [{each.passage.cite}]" in answer.answer.split("\n")
    )
    return found if {each.chunk_uid for each in found} == cited else ()
