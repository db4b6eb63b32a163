"""Semantic memory: document passages that answer, and definitions, concepts and claims that the question names.

reads   retrieval.plans  key conversation
writes  packs.partial    class semantic
state   the passage index and the graph (read)
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import chain

from agents.access_levels import AccessLevels
from agents.core.claims import questions, resolution
from agents.core.claims.resolution import CurrentClaim
from agents.core.documents.knowledge import PATH_JOINT
from agents.core.language import text
from agents.core.language.interrogatives import asks_for_documents
from agents.core.retrieval import evidence
from agents.core.retrieval.acts import Fact
from agents.core.retrieval.evidence import JudgedHit
from agents.document_search import CANDIDATES, COLLECTION, by_block
from agents.errors import Unavailable
from agents.model_help import TimedModel, chosen
from agents.ports.graph import GraphReader
from agents.ports.models import Clock, TokenCounter
from agents.ports.passages import Hit, Passage, PassageIndex
from agents.retrievers.base import RetrievalRequest, RetrievalResult, Retriever, not_shown
from agents.turn_search import MAX_SHOWN, later_acts
from schemas.items import AccessLevel, Chunk, ClaimItem, Concept, Item, Knowledge, Provenance
from schemas.memory import ClaimAsserted
from schemas.policy import DEFAULT_POLICY, ContextPolicy
from schemas.retrieval import MemoryClass

MAX_CLAIMS, MAX_CLAIMS_READ = 10, 40
# Scores of items named exactly, and of confirmed claims about them.
NAMED, CONFIRMED = 0.6, 0.9
# Of what others said: the first that gives way to what is known.
SAID = 0.1
MAX_WORDS = 40
# Of a list of documents: passages searched, and words of each that are shown.
LISTED, LINE_WORDS = 100, 12
KINDS = ("chunk", "definition", "concept")
# What is left for the answer behind a model that does not.
MODEL_MARGIN = timedelta(milliseconds=150)


class SemanticRetriever(Retriever):
    memory = MemoryClass.SEMANTIC

    def __init__(
        self,
        tokens: TokenCounter,
        clock: Clock,
        index: PassageIndex,
        graph: GraphReader,
        policy: ContextPolicy = DEFAULT_POLICY,
        model: TimedModel | None = None,
    ) -> None:
        super().__init__(tokens, clock)
        self._model = model
        self._shared = policy.claims.share == "tenant"
        self._index = index
        self._graph = graph
        self._access = AccessLevels(graph)

    async def fetch(self, ask: RetrievalRequest) -> RetrievalResult:
        """Items above the relevance threshold, most probable first; where one store fails, those of the other."""
        if asks_for_documents(ask.plan.query):
            return await self._documents(ask)
        limit = ask.source.limit or 10
        (found, named), error = await self._access.searched(*ask.asker, partial(self._found, ask, limit))
        hits, *of_parts = map(by_block, found)
        kept, left_out = evidence.worth_showing(hits, "documents", ask.plan.as_of, limit, of_parts)
        if self._model is not None:
            left = (ask.plan.deadline_at - self._clock.now() - MODEL_MARGIN).total_seconds()
            kept, left_out = await chosen(self._model, ask.plan.query, ask.context, kept, left_out, left)
        # A fact may be both named and asked for: it is there once, as likely as by either.
        facts = sorted(chain.from_iterable(each.items for each in named), key=lambda item: item.score)
        items = [*{item.id: item for item in facts}.values(), *(_to_item(each, ask) for each in kept)]
        items.sort(key=lambda item: -evidence.preference(item.score, item.recorded_at, ask.plan.as_of))
        wrong = next((each.error for each in named if each.error), None)
        return RetrievalResult(items, error or wrong, not_shown(self.memory, left_out))

    async def _documents(self, ask: RetrievalRequest) -> RetrievalResult:
        """The documents that there are, one line each; those whose titles the question names, where it names some."""
        query = ask.query(LISTED, kinds=("chunk",))
        search = partial(self._index.search, ask.tenant, COLLECTION)
        hits, error = await self._access.searched(
            *ask.asker, lambda access: search(replace(query, access_level=access))
        )
        first: dict[str, Hit] = {}
        for hit in sorted(hits, key=lambda hit: int(hit.passage.fields.get("position", 0))):
            first.setdefault(str(hit.passage.fields.get("document_id", "")), hit)
        asked = frozenset(text.content_words(ask.plan.query, ask.plan.lang))
        named = [hit for hit in first.values() if asked & text.content_set(_title(hit), ask.plan.lang)]
        items = [_to_item(JudgedHit(hit, NAMED), ask) for hit in named or first.values()]
        return RetrievalResult([_titled(item) for item in items if isinstance(item, Chunk)], error)

    async def _found(
        self, ask: RetrievalRequest, limit: int, access: AccessLevel
    ) -> tuple[Sequence[Sequence[Hit]], Sequence[RetrievalResult]]:
        """The passages that a search finds, and the items that the question names exactly."""
        named = [] if ask.source.narrow else [partial(self._named_items, ask, access, limit)]
        # At once: each of them waits for a server.
        return await asyncio.gather(
            ask.search(self._index, COLLECTION, CANDIDATES, access_level=access, kinds=KINDS),
            asyncio.gather(*map(_or_error, (*named, partial(self._user_claims, ask)))),
        )

    async def _named_items(self, ask: RetrievalRequest, access: AccessLevel, limit: int) -> Sequence[Item]:
        """Concepts and definitions that the question names, and claims about its subjects: the current ones, once."""
        asked = text.content_words(text.clip(ask.plan.query), ask.plan.lang)
        found = await self._graph.named(
            ask.tenant,
            reader=ask.plan.user_id,
            terms=asked,
            subjects=() if ask.source.selector == "claim_related_concepts" else _subjects(ask),
            access_level=access,
            as_of=ask.plan.as_of,
            limit=limit,
            max_claims=2 * MAX_CLAIMS_READ,
            shared=self._shared,
        )
        items = {item.claim_id: item for item in found.claims.claims}
        of_others = [each for each in found.claims.asserted if _is_of_another(each, ask.plan.user_id)]
        own = [each for each in found.claims.asserted if each not in of_others]
        named = partial(_is_named, asked=asked, lang=ask.plan.lang)
        mine = questions.fully_named(own, ask.plan.user_id, ask.plan.query, ask.plan.lang)
        known = {each.claim.claim_id: each for each in (*mine, *resolution.offered(own))}
        wanted = {each.claim.claim_id for each in mine}
        told = [
            (items[name], each, NAMED)
            for name, each in known.items()
            if name in wanted or named(_as_knowledge(items[name], each))
        ]
        claims = await self._standing(ask, told[:MAX_CLAIMS])
        # Apart: what another says replaces nothing that one knows, and does not stand beside it.
        said = (_as_said(items[each.claim.claim_id], each) for each in resolution.offered(of_others))
        claims += filter(named, said)
        return [*map(_as_named, filter(named, found.concepts)), *claims[:MAX_CLAIMS]]

    async def _user_claims(self, ask: RetrievalRequest) -> Sequence[Item]:
        """The user's claims about themselves, if asked for: the current value with its predecessor."""
        kinds = questions.about_oneself(ask.plan.query, ask.plan.lang)
        if kinds is None:
            return []
        user_id = ask.plan.user_id
        found = await self._graph.claims_about(
            ask.tenant,
            reader=user_id,
            subjects=questions.subjects_of(user_id),
            as_of=ask.plan.as_of,
            limit=MAX_CLAIMS_READ,
        )
        items = {item.claim_id: item for item in found.claims}
        own = questions.own_claims(found.asserted, user_id, kinds)
        most = MAX_CLAIMS_READ if kinds == questions.EVERYTHING else MAX_CLAIMS
        return await self._standing(ask, [(items[each.claim.claim_id], each, CONFIRMED) for each in own[:most]])

    async def _standing(
        self, ask: RetrievalRequest, known: Sequence[tuple[ClaimItem, CurrentClaim, float]]
    ) -> list[Knowledge]:
        """Claims as knowledge, without those that the user has taken back; with what ended those that are over."""
        facts = [
            Fact.of_claim(item.claim_id, item.recorded_at, (item.subject, item.attribute, item.value), each.claim.lang)
            for item, each, _ in known
        ]
        done = await later_acts(self._index, ask.tenant, ask.query(1, user_id=ask.plan.user_id), facts)
        found = []
        for item, each, score in known:
            later, known_as = done.get(item.claim_id), _as_knowledge(item, each, score)
            if later is None or not later.sure:
                found.append(known_as)
            elif later.act == "ends":
                found.append(_as_ended(known_as, later.hit.passage))
        return [*{each.id: each for each in found}.values()]


