"""`fathom doctor`: checks of all dependencies, and of the stores against the log."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import Annotated, Any, cast
from urllib.error import HTTPError
from urllib.request import urlopen

import orjson
import typer
from aiokafka import TopicPartition
from aiokafka.structs import OffsetAndMetadata

from agents.errors import FathomError, Unavailable
from streams.config import ConfigError, Settings
from streams.edges.cli.arguments import Broker, Json
from streams.edges.cli.progress import Progress
from streams.edges.cli.up import settings_of
from streams.edges.client import clients
from streams.edges.client.errors import CHECK, DOWN, OK, explain
from streams.kafka import topics_admin, topics_plan
from streams.kafka.security import security_of
from streams.replay import broker_source
from streams.replay.chosen_stores import opened_stores
from streams.replay.log import PartitionRange, opened
from streams.replay.reconcile import Checkup, Graph, Index, per_tenant
from streams.runtime import data_dir as homes
from streams.runtime.app import dependencies
from streams.runtime.stores import Stores
from streams.topology import GROUPS, STAGES

STORES = ("graph", "index")
HEALTH_S = 5.0
OK_, DOWN_, WRONG = "ok", "down", "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check and its result: `ok`, `down` (no answer) or `wrong` (a person has to do something)."""

    what: str
    state: str
    detail: str


def doctor(
    reconcile: Annotated[bool, typer.Option("--reconcile", help="Hold graph and index against the log.")] = False,
    repair: Annotated[bool, typer.Option("--repair", help="Write what is missing again from the log.")] = False,
    remove_orphans: Annotated[
        bool, typer.Option("--remove-orphans", help="Remove from graph and index what the log does not know.")
    ] = False,
    tenant: Annotated[str | None, typer.Option("--tenant", help="Reconcile only this tenant's.")] = None,
    broker: Broker = None,
    as_json: Json = False,
) -> None:
    """Whether everything that is needed answers and fits; with --reconcile, whether the stores hold what the log says.

    Exits with 4 where something does not answer, with 5 where something is wrong.
    """
    settings = settings_of(broker)
    reconciles = reconcile or repair or remove_orphans
    if reconciles:
        broker_source.refuse_held_stores(settings, [settings.neo4j_url, settings.qdrant_url])
    found: list[Finding] = []
    table: list[dict[str, object]] = []
    left = 0

    try:
        table, left = clients.run(
            _checked(settings, found, tenant, reconciles, repair=repair, remove_orphans=remove_orphans)
        )
    except (Unavailable, ConfigError, FathomError) as error:
        found.append(Finding("broker", DOWN_, explain(error)[0]))
        reconciles = False
    if as_json:
        shown: dict[str, object] = {"checks": [asdict(each) for each in found]}
        print(orjson.dumps(shown | ({"reconciled": table, "left": left} if reconciles else {})).decode())
    else:
        _show(found)
        if reconciles:
            _show_reconciled(table, left, changed=repair or remove_orphans)
    if any(each.state == DOWN_ for each in found):
        raise typer.Exit(DOWN)
    raise typer.Exit(CHECK if left or any(each.state == WRONG for each in found) else OK)


async def _checked(
    settings: Settings, found: list[Finding], tenant: str | None, reconciles: bool, **mend: bool
) -> tuple[list[dict[str, object]], int]:
    """Look at everything and reconcile where it is wanted; what that found, and how much of it is left."""
    async with broker_source.broker_of(settings) as bootstrap:
        found += await _broker(settings, bootstrap)
        async with _stores(settings, found) as stores:
            if stores is None or not reconciles:
                return [], 0
            async with opened(bootstrap, security_of(settings)) as log:
                with Progress() as progress:
                    graph, index = cast("Graph", stores.graph), cast("Index", stores.index)
                    built = dependencies(settings, stores)
                    checkup = Checkup(log, built, graph, index, tenant, progress.advance)
                    findings, left = await checkup.mend(**mend)
    return per_tenant(findings), len(left)


