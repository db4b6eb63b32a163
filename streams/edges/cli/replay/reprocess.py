"""`fathom replay --mode reprocess`: its plan, its run, and what came out otherwise than in the recorded one."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from schemas.topics import MESSAGES_IN
from streams.config import ConfigError, Settings
from streams.edges.cli.config import settings_of
from streams.edges.cli.progress import Progress, note
from streams.edges.cli.replay.orders import ReplayOrder, ReprocessOptions
from streams.edges.cli.replay.rebuild import show_plan
from streams.edges.cli.replay.runs import show
from streams.edges.cli.replay.starts import exported
from streams.edges.client import clients
from streams.edges.client.errors import CONFIG, OK, USAGE, CommandFailed
from streams.edges.client.log_lookup import in_force
from streams.edges.operations.replays import changed_settings
from streams.kafka.clients import MAX_BATCH_BYTES
from streams.kafka.security import security_of
from streams.replay import broker_source, reprocess, reprocess_run, runs
from streams.replay.log import Log, opened
from streams.replay.packs import extents
from streams.replay.reprocess import Reprocessed, Reprocessing
from streams.replay.reprocess_run import MaxRate, OtherOrder, Sink, opened_memory
from streams.replay.runs import Run
from streams.replay.selection import topic_of
from streams.replay.timeline import Timeline

# Records a second of one core, for the estimate: messages that are answered, and records that fill memory.
ANSWERED_A_SECOND, READ_A_SECOND = 40, 400


async def again(order: ReplayOrder, options: ReprocessOptions, settings: Settings) -> int:
    """Print what would be done, or do it and print what came out otherwise."""
    changed = changes(options.changed)
    async with broker_source.broker_of(settings) as bootstrap, opened(bootstrap, security_of(settings)) as log:
        if not log.partitions(MESSAGES_IN.name):
            raise CommandFailed(f"the broker has no topic {MESSAGES_IN.name}: nothing was recorded", CONFIG)
        offsets = await options.start.offsets(log, MESSAGES_IN.name)
        order = replace(order, selection=replace(order.selection, offsets=offsets))
        if options.export:
            sys.stdout.write(exported(MESSAGES_IN.name, await _begins(log, order)))
            return OK
        timeline = await Timeline.of(log, reprocess.topics())
        if not order.execute:
            await _plan(log, order, timeline)
            return OK
        made = await _executed(log, timeline, bootstrap, order, options, _changed(settings, changed))
        # The topics of the replay were not there when the log was opened.
        async with opened(bootstrap, security_of(settings)) as written:
            found = await runs.compare(written, Run(), Run(order.replay_id), order.selection)
    show(found, order.replay_id, None, as_json=order.as_json, report=options.report, made=made)
    return OK


async def _executed(
    log: Log,
    timeline: Timeline,
    bootstrap: str,
    order: ReplayOrder,
    options: ReprocessOptions,
    settings: tuple[Settings, Mapping[str, str]],
) -> Reprocessed:
    asked = reprocess_run.Order(order.replay_id, order.selection, settings[1], options.hidden_now)
    there = Run(order.replay_id).partitions(log)
    if options.resume and not there:
        raise CommandFailed(f"there is no replay {order.replay_id} to resume; `fathom replay list` shows all", USAGE)
    if there and not options.resume:
        raise CommandFailed(f"there is a replay {order.replay_id}; go on with --resume, or choose another --id", USAGE)
    await reprocess_run.create_topics(bootstrap, settings[0], log, order.replay_id)
    note(f"replay {order.replay_id}: if it ends early, the same with --resume {order.replay_id} goes on")
    reprocess_run.step_aside()
    with Progress(len(timeline)) as progress:
        async with (
            opened_memory(settings[0]) as memory,
            clients.producing(bootstrap, linger_ms=5, max_batch_size=MAX_BATCH_BYTES) as producer,
            opened(bootstrap, security_of(settings[0])) as fresh,
        ):
            sink = Sink(producer, asked)
            hidden = await in_force(bootstrap) if options.hidden_now else None
            run = Reprocessing(memory, order.selection, sink.write, MaxRate(options.max_rate).wait, hidden)
            if options.resume:
                try:
                    await reprocess_run.resume(fresh, asked, run)
                except OtherOrder as error:
                    raise CommandFailed(str(error), USAGE) from None
            return await reprocess_run.run(timeline, run, sink, progress.advance)


async def _begins(log: Log, order: ReplayOrder) -> Mapping[int, int]:
    if order.selection.offsets is not None:
        return order.selection.offsets
    return {span.partition: span.begin for span in await log.spans(MESSAGES_IN.name, order.selection.since)}


async def _plan(log: Log, order: ReplayOrder, timeline: Timeline) -> None:
    begins = await _begins(log, order)
    spans = [span for span in timeline.spans if span.topic == MESSAGES_IN.name]
    answered = sum(max(span.end - begins.get(span.partition, span.end), 0) for span in spans)
    answered = round(answered * order.selection.sample)
    seconds = answered / ANSWERED_A_SECOND + len(timeline) / READ_A_SECOND
    by_topic = {topic: [span for span in timeline.spans if span.topic == topic] for topic in reprocess.topics()}
    writes = [f"{topic_of(topic.name, order.replay_id)}" for topic in reprocess.WRITTEN]
    show_plan(
        order,
        await extents(log, {topic: spans for topic, spans in by_topic.items() if spans}),
        [*writes, f"at most {answered:,} messages are answered again: about {_time(seconds)} on a free core"],
    )


def _time(seconds: float) -> str:
    return (
        f"{seconds:.0f} s"
        if seconds < 120
        else f"{seconds / 60:.0f} min"
        if seconds < 7200
        else f"{seconds / 3600:.1f} h"
    )


def changes(path: Path | None) -> dict[str, str]:
    """The settings of a file of NAME=VALUE lines; raises `CommandFailed`."""
    return {} if path is None else settings_of(path, "--with")


def _changed(settings: Settings, changed: Mapping[str, str]) -> tuple[Settings, Mapping[str, str]]:
    try:
        return changed_settings(changed, settings.broker), changed
    except ConfigError as error:
        raise CommandFailed(f"--with: {error}", CONFIG) from None
