"""What a sentence affirms and what it denies: the heads of its negations, and its verbs of law with a sign."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from agents.core.caching.texts import text_cache
from agents.core.language import text
from agents.core.language.lexicons import framed, lexicon

_TOKEN = re.compile(r"[^\W_]+(?:['-][^\W_]+)*|[;:.!?]")
# A negation reaches its head through at most so many words, and what it covers ends at a pause or a contrast.
_REACH = 4
_ENDS = frozenset(";:.!?")
_PREFIXES = ("in", "im", "ir", "des", "un", "non")


@dataclass(frozen=True, slots=True)
class SentencePolarity:
    """A sentence by its polarity.

    `content` are the stems of its content words without negations; `heads` the stems that a negation of the sentence
    bears on, `lacking` those after `sem` or `without`; `bare` those that stand outside every negation; `laws` what its
    verbs of law are about, with their signs.
    """

    content: frozenset[str]
    heads: frozenset[str]
    lacking: frozenset[str]
    bare: frozenset[str]
    laws: Mapping[str, frozenset[str]]

    @property
    def negated(self) -> bool:
        """Whether the sentence has a negation; `sem` and `without` are none."""
        return bool(self.heads)


@text_cache(4_096)
def polarity(sentence: str, lang: str) -> SentencePolarity:
    """The polarity of a sentence of a language; linear in its length."""
    plain = framed("verification", r"\b(?:<<no_negation>>)\b").sub(" ", text.fold(sentence))
    tokens = _TOKEN.findall(plain)
    stems = [_stem(token, lang) for token in tokens]
    heads, lacking, covered = set[str](), set[str](), set[int]()
    signs: dict[str, set[str]] = {}
    for at, word in enumerate(tokens):
        # `não é vedado` permits.
        if word in _polar() and any(_opens(each, lang) == "not" for each in tokens[max(0, at - 2) : at]):
            continue
        if (sort := _opens(word, lang)) and (reached := _head(tokens, stems, at, lang)) is not None:
            (heads if sort == "not" else lacking).add(stems[reached])
            covered.update(_scope(tokens, at))
    for at, word in enumerate(tokens):
        if word in _polar():
            about, sign = _polar()[word].split()
            turned = any(_opens(each, lang) == "not" and each not in _polar() for each in tokens[max(0, at - 3) : at])
            signs.setdefault(about, set()).add({"+": "-", "-": "+"}[sign] if turned else sign)
    content = [(at, each) for at, each in enumerate(stems) if each and not _opens(tokens[at], lang)]
    return SentencePolarity(
        frozenset(each for _, each in content),
        frozenset(heads),
        frozenset(lacking),
        frozenset(each for at, each in content if at not in covered),
        {about: frozenset(each) for about, each in signs.items()},
    )


def opposed(one: SentencePolarity, other: SentencePolarity, *, lacking: bool = False) -> str:
    """What one sentence denies and the other affirms, as a stem or a subject of law; empty where there is none.

    With `lacking`, what one is `without` and the other has counts too.
    """
    for about in sorted(one.laws.keys() & other.laws.keys()):
        if not one.laws[about] & other.laws[about]:
            return about
    for some, rest in ((one, other), (other, one)):
        denied = some.heads | (some.lacking if lacking else frozenset())
        affirmed = rest.bare - rest.heads - rest.lacking
        if found := sorted((denied - some.bare) & affirmed):
            return found[0]
    return _prefixed(one, other) or _prefixed(other, one)


def _prefixed(one: SentencePolarity, other: SentencePolarity) -> str:
    """A word of one sentence whose opposite, by a prefix, is in the other, and neither is denied."""
    for word in sorted(one.bare - other.content):
        for prefix in _PREFIXES:
            root = word.removeprefix(prefix)
            if root != word and len(root) > 3 and root in other.bare and root not in one.content:
                return root
    return ""


@cache
def _polar() -> Mapping[str, str]:
    return lexicon("verification").rows("polar")


@cache
def _negations() -> frozenset[str]:
    return lexicon("contradiction").words("negations")


@cache
def _without() -> frozenset[str]:
    return lexicon("contradiction").words("without")


@text_cache(16_384)
def _opens(word: str, lang: str) -> str:
    """`not` for a word that opens a negation, `without` for one that opens a lack, else nothing."""
    # The Portuguese `no` means `in the`.
    if word in _negations() or word.endswith("n't") or (lang, word) == ("en", "no"):
        return "not"
    if framed("verification", r"(?:<<negators>>)").fullmatch(word):
        return "not"
    return "without" if word in _without() else ""


@text_cache(16_384)
def _stem(word: str, lang: str) -> str:
    """The stem of a content word, else nothing."""
    found = text.content_words(word, lang)
    return found[0] if found else ""


def _head(tokens: list[str], stems: list[str], at: int, lang: str) -> int | None:
    """The place of the word a negation bears on: the next content word that is no negation itself."""
    for place in range(at + 1, min(len(tokens), at + _REACH + 2)):
        if tokens[place] in _ENDS:
            return None
        if stems[place] and not (_opens(tokens[place], lang) and tokens[place] not in _polar()):
            return place
    return None


def _scope(tokens: list[str], at: int) -> Iterator[int]:
    for place in range(at + 1, len(tokens)):
        if tokens[place] in _ENDS:
            return
        yield place
