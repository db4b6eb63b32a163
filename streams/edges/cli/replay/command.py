"""`fathom replay`: the plan of a replay, or the replay itself; the exit code tells whether packs came out the same."""

from collections.abc import Coroutine
from datetime import UTC, datetime
from pathlib import Path

import typer

from agents.core.caching.budget import set_budget
from streams.config import Settings
from streams.edges.cli.arguments import Broker, Json
from streams.edges.cli.replay import options, runs
from streams.edges.cli.replay.orders import ReplayOrder, ReprocessOptions
from streams.edges.cli.replay.starts import Start
from streams.edges.cli.up import settings_of
from streams.edges.client import clients
from streams.edges.client.errors import USAGE, CommandFailed
from streams.replay.selection import ID, Selection, new_id

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
    asked = ReprocessOptions(start, changed, max_rate, resume is not None, report, export, quarantined_now)
    raise typer.Exit(clients.run(_play(order, asked, settings_of(broker))))


def _play(order: ReplayOrder, asked: ReprocessOptions, settings: Settings) -> Coroutine[object, object, int]:
    # Here: the stages that a replay runs take a second to import, and its other verbs run none.
    from streams.edges.cli.replay import rebuild, remake, reprocess

    set_budget(settings.cache_mb)
    if order.mode == "reprocess":
        return reprocess.again(order, asked, settings)
    return remake.remake(order, settings) if order.mode == "exact" else rebuild.rebuild(order, settings)


def _mode(mode: str | None) -> str:
    if mode not in MODES:
        given = "" if mode is None else f", not {mode!r}"
        raise CommandFailed(f"--mode is one of {', '.join(MODES)}{given}", USAGE)
    return mode


def _stores(stores: str) -> tuple[str, ...]:
    from streams.replay.chosen_stores import URLS

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
