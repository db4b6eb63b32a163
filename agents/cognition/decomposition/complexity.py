"""Whether a question is worth a tree of sub-questions; both languages."""

from agents.cognition.decomposition.comparison import comparison
from agents.cognition.decomposition.conditions import without_conditions
from agents.cognition.decomposition.masking import ENTITY, Asked, asked, names, pattern
from agents.cognition.decomposition.splitting import listed, several_questions
from agents.core.language import text
from agents.core.language.lexicons import lexicon

SHORT = 20
ENTITIES, SEVERAL, COMPARED, LONG = 0.4, 0.3, 0.2, 0.1


def is_complex(question: str, lang: str, threshold: float) -> bool:
    """Whether a question has the score of a complex one, or asks two things by form; a citation alone never is.

    `threshold` is 0-1. Nothing of 20 characters or less is complex.
    """
    read = asked(question, lang)
    if len(read.text) <= SHORT or not text.content_set(read.masked.replace(ENTITY, ""), lang):
        return False
    main = asked(without_conditions(read)[1], lang)
    return any(rule(main) for rule in (listed, several_questions, comparison)) or score(read) >= threshold


def score(read: Asked) -> float:
    """How many signs of several hops a question shows, 0-1."""
    terms = lexicon("decomposition").words("legal_terms", read.lang) & set(text.words(read.flat))
    signs = {
        ENTITIES: len({read.text[slice(*each)] for each in names(read)} | terms) > 1,
        SEVERAL: read.text.count("?") > 1 or pattern(read.lang, r"\b<<joins>>\b").search(read.flat) is not None,
        COMPARED: pattern(read.lang, r"\b<<comparing>>\b").search(read.flat) is not None,
        LONG: len(read.text) > SHORT,
    }
    return round(sum(weight for weight, there in signs.items() if there), 2)
