"""`fathom tail`: the records of a topic, decoded, as they come."""

import difflib
import select
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, NotRequired

import orjson
import typer
from aiokafka import ConsumerRecord
from typing_extensions import TypedDict

from schemas.envelope import ERASED, KeysNeeded, UnreadableBatch, is_encrypted
from schemas.topics import BY_NAME
from streams.edges.cli.arguments import Broker, Json
from streams.edges.client import clients
from streams.edges.client.console_output import clipped, console
from streams.edges.client.errors import USAGE, CommandFailed
from streams.edges.client.standard_output import print_json
from streams.runtime.dead_letters import header_text

ORIGINAL = "kafka_dlt-original-"
POLL_S = 0.2
SHOWN_CHARS = 1_200
NEAR = 3


class BatchUnreadable(TypedDict):
    """Why a batch cannot be read, and the first offset of it."""

    why: str
    first_offset: int


class DeadLetterOf(TypedDict):
    """What failed, by the headers of a dead letter; empty where these do not tell."""

    stage: str
    reason: str
    message: str
    attempts: str
    topic: str
    partition: str
    offset: str


class RecordShown(TypedDict):
    """A record; `value` is its JSON, or its text where it is none, and null where there is none that can be read."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    type: str | None
    key: str | None
    headers: dict[str, str]
    value: object
    erased: NotRequired[bool]
    unreadable: NotRequired[BatchUnreadable]
    dead_letter: NotRequired[DeadLetterOf]


def tail(
    topic: Annotated[str, typer.Argument(help="The topic, as `fathom topics plan` names it.")],
    broker: Broker = None,
    from_beginning: Annotated[bool, typer.Option("--from-beginning", help="Also what is there already.")] = False,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="End after so many records.")] = None,
    follow: Annotated[bool, typer.Option("--follow/--no-follow", help="Wait for more at the end of the log.")] = True,
    as_json: Json = False,
) -> None:
    """Show the records of a topic as they come, decoded."""
    bootstrap = clients.bootstrap_of(broker)

    async def story() -> None:
        counts = await clients.partition_counts(bootstrap)
        if topic not in counts:
            raise CommandFailed(_unknown(topic, counts), USAGE)
        partitions, left = clients.partitions_of(counts, [topic]), limit
        async with clients.reading(bootstrap, partitions, from_beginning=from_beginning) as consumer:
            ends = await consumer.end_offsets(partitions)
            while left is None or left > 0:
                for record in (await clients.poll(consumer, POLL_S))[:left]:
                    _show(record, as_json=as_json)
                    left = None if left is None else left - 1
                sys.stdout.flush()
                if reader_gone(sys.stdout.fileno()):
                    return
                if not follow and await clients.arrived(consumer, ends):
                    return

    clients.run(story())


def reader_gone(descriptor: int) -> bool:
    """Whether the reader of a pipe has ended: on a quiet topic no write might detect it for hours."""
    poller = select.poll()
    poller.register(descriptor, 0)
    return any(event & select.POLLERR for _, event in poller.poll(0))


def _unknown(topic: str, counts: Mapping[str, int]) -> str:
    known = sorted({*counts, *BY_NAME})
    if topic in BY_NAME:
        return f"the broker has no topic {topic} yet; `fathom topics apply` makes it"
    near = difflib.get_close_matches(topic, known, n=NEAR)
    which = f"did you mean {' or '.join(near)}?" if near else "`fathom topics plan` lists them all"
    return f"there is no topic {topic!r}; {which}"


def _show(record: ConsumerRecord, *, as_json: bool) -> None:
    shown = as_dict(record)
    if as_json:
        print_json(shown)
        return
    try:
        at = datetime.fromtimestamp(record.timestamp / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] + "Z"
    except (ValueError, OverflowError, OSError):  # a producer may state any number
        at = f"timestamp {record.timestamp}"
    kind, key = shown["type"] or "untyped", "-" if shown["key"] is None else shown["key"]
    text = "(no value: a tombstone)" if record.value is None else record.value.decode(errors="replace")
    text = "(erased with the key of a person)" if record.value is ERASED else text
    if isinstance(record.value, UnreadableBatch):
        text = f"(a batch that no client can read, from offset {record.value.first} on: {record.value.why})"
    out = partial(console().print, markup=False, soft_wrap=True)
    out(f"{record.topic}[{record.partition}]@{record.offset}  {at}  {kind}  key {key}", style="bold")
    if letter := shown.get("dead_letter"):
        place = f"{letter['topic']}[{letter['partition']}]@{letter['offset']}"
        why = f"after {letter['attempts']} attempts: {letter['reason']}: {letter['message']}"
        out(f"  {letter['stage']} could not process {place} {why}", style="red")
    out("  " + clipped(text, SHOWN_CHARS))


def as_dict(record: ConsumerRecord) -> RecordShown:
    """A record as one JSON object; `value` is its JSON, or its text where it is not JSON."""
    headers = {name: header_text(name, value) for name, value in record.headers}
    if is_encrypted(record.headers, record.value):
        raise KeysNeeded(f"{record.topic}[{record.partition}]@{record.offset}")
    shown: RecordShown = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
        "type": headers.get("ce_type") or _only_type(record.topic),
        "key": None if record.key is None else record.key.decode(errors="replace"),
        "headers": headers,
        "value": _value(record.value),
    }
    if record.value is ERASED:
        shown["erased"] = True
    if isinstance(record.value, UnreadableBatch):
        shown["unreadable"] = {"why": record.value.why, "first_offset": record.value.first}
    if "fathom_reason" in headers:
        shown["dead_letter"] = DeadLetterOf(
            stage=headers.get("fathom_stage", ""),
            reason=headers["fathom_reason"],
            message=headers.get("__streams.errors.message", ""),
            attempts=headers.get("fathom_attempts", ""),
            topic=headers.get(f"{ORIGINAL}topic", ""),
            partition=headers.get(f"{ORIGINAL}partition", ""),
            offset=headers.get(f"{ORIGINAL}offset", ""),
        )
    return shown


def _only_type(topic: str) -> str | None:
    """The event type of a topic, if there is only one."""
    known = BY_NAME.get(topic)
    return known.events[0].TYPE if known and len(known.events) == 1 else None


def _value(value: bytes | None) -> object:
    if value is None or value is ERASED or isinstance(value, UnreadableBatch):
        return None
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return value.decode(errors="replace")
