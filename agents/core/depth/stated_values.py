"""Values of a message that contradict the last exchange, without a marker word."""

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from agents.core.claims import lifecycle
from agents.core.conversation.memory import ConversationTurn
from agents.core.conversation.utterances import Utterance
from agents.core.language.date_words import numbers
from agents.core.language.sentences import composed, flatten
from agents.core.language.values import TypedValue, exclude, value_at
from schemas.base import Conversation, Source

# Kinds of values that are comparable without knowing what they belong to; names are not.
KINDS = frozenset(("date", "duration", "money", "number", "percent", "version"))
AMOUNTS = frozenset(("duration", "money", "number", "percent"))
IN_MONTHS = {"year": 12.0, "month": 1.0}
NO_UNITS = frozenset(("yesterday", "today", "now", "last", "then", "ontem", "hoje", "agora"))
MAX_CHARS, MAX_VALUES = 400, 8
EXCHANGE = 2
_NOWHERE = Conversation(tenant="-", client_id="-", conversation_id="-")


@cache
def _begins() -> re.Pattern[str]:
    """A pattern of possible value starts, since parsing at every word would dominate the cost of a decision."""
    words = "|".join((*numbers("counts"), *numbers("months"), *numbers("weekdays")))
    return re.compile(
        rf"(?<![\w.,])(?:\d|r\$|us\$|[$\u20ac\u00a3]|v\d|(?:{words})\b"
        r"|the (?=\d{1,2}(?:st|nd|rd|th)\b)"
        r"|(?:o |the )?(?:dia|hoje|ontem|amanha|proxim[ao]|today|tomorrow|yesterday|next|last|noon|midnight|meio)\b)"
    )


@lru_cache(maxsize=2_048)
def values_of(text: str, lang: str) -> tuple[TypedValue, ...]:
    """The dates, amounts and versions in a text, in order."""
    seen = composed(text[:MAX_CHARS])
    found: list[TypedValue] = []
    for begins in _begins().finditer(flatten(seen)):
        if len(found) == MAX_VALUES or (found and begins.start() < found[-1].end):
            continue
        value = value_at(seen, begins.start(), lang)
        if value is not None and value.kind in KINDS:
            found.append(value)
    return tuple(found)


def another_value(text: str, said: ConversationTurn, lang: str) -> bool:
    """Whether a text has a value that differs from one of its kind in the turn before, and does not repeat that one."""
    ours = values_of(text, lang)
    theirs = values_of(said.content, lang) if ours else ()
    replaces = any(_excludes(new, old, said) for new in ours for old in theirs)
    return replaces and not all(any(_agrees(new, old) for old in theirs) for new in ours)


def _agrees(new: TypedValue, old: TypedValue) -> bool:
    if old.kind == "number" and new.words is not None:
        return new.words.day == dict(old.parts)["amount"]
    # "The 56, then" after "the 56 cm one".
    if {new.kind, old.kind} <= AMOUNTS and "" in (_unit(new), _unit(old)):
        return dict(new.parts)["amount"] == dict(old.parts)["amount"]
    return new.kind == old.kind and new.parts == old.parts and new.words == old.words


def _excludes(new: TypedValue, old: TypedValue, said: ConversationTurn) -> bool:
    if exclude(new, said.created_at, old, said.created_at):
        return True
    ours, theirs = dict(new.parts), dict(old.parts)
    mine, other = _unit(new), _unit(old)
    if not {new.kind, old.kind} <= AMOUNTS:
        # "Não, 20" of a day of the month, "dia 20" of 15/4.
        return {(new.kind, mine), (old.kind, other)} == {("number", ""), ("date", "")}
    if mine in IN_MONTHS and other in IN_MONTHS:
        return float(ours["amount"]) * IN_MONTHS[mine] != float(theirs["amount"]) * IN_MONTHS[other]
    return "" in (mine, other) and ours["amount"] != theirs["amount"]


def _unit(value: TypedValue) -> str:
    unit = str(dict(value.parts).get("unit", ""))
    return "" if unit in NO_UNITS else unit


def contradicts_claim(text: str, history: Sequence[ConversationTurn], lang: str) -> bool:
    """Whether the claims of a text contradict those of the last exchange."""
    turns = history[-EXCHANGE:]
    new = _utterance(text, "user", lang, len(turns), turns[-1])
    if not lifecycle.claims_of(new):
        return False
    earlier = lifecycle.session_claims(
        [_utterance(turn.content, turn.role, lang, at, turn) for at, turn in enumerate(turns)]
    )
    return any(claim.contradicts for claim in lifecycle.heard(new, earlier).claims)


def _utterance(text: str, role: str, lang: str, at: int, turn: ConversationTurn) -> Utterance:
    return Utterance(
        conversation=_NOWHERE,
        message_id=f"-{at}",
        author="user" if role == "user" else "system",
        text=text[:MAX_CHARS],
        lang=lang,
        seq=at,
        frame_id="-",
        user_id="-",
        at=turn.created_at,
        source=Source(topic="-", partition=0, offset=at),
    )
