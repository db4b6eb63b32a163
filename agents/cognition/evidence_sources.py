"""The sources of evidence for a sub-question, each with its time limit and its breaker; each always answers.

`lexical` and `vector` are the two lists of one search of the passage index, `local`, `global` and `theme` are reads of
the graph, `conversations` what the asker's own talks have. Passages that only the graph leads to are judged by the
index as its own are.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from agents import turn_search
from agents.cognition.core import dual_retriever
from agents.cognition.core.breaker import SourceBreaker
from agents.cognition.core.dual_retriever import LeafFound, LeafSearch
from agents.cognition.core.passages import cite, cite_of_turn, sentences_of
from agents.cognition.core.sources import by_keys, fused, is_near_enough, retrieval_keys
from agents.cognition.core.theme_activator import MAX_THEMES, activated, theme_terms
from agents.concurrency import timeout
from agents.core.retrieval import evidence, relevance
from agents.core.retrieval.evidence import JudgedHit
from agents.document_search import CANDIDATES, COLLECTION, by_block
from agents.errors import Unavailable
from agents.ports.cognition import PassageLink, ThemeFound
from agents.ports.graph import CognitionGraph, GraphReader
from agents.ports.models import Clock
from agents.ports.passages import Hit, Passage, PassageIndex, PassageQuery
from schemas.cognition import CognitiveState, EvidencePassage, LeafEvidence, SourceAnswer, SourceName
from schemas.items import AccessLevel, TurnOrigin

T = TypeVar("T")
# Per source, as in an ordinary search; a source that is late says so, and the others' evidence counts.
SOURCE_S = 2.0
KINDS = ("chunk", "definition")
SEARCHES = ("index", "conversations")
INDEX: tuple[SourceName, ...] = ("lexical", "vector")
FEATURES: Mapping[SourceName, str] = {"lexical": "bm25", "vector": "dense"}
# How far links are followed: passages per source, the best hits whose links are followed, passages judged beside hits.
FAN_OUT, SEEDS, JUDGED = 50, 5, 20
Status = str


@dataclass(frozen=True, slots=True)
class AskerAccess:
    """Who asks, and what may be read; `error` where it could not be found out."""

    access: AccessLevel
    error: str | None = None


@dataclass(frozen=True, slots=True)
class _Answered(Generic[T]):
    """What a source found, and how it answered."""

    found: Sequence[T]
    status: Status


class EvidenceSources:
    """Searches for sub-questions; a source that fails costs its status, and soon no time."""

    def __init__(self, index: PassageIndex, graph: GraphReader, clock: Clock) -> None:
        self._index = index
        self._graph = graph
        self._clock = clock
        self._breakers: dict[str, SourceBreaker] = {}
        # The index computes one search at a time: a pack's must wait behind one of ours, not behind all.
        self._indexing = asyncio.Semaphore(1)

    async def asker(self, state: CognitiveState) -> AskerAccess:
        """The access level of who asks; public where the graph does not answer."""
        try:
            async with timeout(SOURCE_S):
                persona = await self._graph.persona(state.tenant_id, state.user_id, state.as_of)
        except (Unavailable, TimeoutError) as failed:
            return AskerAccess("public", str(failed) or "timeout")
        return AskerAccess(persona.person.persona_access if persona else "public")

    async def themes(self, state: CognitiveState) -> CognitiveState:
        """The state with the themes of its question, none where the graph does not answer."""
        asker = await self.asker(state)
        limits = {"access_level": asker.access, "as_of": state.as_of}

        async def found() -> Sequence[ThemeFound]:
            graph: CognitionGraph = self._graph
            named = await graph.themes(state.tenant_id, terms=theme_terms(state), limit=MAX_THEMES, **limits)  # type: ignore[arg-type]
            if not named:
                return ()
            ids = [each.id for each in named]
            return (*named, *await graph.near_themes(state.tenant_id, ids=ids, limit=FAN_OUT, **limits))  # type: ignore[arg-type]

        answered = await self._ask("theme", found)
        near = [each for each in answered.found if each.near]
        return activated(state, [each for each in answered.found if not each.near], near)

    async def search(self, state: CognitiveState, leaf: LeafSearch, asker: AskerAccess) -> LeafFound:
        """What all sources find for a sub-question, judged, and what each answered."""
        query = PassageQuery(
            leaf.query,
            state.lang,
            CANDIDATES,
            state.as_of,
            access_level=asker.access,
            kinds=KINDS,
            context=leaf.context,
        )
        graph = _Links(self._graph, state, asker)
        indexed, local, theme, said = await asyncio.gather(
            self._ask("index", lambda: self._index.search(state.tenant_id, COLLECTION, query)),
            self._follow("local", asker, graph.local(leaf.query)),
            self._follow("theme", asker, graph.theme()),
            self._said(state, leaf),
        )
        seeds = [hit.passage.id for hit in indexed.found[:SEEDS]]
        linked = {"local": local, "theme": theme}
        linked["global"] = await self._follow("global", asker, graph.connected(seeds))
        hits = await self._with_linked(state, query, indexed.found, linked)
        reached = {uid for answered in linked.values() for uid in answered.found}
        least = state.limits.similarity_threshold
        hits = [each for each in hits if is_near_enough(each.scores, least, is_linked=each.passage.id in reached)]
        documents, _ = evidence.worth_showing(hits, "documents", state.as_of, dual_retriever.MAX_EVIDENCE)
        turns = turn_search.answering(said.found, leaf.query, state.lang, state.as_of, dual_retriever.MAX_EVIDENCE)
        linked["conversations"] = _Answered([each.hit.passage.id for each in turns], _status(said, turns))
        kept = evidence.preferred((*documents, *turns), state.as_of)[: dual_retriever.MAX_EVIDENCE]
        passages = [_passage(each.hit) for each in kept]
        near = await self._ask("index", lambda: self._similarities(leaf.query, passages))
        if near.status in ("timeout", "error"):
            indexed, kept = replace(indexed, status=near.status), []
        of = {source: set(answered.found) for source, answered in linked.items()}
        found = tuple(
            (passage, _evidence(each, similar, of))
            for passage, each, similar in zip(passages, kept, near.found, strict=False)
        )
        unasked = ("theme",) * (not state.flags.theme) + ("conversations",) * (state.talks_since is None)
        told = _told(leaf, found, indexed.status, {each: linked[each] for each in linked if each not in unasked})
        spoken = relevance.answerable(said.found, "turns") if turns else 0.0
        answerable = max(relevance.answerable(hits, "documents"), spoken)
        return LeafFound(leaf, answerable if found else 0.0, found, told)

    async def _with_linked(
        self, state: CognitiveState, query: PassageQuery, hits: Sequence[Hit], linked: Mapping[str, _Answered[str]]
    ) -> list[Hit]:
        """The hits, and those passages among the links of the graph that the search has not found, in one order."""
        known = {hit.passage.id for hit in hits}
        lists: dict[SourceName, Sequence[str]] = {
            source: linked[source].found for source in ("local", "global", "theme")
        }
        more = [uid for uid in fused(lists) if uid not in known][:JUDGED]
        if more:
            among = replace(query, among=tuple(more), limit=len(more))
            found = await self._ask("index", lambda: self._index.search(state.tenant_id, COLLECTION, among))
            hits = [*hits, *(hit for hit in found.found if hit.passage.id not in known)]
            best = max((hit.scores["bm25"] for hit in hits), default=0.0)
            hits = [replace(hit, score=relevance.rank(hit.scores, best)) for hit in hits]
        return by_block(hits)

    async def _said(self, state: CognitiveState, leaf: LeafSearch) -> _Answered[Hit]:
        """What the asker's own conversations have, as packs see them; nothing is asked where the pack needs none."""
        if state.talks_since is None:
            return _Answered((), "empty")
        query = PassageQuery(
            leaf.query,
            state.lang,
            turn_search.CANDIDATES,
            state.as_of,
            kinds=("message",),
            user_id=state.user_id,
            since=state.talks_since,
            context=leaf.context,
        )

        least = state.limits.similarity_threshold

        async def turns() -> Sequence[Hit]:
            found = await self._index.search(state.tenant_id, turn_search.COLLECTION, query)
            near = [each for each in found if is_near_enough(each.scores, least, is_linked=False)]
            return turn_search.others(near, state.message_id, leaf.query)

        return await self._ask("conversations", turns)

    async def _follow(
        self, source: SourceName, asker: AskerAccess, call: Callable[[], Awaitable[Sequence[str]]] | None
    ) -> _Answered[str]:
        """What links lead to; nothing is asked where there is nothing to start from, or nobody who may read."""
        if call is None:
            return _Answered((), "empty")
        return _Answered((), "error") if asker.error else await self._ask(source, call)

    async def _ask(self, source: str, call: Callable[[], Awaitable[Sequence[T]]]) -> _Answered[T]:
        """What a source answers within its time; while its breaker is open, nothing at once."""
        breaker = self._breakers.setdefault(source, SourceBreaker())
        if not breaker.admits(self._clock.now()):
            return _Answered((), "error")
        status = "ok"
        found: Sequence[T] = ()
        try:
            async with self._indexing if source in SEARCHES else nullcontext(), timeout(SOURCE_S):
                found = await call()
        except TimeoutError:
            status = "timeout"
        except Unavailable:
            status = "error"
        breaker.note(self._clock.now(), answered=status == "ok")
        return _Answered(found, status if found or status != "ok" else "empty")

    async def _similarities(self, query: str, passages: Sequence[EvidencePassage]) -> list[tuple[float, ...]]:
        """The cosines of every passage's sentences with the query."""
        said = [[sentence.text for sentence in sentences_of(each)] for each in passages]
        asked, *vectors = await self._index.vectors([query, *(text for each in said for text in each)])
        near = iter(sum(a * b for a, b in zip(asked, vector, strict=True)) for vector in vectors)
        return [tuple(round(next(near), 4) for _ in each) for each in said]


