"""Episodic memory: summaries of conversations, past messages, and dated events that a question asks about.

reads   retrieval.plans  key conversation
writes  packs.partial    class episodic
state   the graph, the passage index and the working set (read)
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from agents.concurrency import beside_loop
from agents.core.claims import questions, summaries
from agents.core.language import dates, interrogatives, text
from agents.core.language.dates import Span
from agents.core.language.messages import message
from agents.core.packs.selection import STATED
from agents.core.retrieval import date_questions, evidence, turn_currency
from agents.core.retrieval.evidence import JudgedHit
from agents.core.retrieval.turn_currency import Mark
from agents.core.retrieval.turn_parts import message_of
from agents.errors import Unavailable
from agents.ports.graph import GraphReader
from agents.ports.models import Clock, TokenCounter
from agents.ports.passages import Hit, Passage, PassageIndex
from agents.ports.sessions import WorkingSets
from agents.retrievers.base import RetrievalRequest, RetrievalResult, Retriever, not_shown
from agents.turn_search import CANDIDATES, COLLECTION, TurnsAsTheyHold, as_known, contests, others, past_turns
from schemas.base import derive
from schemas.items import ConversationSummary, Item, Provenance, TimePoint
from schemas.policy import ContextPolicy
from schemas.retrieval import MemoryClass

MAX_SUMMARY_CHARS = 900
# The maximum of events shown, out of so many of the latest.
MAX_EVENTS, MAX_EVENTS_READ = 5, 200
REPLACED_FACTOR = 0.9  # factor for a replaced value, which ranks after the current one
# Of a list: turns searched, shown, and words of each; what each is worth beside evidence.
LISTED, MAX_LISTED, LINE_WORDS, LISTED_SCORE = 100, 30, 24, 0.2
MAX_RECENT = 1  # the newest summary of a conversation includes the older ones


class EpisodicRetriever(Retriever):
    memory = MemoryClass.EPISODIC

    def __init__(
        self,
        tokens: TokenCounter,
        clock: Clock,
        graph: GraphReader,
        index: PassageIndex,
        working_sets: WorkingSets,
        policy: ContextPolicy,
    ) -> None:
        super().__init__(tokens, clock)
        self._graph = graph
        self._index = index
        self._working_sets = working_sets
        self._policy = policy

    async def fetch(self, ask: RetrievalRequest) -> RetrievalResult:
        """Items by selector: the last summary, recent and relevant ones, or only those of the new anchor."""
        match ask.source.selector:
            case "last_conversation_summary":
                return RetrievalResult(await self._last(ask))
            case "recent_summaries":
                return await self._current_and_relevant(ask)
            case "new_anchor_only":
                return await self._about_anchor(ask)
            case _:
                return await self._relevant(ask)

    async def _last(self, ask: RetrievalRequest) -> Sequence[Item]:
        """The newest summary of this conversation; another one has to be found by a search."""
        return await self._of_conversation(ask, ask.source.limit or 1)

    async def _of_conversation(self, ask: RetrievalRequest, limit: int) -> Sequence[ConversationSummary]:
        try:
            found = await self._graph.summaries(
                ask.tenant,
                user_id=ask.plan.user_id,
                conversation_id=ask.plan.conversation_id,
                as_of=ask.plan.as_of,
                limit=limit,
            )
        except Unavailable:
            found = ()
        return found or await self._on_the_fly(ask)

    async def _on_the_fly(self, ask: RetrievalRequest) -> Sequence[ConversationSummary]:
        """A summary made from the working set, for when the summariser's has not yet reached the graph."""
        if not self._policy.enabled:
            return ()
        turns = await self._working_sets.turns(
            ask.conversation, ask.plan.frame_id, up_to_seq=ask.plan.seq - 1, limit=self._policy.max_turns
        )
        if len(turns) < 2:
            return ()
        item = ConversationSummary(
            id=derive("summary-on-the-fly", ask.conversation.key(), ask.plan.frame_id, turns[-1].seq),
            provenance=Provenance(**turns[-1].place.model_dump()),
            recorded_at=turns[-1].created_at,
            reason="extract of the conversation so far",
            score=1.0,
            conversation_id=ask.plan.conversation_id,
            text=summaries.summarise(turns, lang=ask.plan.lang, max_chars=MAX_SUMMARY_CHARS),
            topic=summaries.topic_of(turns, ask.plan.lang),
            from_seq=turns[0].seq,
            to_seq=turns[-1].seq,
        )
        return (item,) if item.text else ()

    async def _current_and_relevant(self, ask: RetrievalRequest) -> RetrievalResult:
        # At once: each waits for another server.
        (current, error), relevant = await asyncio.gather(self._current(ask), self._relevant(ask))
        known = {item.id for item in current}
        others = [item for item in relevant.items if item.id not in known]
        return RetrievalResult([*current, *others], error or relevant.error, relevant.dropped)

    async def _current(self, ask: RetrievalRequest) -> tuple[Sequence[Item], str | None]:
        """This conversation's newest summary, and the error where the graph did not answer."""
        try:
            return await self._of_conversation(ask, MAX_RECENT), None
        except Unavailable as unavailable:
            return (), str(unavailable)

    async def _relevant(self, ask: RetrievalRequest) -> RetrievalResult:
        """Past messages and summaries, of this or the user's other conversations, that help to answer."""
        limit = ask.source.limit or 8
        listed, said = _asks_for_list(ask), date_questions.said_between(ask.plan.query, ask.plan.lang, ask.plan.as_of)
        if said is not None:
            return await self._said(ask, said)
        # At once: each waits for another server.
        found, (events, error) = await asyncio.gather(
            ask.search(self._index, COLLECTION, LISTED if listed else CANDIDATES, user_id=ask.plan.user_id),
            self._events(ask),
        )
        asker = ask.query(1, user_id=ask.plan.user_id, kinds=("message",))
        if listed:
            told = [JudgedHit(hit, LISTED_SCORE) for hit in _own(found[0], ask)]
            held = await as_known(self._index, self._graph, ask.tenant, asker, told, MAX_LISTED)
            return RetrievalResult([*events, *_listed([each.hit for each in held.turns], ask, held.marks)], error)
        read = sum(len(hit.passage.text) for hits in found for hit in hits)
        kept, left_out = await beside_loop(read, partial(_judged, ask, limit, found))
        held = await as_known(self._index, self._graph, ask.tenant, asker, kept)
        items = await beside_loop(read, partial(_shown, ask, held, events))
        return RetrievalResult(items, error, not_shown(self.memory, left_out))

    async def _said(self, ask: RetrievalRequest, when: Span) -> RetrievalResult:
        """What was said at the time asked about, one line each: the time decides, and not the words."""
        query = replace(
            ask.query(LISTED, user_id=ask.plan.user_id, kinds=("message",)),
            since=when.start,
            as_of=min(when.end, ask.plan.as_of),
        )
        hits = await self._index.search(ask.tenant, COLLECTION, query)
        return RetrievalResult(_listed(_own(hits, ask, ("user", "assistant")), ask))

    async def _events(self, ask: RetrievalRequest) -> tuple[Sequence[TimePoint], str | None]:
        """Events of the user's conversations in the time asked about, most probable first, and the error if any."""
        plan, kinds = ask.plan, ask.source.kinds
        asked = date_questions.asked_time(plan.query, plan.lang, plan.as_of)
        if asked is None or (kinds is not None and "event" not in kinds):
            return (), None
        try:
            found = await self._graph.events(
                ask.tenant, user_id=plan.user_id, between=asked.bounds, as_of=plan.as_of, limit=MAX_EVENTS_READ
            )
        except Unavailable as unavailable:
            return (), str(unavailable)
        # A question about a day mentions it, too, but says nothing of its events.
        said = [event for event in found if not interrogatives.is_question(event.label)]
        judged = [(event, date_questions.likelihood(asked, event.label, event.at, event.kind)) for event in said]
        likely = [_as_event(event, score) for event, score in judged if score is not None]
        return sorted(likely, key=lambda event: -event.score), None

    async def _about_anchor(self, ask: RetrievalRequest) -> RetrievalResult:
        """Summaries of the new subject only, without the abandoned frame."""
        terms = set(text.content_words(text.clip(ask.plan.query), ask.plan.lang))
        wanted = ask.query(CANDIDATES, user_id=ask.plan.user_id, kinds=("summary",))
        hits = await self._index.search(ask.tenant, COLLECTION, wanted)
        topics = [text.content_set(str(hit.passage.fields.get("topic", "")), ask.plan.lang) for hit in hits]
        about = [hit for hit, topic in zip(hits, topics, strict=True) if terms & topic]
        kept, left_out = evidence.worth_showing(about, "turns", ask.plan.as_of, ask.source.limit or 8)
        return RetrievalResult([to_item(each, ask) for each in kept], None, not_shown(self.memory, left_out))


