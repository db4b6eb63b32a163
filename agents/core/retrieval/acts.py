"""What a later statement does to a fact: it ends it (`Pingo died`), or takes it back (`forget my birthday`).

Precision first: in doubt it does neither. What a sentence does is read from its vector, so verbs need no list.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Literal

from agents.core.claims.attributes import name_form
from agents.core.claims.extraction import assertions
from agents.core.claims.grammar import QUOTED
from agents.core.claims.markers import announces_change
from agents.core.claims.subjects import subject_key
from agents.core.conversation.stated_values import stated_in
from agents.core.language import text
from agents.core.language.contradiction import OF_VECTORS, SIZE, Network, unpacked
from agents.core.language.date_words import scan
from agents.core.language.interrogatives import is_question
from agents.core.language.lexicons import lexicon
from agents.core.language.quotes import own_words
from agents.core.language.sentences import composed, flatten, sentences
from agents.core.retrieval.turn_things import PERSONS, persons_in

Act = Literal["ends", "retracts"]
# The labels of the network, in order.
LABELS: tuple[Act | None, ...] = ("ends", "retracts", None)
# The probabilities that are enough: to do it, to ask for it in a question, and for a statement that names what the fact
# names to be shown beside it.
SURE, ASKED, LIKELY = 0.55, 0.8, 0.15
MAX_CHARS, MAX_WORDS = 600, 30
MIN_DIGITS = 4
# Of a turn that states one fact, and of one whose claims are not read.
MAX_TURN_WORDS, MAX_BARE_WORDS = 15, 7
# What stands for the words of the fact, so that they weigh nothing.
MASK = {"en": "it", "pt": "isso"}
_BEFORE_DATE = re.compile(r"\b(?:in|on|at|since|by|em|n[oa]s?|desde|a|à|de)\s+$", re.IGNORECASE)
# `don't forget my birthday` takes nothing back.
_KEEPS = re.compile(
    r"\b(?:don't|do not|never|not|nao|nunca)\s+(?:\w+\s+)?"
    r"(?:forget|forgot|delet|eras|remov|wip|drop|esque|apag|exclu|elimin)\w*"
)
# What did not happen, and what was moved: a sofa, and not a home.
_UNREAL = re.compile(
    r"(?:^|,)\W*(?:if|unless|se|caso)\b|\bif (?:you|i|we)\b|\b(?:i|you|we|they)'d\b|"
    r"\b(?:they|people) say\b|\bdizem que\b|"
    r"\b(?:almost|nearly|dreamt|dreamed|imagine|suppose|pretend|wish|would|could|might|shame|nonsense)\b|"
    r"\b(?:quase|sonhei|imagina|suponha|talvez|tomara|oxala)\b|\bmoved (?:on|the|my|our|an?|it|some|his|her)\b"
)
# `delete my plate number`, masked: of nothing else.
_DELETES = re.compile(
    r"(?:apag(?:a|ue)|exclu[ai]|delet[ae]|remov[ae]|elimin[ae]|esque(?:ca|ce)|forget|erase)(?: about| sobre)? "
    r"(?:it|d?isso)(?: from (?:your )?memory| da memoria)?"
)
_ALLERGY = re.compile(r"all?erg")
_OTHERS = re.compile(
    r"^\W*(?:(?:and|but|so|e|mas|entao)\s+)?"
    r"(?:my|our|his|her|their|the|an?|o|a|os|as|um|uma|meus?|minhas?|nossos?|nossas?)\s+(?:\w+\s+)?" + PERSONS.pattern
)
_AROUND = r"(?:the|an?|my|our|o|os|as|um|uma|meus?|minhas?|nosso|nossa)"
_OF = r"(?:of|for|d[eoa]s?)"
_POLITE = re.compile(r"\b(?:please|por favor)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_][\w'-]*")
_NAMED = frozenset(("name", "nome", "nam", "nom"))
_OWN_NAME = re.compile(r"\b(?:my|meu)\s+(?:\w+\s+)?(?:name|nome)\b")
_NAME = re.compile(r"(?<![\w'])[A-ZÀ-Ý][\w-]+")
_CLAUSES = re.compile(r"[,;:]\s+|\s(?:and|but|because|so|e|mas|porque|então)\s")
_OWNERS = ("user", "usuário", "name", "nome")


@dataclass(frozen=True, slots=True)
class Fact:
    """What a user said: the stems of its value and of the thing it belongs to, and the kind of attribute.

    `own`: it is about the user. `forms`: in which form its value names something (`name_form`), none for a property.
    `names`: the stems of the names in it.
    """

    id: str
    at: datetime
    stems: frozenset[str]
    attributes: frozenset[str] = frozenset()
    own: bool = False
    forms: frozenset[int] = frozenset()
    names: frozenset[str] = frozenset()

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
        names = _names(value, lang)
        return cls(id, at, stems, frozenset((flatten(attribute), key.head)), key.owned, forms, names)

    @classmethod
    def of_turn(cls, id: str, at: datetime, said: str, lang: str) -> "Fact | None":
        """The fact that a short turn states: of its claims, else of its words or names; None of one that says more."""
        count = len(said.split())
        if count > MAX_TURN_WORDS or is_question(said):
            return None
        facts = [
            cls.of_claim(id, at, (each.subject, each.attribute, each.value), lang)
            for each in assertions(said, "user", lang)
        ]
        if not facts:
            names = _names(said, lang)
            stems = text.content_set(said, lang) if count <= MAX_BARE_WORDS else names
            return cls(id, at, stems, names=names) if stems else None
        stems = frozenset(stem for each in facts for stem in each.stems)
        attributes = frozenset(name for each in facts for name in each.attributes)
        forms = frozenset(form for each in facts for form in each.forms)
        names = frozenset(stem for each in facts for stem in each.names)
        return cls(id, at, stems, attributes, any(each.own for each in facts), forms, names)

    @property
    def searched(self) -> str:
        """The words by which later statements about it are found."""
        return " ".join([*sorted(self.stems), *(word for name in sorted(self.attributes) for word in _words(name))])


@dataclass(frozen=True, slots=True)
class Mention:
    """A sentence of a later turn about a fact, and its clauses about it, the fact's own words masked.

    `ends` where its words alone say that it ends it; `named` where it has a name of the fact; `asks` where it is a
    question, which can do no more than ask for the fact to be forgotten.
    """

    fact: str
    turn: str
    at: datetime
    masked: tuple[str, ...]
    ends: bool = False
    named: bool = False
    asks: bool = False

    @property
    def retracts(self) -> bool:
        """Whether its words alone ask for the fact to be deleted."""
        return any(_DELETES.fullmatch(flatten(each)) for each in self.masked)


@dataclass(frozen=True, slots=True)
class LaterAct:
    """What a mention does to its fact; not `sure`: it may do so, and is worth showing beside the fact."""

    act: Act
    mention: Mention
    sure: bool = True


def mentions(fact: Fact, turn: str, at: datetime, said: str, lang: str) -> Iterator[Mention]:
    """The sentences of a user's later turn that are about a fact; whoever asks about it does nothing to it."""
    if at <= fact.at:
        return
    for sentence in sentences(QUOTED.sub(" ", own_words(composed(said[:MAX_CHARS]))), lang):
        flat = flatten(sentence)
        asks = is_question(sentence)
        if _KEEPS.search(flat) or (not asks and _UNREAL.search(flat)) or _is_of_another(fact, flat):
            continue
        ends = any((found := _ending(name)) and found.search(flat) for name in fact.attributes)
        ends = not asks and (ends or _renames(fact, sentence, lang) or _denies(fact, sentence, lang))
        # `We chose the name of the shop` is not about the user's name.
        stems = _telling(fact.stems) if _OWN_NAME.search(flat) else _telling(fact.stems) - _NAMED
        if sentence[:1].isupper():
            stems -= fact.names - _names(sentence, lang)  # who writes capitals means `golf` by `golf`, and not the Golf
        clauses = (_masked(stems, each, lang) for each in (sentence, *_CLAUSES.split(sentence)))
        about = tuple(dict.fromkeys(each for each in clauses if each is not None))
        if (about or ends) and len(sentence.split()) <= MAX_WORDS:
            named = not fact.names.isdisjoint(_names(sentence, lang))
            yield Mention(fact.id, turn, at, about, ends, named, asks)