class _Links:
    """The passages that the graph leads to, best first, for one asker as of one time; None where nothing leads on."""

    def __init__(self, graph: CognitionGraph, state: CognitiveState, asker: AskerAccess) -> None:
        self._graph = graph
        self._state = state
        self._access = asker.access

    def local(self, question: str) -> Callable[[], Awaitable[Sequence[str]]] | None:
        """Passages that mention what a question names."""
        keys = retrieval_keys(question)

        async def named() -> Sequence[str]:
            found = await self._graph.passages_naming(
                self._state.tenant_id,
                names=[(key.kind, key.name) for key in keys],
                access_level=self._access,
                as_of=self._state.as_of,
                limit=FAN_OUT,
            )
            return by_keys([(each.chunk_uid, each.kind, each.by) for each in found], keys)

        return named if keys else None

    def connected(self, seeds: Sequence[str]) -> Callable[[], Awaitable[Sequence[str]]] | None:
        """Passages that have something in common with the best hits, two steps away."""

        async def shared() -> Sequence[str]:
            found = await self._graph.passages_connected(
                self._state.tenant_id,
                chunk_uids=seeds,
                access_level=self._access,
                as_of=self._state.as_of,
                limit=FAN_OUT,
            )
            return [each.chunk_uid for each in found]

        return shared if seeds else None

    def theme(self) -> Callable[[], Awaitable[Sequence[str]]] | None:
        """Passages of the themes of the question, those of the strongest first."""
        weights = {each.theme_id: each.weight for each in self._state.themes}

        async def about() -> Sequence[str]:
            found = await self._graph.passages_about(
                self._state.tenant_id,
                themes=[*weights],
                access_level=self._access,
                as_of=self._state.as_of,
                limit=FAN_OUT,
            )
            return _by_theme(found, weights)

        return about if weights else None


