"""A model's answer to one node: its sentences become claims, each to be checked like any other.

A sentence that the cited passage has word for word is a claim with that place in it. Faithful words of the model's own
cannot be proved, and the rule's answer stands in their place; what is changed or invented goes to the verifier.
"""

import html
import re
from collections.abc import Mapping, Sequence

from agents.cognition.core import reasoner
from agents.cognition.core.dual_retriever import bound
from agents.cognition.core.missing import is_specific, is_unknown
from agents.cognition.core.prompts.json_reply import line, objects, tag, word
from agents.cognition.core.prompts.prompt import Prompt, composed, element, evidence, question, texts
from agents.cognition.core.verifier import evidence_of
from agents.cognition.verification.checks import checked, cites_of, without_cites
from agents.core.language import text
from agents.core.language.sentences import sentences
from schemas.cognition import AnswerStatus, Claim, CognitiveState, EvidencePassage, MindMapNode, SubAnswer

MAX_TOKENS, TEMPERATURE = 1_200, 0.2
MAX_ANSWER_CHARS, MAX_GAP = 6_000, 120
SURE: Mapping[str, float] = {"alto": 0.9, "medio": 0.6, "baixo": 0.2}
NOWHERE = "?"
# Checks that own words fail though they may be true: the place, the share of words, the hedge.
UNPROVED = frozenset({3, 9, 11})
_CITES = r"(?:\s*\[[a-z-]+:[^\]\s]+\])+"
_AFTER_DOT = re.compile(rf"([.!?])({_CITES})")


def ask(state: CognitiveState, node: MindMapNode, answers: Mapping[str, SubAnswer]) -> Prompt | None:
    """The prompt for one node: its question, its evidence, the answers below it, what was refused before.

    None where there is no evidence: there is nothing to answer from.
    """
    own = evidence_of(state, node)
    if not own:
        return None
    words = texts()
    below = [element("resposta", answers[each].text, each) for each in node.children if each in answers]
    refused = [element("recusada", f"{each.text} [{each.cite}]") for each in state.refused if each.chunk_uid in own]
    conditions = [element("condicao", each) for each in state.mind_map.conditions] if state.mind_map else []
    data = (question(bound(state, node)), *conditions, evidence(own.values()), *below, *refused)
    rules = (words["role"], words["reasoner"], words["forbidden"], words["quoting"])
    return composed(*rules, *data, max_tokens=MAX_TOKENS, temperature=TEMPERATURE)


def read(reply: str, state: CognitiveState, node: MindMapNode, given: SubAnswer) -> SubAnswer | None:
    """The answer in a reply beside that which the rules gave; None where the rules' answer stands. Total."""
    told = next((each for each in objects(reply) if isinstance(each.get("resposta"), str)), None) or _tags(reply)
    sure = SURE.get(word(told.get("grau_confianca")))
    said = told.get("resposta")
    if sure is None or not isinstance(said, str):
        return None
    gaps = _gaps(told.get("lacunas"), state.lang)
    own = evidence_of(state, node)
    claims = _claims(said, own, state.lang)
    proved, wrong = _judged(claims, node, own, state.lang)
    share = min(sure, _share(claims, told.get("citacoes_usadas"), own))
    least = state.limits.abstain_threshold if state.flags.abstain else 0.0
    if _says_nothing(said) or sure < least or (proved and share < least):
        lacking = tuple(dict.fromkeys((*given.missing, *gaps))) or (bound(state, node).rstrip(" ?"),)
        return reasoner.abstained(state, node, lacking)
    # Evidence that names nothing of what the question names answers another one.
    if not (proved or wrong) or (not node.children and is_unknown(state, node)):
        return None
    claims = _both_sides(state, claims, own)
    text = reasoner.worded(state, node.node_id, claims)
    status: AnswerStatus = "partial" if gaps else "answered"
    return SubAnswer(node_id=node.node_id, status=status, text=text, claims=claims, confidence=share, missing=gaps)


def _tags(reply: str) -> Mapping[str, object]:
    return {name: tag(reply, name) for name in ("resposta", "grau_confianca", "lacunas")}


def _says_nothing(said: str) -> bool:
    return text.fold(said).startswith("nao encontrei evidencia suficiente")


