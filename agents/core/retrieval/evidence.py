"""Evidence from search hits: judged, deduplicated, ordered by probability, with the reason for each."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Generic, Protocol, TypeVar

from agents.core.language import text
from agents.core.language.lexicons import lexicon
from agents.core.language.sentences import sentences
from agents.core.retrieval import ranking, relevance
from agents.core.retrieval.relevance import Kind, Scored
from agents.core.retrieval.search_terms import QuestionTerm, question_terms

# The number of items below the threshold that the pack lists as dropped, and of those beside the ones it keeps.
MAX_DROPPED = 5
# The hits that each single question of a message adds to those of the whole message.
PART_HITS = 3
# The share of common words that makes two texts near-duplicates.
DUPLICATE_SHARE = 0.9
MAX_WORDS_SHOWN = 4
# Of a longer turn only the sentences that carry the answer are shown.
WHOLE_WORDS = 80
ELLIPSIS = "…"
SCORE_PLACES, PROBABILITY_PLACES = 4, 6
# A table of fewer rows is shown whole.
LEAST_ROWS = 4

_ROW = re.compile(r"\s*\|.*\|\s*")
_RULE = re.compile(r"\s*\|[\s:|-]*-[\s:|-]*\|\s*")


class ReadableHit(Scored, Protocol):
    """A search hit with a readable text."""

    @property
    def passage(self) -> "ReadableText": ...


class ReadableText(Protocol):
    """The fields of a passage that judging reads."""

    @property
    def id(self) -> str: ...

    @property
    def text(self) -> str: ...

    @property
    def lang(self) -> str: ...

    @property
    def recorded_at(self) -> datetime: ...


H = TypeVar("H", bound=ReadableHit)


@dataclass(frozen=True, slots=True)
class JudgedHit(Generic[H]):
    """A hit with the probability that it helps to answer, and why it is left out, if it is."""

    hit: H
    probability: float
    left_out: str = ""


def worth_showing(
    hits: Sequence[H], kind: Kind, as_of: datetime, limit: int, parts: Sequence[Sequence[H]] = ()
) -> tuple[list[JudgedHit[H]], list[JudgedHit[H]]]:
    """At most `limit` hits above the threshold, and the best of those left out: near-duplicates, and those below it.

    Of near-duplicates the newest stands for all, as likely as the likeliest.

    `parts` are the hits of the single questions of a message that asks several. Each has its own threshold, adds its
    best `PART_HITS`, and raises what the whole message found less probable.
    """

    def by_preference(judged: Sequence[tuple[H, float]]) -> list[tuple[H, float]]:
        return sorted(judged, key=lambda each: -preference(each[1], each[0].passage.recorded_at, as_of))

    above, below = relevance.judged(hits, kind)
    best = {hit.passage.id: (hit, probability) for hit, probability in above}
    for part in parts:
        for hit, probability in by_preference(relevance.judged(part, kind)[0])[:PART_HITS]:
            if hit.passage.id not in best or best[hit.passage.id][1] < probability:
                best[hit.passage.id] = (hit, probability)
    below = [each for each in below if each[0].passage.id not in best]
    kept, left_out = _distinct(by_preference(list(best.values())), limit)
    irrelevant = [JudgedHit(hit, probability, "irrelevant") for hit, probability in below[:MAX_DROPPED]]
    return kept, [*left_out[:MAX_DROPPED], *irrelevant]


def _distinct(ordered: Sequence[tuple[H, float]], limit: int) -> tuple[list[JudgedHit[H]], list[JudgedHit[H]]]:
    kept: list[JudgedHit[H]] = []
    left_out: list[JudgedHit[H]] = []
    seen: list[tuple[frozenset[str], int]] = []
    for hit, probability in ordered:
        words = text.content_set(hit.passage.text, hit.passage.lang)
        # `is due` and `is not due` have the same content words, and are the two sides of a question.
        denials = sum(map(_negations().__contains__, text.words(hit.passage.text)))
        same = (at for at, (other, others) in enumerate(seen) if denials == others and _near_duplicates(words, other))
        at = next(same, None)
        if at is None and len(kept) == limit:
            left_out.append(JudgedHit(hit, probability, "limit"))
            continue
        if at is None:
            kept.append(JudgedHit(hit, probability))
            seen.append((words, denials))
            continue
        older = JudgedHit(hit, probability, "duplicate")
        if hit.passage.recorded_at > kept[at].hit.passage.recorded_at:
            older, kept[at] = replace(kept[at], left_out="duplicate"), JudgedHit(hit, kept[at].probability)
        left_out.append(older)
    return kept, left_out


@cache
def _negations() -> frozenset[str]:
    return lexicon("contradiction").words("negations")


def written(scores: Mapping[str, float]) -> dict[str, float]:
    """The scores of a hit as an item has them: more places say nothing, and each costs eight bytes in two records."""
    return {name: round(score, SCORE_PLACES) for name, score in scores.items()}


def preferred(judged: Iterable[JudgedHit[H]], as_of: datetime) -> list[JudgedHit[H]]:
    """Hits of several kinds of memory in one order: their probabilities are comparable."""
    return sorted(judged, key=lambda each: -preference(each.probability, each.hit.passage.recorded_at, as_of))


def preference(probability: float, recorded_at: datetime, as_of: datetime) -> float:
    """The sort key of items: probability of helping, then the newer first."""
    return probability * (1 + ranking.RECENCY_WEIGHT * ranking.recency(recorded_at, as_of))


def _near_duplicates(words: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two texts are near-duplicates; texts that differ in a number are not (`page 8`, `page 9`)."""
    return text.jaccard(words, other) >= DUPLICATE_SHARE and not any(map(_has_digit, words ^ other))


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def covers(question: str, lang: str, found: str, found_lang: str, *, context: str = "") -> tuple[str, ...]:
    """The words of a question that occur in a text, as written in the question."""
    words = text.content_set(found, found_lang)
    return tuple(t.word for t in question_terms(question, lang, context) if not words.isdisjoint(t.keys))


