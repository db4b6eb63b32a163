"""Fathom beside what others use, in turns on this machine: a stage beside Faust and Quix Streams, a pack beside plain
retrieval with LangChain and LlamaIndex and beside mem0 without a model.

    make bench-peers ROUNDS=3             last line: JSON with one row per system and table

The others are installed from a pinned list, below `.cache/peers`. What does not run is named with its reason.
What is the same for all and what is not: notes.md, which stands beside the figures in docs/benchmarks.md.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from bench.measure import finish, say
from bench.peers import packs, streaming
from bench.peers.contestants import Unmeasured, install

T = TypeVar("T")
Reasons = dict[str, str]


def in_turns(rounds: int, systems: Iterable[str], once: Callable[[str], T]) -> tuple[dict[str, list[T]], Reasons]:
    """What each round of each system measured; a system that did not run is left out, with its reason."""
    found: dict[str, list[T]] = {name: [] for name in systems}
    failed: Reasons = {}
    for number in range(rounds):
        for name in list(found):
            try:
                found[name].append(once(name))
            except Unmeasured as reason:
                del found[name]
                failed[name] = " ".join(str(reason).split())
                say(f"{name} is not measured: {failed[name]}")
        say(f"round {number + 1} of {rounds}: {', '.join(found)}")
    return found, failed


def stages(rounds: int) -> tuple[dict[str, Any], Reasons]:
    found, failed = in_turns(rounds, streaming.SYSTEMS, streaming.once)
    rows = [streaming.row(streaming.SYSTEMS[name], turns) for name, turns in found.items()]
    return {"stages": rows, "records": streaming.RECORDS, "paced_per_s": streaming.RATE}, failed


def memories(rounds: int) -> tuple[dict[str, Any], Reasons]:
    asking = packs.everyday()
    found, failed = in_turns(rounds, packs.SYSTEMS, lambda name: packs.once(name, asking))
    ingest, ask, held = list[Any](), list[Any](), list[Any]()
    for name, plays in found.items():
        row, asks = packs.cost_rows(packs.SYSTEMS[name], plays)
        ingest.append(row)
        ask += asks
        held += packs.found_rows(packs.SYSTEMS[name], asking[1], plays[-1])
    taught = sum(len(each.documents) + len(each.said()) for each in asking[0])
    return {"ingest": ingest, "ask": ask, "found": held, "items": taught, "questions": len(asking[1])}, failed


def busy_s() -> float:
    """CPU seconds of the whole machine so far."""
    user, nice, system, _, _, irq, softirq = map(int, Path("/proc/stat").read_text().split()[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def own_s() -> float:
    """CPU seconds of this process and of those that it has ended."""
    return sum(os.times()[:4])


def main() -> int:
    parser = argparse.ArgumentParser(description="Fathom beside what others use, in turns.")
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    install()
    began = time.perf_counter(), busy_s(), own_s()
    (of_stages, lost), (of_packs, lost_too) = stages(rounds), memories(rounds)
    took, busy, own = (now - then for now, then in zip((time.perf_counter(), busy_s(), own_s()), began, strict=True))
    others = round((busy - own) / took / (os.cpu_count() or 1), 2)
    figures = {**of_stages, **of_packs, "rounds": rounds, "others_on_the_machine": others}
    finish("peers", "make bench-peers", figures | ({"not_measured": lost | lost_too} if lost | lost_too else {}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
