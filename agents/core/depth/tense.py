"""Questions about the past, in Portuguese and English, recognised by the tense of the main verb."""

from collections.abc import Iterator

from agents.core.depth.questions import AUXILIARIES, AnswerKind, asks, question_word
from agents.core.depth.reading import Place, Reading, word_class
from agents.core.language.phrases import BOUNDS, NOWHERE, Match, Sentence
from agents.core.language.text import ends_in_ed, is_past_form

# The maximum distance of a participle from its auxiliary: "has the new supplier of Acme already paid".
REACH = 7
# The longest subject of a question about its own subject: "which of the two teams won".
SUBJECT = 5
# In a longer phrase "the" is explained by what follows and implies no shared knowledge: "the first president of Chile".
FAMILIAR_LENGTH = 8
# "when did ana move out": what follows the name is short too.
LOWER_REST = 4
PRIVATE_LENGTH, PRONOUN_LENGTH = 6, 8
JOINING = frozenset(("of", "the", "de", "da", "do", "dos", "das"))


def past(reading: Reading) -> Iterator[Place]:
    """The spans of questions about the past: from the question word to the verb."""
    for sentence in reading.sentences:
        if asks(sentence) is AnswerKind.NOTHING or reading.says("meaning"):
            continue
        head = question_word(sentence)
        start = head or 1
        native = reading.lang == "pt" if head is None else sentence.words[start] in word_class("WH_WORDS_PT")
        if native and sentence.words[start] not in AUXILIARIES:
            verb = _preterite(reading, sentence, start)
        else:
            verb = _past_verb(reading, sentence, start)
        if verb and (reading.past.exists or _is_private(reading, sentence, verb)):
            yield sentence, Match("past", start, verb + 1)


def events(reading: Reading) -> Iterator[Place]:
    """The spans that ask for private events, statements or decisions; public history is a fact like any other."""
    for sentence, match in reading.places("event"):
        if reading.past.exists or _is_private(reading, sentence, match.end - 1):
            yield sentence, match


def dated(reading: Reading) -> Iterator[Place]:
    """The spans of months or years in the message, which count as past only if private."""
    for sentence, match in reading.places("temporal_dated"):
        if reading.past.exists or not word_class("SPEAKERS").isdisjoint(sentence.words):
            yield sentence, match


def _is_private(reading: Reading, sentence: Sentence, verb: int) -> bool:
    """Whether only the participants can know it: `onde o João nasceu?`, unlike `quem descobriu o Brasil?`.

    Without earlier turns, a short question about one person or thing without a surname counts as private.
    """
    if not word_class("SPEAKERS").isdisjoint(sentence.words):
        return True
    names = [at for at in range(2, len(sentence.words) - 1) if _is_capital(reading, sentence, at)]
    has_surname = any(at + 1 in names or (at + 2 in names and sentence.words[at + 1] in JOINING) for at in names)
    # "Did she", "has Ana": about a person already mentioned, or about now.
    near = sentence.words[verb] in {"has", "have"} or not word_class("PRONOUNS").isdisjoint(sentence.words)
    length = PRONOUN_LENGTH if near else PRIVATE_LENGTH
    of_the_world = not word_class("DATING").isdisjoint(sentence.words) or any(
        any(map(str.isdigit, word)) for word in sentence.words
    )
    if len(sentence.plain) > length or has_surname or of_the_world:
        return False
    # Passives and who-questions about a name ask for public facts; what a name did may be private.
    undergone = sentence.words[1] in {"who", "quem"} or sentence.words[verb] in {"was", "were"}
    return not (undergone and any(at > verb for at in names))


def _preterite(reading: Reading, sentence: Sentence, start: int) -> int:
    """The index of the main clause's first past verb, 0 without one; relative clauses do not count."""
    words = sentence.words
    for at in range(start, len(words) - 1):
        if words[at] == "que" and at > start and words[at - 1] not in word_class("BEFORE_ASKING_QUE"):
            return 0
        # "Qual o email do Tadeu?": written as a name, it is one.
        named = at > 1 and _is_capital(reading, sentence, at)
        if is_past_form(words[at], "pt") and not named:
            return at
    return 0


def _is_capital(reading: Reading, sentence: Sentence, at: int) -> bool:
    span = sentence.spans[at]
    return span != NOWHERE and reading.text[span[0]].isupper()


def _past_verb(reading: Reading, sentence: Sentence, start: int) -> int:
    """The index of the past verb of a question about something both participants know, 0 without one.

    Events of Ana, of us, of the visit are in memory; who founded Rome is a fact like any other.
    """
    words = sentence.words
    for at in range(start, len(words) - 1):
        relative = at > start + 1 and words[at - 1] in word_class("RELATIVES_EN")
        if not relative and _is_past_auxiliary(words, at, start) and _is_known(reading, sentence, at + 1):
            return at
    verb = _own_verb(sentence, start)
    return verb if verb and _is_known(reading, sentence, verb + 1) else 0


def _is_past_auxiliary(words: tuple[str, ...], at: int, start: int) -> bool:
    if words[at] in {"was", "were"}:
        # "What was the capital of ...?" asks how things were, not what happened.
        return at <= start + 1 and (words[start] not in {"who", "what", "which"} or _participle_follows(words, at))
    if words[at] in {"has", "have", "had"}:
        # Without a participle it owns something: "has Ana the keys?".
        return _participle_follows(words, at)
    return words[at] == "did"


def _participle_follows(words: tuple[str, ...], at: int) -> bool:
    """Whether a participle follows an auxiliary and its subject."""
    following = words[at + 2 : at + 2 + REACH]
    return any(word in word_class("PARTICIPLES_EN") or ends_in_ed(word) or word.endswith("ing") for word in following)


def _own_verb(sentence: Sentence, start: int) -> int:
    """The index of the verb in `who wrote it`, `which team won` when it is past, else 0."""
    words = sentence.words
    if words[start] not in word_class("SUBJECT_WH_EN"):
        return 0
    for at in range(start + 1, min(start + 1 + SUBJECT, len(words) - 1)):
        if words[at] in word_class("AUXILIARIES_EN") or words[at] in BOUNDS:
            return 0
        if is_past_form(words[at], "en"):
            return at
    return 0


def _is_known(reading: Reading, sentence: Sentence, at: int) -> bool:
    """Whether a noun phrase known to both participants begins here: a pronoun, a name, a bare definite."""
    word = sentence.words[at]
    if word in word_class("KNOWN_EN"):
        return True
    if word == "the":
        return len(sentence.plain) <= FAMILIAR_LENGTH and not _explained(reading, sentence, at + 1)
    if sentence.words[at - 1] in word_class("BEFORE_PLACES_EN"):
        return False
    return _is_capital(reading, sentence, at) or _may_be_a_name(reading, sentence, at)


def _may_be_a_name(reading: Reading, sentence: Sentence, at: int) -> bool:
    """Whether a lower-case word between `when did` and its verb may be a name."""
    words = sentence.words
    asked = words[at - 2] in {"when", "where"} and words[at - 1] == "did"
    return asked and reading.text.islower() and len(words) - at <= LOWER_REST and not words[at].endswith("s")


def _explained(reading: Reading, sentence: Sentence, start: int) -> bool:
    return any(
        sentence.words[at] in word_class("EXPLAINING_EN") or _is_capital(reading, sentence, at)
        for at in range(start, len(sentence.words) - 1)
    )
