"""`fathom demo`: a shipped conversation through everything, and what was decided and delivered for each message."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvloop

from streams import config
from streams.edges.cli.demo.play import Player
from streams.edges.cli.demo.report import Totals
from streams.edges.cli.demo.script import Script, ToolStep, load
from streams.edges.cli.demo.show import Show
from streams.edges.client import clients
from streams.edges.client.errors import DOWN, CommandFailed
from streams.edges.client.options import Demo
from streams.runtime import data_dir
from streams.runtime import up as life
from streams.telemetry import metrics


def demo(wanted: Demo, broker: str | None, *, as_json: bool) -> None:
    """Play the conversation, on a broker of its own in a directory of its own where none is named."""
    show = Show(as_json=as_json)
    if broker is not None:
        bootstrap = clients.bootstrap_of(broker)
        clients.run(_play(wanted, bootstrap, load(fresh=True), show))
        return
    metrics.set_up_logging("error", "auto")
    uvloop.run(_play_here(wanted, load(fresh=False), show))


async def _play_here(wanted: Demo, script: Script, show: Show) -> None:
    with tempfile.TemporaryDirectory(prefix="fathom-demo-") as directory:
        show.note(f"starting broker, stores and all stages in {directory}")
        async with everything(Path(directory)) as running:
            playing = asyncio.create_task(_play(wanted, running.bootstrap, script, show))
            running.ended.add_done_callback(lambda _: playing.cancel())
            try:
                await playing
            except asyncio.CancelledError:
                if not running.ended.done():
                    raise
                raise CommandFailed(f"the demo stopped: {running.ended.result()}", DOWN) from None


@asynccontextmanager
async def everything(directory: Path) -> AsyncIterator[life.Running]:
    from streams.topology import STAGES

    urls: dict[str, Any] = dict(data_dir.inside(directory))
    settings = config.load(**urls, http_port=0, log_level="error")
    async with life.consuming(settings, STAGES) as running:
        yield running


async def _play(wanted: Demo, bootstrap: str, script: Script, show: Show) -> None:
    async with Player.on(bootstrap) as player:
        await player.teach(script.knowledge)
        show.note(f"{len(script.knowledge)} documents and profiles are searchable; {len(script.turns)} turns follow")
        totals = Totals(script)
        for step in script.steps:
            if isinstance(step, ToolStep):
                decided = await player.act(step)
                totals.decide(decided)
                show.act(decided)
            elif (played := await player.say(step)) is not None:
                totals.add(played)
                show.message(played)
            else:
                continue
            await asyncio.sleep(wanted.pause)
        show.summary(await player.sum_up(totals))
