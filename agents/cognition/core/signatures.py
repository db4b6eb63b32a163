"""The signature of a question: what must be equal for the answer to one to be reused for another in other words.

Similar questions differ most often in what matters: a "not", a number, an article, a name.
"""

import re

from agents.cognition.verification.polarity import polarity
from agents.cognition.verification.quantities import dates, quantities
from agents.core.documents.entities import entities
from agents.core.language import text
from agents.legal.citations import citations
from agents.legal.references import legal_references
from schemas.base import derive
from schemas.cognition import QuestionKind

_DIGITS = re.compile(r"\d[\d.,/-]*\d|\d")


def question_signature(question: str, lang: str, kind: QuestionKind) -> str:
    """The signature of a question of a language: polarity, provisions and courts, numbers, dates, names, kind."""
    said = polarity(question, lang)
    laws = sorted(f"{about} {''.join(sorted(signs))}" for about, signs in said.laws.items())
    named = {text.fold(each.name) for each in entities(question, legal_references)}
    parts = (
        f"{lang} {kind} {bool(said.heads)} {bool(said.lacking)}",
        *laws,
        *sorted(citations(question)),
        *sorted(map(str, quantities(question, lang))),
        *sorted(map(str, dates(question, lang))),
        *sorted(_DIGITS.findall(question)),
        *sorted(named),
    )
    return derive("signature", *parts)
