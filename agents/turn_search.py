"""The search of past turns, as packs and cognition make it: whose are seen, which may answer, which were replaced."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from agents.core.language import interrogatives
from agents.core.retrieval import evidence, turn_answers, turn_currency
from agents.core.retrieval.evidence import JudgedHit
from agents.core.retrieval.turn_currency import Mark, PastTurn
from agents.core.retrieval.turn_parts import message_of
from agents.ports.passages import Hit, Passage
from schemas.base import message_key

COLLECTION = "episodic"
CANDIDATES = 30
# Of a turn in the reason of the other.
MAX_SHOWN = 60


def others(hits: Sequence[Hit], message_id: str, question: str) -> list[Hit]:
    """The hits without the message itself and earlier questions in its words: most similar, they answer nothing."""
    return [
        hit
        for hit in hits
        if message_of(hit.passage.id) != message_id and not interrogatives.is_asked_again(hit.passage.text, question)
    ]


def contests(passage: Passage) -> tuple[str, ...]:
    """The messages that a turn corrects."""
    return tuple(str(passage.fields.get("contests", "")).split())


async def with_linked(
    found: Sequence[JudgedHit[Hit]], search: Callable[[tuple[str, ...]], Awaitable[Sequence[Hit]]]
) -> list[JudgedHit[Hit]]:
    """The turns found, each with those that it corrects or is corrected by: as likely, for neither stands alone."""
    wanted: dict[str, float] = {}
    for each in found:
        passage = each.hit.passage
        where = (str(passage.fields.get("client_id", "")), passage.conversation_id or "")
        for other in (*contests(passage), *filter(None, [passage.fields.get("contested_by")])):
            wanted.setdefault(message_key(*where, other), each.probability)
    for each in found:
        wanted.pop(each.hit.passage.stored_as, None)
    hits = await search(tuple(wanted)) if wanted else ()
    linked = [JudgedHit(hit, wanted[hit.passage.stored_as]) for hit in hits if hit.passage.stored_as in wanted]
    return [*found, *linked]


def link_marks(found: Sequence[Passage]) -> dict[str, Mark]:
    """The marks of turns that a later one corrects, where it is there, and of those that correct."""
    by_id = {message_of(each.id): each for each in found}
    marks: dict[str, Mark] = {}
    for old in found:
        new = by_id.get(str(old.fields.get("contested_by", "")))
        if new is not None:
            marks[old.id] = Mark(False, str(new.fields.get("now") or new.text)[:MAX_SHOWN], new.recorded_at)
            marks[new.id] = Mark(True, str(new.fields.get("instead_of") or old.text)[:MAX_SHOWN], old.recorded_at)
    return marks


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
