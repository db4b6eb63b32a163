"""The search of past turns, as packs and cognition make it: whose are seen, which may answer, which were replaced."""

from collections.abc import Sequence
from datetime import datetime

from agents.core.language import interrogatives
from agents.core.retrieval import evidence, turn_answers, turn_currency
from agents.core.retrieval.evidence import JudgedHit
from agents.core.retrieval.turn_currency import PastTurn
from agents.core.retrieval.turn_parts import message_of
from agents.ports.passages import Hit

COLLECTION = "episodic"
CANDIDATES = 30


def others(hits: Sequence[Hit], message_id: str, question: str) -> list[Hit]:
    """The hits without the message itself and earlier questions in its words: most similar, they answer nothing."""
    return [
        hit
        for hit in hits
        if message_of(hit.passage.id) != message_id and not interrogatives.is_asked_again(hit.passage.text, question)
    ]


def past_turns(hits: Sequence[Hit]) -> list[PastTurn]:
    """The past messages among the hits."""
    found = [hit.passage for hit in hits if hit.passage.kind == "message"]
    return [PastTurn(p.id, str(p.fields.get("role", "user")), p.text, p.lang, p.recorded_at) for p in found]


def answering(hits: Sequence[Hit], question: str, lang: str, as_of: datetime, limit: int) -> list[JudgedHit[Hit]]:
    """At most `limit` turns that answer a question, best first, without those that a later one of them replaces."""
    kept, _ = evidence.worth_showing(hits, "turns", as_of, limit)
    turns = past_turns([each.hit for each in kept])
    marks = turn_currency.marks(question, lang, turns)
    replaced = {key for key, mark in marks.items() if not mark.holds}
    if not turn_answers.may_answer(question, lang, [turn for turn in turns if turn.id not in replaced]):
        return []
    return [each for each in kept if each.hit.passage.id not in replaced]