def _is_of_another(claim: ClaimAsserted, user_id: str) -> bool:
    """Whether a claim is known to a user by the policy alone."""
    return bool(claim.shared) and user_id not in (claim.user_id, *(claim.audience or ()))


def _title(hit: Hit) -> str:
    return str(hit.passage.fields.get("title", "")).partition(PATH_JOINT)[0]


def _titled(item: Chunk) -> Chunk:
    """A document in one line: its title, and how it begins."""
    title, _, path = item.title.partition(PATH_JOINT)
    words = f"{path}: {item.text}".split() if path else item.text.split()
    begins = " ".join([*words[:LINE_WORDS], *(["…"] if len(words) > LINE_WORDS else [])])
    return item.model_copy(update={"title": title, "text": begins, "page": None})


async def _or_error(read: Callable[[], Awaitable[Sequence[Item]]]) -> RetrievalResult:
    """What a read finds; nothing, and why, where the graph does not answer."""
    try:
        return RetrievalResult(await read())
    except Unavailable as unavailable:
        return RetrievalResult((), str(unavailable))


def _is_named(item: Concept | Knowledge, asked: Sequence[str], lang: str) -> bool:
    """Whether the question names the item and the item covers most of the question."""
    name, said = (item.name, item.definition) if isinstance(item, Concept) else (item.title, item.text)
    return evidence.names(asked, name, lang) and evidence.answers_half(asked, f"{name} {said}", lang)


