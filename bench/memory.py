"""How a retrieval's time grows with memory: the asker's own items, and other tenants' beside a thousand of its own.

    make bench-memory
    python -m bench.memory --own 1000,10000 --others 1000,100000 --classes index --stores embedded

Classes are `index` (passages), `graph` (persona, summaries, claims, playbooks, concepts) and `turns` (working sets).
`server` stores are those that FATHOM_QDRANT_URL, FATHOM_NEO4J_URL and FATHOM_REDIS_URL name; they should hold nothing
else (`make servers`), and keep what is written. Passages are written with vectors that need no model, and asked for by
the model, in the process that a worker has for them.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.charts import growth
from bench.filling import Texts
from bench.measure import finish, percentile, say
from bench.memory_stores import GraphSubject, IndexSubject, Subject, TurnsSubject
from bench.running import cpu_s

OWN, OTHERS = (1_000, 10_000, 100_000), (1_000, 10_000, 100_000, 1_000_000)
# The graph is written more slowly than the index, and by three writers.
MAX_IN_GRAPH = 100_000
ASKED, WARM = 200, 20
BESIDE = 1_000
SETTINGS = {"index": "FATHOM_QDRANT_URL", "graph": "FATHOM_NEO4J_URL", "turns": "FATHOM_REDIS_URL"}
SUBJECTS: dict[str, Callable[[Path, str | None], Subject]] = {
    "index": IndexSubject,
    "graph": GraphSubject,
    "turns": TurnsSubject,
}

Row = dict[str, Any]
Call = Callable[[], Awaitable[Any]]


async def asked(call: Call, times: int, pid: int | None) -> dict[str, Any]:
    """p50, p95 in ms of one call after another, and what each costs the process that answers: noise spoils it less."""
    for _ in range(WARM):
        await call()
    took = []
    used = 0.0 if pid is None else cpu_s(pid)
    for _ in range(times):
        began = time.perf_counter()
        await call()
        took.append((time.perf_counter() - began) * 1_000)
    figures = {"p50_ms": round(percentile(took, 0.5), 2), "p95_ms": round(percentile(took, 0.95), 2)}
    return figures if pid is None else figures | {"cpu_ms": round((cpu_s(pid) - used) * 1_000 / times, 2)}


async def grown(subject: Subject, sizes: Sequence[int], *, whose: str, store: str, times: int) -> list[Row]:
    """One subject at each size: its own items, or others' beside a thousand."""
    texts, rows, reached = Texts(), [], 0
    if whose == "others":
        await subject.fill_own(texts, 0, BESIDE)
    for size in sizes:
        began = time.perf_counter()
        if whose == "others":
            await subject.fill_others(texts, reached, size)
        else:
            await subject.fill_own(texts, reached, size)
        filled = time.perf_counter() - began
        reached = size
        about = await subject.settle()
        for name, call in subject.calls(texts).items():
            row = {"class": name, "store": store, "own": BESIDE if whose == "others" else size}
            row |= {"others": size if whose == "others" else 0, **await asked(call, times, subject.pid)}
            rows.append(row)
            say(json.dumps(row))
        about |= {"store": store, "whose": whose, "size": size, "fill_s": round(filled, 1)}
        subject.noted.append(about)
        say(json.dumps(about))
    return rows


async def measure(options: argparse.Namespace) -> dict[str, Any]:
    rows: list[Row] = []
    noted: list[Row] = []
    written: dict[str, int] = {}
    for name in options.classes:
        for store, url in places(name, options.stores):
            for whose, sizes in (("own", options.own), ("others", options.others)):
                wanted = [size for size in sizes if name != "graph" or size <= options.most_in_graph]
                with tempfile.TemporaryDirectory(prefix="fathom-bench-", dir=options.directory) as folder:
                    subject = SUBJECTS[name](Path(folder), url)
                    await subject.open(whose)
                    try:
                        rows += await grown(subject, wanted, whose=whose, store=store, times=options.asked)
                    finally:
                        await subject.close()
                    noted += subject.noted
                    written |= {f"{writer}_per_s_{store}": rate for writer, rate in subject.rates().items()}
    return {"rows": rows, "growth": noted, "writers": written, **ratios(rows), "charts": charts(rows)}


def places(name: str, stores: Iterable[str]) -> list[tuple[str, str | None]]:
    """Where a class is kept: embedded, and on the server that the environment names."""
    url = os.environ.get(SETTINGS[name])
    served = url is not None and urlsplit(url).scheme not in ("embedded", "memory")
    found: list[tuple[str, str | None]] = [("embedded", None)] if "embedded" in stores else []
    return found + ([("server", url)] if served and "server" in stores else [])


def ratios(rows: Sequence[Row]) -> dict[str, float]:
    """How many times the p95 beside the fewest others it is beside the most, by class and store."""
    found: dict[str, float] = {}
    for kind in dict.fromkeys((row["class"], row["store"]) for row in rows):
        beside = [row for row in rows if (row["class"], row["store"]) == kind and row["others"]]
        if len(beside) > 1:
            found[f"{kind[0]}_{kind[1]}_p95_beside_others"] = round(beside[-1]["p95_ms"] / beside[0]["p95_ms"], 2)
    return found


def charts(rows: Sequence[Row]) -> list[str]:
    """A chart for each class and growth that was asked at three sizes or more."""
    lines: list[str] = []
    for name in dict.fromkeys(row["class"] for row in rows):
        for whose in ("own", "others"):
            of = [row for row in rows if row["class"] == name and bool(row["others"]) == (whose == "others")]
            sizes = sorted({row[whose] for row in of})
            stores = {
                store: [row["p95_ms"] for row in of if row["store"] == store]
                for store in dict.fromkeys(row["store"] for row in of)
            }
            whole = {store: values for store, values in stores.items() if len(values) == len(sizes)}
            if len(sizes) > 2 and whole:
                lines += growth(f"{name}: p95 over {whose} items", sizes, whole)
    return lines


def sizes_of(text: str) -> list[int]:
    return sorted(int(size) for size in text.split(",") if size)


def main() -> int:
    parser = argparse.ArgumentParser(description="How a retrieval's time grows with memory.")
    parser.add_argument("--own", type=sizes_of, default=list(OWN), help="sizes of the asker's memory")
    parser.add_argument("--others", type=sizes_of, default=list(OTHERS), help="sizes of other tenants' memory")
    parser.add_argument("--most-in-graph", type=int, default=MAX_IN_GRAPH)
    parser.add_argument("--classes", type=lambda text: text.split(","), default=list(SUBJECTS))
    parser.add_argument("--stores", type=lambda text: text.split(","), default=["embedded", "server"])
    parser.add_argument("--asked", type=int, default=ASKED, help="questions at each size")
    parser.add_argument("--directory", help="where embedded stores have room")
    parser.add_argument("--part", default="memory", help="the name of the figures on the page")
    options = parser.parse_args()
    figures = asyncio.run(measure(options))
    finish(options.part, " ".join(["python -m bench.memory", *sys.argv[1:]]), figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
