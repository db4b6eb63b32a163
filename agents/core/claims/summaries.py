"""Extractive summaries of conversations: the most informative sentences, in their original order.

A sentence scores by the words it shares with the whole (TF-IDF centroid), by names, numbers and dates, by its position
at the beginning or the end, and against the sentences already chosen (MMR). Questions come after all statements;
sentences with different figures or names are never repetitions. Nothing is rephrased.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from agents.core.caching.texts import text_cache
from agents.core.claims.markers import is_correction
from agents.core.conversation.memory import ConversationTurn
from agents.core.conversation.turn_links import repaired, standing
from agents.core.language.dates import events_in
from agents.core.language.interrogatives import wants_an_answer
from agents.core.language.messages import speaker
from agents.core.language.sentences import composed, sentences
from agents.core.language.text import clip, content_words, fold, stem, surface_terms
from schemas.base import Conversation, derive
from schemas.memory import EventMention, SummaryMade

MAX_CHARS = 1_200
MAX_SENTENCE_CHARS = 280
MAX_SENTENCES = 600
MAX_EVENTS = 20
TOPIC_TERMS, TOPIC_CHARS, MAX_TERMS = 4, 80, 12
# The weight of relevance against repetition in a choice (MMR).
RELEVANCE = 0.7
REPEATS = 0.6
# Above the maximum score of a sentence: questions are ranked after their answers.
QUESTION = 2.0

_NAMED = re.compile(r"(?<=[\w,;:)] )[A-ZÀ-Ý][\wÀ-ÿ-]+")
_FIGURE = re.compile(r"\d")
_MAGNITUDES = frozenset({"mil", "milhão", "milhões", "thousand", "million"})
# One-word answers: `Cancelado.`, `Sent.`
_OUTCOME = re.compile(
    r"\W*(?:já\s+|está\s+|foi\s+|all\s+)?(?!obrigad|entendid|combinad|indeed|noted|need)"
    r"(?:\w{2,}(?:ad|íd|id)[oa]s?|feit[oa]|pag[oa]|entregue|\w{3,}ed|done|sent|paid|sold|booked)\W*",
    re.IGNORECASE,
)
_PARTICULAR = re.compile(r"(?<=[\w,;:)] )[A-ZÀ-Ý][\wÀ-ÿ-]+|(?<!\w)\w*\d[\w.,]*")
_BLANKS = re.compile(r"\s+")


# What so many turns say is cached: a conversation's next summary has the same turns but one.
KEPT_TURNS = 1_024


@dataclass(frozen=True, slots=True)
class _Said:
    """What a sentence has by itself, wherever its turn stands in the conversation."""

    key: str
    text: str
    stems: frozenset[str]
    place: int
    has_figure: bool
    has_name: bool
    is_correction: bool
    is_outcome: bool
    is_question: bool
    particulars: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Sentence:
    turn: int
    order: int
    role: str
    text: str
    stems: frozenset[str]
    bonus: float
    particulars: frozenset[str] = frozenset()


def summarise(turns: Sequence[ConversationTurn], *, lang: str, max_chars: int) -> str:
    """An extract of at most `max_chars` characters: one line per speaker's stretch, `Speaker: sentences`."""
    chosen: list[_Sentence] = []
    best = ""
    for sentence in _ranked(_candidates(turns, lang)):
        longer = sorted([*chosen, sentence], key=lambda one: one.order)
        text = _rendered(longer, lang)
        best = best or text
        if len(text) <= max_chars:
            chosen = longer
        elif not chosen or max_chars - len(_rendered(chosen, lang)) < MAX_SENTENCE_CHARS // 4:
            break
    return _rendered(chosen, lang) or _cut(best or _last_words(turns, lang), max_chars)


def tells_anything(turns: Sequence[ConversationTurn], lang: str) -> bool:
    """Whether some sentence of the turns is more than a question or a request: questions alone answer nothing later."""
    return any(
        not said.is_question and (turn.role == "assistant" or not wants_an_answer(said.text, turn.lang or lang))
        for turn in turns
        if turn.role != "system"
        for said in _said(clip(turn.content), turn.lang or lang)
    )


