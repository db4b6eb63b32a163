"""Classification of questions: look-up, open, how, yes-no, or none."""

from enum import Enum, auto

from agents.core.caching.texts import text_cache
from agents.core.depth.reading import word_class
from agents.core.language.phrases import BOUNDS, END, NOWHERE, PAUSE, Sentence

AUXILIARIES = frozenset(
    ("is", "are", "was", "were", "do", "does", "did", "can", "could", "will", "would", "should")
).union(("has", "have", "had", "may", "might", "am"))
WITHOUT_ARTICLE = 4


class AnswerKind(Enum):
    """The kind of answer a question expects."""

    ATTRIBUTE = auto()
    FACT = auto()
    SINGULAR = auto()
    PLURAL = auto()
    DEFINITION = auto()
    HOW = auto()
    OPEN = auto()
    YES_NO = auto()
    NOTHING = auto()


LOOKUPS = frozenset((AnswerKind.ATTRIBUTE, AnswerKind.FACT, AnswerKind.SINGULAR))


@text_cache(1_024)
def asks(sentence: Sentence) -> AnswerKind:
    """The kind of answer a sentence asks for; with a question word no question mark is needed."""
    head = question_word(sentence)
    if head is None:
        if _asks_late(sentence):
            return AnswerKind.FACT
        first = sentence.words[1]
        return AnswerKind.YES_NO if sentence.question or first in AUXILIARIES else AnswerKind.NOTHING
    word = sentence.words[head]
    if word in {"como", "how"}:
        return AnswerKind.FACT if _how_much(sentence, head) else AnswerKind.HOW
    if (word in {"que", "why"} and sentence.words[head - 1] == "por") or word == "why":
        return AnswerKind.OPEN
    if _wants_attribute(sentence, head):
        return AnswerKind.ATTRIBUTE
    return AnswerKind.FACT if word in word_class("SHORT_ANSWER") else _what(sentence, head)


def _asks_late(sentence: Sentence) -> bool:
    """Whether the question word comes late: `The treaty was signed in the palace of which town?`."""
    words = sentence.words
    if not sentence.question or words[1] in AUXILIARIES or words[1] in word_class("REQUESTS"):
        return False
    return any(
        words[at] in word_class("LATE_WH") and words[at - 1] in word_class("BEFORE_LATE_WH")
        for at in range(3, len(words) - 1)
    )


def question_word(sentence: Sentence) -> int | None:
    """The index of the question word that opens a clause, after at most three function words."""
    pauses = (at for at, word in enumerate(sentence.words) if word == PAUSE)
    heads = (_opening(sentence, at + 1) for at in (0, *pauses))
    return next((head for head in heads if head is not None), None)


def _opening(sentence: Sentence, start: int) -> int | None:
    for at, word in enumerate(sentence.words[start : start + 4], start):
        if word in word_class("WH_WORDS"):
            return at if word != "que" or _is_question_que(sentence, at) else None
        if word not in word_class("WH_PREFIX"):
            return None
    return None


def _is_question_que(sentence: Sentence, at: int) -> bool:
    # "Que bom!" exclaims; "que horas", "o que" and "por que" ask.
    return sentence.question or at > 1 or sentence.words[at + 1] in word_class("ATTRIBUTES")


def _how_much(sentence: Sentence, head: int) -> bool:
    following, after = (*sentence.words[head + 1 :], END, END)[:2]
    if following in word_class("HOW_MUCH"):
        return True
    # "How secure is it?" wants a degree; "how is it secured?" an explanation.
    return following not in AUXILIARIES | {"to", "come", "about", "so"} and after in AUXILIARIES


def _wants_attribute(sentence: Sentence, head: int) -> bool:
    if sentence.words[head - 1] == "o":
        return False
    for word in sentence.words[head + 1 : head + 8]:
        if word in word_class("CONCEPTS") or word in word_class("OWNERSHIP") or word == END:
            return False
        if word in word_class("ATTRIBUTES"):
            return True
    return False


