"""Every way to fail of every store, and what it does to packs and memory; 1 if anything.

python -m tests.proofs.outages.run                              all 18 cases
python -m tests.proofs.outages.run --only redis:hung qdrant:slow
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from aiokafka import AIOKafkaProducer

from tests import counters
from tests.chaos.reading import Tail
from tests.proofs.outages.ending import lost
from tests.proofs.outages.scenario import MODES, Case, Outcome, table
from tests.proofs.outages.site import STORES, running
from tests.servers.install import lacking

MESSAGES = 6


async def outages(
    cases: Sequence[tuple[str, str]],
    directory: Path,
    *,
    messages: int = MESSAGES,
    said: Callable[[Outcome], None] = lambda _: None,
) -> tuple[list[Outcome], list[str]]:
    """The cases one after the other on one site, and what it lost in all of them."""
    outcomes = []
    async with running(directory) as site, Tail(site.bootstrap) as tail:
        producer = AIOKafkaProducer(bootstrap_servers=site.bootstrap, acks="all")
        await producer.start()
        try:
            case = Case(site, tail, producer, messages)
            for store, mode in cases:
                outcomes.append(await case.run(store, mode))
                said(outcomes[-1])
            await tail.caught_up()
            return outcomes, await lost(site, tail.entries)
        finally:
            await producer.stop()


def record(outcomes: Sequence[Outcome], left: Sequence[str]) -> None:
    """Hand on what was counted."""
    ran = {"cases": len(outcomes), "seconds": round(sum(each.took_s for each in outcomes))}
    faults = {"lost": len(left), "wrong": sum(len(each.wrong) for each in outcomes)}
    counters.record("B7", "Neo4j, Qdrant and Redis", ran, faults, {"late ms": max(each.late for each in outcomes)})


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.proofs.outages.run", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--only", nargs="*", metavar="STORE:MODE", help=f"of {STORES} and {MODES}")
    given = parser.parse_args()
    if missing := [why for name in STORES if (why := lacking(name)) is not None]:
        _say(f"the outages did not run: {'; '.join(missing)}")
        return 1
    cases = [(store, mode) for store in STORES for mode in MODES]
    if given.only:
        cases = [case for case in cases if ":".join(case) in given.only]
    directory = Path(tempfile.mkdtemp(prefix="fathom-outages-"))
    outcomes, left = asyncio.run(outages(cases, directory, said=lambda one: _say(table([one]))))
    record(outcomes, left)
    _say(table(outcomes))
    _say("\n".join(left) or "nothing was lost, skipped or dead-lettered; graph and index are those of the log")
    _say(f"logs: {directory}")
    return int(bool(left) or any(each.wrong for each in outcomes))


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
