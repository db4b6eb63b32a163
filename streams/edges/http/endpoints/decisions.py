"""`GET /decisions`: what was decided lately, by day; of the graph."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from math import ceil
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from starlette.requests import Request

from agents.ports.graph import Asker, DecisionMade, DecisionReader
from schemas.base import Absent, Id, Value
from schemas.depth import DepthLevel
from streams.edges.http.endpoints.graph import GRAPH_PROBLEMS, graph_of, reading_graph
from streams.edges.http.identity import grant_of, user_of
from streams.edges.http.openapi import READ_PROBLEMS, problems
from streams.edges.http.routes import LoggedRoute, Unsent

MAX_DAYS, MAX_LATEST = 90, 200
# Of all days together; `complete` is false where there are more.
MAX_READ = 10_000
QUESTION_CHARS = 400
SHORT = timedelta(days=2)
MIDNIGHT: Mapping[str, int] = {"hour": 0, "minute": 0, "second": 0, "microsecond": 0}
FULL_HOUR = {name: value for name, value in MIDNIGHT.items() if name != "hour"}


class DecisionsQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    days: int = Field(30, ge=1, le=MAX_DAYS, description="how many days, today the last, in UTC")
    limit: int = Field(50, ge=0, le=MAX_LATEST, description="how many of the latest decisions")
    level: DepthLevel | Unsent = Field(None, description="only of this depth")
    degraded: bool | Unsent = Field(
        None, description="only those whose pack lacks what a memory did not answer in time, or not"
    )
    evidence: Literal["found", "none"] | Unsent = Field(
        None, description="only those whose pack held something that answers, or nothing; from 0.2 on"
    )
    user: Id | Unsent = Field(None, description="only on this user's messages; default: the token's")


class TokenFigures(Value):
    p50: int
    mean: float


class LatencyFigures(Value):
    p50: int
    p95: int


class DecisionFigures(Value):
    """How many messages were decided at which depth, and what their packs cost (tokens, ms)."""

    depths: Mapping[DepthLevel, int]
    messages: int
    tokens: TokenFigures
    latency_ms: LatencyFigures
    degraded: int
    corrections: int


class DecisionDay(DecisionFigures):
    day: date


class DecisionHour(DecisionFigures):
    """An hour, in UTC, with messages."""

    hour: AwareDatetime


class DecisionShown(Value):
    """The decision on one message; its `question` is there where the message is stored, and may be cut."""

    message_id: Id
    conversation_id: Id
    client_id: Absent[Id] = None
    at: AwareDatetime
    level: DepthLevel
    question: Absent[str] = None
    tokens: int
    latency_ms: int
    degraded: bool
    evidence: Absent[Literal["found", "none"]] = None


class DecisionsShown(Value):
    """The days, oldest first, and the latest decisions, newest first; `hours` where all is of less than two days.

    `complete` is false where there were more decisions or corrections than are read: the oldest days then lack some.
    """

    days: tuple[DecisionDay, ...]
    hours: Absent[tuple[DecisionHour, ...]] = None
    latest: tuple[DecisionShown, ...]
    complete: bool


def decisions_router(reader: Callable[[], DecisionReader | None]) -> APIRouter:
    """The route; `reader` is asked for at each call, and is None where no graph can be read."""
    router = APIRouter(route_class=LoggedRoute)
    refused = {**READ_PROBLEMS, **GRAPH_PROBLEMS}
    del refused[404]

    @router.get(
        "/decisions",
        summary="What was decided in the last days",
        response_description="by day, and the latest decisions",
        responses=problems(refused),
    )
    async def decisions(request: Request, query: Annotated[DecisionsQuery, Query()]) -> DecisionsShown:
        """A token of one client or one user sees decisions on its own messages only."""
        grant = grant_of(request)
        whose = Asker(grant.client, user_of(grant, query.user))
        with reading_graph():
            return await _shown(graph_of(reader), grant.tenant, whose, query, datetime.now(UTC))

    return router


async def _shown(
    reader: DecisionReader, tenant: str, whose: Asker, query: DecisionsQuery, until: datetime
) -> DecisionsShown:
    first = until.date() - timedelta(days=query.days - 1)
    since = datetime.combine(first, time(), UTC)
    made = await reader.decisions(tenant, whose=whose, since=since, as_of=until, limit=MAX_READ + 1)
    corrections = await reader.corrections(tenant, whose=whose, since=since, as_of=until, limit=MAX_READ + 1)
    complete = len(made) <= MAX_READ and len(corrections) <= MAX_READ
    made = tuple(
        each
        for each in made[:MAX_READ]
        if query.level in (None, each.level)
        and query.degraded in (None, each.degraded)
        and query.evidence in (None, each.evidence)
    )
    corrections = corrections[:MAX_READ]
    latest = made[: query.limit]
    asked = await reader.questions(tenant, [each.decision_id for each in latest], until) if latest else {}
    return DecisionsShown(
        days=by_day(made, corrections),
        hours=by_hour(made, corrections),
        latest=tuple(_row(each, asked.get(each.decision_id)) for each in latest),
        complete=complete,
    )


def by_day(made: Sequence[DecisionMade], corrections: Sequence[datetime]) -> tuple[DecisionDay, ...]:
    """The days on which something was decided or contested, oldest first; percentiles by nearest rank."""
    found = _since(made, corrections, MIDNIGHT)
    return tuple(DecisionDay(day=day.date(), **figures) for day, figures in found)


def by_hour(made: Sequence[DecisionMade], corrections: Sequence[datetime]) -> tuple[DecisionHour, ...] | None:
    """As by day; None where it is of two days or more, or nothing."""
    times = [*(each.at for each in made), *corrections]
    if not times or max(times) - min(times) >= SHORT:
        return None
    found = _since(made, corrections, FULL_HOUR)
    return tuple(DecisionHour(hour=hour, **figures) for hour, figures in found)


def _since(
    made: Sequence[DecisionMade], corrections: Sequence[datetime], begin: Mapping[str, Any]
) -> list[tuple[datetime, dict[str, Any]]]:
    """The figures of each day or hour, by its begin."""
    found: dict[datetime, list[DecisionMade]] = {}
    for each in made:
        found.setdefault(each.at.astimezone(UTC).replace(**begin), []).append(each)
    contested = Counter(at.astimezone(UTC).replace(**begin) for at in corrections)
    return [(at, _figures(found.get(at, []), contested[at])) for at in sorted({*found, *contested})]


def _figures(made: Sequence[DecisionMade], corrections: int) -> dict[str, Any]:
    tokens = sorted(each.tokens for each in made)
    latencies = sorted(each.latency_ms for each in made)
    depths = Counter(each.level for each in made)
    return {
        "depths": {level: depths[level] for level in DepthLevel},
        "messages": len(made),
        "tokens": TokenFigures(p50=_percentile(tokens, 50), mean=round(sum(tokens) / max(len(tokens), 1), 1)),
        "latency_ms": LatencyFigures(p50=_percentile(latencies, 50), p95=_percentile(latencies, 95)),
        "degraded": sum(each.degraded for each in made),
        "corrections": corrections,
    }


def _percentile(ordered: Sequence[int], percent: int) -> int:
    return ordered[max(ceil(len(ordered) * percent / 100) - 1, 0)] if ordered else 0


def _row(made: DecisionMade, question: str | None) -> DecisionShown:
    return DecisionShown(
        message_id=made.message_id,
        conversation_id=made.conversation_id,
        client_id=made.client_id,
        at=made.at,
        level=made.level,
        question=None if question is None else question[:QUESTION_CHARS],
        tokens=made.tokens,
        latency_ms=made.latency_ms,
        degraded=made.degraded,
        evidence=made.evidence,
    )
