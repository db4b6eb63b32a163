"""In-memory twins of the working sets and the passage index: no server, no file, the same promises."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC
from functools import partial
from operator import itemgetter

from agents.core.conversation.memory import ConversationTurn, Opened, Session, Turns
from agents.core.conversation.session_state import TurnOutcome, WorkingSetState, apply_log
from agents.core.retrieval.relevance import Rarity, inverse_document_frequency
from agents.core.retrieval.search_terms import question_terms
from agents.errors import ViewIncomplete
from agents.ports.models import Embedder
from agents.ports.passages import Hit, Page, Passage, PassageQuery
from schemas.base import Conversation
from schemas.items import ACCESS_ORDER
from streams.stores.passages.candidates import CANDIDATES, Candidates, Texts, hits_of
from streams.stores.passages.lexical import PassageTerms, asked, terms_of, weights_of
from streams.stores.passages.points import COLLECTIONS, embedded_text
from streams.stores.sessions.memory_view import MemoryView
from streams.stores.sessions.redis_working_sets import KNOWN_MESSAGES, SESSION_TURNS
from streams.stores.sessions.turn_codec import (
    decode_session,
    decode_turns,
    encode_session,
    encode_turn,
    filed_id,
    newest,
)
from streams.stores.tenant import checked, readable, writable
from streams.stores.tenant import key as key_of

# A tenant and the id of its passage.
Key = tuple[str, str]


@dataclass(slots=True)
class _Conversation:
    session: bytes | None = None
    frame_id: str = ""
    turns: list[bytes] = field(default_factory=list)
    frames: dict[str, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    seen: dict[str, tuple[str, bytes]] = field(default_factory=dict)


class MemoryWorkingSets(MemoryView):
    """Working sets of one process. Kept as bytes: what comes back is never the object that went in."""

    def __init__(self) -> None:
        super().__init__("working_set")
        self._kept: dict[str, _Conversation] = defaultdict(_Conversation)
        self._place: Callable[[Conversation], int] | None = None

    def clear(self) -> None:
        """Lose everything, as a server does that is emptied."""
        super().clear()
        self._kept.clear()

    def follow(self, partitions: int, place: Callable[[Conversation], int]) -> None:  # noqa: ARG002  (the port's)
        """From now on every call raises `ViewIncomplete` where the conversation's partition is not whole."""
        self._place = place

    def _of(self, conversation: Conversation) -> _Conversation:
        if self._place is not None and (partition := self._place(conversation)) not in self._whole:
            raise ViewIncomplete("working_set", partition)
        return self._kept[key_of(conversation)]

    async def open(self, conversation: Conversation, message_id: str, limit: int) -> Opened:
        """The session, its current frame's last `limit` turns, and the outcome if this message was seen before."""
        kept = self._of(conversation)
        turns = kept.frames[kept.frame_id][-limit:] if limit > 0 else []
        _, outcome = kept.seen.get(message_id, ("", None))
        return Opened(
            session=Session() if kept.session is None else decode_session(kept.session),
            turns=_decoded(turns),
            outcome=outcome,
        )

    async def frame_of(self, conversation: Conversation, message_id: str) -> str | None:
        """The frame an earlier message was filed in, while it is still known."""
        filed = self._of(conversation).seen.get(message_id)
        return None if filed is None else filed[0]

    async def append(
        self,
        conversation: Conversation,
        frame_id: str,
        turn: ConversationTurn,
        session: Session,
        outcome: bytes,
        keep: int,
    ) -> None:
        """File a turn with the new session and the outcome, in one step; a known message id changes nothing."""
        kept = self._of(conversation)
        message_id = filed_id(turn)
        if message_id in kept.seen:
            return
        raw = encode_turn(turn)
        kept.turns = [*kept.turns, raw][-max(keep, SESSION_TURNS) :]
        kept.frames[frame_id] = [*kept.frames[frame_id], raw][-max(keep, 1) :]
        kept.session, kept.frame_id = encode_session(session), session.frame_id
        kept.seen[message_id] = (frame_id, outcome)
        if len(kept.seen) > KNOWN_MESSAGES:
            del kept.seen[next(iter(kept.seen))]

    async def turns(self, conversation: Conversation, frame_id: str, *, up_to_seq: int, limit: int) -> Turns:
        """The last `limit` turns of a frame with `seq <= up_to_seq`, oldest first."""
        return newest(_decoded(self._of(conversation).frames[frame_id]), up_to_seq=up_to_seq, limit=limit)

    async def session_turns(self, conversation: Conversation, *, up_to_seq: int, limit: int) -> Turns:
        """The last `limit` turns of all frames with `seq <= up_to_seq`, ordered by seq."""
        return newest(_decoded(self._of(conversation).turns), up_to_seq=up_to_seq, limit=limit)

    async def restore(
        self, conversation: Conversation, partition: int, token: str, outcomes: Sequence[TurnOutcome], keep: int
    ) -> int:
        """Add what is lacking of a conversation, and its session; how many turns were lacking."""
        key = key_of(conversation)
        self._unless_behind(partition, token)
        kept = self._kept[key]
        known = WorkingSetState(
            Session() if kept.session is None else decode_session(kept.session),
            _decoded(kept.turns),
            {outcome.turn.frame_id: _decoded(kept.frames[outcome.turn.frame_id]) for outcome in outcomes},
        )
        made = apply_log(known, outcomes, keep=max(keep, 1), keep_all=max(keep, SESSION_TURNS))
        if made is None:
            return 0
        kept.session, kept.frame_id = encode_session(made.session), made.session.frame_id
        kept.turns = list(map(encode_turn, made.turns))
        kept.frames.update({frame_id: list(map(encode_turn, turns)) for frame_id, turns in made.frames.items()})
        there = {turn.message_id for turn in known.turns}
        lacking = {
            outcome.turn.message_id: (outcome.turn.frame_id, outcome.kept())
            for outcome in outcomes
            if outcome.turn.message_id not in there
        }
        newest_ids = [turn.message_id for turn in made.turns[-KNOWN_MESSAGES:]]
        kept.seen = {each: kept.seen.get(each) or lacking[each] for each in newest_ids}
        return sum(turn.message_id not in there for turn in made.turns)