def _judged(
    ask: RetrievalRequest, limit: int, found: Sequence[Sequence[Hit]]
) -> tuple[Sequence[JudgedHit[Hit]], Sequence[JudgedHit[Hit]]]:
    """The hits that may help to answer, best first, and those left out."""
    said, *of_parts = (others(hits, ask.plan.message_id, ask.plan.query) for hits in found)
    kept, left_out = evidence.worth_showing(said, "turns", ask.plan.as_of, limit, of_parts)
    # A summary repeats its turns at five times their length, so it is shown only as the best hit.
    shown = [each for place, each in enumerate(kept) if not place or each.hit.passage.kind != "summary"]
    return shown, [*left_out, *(replace(each, left_out="duplicate") for each in kept if each not in shown)]


def _shown(ask: RetrievalRequest, held: TurnsAsTheyHold, events: Sequence[TimePoint]) -> Sequence[Item]:
    """What is shown of the turns, with the events, best first."""
    turns = past_turns([each.hit for each in held.turns])
    marks = {**turn_currency.marks(ask.plan.query, ask.plan.lang, turns, ask.context), **held.marks}
    shown = _raise_replacing(held.turns, marks)
    events = [event for event in events if event.message_id not in held.over]
    # A message and its dated event say the same: the more probable of the two is shown, or the message where it is
    # known whether its value is current.
    likely = {each.hit.passage.id: 1.0 if each.hit.passage.id in marks else each.probability for each in shown}
    fresh = [event for event in events if event.score > likely.get(event.message_id or "", 0.0)][:MAX_EVENTS]
    said_by = {event.message_id for event in fresh}
    items: list[Item] = [*fresh]
    items += [
        to_item(each, ask, marks.get(each.hit.passage.id))
        for each in shown
        if message_of(each.hit.passage.id) not in said_by
    ]
    items.sort(key=lambda item: -evidence.preference(item.score, item.recorded_at, ask.plan.as_of))
    return items


