"""`fathom lag`: whether each consumer group keeps up with the log, partition by partition, and why not."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from streams.edges.cli.arguments import Broker, Json
from streams.edges.client import clients
from streams.edges.client.console_output import console
from streams.edges.client.errors import CHECK, OK, USAGE, CommandFailed, nearest
from streams.edges.client.standard_output import print_json
from streams.edges.operations.lag import GroupLag, by_group, group_lag, shown, stages_there
from streams.kafka.lag_status import LagStatus, LagWindow

if TYPE_CHECKING:
    from rich.table import Table

EVERY_S, SECONDS = 1.0, 3.0
STYLES = {LagStatus.OK: "green", LagStatus.WARN: "yellow"}


def lag(
    groups: Annotated[list[str] | None, typer.Argument(metavar="[GROUP]...", help="Default: all.")] = None,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.0, help="How long to look; 20 and more tell what stalls.")
    ] = SECONDS,
    watch: Annotated[bool, typer.Option("--watch", help="Go on, as a table that changes, until Ctrl-C.")] = False,
    partitions: Annotated[bool, typer.Option("--partitions", help="Each partition, too.")] = False,
    broker: Broker = None,
    as_json: Json = False,
) -> None:
    """Whether each consumer group keeps up with the log, and why not: OK, WARN, or ERROR for STOP, STALL, REWIND.

    Exits with 5 where a group is ERROR.
    """
    bootstrap = clients.bootstrap_of(broker)
    told = Shown(as_json=as_json, partitions=partitions)
    found = clients.run(_looked(bootstrap, groups or (), None if watch else seconds, told))
    raise typer.Exit(CHECK if any(each.judged.status is LagStatus.ERROR for each in found) else OK)


async def _looked(bootstrap: str, names: Sequence[str], seconds: float | None, told: "Shown") -> list[GroupLag]:
    async with AsyncExitStack() as stack:
        admin = await stack.enter_async_context(clients.administering(bootstrap))
        reader = await stack.enter_async_context(clients.reading(bootstrap, ()))
        there = by_group(await stages_there(admin))
        if unknown := next((name for name in names if name not in there), None):
            raise CommandFailed(f"there is no group {unknown}{nearest(unknown, there)}", USAGE)
        asked = {name: (there[name], LagWindow()) for name in names or there}
        counts = await clients.partition_counts(bootstrap)
        until = None if seconds is None else time.monotonic() + seconds
        with told:
            while True:
                found = [await group_lag(admin, reader, counts, *each) for each in asked.values()]
                last = until is not None and time.monotonic() >= until
                told.show(found, last=last)
                if last:
                    return found
                await asyncio.sleep(EVERY_S if until is None else min(EVERY_S, max(until - time.monotonic(), 0)))


class Shown:
    """The output: JSON lines, plain lines at the end, or a table that changes."""

    def __init__(self, *, as_json: bool, partitions: bool) -> None:
        self._as_json = as_json
        self._partitions = partitions
        self._live: object = None

    def __enter__(self) -> "Shown":
        return self

    def __exit__(self, *_: object) -> None:
        stop = getattr(self._live, "stop", None)
        if stop is not None:
            stop()

    def show(self, found: Sequence[GroupLag], *, last: bool) -> None:
        """Show what was found; before the end only where somebody watches."""
        if self._as_json:
            if last:
                for group in found:
                    print_json(shown(group))
        elif last:
            for group in found:
                for line in self._lines(group):
                    print(line)
        elif console().is_terminal:
            self._draw(found)

    def _lines(self, group: GroupLag) -> list[str]:
        judged = group.judged
        lines = [f"{judged.status:<6} {group.name:<16} {judged.lag:>9,}  {group.membership}  {judged.why}"]
        if self._partitions:
            lines += [f"  {each.status:<6} {name}  {each.why}" for name, each in group.partitions.items()]
        return lines

    def _draw(self, found: Sequence[GroupLag]) -> None:
        from rich.live import Live

        if self._live is None:
            self._live = Live(console=console(), auto_refresh=False)
            self._live.start()
        assert isinstance(self._live, Live)
        self._live.update(_table(found), refresh=True)


def _table(found: Sequence[GroupLag]) -> "Table":
    from rich.table import Table

    table = Table("status", "group", "to read", "members", "why")
    for group in found:
        judged = group.judged
        style = STYLES.get(judged.status, "red")
        table.add_row(f"[{style}]{judged.status}[/]", group.name, f"{judged.lag:,}", str(group.members), judged.why)
    return table
