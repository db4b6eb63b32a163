"""`fathom audit show` and `export`: decisions, claims and corrections of a conversation, a user or a time."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer
from aiokafka import AIOKafkaConsumer, TopicPartition
from typing_extensions import TypedDict

from streams.audit.chain import AUDITED
from streams.audit.entries import AuditEntry, AuditFilter, entries_of, may_hold
from streams.audit.exports import FORMATS, opened
from streams.edges.cli.arguments import Broker, Json, time_of
from streams.edges.cli.progress import Progress
from streams.edges.client import clients
from streams.edges.client.console_output import shortened
from streams.edges.client.errors import USAGE, CommandFailed
from streams.edges.client.standard_output import print_json
from streams.kafka import log_reader
from streams.kafka.clients import PROMPT_MS

TEXT_CHARS = 120
# Records of a partition that are read at a time.
FIRST_WINDOW, LONGEST_WINDOW = 100, 16_000

Client = Annotated[str | None, typer.Option("--client", help="Of this application only.")]
Conversation = Annotated[str | None, typer.Option("--conversation", help="Of this conversation only.")]
User = Annotated[str | None, typer.Option("--user", help="Of this user only.")]
Tenant = Annotated[str | None, typer.Option("--tenant", help="Whose. Default: the client, else default.")]
Since = Annotated[
    str | None, typer.Option("--since", metavar="TIME", help="From then on, ISO 8601; UTC without a zone.")
]
Until = Annotated[str | None, typer.Option("--until", metavar="TIME", help="Before then.")]


class EntriesExported(TypedDict):
    """How many entries a file has, and how many records could not be read."""

    entries: int
    unreadable: int
    file: str


def show(
    conversation: Conversation = None,
    user: User = None,
    since: Since = None,
    until: Until = None,
    client: Client = None,
    tenant: Tenant = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="The newest so many.")] = 50,
    broker: Broker = None,
    as_json: Json = False,
) -> None:
    """Decisions, claims and corrections of a conversation, a user or a stretch of time, oldest first.

    Without --since those of the last seven days.
    """
    week_ago = datetime.now(UTC) - timedelta(days=7)
    wanted = _filter(conversation, user, since, until, client, tenant)
    wanted = wanted if wanted.since else wanted.model_copy(update={"since": week_ago})
    found = clients.run(_newest(clients.bootstrap_of(broker), wanted, limit))
    for each in found:
        if as_json:
            print_json(each)
        else:
            print(_line(each))
    if not found and not as_json:
        print("nothing was decided, claimed or corrected there; --since looks further back, --tenant elsewhere")


def export(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")],
    form: Annotated[
        str, typer.Option("--format", metavar="csv|json|parquet", help="Default: by the file's name.")
    ] = "",
    conversation: Conversation = None,
    user: User = None,
    since: Since = None,
    until: Until = None,
    client: Client = None,
    tenant: Tenant = None,
    broker: Broker = None,
    as_json: Json = False,
) -> None:
    """The same as CSV, JSON lines or Parquet, into a file: all that the log keeps, or from --since on."""
    chosen = form or {"jsonl": "json"}.get(path.suffix.lstrip("."), path.suffix.lstrip("."))
    if chosen not in FORMATS:
        raise CommandFailed(f"--format is one of {', '.join(FORMATS)}; {path.name} does not say which", USAGE)
    if not path.parent.is_dir():
        raise CommandFailed(f"there is no directory {path.parent}; make it, or name another place", USAGE)
    wanted = _filter(conversation, user, since, until, client, tenant)
    written, unreadable = clients.run(_export(clients.bootstrap_of(broker), wanted, chosen, path))
    if as_json:
        print_json(EntriesExported(entries=written, unreadable=unreadable, file=str(path)))
        return
    odd = f", {unreadable} records cannot be read" if unreadable else ""
    print(f"{written:,} entries in {path}{odd}")


def _filter(
    conversation: str | None, user: str | None, since: str | None, until: str | None, client: str | None,
    tenant: str | None,
) -> AuditFilter:  # fmt: skip
    return AuditFilter(
        tenant=tenant or client or "default",
        client_id=client,
        conversation_id=conversation,
        user_id=user,
        since=time_of(since, "--since"),
        until=time_of(until, "--until"),
    )


async def _newest(bootstrap: str, wanted: AuditFilter, limit: int) -> list[AuditEntry]:
    """The newest entries, by the order of each partition; the log is read backwards until there are so many."""
    found: list[AuditEntry] = []
    # The time of the oldest record read of each partition that has more: what is older may have newer ones before it.
    reached: dict[TopicPartition, int] = {}
    async with _reading(bootstrap, wanted) as (consumer, ranges):
        windows = log_reader.newest_first(consumer, ranges, max(limit, FIRST_WINDOW), LONGEST_WINDOW)
        async with aclosing(windows) as read:
            async for records, left in read:
                for record in reversed(records):
                    reached[TopicPartition(record.topic, record.partition)] = record.timestamp
                for topic in AUDITED:
                    mine = [each for each in records if each.topic == topic and may_hold(each, wanted)]
                    found += entries_of(topic, mine, wanted)[0]
                horizon = max((reached.get(tp, 0) for tp, (begin, end) in left.items() if begin < end), default=0)
                if sum(each.at.timestamp() * 1000 >= horizon for each in found) >= limit:
                    break
    return sorted(found, key=lambda each: (each.at, each.place))[-limit:]


async def _export(bootstrap: str, wanted: AuditFilter, form: str, path: Path) -> tuple[int, int]:
    written = odd = 0
    with opened(form, path) as write:
        async with aclosing(_entries(bootstrap, wanted)) as batches:
            async for entries, unreadable in batches:
                write(entries)
                written, odd = written + len(entries), odd + unreadable
    return written, odd


async def _entries(bootstrap: str, wanted: AuditFilter) -> AsyncGenerator[tuple[list[AuditEntry], int]]:
    """The entries of each batch, topic by topic, and how many records of it cannot be read."""
    async with _reading(bootstrap, wanted) as (consumer, ranges):
        with Progress(sum(end - begin for begin, end in ranges.values())) as progress:
            async with aclosing(log_reader.batches(consumer, ranges)) as batches:
                async for batch in batches:
                    yield entries_of(batch[0].topic, batch, wanted)
                    progress.advance(len(batch), "read")


@asynccontextmanager
async def _reading(bootstrap: str, wanted: AuditFilter) -> AsyncIterator[tuple[AIOKafkaConsumer, log_reader.Ranges]]:
    """A reader, and what of each audited partition is in the wanted time."""
    counts = await clients.partition_counts(bootstrap)
    clients.partitions_of(counts, AUDITED)
    since = None if wanted.since is None else round(wanted.since.timestamp() * 1000)
    async with clients.reading(bootstrap, [], wait_ms=PROMPT_MS) as consumer:
        ranges: dict[TopicPartition, tuple[int, int]] = {}
        for topic in AUDITED:
            numbers = range(counts[topic])
            kept = await log_reader.bounds(consumer, topic, numbers)
            ranges |= await log_reader.written_since(
                consumer, kept, None if since is None else dict.fromkeys(numbers, since)
            )
        yield consumer, ranges


def _line(entry: AuditEntry) -> str:
    said = [
        f"{entry.at:%Y-%m-%d %H:%M:%SZ}",
        entry.kind,
        entry.level or "",
        entry.message_id or entry.target or entry.id,
    ]
    who = f"user {entry.user_id}" if entry.user_id else ""
    where = f"conversation {entry.conversation_id}" if entry.conversation_id else ""
    text = shortened(entry.text or entry.signals or "", TEXT_CHARS)
    value = f"→ {shortened(entry.new_value, TEXT_CHARS)}" if entry.new_value else ""
    return " · ".join(filter(None, (" ".join(filter(None, said)), where, who, text, value, entry.place)))