def _as_named(item: Concept | Knowledge) -> Concept | Knowledge:
    return item.model_copy(update={"score": NAMED, "reason": "the question names it"})


def _subjects(ask: RetrievalRequest) -> list[str]:
    """The subjects that a question may name: those of its own words, and those of the user's own things."""
    return [*_phrases(ask.plan.query), *questions.subjects_of(ask.plan.user_id)]


def _phrases(query: str) -> list[str]:
    """The n-grams of up to four words of a question, as candidate subjects of claims."""
    said = text.words(text.clip(query))[:MAX_WORDS]
    return sorted({" ".join(said[i : i + n]) for n in range(1, 5) for i in range(len(said) - n + 1)})


def _as_knowledge(claim: ClaimItem, offered: CurrentClaim, score: float = NAMED) -> Knowledge:
    confirmed = claim.status == "confirmed"
    older = "".join(f"; before: {each.value} ({each.asserted_at:%Y-%m-%d})" for each in offered.instead_of[:1])
    doubt = ", contested by the assistant" if claim.status == "contested" else ""
    return Knowledge(
        id=claim.claim_id,
        provenance=claim.provenance,
        recorded_at=claim.recorded_at,
        access_level=claim.access_level,
        reason=f"{'confirmed' if confirmed else 'said'} in a conversation about {claim.subject}{doubt}{older}",
        score=CONFIRMED if confirmed else score,
        title=claim.subject,
        text=f"{claim.value} ({claim.text})",
        confidence=claim.confidence,
        holds=True if older else None,
    )


def _as_ended(known: Knowledge, by: Passage) -> Knowledge:
    """The user's later statement instead of the claim that it ended."""
    return known.model_copy(
        update={
            "id": by.id,
            "provenance": Provenance(store="index", id=by.id),
            "recorded_at": by.recorded_at,
            "reason": f"said later; before: {known.text[:MAX_SHOWN]} ({known.recorded_at:%Y-%m-%d})",
            "text": by.text,
            "holds": True,
        }
    )


def _as_said(claim: ClaimItem, offered: CurrentClaim) -> Knowledge:
    return _as_knowledge(claim, offered).model_copy(
        update={"said_by": offered.claim.user_id, "score": SAID, "reason": "said by another user, not verified"}
    )


def _to_item(judged: JudgedHit[Hit], ask: RetrievalRequest) -> Item:
    hit = judged.hit
    passage = hit.passage
    fields = passage.fields
    said = f"{fields.get('title', '')} {passage.text}"
    covered = evidence.covers(ask.plan.query, ask.plan.lang, said, passage.lang)
    common: dict[str, object] = {
        "id": passage.id,
        "provenance": Provenance(store="index", id=passage.id),
        "recorded_at": passage.recorded_at,
        "access_level": passage.access_level,
        "reason": evidence.reason(covered),
        "covers": covered,
        "score": round(judged.probability, evidence.PROBABILITY_PLACES),
        "scores": evidence.written(hit.scores),
    }
    match passage.kind:
        case "definition":
            return Knowledge(**common, title=str(fields.get("title", "")), text=passage.text)
        case "concept":
            return Concept(**common, name=str(fields.get("title", "")), definition=passage.text)
        case _:
            shown = evidence.matching_rows(ask.plan.query, ask.plan.lang, passage.text, passage.lang)
            return Chunk(
                **common,
                truncated=shown != passage.text,
                chunk_uid=passage.id,
                document_id=str(fields.get("document_id", "")),
                title=str(fields.get("title", "")),
                text=shown,
                position=int(fields.get("position", 0)),
                page=fields.get("page"),
            )