def _what(sentence: Sentence, head: int) -> AnswerKind:
    words = sentence.words
    word, following, after = words[head], words[head + 1], words[min(head + 2, len(words) - 1)]
    if word == "quais" or (word == "what" and following in {"are", "were"}):
        return AnswerKind.OPEN if after in word_class("PRONOUNS") else AnswerKind.PLURAL
    if words[head - 1] == "o" or following in AUXILIARIES - {"is", "was"} or following == END:
        return AnswerKind.OPEN
    if not word_class("CONCEPTS").isdisjoint(words):
        return AnswerKind.PLURAL
    if word == "what" and following in {"is", "was"}:
        return _what_is(after, len(words) - head - 3)
    return AnswerKind.SINGULAR


def _what_is(after: str, length: int) -> AnswerKind:
    if after in word_class("PRONOUNS") or after in word_class("NO_SUBJECT"):
        return AnswerKind.OPEN
    if after in {"a", "an"}:
        return AnswerKind.DEFINITION
    known = after in {"the", "your", "my", "our", "his", "their"}
    return AnswerKind.SINGULAR if known or length > WITHOUT_ARTICLE else AnswerKind.DEFINITION


def is_wh_question(sentence: Sentence) -> bool:
    """Whether the sentence is a question with a question word; weak markers do not count inside one."""
    if question_word(sentence) is not None:
        return True
    return sentence.question and not word_class("WH_WORDS").isdisjoint(sentence.words)


def is_self_contained(sentence: Sentence, text: str) -> bool:
    """Whether the sentence is specific by itself: a name, an identifier, a complement."""
    words = sentence.words
    return is_named(sentence, text) or any(
        word in word_class("OWNERSHIP")
        and words[at + 1] not in BOUNDS | word_class("PRONOUNS") | word_class("DETERMINERS")
        for at, word in enumerate(words[2:-1], 2)
    )


def lacks_its_whole(sentence: Sentence) -> bool:
    """Whether the question leaves its whole to the topic: `Quais os principais riscos?`, `which breed is best`."""
    words = sentence.words
    return any(
        word in word_class("RELATIONAL") and words[at + 1] not in word_class("WHOLE_FOLLOWS")
        for at, word in enumerate(words[:-1])
    )


def is_named(sentence: Sentence, text: str) -> bool:
    """Whether the sentence has a name, an identifier or a quotation after its first word."""
    return any(_is_name(sentence, at, text) for at in range(2, len(sentence.words) - 1))


def _is_name(sentence: Sentence, at: int, text: str) -> bool:
    span = sentence.spans[at]
    if span == NOWHERE:
        return False
    written = text[span[0] : span[1]]
    # "Qual o P/L?": letters alone abbreviate an attribute as often as they name anything.
    if (len(written) == 1 and text[span[0] - 1 : span[0]] == "/") or text[span[1] : span[1] + 1] == "/":
        return False
    return (
        (written[0].isupper() and written.lower() not in {"i", "i'm", "i'd", "i've", "i'll"})
        or sentence.words[at].startswith('"')
        or any(char.isdigit() for char in written)
    )


def bare_how(sentence: Sentence) -> bool:
    """Whether a how-question leaves its subject to the context: `como funciona?`, `how does it work?`."""
    words = [word for word in sentence.plain if word not in word_class("WH_PREFIX")]
    if not words or words[0] not in {"como", "how"}:
        return False
    elided = AUXILIARIES | word_class("PRONOUNS") | word_class("SKIPPED_AFTER_COMO")
    rest = [word for word in words[1:] if word not in elided]
    return len(words) == 1 or (bool(rest) and word_class("WORKING").issuperset(rest))


def requests_attribute(sentence: Sentence) -> bool:
    """Whether the sentence is a look-up phrased as a request: `Me passa o email do João`."""
    if word_class("ASKING_VERBS").isdisjoint(sentence.words[1:6]):
        return False
    return not word_class("ATTRIBUTES").isdisjoint(sentence.words)
