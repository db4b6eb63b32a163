"""The planner: divides a question into a tree of sub-questions, or leaves it to the ordinary pack."""

from agents.cognition.core.opening import is_asked
from agents.cognition.decomposition.complexity import is_complex
from agents.cognition.decomposition.tree import decompose
from agents.ports.cognition import CognitionOptions
from schemas.cognition import CognitiveState
from schemas.retrieval import RetrievalPlan


def is_worthwhile(question: str, lang: str, threshold: float) -> bool:
    """Whether a question is worth a run at all: it is long enough, and no mere citation."""
    return is_complex(question, lang, threshold)


def opens_run(plan: RetrievalPlan, options: CognitionOptions) -> bool:
    """Whether a run is opened for the message of a plan."""
    return options.enabled and (
        is_asked(plan) or is_worthwhile(plan.query, plan.lang, options.limits.complexity_threshold)
    )


def planned(state: CognitiveState, *, asked: bool) -> CognitiveState:
    """The state with its tree; `fallback` where nothing is to be divided, unless the caller `asked` for this mode."""
    tree = decompose(state.query, state.lang, state.limits)
    return state.model_copy(update={"mind_map": tree, "fallback": len(tree.nodes) == 1 and not asked})
