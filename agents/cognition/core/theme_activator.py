"""The theme activator: which themes of the tenant's documents a question is about, before any passage is looked for."""

from collections.abc import Sequence

from agents.core.language import text
from agents.ports.cognition import ThemeFound
from schemas.cognition import CognitiveState
from schemas.memory import ActiveTheme

MAX_THEMES = 5
# What a theme counts that is one step from one that the question names.
SPREAD = 0.5


def theme_terms(state: CognitiveState) -> tuple[str, ...]:
    """The words of a question by which themes are found."""
    return text.content_words(text.clip(state.query), state.lang)


def activated(state: CognitiveState, named: Sequence[ThemeFound], near: Sequence[ThemeFound]) -> CognitiveState:
    """The state with its themes, best first: those that the question names, and those above and below them."""
    weights = {each.id: each.met / each.wanted for each in named[:MAX_THEMES]}
    found = {each.id: each for each in named[:MAX_THEMES]}
    for each in near:
        if each.id not in weights or weights[each.id] < SPREAD * weights.get(each.near, 0.0):
            found.setdefault(each.id, each)
            weights[each.id] = SPREAD * weights.get(each.near, 0.0)
    ranked = sorted(found.values(), key=lambda one: (-weights[one.id], one.id))
    themes = tuple(
        ActiveTheme(theme_id=one.id, name=one.name, level=one.level, weight=round(weights[one.id], 4))
        for one in ranked
        if weights[one.id] > 0
    )
    return state.model_copy(update={"themes": themes})