def _label(fields: Mapping[str, Any], shown: str, lang: str) -> str:
    """Who said what, and the question that a short turn answers."""
    answers = f" {message(lang, 'text.answers', text=asked)}" if (asked := str(fields.get("answers", ""))) else ""
    return f"{fields.get('role', 'user')}: {shown}{answers}"


def _asks_for_list(ask: RetrievalRequest) -> bool:
    plan = ask.plan
    asked = date_questions.asked_time(plan.query, plan.lang, plan.as_of)
    if asked is not None and asked.spans:
        return False  # what is in one's calendar this week has its dates
    return interrogatives.asks_for_own_list(plan.query) or questions.asks_for_all(plan.query, plan.lang)


def _own(hits: Sequence[Hit], ask: RetrievalRequest, roles: tuple[str, ...] = ("user",)) -> list[Hit]:
    """The turns of these roles that are listed: the first of those found."""
    said = others(hits, ask.plan.message_id, ask.plan.query)
    return [hit for hit in said if hit.passage.fields.get("role") in roles][:MAX_LISTED]


def _listed(said: Sequence[Hit], ask: RetrievalRequest, marks: Mapping[str, Mark] = MappingProxyType({})) -> list[Item]:
    """What the user said, one line each, newest first: of many things none answers, and all are asked for."""
    shown = {text.content_set(hit.passage.text, hit.passage.lang): hit for hit in reversed(said)}
    newest = sorted(shown.values(), key=lambda hit: hit.passage.recorded_at, reverse=True)
    lines = [to_item(JudgedHit(hit, LISTED_SCORE), ask, marks.get(hit.passage.id)) for hit in newest]
    return [item.model_copy(update={"label": _one_line(item.label)}) for item in lines if isinstance(item, TimePoint)]


