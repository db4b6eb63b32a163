"""`fathom replay`: what a replay would do, or the replay itself; the exit code says whether packs came out the same."""

import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from schemas.topics import CONTEXT_PACKS, PACKS_PARTIAL
from streams.config import Settings
from streams.edges.cli.up import settings_in
from streams.edges.client import clients
from streams.edges.client.errors import CHECK, CONFIG, OK, USAGE, CommandFailed
from streams.kafka.security import security_of
from streams.replay import broker_source, exact, packs
from streams.replay.log import Log, opened
from streams.replay.packs import TopicExtent
from streams.replay.progress import Progress
from streams.replay.selection import ID, Selection, duration, moment, new_id, topic_of
from streams.runtime import data_dir

MODES = ("exact", "rebuild")
STORES = ("redis", "graph", "index")


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """What the options of `fathom replay` say."""

    mode: str
    selection: Selection
    stores: tuple[str, ...]
    execute: bool
    replay_id: str
    as_json: bool


def wanted(
    mode: str,
    *,
    since: tuple[bool, str | None, str | None],
    whose: tuple[str | None, str | None],
    stores: str,
    execute: tuple[bool, bool],
    replay_id: str | None,
    as_json: bool,
) -> ReplayOptions:
    """The options, checked; raises `CommandFailed`."""
    now = datetime.now(UTC)
    if mode not in MODES:
        raise CommandFailed(f"--mode is one of {', '.join(MODES)}, not {mode!r}", USAGE)
    if all(execute):
        raise CommandFailed("give one of --dry-run and --execute", USAGE)
    if replay_id is not None and not ID.fullmatch(replay_id):
        raise CommandFailed(f"--id {replay_id!r}: small letters, digits and single hyphens; it names topics", USAGE)
    chosen = tuple(dict.fromkeys(name.strip() for name in stores.split(",")))
    for name in chosen:
        if name not in STORES:
            raise CommandFailed(f"--stores is a list of {', '.join(STORES)}, not {name!r}", USAGE)
    selection = Selection(_since(*since, now), *whose)
    return ReplayOptions(mode, selection, chosen, execute[1], replay_id or new_id(now), as_json)


def _since(earliest: bool, at: str | None, back: str | None, now: datetime) -> int | None:
    if sum((earliest, at is not None, back is not None)) > 1:
        raise CommandFailed("give one of --to-earliest, --to-datetime and --by-duration", USAGE)
    try:
        if at is not None:
            return moment(at)
        return None if back is None else round((now - duration(back)).timestamp() * 1000)
    except (ValueError, OverflowError) as error:
        raise CommandFailed(f"{'--to-datetime' if at is not None else '--by-duration'}: {error}", USAGE) from None


def replay(asked: ReplayOptions, broker: str | None) -> int:
    """Say what would be done, or do it; the exit code."""
    settings = settings_of(broker)
    if asked.mode == "exact":
        return clients.run(_exact(asked, settings))
    from streams.edges.cli import rebuild

    return rebuild.rebuild(asked, settings)


def settings_of(broker: str | None) -> Settings:
    """The settings of the environment, with the broker that is named."""
    directory = None if broker is None else data_dir.home_of(broker)
    settings = settings_in(directory)
    return settings if broker is None or directory else settings.model_copy(update={"broker": broker})


async def _exact(asked: ReplayOptions, settings: Settings) -> int:
    security = security_of(settings)
    async with broker_source.broker_of(settings) as bootstrap, opened(bootstrap, security) as log:
        if not log.partitions(PACKS_PARTIAL.name):
            raise CommandFailed(f"the broker has no topic {PACKS_PARTIAL.name}: nothing was recorded", CONFIG)
        todo = await exact.stretches(log, asked.selection.since)
        plan = await packs.readings(log, todo)
        target = topic_of(CONTEXT_PACKS.name, asked.replay_id)
        if not asked.execute:
            show_plan(asked, plan, [f"the packs made again to {target}, {len(todo)} partitions; nothing else"])
            return OK
        return await _remade(asked, settings, bootstrap, log, todo)


async def _remade(
    asked: ReplayOptions, settings: Settings, bootstrap: str, log: Log, todo: list[exact.ReplayRange]
) -> int:
    from streams.stores.tokens import best_tokens

    target = await packs.create(bootstrap, settings, CONTEXT_PACKS.name, asked.replay_id, len(todo))
    progress = Progress(sum(len(each.records) for each in todo))
    async with broker_source.producing(bootstrap, security_of(settings)) as producer:
        writer = packs.PackWriter(producer, target, asked.replay_id)
        verdict = await packs.remake(log, todo, settings, best_tokens(), asked.selection, writer, progress)
    progress.end()
    _show_verdict(asked, target, verdict)
    return OK if verdict.identical else CHECK


def _show_verdict(asked: ReplayOptions, target: str, verdict: exact.Verdict) -> None:
    if asked.as_json:
        found: dict[str, Any] = asdict(verdict)
        print(orjson.dumps({"mode": "exact", "replay_id": asked.replay_id, "topic": target, **found}).decode())
        return
    print(
        f"{verdict.made} packs made again on {target}: {verdict.equal} equal, {verdict.different} different, "
        f"{verdict.missing} missing, {verdict.extra} extra"
    )
    for one in verdict.differences:
        where = f": {one.field}" if one.field else ""
        print(f"  {one.what:<9} {one.pack_id} revision {one.revision}, partition {one.partition}{where}")
    if verdict.waiting:
        print(f"{verdict.waiting} are not recorded yet: workers have not come to them")
    if verdict.lost:
        print(f"{verdict.lost} recorded packs cannot be made again: {PACKS_PARTIAL.name} is not kept that long")
    if verdict.refused or verdict.unreadable:
        print(f"{verdict.unreadable} records cannot be read, {verdict.refused} parts have no plan, as in the first run")
    if verdict.different:
        print(
            "FATHOM_SKIP_REPEATED_ITEMS, FATHOM_PACK_REVISIONS and the version of fathom decide what a pack is: "
            "they have to be those of the first run"
        )


def show_plan(asked: ReplayOptions, plan: list[TopicExtent], writes: list[str]) -> None:
    """What the replay would read and write."""
    if asked.as_json:
        reads = [asdict(reading) for reading in plan]
        shown = {"mode": asked.mode, "replay_id": asked.replay_id, "execute": False, "reads": reads, "writes": writes}
        print(orjson.dumps(shown).decode())
        return
    width = max(len(reading.topic) for reading in plan)
    some = "" if asked.selection.whole else " (all that are read; which are selected, only reading shows)"
    print(f"replay {asked.replay_id}, {asked.mode}, would read{some}")
    for reading in plan:
        print(f"  {reading.topic:<{width}}  {reading.records:>9,} records  {_period(reading.period)}")
    print("and write")
    for line in writes:
        print(f"  {line}")
    with suppress(BrokenPipeError):
        sys.stderr.write("nothing was done: --execute does it\n")


def _period(period: tuple[int, int] | None) -> str:
    if period is None:
        return "none"
    first, last = (f"{datetime.fromtimestamp(ms / 1000, UTC):%Y-%m-%d %H:%M:%SZ}" for ms in period)
    return f"{first} to {last}"
