"""`python -m tests.proofs.repeats.member PLAN DONE SEED`: stores what is not yet done; to be killed in mid-write.

PLAN is a pickle of the place and of numbered batches. DONE gets a line for each batch that is stored: its
acknowledgement. What has none is stored again by the next process.
"""

import asyncio
import pickle
import random
import sys
from pathlib import Path

from streams.stores.graph.neo4j_engine import Neo4jServer
from streams.stores.graph.store import GraphStore
from tests.proofs.repeats.deliveries import Breaking, deliver
from tests.proofs.repeats.stores import closed, opened


def acknowledged(done: Path) -> set[int]:
    """The numbers of the batches that are stored."""
    return {int(line) for line in done.read_text().split()} if done.exists() else set()


async def main(plan: Path, done: Path, seed: int) -> None:
    place, batches = pickle.loads(plan.read_bytes())
    known = acknowledged(done)
    left = [(number, batch) for number, batch in enumerate(batches) if number not in known]
    store = opened(place)
    breaking = Breaking(store.engine, random.Random(seed), whole=isinstance(place, Neo4jServer))
    with done.open("a", buffering=1) as acknowledgements:

        def stored(number: int) -> None:
            acknowledgements.write(f"{number}\n")

        await deliver(iter(left), GraphStore(breaking, admin=True), stored)
    await closed(store)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
