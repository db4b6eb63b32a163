"""A `fathom worker` that kills itself: `python -m tests.chaos.worker POINT HIT AFTER GROUP...`.

POINT is one of `points.of_hot` and `points.of_writers`, or `-` for none. At the HIT-th time that the process gets
there, counted from AFTER seconds after it consumes, it ends by SIGKILL. Everything else is as with `fathom worker`.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from schemas.envelope import SOURCE, header_map
from streams.edges.cli import main as cli
from streams.faust.consumer import DirectConsumer
from streams.kafka.producer import Producer
from streams.runtime import up
from streams.stores.graph.embedded.engine import EmbeddedEngine
from streams.stores.graph.neo4j_engine import Neo4jEngine
from streams.stores.graph.store import GraphStore
from streams.stores.passages.index_process import IndexProcess
from streams.stores.sessions.redis_working_sets import RedisWorkingSets
from streams.stores.sessions.tool_sessions import RedisToolSessions
from streams.stores.sessions.votes import RedisSignalWeights

WRITES = ("turns", "decisions", "claims", "corrections", "summaries", "knowledge", "consultations")


class Bomb:
    """Counts how often a point is reached, and goes off."""

    def __init__(self, point: str, hit: int, after: float) -> None:
        self._point, self._left, self._after = point, hit, after
        self._counts_from = float("inf")

    def light(self) -> None:
        """Count from so many seconds from now."""
        self._counts_from = time.monotonic() + self._after

    def reached(self, point: str) -> None:
        """End the process if this is the place and the time."""
        if point == self._point and time.monotonic() >= self._counts_from:
            self._left -= 1
            if self._left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)


def around(bomb: Bomb, owner: type, name: str, place: Callable[..., str]) -> None:
    """Have a method reach `place(...)/before` and `/after`."""
    original: Callable[..., Awaitable[Any]] = getattr(owner, name)

    async def guarded(*arguments: Any, **named: Any) -> Any:
        where = place(*arguments, **named)
        bomb.reached(f"{where}/before")
        answer = await original(*arguments, **named)
        bomb.reached(f"{where}/after")
        return answer

    setattr(owner, name, guarded)


def around_produce(bomb: Bomb) -> None:
    """A send is over when the broker has acknowledged it."""
    original = Producer.send

    async def guarded(self: Producer, topic: str, key: Any, value: Any, headers: Any, partition: Any = None) -> Any:
        stage = header_map(headers).get("ce_source", "").removeprefix(f"{SOURCE}:")
        bomb.reached(f"produce/{stage}/before")
        acknowledged = await original(self, topic, key, value, headers, partition)
        acknowledged.add_done_callback(lambda _: bomb.reached(f"produce/{stage}/after"))
        return acknowledged

    Producer.send = guarded  # type: ignore[method-assign]


def light_when_ready(bomb: Bomb) -> None:
    """The moment at which `fathom worker` says that it consumes."""

    class Lighting(up.Running):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            bomb.light()

    up.Running = Lighting  # type: ignore[misc, assignment]


def arm(bomb: Bomb) -> None:
    """Put the bomb at every point."""
    around_produce(bomb)
    around(bomb, RedisWorkingSets, "append", lambda *_, **__: "write/working-set")
    around(bomb, RedisToolSessions, "save", lambda *_, **__: "write/tool-session")
    around(bomb, RedisSignalWeights, "add", lambda *_, **__: "write/weights")
    for what in WRITES:
        around(bomb, GraphStore, f"write_{what}", lambda *_, what=what, **__: f"write/graph-{what}")
    for engine in (EmbeddedEngine, Neo4jEngine):
        around(bomb, engine, "write", lambda *_, **__: "write/graph")
    around(bomb, IndexProcess, "upsert", lambda *_, **__: "write/index")
    around(bomb, DirectConsumer, "_commit", lambda self, *_: f"commit/{self.app.conf.id.removeprefix('fathom.')}")
    light_when_ready(bomb)


def end_with_parent() -> None:
    """End at once when the driver is gone: it holds the other end of standard input."""

    def wait() -> None:
        os.read(sys.stdin.fileno(), 1)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def main(arguments: Sequence[str]) -> int:
    end_with_parent()
    point, hit, after, *groups = arguments
    if point != "-":
        arm(Bomb(point, int(hit), float(after)))
    return cli.run(["worker", *groups])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