async def _broker(settings: Settings, bootstrap: str) -> list[Finding]:
    """The broker, its topics and the lag of the groups."""
    security = security_of(settings)
    existing = await topics_admin.existing(bootstrap, security)
    found = [Finding("broker", OK_, f"{bootstrap}, {len(existing)} topics")]
    partitions = existing.get("messages.in", settings.partitions)
    wanted = topics_plan.wanted(partitions, settings.replication)
    lacking = {topic.name for topic in topics_plan.missing(existing, wanted)}
    differing = topics_plan.repartitioned(existing, wanted)
    odd = [topic.name for topic in wanted if topic.name in lacking or topic.name in differing]
    detail = ", ".join(f"{name}: {'create' if name in lacking else 'differs'}" for name in odd[:5])
    state = WRONG if odd else OK_
    found.append(Finding("topics", state, f"{detail}; `fathom topics plan` says more" if odd else "as planned"))
    async with clients.administering(bootstrap) as admin, opened(bootstrap, security) as log:
        for group in GROUPS:
            topics = {topic.name for stage in STAGES if stage.group_name == group for topic in stage.reads}
            ends = {span.tp: span for topic in sorted(topics) for span in await log.spans(topic)}
            committed = await admin.list_consumer_group_offsets(f"fathom.{group}")
            found.append(Finding(f"group {group}", OK_, f"{_lag(ends, committed):,} records behind"))
    return found


def _lag(spans: dict[TopicPartition, PartitionRange], committed: dict[TopicPartition, OffsetAndMetadata]) -> int:
    behind = 0
    for tp, span in spans.items():
        offset = committed[tp].offset if tp in committed else -1
        behind += max(span.end - (span.kept_from if offset < 0 else offset), 0)
    return behind


@asynccontextmanager
async def _stores(settings: Settings, found: list[Finding]) -> AsyncIterator[Stores | None]:
    """The checked stores; None where `fathom up` has them, which is asked instead, or where one cannot be opened."""
    home = homes.home_of(settings.broker)
    running = None if home is None else homes.running(home)
    urls = (settings.redis_url, settings.neo4j_url, settings.qdrant_url)
    if running is not None and any(url.startswith(homes.SCHEME) for url in urls):
        found += await asyncio.to_thread(_asked_of, running.http)
        yield None
        return
    try:
        async with opened_stores(settings, ("redis", *STORES), STAGES) as stores:
            for name, wrong in (await stores.ready()).items():
                found.append(Finding(name, DOWN_ if wrong else OK_, wrong or await _version(stores, name)))
            yield stores
    except Unavailable as error:
        found.append(Finding(error.what, DOWN_, str(error)))
        yield None
    except FathomError as error:
        found.append(Finding("stores", WRONG, str(error)))
        yield None


def _asked_of(http: str) -> list[Finding]:
    try:
        with urlopen(f"http://{http}/health/ready", timeout=HEALTH_S) as answer:
            said = orjson.loads(answer.read())
    except HTTPError as error:
        said = orjson.loads(error.read())  # it answers but is not ready; the body names the store
    stores = said.get("stores", {})
    stores.pop("broker", None)  # asked by ourselves
    return [
        Finding(name, OK_ if wrong == "ok" else DOWN_, f"{wrong}, says `fathom up`") for name, wrong in stores.items()
    ]


async def _version(stores: Stores, name: str) -> str:
    store = {"graph": stores.graph, "index": stores.index}.get(name, stores.working_sets)
    return str(await store.version()) if hasattr(store, "version") else "in memory"


def _show(found: list[Finding]) -> None:
    width = max((len(each.what) for each in found), default=0)
    for each in found:
        print(f"{each.state:<5} {each.what:<{width}}  {each.detail}")


def _show_reconciled(table: list[dict[str, Any]], left: int, *, changed: bool) -> None:
    odd = [row for row in table if row["missing"] or row["orphans"]]
    for row in odd:
        print(
            f"{row['tenant']}: {row['kind']} {row['of']}: {row['missing']:,} of {row['expected']:,} missing, "
            f"{row['orphans']:,} orphans"
        )
    expected = sum(row["expected"] for row in table)
    print(f"reconciled: {expected:,} expected by the log, {left:,} findings{' left' if odd and not left else ''}")
    if left and not changed:
        sys.stderr.write("--repair writes what is missing again; --remove-orphans removes what the log does not know\n")
