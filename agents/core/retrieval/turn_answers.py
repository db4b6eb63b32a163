"""Whether past turns answer a question, or only mention what it names.

A talk names its people and things again and again: turns with `Nadia` are near a question about `Nadia's number`, and
answer nothing. A model that reads a pack sees that; an answer made of sentences needs a rule.
"""

from collections.abc import Sequence

from agents.core.language import text
from agents.core.language.interrogatives import is_question
from agents.core.language.sentences import sentences
from agents.core.retrieval.search_terms import question_terms
from agents.core.retrieval.turn_currency import PastTurn, ValueQuestion, stated

# The share of what is asked beside names that must be exceeded.
HALF = 0.5


def may_answer(question: str, lang: str, turns: Sequence[PastTurn]) -> bool:
    """Whether turns together say most of what is asked beside names, or a word of it and a value of the kind asked for.

    What they only ask they do not say. A question of names alone asks for whatever is said of them.
    """
    said = [(_statements(turn), turn.lang) for turn in turns]
    words = frozenset[str]().union(*(text.content_set(each, said_lang) for each, said_lang in said))
    asked = [term for term in question_terms(question, lang) if not term.name]
    total = sum(term.weight for term in asked)
    known = sum(term.weight for term in asked if not words.isdisjoint(term.keys))
    if known > HALF * total or not asked:
        return bool(turns)
    kinds = ValueQuestion.of(question, lang).kinds
    return known > 0 and any(value.value.kind in kinds for each in said for value in stated(*each))


def _statements(turn: PastTurn) -> str:
    return " ".join(each for each in sentences(turn.text, turn.lang) if not is_question(each))
