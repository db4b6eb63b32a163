"""The integrator: the verified answers as one, in five sections; what could not be answered is said."""

from collections.abc import Iterable

from agents.cognition.core import abstaining
from agents.cognition.core.passages import is_provision, is_ruling
from agents.cognition.language.messages import message
from schemas.cognition import AbstainInfo, Claim, CognitiveState, DeepAnswer, Section, SubAnswer


def integrated(state: CognitiveState) -> CognitiveState:
    """The state with its sections, citations and gaps; only what the verifier approved is among the findings.

    What it rejected abstains. With `abstain` off that is delivered, too, and the status says so.
    """
    if state.flags.abstain:
        state = abstaining.abstained(state)
    if state.mind_map is None:
        return state
    told = [state.sub_answers[each.node_id] for each in state.mind_map.leaves() if each.node_id in state.sub_answers]
    fine = [each for each in told if each.claims and is_delivered(state, each)]
    missing = _missing(state, told, fine)
    claims = list(dict.fromkeys(claim for each in fine for claim in each.claims))
    sections = [*_of_sources(state, claims), *_analysed(state, fine)]
    if missing:
        sections.append(_section(state, "limits", message(state.lang, "answer.needed", missing="; ".join(missing))))
    update: dict[str, object] = {
        "sections": tuple(sections),
        "citations_used": tuple(dict.fromkeys(f"[{each.cite}]" for each in claims)),
        "integrated_response": "\n\n".join(f"## {each.title}\n{each.text}" for each in sections),
        "abstain_info": _abstains(state, missing, fine),
    }
    if not fine:
        update["verification_status"] = "abstain"
    return state.model_copy(update=update)


def deep_answer(state: CognitiveState) -> DeepAnswer:
    """What is told of a run beside its text; evidence is given with what is cited of it, and nothing else."""
    answers = tuple(each for each in state.sub_answers.values() if is_delivered(state, each))
    cited = dict.fromkeys(claim.chunk_uid for each in answers for claim in each.claims)
    return DeepAnswer(
        job_id=state.job_id,
        verification_status=state.verification_status,
        sections=state.sections,
        citations=state.citations_used,
        missing=state.abstain_info.missing if state.abstain_info else (),
        confidence=min((each.confidence for each in answers), default=0.0),
        sub_answers=answers,
        conflicts=tuple(each for each in state.conflicts if {each.a, each.b} <= cited.keys()),
        sources=tuple(state.passages[uid] for uid in cited),
    )


def is_delivered(state: CognitiveState, answer: SubAnswer) -> bool:
    if not state.flags.abstain:
        return True
    found = state.verifications.get(answer.node_id)
    return answer.status != "abstained" and found is not None and found.status == "approved"


def _missing(state: CognitiveState, told: Iterable[SubAnswer], fine: Iterable[SubAnswer]) -> tuple[str, ...]:
    """What any answer lacks; a rejected answer lacks all that its question asks for."""
    delivered = {each.node_id for each in fine}
    assert state.mind_map is not None
    found: list[str] = []
    for each in told:
        question = state.mind_map.nodes[each.node_id].question
        found += each.missing or (() if each.node_id in delivered else (question.rstrip(" ?"),))
    return tuple(dict.fromkeys(found))


def _section(state: CognitiveState, name: str, text: str) -> Section:
    return Section(title=message(state.lang, f"answer.{name}"), text=text)


def _of_sources(state: CognitiveState, claims: Iterable[Claim]) -> Iterable[Section]:
    """The provisions, and the rulings and other documents, each sentence with its citation."""
    law = [each for each in claims if is_provision(each.cite)]
    rulings = [each for each in claims if is_ruling(each.cite)]
    for name, listed in (("law", law), ("rulings", rulings)):
        if listed:
            yield _section(state, name, "\n".join(f"- {each.text} [{each.cite}]" for each in listed))


def _analysed(state: CognitiveState, fine: list[SubAnswer]) -> Iterable[Section]:
    """Each sub-question with its answer, and the first claim of each as conclusion."""
    if not fine:
        yield _section(state, "conclusion", message(state.lang, "answer.nothing"))
        return
    assert state.mind_map is not None
    nodes = state.mind_map.nodes
    yield _section(state, "analysis", "\n\n".join(f"{nodes[each.node_id].question}\n{each.text}" for each in fine))
    best = dict.fromkeys(f"{each.claims[0].text} [{each.claims[0].cite}]" for each in fine)
    yield _section(state, "conclusion", "\n".join(best))


def _abstains(state: CognitiveState, missing: tuple[str, ...], fine: list[SubAnswer]) -> AbstainInfo | None:
    if not missing:
        return None
    partial = "\n".join(each.text for each in fine) or None
    return AbstainInfo(message=message(state.lang, "answer.nothing"), missing=missing, partial_answer=partial)
