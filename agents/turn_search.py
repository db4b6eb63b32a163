"""The search of past turns, as packs and cognition make it: whose are seen, which may answer, which were replaced."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from agents.core.language import interrogatives
from agents.core.retrieval import evidence, turn_answers, turn_currency, turn_facts
from agents.core.retrieval.acts import Act, Fact, acts, mentions
from agents.core.retrieval.evidence import JudgedHit
from agents.core.retrieval.turn_currency import Mark, PastTurn
from agents.core.retrieval.turn_parts import message_of
from agents.errors import Unavailable
from agents.ports.graph import GraphReader
from agents.ports.passages import Hit, Passage, PassageIndex, PassageQuery
from schemas.base import message_key

COLLECTION = "episodic"
CANDIDATES = 30
# The later turns that may do something to what was found, and their sentences that are judged.
LATER, MAX_MENTIONS = 20, 12
# The turns found that are facts which later ones may end.
MAX_FACTS = 6
# The claims read of the things that the turns found are about.
MAX_CLAIMS_READ = 100
# Of a turn about the user that shares no word with the question.
MAX_OWN_WORDS = 7
# Of a turn in the reason of the other.
MAX_SHOWN = 60


@dataclass(frozen=True, slots=True)
class LaterTurn:
    """What a later turn does to a fact, and the turn; not `sure`: it may, and is worth showing beside the fact."""

    act: Act
    hit: Hit
    sure: bool


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


@dataclass(frozen=True, slots=True)
class TurnsAsTheyHold:
    """Turns with those that correct or end them, without what was taken back; the marks; whose events are over."""

    turns: Sequence[JudgedHit[Hit]]
    marks: Mapping[str, Mark]
    over: frozenset[str]


async def as_they_hold(
    index: PassageIndex, tenant: str, query: PassageQuery, found: Sequence[JudgedHit[Hit]], facts: int = MAX_FACTS
) -> TurnsAsTheyHold:
    """The turns found as they hold now; `query` says who asks, and when. So many `facts` are looked at, at most."""
    turns = [*found, *await _linked(index, tenant, query, found)]
    told = [each.hit.passage for each in turns if _is_fact(each.hit.passage)]
    asked = [fact for each in told if (fact := _asked_fact(each, query)) is not None]
    done = await later_acts(index, tenant, query, asked[:facts])
    marks = _link_marks([each.hit.passage for each in turns])
    over = {key for key, later in done.items() if later.sure} | {key for key, mark in marks.items() if not mark.holds}
    standing = {each.hit.passage.id: each for each in turns}
    for key, later in done.items():
        old, new = standing[key], later.hit.passage
        if later.act == "retracts":
            del standing[key]
            continue
        if later.sure:
            marks[key] = Mark(False, new.text[:MAX_SHOWN], new.recorded_at)
            marks[new.id] = Mark(True, old.hit.passage.text[:MAX_SHOWN], old.hit.passage.recorded_at)
        standing.setdefault(new.id, JudgedHit(later.hit, old.probability))
    taken_back = [each.text for each in told if each.id in done and done[each.id].act == "retracts"]
    kept = [each for each in standing.values() if not _tells_any(each.hit.passage, taken_back)]
    return TurnsAsTheyHold(kept, marks, frozenset(over))


async def as_known(
    index: PassageIndex,
    graph: GraphReader,
    tenant: str,
    query: PassageQuery,
    found: Sequence[JudgedHit[Hit]],
    facts: int = MAX_FACTS,
) -> TurnsAsTheyHold:
    """The turns as they hold now (`as_they_hold`), marked too by what is recorded of their facts."""
    # At once: each waits for another server.
    held, replaced = await asyncio.gather(
        as_they_hold(index, tenant, query, found, facts),
        _replaced(graph, tenant, query, [each.hit.passage for each in found]),
    )
    known = {each.hit.passage.id: replaced.get(each.hit.passage.stored_as) for each in held.turns}
    return replace(held, marks={**{key: mark for key, mark in known.items() if mark}, **held.marks})


async def _replaced(
    graph: GraphReader, tenant: str, query: PassageQuery, found: Sequence[Passage]
) -> Mapping[str, Mark]:
    """Marks of the user's turns whose facts were replaced, by what they are stored as; none without the graph."""
    said = [(each.text, each.lang) for each in found if each.fields.get("role") == "user"]
    reader = query.user_id or ""
    subjects = turn_facts.subjects(said, reader)
    if not subjects:
        return {}
    try:
        known = await graph.claims_about(
            tenant, reader=reader, subjects=subjects, as_of=query.as_of, limit=MAX_CLAIMS_READ
        )
    except Unavailable:
        return {}
    return turn_facts.marks(query.text, query.lang, known.asserted)


