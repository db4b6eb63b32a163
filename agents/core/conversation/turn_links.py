"""The link from a message to the earlier turn that it corrects: `Sorry, I meant 850`, `*9:50`, `Not 42, 43`.

Made when a message is accepted, from the turns before it: later on, nothing tells what a bare value was said of.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import product

from agents.core.caching.texts import text_cache
from agents.core.conversation.memory import ConversationTurn, Turns
from agents.core.conversation.session_state import TurnOutcome
from agents.core.conversation.stated_values import INSTEAD, StatedValue, stated_in
from agents.core.language import text
from agents.core.language.interrogatives import is_question, only_asks
from agents.core.language.lexicons import framed
from agents.core.language.quotes import own_words
from agents.core.language.sentences import composed, lower
from agents.core.language.values import TypedValue, exclude, same
from schemas.chat import TurnLink

REACH, EXCHANGE = 12, 4
MAX_CHARS, MAX_VALUES, MAX_FREE_WORDS = 600, 8, 8
# Of a message that repairs the turns right before it without naming the same thing.
MAX_OTHER_WORDS = 2
# Of a repair without a comparable value, and of what it repairs.
MAX_NEW_WORDS, MAX_OLD_WORDS = 5, 15
_CLAUSE = re.compile(r"(?:i|you|he|she|we|they|it|that|this|there|eu|tu|você|ele|ela|nós|isso|isto|que|é|foi|era)\b")
AMOUNTS = frozenset(("duration", "money", "number", "percent"))
NAMES = frozenset(("person", "place"))
_POINTS = re.compile(r"^\W*(?:it|it's|its|that|that's|isso|ele|ela|é|são|eram?|was|this|make (?:it|that))\b")
_INSTEAD = re.compile(rf"\b{INSTEAD}\s+([^,.;:!?]{{1,40}})|^\W*([^,.;:!?]{{1,30}}) (?:não|nao),")


# These only lean on what was said before them in the same text.
_WEAK = frozenset(("actually", "in fact", "instead of", "rather than", "na verdade", "na realidade", "afinal"))
_END = re.compile(r"[.!?](?=\s|$)|\n|$")
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)


def linked(outcome: TurnOutcome, before: Turns) -> TurnOutcome:
    """The outcome of a message with the link to what it corrects, if any."""
    turn = outcome.turn
    found = link(turn.content, turn.lang, turn.created_at, before)
    return outcome if found is None else outcome.model_copy(update={"turn": turn.model_copy(update={"link": found})})


def link(said: str, lang: str, at: datetime, before: Sequence[ConversationTurn]) -> TurnLink | None:
    """What a user's message corrects among the turns before it; None where it corrects none, or in doubt which."""
    own = own_words(composed(said[:MAX_CHARS]))
    if only_asks(own, lang) or own.rstrip().endswith("?"):
        return None
    earlier = tuple(turn for turn in reversed(before[-REACH:]) if turn.message_id and turn.role != "system")
    given, marked = _given(own, lang), is_marked(own)
    return (
        _denied(own, lang, at, given, earlier)
        or _of_the_same(own, lang, at, given, earlier, marked=marked)
        or (_in_words(own, lang, earlier) if marked and not given else None)
    )


@text_cache(4_096)
def repaired(said: str, lang: str) -> str:
    """The text with the value that it repairs itself: `on Monday. Wait, no, on Tuesday` as `on Tuesday`."""
    said = composed(said)
    for marker in _repairing().finditer(lower(said[:MAX_CHARS])):
        head, end = said[: marker.start()], _END.search(said, marker.end())
        tail, rest = said[marker.start() : end.end() if end else None], said[end.end() :] if end else ""
        if not head.strip() or marker.group() in _WEAK:
            continue
        found = link(tail, lang, EPOCH, (ConversationTurn("user", head, EPOCH, message_id="-", lang=lang),))
        if found is not None and found.old and found.new and (at := head.rfind(found.old)) >= 0:
            kept = f"{head[:at]}{found.new}{head[at + len(found.old) :]}".rstrip(" ,;:-—.")
            return f"{kept}.{rest}"
    return said


def standing(turns: Sequence[ConversationTurn]) -> list[ConversationTurn]:
    """The turns without those that a later one of them corrects."""
    corrected = {each for turn in turns if turn.link for each in turn.link.to}
    return [turn for turn in turns if turn.message_id not in corrected]


@cache
def _repairing() -> re.Pattern[str]:
    return framed("claims", r"(?<![\w-])<<repairs>>(?![\w-])")


@cache
def _rewording() -> re.Pattern[str]:
    return framed("claims", r"(?<![\w-])<<rewords>>(?![\w-])")


@text_cache(4_096)
def is_marked(said: str) -> bool:
    """Whether a text says that it repairs something said."""
    low = lower(said)
    return said.strip().strip("*") != said.strip() or _repairing().search(low) is not None


def _given(said: str, lang: str) -> list[StatedValue]:
    """The values that the message gives, without the denied ones and the words that mark it: `850 actually`."""
    denied = {each.words for each in stated_in(said, lang) if each.denied}
    plain = _repairing().sub(lambda found: " " * len(found.group()), lower(said))
    kept = "".join(own if own.lower() == low else low for own, low in zip(said, plain, strict=False))
    return [each for each in stated_in(kept, lang)[:MAX_VALUES] if not each.denied and each.words not in denied]


