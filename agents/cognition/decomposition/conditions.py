"""Conditions of a question: `if …`, `caso …`; they join every search and are never a sub-question (R6)."""

from agents.cognition.decomposition.masking import Asked, pattern
from agents.core.language import text
from agents.core.language.interrogatives import is_question

_FIRST = r"^\W*(?P<condition><<~conditions>> [^,;:?]{4,200}), (?P<main>\S.*)"
_LAST = r"(?P<main>^\S.*?),? (?P<condition><<~last_conditions>>\b [^?]{3,200})\W*$"
_ASKS = r"\b<<asking_if>>,?$"


def without_conditions(asked: Asked) -> tuple[tuple[str, ...], str]:
    """The conditions of a question as written, and the question without them.

    A condition is taken out only where a question with a content word is left.
    """
    first = pattern(asked.lang, _FIRST).match(asked.flat)
    if first and _left(asked, first.span("main")) and not is_question(f"{first['condition']}"):
        start, end = first.span("condition")
        return (asked.text[start:end],), asked.text[slice(*first.span("main"))]
    last = pattern(asked.lang, _LAST).match(asked.flat)
    if last is None or not _left(asked, last.span("main")):
        return (), asked.text
    if pattern(asked.lang, _ASKS).search(last["main"]) or " e " in last["condition"] or " and " in last["condition"]:
        return (), asked.text
    return (asked.text[slice(*last.span("condition"))].rstrip(" .!"),), asked.text[slice(*last.span("main"))] + "?"


def _left(asked: Asked, span: tuple[int, int]) -> bool:
    main = asked.text[slice(*span)]
    return len(text.content_set(main, asked.lang)) > 1
