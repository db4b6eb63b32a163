"""Depth classification: the level D0-D4 of one message, by linguistic rules alone.

The tests run in a fixed order and the first positive one decides; every signal is reported with its evidence. In doubt
the level with more context wins.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from agents.core.conversation.memory import ConversationTurn
from agents.core.depth.follow_up import opens_segment
from agents.core.depth.reading import kind_of_talk, read_message, word_class
from agents.core.depth.reference import entity
from agents.core.depth.shift import is_doubtful, is_sure
from agents.core.depth.signals import detect
from agents.core.language.identification import first_language, identify_language
from agents.core.language.messages import DEFAULT
from agents.core.language.text import words
from schemas.depth import Anchor, DepthLevel, Signal

D0, D1, D2, D3, D4 = DepthLevel
MARGIN = 0.1
# Roles whose work is to check get more context in a tie.
ANALYST_MARGIN = 0.25
TIE_COST, PER_KIND, MAX_CONFIDENCE, EPSILON = 0.15, 0.02, 0.99, 1e-9
DECIDING, SIMPLE = 0.6, 0.55
D2_NAMES = frozenset(("explanation", "comparison", "list_summary", "how_to"))
D1_NAMES = frozenset(("anaphora", "follow_up"))


@dataclass(frozen=True, slots=True)
class DepthDecision:
    """A level with its evidence: every signal, the close rivals, the entity of the message.

    `candidates` are the level itself and all levels that a profile could choose instead.
    """

    level: DepthLevel
    confidence: float
    signals: tuple[Signal, ...]
    candidates: tuple[DepthLevel, ...]
    raised_from: DepthLevel | None
    how_to: bool
    terms: tuple[str, ...]
    intent: str
    entity: str | None
    resets: bool = False
    segment: float = 0.0


def classify(
    query: str,
    history: Sequence[ConversationTurn],
    *,
    lang: str,
    anchor: Anchor | None = None,
    user_role: str | None = None,
) -> DepthDecision:
    """The depth of one message, given the turns before it; pure, total, bounded in time."""
    reading = read_message(query, history, lang, anchor)
    signals = detect(reading)
    # The first message of a conversation has nothing to continue.
    counting = signals if history else tuple(sign for sign in signals if sign.level is not D1)
    deciding = _first_positive(counting)
    scores = _scores(counting)
    close = _rivals(deciding, scores, ANALYST_MARGIN)
    rivals = close if _checks(user_role) else _rivals(deciding, scores, MARGIN)
    level = max((deciding.level, *rivals), key=context_kept)
    lower = [rival for rival in (*rivals, deciding.level) if rival is not level]
    # Reported although they do not count: they show the caller that a profile could decide otherwise.
    higher = [rival for rival in close if context_kept(rival) > context_kept(level)]
    return DepthDecision(
        level=level,
        confidence=_confidence(level, signals, contested=bool(rivals)),
        signals=signals,
        candidates=(level, *lower, *higher),
        raised_from=max(lower, key=lambda rival: scores[rival], default=None),
        how_to=any(sign.name == "how_to" for sign in signals),
        terms=reading.terms,
        intent=deciding.name,
        entity=entity(reading),
        resets=level is D4 and any(map(is_sure, signals)),
        segment=round(opens_segment(reading, signals), 3),
    )


def segment_of_answer(text: str, history: Sequence[ConversationTurn], lang: str) -> float:
    """The probability that a turn of the assistant opens a segment, 0-1; 0 where it serves, which is to answer."""
    if kind_of_talk(history, text) != "chat":
        return 0.0
    reading = read_message(text, history, lang)
    return round(opens_segment(reading, detect(reading)), 3)


def _first_positive(signals: Sequence[Signal]) -> Signal:
    """The strongest signal of the first test that any signal passes."""
    for passes in ORDER:
        passed = [sign for sign in signals if passes(sign)]
        if passed:
            return max(passed, key=lambda sign: sign.weight)
    return NOTHING_SAID


def _is(sign: Signal, names: frozenset[str], level: DepthLevel, least: float = DECIDING) -> bool:
    return sign.name in names and sign.level is level and sign.weight >= least


ORDER: tuple[Callable[[Signal], bool], ...] = (
    lambda sign: sign.name == "greeting" and sign.weight >= DECIDING,
    lambda sign: sign.level is D3,
    lambda sign: sign.level is D4 and not is_doubtful(sign.weight),
    lambda sign: _is(sign, D2_NAMES, D2),
    lambda sign: sign.name == "temporal",
    lambda sign: _is(sign, D1_NAMES, D1),
    lambda sign: sign.name == "command",
    lambda sign: sign.name == "direct_question" and sign.weight >= SIMPLE,
    lambda sign: sign.level is not D4,
)
# A message without a word ("...", an emoji) asks for nothing.
NOTHING_SAID = Signal(name="greeting", evidence="", level=D0, weight=0.5)


def context_kept(level: DepthLevel) -> int:
    """The rank of a level by the context it keeps; D4 is lowest, since it drops context."""
    return (D4, D0, D1, D2, D3).index(level)


def _scores(signals: Sequence[Signal]) -> dict[DepthLevel, float]:
    return {level: max((sign.weight for sign in signals if sign.level is level), default=0.0) for level in DepthLevel}


def _rivals(deciding: Signal, scores: dict[DepthLevel, float], margin: float) -> tuple[DepthLevel, ...]:
    """The levels scoring within a margin of the decided one; a doubtful change of topic is one."""
    if deciding.level in (D3, D4) or deciding is NOTHING_SAID:
        return ()
    return tuple(
        level
        for level in DepthLevel
        if level is not deciding.level
        and scores[level] > 0
        and (level is D4 or abs(scores[deciding.level] - scores[level]) <= margin + EPSILON)
    )


def _checks(user_role: str | None) -> bool:
    return not word_class("ANALYST_ROLES").isdisjoint(words(user_role or ""))


def _confidence(level: DepthLevel, signals: Sequence[Signal], *, contested: bool) -> float:
    """The weight of the level's strongest signal plus a bonus per further kind of signal, 0-1."""
    agreeing = [sign for sign in signals if sign.level is level]
    best = max((sign.weight for sign in agreeing), default=NOTHING_SAID.weight)
    kinds = len({sign.name for sign in agreeing})
    sure = min(MAX_CONFIDENCE, best + PER_KIND * max(kinds - 1, 0))
    return round(max(0.0, sure - (TIE_COST if contested else 0.0)), 3)


