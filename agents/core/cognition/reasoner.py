"""The reasoner: each sub-question answered with sentences of its evidence, from the leaves up; nothing is inferred.

Leaves are answered by the sentences that cover most of what is asked; inner nodes by the answers of their children, as
their kind composes them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents.core.cognition.dual_retriever import bound
from agents.core.cognition.missing import is_unknown, missing_of
from agents.core.cognition.passages import PassageSentence, covered, sentences_of, weights
from agents.core.language.messages import message
from agents.core.retrieval.search_terms import QuestionTerm, question_terms
from schemas.cognition import Claim, CognitiveState, EvidenceConflict, MindMapNode, SubAnswer

MAX_CLAIMS, MAX_COMPOSED = 3, 8
# The share of the best sentence's worth that another needs to stand beside it, and of what is asked that it must add.
BESIDE, ADDED = 0.3, 0.1
# Sentences before and after the best one that are told with it: what is asked and what answers it often stand in two.
BEFORE, AFTER = 1, 2
# What a word of the question is worth in the heading of a passage, of what it is worth in the sentence.
IN_HEADING = 0.5
# How far a passage's score counts, as an exponent, and what the cosine of a sentence is worth beside its words. Of a
# grid of 48 on own questions (bench/everyday, everyday_by_others, legal_multihop); neighbours differ by .03.
RANK, NEAR = 0.1, 1.0


@dataclass(frozen=True, slots=True)
class _Candidate:
    sentence: PassageSentence
    covered: frozenset[str]
    worth: float


def reasoned(state: CognitiveState) -> CognitiveState:
    """The state with an answer for every node, children first; of a run sent back only those to be done again."""
    if state.mind_map is None:
        return state
    answers = dict(state.sub_answers)
    for node in post_order(state):
        if _is_reused(state, node.node_id):
            continue
        if state.todo is None or node.node_id in state.todo:
            answers[node.node_id] = answered(state, node, answers)
    return state.model_copy(update={"sub_answers": answers})


def answered(state: CognitiveState, node: MindMapNode, answers: Mapping[str, SubAnswer]) -> SubAnswer:
    """The answer to one node, given those of its children."""
    return _composed(state, node, answers) if node.children else _leaf(state, node)


def _is_reused(state: CognitiveState, node: str) -> bool:
    """Whether an earlier answer stands in for one of now: until it is rejected."""
    answer = state.sub_answers.get(node)
    return state.todo is None and answer is not None and answer.reused_from is not None


def post_order(state: CognitiveState) -> tuple[MindMapNode, ...]:
    """The nodes of the tree, children before parents, siblings in order."""
    if state.mind_map is None:
        return ()
    nodes = state.mind_map.nodes
    found: list[MindMapNode] = []
    waiting = [(state.mind_map.root(), False)]
    while waiting:
        node, is_done = waiting.pop()
        if is_done:
            found.append(node)
        else:
            waiting += [(node, True), *((nodes[child], False) for child in reversed(node.children))]
    return tuple(found)


def _leaf(state: CognitiveState, leaf: MindMapNode) -> SubAnswer:
    question = bound(state, leaf.question)
    lacking = missing_of(state, leaf)
    claims = _claims(state, leaf, question)
    if not claims or is_unknown(state, leaf):
        return abstained(state, leaf, lacking)
    confidence = state.answerable.get(leaf.node_id, 0.0)
    if confidence < state.limits.abstain_threshold and state.flags.abstain:
        return abstained(state, leaf, lacking)
    return SubAnswer(
        node_id=leaf.node_id,
        status="partial" if lacking else "answered",
        text=worded(state, leaf.node_id, claims),
        claims=claims,
        confidence=confidence,
        missing=lacking,
    )


def abstained(state: CognitiveState, node: MindMapNode, lacking: tuple[str, ...]) -> SubAnswer:
    """The answer that only says what is missing."""
    text = message(state.lang, "answer.needed", missing=", ".join(lacking))
    return SubAnswer(node_id=node.node_id, status="abstained", text=text, missing=lacking)


def _claims(state: CognitiveState, leaf: MindMapNode, question: str) -> tuple[Claim, ...]:
    """At most `MAX_CLAIMS` sentences that cover most of the question, and those around the best; none refused."""
    refused = {(each.chunk_uid, each.start) for each in state.refused}
    listed = state.refined_evidence.get(leaf.node_id, ())
    asked = question_terms(question, state.lang)
    among = [f"{state.passages[each.chunk_uid].title} {state.passages[each.chunk_uid].text}" for each in listed]
    worths = weights(asked, among, state.lang)
    best = max((each.score for each in listed), default=0.0) or 1.0
    candidates = [
        _candidate(sentence, asked, worths, (each.score / best) ** RANK, near)
        for each in listed
        for sentence, near in zip(sentences_of(state.passages[each.chunk_uid]), each.similar, strict=False)
        if (each.chunk_uid, sentence.start) not in refused
    ]
    chosen = _chosen(candidates, worths)
    chosen += _around(candidates, chosen)
    chosen += _opposed(state, leaf, candidates, chosen)
    order = {each.chunk_uid: rank for rank, each in enumerate(listed)}
    chosen.sort(key=lambda each: (order[each.sentence.passage.chunk_uid], each.sentence.start))
    return tuple(map(_claim, (each.sentence for each in chosen)))


def _candidate(
    sentence: PassageSentence, asked: Sequence[QuestionTerm], worths: Mapping[str, float], score: float, near: float
) -> _Candidate:
    inside = covered(asked, sentence.text, sentence.passage.lang)
    above = covered(asked, sentence.passage.title, sentence.passage.lang) - inside
    words = sum(worths[word] for word in inside) + IN_HEADING * sum(worths[word] for word in above)
    return _Candidate(sentence, inside | above, score * (words + NEAR * max(near, 0.0)))


def _chosen(candidates: Sequence[_Candidate], worths: Mapping[str, float]) -> list[_Candidate]:
    left = [each for each in candidates if each.worth > 0]
    if not left:
        return []
    best = max(left, key=lambda each: each.worth)
    chosen, known = [best], set(best.covered)
    for each in sorted(left, key=lambda each: -each.worth):
        if len(chosen) == MAX_CLAIMS or each.worth < BESIDE * best.worth:
            break
        adds = sum(worths[word] for word in each.covered - known)
        another = all(each.sentence.passage.chunk_uid != one.sentence.passage.chunk_uid for one in chosen)
        if each is not best and (adds >= ADDED or another):
            chosen.append(each)
            known |= each.covered
    return chosen


def _around(candidates: Sequence[_Candidate], chosen: Sequence[_Candidate]) -> list[_Candidate]:
    """The sentences around the best one, in its passage, that are not chosen yet."""
    if not chosen:
        return []
    at = candidates.index(chosen[0])
    near = candidates[max(at - BEFORE, 0) : at + AFTER + 1]
    uid = chosen[0].sentence.passage.chunk_uid
    return [each for each in near if each.sentence.passage.chunk_uid == uid and each not in chosen]


def _opposed(
    state: CognitiveState, leaf: MindMapNode, candidates: Sequence[_Candidate], chosen: Sequence[_Candidate]
) -> list[_Candidate]:
    """The other side of each conflict that a chosen sentence is one side of."""
    places = {(each.sentence.passage.chunk_uid, each.sentence.start): each for each in candidates}
    taken = {(each.sentence.passage.chunk_uid, each.sentence.start) for each in chosen}
    found: list[_Candidate] = []
    for conflict in state.conflicts:
        if conflict.node_id != leaf.node_id:
            continue
        one, other = sides(conflict)
        for here, there in ((one, other), (other, one)):
            if here in taken and there not in taken and there in places:
                found.append(places[there])
                taken.add(there)
    return found


def sides(conflict: EvidenceConflict) -> tuple[tuple[str, int], tuple[str, int]]:
    """The two sentences of a conflict, each by its passage and its start."""
    return (conflict.a, conflict.spans[0][0]), (conflict.b, conflict.spans[1][0])


def _claim(sentence: PassageSentence) -> Claim:
    passage = sentence.passage
    return Claim(
        text=sentence.text, chunk_uid=passage.chunk_uid, start=sentence.start, end=sentence.end, cite=passage.cite
    )


def worded(state: CognitiveState, node: str, claims: Sequence[Claim]) -> str:
    """Claims as text, each with its citation, and what they disagree about."""
    said = [f"{each.text} [{each.cite}]" for each in claims]
    shown = {(each.chunk_uid, each.start): each.cite for each in claims}
    for conflict in state.conflicts:
        one, other = sides(conflict)
        if conflict.node_id == node and one in shown and other in shown:
            key = "answer.unsettled" if conflict.resolution == "open" else "answer.settled"
            better = shown[other] if conflict.resolution == "b" else shown[one]
            values = {"a": shown[one], "b": shown[other], "why": conflict.motivo, "better": better}
            said.append(message(state.lang, key, **values))
    return "\n".join(said)


def _composed(state: CognitiveState, node: MindMapNode, answers: Mapping[str, SubAnswer]) -> SubAnswer:
    """The answers of the children, composed as the kind of the node says; what is missing of any is missing here."""
    assert state.mind_map is not None
    children = [answers[child] for child in node.children if child in answers]
    answered = [each for each in children if each.status != "abstained"]
    lacking = tuple(dict.fromkeys(what for each in children for what in each.missing))
    if not answered or (node.kind == "both" and len(answered) < len(children)):
        return abstained(state, node, lacking or (node.question,))
    shown = answered[-1:] if node.kind == "bridge" else answered
    if node.kind == "comparison":
        text = "\n".join(f"{state.mind_map.nodes[each.node_id].question}: {each.text}" for each in shown)
    else:
        text = "\n".join(each.text for each in shown)
    claims = tuple(dict.fromkeys(claim for each in shown for claim in each.claims))[:MAX_COMPOSED]
    return SubAnswer(
        node_id=node.node_id,
        status="partial" if lacking else "answered",
        text=text,
        claims=claims,
        confidence=min(each.confidence for each in shown),
        missing=lacking,
    )
