"""The language of a text, Portuguese or English: by its function words outside names, else by how words are spelled.

A name tells nothing: who lives in São Paulo may say so in English.
"""

from collections.abc import Iterator

from agents.core.language.lexicons import lexicon
from agents.core.language.linear_models import table
from agents.core.language.messages import LANGUAGES
from agents.core.language.text import clip, function_words, words

# In fewer words a single function word may be a borrowed one.
FEW_WORDS = 4
# Between this and its complement the letters fit either language.
SURE = 0.65
# Against what was spoken before: a conversation rarely changes its language.
CERTAIN = 0.85
# "ok" is written the same in both languages, "VPN" and "CPF" are words of neither.
SHORT = 3
VOWELS = frozenset("aeiou")
ACCENTS = frozenset("ãõçáéíóúâêôà")
WORDS = 12
QUOTES = "\"'“”‘’«»()[]{}*_`"
ENDS = (".", "!", "?", ":", "…")


def identify_language(text: str, default: str) -> str:
    """`pt` or `en`; the default where the text does not tell: "ok", "deploy", "👍", "E21?".

    Under four words it takes two signs: `and the budget?` is English.
    """
    seen = clip(text)
    said = _without_names(seen)
    votes = {lang: sum(word in function_words(lang) for word in words(said)) for lang in LANGUAGES}
    best, second = sorted(LANGUAGES, key=lambda lang: votes[lang], reverse=True)
    margin = votes[best] - votes[second]
    if len(words(seen)) < FEW_WORDS:
        signs = margin + (margin > 0 and _by_letters(said) == best)
        return best if signs > 1 else default
    return best if margin else _by_letters(said, CERTAIN) or default


def first_language(text: str, default: str) -> str:
    """The language of a message that nothing was said before: here one function word tells, or the spelling."""
    return identify_language(text, _by_function_word(text) or _by_letters(_without_names(text)) or default)


def _without_names(text: str) -> str:
    """The text without its names: capitals within a sentence, and the small words between two of them.

    As it is where nothing else is left, as in titles.
    """
    kept: list[str] = []
    for line in clip(text).splitlines():
        kept += _plain_words(line.split())
    return " ".join(kept) if any(word[:1].islower() for word in kept[1:]) else text


def _plain_words(said: list[str]) -> Iterator[str]:
    links = lexicon("words").words("name_links")
    begins, after_name = True, False
    held: list[str] = []
    for word in said:
        bare = word.strip(QUOTES)
        if not begins and bare[:1].isupper() and bare[1:2].isalnum():
            held, after_name = [], True
        elif after_name and bare in links:
            held.append(word)
        else:
            yield from held
            yield word
            held, after_name = [], False
        begins = bare.endswith(ENDS)
    yield from held


def _by_function_word(text: str) -> str:
    """The language of the function words; empty where there are none, or some of both languages."""
    said = set(words(_without_names(text)))
    languages = [lang for lang in LANGUAGES if not said.isdisjoint(function_words(lang))]
    return languages[0] if len(languages) == 1 else ""


def _by_letters(text: str, sure: float = SURE) -> str:
    english = table("language_letters").probability(letter_features(text))
    if english >= sure:
        return "en"
    return "pt" if english <= 1 - sure else ""


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
