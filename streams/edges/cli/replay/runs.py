"""`fathom replay list`, `clean` and `diff`: what replays there are, and what two runs made otherwise."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typing_extensions import TypedDict

from streams.config import Settings
from streams.edges.cli.arguments import Broker, Json
from streams.edges.cli.progress import note
from streams.edges.cli.replay.options import Execute, Report
from streams.edges.cli.replay.page import page_of
from streams.edges.cli.up import settings_of
from streams.edges.client import clients
from streams.edges.client.standard_output import print_json
from streams.edges.operations.replays import (
    ReplayCompared,
    difference,
    replay_compared,
    replays_there,
    topics_of_replay,
)
from streams.kafka.clients import administering
from streams.kafka.security import security_of
from streams.kafka.topics_admin import existing
from streams.replay import broker_source, runs
from streams.replay.differences import Answer, Change, Differences

if TYPE_CHECKING:
    from streams.replay.reprocess import Reprocessed

SHOWN, MAX_QUERY, MAX_ITEMS = 20, 60, 4

ReplayId = Annotated[str, typer.Argument(metavar="ID", help="The replay.")]


class ReplayCleaned(TypedDict):
    """The topics of a replay, and whether they were deleted."""

    replay_id: str
    topics: list[str]
    deleted: bool


class ReplayEnded(ReplayCompared):
    """A replay that has just ended, with what it did."""

    messages: int
    packs: int
    rejected: int


def listed(broker: Broker = None, as_json: Json = False) -> None:
    """The replays whose topics are there, oldest first."""
    clients.run(_list(settings_of(broker), as_json=as_json))


async def _list(settings: Settings, *, as_json: bool) -> None:
    async with broker_source.broker_of(settings) as bootstrap:
        for each in await replays_there(bootstrap, security_of(settings)):
            if as_json:
                print_json(each)
                continue
            changed = "".join(f"  {name}={value}" for name, value in each["settings"].items())
            records = each["topics"]
            print(f"{each['replay_id']}  {sum(records.values()):>9,} records in {', '.join(records)}{changed}")


def clean(
    replay_id: ReplayId,
    execute: Execute = False,
    broker: Broker = None,
    as_json: Json = False,
) -> None:
    """Delete the topics of a replay."""
    clients.run(_clean(replay_id, settings_of(broker), execute=execute, as_json=as_json))


async def _clean(replay_id: str, settings: Settings, *, execute: bool, as_json: bool) -> None:
    security = security_of(settings)
    async with broker_source.broker_of(settings) as bootstrap:
        topics = topics_of_replay(replay_id, runs.replays(await existing(bootstrap, security)))
        if execute:
            async with administering(bootstrap, security) as admin:
                await admin.delete_topics(topics)
    if as_json:
        print_json(ReplayCleaned(replay_id=replay_id, topics=topics, deleted=execute))
        return
    for topic in topics:
        print(f"{'deleted' if execute else 'would delete'} {topic}")
    if not execute:
        note("nothing was done: --execute does it")


def diff(
    replay_id: ReplayId,
    against: Annotated[str | None, typer.Option("--against", metavar="ID", help="Another replay, not the log.")] = None,
    report: Report = None,
    broker: Broker = None,
    as_json: Json = False,
) -> None:
    """What a replay made otherwise than the recorded run, or than another replay."""
    found = clients.run(_diff(replay_id, against, settings_of(broker)))
    show(found, replay_id, against, as_json=as_json, report=report)


async def _diff(replay_id: str, against: str | None, settings: Settings) -> Differences:
    async with broker_source.broker_of(settings) as bootstrap:
        return await difference(bootstrap, security_of(settings), replay_id, against)


def show(
    found: Differences,
    replay_id: str,
    against: str | None,
    *,
    as_json: bool,
    report: Path | None,
    made: "Reprocessed | None" = None,
) -> None:
    """Print a report, and write its page."""
    names = against or "recorded", replay_id
    if report is not None:
        report.write_text(page_of(found, *names), encoding="utf-8")
    if as_json:
        told = replay_compared(found, replay_id, against)
        ran = made and ReplayEnded(**told, messages=made.messages, packs=made.packs, rejected=made.rejected)
        print_json(ran or told)
        return
    for line in (*summary(found, *names), *rows(found)):
        print(line)


def summary(found: Differences, was: str, now: str) -> list[str]:
    """The sums, a line each."""
    took = found.as_json()["latency_ms"]
    lines = [
        f"{found.compared:,} messages compared, {found.different:,} came out otherwise ({was} -> {now})",
        *(f"  {was_level} -> {now_level}  {count:,} messages" for was_level, now_level, count in found.levels()),
        f"items     {found.total('kept'):,} kept, {found.total('gained'):,} gained, {found.total('lost'):,} lost",
        f"evidence  gained in {found.evidence['gained']:,} packs, lost in {found.evidence['lost']:,}",
        f"tokens    {found.tokens[0]:,} -> {found.tokens[1]:,}",
        f"degraded  {found.degraded[0]:,} -> {found.degraded[1]:,} packs",
        f"no room   {found.over_budget[0]:,} -> {found.over_budget[1]:,} packs, for what the other one has",
        *(f"time      {name} {took['was'][name]} -> {took['now'][name]} ms" for name in ("p50", "p95")),
    ]
    if found.only_replayed:
        lines.append(f"{found.only_replayed:,} messages are only in {now}")
    return lines


def rows(found: Differences) -> list[str]:
    """The first messages that came out otherwise."""
    lines = [row(change) for change in found.changes[:SHOWN]]
    left = found.different - len(lines)
    return [*lines, f"and {left:,} more: --json has all, --report FILE a page"] if left > 0 else lines


def row(change: Change) -> str:
    """A line of a changed message."""
    query = " ".join(change.was.query.split())
    said = query if len(query) <= MAX_QUERY else f"{query[: MAX_QUERY - 1]}…"
    items = [
        *(f"+{_title(each, change.now)}" for each in change.gained),
        *(f"-{_title(each, change.was)}{_no_room(each, change.now)}" for each in change.lost),
    ]
    tokens = f"{change.was.tokens}->{change.now.tokens} tokens"
    depth = f"{change.was.level}->{change.now.level}"
    return f"  {change.message_id}  {depth}  {tokens}  {said!r}  {'; '.join(items[:MAX_ITEMS])}".rstrip()


def _no_room(item_id: str, pack: Answer) -> str:
    return " (over budget)" if item_id in pack.over_budget else ""


def _title(item_id: str, of: Answer) -> str:
    section, title = of.items[item_id]
    return f"{section}: {title[:MAX_QUERY]}"
