"""`fathom dlq`: dead letters listed, shown, sent again to where they came from, or discarded."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

import typer

from streams.config import Settings
from streams.edges.cli.arguments import Broker, Json
from streams.edges.cli.dlq import chosen, tables
from streams.edges.cli.dlq.chosen import LetterOptions, Names, ReadLetters, Reason, Since, StageName, Tenant, Until
from streams.edges.cli.progress import Progress
from streams.edges.cli.up import settings_of
from streams.edges.client import clients
from streams.edges.client.errors import CHECK, FAILURE, OK, USAGE, CommandFailed
from streams.edges.client.standard_output import print_json
from streams.kafka.clients import MAX_BATCH_BYTES
from streams.redrive import choice, log
from streams.redrive.choice import Action, LetterStatus, RefusedLetter
from streams.redrive.letters import State
from streams.redrive.log import RedrivenLetter
from streams.runtime.layout.cluster import layout_by
from streams.topology import LAYOUTS, NAMED

app = typer.Typer(no_args_is_help=True)

All = Annotated[bool, typer.Option("--all", help="Every open dead letter there is.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done. [default]")]
Execute = Annotated[bool, typer.Option("--execute", help="Do it.")]
DONE: dict[Action, str] = {"redrive": "redriven", "discard": "discarded", "undo": "open again"}


@dataclass(frozen=True, slots=True)
class LetterOrder:
    """What to do to the chosen letters, and how to say it."""

    action: Action
    options: LetterOptions
    everything: bool
    again: bool
    execute: bool
    as_json: bool


@app.command("list")
def list_letters(
    reason: Reason = None,
    tenant: Tenant = None,
    stage: StageName = None,
    since: Since = None,
    until: Until = None,
    state: Annotated[str, typer.Option("--state", help="open, redriven, discarded or all.")] = "open",
    limit: Annotated[int, typer.Option("--limit", min=0, help="Show so many of the newest; all are counted.")] = 50,
    broker: Broker = None,
    as_json: Json = False,
) -> None:
    """Dead letters of all stages, counted by reason, tenant, stage and day; those redriven or discarded on demand."""
    wanted = chosen.states(state)
    options = LetterOptions((), reason, tenant, stage, since, until)
    found = [each for each in clients.run(_listed(settings_of(broker), options)) if each.state in wanted]
    shown = found[len(found) - min(limit, len(found)) :]
    counts = choice.counts(found)
    if as_json:
        letters = [tables.shown(each) for each in shown]
        print_json(tables.LettersListed(total=len(found), counts=counts._asdict(), letters=letters))
        return
    tables.print_counts(counts, len(found))
    if shown:
        tables.print_table(shown)
    if len(shown) < len(found):
        _tell(f"the newest {len(shown)} of {len(found)}: --limit {len(found)} shows all\n")


async def _listed(settings: Settings, options: LetterOptions) -> list[LetterStatus]:
    async with chosen.letters(settings, options) as read:
        return read.found


@app.command()
def show(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="topic:partition:offset of a dead letter or its original, or an id.")
    ],
    raw: Annotated[bool, typer.Option("--raw", help="Only the original bytes, as they are.")] = False,
    broker: Broker = None,
    as_json: Json = False,
) -> None:
    """One dead letter: what failed, where and why, its headers and bytes, and what to do next."""
    if raw and as_json:
        raise CommandFailed("give one of --raw and --json", USAGE)
    clients.run(_show(settings_of(broker), name, raw=raw, as_json=as_json))


async def _show(settings: Settings, name: str, *, raw: bool, as_json: bool) -> None:
    async with chosen.letters(settings, LetterOptions((name,))) as read:
        if raw and len(read.found) > 1:
            places = ", ".join(str(each.letter.at) for each in read.found)
            raise CommandFailed(
                f"{name} names {len(read.found)} dead letters: name one by its position: {places}", USAGE
            )
        shown = []
        for status in read.found:
            record = await log.raw(read.log, status.letter.at)
            if record is None:
                raise CommandFailed(f"{status.letter.at} is no longer in the log: it is past its retention", FAILURE)
            if raw:
                sys.stdout.buffer.write(record.value or b"")
            elif as_json:
                shown.append(tables.shown_whole(status, record))
            else:
                tables.print_letter(status, record)
        if as_json:
            print_json(tables.LettersFound(letters=shown))


@app.command()
def redrive(
    names: Names = None,
    reason: Reason = None,
    tenant: Tenant = None,
    stage: StageName = None,
    since: Since = None,
    until: Until = None,
    everything: All = False,
    again: Annotated[bool, typer.Option("--again", help="Also those that were redriven already.")] = False,
    dry_run: DryRun = False,
    execute: Execute = False,
    broker: Broker = None,
    as_json: Json = False,
) -> None:
    """Send dead letters again, to the topic and partition they came from, with their bytes, key and headers.

    At most three times each. Exits with 5 where one is refused.
    """
    options = LetterOptions(tuple(names or ()), reason, tenant, stage, since, until)
    order = LetterOrder("redrive", options, everything, again, _executes(dry_run, execute), as_json)
    raise typer.Exit(clients.run(_carry_out(order, settings_of(broker))))


@app.command()
def discard(
    names: Names = None,
    reason: Reason = None,
    tenant: Tenant = None,
    stage: StageName = None,
    since: Since = None,
    until: Until = None,
    everything: All = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take a discarding back.")] = False,
    dry_run: DryRun = False,
    execute: Execute = False,
    broker: Broker = None,
    as_json: Json = False,
) -> None:
    """Mark dead letters as discarded: lists and redrives pass over them. Their bytes stay until retention ends."""
    options = LetterOptions(tuple(names or ()), reason, tenant, stage, since, until)
    action: Action = "undo" if undo else "discard"
    order = LetterOrder(action, options, everything, False, _executes(dry_run, execute), as_json)
    raise typer.Exit(clients.run(_carry_out(order, settings_of(broker))))


def _executes(dry_run: bool, execute: bool) -> bool:
    if dry_run and execute:
        raise CommandFailed("give one of --dry-run and --execute", USAGE)
    return execute


async def _carry_out(order: LetterOrder, settings: Settings) -> int:
    """Do what is ordered, or say what would be done; the exit code."""
    if order.options == LetterOptions() and not order.everything:
        raise CommandFailed(
            "say which: name them, or choose with --reason, --tenant, --stage, --since, or --all", USAGE
        )
    if order.options.names and order.everything:
        raise CommandFailed("give names or --all, not both", USAGE)
    async with chosen.letters(settings, order.options, writes=order.execute) as read:
        found = read.found if order.options.names else [each for each in read.found if _eligible(order, each.state)]
        topics = {topic.name for stage in NAMED.values() for topic in stage.reads}
        partitions = {topic: read.log.partitions(topic) for topic in topics if read.log.partitions(topic)}
        async with clients.administering(read.bootstrap) as admin:
            chained = [stage.name for stage in LAYOUTS[await layout_by(admin)] if stage.head]
        allowed, refused = choice.divided(found, order.action, partitions, again=order.again, chained=chained)
        if not order.execute:
            _show_plan(order, allowed, refused)
        else:
            _show_done(order, await _executed(order, read, allowed), refused)
    return CHECK if refused else OK


def _eligible(order: LetterOrder, state: State) -> bool:
    """Whether a letter that was not named takes part; what has another state already does not."""
    if order.action == "undo":
        return state == "discarded"
    return state == "open" or (state == "redriven" and order.again)


async def _executed(
    order: LetterOrder, read: ReadLetters, allowed: Sequence[LetterStatus]
) -> Sequence[RedrivenLetter | LetterStatus]:
    if not allowed:
        return ()
    with Progress(len(allowed)) as progress:
        async with clients.producing(read.bootstrap, linger_ms=5, max_batch_size=MAX_BATCH_BYTES) as producer:
            if order.action == "redrive":
                return await log.redrive(read.log, producer, allowed, datetime.now(UTC), progress.advance)
            await log.mark(producer, allowed, "discarded" if order.action == "discard" else "open")
            progress.advance(len(allowed))
    return allowed


def _show_plan(order: LetterOrder, allowed: Sequence[LetterStatus], refused: Sequence[RefusedLetter]) -> None:
    counts = choice.counts(allowed)
    if order.as_json:
        _print_json(order, [tables.shown(each) for each in allowed], refused)
    else:
        print(f"would be {DONE[order.action]}:")
        tables.print_counts(counts, len(allowed))
        if allowed:
            tables.print_table(allowed)
        tables.print_refused(refused)
    if allowed:
        _tell("nothing was done: --execute does it\n")


def _show_done(
    order: LetterOrder, done: Sequence[RedrivenLetter | LetterStatus], refused: Sequence[RefusedLetter]
) -> None:
    if not order.as_json:
        tables.print_done(DONE[order.action], done, refused)
        return
    told = [
        tables.LetterShown(**{**tables.shown(each.status), "redriven_to": str(each.to)})
        if isinstance(each, RedrivenLetter)
        else tables.shown(each)
        for each in done
    ]
    _print_json(order, told, refused)


def _print_json(order: LetterOrder, letters: list[tables.LetterShown], refused: Sequence[RefusedLetter]) -> None:
    why = [tables.LetterRefused(position=str(each.status.letter.at), why=each.why) for each in refused]
    print_json(tables.LettersDone(action=order.action, execute=order.execute, letters=letters, refused=why))


def _tell(text: str) -> None:
    with suppress(BrokenPipeError):
        sys.stderr.write(text)
