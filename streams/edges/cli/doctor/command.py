"""`fathom doctor`: checks of all dependencies, and of the stores against the log."""

import asyncio
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Annotated, NotRequired

import typer
from typing_extensions import TypedDict

from agents.errors import FathomError, Unavailable
from streams.config import ConfigError, Settings
from streams.edges.cli.arguments import Broker, Json
from streams.edges.cli.doctor import running, shown
from streams.edges.cli.doctor.broker import broker as broker_findings
from streams.edges.cli.doctor.canary import canary as canary_finding
from streams.edges.cli.doctor.canary import unsent
from streams.edges.cli.doctor.findings import DOWN as DOWN_STATE
from streams.edges.cli.doctor.findings import WRONG, Finding, found
from streams.edges.cli.doctor.keys import keys
from streams.edges.cli.doctor.machine import machine
from streams.edges.cli.doctor.stores import note_of, stores
from streams.edges.cli.progress import Progress
from streams.edges.cli.up import settings_of
from streams.edges.client import clients
from streams.edges.client.errors import CHECK, DOWN, OK, CommandFailed, explain
from streams.edges.client.standard_output import print_json
from streams.kafka.security import security_of
from streams.replay import broker_source
from streams.replay.log import opened
from streams.replay.mended_stores import HeldStores, held_stores, mended_stores
from streams.replay.reconcile import Checkup, ReconciledKind, per_tenant
from streams.runtime import data_dir as homes
from streams.runtime.up import store_settings
from streams.stores.remote.client import StoresNotServed
from streams.stores.remote.server import StoresBusy
from streams.topology import STAGES


class DoctorReport(TypedDict):
    """The checks, and with --reconcile what each store differs in and how much of that is left."""

    checks: Sequence[Finding]
    reconciled: NotRequired[Sequence[ReconciledKind]]
    left: NotRequired[int]


@dataclass(frozen=True, slots=True)
class Mending:
    """Whether the stores are held against the log, whose, and what is done about the differences."""

    wanted: bool
    tenant: str | None
    repair: bool
    remove_orphans: bool


def doctor(
    reconcile: Annotated[bool, typer.Option("--reconcile", help="Hold graph and index against the log.")] = False,
    repair: Annotated[bool, typer.Option("--repair", help="Write what is missing again from the log.")] = False,
    remove_orphans: Annotated[
        bool, typer.Option("--remove-orphans", help="Remove from graph and index what the log does not know.")
    ] = False,
    canary: Annotated[
        bool,
        typer.Option("--canary", help="Send a message through everything to its pack, and erase it again."),
    ] = False,
    tenant: Annotated[str | None, typer.Option("--tenant", help="Reconcile only this tenant's.")] = None,
    broker: Broker = None,
    as_json: Json = False,
) -> None:
    """Check that every dependency is reachable and configured correctly; with --reconcile, the stores against the log.

    Each check that fails has its cause, the next step and the page about it. Exits with 4 where something does not
    answer, with 5 where something is wrong.
    """
    settings = settings_of(broker)
    mending = Mending(reconcile or repair or remove_orphans, tenant, repair, remove_orphans)
    findings: list[Finding] = machine(settings)
    table: list[ReconciledKind] | None = None
    left = 0
    try:
        table, left = clients.run(_checked(settings, findings, mending, canary=canary))
    except (StoresBusy, StoresNotServed):
        raise
    except (Unavailable, ConfigError, FathomError, CommandFailed) as error:
        findings.append(found("broker", DOWN_STATE, explain(error)[0]))
    if as_json:
        said = DoctorReport(checks=findings)
        print_json(said if table is None else DoctorReport(checks=findings, reconciled=table, left=left))
    else:
        shown.show(findings)
        if table is not None:
            shown.show_reconciled(table, left, changed=repair or remove_orphans)
    if any(each.state == DOWN_STATE for each in findings):
        raise typer.Exit(DOWN)
    raise typer.Exit(CHECK if left or any(each.state == WRONG for each in findings) else OK)


async def _checked(
    settings: Settings, findings: list[Finding], mending: Mending, *, canary: bool
) -> tuple[list[ReconciledKind] | None, int]:
    """Look at everything and reconcile where it is wanted; what that found, and how much of it is left."""
    async with held_stores(settings) if mending.wanted else nullcontext() as held:
        home = homes.home_of(settings.broker)
        addresses = None if home is None else homes.running(home)
        ready = None
        if addresses is not None:
            answer = await asyncio.to_thread(running.asked, addresses.http)
            findings.append(running.readiness(answer, addresses.http))
            ready = running.stores_of(answer)
        findings.append(await asyncio.to_thread(running.model, settings.llm_url))
        index = store_settings(settings, STAGES).index_directory()
        findings += await stores(settings, ready, note_of(index))
        findings += await keys(settings)
        async with broker_source.broker_of(settings) as bootstrap:
            findings += await broker_findings(settings, bootstrap, runs=home is None or addresses is not None)
            findings.append(await canary_finding(bootstrap) if canary else unsent())
            if not mending.wanted:
                return None, 0
            return await _reconciled(settings, bootstrap, mending, held)


async def _reconciled(
    settings: Settings, bootstrap: str, mending: Mending, held: HeldStores | None
) -> tuple[list[ReconciledKind] | None, int]:
    async with mended_stores(settings, held) as there, opened(bootstrap, security_of(settings)) as log:
        with Progress() as progress:
            checkup = Checkup(
                log, there.built, there.graph, there.index, mending.tenant, progress.advance, there.snapshot
            )
            differences, left = await checkup.mend(repair=mending.repair, remove_orphans=mending.remove_orphans)
    return per_tenant(differences), len(left)
