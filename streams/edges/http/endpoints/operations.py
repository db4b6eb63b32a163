"""`GET /operations/…`: how consumer groups keep up, and what replays made otherwise; for operators alone.

They tell of every tenant: a token that is not an operator's is refused.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Literal

from aiokafka.errors import KafkaError
from fastapi import APIRouter, Depends, Path, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from agents.errors import Unavailable
from schemas.base import Absent, Id, Value
from streams.edges.client import clients
from streams.edges.client.errors import USAGE, CommandFailed
from streams.edges.http.identity import check_operator
from streams.edges.http.openapi import READ_PROBLEMS, SEND_PROBLEMS, problems
from streams.edges.http.problems import Problem
from streams.edges.http.routes import LoggedRoute, Unsent
from streams.edges.operations.lag import GroupLagShown, by_group, group_lag, shown, stages_there
from streams.edges.operations.replays import (
    ReplayCompared,
    ReplayListed,
    ReplayProcess,
    difference,
    replay_compared,
    replays_there,
)
from streams.kafka.lag_status import LagWindow

REPLAY_ID = r"^[a-z0-9]+(-[a-z0-9]+)*$"
MAX_ROWS, MAX_SETTINGS, MAX_HOURS = 1000, 100, 24 * 366
NO_RIGHTS = (
    "use `fathom lag` and `fathom replay` as a user who may, or give this server's user the rights to describe "
    "consumer groups and to read the topics of replays"
)
REFUSALS = {**READ_PROBLEMS, 501: "the broker does not let this server look"}
STARTED = {**REFUSALS, **SEND_PROBLEMS}
WITHOUT_404 = {status: said for status, said in REFUSALS.items() if status != 404}


class LagShown(Value):
    groups: tuple[GroupLagShown, ...]


class ReplayShown(Value):
    """A replay; `state` is told of the one that this server started last, with `why` where it failed."""

    replay_id: str
    topics: Mapping[str, int] = Field(description="records, by topic")
    settings: Mapping[str, str] = Field(description="those that differed from the process's own")
    state: Absent[Literal["running", "failed", "done"]] = None
    why: Absent[str] = None


class ReplayWanted(BaseModel):
    model_config = ConfigDict(extra="forbid")

    settings: dict[str, str] = Field({}, max_length=MAX_SETTINGS, description="FATHOM_… names with other values")
    hours: float | Unsent = Field(None, gt=0, le=MAX_HOURS, description="messages of so long ago on; default: all")
    tenant: Id | Unsent = Field(None, description="only this tenant's messages")
    conversation_id: Id | Unsent = Field(None, description="only this conversation's")
    sample: float = Field(1.0, gt=0, le=1, description="this share of the messages")


class ReplayStarted(Value):
    replay_id: str


class ReplaysShown(Value):
    replays: tuple[ReplayShown, ...]


class DifferenceQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    against: str | Unsent = Field(None, pattern=REPLAY_ID, description="another replay; default: what is recorded")
    limit: int = Field(200, ge=0, le=MAX_ROWS, description="how many of the messages that came out otherwise")


def operations_router(bootstrap: Callable[[], str]) -> APIRouter:
    """The routes, which read from the broker at `bootstrap`."""
    router = APIRouter(route_class=LoggedRoute, prefix="/operations", dependencies=[Depends(_operators)])
    _add_lag(router, bootstrap)
    _add_replays(router, bootstrap, ReplayProcess())
    _add_difference(router, bootstrap)
    return router


def _add_lag(router: APIRouter, bootstrap: Callable[[], str]) -> None:
    windows: defaultdict[str, LagWindow] = defaultdict(LagWindow)
    looking = asyncio.Lock()

    @router.get(
        "/lag",
        summary="Whether each consumer group keeps up with the log, and why not",
        response_description="each group, with its partitions",
        responses=problems(WITHOUT_404),
    )
    async def lag() -> LagShown:
        """As `fathom lag --json`; a group that stalls is told from one that is slow by twenty seconds of calls."""
        async with looking:
            with _asking_broker():
                return LagShown(groups=tuple(await _lags(bootstrap(), windows)))


def _add_replays(router: APIRouter, bootstrap: Callable[[], str], started: ReplayProcess) -> None:
    @router.get(
        "/replays",
        summary="The replays whose topics are there",
        response_description="oldest first",
        responses=problems(WITHOUT_404),
    )
    async def replays() -> ReplaysShown:
        """As `fathom replay list --json`, with the one that this server has just started."""
        with _asking_broker():
            address = bootstrap()
            found = await replays_there(address, clients.security_for(address))
        if started.last and started.last not in [each["replay_id"] for each in found]:
            found.append(started.listed)
        return ReplaysShown(replays=tuple(_replay(each, started) for each in found))

    @router.post(
        "/replays",
        status_code=202,
        summary="Answer recorded messages again with other settings",
        response_description="the replay has begun; `/operations/replays` says how far it is",
        responses=problems({**STARTED, 409: "another replay is under way"}),
    )
    async def start_replay(wanted: ReplayWanted) -> ReplayStarted:
        """As `fathom replay --mode reprocess --execute`: with stores of its own, beside what is live; one at a time."""
        if started.running is not None:
            raise Problem(409, f"replay {started.running} is under way; start another when it has ended")
        try:
            return ReplayStarted(replay_id=started.start(bootstrap(), _options(wanted), wanted.settings))
        except CommandFailed as error:
            raise Problem(422, str(error)) from None


def _replay(known: ReplayListed, started: ReplayProcess) -> ReplayShown:
    if known["replay_id"] != started.last:
        return ReplayShown(**known)
    why = started.failure(started.last)
    state: Literal["running", "failed", "done"] = "running" if started.running else "failed" if why else "done"
    return ReplayShown(**{**known, "settings": started.listed["settings"]}, state=state, why=why)


def _options(wanted: ReplayWanted) -> dict[str, str]:
    """The options of the command."""
    stated = {
        "--by-duration": None if wanted.hours is None else f"PT{round(3600 * wanted.hours)}S",
        "--tenant": wanted.tenant,
        "--conversation": wanted.conversation_id,
        "--sample": None if wanted.sample == 1 else str(wanted.sample),
    }
    return {name: value for name, value in stated.items() if value is not None}


def _add_difference(router: APIRouter, bootstrap: Callable[[], str]) -> None:
    comparing = asyncio.Lock()

    @router.get(
        "/replays/{replay_id}",
        summary="What a replay made otherwise than the recorded run, or than another replay",
        response_description="in sum and by message",
        responses=problems(REFUSALS),
    )
    async def replay_difference(
        replay_id: Annotated[str, Path(pattern=REPLAY_ID, description="as `/operations/replays` names it")],
        query: Annotated[DifferenceQuery, Query()],
    ) -> ReplayCompared:
        """As `fathom replay diff --json`; one at a time, for it reads both runs whole."""

        def compared() -> ReplayCompared:
            # A loop of its own in a thread: decoding would hold up every other call.
            address = bootstrap()
            found = asyncio.run(difference(address, clients.security_for(address), replay_id, query.against))
            return replay_compared(found, replay_id, query.against, query.limit)

        async with comparing:
            with _asking_broker():
                return await asyncio.to_thread(compared)


async def _operators(request: Request) -> None:
    check_operator(request)


@contextmanager
def _asking_broker() -> Iterator[None]:
    """Raises `Problem` where the broker is away (503), has no such replay (404), or refuses us to look (501)."""
    try:
        yield
    except Unavailable as error:
        raise Problem(503, f"{error}; try again", retry_after="1") from None
    except CommandFailed as error:
        if error.code == USAGE:
            raise Problem(404, str(error)) from None
        raise Problem(503, str(error), retry_after="1") from None
    except KafkaError as error:
        raise Problem(501, f"the broker does not let this server look ({type(error).__name__}); {NO_RIGHTS}") from None


async def _lags(bootstrap: str, windows: Mapping[str, LagWindow]) -> list[GroupLagShown]:
    counts = await clients.partition_counts(bootstrap)
    async with clients.administering(bootstrap) as admin, clients.reading(bootstrap, ()) as reader:
        groups = by_group(await stages_there(admin))
        found = [await group_lag(admin, reader, counts, each, windows[name]) for name, each in groups.items()]
    return [shown(each) for each in found]
