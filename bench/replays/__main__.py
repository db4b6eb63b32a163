"""Replays beside live work, and by themselves: packs' p95 while one runs, and the rates of all three modes.

    make bench-replays            last line: JSON with all figures

A `fathom up` of its own answers `--messages` (2,000) messages; then, once all that learns has caught up,
- live: packs asked for one after the other, before, beside and after a reprocessing without a limit: `--seconds` (20)
  each before and after, after as long that is not counted
- reprocess: messages a second of its wall-clock time, beside those packs and by itself, and against the rate at which
  `up` answered them
- exact: packs a second of CPU of the command, start and reading included
- rebuild: turns a second into emptied stores, and what a million would take at that rate; it falls as stores grow, so
  run it with as many messages as one can wait for
"""

import argparse
import asyncio
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

from bench.measure import finish, percentile, say
from bench.pipeline import caught_up
from bench.running import Running, started
from schemas.topics import CONTEXT_PACKS
from streams.replay.log import opened

TALK = (
    ("user", "What is the deadline of the Aurora project?"),
    ("assistant", "The deadline of the Aurora project is 15 May."),
    ("user", "No, the deadline of the Aurora project moved to 20 May."),
    ("user", "Explain how a travel refund works and who approves it"),
    ("user", "Good morning!"),
    ("user", "Compare the refund of a trip with that of a hotel"),
)
STORES = ("graph", "index", "valkey")
PATIENCE_S = 3600.0
MILLION = 1_000_000


