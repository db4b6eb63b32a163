"""`fathom replay`: the plan of a replay, or the replay itself; the exit code tells whether packs came out the same."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated

import typer

from schemas.topics import CONTEXT_PACKS, PACKS_PARTIAL
from streams.config import Settings
from streams.edges.cli.arguments import Broker, Json
from streams.edges.cli.progress import Progress
from streams.edges.cli.rebuild import URLS, ReplayOrder, rebuild, show_plan
from streams.edges.cli.up import settings_of
from streams.edges.client import clients
from streams.edges.client.errors import CHECK, CONFIG, OK, USAGE, CommandFailed
from streams.kafka.clients import MAX_BATCH_BYTES
from streams.kafka.security import security_of
from streams.replay import broker_source, exact, packs
from streams.replay.log import opened
from streams.replay.selection import ID, Selection, duration, moment, new_id, topic_of
from streams.stores.tokens import best_tokens

MODES = ("exact", "rebuild")


def replay(
    mode: Annotated[
        str, typer.Option("--mode", help="exact: packs from recorded partial packs; rebuild: stores from the log.")
    ],
    to_earliest: Annotated[
        bool, typer.Option("--to-earliest", help="From the beginning of the log. [default]")
    ] = False,
    to_datetime: Annotated[
        str | None, typer.Option("--to-datetime", metavar="TIME", help="From a time on, ISO 8601; UTC without a zone.")
    ] = None,
    by_duration: Annotated[
        str | None, typer.Option("--by-duration", metavar="PnDTnHnMnS", help="From so long ago on; also 90m.")
    ] = None,
    tenant: Annotated[str | None, typer.Option("--tenant", help="Only this tenant's.")] = None,
    conversation: Annotated[str | None, typer.Option("--conversation", help="Only this conversation's.")] = None,
    stores: Annotated[str, typer.Option("--stores", help="Of a rebuild: what to fill.")] = "redis,graph,index",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done. [default]")] = False,
    execute: Annotated[bool, typer.Option("--execute", help="Do it.")] = False,
    replay_id: Annotated[
        str | None, typer.Option("--id", help="Names the replay's topics. Default: a new one.")
    ] = None,
    broker: Broker = None,
    as_json: Json = False,
) -> None:
    """Read the log again: packs to a topic of their own, or memory into its stores. Workers are not touched.

    Exits with 5 where packs come out otherwise than they were recorded, or a record cannot be stored.
    """
    now = datetime.now(UTC)
    if mode not in MODES:
        raise CommandFailed(f"--mode is one of {', '.join(MODES)}, not {mode!r}", USAGE)
    if dry_run and execute:
        raise CommandFailed("give one of --dry-run and --execute", USAGE)
    if replay_id is not None and not ID.fullmatch(replay_id):
        raise CommandFailed(f"--id {replay_id!r}: small letters, digits and single hyphens; it names topics", USAGE)
    chosen = tuple(dict.fromkeys(name.strip() for name in stores.split(",")))
    for name in chosen:
        if name not in URLS:
            raise CommandFailed(f"--stores is a list of {', '.join(URLS)}, not {name!r}", USAGE)
    selection = Selection(since(to_datetime, by_duration, now, to_earliest=to_earliest), tenant, conversation)
    order = ReplayOrder(mode, replay_id or new_id(now), selection, chosen, execute, as_json)
    play = remake if mode == "exact" else rebuild
    raise typer.Exit(clients.run(play(order, settings_of(broker))))


def since(at: str | None, back: str | None, now: datetime, *, to_earliest: bool) -> int | None:
    """The start time in ms; None for the beginning of the log. Raises `CommandFailed`."""
    if sum((to_earliest, at is not None, back is not None)) > 1:
        raise CommandFailed("give one of --to-earliest, --to-datetime and --by-duration", USAGE)
    try:
        if at is not None:
            return moment(at)
        return None if back is None else round((now - duration(back)).timestamp() * 1000)
    except (ValueError, OverflowError) as error:
        raise CommandFailed(f"{'--to-datetime' if at is not None else '--by-duration'}: {error}", USAGE) from None


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
                writer = packs.PackWriter(producer, target, order.replay_id)
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
