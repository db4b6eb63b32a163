"""A model's word on which evidence does not help: at most it takes passages away, never the best or a contrary one."""

from agents.cognition.core.prompts.json_reply import objects
from agents.cognition.core.prompts.prompt import Prompt, composed, evidence, question, texts
from schemas.cognition import CognitiveState

MAX_TOKENS, TEMPERATURE = 500, 0.0


def ask(state: CognitiveState) -> Prompt | None:
    """The prompt for all leaves that have more than one passage; None where none has."""
    asked = [each for each in state.sub_questions if len(state.refined_evidence.get(each.node_id, ())) > 1]
    if not asked:
        return None
    data = [
        part
        for leaf in asked
        for part in (
            question(leaf.question, leaf.node_id),
            evidence(state.passages[each.chunk_uid] for each in state.refined_evidence[leaf.node_id]),
        )
    ]
    return composed(texts()["refine"], *data, max_tokens=MAX_TOKENS, temperature=TEMPERATURE)


def read(reply: str, state: CognitiveState) -> CognitiveState | None:
    """The state without the passages that a reply calls irrelevant; None for a reply that cannot be read. Total."""
    told = next((each["irrelevantes"] for each in objects(reply) if isinstance(each.get("irrelevantes"), dict)), None)
    if told is None:
        return None
    kept = dict(state.refined_evidence)
    gone: set[str] = set()
    for name, listed in kept.items():
        said = told.get(name)
        cites = {each for each in said if isinstance(each, str)} if isinstance(said, list) else set()
        needed = {uid for each in state.conflicts if each.node_id == name for uid in (each.a, each.b)}
        needed |= {max(listed, key=lambda each: each.score).chunk_uid} if listed else set()
        bad = {each.chunk_uid for each in listed if state.passages[each.chunk_uid].cite in cites} - needed
        kept[name] = tuple(each for each in listed if each.chunk_uid not in bad)
        gone |= bad
    used = {each.chunk_uid for listed in kept.values() for each in listed}
    discarded = tuple(sorted({*state.discarded, *gone} - used))
    return state.model_copy(update={"refined_evidence": kept, "discarded": discarded})
