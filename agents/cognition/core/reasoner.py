"""The reasoner: each sub-question answered with sentences of its evidence, from the leaves up; nothing is inferred.

Leaves are answered by the sentences that cover most of what is asked; inner nodes by the answers of their children, as
their kind composes them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from agents.cognition.core.dual_retriever import bound
from agents.cognition.core.missing import is_unknown, missing_of, phrase
from agents.cognition.core.passages import PassageSentence, covered, sentences_of, states, weights
from agents.cognition.language.messages import message
from agents.cognition.verification.asked_amounts import supplies_amount
from agents.core.retrieval.search_terms import QuestionTerm, question_terms
from schemas.cognition import Claim, CognitiveState, EvidenceConflict, MindMapNode, SubAnswer

MAX_CLAIMS, MAX_COMPOSED = 3, 8
# The share of the best sentence's worth that another needs to stand beside it, and of what is asked that it must add.
BESIDE, ADDED = 0.3, 0.1
# Sentences before and after the best one that may be told with it: a question and its answer often stand in two.
BEFORE, AFTER = 1, 2
# The share of what is asked that the best one says alone, and of its worth with which another is as good as it.
WHOLE, ALIKE = 0.8, 0.75
# The share of the best passage's score below which a passage has little to say to a question that is not divided.
FAR = 0.1
# Below both, a probability and a cosine, nothing found answers: of 270 questions of other sets 40 are answered instead
# of 48, of 549 that documents answer one less. A probability of .5 alone would leave 28 and lose ten.
UNSURE, UNLIKE, MENTIONED = 0.6, 0.18, 0.5
# What a word of the question is worth in the heading of a passage, of what it is worth in the sentence.
IN_HEADING = 0.5
# How far a passage's score counts, as an exponent, and what the cosine of a sentence is worth beside its words. Of a
# grid of 48 on own questions (bench/everyday, everyday_by_others, legal_multihop); neighbours differ by .03.
RANK, NEAR = 0.1, 1.0


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A sentence; `covered` words of the question are in it or its heading, `own` is their share in it alone."""

    sentence: PassageSentence
    covered: frozenset[str]
    own: float
    worth: float
    is_far: bool


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
    question = bound(state, leaf)
    lacking = missing_of(state, leaf)
    claims = _claims(state, leaf, question)
    if not claims or is_unknown(state, leaf):
        return abstained(state, leaf, lacking)
    confidence = state.answerable.get(leaf.node_id, 0.0)
    sure = confidence >= UNSURE or not _is_faint(state, leaf, claims)
    if state.flags.abstain and (confidence < state.limits.abstain_threshold or not sure):
        return abstained(state, leaf, lacking or (phrase(question, state.lang),))
    return SubAnswer(
        node_id=leaf.node_id,
        status="partial" if lacking else "answered",
        text=worded(state, leaf.node_id, claims),
        claims=claims,
        confidence=confidence,
        missing=lacking,
    )


def _is_faint(state: CognitiveState, leaf: MindMapNode, claims: Sequence[Claim]) -> bool:
    """Whether no sentence of the evidence is near what is asked, and claims have at most half of its words."""
    near = [cosine for each in state.refined_evidence.get(leaf.node_id, ()) for cosine in each.similar]
    asked = question_terms(bound(state, leaf), state.lang)
    said = {word for each in claims for word in covered(asked, each.text, state.passages[each.chunk_uid].lang)}
    return max(near, default=0.0) < UNLIKE and len(said) <= MENTIONED * len(asked)


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
        _candidate(sentence, asked, worths, each.score / best, near)
        for each in listed
        for sentence, near in zip(sentences_of(state.passages[each.chunk_uid]), each.similar, strict=False)
        if (each.chunk_uid, sentence.start) not in refused and states(sentence)
    ]
    chosen = _chosen(candidates, worths, is_part=leaf.parent_id is not None)
    chosen += _around(candidates, chosen, partial(supplies_amount, question, state.lang))
    chosen += _opposed(state, leaf, candidates, chosen)
    order = {each.chunk_uid: rank for rank, each in enumerate(listed)}
    chosen.sort(key=lambda each: (order[each.sentence.passage.chunk_uid], each.sentence.start))
    return tuple(map(_claim, (each.sentence for each in chosen)))


def _candidate(
    sentence: PassageSentence, asked: Sequence[QuestionTerm], worths: Mapping[str, float], score: float, near: float
) -> _Candidate:
    inside = covered(asked, sentence.text, sentence.passage.lang)
    above = covered(asked, sentence.passage.title, sentence.passage.lang) - inside
    own = sum(worths[word] for word in inside)
    worth = own + IN_HEADING * sum(worths[word] for word in above) + NEAR * max(near, 0.0)
    return _Candidate(sentence, inside | above, own, score**RANK * worth, score < FAR)


def _chosen(candidates: Sequence[_Candidate], worths: Mapping[str, float], *, is_part: bool) -> list[_Candidate]:
    """The best sentence, and those that add to it.

    What is far from the question only adds to a part of one: passages of one part often answer another.
    """
    left = [each for each in candidates if each.worth > 0]
    if not left:
        return []
    best = max(left, key=lambda each: each.worth)
    chosen, known = [best], set(best.covered)
    for each in sorted(left, key=lambda each: -each.worth):
        if len(chosen) == MAX_CLAIMS or each.worth < BESIDE * best.worth:
            break
        if each.is_far and not is_part and each.worth < ALIKE * best.worth:
            continue
        adds = sum(worths[word] for word in each.covered - known)
        another = all(each.sentence.passage.chunk_uid != one.sentence.passage.chunk_uid for one in chosen)
        if each is not best and (adds >= ADDED or another):
            chosen.append(each)
            known |= each.covered
    return chosen


def _around(
    candidates: Sequence[_Candidate], chosen: Sequence[_Candidate], supplies: Callable[[str, str], bool]
) -> list[_Candidate]:
    """The sentences around the best one, in its passage, that are as good as it or make up for what it lacks.

    It lacks nothing where it says most of what is asked, or `supplies` the amount. A sentence before it makes up for
    something less often than one after it, and has to be worth a claim.
    """
    if not chosen:
        return []
    best = chosen[0]
    at, uid = candidates.index(best), best.sentence.passage.chunk_uid
    is_whole = best.own >= WHOLE or supplies(best.sentence.text, best.sentence.passage.lang)
    return [
        each
        for place, each in enumerate(candidates[: at + AFTER + 1])
        if place >= at - BEFORE and each.sentence.passage.chunk_uid == uid and each not in chosen
        if each.worth >= ALIKE * best.worth or (not is_whole and (place > at or each.worth >= BESIDE * best.worth))
    ]


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
