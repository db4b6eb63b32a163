"""The verifier: every claim of every node by twelve checks, and whether the run goes back.

It approves only what passed.
Claims are checked against the passages of their own sub-question; a node is rejected by any claim of no support, or
of too little.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from agents.cognition.core.reasoner import post_order
from agents.cognition.core.route import retryable
from agents.cognition.verification.checks import checked
from schemas.cognition import Claim, ClaimVerdict, CognitiveState, EvidencePassage, MindMapNode, SubAnswer, Verification

# Checks whose failure another search may mend: no evidence, and too little of it.
OF_EVIDENCE = frozenset({1, 9})
COVERAGE = 9


@dataclass(frozen=True, slots=True)
class ModelVerdict:
    """A model's word on one answer: why it refuses it, and what to search for where evidence lacks."""

    approved: bool
    reason: str = ""
    needs_search: bool = False
    query: str = ""


def verified(state: CognitiveState, now: datetime) -> CognitiveState:
    """The state with a verdict on each node done in this round, and on the whole.

    A leaf without an answer is rejected for another search where the hallucination loop is on and tries are left; else
    it abstains. Rejected claims are refused to the next answer, so that a second one differs.
    """
    if state.mind_map is None:
        return state
    verdicts = dict(state.verifications)
    for node in post_order(state):
        if node.node_id in state.sub_answers and (state.todo is None or node.node_id in state.todo):
            verdicts[node.node_id] = _verdict(state, node, state.sub_answers[node.node_id])
    state = state.model_copy(update={"verifications": verdicts})
    refused = dict.fromkeys((*state.refused, *_rejected_claims(state)))
    state = state.model_copy(update={"refused": tuple(refused)})
    return state.model_copy(update=_whole(state, now))


def lowered(state: CognitiveState, said: Mapping[str, ModelVerdict | None], now: datetime) -> CognitiveState:
    """The state with what a model said of answers that the rules approved: it can only take an approval away.

    None for an answer that no call was left for: it abstains. Claims refused without another search are not given
    again.
    """
    verdicts, refused, issues = dict(state.verifications), list(state.refused), list[str]()
    for name, told in said.items():
        found = verdicts[name]
        if found.status != "approved" or (told and told.approved):
            continue
        again = told is not None and told.needs_search and state.flags.hallucination_loop
        query = told.query if told and again else ""
        update = {"status": "rejected" if told else "abstain", "needs_search": again, "query": query}
        verdicts[name] = found.model_copy(update=update)
        issues.append(f"{name}: model: {told.reason}" if told else f"{name}: no call left")
        if told and not again:
            refused += [claim for claim in state.sub_answers[name].claims if claim not in refused]
    state = state.model_copy(update={"verifications": verdicts, "refused": tuple(refused)})
    whole = _whole(state, now)
    return state.model_copy(update={**whole, "verification_issues": (*state.verification_issues, *issues)})


def _verdict(state: CognitiveState, node: MindMapNode, answer: SubAnswer) -> Verification:
    name = node.node_id
    if not answer.claims:
        again = state.flags.hallucination_loop and not node.children
        return Verification(node_id=name, status="rejected" if again else "abstain", needs_search=again)
    own = evidence_of(state, node)
    cited = {each.chunk_uid for each in answer.claims}
    conflicts = [each for each in state.conflicts if {each.a, each.b} <= own.keys()]
    told = tuple(checked(each, node.question, own, conflicts, cited, state.lang) for each in answer.claims)
    approved = not any(map(is_refused, told))
    failed = {check.number for each in told if is_refused(each) for check in each.checks if check.verdict != "pass"}
    return Verification(
        node_id=name,
        status="approved" if approved else "rejected",
        needs_search=not approved and state.flags.hallucination_loop and bool(failed & OF_EVIDENCE),
        claims=told,
    )


def is_refused(told: ClaimVerdict) -> bool:
    """Whether a claim has no support, or its passage too little of it."""
    return not told.support or any(each.number == COVERAGE and each.verdict == "fail" for each in told.checks)


def evidence_of(state: CognitiveState, node: MindMapNode) -> dict[str, EvidencePassage]:
    """The passages of a sub-question, those of the leaves below it included."""
    assert state.mind_map is not None
    found: dict[str, EvidencePassage] = {}
    waiting = [node]
    while waiting:
        each = waiting.pop()
        waiting += [state.mind_map.nodes[child] for child in each.children]
        for one in state.refined_evidence.get(each.node_id, ()):
            found[one.chunk_uid] = state.passages[one.chunk_uid]
    return found


def _rejected_claims(state: CognitiveState) -> list[Claim]:
    return [
        claim
        for name, verdict in state.verifications.items()
        if verdict.status == "rejected" and name in state.sub_answers
        for claim, told in zip(state.sub_answers[name].claims, verdict.claims, strict=False)
        if is_refused(told)
    ]


def _whole(state: CognitiveState, now: datetime) -> dict[str, object]:
    """The status of the run: rejected where a node is and may be done again, abstained where nothing is approved."""
    status = {each.status for each in state.verifications.values()}
    lacking = [name for name in retryable(state, now) if state.verifications[name].needs_search]
    issues = tuple(
        f"{name}: check {check.number} {check.verdict}: expected {check.expected!r}, found {check.found!r}"
        for name, verdict in state.verifications.items()
        for told in verdict.claims
        for check in told.checks
        if check.verdict in ("fail", "unverified")
    )
    whole = "rejected" if "rejected" in status else "approved" if "approved" in status else "abstain"
    return {
        "verification_status": whole,
        "verification_issues": issues,
        "requires_new_search": state.flags.hallucination_loop and bool(lacking),
    }
