"""Whether a query needs deep context, what to do about it, and what that saves: by rules; a model only judges (CF-01).

What only greets or asks back needs none, work on a project does; a direct question does when it names something of a
project that is not at hand (CF-44). In doubt more context wins (CF-04).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from agents.core import depth, text
from agents.core.asking_back import ABLE, CLARIFYING, NEAR
from agents.core.assessment_prompt import Judged
from agents.core.conversation import ConversationTurn
from agents.core.courtesies import COURTESIES, FILLERS
from agents.core.phrase_pieces import consists_of
from agents.core.work_requests import ARCHITECTS, DEBUGS, IMPLEMENTS, PROJECT, REVIEWS, says
from schemas.assessment import Action, Assessment, QueryType, RecommendedTool, SkippedTool, TierName
from schemas.depth import DepthLevel

T = QueryType
# A courtesy of more words is none, whatever they are.
MOST_WORDS = 24
SURE, DOUBT = 0.8, 0.6
# Tokens of the plan that is not run when retrieval is skipped (CF-72).
SAVED = 1500
# So much of what a question names must stand together in something at hand.
AT_HAND = 2 / 3
# Now is of no account: a summary stands for turns of this moment.
_NOW = datetime(2000, 1, 1, tzinfo=UTC)

SIMPLE = frozenset({T.GREETING, T.CLARIFICATION})
COMPLEX = frozenset({T.ARCHITECTURAL, T.IMPLEMENTATION, T.REVIEW_REQUEST, T.DEBUGGING})
# Levels at which a query that is nothing else needs context (CF-10).
BEYOND = frozenset({DepthLevel.D2, DepthLevel.D3, DepthLevel.D4})
ACTIONS: Mapping[TierName, Action] = {"standard": "search_context", "deep": "deep_retrieval"}


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of the caller's: for which types of query it is of use, and why; else why not."""

    name: str
    uses: Mapping[QueryType, str]
    beside_the_point: str


SEARCH = "search_context"
TOOLS = (
    Tool(
        SEARCH,
        {
            T.ARCHITECTURAL: "Query asks about architectural patterns",
            T.IMPLEMENTATION: "New code should follow what the project already has",
            T.REVIEW_REQUEST: "What is reviewed is measured against the project's own patterns",
            T.DEBUGGING: "What is known of the failing part narrows the cause down",
            T.DIRECT_QUESTION: "Query asks for something of the project that is not at hand",
            T.OTHER: "Query speaks of the project, and what it names is not at hand",
        },
        "The query can be answered without looking anything up",
    ),
    Tool(
        "check_conflicts",
        {
            T.ARCHITECTURAL: "Proposed change may conflict with principles",
            T.IMPLEMENTATION: "New code may conflict with decisions taken before",
            T.REVIEW_REQUEST: "What is reviewed may contradict decisions taken before",
        },
        "Nothing is proposed that could conflict with what is known",
    ),
    Tool(
        "get_review_queue",
        {T.REVIEW_REQUEST: "Other reviews may be waiting for the same reviewer"},
        "Not a review-related query",
    ),
)


def assess(query: str, summary: str | None = None, available: Sequence[str] = ()) -> Assessment:
    """What a query needs, given a summary of the conversation and what is at hand; pure, total, bounded in time."""
    asked = text.clip(query)
    lang = text.identify_language(asked, "pt")
    kind, sure = _kind(asked)
    decision = depth.classify(query, _said(summary), lang=lang)
    follows = decision.level is DepthLevel.D1 and bool(summary)
    of_project = PROJECT.search(text.fold(asked)) is not None
    missing = of_project and not _is_at_hand(asked, lang, [*([summary] if summary else []), *available])
    if kind is T.OTHER:
        missing = decision.level in BEYOND  # CF-10
    needs, tier, why = _need(kind, sure, follows=follows, missing=missing)
    return _stated(kind, sure, needs=needs, tier=tier, why=why, level=decision.level)