def fathom(broker: str, *arguments: str) -> dict[str, Any]:
    """What a command says as JSON; raises `RuntimeError` with what it said instead."""
    done = subprocess.run(
        [sys.executable, "-m", "streams", *arguments, "--broker", broker, "--json"], capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
    said: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return said


def fill(broker: str, bootstrap: str, folder: Path, count: int) -> float:
    """Send the talk over and over, and wait for all packs; the seconds."""
    file = folder / "talk.jsonl"
    turns = [(number, *TALK[number % len(TALK)]) for number in range(count)]
    file.write_text("".join(f"{json.dumps(_message(*turn))}\n" for turn in turns))
    began = time.monotonic()
    fathom(broker, "send", "--file", str(file))
    questions = sum(role == "user" for _, role, _ in turns)
    while (there := _packs(bootstrap)) < questions:
        if time.monotonic() > began + PATIENCE_S:
            raise RuntimeError(f"{there} of {questions} packs came")
        time.sleep(0.5)
    return time.monotonic() - began


def _message(number: int, role: str, text: str) -> dict[str, str]:
    talk = f"c{number // len(TALK)}"
    return {"message_id": f"m{number}", "role": role, "content": text, "conversation_id": talk, "client_id": "bench"}


def _packs(bootstrap: str) -> int:
    async def counted() -> int:
        async with opened(bootstrap) as log:
            return sum(map(len, await log.spans(CONTEXT_PACKS.name)))

    return asyncio.run(counted())


def asked(http: str, token: str, going: Callable[[], bool]) -> list[float]:
    """The milliseconds of packs that are asked for one after the other in new conversations, while `going`."""
    took: list[float] = []
    talk = f"live-{time.monotonic_ns()}"
    headers = {"authorization": f"Bearer {token}"}
    with httpx.Client(base_url=f"http://{http}", headers=headers, timeout=60) as client:
        while going():
            text = TALK[3][1] if len(took) % 2 else TALK[0][1]
            body = {
                "role": "user",
                "content": text,
                "conversation_id": f"{talk}-{len(took) // 6}",
                "client_id": "bench",
            }
            began = time.perf_counter()
            client.post("/messages?wait=pack", json=body).raise_for_status()
            took.append(1000 * (time.perf_counter() - began))
            time.sleep(0.05)
    return took


def beside(http: str, token: str, broker: str) -> tuple[list[float], float]:
    """The milliseconds of packs beside a reprocessing, and its messages a second."""
    ended = threading.Event()
    with ThreadPoolExecutor(1) as live:
        packs = live.submit(asked, http, token, lambda: not ended.is_set())
        try:
            rate = reprocessed_per_s(broker)
        finally:
            ended.set()
        return packs.result(), rate


def reprocessed_per_s(broker: str) -> float:
    """Messages a second of a reprocessing, start and comparison included."""
    began = time.monotonic()
    said = fathom(broker, "replay", "--mode", "reprocess", "--execute")
    return int(said["messages"]) / (time.monotonic() - began)


def cpu_of(call: Callable[[], dict[str, Any]]) -> tuple[dict[str, Any], float]:
    """What a command said, and the seconds of CPU that it used."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = call()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return said, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def side_by_side(up: Running, home: Path, broker: str, seconds: float) -> dict[str, float]:
    """The p95 of live packs without and with a reprocessing beside them, and its rates with and without them."""
    token = (home / "token").read_text().strip()

    def alone() -> list[float]:
        asyncio.run(caught_up(up))
        until = time.monotonic() + seconds
        return asked(up.http, token, lambda: time.monotonic() < until)

    alone()  # the first ones warm what the others use
    took = alone()
    along, with_packs = beside(up.http, token, broker)
    took += alone()
    asyncio.run(caught_up(up))
    by_itself = reprocessed_per_s(broker)
    without, with_it = percentile(took, 0.95), percentile(along, 0.95)
    say(f"packs      p95 {without:.0f} ms of {len(took)} alone, {with_it:.0f} ms of {len(along)} beside a reprocessing")
    say(f"reprocess  {with_packs:,.0f} messages/s beside live packs, {by_itself:,.0f} by itself")
    return {"alone_p95": without, "beside_p95": with_it, "with_packs": with_packs, "by_itself": by_itself}


def measured(messages: int, seconds: float) -> dict[str, Any]:
    """All figures, each said when it is known."""
    with tempfile.TemporaryDirectory(prefix="fathom-bench-") as folder:
        home = Path(folder) / "data"
        broker, environment = f"embedded://{home}", {**os.environ, "FATHOM_LOG_LEVEL": "warning"}
        with started(["up", "--data", str(home), "--port", "0", "--http-port", "0"], environment) as up:
            live = messages / fill(broker, up.bootstrap, Path(folder), messages)
            say(f"live       {live:,.0f} messages/s")
            found = side_by_side(up, home, broker, seconds)
            exact, cpu = cpu_of(lambda: fathom(broker, "replay", "--mode", "exact", "--execute"))
            say(f"exact      {exact['made'] / cpu:,.0f} packs/s of CPU, {exact['equal']:,} of {exact['made']:,} equal")
        for store in STORES:
            shutil.rmtree(home / store)
        rebuilt = fathom(broker, "replay", "--mode", "rebuild", "--execute")
        turns = rebuilt["topics"]["conversation.turns"]["selected"] / rebuilt["seconds"]
        say(f"rebuild    {turns:,.0f} turns/s; a million at this rate: {MILLION / turns / 60:,.0f} min")
    return {
        "messages": messages,
        "live_per_s": round(live),
        "live_p95_ms": {"alone": round(found["alone_p95"]), "beside": round(found["beside_p95"])},
        "live_p95_beside_over_alone": round(found["beside_p95"] / found["alone_p95"], 2),
        "reprocess_per_s": {name: round(found[name]) for name in ("with_packs", "by_itself")},
        "reprocess_over_live": {name: round(found[name] / live, 2) for name in ("with_packs", "by_itself")},
        "exact_packs_per_s_of_cpu": round(exact["made"] / cpu),
        "exact_equal": f"{exact['equal']} of {exact['made']}",
        "rebuild_turns_per_s": round(turns),
        "rebuild_of_a_million_min": round(MILLION / turns / 60),
    }


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.replays", description=__doc__)
    parser.add_argument("--messages", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args(given)
    finish("replays", "make bench-replays", measured(options.messages, options.seconds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
