"""The rewriter: another search for the leaves that lack evidence, from the question and its surroundings only.

Never from the words of an error message (a defect of the public implementation), and never an equal query.
"""

import re

from agents.cognition.core.dual_retriever import bound, signature
from agents.cognition.core.missing import is_negation, phrase
from agents.cognition.core.route import is_searched_again
from agents.core.language import text
from schemas.cognition import CognitiveState

MAX_TERMS = 8
_WORD = re.compile(r"\w+")


def rewritten(state: CognitiveState) -> CognitiveState:
    """The state with a new query for each leaf that is searched again; a leaf without another one keeps its old one,
    which is not searched twice."""
    if state.mind_map is None:
        return state
    queries = dict(state.queries)
    for leaf in state.mind_map.leaves():
        if is_searched_again(state, leaf.node_id):
            seen = state.queries_seen.get(leaf.node_id, ())
            asked = bound(state, leaf)
            suggested = state.verifications[leaf.node_id].query
            options = (suggested, _within(asked, state.query, state.lang), phrase(asked, state.lang))
            queries[leaf.node_id] = next(
                (each for each in options if each and signature(each, state.lang) not in seen), leaf.question
            )
    return state.model_copy(update={"queries": queries})


def _within(asked: str, whole: str, lang: str) -> str:
    """The terms of a sub-question, its negations among them, completed by those of the whole question."""
    denied = [word for word in _WORD.findall(text.clip(asked).lower()) if is_negation(word)]
    terms = dict.fromkeys((*denied, *text.surface_terms(asked, lang), *text.surface_terms(text.clip(whole), lang)))
    return " ".join(list(terms)[:MAX_TERMS])
