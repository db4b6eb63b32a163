"""`fathom replay --mode rebuild`: the plan of reads and writes, or the rebuilding of views from the log."""

from contextlib import suppress
from dataclasses import replace
from typing import Literal, NotRequired, cast

from typing_extensions import TypedDict

from schemas.base import time_of
from schemas.topics import (
    CONVERSATION_TURNS,
    DEPTH_CLASSIFIED,
    TOOLS_CALLS_OUT,
    TOOLS_CONFIRMATIONS_IN,
    TOOLS_RESULTS_IN,
)
from streams.config import Settings
from streams.dependencies import Dependencies
from streams.edges.cli.progress import Progress, note
from streams.edges.cli.replay.orders import ReplayOrder
from streams.edges.client.errors import CHECK, OK
from streams.edges.client.standard_output import print_json
from streams.kafka.security import security_of
from streams.replay import broker_source, views
from streams.replay.chosen_stores import URLS, opened_stores
from streams.replay.log import Log, opened
from streams.replay.null_index import NullPassageIndex
from streams.replay.packs import TopicExtent, extents
from streams.replay.restore import Restoration
from streams.runtime.app import dependencies
from streams.views.restorable import RestorableToolSessions, RestorableWorkingSets
from streams.views.tool_log import KafkaToolLog
from streams.views.turn_log import KafkaTurnLog

# The topics that Redis is restored from, besides those of the storing stages.
OF_REDIS = (CONVERSATION_TURNS, DEPTH_CLASSIFIED, TOOLS_CALLS_OUT, TOOLS_CONFIRMATIONS_IN, TOOLS_RESULTS_IN)


class ReplayPlanned(TypedDict):
    """What a replay would read, by topic, and what it would write; nothing was done."""

    mode: str
    replay_id: str
    execute: Literal[False]
    reads: list[TopicExtent]
    writes: list[str]


class StoresRebuilt(TypedDict):
    """What was read into the stores, by topic; of Redis the numbers of what was restored."""

    mode: str
    replay_id: str
    stores: tuple[str, ...]
    topics: dict[str, views.Count]
    redis: NotRequired[dict[str, int]]
    why_refused: str
    seconds: float


async def rebuild(order: ReplayOrder, settings: Settings) -> int:
    """Print the plan, or execute it; the exit code tells whether every record could be stored."""
    if order.execute:
        broker_source.refuse_held_stores(settings, [getattr(settings, URLS[name]) for name in order.stores])
    stages = views.storing(**{name: name in order.stores for name in URLS})
    async with broker_source.broker_of(settings) as bootstrap, opened(bootstrap, security_of(settings)) as log:
        spans = await views.spans_of(log, views.sources(stages), order.selection, neighbours="index" in order.stores)
        if not order.execute:
            if "redis" in order.stores:
                own = [topic.name for topic in OF_REDIS if topic.name not in spans]
                spans |= await views.spans_of(log, own, order.selection)
            show_plan(
                order,
                await extents(log, spans),
                [f"{name}: {_place(getattr(settings, URLS[name]))}" for name in order.stores],
            )
            return OK
        total = sum(len(span) for todo in spans.values() for span in todo)
        with Progress(total) as progress:
            async with opened_stores(settings, order.stores, stages) as stores:
                built = dependencies(settings, stores)
                if "index" not in order.stores:
                    built = replace(built, index=NullPassageIndex())
                filled = await views.fill(log, spans, views.Views(stages, built), order.selection, progress.advance)
                redis = await _restored(order, settings, bootstrap, log, built, progress)
    _show(order, filled, redis, progress.seconds)
    return CHECK if any(count.refused for count in filled.topics.values()) else OK


def _place(url: str) -> str:
    """The store's URL without credentials."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"


async def _restored(
    order: ReplayOrder, settings: Settings, bootstrap: str, log: Log, built: Dependencies, progress: Progress
) -> dict[str, int] | None:
    """The numbers of entries restored to Redis; None where it is not selected."""
    if "redis" not in order.stores:
        return None
    security = security_of(settings)
    turns = Restoration(log.partitions(CONVERSATION_TURNS.name), order.selection, progress.advance)
    sets = cast("RestorableWorkingSets", built.working_sets)
    restored = await turns.working_sets(sets, KafkaTurnLog(bootstrap, security), built.context.policy)
    calls = Restoration(log.partitions(TOOLS_CALLS_OUT.name), order.selection, progress.advance)
    sessions = cast("RestorableToolSessions", built.tool_sessions)
    tools = await calls.tool_sessions(sessions, KafkaToolLog(bootstrap, security), built.tools)
    return {"conversations": restored["conversations"], "turns": restored["turns"], "tool_sessions": tools}


def _show(order: ReplayOrder, filled: views.Filled, redis: dict[str, int] | None, seconds: float) -> None:
    if order.as_json:
        made = StoresRebuilt(
            mode=order.mode, replay_id=order.replay_id, stores=order.stores, topics=dict(filled.topics),
            why_refused=filled.why, seconds=round(seconds, 3),
        )  # fmt: skip
        print_json(made if redis is None else made | {"redis": redis})
        return
    width = max(map(len, filled.topics), default=0)
    for topic, count in filled.topics.items():
        odd = "".join(f", {number:,} {what}" for what in ("refused", "unreadable") if (number := getattr(count, what)))
        print(f"{topic:<{width}}  {count.selected:>9,} of {count.read:,} records stored{odd}")
    if redis is not None:
        turns = f"{redis['turns']:,} turns restored in {redis['conversations']:,} conversations"
        print(f"redis  {turns}, {redis['tool_sessions']:,} tool sessions")
    if filled.why:
        print(f"refused, the first: {filled.why}")


def show_plan(order: ReplayOrder, plan: list[TopicExtent], writes: list[str]) -> None:
    """Print what the replay would read and write."""
    if order.as_json:
        print_json(ReplayPlanned(mode=order.mode, replay_id=order.replay_id, execute=False, reads=plan, writes=writes))
        return
    width = max(len(reading.topic) for reading in plan)
    some = "" if order.selection.whole else " (all that are read; which are selected, only reading shows)"
    print(f"replay {order.replay_id}, {order.mode}, would read{some}")
    for reading in plan:
        print(f"  {reading.topic:<{width}}  {reading.records:>9,} records  {_period(reading.period)}")
    print("and write")
    for line in writes:
        print(f"  {line}")
    with suppress(BrokenPipeError):
        note("nothing was done: --execute does it")


def _period(period: tuple[int, int] | None) -> str:
    if period is None:
        return "none"
    first, last = (f"{time_of(ms):%Y-%m-%d %H:%M:%SZ}" for ms in period)
    return f"{first} to {last}"