def by_engine(made: Assessment, *, needs: bool, why: str) -> Assessment:
    """The assessment as an engine decided it (S3-39): deep where it wants expansion, else minimal."""
    tier: TierName = "deep" if needs else "minimal"
    return _stated(made.query_type, made.confidence, needs=needs, tier=tier, why=why, level=made.depth_level)


def by_model(made: Assessment, judged: Judged) -> Assessment:
    """The assessment as a language model judged the query; what it did not say, or may not decide, by rules (CF-44).

    The type of query decides where it always does (CF-10); tools are those that there are.
    """
    kind = judged.kind or made.query_type
    needs = kind in COMPLEX or (judged.needs and kind not in SIMPLE)
    tier: TierName = judged.tier or ("deep" if needs else "minimal")
    if tier == ("minimal" if needs else "deep"):
        tier = "standard"
    sure = DOUBT if judged.confidence is None else judged.confidence
    why = judged.reason or "The model judged so and gave no reason"
    stated = _stated(kind, sure, needs=needs, tier=tier, why=why, level=made.depth_level)
    return _advised(stated, judged) if needs else stated


def _advised(stated: Assessment, judged: Judged) -> Assessment:
    """With the tools that a model recommends, in its order; to look for context is always among them."""
    known = {tool.name: tool for tool in TOOLS}
    reasons = {tool.name: tool.reason for tool in reversed(judged.tools) if tool.name in known}
    named = [name for name in dict.fromkeys(tool.name for tool in judged.tools) if name in known]
    if not named:
        return stated
    if SEARCH not in named:
        named.append(SEARCH)
    use = _use(stated.query_type)
    return stated.model_copy(
        update={
            "recommended_tools": tuple(
                RecommendedTool(
                    name=name, reason=reasons.get(name) or known[name].uses.get(use) or stated.reason, priority=place
                )
                for place, name in enumerate(named, 1)
            ),
            "skip_tools": tuple(
                SkippedTool(name=tool.name, reason=tool.beside_the_point) for tool in TOOLS if tool.name not in named
            ),
        }
    )


def _use(kind: QueryType) -> QueryType:
    # No tool is of use for a courtesy; where an engine wants context for one, it is as for anything else.
    return kind if any(kind in tool.uses for tool in TOOLS) else T.OTHER


def _stated(kind: QueryType, sure: float, *, needs: bool, tier: TierName, why: str, level: DepthLevel) -> Assessment:
    use = _use(kind)
    return Assessment(
        needs_deep_context=needs,
        confidence=sure,
        reason=why,
        recommended_action=ACTIONS[tier] if needs else "respond_directly",
        estimated_savings=0 if needs else SAVED,
        query_type=kind,
        recommended_tier=tier,
        recommended_tools=_recommended(use) if needs else (),
        skip_tools=_skipped(use, needed=needs),
        depth_level=level,
    )


def query_type(query: str) -> QueryType:
    """What a query does, by its words alone."""
    return _kind(text.clip(query))[0]


def _kind(asked: str) -> tuple[QueryType, float]:
    said = text.words(asked)
    whole, folded = " ".join(said), text.fold(asked)
    if not said:
        return T.GREETING, SURE
    if len(said) <= MOST_WORDS:
        if consists_of(whole, COURTESIES, FILLERS):
            return T.GREETING, 0.97
        if consists_of(whole, CLARIFYING, NEAR) or consists_of(whole, ABLE, NEAR):
            return T.CLARIFICATION, 0.92
    for kind, patterns, sure in (
        (T.REVIEW_REQUEST, REVIEWS, 0.9),
        (T.DEBUGGING, DEBUGS, 0.88),
        (T.ARCHITECTURAL, ARCHITECTS, 0.88),
        (T.IMPLEMENTATION, IMPLEMENTS, 0.9),
    ):
        if says(whole, patterns):
            return kind, sure
    if folded.endswith("?") or _asks(said):
        return T.DIRECT_QUESTION, 0.85
    return T.OTHER, DOUBT


