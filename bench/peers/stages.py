"""One stateless stage written for each: read a message, classify it by its length, write the plan.

    python -m bench.peers.stages WHICH BOOTSTRAP      runs until it is ended

Each as its documentation begins, with its defaults. Faust and Quix Streams handle JSON objects; Fathom's stage also
validates them, orders by key, and carries envelope and headers.
"""

import asyncio
import sys
from collections.abc import Callable
from typing import Any

SOURCE, SINK = "bench.messages", "bench.plans"
PARTITIONS = 4


def plan_of(message: dict[str, Any]) -> dict[str, Any]:
    """The plan of `bench.runtime`, as an object."""
    return {
        "event_id": "p:" + message["message_id"],
        "message_id": message["message_id"],
        "conversation_id": message["conversation_id"],
        "depth": "deep" if len(message["text"]) > 100 else "shallow",
        "score": 0.5,
        "classes": ["facts", "decisions", "claims"],
        "ts": message["ts"],
    }


def fathom(bootstrap: str) -> None:
    import gc

    import uvloop

    from bench.runtime import Planning, running_stage
    from streams.runtime.up import COLLECT

    async def forever() -> None:
        async with running_stage(bootstrap, "fathom", Planning(asyncio.Event())):
            await asyncio.Event().wait()

    gc.set_threshold(*COLLECT)  # as a worker does
    uvloop.run(forever())


def faust(bootstrap: str) -> None:
    import faust as stock

    app = stock.App("faust", broker=f"kafka://{bootstrap}", web_enabled=False, topic_disable_leader=True)
    source, sink = app.topic(SOURCE, value_serializer="json"), app.topic(SINK, value_serializer="json")

    @app.agent(source)
    async def planning(messages: Any) -> None:
        async for message in messages.events():
            await sink.send(key=message.key, value=plan_of(message.value))

    sys.argv = ["faust", "worker", "--loglevel", "warn"]
    app.main()


def quix(bootstrap: str) -> None:
    from quixstreams import Application

    app = Application(bootstrap, consumer_group="quix", auto_offset_reset="earliest", loglevel="WARNING")
    source, sink = app.topic(SOURCE, value_deserializer="json"), app.topic(SINK, value_serializer="json")
    app.dataframe(source).apply(plan_of).to_topic(sink)
    app.run()


STAGES: dict[str, Callable[[str], None]] = {"fathom": fathom, "faust": faust, "quix": quix}

if __name__ == "__main__":
    STAGES[sys.argv[1]](sys.argv[2])