def detect_depth_level(query: str, history: Sequence[ConversationTurn]) -> DepthLevel:
    """The level only, with the language identified from the message."""
    return classify(query, history, lang=_language(query, history)).level


def contains_disagreement_markers(query: str) -> bool:
    """Whether the message contests or corrects something."""
    return _shows(query, (), "disagreement")


def is_topic_shift(query: str, history: Sequence[ConversationTurn]) -> bool:
    """Whether the message leaves the topic of the history."""
    signals = detect(read_message(query, history, _language(query, history)))
    return any(sign.level is D4 and not is_doubtful(sign.weight) for sign in signals)


def contains_explanation_request(query: str) -> bool:
    """Whether the message asks to explain, compare, list, sum up or show how."""
    return _shows(query, (), *D2_NAMES)


def contains_anaphoric_references(query: str) -> bool:
    """Whether the message refers outside itself."""
    return _shows(query, (), "anaphora")


def is_follow_up(query: str, history: Sequence[ConversationTurn]) -> bool:
    """Whether the message continues the history, regardless of its level."""
    return bool(history) and _shows(query, history, "follow_up", "anaphora")


def _shows(query: str, history: Sequence[ConversationTurn], *names: str) -> bool:
    signals = detect(read_message(query, history, _language(query, history)))
    return any(sign.name in names and sign.weight >= DECIDING for sign in signals)


def _language(query: str, history: Sequence[ConversationTurn]) -> str:
    default = identify_language(history[-1].content, DEFAULT) if history else first_language(query, DEFAULT)
    return identify_language(query, default)


def warm() -> None:
    """Load lexicons and tables in advance: the first message otherwise takes over a second."""
    said = ConversationTurn("assistant", "O prazo é dia 15.", datetime(2000, 1, 1, tzinfo=UTC))
    first_language("prazo", DEFAULT)
    for lang in ("pt", "en"):
        for history in ((), (said,)):
            classify("Qual o prazo do contrato? The deadline is the 20th.", history, lang=lang)
