"""What a later statement does to a fact: it ends it (`Pingo died`), or takes it back (`forget my birthday`).

Precision first: in doubt it does neither. What a sentence does is read from its vector, so verbs need no list.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Literal

from agents.core.claims.attributes import name_form
from agents.core.claims.extraction import assertions
from agents.core.claims.markers import announces_change
from agents.core.claims.subjects import subject_key
from agents.core.language import text
from agents.core.language.date_words import scan
from agents.core.language.interrogatives import is_question
from agents.core.language.lexicons import lexicon
from agents.core.language.linear_models import table
from agents.core.language.quotes import own_words
from agents.core.language.sentences import composed, flatten, sentences

Act = Literal["ends", "retracts"]
# The log odds that are enough, and the length of the vectors that the weights are for.
SURE: Mapping[Act, float] = {"retracts": 0.0, "ends": 1.0}
SIZE = 512
MAX_CHARS, MAX_WORDS = 600, 30
# Of a turn that states one fact, and of one whose claims are not read.
MAX_TURN_WORDS, MAX_BARE_WORDS = 15, 7
# What stands for the words of the fact, so that they weigh nothing.
MASK = {"en": "it", "pt": "isso"}
_BEFORE_DATE = re.compile(r"\b(?:in|on|at|since|by|em|n[oa]s?|desde|a|à|de)\s+$", re.IGNORECASE)
# `don't forget my birthday` takes nothing back.
_KEEPS = re.compile(r"\b(?:don't|do not|never|not|nao|nunca)\s+(?:\w+\s+)?(?:forget|forgot|esque\w+)")
_AROUND = r"(?:the|an?|my|our|o|os|as|um|uma|meus?|minhas?|nosso|nossa)"
_OF = r"(?:of|for|d[eoa]s?)"
_POLITE = re.compile(r"\b(?:please|por favor)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_][\w'-]*")
_CLAUSES = re.compile(r"[,;:]\s+|\s(?:and|but|because|so|e|mas|porque|então)\s")
_OWNERS = ("user", "usuário", "name", "nome")


@dataclass(frozen=True, slots=True)
class Fact:
    """What a user said: the stems of its value and of the thing it belongs to, and the kind of attribute.

    `own`: it is about the user. `forms`: in which form its value names something (`name_form`), none for a property.
    """

    id: str
    at: datetime
    stems: frozenset[str]
    attributes: frozenset[str] = frozenset()
    own: bool = False
    forms: frozenset[int] = frozenset()

    @classmethod
    def of_claim(cls, id: str, at: datetime, claim: tuple[str, str, str], lang: str) -> "Fact":
        """The fact of a subject, an attribute and a value."""
        subject, attribute, value = claim
        owners = {text.stem(owner, lang) for owner in _OWNERS}
        stems = text.content_set(f"{subject} {value}", lang) - owners
        if subject_key(subject).owned and attribute == "nome":
            stems |= text.content_set("name nome", lang)
        key = subject_key(subject)
        form = name_form(value, lang)
        forms = frozenset(() if form is None else (form,))
        return cls(id, at, stems, frozenset((flatten(attribute), key.head)), key.owned, forms)

    @classmethod
    def of_turn(cls, id: str, at: datetime, said: str, lang: str) -> "Fact | None":
        """The fact that a short turn states: of its claims, else of its words; None of a turn that says more."""
        count = len(said.split())
        if count > MAX_TURN_WORDS or is_question(said):
            return None
        facts = [
            cls.of_claim(id, at, (each.subject, each.attribute, each.value), lang)
            for each in assertions(said, "user", lang)
        ]
        if not facts:
            return cls(id, at, text.content_set(said, lang)) if count <= MAX_BARE_WORDS else None
        stems = frozenset(stem for each in facts for stem in each.stems)
        attributes = frozenset(name for each in facts for name in each.attributes)
        forms = frozenset(form for each in facts for form in each.forms)
        return cls(id, at, stems, attributes, any(each.own for each in facts), forms)

    @property
    def searched(self) -> str:
        """The words by which later statements about it are found."""
        return " ".join([*sorted(self.stems), *(word for name in sorted(self.attributes) for word in _words(name))])


@dataclass(frozen=True, slots=True)
class Mention:
    """A sentence of a later turn about a fact, and its clauses about it, the fact's own words masked.

    `ends` where its words alone say that it ends it.
    """

    fact: str
    turn: str
    at: datetime
    masked: tuple[str, ...]
    ends: bool = False


def mentions(fact: Fact, turn: str, at: datetime, said: str, lang: str) -> Iterator[Mention]:
    """The sentences of a user's later turn that are about a fact; whoever asks about it does nothing to it."""
    if at <= fact.at:
        return
    for sentence in sentences(own_words(composed(said[:MAX_CHARS])), lang):
        flat = flatten(sentence)
        if is_question(sentence) or _KEEPS.search(flat):
            continue
        ends = any((found := _ending(name)) and found.search(flat) for name in fact.attributes)
        ends = ends or _renames(fact, sentence, lang)
        clauses = (_masked(fact.stems, each, lang) for each in (sentence, *_CLAUSES.split(sentence)))
        about = tuple(dict.fromkeys(each for each in clauses if each is not None))
        if (about or ends) and len(sentence.split()) <= MAX_WORDS:
            yield Mention(fact.id, turn, at, about, ends)


