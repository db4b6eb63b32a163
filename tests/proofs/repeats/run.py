"""50,000 events repeated, out of order, with deaths, on both engines; 1 if unequal."""

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from streams.stores.graph.neo4j_engine import Neo4jServer
from tests import counters
from tests.proofs.repeats.deliveries import Contents, difference
from tests.proofs.repeats.events import History
from tests.proofs.repeats.killing import killed
from tests.proofs.repeats.stores import Place, once
from tests.servers.install import lacking
from tests.servers.neo4j import Neo4jServer as Server

DEATHS = 5


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.proofs.repeats.run", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--events", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--deaths", type=int, default=DEATHS, help="of the writer's process")
    given = parser.parse_args()
    events = list(History(given.seed).events(given.events, max(given.events // 40, 20)))
    wanted = asyncio.run(once(events))
    _say(f"seed {given.seed}: {len(events)} events make {len(wanted[0])} nodes and {len(wanted[1])} links")
    wrong = False
    with tempfile.TemporaryDirectory(prefix="fathom-repeats-") as folder:
        directory = Path(folder)
        wrong |= _on("embedded graph", directory / "graph", events, directory, wanted, given)
        if (why := lacking("neo4j")) is not None:
            _say(f"Neo4j did not run: {why}")
            return 1
        with Server(directory / "neo4j") as server:
            place = Neo4jServer(server.url, server.user, server.password)
            (directory / "done").unlink()
            wrong |= _on("Neo4j", place, events, directory, wanted, given)
    return int(wrong)


def _on(
    name: str, place: Place, events: list[object], directory: Path, wanted: Contents, given: argparse.Namespace
) -> bool:
    began = time.monotonic()
    found, deaths = killed(place, events, directory, seed=given.seed, deaths=given.deaths)
    unequal = difference(wanted, found)
    record(name, len(events), deaths, bool(unequal), given.seed)
    _say(
        f"{name}: {deaths} deaths, {time.monotonic() - began:.0f} s: {unequal or 'equal to each event once, in order'}"
    )
    return bool(unequal) or deaths < given.deaths


def record(name: str, events: int, deaths: int, unequal: bool, seed: int) -> None:
    """Hand on what was counted."""
    counters.record("B14", name, {"events": events, "deaths": deaths}, {"another graph": int(unequal)}, seeds=[seed])


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
