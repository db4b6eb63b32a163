"""The end of what was rejected: its nodes abstain, and a citation that was invented is nowhere any more."""

import re
from collections.abc import Collection, Iterable

from agents.cognition.core.route import is_rejected
from agents.cognition.language.messages import message
from agents.cognition.verification.checks import cites_of
from schemas.cognition import Check, Claim, ClaimVerdict, CognitiveState, SubAnswer, Verification


def abstained(state: CognitiveState) -> CognitiveState:
    """The state in which every rejected node abstains; what was approved, and each verdict, stays.

    The whole is then approved if anything is; claims and verdicts no longer have the citations that no passage has.
    """
    rejected = [name for name in state.verifications if is_rejected(state, name)]
    if not rejected or state.mind_map is None:
        return state
    invented = _invented(state)
    answers, verdicts = dict(state.sub_answers), dict(state.verifications)
    for name in rejected:
        verdicts[name] = _without(verdicts[name].model_copy(update={"status": "abstain"}), invented)
        if name in answers:
            answers[name] = _gap(state, answers[name])
    approved = any(each.status == "approved" for each in verdicts.values())
    return state.model_copy(
        update={
            "sub_answers": answers,
            "verifications": verdicts,
            "verification_status": "approved" if approved else "abstain",
            "verification_issues": tuple(each for each in state.verification_issues if not _names(each, invented)),
            "refused": tuple(each for each in state.refused if not _names(f"{each.text} {each.cite}", invented)),
            "requires_new_search": False,
        }
    )


def _gap(state: CognitiveState, answer: SubAnswer) -> SubAnswer:
    """An answer without its claims; it lacks what its question asks for, where it did not say that it lacks more."""
    assert state.mind_map is not None
    question = state.mind_map.nodes[answer.node_id].question
    lacking = answer.missing or (question.rstrip(" ?"),)
    text = message(state.lang, "answer.needed", missing=", ".join(lacking))
    return SubAnswer(node_id=answer.node_id, status="abstained", text=text, missing=lacking)


def _invented(state: CognitiveState) -> frozenset[str]:
    """The citations of answers, and of claims refused, that no passage of the run has."""
    known = {each.cite for each in state.passages.values()}
    claims: Iterable[Claim | ClaimVerdict] = (
        *state.refused,
        *(claim for each in state.sub_answers.values() for claim in each.claims),
        *(claim for each in state.verifications.values() for claim in each.claims),
    )
    said = {cite for claim in claims for cite in (claim.cite, *cites_of(claim.text)) if cite}
    return frozenset(said - known)


def _names(text: str, cites: Collection[str]) -> bool:
    return any(re.search(rf"{re.escape(cite)}(?![\w-])", text) for cite in cites)


def _without(found: Verification, cites: Collection[str]) -> Verification:
    """A verdict without such citations: which check failed is still told, of what is not."""
    claims = tuple(
        ClaimVerdict(text="", cite="", checks=tuple(map(_bare, each.checks)), support=0.0)
        if _names(each.model_dump_json(), cites)
        else each
        for each in found.claims
    )
    return found.model_copy(update={"claims": claims})


def _bare(check: Check) -> Check:
    return Check(number=check.number, verdict=check.verdict)