def _by_theme(links: Sequence[PassageLink], weights: Mapping[str, float]) -> list[str]:
    best: dict[str, float] = {}
    for each in links:
        best[each.chunk_uid] = max(best.get(each.chunk_uid, 0.0), weights.get(each.by, 0.0))
    return sorted(best, key=lambda uid: (-best[uid], uid))


def _passage(hit: Hit) -> EvidencePassage:
    passage = hit.passage
    turn = _turn_origin(passage)
    title = str(passage.fields.get("title", ""))
    return EvidencePassage(
        chunk_uid=passage.id,
        text=passage.text,
        title=title,
        document_id=str(passage.fields.get("document_id", "")),
        cite=cite_of_turn(passage.recorded_at, passage.id) if turn else cite(title, passage.id),
        lang=passage.lang,
        recorded_at=passage.recorded_at,
        access_level=passage.access_level,
        turn=turn,
    )


def _turn_origin(passage: Passage) -> TurnOrigin | None:
    if passage.kind != "message":
        return None
    return TurnOrigin(
        role="assistant" if passage.fields.get("role") == "assistant" else "user",
        client_id=str(passage.fields.get("client_id", "")),
        conversation_id=passage.conversation_id or "",
    )


def _evidence(judged: JudgedHit[Hit], similar: tuple[float, ...], linked: Mapping[str, set[str]]) -> LeafEvidence:
    scores = judged.hit.scores
    uid = judged.hit.passage.id
    is_said = uid in linked["conversations"]
    own = [source for source in INDEX if not is_said and scores.get(FEATURES[source], 0.0) > 0]
    by_links: tuple[SourceName, ...] = ("local", "global", "theme", "conversations")
    sources = (*own, *(source for source in by_links if uid in linked[source]))
    return LeafEvidence(chunk_uid=uid, score=judged.probability, sources=sources, similar=similar)


def _status(asked: _Answered[Hit], kept: Sequence[object]) -> Status:
    return "empty" if asked.status == "ok" and not kept else asked.status


def _told(
    leaf: LeafSearch,
    found: Sequence[tuple[EvidencePassage, LeafEvidence]],
    status: Status,
    linked: Mapping[str, _Answered[str]],
) -> tuple[SourceAnswer, ...]:
    """How each source answered; the index says of each of its lists whether it brought any evidence."""
    counts = {source: sum(source in each.sources for _, each in found) for source in INDEX}
    failed = status in ("timeout", "error")
    own = [(source, count, status if failed else "ok" if count else "empty") for source, count in counts.items()]
    links = [(source, len(answered.found), answered.status) for source, answered in linked.items()]
    return tuple(
        SourceAnswer.model_validate(
            {
                **{"node_id": leaf.node_id, "query": leaf.query, "attempt": leaf.attempt},
                **{"source": source, "found": count, "status": said},
            }
        )
        for source, count, said in (*own, *links)
    )
