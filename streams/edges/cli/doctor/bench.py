"""`fathom bench`: how long packs take on this machine, of the Fathom that runs."""

from itertools import cycle, islice
from typing import Annotated

import typer
from typing_extensions import TypedDict

from streams.edges.canary.probes import timed
from streams.edges.cli.arguments import Broker, Json
from streams.edges.client import clients
from streams.edges.client.standard_output import print_json

# One of each depth up to D3, in turns.
TEXTS = (
    "Hello!",
    "What is the deadline of the report?",
    "Explain how the deadline of the report and that of the invoice differ.",
    "No, the deadline of the report is not Friday.",
)
WARM = 4


class PackTimes(TypedDict):
    """The timed packs, and the quantiles of their latencies."""

    packs: int
    p50_ms: float
    p95_ms: float


def bench(
    questions: Annotated[int, typer.Option("--questions", min=1, max=10_000, help="How many.")] = 40,
    broker: Broker = None,
    as_json: Json = False,
) -> None:
    """Time questions one by one to their packs, in a tenant of its own, and erase them again.

    A few more come first, untimed. How much a machine holds at once is measured by `make bench` in a checkout.
    """
    bootstrap = clients.bootstrap_of(broker, writes=True)
    took = clients.run(timed(bootstrap, [*islice(cycle(TEXTS), WARM + questions)]))[WARM:]
    p50, p95 = (round(1000 * sorted(took)[min(int(len(took) * share), len(took) - 1)], 1) for share in (0.5, 0.95))
    if as_json:
        print_json(PackTimes(packs=len(took), p50_ms=p50, p95_ms=p95))
    else:
        print(f"{len(took)} packs, one at a time: p50 {p50} ms, p95 {p95} ms")