def _tells_any(passage: Passage, taken_back: Sequence[str]) -> bool:
    """Whether a summary tells what was taken back."""
    return passage.kind == "summary" and any(each[:MAX_SHOWN] in passage.text for each in taken_back)


async def _linked(
    index: PassageIndex, tenant: str, query: PassageQuery, found: Sequence[JudgedHit[Hit]]
) -> list[JudgedHit[Hit]]:
    """The turns that those found correct or are corrected by: as likely, for neither stands alone."""
    wanted: dict[str, float] = {}
    for each in found:
        passage = each.hit.passage
        where = (str(passage.fields.get("client_id", "")), passage.conversation_id or "")
        for other in (*contests(passage), *filter(None, [passage.fields.get("contested_by")])):
            wanted.setdefault(message_key(*where, str(other)), each.probability)
    for each in found:
        wanted.pop(each.hit.passage.stored_as, None)
    if not wanted:
        return []
    hits = await index.search(tenant, COLLECTION, replace(query, limit=len(wanted), among=tuple(wanted)))
    return [JudgedHit(hit, wanted[hit.passage.stored_as]) for hit in hits if hit.passage.stored_as in wanted]


def _is_fact(passage: Passage) -> bool:
    """Whether a past turn is a user's, and nothing has corrected it."""
    said_by = passage.fields.get("role") == "user" and passage.kind == "message"
    return said_by and not passage.fields.get("contested_by")


def _asked_fact(said: Passage, query: PassageQuery) -> Fact | None:
    """The fact of a turn that the question names, or that is about the user: of others nobody has asked what holds."""
    fact = Fact.of_turn(said.id, said.recorded_at, said.text, said.lang)
    own = fact is not None and fact.own and len(said.text.split()) <= MAX_OWN_WORDS
    named = fact is not None and (own or evidence.covers(query.text, query.lang, said.text, said.lang))
    return fact if named else None


async def later_acts(
    index: PassageIndex, tenant: str, query: PassageQuery, facts: Sequence[Fact]
) -> dict[str, LaterTurn]:
    """What the user's later statements do to facts, by the id of each that they do something to.

    `query` says who asks, and when. Without vectors only what the words alone say.
    """
    if not facts:
        return {}
    said = " ".join(dict.fromkeys(word for fact in facts for word in fact.searched.split()))
    later = replace(
        query, text=said, limit=LATER, kinds=("message",), since=min(fact.at for fact in facts), context="",
        words_only=True,
    )  # fmt: skip
    hits = await index.search(tenant, COLLECTION, later)
    turns = {hit.passage.id: hit for hit in hits if hit.passage.fields.get("role") == "user"}
    found = [
        each
        for fact in facts
        for hit in turns.values()
        for each in mentions(fact, hit.passage.id, hit.passage.recorded_at, hit.passage.text, hit.passage.lang)
    ][:MAX_MENTIONS]
    texts = list(dict.fromkeys(said for each in found for said in each.masked))
    vectors = dict(zip(texts, await index.vectors(texts), strict=True)) if texts else {}
    done = acts(found, vectors)
    return {fact: LaterTurn(each.act, turns[each.mention.turn], each.sure) for fact, each in done.items()}


def _link_marks(found: Sequence[Passage]) -> dict[str, Mark]:
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
    return [
        PastTurn(p.id, str(p.fields.get("role", "user")), p.text, p.lang, p.recorded_at, p.conversation_id or "")
        for p in found
    ]


def answering(hits: Sequence[Hit], question: str, lang: str, as_of: datetime, limit: int) -> list[JudgedHit[Hit]]:
    """At most `limit` turns that answer a question, best first, without those that a later one of them replaces."""
    kept, _ = evidence.worth_showing(hits, "turns", as_of, limit)
    turns = past_turns([each.hit for each in kept])
    marks = turn_currency.marks(question, lang, turns)
    replaced = {key for key, mark in marks.items() if not mark.holds}
    if not turn_answers.may_answer(question, lang, [turn for turn in turns if turn.id not in replaced]):
        return []
    return [each for each in kept if each.hit.passage.id not in replaced]
