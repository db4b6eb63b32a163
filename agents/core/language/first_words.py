"""The language of a few words that open a conversation: where no model can tell and nothing was said before."""

from collections.abc import Iterator

from agents.core.language.linear_models import table
from agents.core.language.text import clip, function_words, identify_language, words

# Between these the letters of a word could be of either language.
SURE = 0.65
# "ok" is written the same in both, "VPN" and "CPF" are no words of either.
SHORT = 3
VOWELS = frozenset("aeiou")
ACCENTS = frozenset("ãõçáéíóúâêôà")
WORDS = 12


def first_language(text: str) -> str:
    """`pt` or `en` by function words, else by how the words are written; Portuguese where nothing tells."""
    return identify_language(text, _by_function_word(text) or _by_letters(text) or "pt")


def _by_function_word(text: str) -> str:
    """The language of the only function words there are; nothing where there are none, or some of both."""
    said = set(words(clip(text)))
    languages = [lang for lang in ("pt", "en") if not said.isdisjoint(function_words(lang))]
    return languages[0] if len(languages) == 1 else ""


def _by_letters(text: str) -> str:
    english = table("language_letters").probability(letter_features(text))
    if english >= SURE:
        return "en"
    return "pt" if english <= 1 - SURE else ""


def letter_features(text: str) -> Iterator[str]:
    """The beginnings, endings and pairs of letters of each word, and the accents it is written with."""
    seen = clip(text)
    yield from (f"={char}" for char in seen.lower() if char in ACCENTS)
    for word in words(seen)[:WORDS]:
        if not word.isalpha() or len(word) < SHORT or VOWELS.isdisjoint(word):
            continue
        yield from (f"^{word[:size]}" for size in (1, 2, 3) if len(word) > size)
        yield from (f"{word[-size:]}$" for size in (1, 2, 3, 4) if len(word) > size)
        yield from dict.fromkeys(word[at : at + 2] for at in range(len(word) - 1))
