"""`fathom demo`: a shipped conversation through all stages, with the decisions and the pack of each message."""

import asyncio
import sys
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
import uvloop

from streams import config, policies
from streams.edges.cli.arguments import Broker, Json
from streams.edges.cli.demo.play import Player, StepOutcome
from streams.edges.cli.demo.script import load
from streams.edges.cli.demo.show import show_step, show_sum, summed
from streams.edges.client import clients
from streams.edges.client.errors import DOWN, CommandFailed
from streams.runtime import data_dir
from streams.runtime import up as life
from streams.telemetry import metrics
from streams.topology import STAGES

T = TypeVar("T")


def demo(
    broker: Broker = None,
    pause: Annotated[float, typer.Option("--pause", min=0, help="Seconds between messages, to read along.")] = 0.0,
    as_json: Json = False,
) -> None:
    """Play a conversation through everything, and show what was decided and delivered, and why."""

    async def story(bootstrap: str) -> None:
        script = load(fresh=broker is not None)
        async with Player.on(bootstrap) as player:
            await player.teach(script.knowledge)
            note(f"{len(script.knowledge)} documents and profiles are searchable; {len(script.turns)} turns follow")
            outcomes: list[StepOutcome] = []
            for step in script.steps:
                outcome = await player.play(step)
                if not step.by_assistant:
                    outcomes.append(outcome)
                    show_step(outcome, sum(each.step.is_turn for each in outcomes), as_json=as_json)
                    await asyncio.sleep(pause)
            show_sum(summed(script, outcomes, await player.recorded()), as_json=as_json)

    if broker is None:
        on_own_system("demo", "the demo", story)
    else:
        clients.run(story(clients.bootstrap_of(broker)))


def on_own_system(name: str, what: str, story: Callable[[str], Coroutine[object, object, T]]) -> T:
    """Start broker, stores and all stages in a temporary directory and run a coroutine on that broker.

    Raises `CommandFailed` where they fail before it is done.
    """

    async def told() -> T:
        with tempfile.TemporaryDirectory(prefix=f"fathom-{name}-") as directory:
            note(f"starting broker, stores and all stages in {directory}")
            urls: dict[str, Any] = dict(data_dir.inside(Path(directory)))
            settings = config.load(**urls, http_port=0, log_level="error", tool_policy=policies.CUSTOMS)
            async with life.consuming(settings, STAGES) as running:
                telling = asyncio.create_task(story(running.bootstrap))
                running.ended.add_done_callback(lambda _: telling.cancel())
                try:
                    return await telling
                except asyncio.CancelledError:
                    if not running.ended.done():
                        raise
                    raise CommandFailed(f"{what} stopped: {running.ended.result()}", DOWN) from None

    metrics.set_up_logging("error", "auto")
    return uvloop.run(told())


def note(text: str) -> None:
    """Print a note while the command waits."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