def _one_line(label: str) -> str:
    words = label.split()
    return " ".join([*words[:LINE_WORDS], *(["…"] if len(words) > LINE_WORDS else [])])


def _raise_replacing(found: Sequence[JudgedHit[Hit]], marks: Mapping[str, Mark]) -> list[JudgedHit[Hit]]:
    """Give a replacing turn at least the probability of the turn it replaces, and order it first."""
    marked = {each.hit.passage.id: each.probability for each in found if each.hit.passage.id in marks}
    most = max(marked.values(), default=0.0)
    now = {key: most if marks[key].holds else REPLACED_FACTOR * probability for key, probability in marked.items()}
    return [replace(each, probability=now.get(each.hit.passage.id, each.probability)) for each in found]


def _as_event(event: TimePoint, score: float) -> TimePoint:
    named = "named in the question" if score == date_questions.NAMED else "at the time asked about"
    reason = f"event on {dates.shown(event.at, event.kind)}, {named}"
    return event.model_copy(update={"score": score, "reason": reason})


def to_item(judged: JudgedHit[Hit], ask: RetrievalRequest, mark: Mark | None = None) -> ConversationSummary | TimePoint:
    """The item of a hit: a time point for a past message, a summary for a summary."""
    hit = judged.hit
    passage, fields = hit.passage, hit.passage.fields
    place = _place(passage)
    covered = evidence.covers(ask.plan.query, ask.plan.lang, passage.text, passage.lang)
    reason = evidence.reason(covered)
    if passage.kind == "summary":
        return ConversationSummary(
            id=passage.id,
            provenance=place,
            recorded_at=passage.recorded_at,
            access_level=passage.access_level,
            reason=reason,
            score=round(judged.probability, evidence.PROBABILITY_PLACES),
            scores=evidence.written(hit.scores),
            covers=covered,
            conversation_id=passage.conversation_id or "",
            text=passage.text,
            topic=str(fields.get("topic", "")),
            from_seq=int(fields.get("from_seq", 0)),
            to_seq=int(fields.get("to_seq", 0)),
            origin="current" if passage.conversation_id == ask.plan.conversation_id else "previous",
        )
    said = evidence.stated(ask.plan.query, ask.plan.lang, passage.text, passage.lang)
    shown = evidence.excerpt(ask.plan.query, ask.plan.lang, passage.text, passage.lang, context=ask.context)
    return TimePoint(
        id=passage.id,
        provenance=place,
        recorded_at=passage.recorded_at,
        access_level=passage.access_level,
        reason=f"{reason}; {mark.reason()}" if mark else reason,
        score=round(judged.probability, evidence.PROBABILITY_PLACES),
        scores=evidence.written({**hit.scores, STATED: said}),
        covers=covered,
        label=_label(fields, shown, ask.plan.lang),
        truncated=shown != passage.text,
        at=passage.recorded_at,
        kind="message",
        holds=mark.holds if mark else None,
        contests=contests(passage) or None,
    )


def _place(passage: Passage) -> Provenance:
    fields = passage.fields
    if "topic_name" not in fields:
        return Provenance(store="index", id=passage.id)
    return Provenance(
        topic=str(fields["topic_name"]),
        partition=int(fields["partition"]),
        offset=int(fields["offset"]),
        store="index",
        id=passage.id,
    )
