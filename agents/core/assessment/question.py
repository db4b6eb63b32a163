"""The memory need of a message: none, or a search with context from the conversation."""

from collections.abc import Sequence
from typing import TypedDict

from agents.core.assessment.needs_nothing import needs_nothing
from agents.core.claims.extraction import only_states
from agents.core.conversation.memory import ConversationTurn
from agents.core.depth.levels import D1_NAMES, DepthDecision
from agents.core.language import text
from schemas.depth import DepthLevel

# So many words of its own say what a message is about.
MIN_WORDS = 3
MIN_SIGNAL = 0.5
MAX_USER_CHARS, MAX_ANSWER_CHARS = 300, 160


class MemoryNeed(TypedDict):
    """Whether memory is not needed, and the text of the conversation to search with the message: as the events have it.

    `states`: the message only states something, so that a search without a result leaves nothing to be said.
    """

    needs_nothing: bool | None
    context: str | None
    states: bool | None


def need_of(
    query: str, history: Sequence[ConversationTurn], decision: DepthDecision, lang: str, *, always: bool = False
) -> MemoryNeed:
    """The memory need of a message, given the turns before it.

    A message that contests something always needs memory; with `always` every message does.
    """
    checked = always or decision.level is DepthLevel.D3
    nothing = not checked and needs_nothing(query, has_history=bool(history))
    context = None if nothing else context_of(query, history, decision, lang)
    return {"needs_nothing": nothing or None, "context": context, "states": only_states(query, lang) or None}


def context_of(query: str, history: Sequence[ConversationTurn], decision: DepthDecision, lang: str) -> str | None:
    """The recent text to search with a follow-up; None for a standalone message.

    The user's last message, the one before where the last is short, too, and the beginning of the last answer.
    """
    if not history or decision.resets or not _is_follow_up(query, decision, lang):
        return None
    asked = [turn.content for turn in history if turn.role == "user"][-2:]
    if len(asked) == 2 and len(set(text.content_words(asked[1], lang))) >= MIN_WORDS:
        asked = asked[1:]
    answered = [turn.content for turn in history[-1:] if turn.role == "assistant"]
    said = [*(each[-MAX_USER_CHARS:] for each in asked), *(each[:MAX_ANSWER_CHARS] for each in answered)]
    return "\n".join(said) or None


def _is_follow_up(query: str, decision: DepthDecision, lang: str) -> bool:
    # A change of subject that was not announced may be none: both readings are looked for.
    if (
        decision.level in (DepthLevel.D1, DepthLevel.D4)
        or len(set(text.content_words(text.clip(query), lang))) < MIN_WORDS
    ):
        return True
    return any(sign.name in D1_NAMES and sign.weight >= MIN_SIGNAL for sign in decision.signals)