def _decoded(turns: Sequence[bytes]) -> Turns:
    return decode_turns(b"[" + b",".join(turns) + b"]")


@dataclass(frozen=True, slots=True)
class _Indexed:
    passage: Passage
    vector: Sequence[float]
    terms: PassageTerms
    weights: Mapping[str, float]


class MemoryPassageIndex:
    """Exact cosine and BM25 over all passages of one process; `_public` is written only by an administrator."""

    def __init__(self, embedder: Embedder, *, admin: bool = False) -> None:
        self._embedder = embedder
        self._admin = admin
        self._indexed: dict[tuple[str, str, str], _Indexed] = {}

    async def upsert(self, tenant: str, collection: str, passages: Sequence[Passage]) -> None:
        """Store passages by id; visible to the next search."""
        writable(tenant, admin=self._admin)
        vectors = self._embedder.encode([embedded_text(passage) for passage in passages])
        for passage, vector in zip(passages, vectors, strict=True):
            terms = terms_of(passage)
            weights = weights_of(terms, COLLECTIONS[collection])
            found = replace(passage, context="", lead="", recorded_at=passage.recorded_at.astimezone(UTC))
            self._indexed[collection, tenant, passage.id] = _Indexed(found, vector, terms, weights)

    async def search(self, tenant: str, collection: str, query: PassageQuery) -> tuple[Hit, ...]:
        """The passages of this tenant nearest to the question by words and by meaning, best first."""
        return await hits_of(query, partial(self._find, readable(tenant), collection))

    async def _find(
        self, tenants: Sequence[str], collection: str, query: PassageQuery
    ) -> tuple[Candidates[Key], Texts[Key]]:
        corpus = {
            (tenant_id, passage_id): indexed
            for (kept_in, tenant_id, passage_id), indexed in self._indexed.items()
            if kept_in == collection and tenant_id in tenants
        }
        visible = {key: indexed for key, indexed in corpus.items() if _matches(indexed.passage, query)}
        [vector] = self._embedder.encode([query.spoken])
        question = question_terms(query.text, query.lang, query.context)
        terms = asked(question)
        rarity = _rarity(terms, [each.weights for each in corpus.values()])
        dense = {key: sum(map(float.__mul__, vector, each.vector)) for key, each in visible.items()}
        lexical = {
            key: sum(terms[term] * rarity.of[term] * each.weights[term] for term in terms if term in each.weights)
            for key, each in visible.items()
            if not terms.keys().isdisjoint(each.weights)
        }
        most = max(CANDIDATES, query.limit)
        found = Candidates(question, rarity, dict(_best(dense)[:most]), dict(_best(lexical)[:most]))
        return found, {key: (visible[key].passage, visible[key].terms) for key in found.chosen(query.limit)}

    async def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        """The unit vector of each text; nothing is stored."""
        return self._embedder.encode(texts)

    async def listed(self, tenant: str, collection: str, *, after: str | None = None, limit: int = 1000) -> Page:
        """Ids of the tenant's own passages, each once; `after` is what the page before named as following."""
        checked(tenant)
        ids = sorted(key for kept_in, owner, key in self._indexed if (kept_in, owner) == (collection, tenant))
        left = ids if after is None else [each for each in ids if each >= after]
        return Page(tuple(left[:limit]), left[limit] if len(left) > limit else None)

    async def remove(self, tenant: str, collection: str, ids: Sequence[str]) -> None:
        """Take passages of the tenant out; those that are not there do no harm."""
        writable(tenant, admin=self._admin)
        for each in ids:
            self._indexed.pop((collection, tenant, each), None)


def _matches(passage: Passage, query: PassageQuery) -> bool:
    """Whether the asker may see the passage, and asked for such a one."""
    return (
        passage.recorded_at <= query.as_of
        and (passage.retired_at is None or passage.retired_at > query.as_of)
        and ACCESS_ORDER[passage.access_level] <= ACCESS_ORDER[query.access_level]
        and passage.user_id in (None, query.user_id)
        and (not query.kinds or passage.kind in query.kinds)
        and (query.since is None or passage.recorded_at >= query.since)
    )


def _best(scores: Mapping[Key, float]) -> list[tuple[Key, float]]:
    ranked = sorted(scores.items(), key=itemgetter(0))
    return sorted(ranked, key=itemgetter(1), reverse=True)


def _rarity(terms: Mapping[str, float], corpus: Sequence[Mapping[str, float]]) -> Rarity:
    holding = Counter(term for weights in corpus for term in terms if term in weights)
    known = {term: inverse_document_frequency(count, len(corpus)) for term, count in holding.items()}
    return Rarity(known, inverse_document_frequency(0, len(corpus)))
