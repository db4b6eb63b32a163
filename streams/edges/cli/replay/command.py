"""`fathom replay`: the plan of a replay, or the replay itself; the exit code tells whether packs came out the same."""

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import typer

from schemas.topics import CONTEXT_PACKS, PACKS_PARTIAL
from streams.config import Settings
from streams.edges.cli.arguments import Broker, Json
from streams.edges.cli.progress import Progress
from streams.edges.cli.replay import options, runs
from streams.edges.cli.replay.rebuild import ReplayOrder, rebuild, show_plan
from streams.edges.cli.replay.reprocess import ReprocessOptions, again
from streams.edges.cli.replay.starts import Start
from streams.edges.cli.up import settings_of
from streams.edges.client import clients
from streams.edges.client.errors import CHECK, CONFIG, OK, USAGE, CommandFailed
from streams.kafka.clients import MAX_BATCH_BYTES
from streams.kafka.security import security_of
from streams.replay import broker_source, exact, packs
from streams.replay.chosen_stores import URLS
from streams.replay.log import opened
from streams.replay.selection import ID, Selection, new_id, topic_of
from streams.stores.tokens import best_tokens

MODES = ("exact", "rebuild", "reprocess")

app = typer.Typer()
app.command("list")(runs.listed)
app.command("clean")(runs.clean)
app.command("diff")(runs.diff)


@app.callback(invoke_without_command=True)
def replay(
    context: typer.Context,
    mode: options.Mode = None,
    to_earliest: options.ToEarliest = False,
    to_datetime: options.ToDatetime = None,
    by_duration: options.ByDuration = None,
    to_offset: options.ToOffset = None,
    shift_by: options.ShiftBy = None,
    from_file: options.FromFile = None,
    export: options.Export = False,
    tenant: options.OnlyTenant = None,
    conversation: options.OnlyConversation = None,
    stores: options.StoreNames = "redis,graph,index",
    changed: options.With = None,
    sample: options.Sample = 1.0,
    max_rate: options.MaxRateOption = None,
    report: options.Report = None,
    dry_run: options.DryRun = False,
    execute: options.Execute = False,
    replay_id: options.NewId = None,
    resume: options.Resume = None,
    quarantined_now: options.QuarantinedNow = False,
    broker: Broker = None,
    as_json: Json = False,
) -> None:
    """Read the log again: packs to a topic of their own, or memory into its stores. Workers are not touched.

    Exits with 5 where exact packs come out otherwise than they were recorded, or a record cannot be stored.
    """
    if context.invoked_subcommand is not None:
        return
    now, mode = datetime.now(UTC), _mode(mode)
    start = Start(to_earliest, to_datetime, by_duration, to_offset, shift_by, from_file)
    start.check(mode)
    _check(mode, changed=changed, resume=resume, replay_id=replay_id, both=dry_run and execute)
    if quarantined_now and mode != "reprocess":
        raise CommandFailed("--quarantined-now is for --mode reprocess", USAGE)
    selection = Selection(start.since(now), tenant, conversation, sample=sample)
    order = ReplayOrder(mode, resume or replay_id or new_id(now), selection, _stores(stores), execute, as_json)
    if mode == "reprocess":
        asked = ReprocessOptions(start, changed, max_rate, resume is not None, report, export, quarantined_now)
        raise typer.Exit(clients.run(again(order, asked, settings_of(broker))))
    play = remake if mode == "exact" else rebuild
    raise typer.Exit(clients.run(play(order, settings_of(broker))))


def _mode(mode: str | None) -> str:
    if mode not in MODES:
        given = "" if mode is None else f", not {mode!r}"
        raise CommandFailed(f"--mode is one of {', '.join(MODES)}{given}", USAGE)
    return mode


def _stores(stores: str) -> tuple[str, ...]:
    chosen = tuple(dict.fromkeys(name.strip() for name in stores.split(",")))
    for name in chosen:
        if name not in URLS:
            raise CommandFailed(f"--stores is a list of {', '.join(URLS)}, not {name!r}", USAGE)
    return chosen


def _check(mode: str, *, changed: Path | None, resume: str | None, replay_id: str | None, both: bool) -> None:
    """Raises `CommandFailed` for options that do not go together."""
    if both:
        raise CommandFailed("give one of --dry-run and --execute", USAGE)
    if resume is not None and replay_id is not None:
        raise CommandFailed("give one of --id and --resume", USAGE)
    for option, value in (("--id", replay_id), ("--resume", resume)):
        if value is not None and not ID.fullmatch(value):
            raise CommandFailed(f"{option} {value!r}: small letters, digits and single hyphens; it names topics", USAGE)
    for option, given in (("--with", changed), ("--resume", resume)):
        if given is not None and mode != "reprocess":
            raise CommandFailed(f"{option} is for --mode reprocess", USAGE)


async def remake(order: ReplayOrder, settings: Settings) -> int:
    """Print the packs to remake, or remake them; the exit code tells whether they came out the same."""
    security = security_of(settings)
    async with broker_source.broker_of(settings) as bootstrap, opened(bootstrap, security) as log:
        if not log.partitions(PACKS_PARTIAL.name):
            raise CommandFailed(f"the broker has no topic {PACKS_PARTIAL.name}: nothing was recorded", CONFIG)
        todo = await exact.stretches(log, order.selection.since)
        reads = {PACKS_PARTIAL.name: [each.records for each in todo], CONTEXT_PACKS.name: [each.packs for each in todo]}
        plan = await packs.extents(log, reads)
        target = topic_of(CONTEXT_PACKS.name, order.replay_id)
        if not order.execute:
            show_plan(order, plan, [f"the packs made again to {target}, {len(todo)} partitions; nothing else"])
            return OK
        await packs.create(bootstrap, settings, target, CONTEXT_PACKS.name, len(todo))
        with Progress(sum(len(each.records) for each in todo)) as progress:
            async with clients.producing(bootstrap, linger_ms=5, max_batch_size=MAX_BATCH_BYTES) as producer:
                writer = packs.ReplayWriter(producer, target, order.replay_id)
                selection, advance = order.selection, progress.advance
                verdict = await packs.remake(log, todo, settings, best_tokens(), selection, writer, advance)
    _show_verdict(order, target, verdict)
    return OK if verdict.identical else CHECK


def _show_verdict(order: ReplayOrder, target: str, verdict: exact.Verdict) -> None:
    if order.as_json:
        order.say(topic=target, **asdict(verdict))
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
            "FATHOM_PACK_REVISIONS and the version of fathom decide what a pack is: they have to be those of the first "
            "run"
        )