def _denied(said: str, lang: str, at: datetime, given: Sequence[StatedValue], earlier: Turns) -> TurnLink | None:
    """The turns with a value, or with the words, that the message denies: `not 42`, `instead of teal`."""
    denied = [each for each in stated_in(said, lang) if each.denied]
    for turn in earlier if denied else ():
        for old in _values(turn, lang):
            if any(same(old.value, turn.created_at, each.value, at) for each in denied):
                new = next((each.words for each in given if _fits(old.value, turn.created_at, each.value, at)), None)
                return _link(old, turn, earlier, lang, new)
    if denied or not (is_marked(said) or len(said.split()) <= MAX_FREE_WORDS):
        return None
    for found in _INSTEAD.finditer(lower(said)):
        shown = (found[1] or found[2]).strip()
        words = text.content_set(shown, lang)
        had = [turn for turn in earlier if words and words <= text.content_set(turn.content, turn.lang or lang)]
        if to := tuple(turn.message_id for turn in had if not is_question(turn.content)):
            return TurnLink(kind="corrects", to=to, old=shown)
    return None


def _of_the_same(
    said: str, lang: str, at: datetime, given: Sequence[StatedValue], earlier: Turns, *, marked: bool
) -> TurnLink | None:
    """The turns whose one value of that kind a bare value replaces, or a marked one that names the same thing."""
    about = _about(said, lang, given)
    if not marked:
        # `Correct.` and `Noted.` look like names.
        given = [each for each in given if each.value.kind not in NAMES or said.strip(" .!") != each.words]
    answers = bool(earlier) and earlier[0].role == "assistant" and is_question(earlier[0].content)
    if not marked and (answers or (about and not _POINTS.match(lower(said)))):
        return None
    # The one that shares the most words goes first, of equals the newest.
    closest = sorted(earlier, key=lambda turn: -len(about & text.content_set(turn.content, turn.lang or lang)))
    named = [(tuple(closest), about)] if about else []
    near = [(earlier[:EXCHANGE], frozenset[str]())] if len(about) <= MAX_OTHER_WORDS else []
    for new, (reach, words) in product(given, named + near):
        for turn in reach:
            if any(same(each.value, turn.created_at, new.value, at) for each in _values(turn, lang)):
                break  # it is said again, and not corrected
            fits = [each for each in _values(turn, lang) if _may_stand(each, turn, new, at, words)]
            if fits:
                one = len({(each.value.parts, each.value.words) for each in fits}) == 1
                return _link(fits[0], turn, earlier, lang, new.words) if one else None
    return None


def _may_stand(old: StatedValue, turn: ConversationTurn, new: StatedValue, at: datetime, words: frozenset[str]) -> bool:
    about = not words or not words.isdisjoint(text.content_set(old.sentence, turn.lang or ""))
    return about and not is_question(old.sentence) and _fits(old.value, turn.created_at, new.value, at)


def _link(old: StatedValue, turn: ConversationTurn, earlier: Turns, lang: str, new: str | None) -> TurnLink:
    """The link to all turns that state a value: the assistant has repeated it."""
    said = [
        other.message_id
        for other in earlier
        if any(same(each.value, other.created_at, old.value, turn.created_at) for each in _values(other, lang))
    ]
    return TurnLink(kind="corrects", to=tuple(said), old=old.words, new=new)


def _values(turn: ConversationTurn, lang: str) -> list[StatedValue]:
    """The values of an earlier turn; not a name that is all it says: `Noted.`"""
    found = _given(turn.content[:MAX_CHARS], turn.lang or lang)
    return [each for each in found if each.value.kind not in NAMES or turn.content.strip(" .!") != each.words]


def _about(said: str, lang: str, given: Iterable[StatedValue]) -> frozenset[str]:
    """What a message names beside its values and what marks a correction."""
    for each in given:
        said = said.replace(each.words, " ")
    return text.content_set(_repairing().sub(" ", lower(said)), lang)


def _fits(old: TypedValue, old_at: datetime, new: TypedValue, new_at: datetime) -> bool:
    """Whether a value can stand instead of another: of its kind and unit, or without a unit."""
    if same(old, old_at, new, new_at):
        return False
    if {old.kind, new.kind} <= NAMES:
        return _numbered(old) == _numbered(new)
    units = [str(dict(value.parts).get("unit", "")) for value in (old, new)]
    if {old.kind, new.kind} <= AMOUNTS:
        return units[0] == units[1] or "" in units
    if {(old.kind, units[0]), (new.kind, units[1])} == {("date", ""), ("number", "")}:
        return True
    return old.kind == new.kind and (old.kind != "date" or exclude(old, old_at, new, new_at) or _clock(old, new))


def _numbered(name: TypedValue) -> bool:
    return any(map(str.isdigit, str(dict(name.parts)["name"])))


def _clock(old: TypedValue, new: TypedValue) -> bool:
    return old.words is not None and new.words is not None and type(old.words) is type(new.words)


def _in_words(said: str, lang: str, earlier: Turns) -> TurnLink | None:
    """Of a repair in a few words, without a comparable value: the speaker's newest statement, where it is short."""
    found = _rewording().search(lower(said))
    new = said[found.end() :].strip(" ,.:;!") if found else ""
    if not text.content_words(new, lang) or len(new.split()) > MAX_NEW_WORDS or _CLAUSE.match(lower(new)):
        return None
    mine = next((turn for turn in earlier[:EXCHANGE] if turn.role == "user" and not is_question(turn.content)), None)
    if mine is None or len(mine.content.split()) > MAX_OLD_WORDS:
        return None
    return TurnLink(kind="corrects", to=(mine.message_id,), new=new)
