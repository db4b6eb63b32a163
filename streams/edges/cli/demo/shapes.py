"""The shapes of what `fathom demo --json` prints."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from schemas.assessment import AssessmentAsked, AssessmentMade
from schemas.depth import DepthClassified
from schemas.packs import ContextPack
from schemas.retrieval import PartFound, RetrievalPlan
from schemas.tools import ToolCallRequested, ToolCallResolved, ToolConfirmation, ToolResult
from streams.edges.cli.demo.rival import ComparedQuestion
from streams.edges.client.deep_answers import DeepAnswerShown


class DemoMessage(TypedDict):
    """A message with all that led to its pack; with the short demo also beside plain retrieval."""

    event: Literal["message"]
    tenant: str
    user: str
    conversation: str | None
    message_id: str
    text: str
    round_trip_ms: float
    depth: DepthClassified | None
    plan: RetrievalPlan | None
    parts: list[PartFound]
    pack: ContextPack | None
    comparison: NotRequired[ComparedQuestion | None]


class DemoAct(TypedDict):
    """What an agent or a user did, and what came of it."""

    event: Literal["call", "result", "confirmation", "assessment"]
    tenant: str
    user: str
    conversation: str | None
    sent: ToolResult | ToolCallRequested | ToolConfirmation | AssessmentAsked
    made: ToolCallResolved | AssessmentMade | None
    round_trip_ms: float | None


class DemoTotals(TypedDict):
    """The totals of all messages."""

    messages: int
    packs: int
    degraded: int
    by_depth: dict[str, int]
    tokens: int
    tokens_everything: int
    round_trip_p50_ms: float
    round_trip_p95_ms: float
    pack_p50_ms: float
    pack_p95_ms: float
    claims: int
    corrections: int
    dead_letters: int
    calls: int
    calls_resolved: int
    calls_refused: int
    calls_confirmed: int
    assessments: int
    retrievals_saved: int
    tokens_saved: int
    event: Literal["summary"]
    equal_answers: NotRequired[dict[str, int]]


class DemoDeepAnswer(TypedDict):
    """A deep answer, and what it shows."""

    event: Literal["deep"]
    shows: str
    answer: DeepAnswerShown


class DemoNote(TypedDict):
    """What happens next."""

    event: Literal["note"]
    text: str


DemoLine = DemoMessage | DemoAct | DemoDeepAnswer | DemoNote | DemoTotals
