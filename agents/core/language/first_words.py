"""The language of a short opening message, where no model can decide and no earlier turn exists."""

from collections.abc import Iterator

from agents.core.language.linear_models import table
from agents.core.language.text import clip, function_words, identify_language, words

# Between this and its complement the letters fit either language.
SURE = 0.65
# "ok" is written the same in both languages, "VPN" and "CPF" are words of neither.
SHORT = 3
VOWELS = frozenset("aeiou")
ACCENTS = frozenset("ãõçáéíóúâêôà")
WORDS = 12


def first_language(text: str) -> str:
    """`pt` or `en` by function words, else by spelling; Portuguese without evidence."""
    return identify_language(text, _by_function_word(text) or _by_letters(text) or "pt")


def _by_function_word(text: str) -> str:
    """The language of the function words; empty where there are none, or some of both languages."""
    said = set(words(clip(text)))
    languages = [lang for lang in ("pt", "en") if not said.isdisjoint(function_words(lang))]
    return languages[0] if len(languages) == 1 else ""


def _by_letters(text: str) -> str:
    english = table("language_letters").probability(letter_features(text))
    if english >= SURE:
        return "en"
    return "pt" if english <= 1 - SURE else ""


def letter_features(text: str) -> Iterator[str]:
    """Spelling features: prefixes, suffixes and bigrams of each word, and the accents of the text."""
    seen = clip(text)
    yield from (f"={char}" for char in seen.lower() if char in ACCENTS)
    for word in words(seen)[:WORDS]:
        if not word.isalpha() or len(word) < SHORT or VOWELS.isdisjoint(word):
            continue
        yield from (f"^{word[:size]}" for size in (1, 2, 3) if len(word) > size)
        yield from (f"{word[-size:]}$" for size in (1, 2, 3, 4) if len(word) > size)
        yield from dict.fromkeys(word[at : at + 2] for at in range(len(word) - 1))