def _renames(fact: Fact, sentence: str, lang: str) -> bool:
    """Whether a sentence says that the user's own thing is called another now."""
    return fact.own and announces_change(sentence) and any(
        {flatten(each.attribute), subject_key(each.subject).head} <= fact.attributes
        and name_form(each.value, lang) in fact.forms
        and not text.content_set(each.value, lang) <= fact.stems
        for each in assertions(sentence, "user", lang)
    )  # fmt: skip


def _masked(stems: frozenset[str], said: str, lang: str) -> str | None:
    """A clause with the words of a fact masked; None where it has none of them."""
    mask = MASK.get(lang, MASK["en"])
    found = _WORD.sub(lambda word: mask if text.stem(word.group().lower(), lang) in stems else word.group(), said)
    return None if found == said else plain(found, lang)


def plain(said: str, lang: str) -> str:
    """A masked text without dates and without what stands around the masks: neither says what it does."""
    mask = MASK.get(lang, MASK["en"])
    said = re.sub(rf"\b(?:{_AROUND}\s+)*{mask}(?:\s+(?:(?:{_AROUND}|{_OF})\s+)*{mask})*\b", mask, said)
    said = re.sub(r"\b(d|n)[oa]s?\s+isso\b", r"\1isso", said)
    said = _POLITE.sub(" ", composed(said))
    for date in reversed([*scan(flatten(said), lang)]):
        said = f"{_BEFORE_DATE.sub('', said[: date.start])}{said[date.end :]}"
    return " ".join(said.split()).strip(" .!?,;:").replace(" ,", ",")


def acts(found: Sequence[Mention], vectors: Mapping[str, Sequence[float]]) -> dict[str, tuple[Act, Mention]]:
    """What the newest mention that does anything to it does to each fact."""
    done: dict[str, tuple[Act, Mention]] = {}
    for each in sorted(found, key=lambda mention: mention.at):
        if (act := "ends" if each.ends else _act(each, vectors)) is not None:
            done[each.fact] = (act, each)
    return done


def _act(mention: Mention, vectors: Mapping[str, Sequence[float]]) -> Act | None:
    judged = [vector for said in mention.masked if len(vector := vectors.get(said, ())) == SIZE]
    for act, least in SURE.items():
        known = table(act)
        weights = [(int(place), weight) for place, weight in known.weights.items()]
        odds = (known.bias + sum(weight * vector[place] for place, weight in weights) for vector in judged)
        if max(odds, default=-1.0) >= least:
            return act
    return None


@cache
def _by_attribute() -> Mapping[str, tuple[re.Pattern[str], tuple[str, ...]]]:
    known = lexicon("claims")
    found: dict[str, tuple[re.Pattern[str], tuple[str, ...]]] = {}
    for part, pattern in known.pattern_of_parts("ended_by").items():
        said = " ".join(entry.text for entry in known.entries("ended_by") if entry.part == part)
        words = tuple(dict.fromkeys(re.findall(r"[a-z]{4,}", said)))
        found |= dict.fromkeys(part.split(", "), (re.compile(rf"\b(?:{pattern})\b"), words))
    return found


def _ending(attribute: str) -> re.Pattern[str] | None:
    """What ends a fact without its words, as `we moved` ends where one lives."""
    known = _by_attribute().get(attribute)
    return known[0] if known else None


def _words(attribute: str) -> tuple[str, ...]:
    known = _by_attribute().get(attribute)
    return known[1] if known else ()
