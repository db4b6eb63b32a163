"""A model's choice of the conclusion among the verified sentences; it cannot add one."""

from agents.cognition.core.prompts.json_reply import objects
from agents.cognition.core.prompts.prompt import Prompt, composed, element, question, texts
from agents.cognition.language.messages import message
from schemas.cognition import Claim, CognitiveState

MAX_TOKENS, TEMPERATURE = 600, 0.0


def ask(state: CognitiveState) -> Prompt | None:
    """The prompt for the verified answers; None where there are none."""
    answers = [(each, state.sub_answers[each.node_id]) for each in state.sub_questions if _claims(state, each.node_id)]
    if not answers:
        return None
    data = [part for each, told in answers for part in (question(each.question), element("resposta", told.text))]
    return composed(texts()["integrate"], *data, max_tokens=MAX_TOKENS, temperature=TEMPERATURE)


def read(reply: str, state: CognitiveState) -> CognitiveState | None:
    """The state with the chosen sentences as its conclusion, at least one for each answered question.

    None where a reply cannot be read, adds anything or leaves a question out. Total.
    """
    chosen = next((each["conclusao"] for each in objects(reply) if isinstance(each.get("conclusao"), str)), None)
    if chosen is None:
        return None
    left, found = " ".join(chosen.split()), list[tuple[int, str]]()
    for leaf in state.sub_questions:
        told = [(at, each) for each in _claims(state, leaf.node_id) if (at := left.find(_said(each))) >= 0]
        if not told and _claims(state, leaf.node_id):
            return None
        found += [(at, f"{each.text} [{each.cite}]") for at, each in told]
    lines = list(dict.fromkeys(said for _, said in sorted(found)))
    for said in sorted(lines, key=len, reverse=True):
        left = left.replace(" ".join(said.split()), " ")
    if left.strip(" -") or not lines:
        return None
    title = message(state.lang, "answer.conclusion")
    sections = tuple(
        each.model_copy(update={"text": "\n".join(lines)}) if each.title == title else each for each in state.sections
    )
    whole = "\n\n".join(f"## {each.title}\n{each.text}" for each in sections)
    return state.model_copy(update={"sections": sections, "integrated_response": whole})


def _said(claim: Claim) -> str:
    return " ".join(f"{claim.text} [{claim.cite}]".split())


def _claims(state: CognitiveState, name: str) -> tuple[Claim, ...]:
    answer, found = state.sub_answers.get(name), state.verifications.get(name)
    return answer.claims if answer and found and found.status == "approved" else ()