def _gaps(said: object, lang: str) -> tuple[str, ...]:
    found = line(said, MAX_GAP).strip(" .")
    return (found,) if is_specific(found, lang) else ()


def _claims(said: str, own: Mapping[str, EvidencePassage], lang: str) -> tuple[Claim, ...]:
    """One claim for each sentence with words, in order."""
    # A citation behind the full stop belongs to the sentence before.
    plain = _AFTER_DOT.sub(
        lambda found: f" {' '.join(found[2].split())}{found[1]}", html.unescape(said[:MAX_ANSWER_CHARS])
    )
    found = (_claim(each, own) for each in sentences(plain, lang) if text.content_words(without_cites(each), lang))
    return tuple(dict.fromkeys(found))[: reasoner.MAX_COMPOSED]


def _claim(sentence: str, own: Mapping[str, EvidencePassage]) -> Claim:
    """A sentence as a claim about the passage that it cites first, one that has it word for word before others."""
    cites = cites_of(sentence)
    bare = " ".join(without_cites(sentence).split())
    cited = [each for cite in cites for each in own.values() if each.cite == cite]
    if all(any(each.cite == cite for each in cited) for cite in cites):
        for passage in cited:
            if (place := _place(bare, passage.text)) is not None:
                start, end = place
                return Claim(
                    text=passage.text[start:end], chunk_uid=passage.chunk_uid, start=start, end=end, cite=passage.cite
                )
    # A citation that no passage has comes first: it is what the check of citations is to see.
    foreign = next((cite for cite in cites if all(each.cite != cite for each in own.values())), "")
    cite = foreign or next(iter(cites), "")
    uid = next((each.chunk_uid for each in own.values() if each.cite == cite), NOWHERE)
    return Claim(text=bare, chunk_uid=uid, start=0, end=0, cite=cite)


def _both_sides(
    state: CognitiveState, claims: tuple[Claim, ...], own: Mapping[str, EvidencePassage]
) -> tuple[Claim, ...]:
    """The claims, with the other side of each conflict that one of them is a side of."""
    found = list(claims)
    for conflict in state.conflicts:
        (a, a_end), (b, b_end) = (each[:2] for each in conflict.spans)
        sides = ((conflict.a, a, a_end), (conflict.b, b, b_end))
        untold = [each for each in sides if not any(_is_of(claim, *each) for claim in claims)]
        if len(untold) == 1 and untold[0][0] in own:
            uid, start, end = untold[0]
            said = own[uid].text[start:end]
            found.append(Claim(text=said, chunk_uid=uid, start=start, end=end, cite=own[uid].cite))
    return tuple(dict.fromkeys(found))


def _is_of(claim: Claim, uid: str, start: int, end: int) -> bool:
    return claim.chunk_uid == uid and claim.start < end and start < claim.end


def _place(said: str, passage: str) -> tuple[int, int] | None:
    """Where a passage has these words, whatever blanks are between them; the end of the sentence belongs to it."""
    for words in (said, said.rstrip(" .;")):
        if words and (found := re.search(r"\s+".join(map(re.escape, words.split())), passage)):
            end = found.end() + (passage[found.end() : found.end() + 1] in (".", ";"))
            return found.start(), end
    return None


def _judged(
    claims: Sequence[Claim], node: MindMapNode, own: Mapping[str, EvidencePassage], lang: str
) -> tuple[bool, bool]:
    """Whether each claim can be proved, and whether any is wrong; the rest is in the model's own words."""
    cited = {each.chunk_uid for each in claims}
    told = [checked(each, node.question, own, (), cited, lang) for each in claims]
    wrong = any(c.verdict == "fail" and c.number not in UNPROVED for each in told for c in each.checks)
    return bool(told) and all(each.support > 0 for each in told), wrong


def _share(claims: Sequence[Claim], listed: object, own: Mapping[str, EvidencePassage]) -> float:
    """The share of the citations, those in the text and those listed, that the evidence has."""
    known = {each.cite for each in own.values()}
    said = {each for each in listed if isinstance(each, str)} if isinstance(listed, list) else set[str]()
    cites = {each.strip("[] ") for each in said} | {each.cite for each in claims}
    return len(cites & known) / len(cites) if cites else 0.0