ASKING = frozenset(
    """what whats what's who who's whom whose where where's when which why how how's is are was were do does did can
    could will would should has have had am may qual quais quem quando onde quanto quanta quantos quantas que cade
    sera como porque""".split()  # noqa: SIM905 - a list of words, not of strings
)
LOOKING_UP = frozenset(
    """tell give find show name list define say diga informe mostre liste cite defina busque
    procure""".split()  # noqa: SIM905
)
BEFORE = frozenset(
    """o a e em de do no na at in on to from for by com para por and so please entao
    mas""".split()  # noqa: SIM905
)


def _asks(said: Sequence[str]) -> bool:
    """Whether it begins as a question does, perhaps behind a small word, or asks to be told something."""
    first = next((word for word in said[:3] if word not in BEFORE), said[0])
    return first in ASKING or first in LOOKING_UP


def _said(summary: str | None) -> list[ConversationTurn]:
    return [ConversationTurn("assistant", summary, _NOW, None)] if summary and summary.strip() else []


def _is_at_hand(asked: str, lang: str, known: Sequence[str]) -> bool:
    """Whether most of what is named stands together in one of the things at hand."""
    named = set(text.content_words(_apart(asked), lang)) - _GENERAL[lang if lang in _GENERAL else "en"]
    if not named:
        return bool(known)
    return any(len(named & set(text.content_words(_apart(each), lang))) >= AT_HAND * len(named) for each in known)


def _apart(said: str) -> str:
    """Names of code as the words they are made of."""
    spaced = "".join(
        f" {char}" if char.isupper() and before.islower() else char
        for before, char in zip(f" {said}", said, strict=False)
    )
    return spaced.replace("_", " ").replace("(", " ").replace(".", " . ")


# What is asked of a thing, not the thing.
_GENERAL = {
    lang: frozenset(stem for word in words.split() for stem in text.content_words(word, lang))
    for lang, words in {
        "en": "name names function method class value type file module line number definition date meaning",
        "pt": "nome nomes função método classe valor tipo arquivo módulo linha número definição data significado",
    }.items()
}


def _need(kind: QueryType, sure: float, *, follows: bool, missing: bool) -> tuple[bool, TierName, str]:
    if kind is T.GREETING:
        return False, "minimal", "The query is a courtesy; nothing is asked that context would answer"
    if kind is T.CLARIFICATION:
        return False, "minimal", "The query asks about what was just said; the conversation answers it"
    if kind in COMPLEX:
        return True, "deep", f"The query is {_ARTICLE[kind]}; it depends on what the project knows"
    if follows:
        return False, "standard", "The query goes on with the topic of the conversation, which is at hand"
    if missing:
        return True, "standard", "The query depends on something that is not at hand"
    if sure < SURE:
        return False, "standard", "The query is neither clearly simple nor clearly about the project"
    return False, "minimal", "The query is a direct question that names nothing of the project beyond what is at hand"


_ARTICLE = {
    T.ARCHITECTURAL: "about architecture or design",
    T.IMPLEMENTATION: "a request to implement something",
    T.REVIEW_REQUEST: "a request for a review",
    T.DEBUGGING: "about something that fails",
}


def _recommended(kind: QueryType) -> tuple[RecommendedTool, ...]:
    useful = [tool for tool in TOOLS if kind in tool.uses]
    return tuple(
        RecommendedTool(name=tool.name, reason=tool.uses[kind], priority=place) for place, tool in enumerate(useful, 1)
    )


def _skipped(kind: QueryType, *, needed: bool) -> tuple[SkippedTool, ...]:
    return tuple(
        SkippedTool(name=tool.name, reason=tool.beside_the_point)
        for tool in TOOLS
        if not needed or kind not in tool.uses
    )
