"""`fathom quarantine`: sources whose content goes into no pack until they are lifted, and what used them."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from agents.core.quarantine.sources import Quarantine, SourceName
from schemas.base import DEFAULT_TENANT
from streams.edges.cli.arguments import Broker, Json
from streams.edges.cli.quarantine import lines, sources
from streams.edges.cli.quarantine.sources import QuarantineOrder
from streams.edges.client import clients
from streams.edges.client.errors import FAILURE, USAGE, CommandFailed
from streams.edges.client.log_lookup import in_force
from streams.edges.client.standard_output import print_json
from streams.usage.members import placed

if TYPE_CHECKING:
    from streams.usage.report import UsageReport

# A worker that reaches the broker has the record within a second; a pack that was begun before is out by its deadline.
IN_FORCE_S = 5.0
SOURCE = "document:ID, feed:BEGINNING (of documents' ids), conversation:ID, user:ID, message:ID or claim:ID."

Source = Annotated[str | None, typer.Option("--source", metavar="KIND:ID", help=SOURCE)]
Client = Annotated[str, typer.Option("--client", help="Of a conversation: the application.")]
Tenant = Annotated[str, typer.Option("--tenant", help="Whose memory.")]

app = typer.Typer(rich_markup_mode=None)


@dataclass(frozen=True, slots=True)
class _Wish:
    """What is to happen to a source."""

    order: QuarantineOrder
    lift: bool = False
    again: bool = False
    dry_run: bool = False
    as_json: bool = False


@app.callback(invoke_without_command=True)
def quarantine(
    context: typer.Context,
    source: Source = None,
    client: Client = "default",
    tenant: Tenant = DEFAULT_TENANT,
    lift: Annotated[bool, typer.Option("--lift", help="End it: everything is in packs again, as it was.")] = False,
    again: Annotated[
        bool, typer.Option("--again", help="For an active quarantine: also hide answers produced from it since.")
    ] = False,
    reason: Annotated[str, typer.Option("--reason", help="Why, for the list and for audit.")] = "",
    by: Annotated[str, typer.Option("--by", help="Who wants it, for audit.")] = "operator",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be hidden, and do nothing.")] = False,
    broker: Broker = None,
    as_json: Json = False,
) -> None:
    """Keep a source out of all packs and deep answers until it is lifted; nothing is deleted.

    Lists every pack, decision and answer that used it.
    """
    if context.invoked_subcommand is not None:
        if source is not None:
            raise CommandFailed(f"put --source behind `{context.invoked_subcommand}`", USAGE)
        return
    if lift and again:
        raise CommandFailed("--lift ends a quarantine and --again widens it: give one of them", USAGE)
    order = QuarantineOrder(tenant, _source(source, client), by, reason)
    bootstrap = clients.bootstrap_of(broker, writes=not dry_run)
    clients.run(_change(bootstrap, _Wish(order, lift, again, dry_run, as_json)))


@app.command("list")
def list_(tenant: Tenant = DEFAULT_TENANT, broker: Broker = None, as_json: Json = False) -> None:
    """What is quarantined, since when, by whom, and why."""
    found = clients.run(in_force(clients.bootstrap_of(broker))).of(tenant)
    if as_json:
        print_json(lines.QuarantinesShown(quarantines=[lines.as_fields(each) for each in found]))
    else:
        print("\n".join(map(lines.listed, found)) or f"tenant {tenant} has nothing quarantined")


@app.command()
def report(
    source: Source = None,
    client: Client = "default",
    tenant: Tenant = DEFAULT_TENANT,
    broker: Broker = None,
    as_json: Json = False,
) -> None:
    """Every pack, decision and answer that used a source, quarantined or not; the whole log is read."""
    name = _source(source, client)
    found = clients.run(_report(clients.bootstrap_of(broker), tenant, name))
    if as_json:
        print_json(lines.usage(found, None))
    else:
        print(lines.as_text(found))


def _source(source: str | None, client: str) -> SourceName:
    if source is None:
        raise CommandFailed(f"name what with --source: {SOURCE} `fathom quarantine list` shows what is", USAGE)
    return sources.source_of(source, client)


async def _report(bootstrap: str, tenant: str, source: SourceName) -> "UsageReport":
    known = {each.source: each for each in (await in_force(bootstrap)).of(tenant)}.get(source)
    if known is None:
        await sources.look_up(bootstrap, tenant, source)
    return await _used(bootstrap, tenant, known or _planned(source))


async def _change(bootstrap: str, wish: _Wish) -> None:
    order = wish.order
    known = {each.source: each for each in (await in_force(bootstrap)).of(order.tenant)}.get(order.source)
    if wish.lift:
        await _lift(bootstrap, wish, known)
        return
    if known is not None and not wish.again:
        raise CommandFailed(
            f"{order.source} is quarantined already, {lines.since(known)}; nothing was changed: --lift ends it, "
            "--again hides what was answered from it since",
            FAILURE,
        )
    if known is None and wish.again:
        raise CommandFailed(f"{order.source} is not quarantined; leave --again out", FAILURE)
    event = None if known else await sources.look_up(bootstrap, order.tenant, order.source)
    own = [placed(event)] if event is not None and order.source.kind in ("message", "claim") else []
    planned = known or _planned(order.source, order)
    if wish.dry_run:
        found = await _used(bootstrap, order.tenant, planned)
        _show(wish, found, lines.planned, quarantined=False)
        return
    async with clients.producing(bootstrap) as producer:
        if known is None:
            await sources.send(producer, order, messages=own)
            await asyncio.sleep(IN_FORCE_S)
        found = await _used(bootstrap, order.tenant, planned)
        hidden = {each.message_id for each in (*planned.messages, *own)}
        if more := [each for each in found.hidden_with_it() if each.message_id not in hidden]:
            await sources.send(producer, order, messages=more, audited=False)
    _show(wish, found, lines.done, quarantined=True)


def _show(wish: _Wish, found: "UsageReport", text: Callable[["UsageReport"], str], *, quarantined: bool) -> None:
    if wish.as_json:
        print_json(lines.usage(found, quarantined))
    else:
        print(text(found))


async def _lift(bootstrap: str, wish: _Wish, known: Quarantine | None) -> None:
    if known is None:
        raise CommandFailed(
            f"{wish.order.source} is not quarantined, so nothing was lifted; `fathom quarantine list` shows what is",
            FAILURE,
        )
    if not wish.dry_run:
        async with clients.producing(bootstrap) as producer:
            await sources.send(producer, wish.order, lifted=True)
        await asyncio.sleep(IN_FORCE_S)
    if wish.as_json:
        print_json(lines.QuarantineLifted(**lines.as_fields(known), lifted=not wish.dry_run))
    else:
        print(f"{'would lift' if wish.dry_run else 'lifted'} {known.source}, {lines.since(known)}")


def _planned(source: SourceName, order: QuarantineOrder | None = None) -> Quarantine:
    asked_by, reason = (order.asked_by, order.reason) if order else ("", "")
    return Quarantine(source, datetime.now(UTC), asked_by, reason)


async def _used(bootstrap: str, tenant: str, planned: Quarantine) -> "UsageReport":
    # Imported here: a source is hidden, and the list is shown, before the modules that read a whole log are there.
    from streams.replay.log import opened
    from streams.usage.report import usage

    began = time.monotonic()
    async with opened(bootstrap, clients.security_for(bootstrap)) as log:
        found = await usage(log, tenant, planned)
    found.seconds = time.monotonic() - began
    return found
