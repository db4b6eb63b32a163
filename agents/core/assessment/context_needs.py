"""Assessment of a query by rules: whether it needs deep context, what to do, and the tokens saved.

Consistent with the depth stage: what needs no memory there (`needs_nothing`) is answered directly here, and so are
questions about what is at hand; work on a project needs deep context; everything else is searched for. In doubt more
context wins.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache

from agents.core.assessment import advised_tools, needs_nothing, work_requests
from agents.core.assessment.advised_tools import TOOLS, Tools
from agents.core.assessment.needs_nothing import Kind
from agents.core.assessment.prompt import ModelJudgement
from agents.core.conversation.memory import ConversationTurn
from agents.core.depth import levels
from agents.core.language import text
from agents.core.language.identification import first_language
from agents.core.language.lexicons import lexicon
from agents.core.language.messages import DEFAULT
from agents.core.packs.planning import Limits
from schemas.assessment import Action, Assessment, QueryType, TierName
from schemas.depth import DepthLevel

T = QueryType
DOUBT = 0.6
# The share of a question's content words that must occur together in one text at hand.
AT_HAND = 2 / 3
# The time does not matter: a summary stands for the turns up to now.
_NOW = datetime(2000, 1, 1, tzinfo=UTC)

SIMPLE = frozenset({T.GREETING, T.CLARIFICATION})
COMPLEX = frozenset({T.ARCHITECTURAL, T.IMPLEMENTATION, T.REVIEW_REQUEST, T.DEBUGGING})
ACTIONS: Mapping[TierName, Action] = {"standard": "search_context", "deep": "deep_retrieval"}
TYPES: Mapping[Kind, QueryType] = {
    "courtesy": T.GREETING,
    "abilities": T.CLARIFICATION,
    "repeat": T.CLARIFICATION,
    "explanation": T.CLARIFICATION,
    "rewording": T.CLARIFICATION,
}
# The query type of each kind of work and its confidence; the first match decides.
WORK: Mapping[str, tuple[QueryType, float]] = {
    "review": (T.REVIEW_REQUEST, 0.9),
    "debug": (T.DEBUGGING, 0.88),
    "architecture": (T.ARCHITECTURAL, 0.88),
    "implement": (T.IMPLEMENTATION, 0.9),
}


@dataclass(frozen=True, slots=True)
class AssessmentPolicy:
    """The limits of plans, and the tools that can be advised."""

    limits: Limits = field(default_factory=Limits)
    tools: Tools = field(default_factory=lambda: TOOLS)


DEFAULT_POLICY = AssessmentPolicy()


def assess(
    query: str,
    summary: str | None = None,
    available: Sequence[str] = (),
    *,
    policy: AssessmentPolicy = DEFAULT_POLICY,
) -> Assessment:
    """Assess a query, given a summary of the conversation and what is at hand; pure, total, bounded in time."""
    asked = text.clip(query)
    lang = first_language(asked, DEFAULT)
    kind, sure, nothing = _kind(asked)
    decision = levels.classify(query, _said(summary), lang=lang)
    is_follow_up = decision.level is DepthLevel.D1
    at_hand = _is_at_hand(asked, lang, [*([summary] if summary else []), *available])
    needs, tier, why = _need(kind, nothing=nothing, is_follow_up=is_follow_up, at_hand=at_hand)
    if not needs:
        why = f"{why}; a look-up could take {policy.limits.deadline_ms[decision.level]} ms"
    return _assessment(kind, sure, needs=needs, tier=tier, why=why, level=decision.level, policy=policy)


def by_engine(made: Assessment, *, needs: bool, why: str, policy: AssessmentPolicy = DEFAULT_POLICY) -> Assessment:
    """The assessment with an engine's decision: deep where it asks for expansion, else minimal."""
    tier: TierName = "deep" if needs else "minimal"
    return _assessment(
        made.query_type, made.confidence, needs=needs, tier=tier, why=why, level=made.depth_level, policy=policy
    )


def by_model(made: Assessment, judged: ModelJudgement, *, policy: AssessmentPolicy = DEFAULT_POLICY) -> Assessment:
    """The assessment with a language model's judgement; missing values, and those it may not decide, by rules.

    Simple and complex query types decide alone; only existing tools are recommended.
    """
    kind = judged.kind or made.query_type
    needs = kind in COMPLEX or (judged.needs and kind not in SIMPLE)
    tier: TierName = judged.tier or ("deep" if needs else "minimal")
    if tier == ("minimal" if needs else "deep"):
        tier = "standard"
    sure = DOUBT if judged.confidence is None else judged.confidence
    why = judged.reason or "The model judged so and gave no reason"
    stated = _assessment(kind, sure, needs=needs, tier=tier, why=why, level=made.depth_level, policy=policy)
    if not needs:
        return stated
    recommended, skipped = advised_tools.by_model(judged, kind, why, policy.tools)
    return stated.model_copy(update={"recommended_tools": recommended, "skip_tools": skipped})


