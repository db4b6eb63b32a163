"""`fathom audit seal`, `head` and `verify`: the hash chain over decisions, claims and corrections."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Annotated

import typer
from typing_extensions import TypedDict

from schemas.topics import AUDIT_HEADS
from streams import config
from streams.audit import sealing
from streams.audit.chain import AUDITED
from streams.audit.sealing import AuditLog, AuditVerdict, ChainBroken
from streams.audit.verifying import ChainBreak, HeadAnchor
from streams.edges.cli.arguments import Broker, Json
from streams.edges.cli.audit.seal_service import keep_sealing
from streams.edges.cli.progress import Progress
from streams.edges.client import clients
from streams.edges.client.errors import CHECK, CONFIG, OK, USAGE, CommandFailed
from streams.edges.client.standard_output import print_json
from streams.kafka import topics_admin
from streams.kafka.clients import PROMPT_MS

ANCHOR = re.compile(r"([0-9a-f]{64}):([1-9][0-9]{0,11})")
MOST_BREAKS = 20
WHAT_NEXT = (
    "whoever can write the log's files or topics has changed it since: keep this log as it is, and compare it with a "
    "copy or a backup; `fathom explain` and `fathom audit show` still say what it holds now"
)


class LogSealed(TypedDict):
    """How many records a head was written over, and the newest head as HASH:COUNT."""

    sealed: int
    head: str | None


class HeadShown(TypedDict):
    """The newest head, and its number."""

    head: str
    count: int


class LogVerified(TypedDict):
    """How many records are as they were sealed, and the places where the log is not."""

    verified: int
    unsealed: int
    expired: int
    heads: int
    head: str | None
    breaks: list[ChainBreak]


def seal(
    every: Annotated[
        float | None, typer.Option("--every", metavar="SECONDS", min=1, help="Go on, and seal so often.")
    ] = None,
    broker: Broker = None,
    as_json: Json = False,
) -> None:
    """Seal the audit topics: write a head over what came since the last one; --every keeps doing it.

    Exits with 5 where less is there than was sealed; with --every also with 4 where the broker is away, and in order on
    SIGTERM. Print the newest head with `fathom audit head`, and keep it
    elsewhere: cut off together with its heads, a log looks whole.
    """
    clients.run(_seal(clients.bootstrap_of(broker, writes=True), every, as_json=as_json))


def head(broker: Broker = None, as_json: Json = False) -> None:
    """The newest head, to be kept elsewhere."""
    newest = clients.run(_head(clients.bootstrap_of(broker)))
    if newest is None:
        raise CommandFailed("nothing is sealed yet; `fathom audit seal` writes the first head")
    if as_json:
        print_json(HeadShown(head=newest.digest, count=newest.number))
    else:
        print(newest)


def verify(
    anchor: Annotated[
        str | None, typer.Option("--head", metavar="HASH:COUNT", help="A head kept elsewhere, as `audit head` said it.")
    ] = None,
    broker: Broker = None,
    as_json: Json = False,
) -> None:
    """Whether the audit topics are as they were sealed; with --head also against a head kept elsewhere.

    Exits with 5 where they are not, and says the first place. Records that have expired since are no break.
    """
    kept = None if anchor is None else _anchor(anchor)
    found = clients.run(_verify(clients.bootstrap_of(broker), kept))
    if as_json:
        print_json(
            LogVerified(
                verified=found.verified,
                unsealed=found.unsealed,
                expired=found.expired,
                heads=found.heads,
                head=None if found.newest is None else str(found.newest),
                breaks=found.breaks,
            )
        )
    else:
        _say(found, anchored=kept is not None)
    raise typer.Exit(CHECK if found.breaks else OK)


def _anchor(stated: str) -> HeadAnchor:
    found = ANCHOR.fullmatch(stated)
    if found is None:
        raise CommandFailed("--head is HASH:COUNT as `fathom audit head` says it: 64 hex digits, colon, number", USAGE)
    return HeadAnchor(found[1], int(found[2]))


@asynccontextmanager
async def _opened(bootstrap: str) -> AsyncIterator[AuditLog]:
    counts = await clients.partition_counts(bootstrap)
    if AUDIT_HEADS.name not in counts:
        raise CommandFailed(
            f"the broker has no topic {AUDIT_HEADS.name}; `fathom topics apply` makes it, and so does a worker's start",
            CONFIG,
        )
    there = [name for name in (*AUDITED, AUDIT_HEADS.name) if name in counts]
    retentions = await topics_admin.retentions(bootstrap, there, clients.security_for(bootstrap))
    async with clients.reading(bootstrap, [], wait_ms=PROMPT_MS, as_stored=True) as consumer:
        yield AuditLog(consumer, counts, retentions)


def _now() -> datetime:
    now = datetime.now(UTC)
    # As a record's time has it: in milliseconds.
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


async def _seal(bootstrap: str, every: float | None, *, as_json: bool) -> None:
    async with _opened(bootstrap) as log, clients.producing(bootstrap) as producer:

        async def once() -> None:
            try:
                sealed, newest = await sealing.seal(log, producer, _now)
            except ChainBroken as error:
                raise CommandFailed(f"{error}; nothing was sealed: `fathom audit verify` says more", CHECK) from None
            if as_json:
                print_json(LogSealed(sealed=sealed, head=None if newest is None else str(newest)))
            elif sealed or every is None:
                print(f"{sealed:,} records sealed, head {newest}" if newest else "nothing to seal yet", flush=True)

        await (once() if every is None else keep_sealing(once, every, config.load()))


async def _head(bootstrap: str) -> HeadAnchor | None:
    async with _opened(bootstrap) as log:
        return (await sealing.checked_heads(log, _now())).newest


async def _verify(bootstrap: str, anchor: HeadAnchor | None) -> AuditVerdict:
    async with _opened(bootstrap) as log:
        bounds = await log.bounds(log.partitions())
        with Progress(sum(each.end - each.begin for each in bounds.values())) as progress:
            return await sealing.verify(log, _now(), anchor, lambda count: progress.advance(count, "verified"))


def _say(found: AuditVerdict, *, anchored: bool) -> None:
    for each in found.breaks[:MOST_BREAKS]:
        print(each)
    if rest := found.breaks[MOST_BREAKS:]:
        print(f"and {len(rest)} more places")
    later = f", {found.unsealed:,} came since and are not sealed yet" if found.unsealed else ""
    gone = f", {found.expired:,} can no longer be checked: what they follow has expired" if found.expired else ""
    print(f"{found.verified:,} records are as sealed by {found.heads:,} heads{later}{gone}")
    if found.newest is not None:
        print(f"newest head {found.newest}")
    if found.breaks:
        print(f"the log is not what was sealed: {WHAT_NEXT}")
    elif not found.heads:
        print("nothing is sealed yet; `fathom audit seal` writes the first head")
    elif not anchored:
        print("not compared with a head kept elsewhere: --head HASH:COUNT would also find heads cut off")
