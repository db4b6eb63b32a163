"""Words of a message: folding, tokens, content words, overlap. Portuguese and English.

Every function is linear in the length of its input, which `clip` bounds.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from functools import cache

from Stemmer import Stemmer

from agents.core.caching.texts import text_cache
from agents.core.language.lexicons import lexicon

HEAD_CHARS = 2_000
TAIL_CHARS = 500
_PRETERITE_ENDINGS = ("ou", "eu", "iu", "aram", "ava", "avam", "eceram", "eberam", "enderam", "idiram")

_TYPOGRAPHY = {
    "\u2018": "'",
    "\u2019": "'",
    "\u00b4": "'",
    "\u0060": "'",
    "\u201c": '"',
    "\u201d": '"',
    "\u2013": "-",
    "\u2014": "-",
    "\u2026": "...",
    "\u200b": "",
    "\u00ad": "",
    "\ufeff": "",
}
_TYPOGRAPHIC = re.compile(f"[{''.join(_TYPOGRAPHY)}]")
# A dot, colon or slash joins only before a segment with a digit: DMD.0001/26 is one word,
# `fim.Depois` is two.
_WORD = re.compile(r"[^\W_]+(?:[_'-][^\W_]+|[./:](?=[^\W_]*\d)[^\W_]+)*")
# The combining marks among the first characters of Unicode, which Latin scripts have; U+034F joins, and is none.
_ACCENTS = re.compile("[\u0300-\u034e\u0350-\u036f]+")
_BEYOND_ACCENTS = re.compile("[^\x00-\u036f]")
# Snowball: half a megabyte in C. Lemma tables would be more exact, but cost 130 MB and a second at the start.
_STEMMERS = {"pt": Stemmer("portuguese"), "en": Stemmer("english")}
_IRREGULAR: dict[str, dict[str, str]] = {
    "pt": {
        "foi": "ser",
        "era": "ser",
        "foram": "ser",
        "feito": "fazer",
        "fez": "fazer",
        "disse": "dizer",
        "pos": "por",
    },
    "en": {
        "ran": "run",
        "went": "go",
        "bought": "buy",
        "paid": "pay",
        "made": "make",
        "said": "say",
        "told": "tell",
        "sent": "send",
        "met": "meet",
        "wrote": "write",
        "written": "write",
        "children": "child",
        "people": "person",
        "men": "man",
        "women": "woman",
    },
}


def fold(text: str) -> str:
    """The text without case, accents or repeated blanks; punctuation is kept."""
    return " ".join(_bare(text).split())


def _bare(text: str) -> str:
    if not text.isascii():
        parts = unicodedata.normalize("NFD", _typed(text))
        if _BEYOND_ACCENTS.search(parts) is None:
            text = _ACCENTS.sub("", parts)
        else:
            # By the few characters that there are: a text may be as long as a document.
            text = _replaced(parts, {char: "" for char in set(parts) if unicodedata.combining(char)})
    return text.casefold()


def _typed(text: str) -> str:
    """The text with the characters of a keyboard."""
    return _replaced(text, {char: _TYPOGRAPHY[char] for char in set(_TYPOGRAPHIC.findall(text))})


def _replaced(text: str, by: Mapping[str, str]) -> str:
    """The text with some characters replaced: one after the other, `translate` takes twenty times as long."""
    for char, other in by.items():
        text = text.replace(char, other)
    return text


def clip(text: str) -> str:
    """The part of a message that is processed: its first 2,000 characters and its last 500."""
    if len(text) <= HEAD_CHARS + TAIL_CHARS:
        return text
    return f"{text[:HEAD_CHARS]} {text[-TAIL_CHARS:]}"


def words(text: str) -> tuple[str, ...]:
    """The folded words in order; an identifier such as rel_456 or DMD.0001/26 is one word."""
    return tuple(_WORD.findall(_bare(text)))


def is_past_form(word: str, lang: str) -> bool:
    """Whether a folded word has the form of a simple past: `paid`, `landed`, `pagou`."""
    if lang == "pt":
        ends = len(word) > 3 and word.endswith(_PRETERITE_ENDINGS) and word not in _class("NO_PRETERITES_PT")
        return ends or word in _class("PRETERITES_PT")
    return word in _class("PRETERITES_EN") or ends_in_ed(word)


def ends_in_ed(word: str) -> bool:
    """Whether an English word ends as regular past forms and participles do."""
    regular = len(word) > 4 and word.endswith("ed") and not word.endswith("eed")
    return regular and word not in _class("NO_PAST_EN")


@cache
def _class(name: str) -> frozenset[str]:
    return lexicon("word_classes").words(name)


def content_words(text: str, lang: str) -> tuple[str, ...]:
    """The folded stems of the content words, in order, with repetitions."""
    return tuple(stem(word, lang) for word in _content(text, lang))


@text_cache(2_048)
def content_set(text: str, lang: str) -> frozenset[str]:
    """The distinct content words of a passage, for similarity; cached, since the same passages are found repeatedly."""
    return frozenset(content_words(text, lang))


def surface_terms(text: str, lang: str) -> tuple[str, ...]:
    """The distinct content words as they were written, lower-cased, with their accents."""
    return tuple(dict.fromkeys(_content(text, lang)))


@cache
def _without_content(lang: str) -> frozenset[str]:
    """The words of a language that are never content words."""
    words = lexicon("words")
    return (words.words("stopwords") | words.words("operator_words")) - words.words("false_friends", lang)


@cache
def _clitics() -> frozenset[str]:
    return lexicon("words").words("clitics")


@cache
def function_words(lang: str) -> frozenset[str]:
    """The function words of a language that are not words of the other."""
    return lexicon("words").words("language_votes", lang)


def _content(text: str, lang: str) -> Iterator[str]:
    plain = unicodedata.normalize("NFC", _typed(text)).lower()
    return (word for found in _WORD.findall(plain) if (word := _content_word(found, lang)))


@text_cache(32_768)
def _content_word(found: str, lang: str) -> str:
    """A word without its clitic; empty for one that is no content word."""
    word = _without_clitic(found)
    return "" if _bare(word) in _without_content(lang) else word


def _without_clitic(word: str) -> str:
    if word.endswith("'s"):
        return word[:-2]
    head, hyphen, tail = word.rpartition("-")
    return head if hyphen and tail in _clitics() else word


@text_cache(32_768)
def stem(word: str, lang: str) -> str:
    """A stable folded form shared by a word's inflections, written with or without accents."""
    bare = _bare(word)
    stemmer = _STEMMERS.get(lang)
    if stemmer is None or any(char.isdigit() for char in bare):
        return bare
    # The stemmer recognises plurals in -ções by their accents, which people leave out.
    if lang == "pt" and bare.endswith(("oes", "aes", "aos")):
        bare = f"{bare[:-3]}ao"
    return str(stemmer.stemWord(_IRREGULAR[lang].get(bare, bare)))


def jaccard(left: Collection[str], right: Collection[str]) -> float:
    """Shared words over all words, 0-1; 0 when either side is empty."""
    ours, theirs = set(left), set(right)
    return len(ours & theirs) / len(ours | theirs) if ours and theirs else 0.0


def overlap(left: Collection[str], right: Collection[str]) -> float:
    """Shared words over the words of the smaller side, 0-1; 0 when either side is empty."""
    ours, theirs = set(left), set(right)
    return len(ours & theirs) / min(len(ours), len(theirs)) if ours and theirs else 0.0


def warm() -> None:
    """Load the word tables in advance."""
    for lang in _STEMMERS:
        stem("palavras", lang)