def _is_of_another(fact: Fact, flat: str) -> bool:
    """Whether a sentence is about somebody or something else than a fact: `my brother left Acme`."""
    about = {*fact.attributes, *fact.stems}
    if any(map(_ALLERGY.match, fact.attributes)) and not _ALLERGY.search(flat):
        return True  # `the shop no longer sells peanuts`
    found = _OTHERS.match(flat) if fact.own else None
    return found is not None and not any(word[:4] == each[:4] for word in persons_in(found.group()) for each in about)


def _telling(stems: frozenset[str]) -> frozenset[str]:
    """The stems that tell a thing: a short number is in many sentences."""
    return frozenset(each for each in stems if len(each) >= MIN_DIGITS or not each.isdigit())


def _names(said: str, lang: str) -> frozenset[str]:
    """The stems of the capitalised words; also of the first, which may be a name."""
    return text.content_set(" ".join(_NAME.findall(said)), lang)


def _denies(fact: Fact, sentence: str, lang: str) -> bool:
    """Whether a sentence denies a value of a fact and gives another: `24.5 kg, not 29`."""
    stated = stated_in(sentence, lang)
    given = {each.value.kind for each in stated if not each.denied and each.value.kind not in ("person", "place")}
    denied = (each for each in stated if each.denied and (each.value.kind in given or each.value.kind == "number"))
    return bool(given) and any(
        bool(stems := text.content_set(each.words, lang)) and stems <= fact.stems for each in denied
    )


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


def acts(found: Sequence[Mention], vectors: Mapping[str, Sequence[float]]) -> dict[str, LaterAct]:
    """What later mentions do to each fact: the newest that surely does anything, else the newest that may."""
    done: dict[str, LaterAct] = {}
    for each in sorted(found, key=lambda mention: mention.at):
        act = LaterAct("ends", each) if each.ends else _act(each, vectors)
        if act is not None and (act.sure or each.fact not in done or not done[each.fact].sure):
            done[each.fact] = act
    return done


def _act(mention: Mention, vectors: Mapping[str, Sequence[float]]) -> LaterAct | None:
    if mention.retracts:
        return LaterAct("retracts", mention)
    judged = [probabilities(vector) for said in mention.masked if len(vector := vectors.get(said, ())) == SIZE]
    most = {act: max((each[place] for each in judged), default=0.0) for place, act in enumerate(LABELS) if act}
    act = max(most, key=lambda name: most[name])
    if mention.asks:
        return LaterAct(act, mention) if act == "retracts" and most[act] >= ASKED else None
    if most[act] >= SURE:
        return LaterAct(act, mention)
    return LaterAct("ends", mention, sure=False) if mention.named and most["ends"] >= LIKELY else None


def probabilities(vector: Sequence[float], by: Network | None = None) -> tuple[float, ...]:
    """The probability of each of `LABELS` for a masked text, by the fitted network unless another one is given."""
    return (by or network()).probabilities([OF_VECTORS * each for each in vector])


@cache
def network() -> Network:
    """The fitted weights, read once."""
    return unpacked(json.loads(files("agents.core").joinpath("weights/acts.json").read_text("utf-8")))


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
