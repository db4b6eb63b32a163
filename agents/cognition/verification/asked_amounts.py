"""Questions that ask for an amount or a time, and what a sentence has of it."""

import re
from functools import cache

from agents.cognition.verification.quantities import figures
from agents.core.language.lexicons import framed
from agents.core.language.sentences import composed, flatten


@cache
def _asking() -> re.Pattern[str]:
    return framed("questions", r"\b<<amount_asked>>\b|^(?:\W*<<before>>\b)*\W*(?:<<prepositions>> )?<<time_asked>>\b")


def supplies_amount(question: str, lang: str, said: str, said_lang: str) -> bool:
    """Whether a text has the amount or the time that a question asks for: one that the question itself does not say.

    False where the question asks for none.
    """
    asks = _asking().search(flatten(composed(question))) is not None
    return asks and not figures(said, said_lang) <= figures(question, lang)
