"""Tasks that need no memory: arithmetic, verses, single words, and rewording text of the conversation.

`Translate that` is about the last turn, `translate the refund policy` about something to be retrieved first. A task
that brings its text, in quotation marks or after a colon, needs nothing else.
"""

import re
from dataclasses import dataclass
from functools import cache

from agents.core.language import text
from agents.core.language.lexicons import lexicon, pieces, tiles

# Fewer words after a colon name the thing to summarise and are not its text.
WORDS_OF_A_TEXT = 12

# Operators that, without asking words, also occur in dates, document numbers and ranges.
_BARE = re.compile(r"[\d.,]+ ?[/-] ?[\d.,/-]+|[\d.,]+ ?%?")
_BY_ITSELF = frozenset("put make say write sum diz diga deixa deixe passa coloca escreve up".split())  # noqa: SIM905
_NAME = re.compile(r"(?<=\w\W)[A-ZÀ-Ý][\w'-]*")
# Marks that open a quotation, and those that end it.
_QUOTES = (
    (re.compile(r"[\"\u201c\u00ab]"), re.compile(r"[\"\u201d\u00bb]")),
    (re.compile(r"(?<!\w)['\u2018]"), re.compile(r"['\u2019](?!\w)")),
)


@dataclass(frozen=True, slots=True)
class _Sums:
    """The patterns of arithmetic: operators between numbers, alone or after asking words."""

    asked: re.Pattern[str]
    of_two: re.Pattern[str]
    bare: re.Pattern[str]
    in_words: re.Pattern[str]


@cache
def _sums() -> _Sums:
    words = lexicon("tasks")
    number = rf"(?:\d+(?:[.,]\d+)*|{words.pattern('number')})"
    between = rf"(?:[+*/x\u00d7\u00f7^-]|{words.pattern('between')})"
    before, behind = rf"(?:{words.pattern('before')})", rf"(?:{words.pattern('behind')}|!|%)"
    term = rf"(?:{before} )?\(*-?\(* ?{number}(?: ?{behind})? ?\)*"
    two = rf"(?:{words.pattern('add')}) {number} (?:{words.pattern('with')}) {number}"
    return _Sums(
        re.compile(
            rf"(?:(?:{words.pattern('asked')}|:)[ ,]*)*(?P<sum>{two}|{term}(?: ?{between} ?{term})*)"
            r"(?: ?=| is| equals?)?(?:[ ,]*(?:please|por favor|for me|pra mim))*[ ?.!]*"
        ),
        re.compile(two),
        re.compile(rf" ?{between} ?|^{before} | {behind}$"),
        re.compile(rf"(?<!^){between}|{before} |{behind}$"),
    )


def is_arithmetic(said: str) -> bool:
    """Whether a message is an arithmetic question and nothing else."""
    if len(said) > 200:
        return False
    sums = _sums()
    found = sums.asked.fullmatch(text.fold(said))
    if found is None:
        return False
    summed = found["sum"].strip()
    if sums.of_two.fullmatch(summed):
        return True
    if found.start("sum") == 0 and "=" not in said:
        return sums.bare.search(summed) is not None and _BARE.fullmatch(summed) is None
    return sums.in_words.search(summed) is not None and not summed.endswith("%")


def is_on_the_conversation(said: str) -> bool:
    """Whether a message asks to translate, shorten or reword the conversation, and names nothing else."""
    words = text.words(said)
    if not 0 < len(words) <= 16 or not tiles(
        " ".join(words), pieces("tasks", "verb", "tail"), pieces("tasks", "object", "polite")
    ):
        return False
    # `Say that` and `put it` ask for something else, or for nothing yet.
    return any(tiles(word, pieces("tasks", "verb", "tail")) for word in words if word not in _BY_ITSELF) or _has_tail(
        words
    )


def _has_tail(words: tuple[str, ...]) -> bool:
    tail, around = pieces("tasks", "tail"), pieces("tasks", "object", "polite")
    return any(tiles(" ".join(words[at:]), tail, around) for at in range(len(words)) if words[at] != "up")


def is_of_any_word(said: str) -> bool:
    """Whether a message asks for verses on a thing, or for a rhyme, the spelling or the translation of a word.

    What is known of the thing plays no part, unless it is a particular one: `a haiku about my telescope`.
    """
    found = _of_words().fullmatch(" ".join(text.words(said)))
    if found is None:
        return False
    particular = lexicon("tasks").words("particular") | {text.fold(name) for name in _NAME.findall(said)}
    of = next(filter(None, found.groups()))
    return not any(word in particular or any(map(str.isdigit, word)) for word in of.split())


@cache
def _of_words() -> re.Pattern[str]:
    words = lexicon("tasks")
    polite = rf"(?:{words.pattern('polite')})"
    into = rf"(?: (?:in|into|to|em|para|pra|pro) (?:o )?(?:{words.pattern('language')}))"
    return re.compile(
        rf"(?:{polite} )*(?:(?:{words.pattern('verse')}) (\S+(?: \S+){{0,4}}?)|"
        rf"(?:{words.pattern('of_a_word')}) (\S+){into}?|(?:{words.pattern('saying')}) (\S+(?: \S+){{0,2}}){into})"
        rf"(?: {polite})*"
    )


def brings_its_text(said: str) -> bool:
    """Whether a message contains the text that it asks to translate, shorten or reword."""
    quoted = [span for marks in _QUOTES if (span := _quoted(said, *marks)) is not None]
    if quoted:
        start, end = min(quoted)
        return _is_task(f"{said[:start]} {said[end:]}")
    task, colon, given = said.partition(":")
    size = len(text.words(given))
    if not colon or not size or not _is_task(task):
        return False
    return size >= WORDS_OF_A_TEXT or _translating().search(text.fold(task)) is not None


def _quoted(said: str, opens: re.Pattern[str], ends: re.Pattern[str]) -> tuple[int, int] | None:
    """The place from the first mark that opens to the last that ends, with something between.

    Not by one pattern: in a text of opening marks only, each would look for its end to the end of the text.
    """
    first, last = opens.search(said), max((each.end() for each in ends.finditer(said)), default=0)
    return (first.start(), last) if first is not None and last > first.end() + 1 else None


@cache
def _translating() -> re.Pattern[str]:
    words = lexicon("tasks")
    into = rf"\b(?:in|into|to|em|para|pro) (?:o )?(?:{words.pattern('language')})\b"
    return re.compile(rf"\b(?:translat|tradu)|{words.pattern('saying')}|{into}")


def _is_task(said: str) -> bool:
    words = text.words(said)
    return 0 < len(words) <= 16 and tiles(
        " ".join(words), pieces("tasks", "verb", "saying", "tail"), pieces("tasks", "object", "polite", "label")
    )
