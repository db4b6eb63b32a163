"""Cold start of `fathom up`: from the command to the first pack, and what it holds in memory.

make bench-start
"""

import asyncio
import sys
import time

from bench.measure import finish, median, say
from bench.pipeline import Client
from bench.running import fathom_up, resident_mb

TURNS = 3


async def first_pack(bootstrap: str) -> float:
    client = Client(bootstrap)
    await client.start()
    began = time.perf_counter()
    asked = await client.say("first", "Qual a diferença entre o projeto X e o projeto Y?")
    await client.all_packed([asked], 20)
    took = time.perf_counter() - began
    await client.stop()
    return took if asked in client.packs else float("inf")


def main() -> int:
    ready, first, memory = [], [], {}
    for turn in range(TURNS):
        with fathom_up() as running:
            took = asyncio.run(first_pack(running.bootstrap))
            ready.append(running.ready_s)
            first.append(running.ready_s + took)
            memory = resident_mb(running.pid)
        say(f"turn {turn + 1}: ready {ready[-1]:.2f} s, first pack {first[-1]:.2f} s, {memory}")
    finish(
        "start",
        "make bench-start",
        {
            "ready_s": round(median(ready), 2),
            "first_pack_s": round(median(first), 2),
            "up_resident_mb": memory.get("up"),
            "resident_mb": memory,
            "turns": TURNS,
        },
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
