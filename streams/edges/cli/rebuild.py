"""`fathom replay --mode rebuild`: what would be read and written, or the views filled from the log."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

import orjson

from schemas.topics import (
    CONVERSATION_TURNS,
    DEPTH_CLASSIFIED,
    TOOLS_CALLS_OUT,
    TOOLS_CONFIRMATIONS_IN,
    TOOLS_RESULTS_IN,
)
from streams.config import Settings
from streams.edges.cli.replay import ReplayOptions, show_plan
from streams.edges.client import clients
from streams.edges.client.errors import CHECK, OK
from streams.kafka.security import security_of
from streams.replay import broker_source
from streams.replay.log import Log, PartitionRange, opened
from streams.replay.packs import TopicExtent
from streams.replay.progress import Progress

if TYPE_CHECKING:
    from streams.dependencies import Dependencies
    from streams.replay.views import Filled
    from streams.runtime.stores import Stores
    from streams.topology import Stage
    from streams.views.restorable import Restorable, RestorableToolSessions
    from streams.views.restoring import Restored

URLS = {"redis": "redis_url", "graph": "neo4j_url", "index": "qdrant_url"}
MEMORY = "memory://"
# What Redis holds is made of these, beside what the stages that store read.
OF_REDIS = (CONVERSATION_TURNS, DEPTH_CLASSIFIED, TOOLS_CALLS_OUT, TOOLS_CONFIRMATIONS_IN, TOOLS_RESULTS_IN)


def rebuild(asked: ReplayOptions, settings: Settings) -> int:
    """Say what would be done, or do it; the exit code says whether every record could be stored."""
    if asked.execute:
        broker_source.refuse_held_stores(settings, [getattr(settings, URLS[name]) for name in asked.stores])
    return clients.run(_rebuild(asked, settings))


async def _rebuild(asked: ReplayOptions, settings: Settings) -> int:
    from streams.replay import views

    stages = views.storing(**{name: name in asked.stores for name in URLS})
    async with broker_source.broker_of(settings) as bootstrap, opened(bootstrap, security_of(settings)) as log:
        spans = await views.spans_of(log, views.sources(stages), asked.selection, neighbours="index" in asked.stores)
        if not asked.execute:
            if "redis" in asked.stores:
                own = [topic.name for topic in OF_REDIS if topic.name not in spans]
                spans |= await views.spans_of(log, own, asked.selection)
            plan = [await _reading(log, topic, todo) for topic, todo in spans.items()]
            show_plan(asked, plan, [f"{name}: {_place(getattr(settings, URLS[name]))}" for name in asked.stores])
            return OK
        progress = Progress(sum(len(span) for todo in spans.values() for span in todo))
        async with opened_stores(settings, asked.stores, stages) as stores:
            built = _built(asked, settings, stores)
            filled = await views.fill(log, spans, views.Views(stages, built), asked.selection, progress.advance)
            restored = await _restored(asked, settings, bootstrap, log, built, progress)
            tools = await _tools(asked, settings, bootstrap, log, built, progress)
        progress.end()
    _show(asked, filled, restored, tools, progress)
    return CHECK if any(count.refused for count in filled.topics.values()) else OK


async def _reading(log: Log, topic: str, spans: Sequence[PartitionRange]) -> TopicExtent:
    return TopicExtent(topic, sum(map(len, spans)), await log.period(spans))


def _place(url: str) -> str:
    """The store's URL without what may be secret in it."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"


@asynccontextmanager
async def opened_stores(settings: Settings, names: Sequence[str], stages: "Sequence[Stage]") -> "AsyncIterator[Stores]":
    """The wanted stores opened, those of the others in memory, where nothing is lost."""
    from streams.runtime.stores import open_stores
    from streams.runtime.up import store_settings

    aside = {field: MEMORY for name, field in URLS.items() if name not in names}
    wanted = store_settings(settings.model_copy(update=aside), stages if "index" in names else ())
    stores = await asyncio.to_thread(open_stores, wanted)
    try:
        yield stores
    finally:
        await stores.close()


def _built(asked: ReplayOptions, settings: Settings, stores: "Stores") -> Any:
    from dataclasses import replace

    from streams.replay.null_index import NullPassageIndex
    from streams.runtime.app import dependencies

    built = dependencies(settings, stores)
    return built if "index" in asked.stores else replace(built, index=NullPassageIndex())


async def _restored(
    asked: ReplayOptions, settings: Settings, bootstrap: str, log: Log, built: "Dependencies", progress: Progress
) -> "Restored | None":
    if "redis" not in asked.stores:
        return None
    from streams.replay.working_sets import restore_all
    from streams.views.turn_log import KafkaTurnLog

    turns = KafkaTurnLog(bootstrap, security_of(settings))
    partitions, policy = log.partitions(CONVERSATION_TURNS.name), built.context.policy
    sets = cast("Restorable", built.working_sets)
    return await restore_all(sets, turns, partitions, policy, asked.selection, progress.advance)


async def _tools(
    asked: ReplayOptions, settings: Settings, bootstrap: str, log: Log, built: "Dependencies", progress: Progress
) -> int:
    if "redis" not in asked.stores:
        return 0
    from streams.replay.tool_sessions import restore_tools
    from streams.views.tool_log import KafkaToolLog

    calls = KafkaToolLog(bootstrap, security_of(settings))
    sessions = cast("RestorableToolSessions", built.tool_sessions)
    partitions = log.partitions(TOOLS_CALLS_OUT.name)
    return await restore_tools(sessions, calls, partitions, built.tools, asked.selection, progress.advance)


def _show(asked: ReplayOptions, filled: "Filled", restored: "Restored | None", tools: int, progress: Progress) -> None:
    if asked.as_json:
        topics = {topic: asdict(count) for topic, count in filled.topics.items()}
        shown = {"mode": "rebuild", "replay_id": asked.replay_id, "stores": asked.stores, "topics": topics}
        if restored is not None:
            found = {"conversations": restored.conversations, "turns": restored.turns, "tool_sessions": tools}
            shown |= {"redis": found}
        print(orjson.dumps({**shown, "why_refused": filled.why, "seconds": round(progress.seconds, 3)}).decode())
        return
    width = max(map(len, filled.topics), default=0)
    for topic, count in filled.topics.items():
        odd = "".join(f", {number:,} {what}" for what in ("refused", "unreadable") if (number := getattr(count, what)))
        print(f"{topic:<{width}}  {count.selected:>9,} of {count.read:,} records stored{odd}")
    if restored is not None:
        turns = f"{restored.turns:,} turns restored in {restored.conversations:,} conversations"
        print(f"redis  {turns}, {tools:,} tool sessions")
    if filled.why:
        print(f"refused, the first: {filled.why}")
