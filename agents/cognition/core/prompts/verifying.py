"""A second model's word on an answer: it can only lower the verdict of the rules.

Approved is what says so and nothing else; an empty, unreadable or contradictory reply rejects.
"""

from agents.cognition.core.prompts.json_reply import MAX_CHARS, is_true, line, only_objects, tag, word
from agents.cognition.core.prompts.prompt import Prompt, composed, element, evidence, question, texts
from agents.cognition.core.verifier import ModelVerdict, evidence_of
from schemas.cognition import CognitiveState, MindMapNode, SubAnswer

MAX_TOKENS, TEMPERATURE = 800, 0.1
MAX_REASON, MAX_QUERY = 200, 120
APPROVED = frozenset(("aprovado", "aprovada", "approved"))
REJECTED = frozenset(("reprovar", "reprovado", "reprovada", "rejected"))

REFUSED = ModelVerdict(approved=False)


def ask(state: CognitiveState, node: MindMapNode, answer: SubAnswer) -> Prompt:
    """The prompt for one answer, beside its question and evidence and without the reasoner's way to it."""
    words = texts()
    cited = {each.chunk_uid for each in answer.claims}
    own = sorted(evidence_of(state, node).values(), key=lambda each: each.chunk_uid not in cited)
    data = (question(node.question), evidence(own), element("resposta", answer.text))
    return composed(words["verifier"], words["suggestion"], *data, max_tokens=MAX_TOKENS, temperature=TEMPERATURE)


def read(reply: str, answer: SubAnswer) -> ModelVerdict:
    """The verdict in a reply. Total.

    A `resposta_final` that differs from the answer rejects it: the verifier may not write.
    """
    if len(reply) > MAX_CHARS or (said := only_objects(reply)) is None:
        return REFUSED
    if not said:
        # What stands beside tags is not looked at again: it is where a model thinks.
        status, why = tag(reply, "status"), {"motivo": tag(reply, "motivo")}
        return _verdict({word(status)}, why) if status else REFUSED
    told = [each for each in said if "status" in each]
    finals = [each["resposta_final"] for each in told if "resposta_final" in each]
    if any(not isinstance(each, str) or _plain(each) != _plain(answer.text) for each in finals):
        return ModelVerdict(approved=False, reason="resposta_final")
    return _verdict({word(each["status"]) for each in told}, told[0] if told else {})


def _verdict(status: set[str], told: object) -> ModelVerdict:
    found = told if isinstance(told, dict) else {}
    searching = is_true(found.get("requer_nova_busca"))
    if status and status <= APPROVED and not searching:
        return ModelVerdict(approved=True)
    # What cannot be read asks for nothing.
    searching = searching and bool(status) and status <= REJECTED
    query = line(found.get("sugestao_busca"), MAX_QUERY) if searching else ""
    return ModelVerdict(False, line(found.get("motivo"), MAX_REASON), searching, query)


def _plain(said: str) -> str:
    return " ".join(said.split())