def _cut(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else f"{text[: max(max_chars - 1, 0)].rstrip()}…"[: max(max_chars, 0)]


def _candidates(turns: Sequence[ConversationTurn], lang: str) -> list[_Sentence]:
    """The candidate sentences, each once; without system turns, which are instructions."""
    found: dict[str, _Sentence] = {}
    for number, turn in enumerate(standing(turns)):
        if turn.role == "system":
            continue
        for said in _said(clip(turn.content), turn.lang or lang):
            # A repeated sentence counts at its last position.
            found.pop(said.key, None)
            bonus = _bonus(said, number, len(turns)) - 0.02 * min(said.place, 10)
            found[said.key] = _Sentence(number, 0, turn.role, said.text, said.stems, bonus, said.particulars)
    kept = list(found.values())[-MAX_SENTENCES:]
    return [replace(one, order=order) for order, one in enumerate(kept)]


@text_cache(KEPT_TURNS)
def _said(content: str, lang: str) -> tuple[_Said, ...]:
    """The sentences of a turn that tell something, in order."""
    found = []
    for place, text in enumerate(sentences(composed(content), lang)):
        stems = frozenset(content_words(text, lang))
        figure, outcome = _FIGURE.search(text) is not None, _OUTCOME.fullmatch(text) is not None
        if len(stems) >= 2 or (stems and figure) or outcome:
            named, corrects = _NAMED.search(text) is not None, is_correction(text, lang)
            asks = text.rstrip(" )\"'").endswith("?")
            particulars = frozenset(_PARTICULAR.findall(text))
            found.append(
                _Said(fold(text), _short(text), stems, place, figure, named, corrects, outcome, asks, particulars)
            )
    return tuple(found)


def _bonus(said: _Said, turn: int, count: int) -> float:
    """The score of a sentence besides its words; a question alone has less information than an answer."""
    bonus = 0.15 if said.has_figure else 0.0
    bonus += 0.1 if said.has_name else 0.0
    bonus += 0.1 if turn == 0 else 0.0
    bonus += 0.15 * (turn + 1) / count
    bonus += 0.2 if said.is_correction else 0.0
    bonus += 0.2 if said.is_outcome else 0.0
    return bonus - (QUESTION if said.is_question else 0.0)


def _short(text: str) -> str:
    text = _BLANKS.sub(" ", text).strip()
    if len(text) <= MAX_SENTENCE_CHARS:
        return text
    return f"{text[: MAX_SENTENCE_CHARS - 1].rsplit(' ', 1)[0]}…"


def _ranked(found: Sequence[_Sentence]) -> Iterator[_Sentence]:
    """Sentences by maximal marginal relevance: relevant to the whole, unlike those chosen before."""
    scores = _relevance(found)
    nearest = dict.fromkeys(range(len(found)), 0.0)
    while nearest:
        best = max(nearest, key=lambda at: (RELEVANCE * scores[at] - (1 - RELEVANCE) * nearest[at], -at))
        if nearest.pop(best) <= REPEATS:
            yield found[best]
        for at in nearest:
            nearest[at] = max(nearest[at], _alike(found[at], found[best]))


def _relevance(found: Sequence[_Sentence]) -> list[float]:
    """Cosine with the centroid of all sentences, plus the bonus."""
    spread = Counter(word for one in found for word in one.stems)
    weight = {word: math.log(1 + len(found) / count) for word, count in spread.items()}
    centroid = {word: weight[word] * count for word, count in spread.items()}
    length = math.sqrt(sum(value * value for value in centroid.values())) or 1.0
    scores = []
    for one in found:
        own = math.sqrt(sum(weight[word] ** 2 for word in one.stems)) or 1.0
        shared = sum(weight[word] * centroid[word] for word in one.stems)
        scores.append(shared / (own * length) + one.bonus)
    return scores


def _alike(one: _Sentence, other: _Sentence) -> float:
    """The similarity of two sentences as repetitions; capped where their figures or names differ."""
    if not one.stems or not other.stems:
        return 0.0
    alike = len(one.stems & other.stems) / len(one.stems | other.stems)
    told_apart = one.particulars and other.particulars and one.particulars != other.particulars
    return min(alike, REPEATS) if told_apart else alike


def _rendered(chosen: Sequence[_Sentence], lang: str) -> str:
    lines: list[tuple[str, list[str]]] = []
    for one in chosen:
        if not lines or lines[-1][0] != one.role:
            lines.append((one.role, []))
        lines[-1][1].append(one.text)
    return "\n".join(
        f"{speaker(role, lang)}: {' '.join((*map(_ended, texts[:-1]), texts[-1]))}" for role, texts in lines
    )


def _ended(sentence: str) -> str:
    """The sentence with a mark at its end, so that it is not read on into the next turn's."""
    return sentence if sentence[-1:] in ".!?…:;" else f"{sentence}."


def _last_words(turns: Sequence[ConversationTurn], lang: str) -> str:
    """The last utterance, where no sentence has enough information."""
    said = [turn for turn in turns if turn.role != "system" and turn.content.strip()]
    return f"{speaker(said[-1].role, lang)}: {_short(said[-1].content)}" if said else ""


def terms_of(turns: Sequence[ConversationTurn], lang: str) -> tuple[str, ...]:
    """The most frequent words, most frequent first, as they were written; the user's words count twice."""
    counts: Counter[str] = Counter()
    written: dict[str, Counter[str]] = {}
    for turn in turns:
        if turn.role == "system":
            continue
        for key, term in _terms(clip(turn.content), turn.lang or lang):
            counts[key] += 2 if turn.role == "user" else 1
            written.setdefault(key, Counter())[term] += 1
    ranked = sorted(counts, key=lambda key: -counts[key])[:MAX_TERMS]
    return tuple(written[key].most_common(1)[0][0] for key in ranked)


@text_cache(KEPT_TURNS)
def _terms(content: str, lang: str) -> tuple[tuple[str, str], ...]:
    """The words of a turn that may be terms, each with its stem before it."""
    return tuple(
        (stem(term, lang), term)
        for term in surface_terms(content, lang)
        if len(term) >= 2 and not term.isdigit() and term not in _MAGNITUDES
    )


def topic_of(turns: Sequence[ConversationTurn], lang: str) -> str:
    """The topic of some turns: their most frequent words, at most 80 characters."""
    return _topic(terms_of(turns, lang))


def _topic(terms: Sequence[str]) -> str:
    topic = ""
    for term in terms[:TOPIC_TERMS]:
        longer = f"{topic}, {term}" if topic else term
        if len(longer) > TOPIC_CHARS:
            break
        topic = longer
    return topic


def summary_of(
    conversation: Conversation,
    user_id: str,
    frame_id: str,
    turns: Sequence[ConversationTurn],
    *,
    lang: str,
    made_at: datetime,
    max_chars: int = MAX_CHARS,
) -> SummaryMade:
    """The summary of a frame; a later one of the same frame has the same id. Raises `ValueError` without turns."""
    if not turns:
        raise ValueError("there is nothing to summarise")
    first, last = turns[0], turns[-1]
    terms = terms_of(standing(turns), lang)
    return SummaryMade(
        summary_id=derive("summary", conversation.key(), frame_id),
        conversation_id=conversation.conversation_id,
        client_id=conversation.client_id,
        user_id=user_id,
        frame_id=frame_id,
        text=summarise(turns, lang=lang, max_chars=max_chars),
        topic=_topic(terms),
        terms=terms,
        lang=lang,
        from_message=first.message_id,
        to_message=last.message_id,
        from_seq=first.seq,
        to_seq=last.seq,
        relevant_events=relevant_events(conversation, turns, lang),
        made_at=made_at,
        quoted_users=tuple(sorted({turn.user_id for turn in turns if turn.user_id} - {user_id})) or None,
    )


def relevant_events(
    conversation: Conversation, turns: Sequence[ConversationTurn], lang: str
) -> tuple[EventMention, ...]:
    """The last 20 points in time mentioned, each resolved from the time its turn was said."""
    found: dict[str, EventMention] = {}
    for turn in standing(turns):
        if turn.role == "system":
            continue
        spoken = turn.lang or lang
        for label, at, kind in _events(repaired(clip(turn.content), spoken), spoken, turn.created_at):
            event_id = derive("event", conversation.key(), turn.message_id, label, at.isoformat())
            found[event_id] = EventMention(id=event_id, label=label, at=at, kind=kind, message_id=turn.message_id)
    return tuple(found.values())[-MAX_EVENTS:]


_events = text_cache(KEPT_TURNS)(events_in)
