"""`fathom layout`: whether the pack path of a cluster is chained or split, and the switch to the other."""

from typing import Annotated

import typer
from typing_extensions import TypedDict

from streams.edges.cli.arguments import Broker, Json
from streams.edges.client import clients
from streams.edges.client.errors import CHECK, USAGE, CommandFailed
from streams.edges.client.standard_output import print_json
from streams.kafka.security import Security
from streams.runtime.layout import cluster


class LayoutFound(TypedDict):
    """The layout of the cluster, and whether this command switched to it."""

    layout: str
    switched: bool


def layout(
    to: Annotated[
        str | None, typer.Argument(metavar="[chained|split]", help="Switch to it; no worker may run.")
    ] = None,
    broker: Broker = None,
    as_json: Json = False,
) -> None:
    """Whether one task answers a message (chained), or each stage has consumers of its own (split); or switch.

    Messages wait in their topic while it switches. Exits with 5 where workers run, or split stages have not read
    everything: nothing is switched then.
    """
    if to not in (None, "chained", "split"):
        raise CommandFailed(f"{to}: a layout is chained or split", USAGE)
    bootstrap = clients.bootstrap_of(broker)
    security = clients.security_for(bootstrap)
    there = clients.run(cluster.layout_of(bootstrap, security))
    if to is not None and to != there:
        clients.run(_switch(bootstrap, security, to))
    found = to or there
    if as_json:
        print_json(LayoutFound(layout=found, switched=found != there))
    else:
        print(found)


async def _switch(bootstrap: str, security: Security, to: str) -> None:
    running = {group: count for group, count in (await cluster.members(bootstrap, security)).items() if count}
    if running:
        told = ", ".join(f"{group} has {count}" for group, count in sorted(running.items()))
        raise CommandFailed(f"workers of the pack path run: {told}; stop them all, then type it again", CHECK)
    if to == "split":
        return await cluster.enter_split(bootstrap, security)
    if left := await cluster.unread(bootstrap, security):
        told = ", ".join(f"{group} {count}" for group, count in sorted(left.items()))
        raise CommandFailed(
            f"the split stages have not read everything: {told}. Run `FATHOM_LAYOUT=split fathom worker planner "
            "retrieval assembler presenter` until `fathom lag` says 0 for them, then type it again",
            CHECK,
        )
    await cluster.leave_split(bootstrap, security)