def stated(question: str, lang: str, found: str, found_lang: str) -> int:
    """How many content words a text states that a question does not have; its own questions state nothing."""
    asked = {key for term in question_terms(question, lang) for key in term.keys}
    # By the mark alone: a turn is looked at for every question for which it is found.
    parts = sentences(found, found_lang) if "?" in found else [found]
    said = (text.content_set(each, found_lang) for each in parts if not each.rstrip().endswith("?"))
    return len(frozenset[str]().union(*said) - asked)


def matching_rows(question: str, lang: str, found: str, found_lang: str) -> str:
    """A text whose table has only its head and the rows with words of the question, where those tell rows apart.

    What is around the table stays. A word in more than half of the rows tells none apart; without others all rows stay.
    """
    lines = found.split("\n")
    table = [at for at, each in enumerate(lines) if _ROW.fullmatch(each)]
    rows = table[2:] if len(table) > 2 and _RULE.fullmatch(lines[table[1]]) else []
    if len(rows) < LEAST_ROWS or table[-1] - table[0] != len(table) - 1:
        return found
    asked = {key for term in question_terms(question, lang) for key in term.keys}
    said = {at: asked & text.content_set(lines[at], found_lang) for at in rows}
    in_rows = Counter(word for words in said.values() for word in words)
    matching = {at for at, words in said.items() if any(2 * in_rows[word] <= len(rows) for word in words)}
    if not matching:
        return found
    dropped = set(rows) - matching
    return "\n".join(line for at, line in enumerate(lines) if at not in dropped)


def excerpt(
    question: str, lang: str, found: str, found_lang: str, *, context: str = "", words: int = WHOLE_WORDS
) -> str:
    """A text of up to so many words unchanged; of a longer one the sentences that cover most of the question.

    At least the best sentence; in their original order, with marks for omissions.
    """
    if len(found.split()) <= words:
        return found
    asked = question_terms(question, lang, context)
    said = sentences(found, found_lang)
    worth = [_coverage(asked, sentence, found_lang) for sentence in said]
    kept: set[int] = set()
    room = words
    for place in sorted(range(len(said)), key=lambda place: -worth[place]):
        size = len(said[place].split())
        if not kept or (worth[place] > 0 and size <= room):
            kept.add(place)
            room -= size
    return " ".join(said[place] if place in kept else ELLIPSIS for place in _runs(len(said), kept))


def _coverage(asked: Sequence[QuestionTerm], sentence: str, lang: str) -> float:
    words = text.content_set(sentence, lang)
    return sum(term.weight for term in asked if not words.isdisjoint(term.keys))


def _runs(count: int, kept: Collection[int]) -> list[int]:
    """The indices kept, and one index for each gap between and around them."""
    return [place for place in range(count) if place in kept or place == 0 or place - 1 in kept]


def reason(covered: Collection[str]) -> str:
    """The reason for an item, for people: the words of the question that it contains."""
    shown = [f"'{word}'" for word in covered][:MAX_WORDS_SHOWN]
    return f"covers {', '.join(shown)}" if shown else "near in meaning"


def names(question: Collection[str], name: str, lang: str) -> bool:
    """Whether a question contains all content words of a name."""
    words = text.content_set(name, lang)
    return bool(words) and words <= set(question)


def answers_half(question: Collection[str], said: str, lang: str) -> bool:
    """Whether a text covers at least half of the question's content words."""
    asked = set(question)
    return 2 * len(asked & text.content_set(said, lang)) >= len(asked)