def _assessment(
    kind: QueryType,
    sure: float,
    *,
    needs: bool,
    tier: TierName,
    why: str,
    level: DepthLevel,
    policy: AssessmentPolicy,
) -> Assessment:
    recommended, skipped = advised_tools.by_type(kind, policy.tools)
    return Assessment(
        needs_deep_context=needs,
        confidence=sure,
        reason=why,
        recommended_action=ACTIONS[tier] if needs else "respond_directly",
        # The budget of the plan that is not run.
        estimated_savings=0 if needs else policy.limits.max_tokens[level],
        query_type=kind,
        recommended_tier=tier,
        recommended_tools=recommended if needs else (),
        skip_tools=skipped if needs else advised_tools.none_of(policy.tools),
        depth_level=level,
    )


def query_type(query: str) -> QueryType:
    """The type of a query, by its words alone."""
    return _kind(text.clip(query))[0]


def _kind(asked: str) -> tuple[QueryType, float, bool]:
    """The type of a query, the confidence in it, and whether it needs no memory."""
    done = needs_nothing.kind_of(asked)
    if done is not None and done in TYPES:
        return TYPES[done], 0.97 if done == "courtesy" else 0.92, True
    said = text.words(asked)
    whole = " ".join(said)
    for work, (kind, sure) in WORK.items():
        if done is None and work_requests.asks_for(work, whole):
            return kind, sure, False
    if text.fold(asked).endswith("?") or _asks(said):
        return T.DIRECT_QUESTION, 0.85, done is not None
    return T.OTHER, DOUBT, done is not None


def _asks(said: Sequence[str]) -> bool:
    """Whether the words begin like a question or a look-up request, after at most two function words."""
    first = next((word for word in said[:3] if word not in _words("before_asking")), said[0])
    return first in _words("asking") or first in _words("looking_up")


@cache
def _words(section: str) -> frozenset[str]:
    return lexicon("words").words(section)


def _said(summary: str | None) -> list[ConversationTurn]:
    return [ConversationTurn("assistant", summary, _NOW)] if summary and summary.strip() else []


def _is_at_hand(asked: str, lang: str, known: Sequence[str]) -> bool:
    """Whether most content words occur together in one of the texts at hand."""
    named = set(text.content_words(_split_identifiers(asked), lang)) - _generic_stems("pt" if lang == "pt" else "en")
    if not named:
        return bool(known)
    return any(
        len(named & set(text.content_words(_split_identifiers(each), lang))) >= AT_HAND * len(named) for each in known
    )


def _split_identifiers(said: str) -> str:
    """The text with identifiers of code split into words."""
    spaced = "".join(
        f" {char}" if char.isupper() and before.islower() else char
        for before, char in zip(f" {said}", said, strict=False)
    )
    return spaced.replace("_", " ").replace("(", " ").replace(".", " . ")


@cache
def _generic_stems(lang: str) -> frozenset[str]:
    """The stems of generic words, which name what is asked about a thing and not the thing."""
    words = lexicon("words").words("asked_of_things", lang)
    return frozenset(stem for word in words for stem in text.content_words(word, lang))


def _need(kind: QueryType, *, nothing: bool, is_follow_up: bool, at_hand: bool) -> tuple[bool, TierName, str]:
    if kind is T.GREETING:
        return False, "minimal", "The query is a courtesy; nothing is asked that context would answer"
    if kind is T.CLARIFICATION:
        return False, "minimal", "The query asks about what was just said; the conversation answers it"
    if nothing:
        return False, "minimal", "The query asks for nothing that would have to be looked up"
    if kind in COMPLEX:
        return True, "deep", f"The query is {_ARTICLE[kind]}; it depends on what the project knows"
    if at_hand:
        return False, "standard" if is_follow_up else "minimal", "The query names nothing beyond what is at hand"
    if kind is T.OTHER and is_follow_up:
        return False, "standard", "The query goes on with the topic of the conversation, which is at hand"
    return True, "standard", "The query depends on something that is not at hand"


_ARTICLE = {
    T.ARCHITECTURAL: "about architecture or design",
    T.IMPLEMENTATION: "a request to implement something",
    T.REVIEW_REQUEST: "a request for a review",
    T.DEBUGGING: "about something that fails",
}
