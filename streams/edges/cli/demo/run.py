"""`fathom demo`: a shipped conversation through all stages, on one screen or with every decision and pack."""

import asyncio
import sys
import tempfile
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from streams.edges.cli.arguments import Broker, Json
from streams.edges.cli.progress import StatusLine
from streams.edges.client.errors import DOWN, CommandFailed, interrupted_later

T = TypeVar("T")
ENGLISH, PORTUGUESE = "en", "pt"


def _language(context: typer.Context, value: str | None) -> str:
    """What `--lang` says, else that of the locale: Portuguese where it is pt…, English for any other."""
    source = context.get_parameter_source("lang")
    if source is None or source.name != "COMMANDLINE":
        return PORTUGUESE if (value or "").lower().startswith(PORTUGUESE) else ENGLISH
    if value not in (ENGLISH, PORTUGUESE):
        raise typer.BadParameter(f"{value!r} is not a language of the demo; give pt or en")
    return value


def demo(
    broker: Broker = None,
    everything: Annotated[
        bool, typer.Option("--all", help="The long one, in both languages: every depth, decision, pack, deep answers.")
    ] = False,
    lang: Annotated[
        str,
        typer.Option(
            "--lang",
            metavar="pt|en",
            help="Language of the short one. Default: the locale's.",
            envvar=["LC_ALL", "LC_MESSAGES", "LANG"],
            show_envvar=False,
            callback=_language,
        ),
    ] = "",
    pause: Annotated[
        float, typer.Option("--pause", min=0, help="Seconds after each step, to read along; q ends it.")
    ] = 0.0,
    as_json: Json = False,
) -> None:
    """Play a conversation through everything, and show what goes into the prompts and what that saves."""
    with StatusLine() as status:
        status.say("loading Fathom" if lang == ENGLISH else "carregando o Fathom")
        # Imported behind the first line: it takes half a second.
        with interrupted_later():
            from streams.edges.cli.demo import keys, stories
            from streams.edges.client import clients

        demo = stories.LongDemo() if everything else stories.ShortDemo(lang)

        async def story(bootstrap: str) -> None:
            played = demo.play(bootstrap, status, fresh=broker is not None, pause=pause, as_json=as_json)
            await keys.until_q(asyncio.create_task(played))

        if broker is None:

            def starting(directory: str) -> None:
                status.say(demo.starting(directory))

            on_own_system("demo", "the demo", story, starting=starting, tool_policy=demo.tools, settings=demo.settings)
        else:
            clients.run(story(clients.bootstrap_of(broker)))


def on_own_system(
    name: str,
    what: str,
    story: Callable[[str], Coroutine[object, object, T]],
    *,
    starting: Callable[[str], None] = lambda directory: note(f"starting broker, stores and all stages in {directory}"),
    tool_policy: Path | None = None,
    settings: Mapping[str, Any] | None = None,
) -> T:
    """Start broker, stores and all stages in a temporary directory and run a coroutine on that broker.

    `starting` is called with the directory first; `settings` are over those of the environment.

    Raises `CommandFailed` where they fail before it is done.
    """
    with tempfile.TemporaryDirectory(prefix=f"fathom-{name}-") as directory:
        starting(directory)
        # Imported behind the first line: it takes a second.
        with interrupted_later():
            import uvloop

            from streams import config
            from streams.runtime import data_dir
            from streams.runtime import up as life
            from streams.telemetry import metrics
            from streams.topology import STAGES

        urls: dict[str, Any] = dict(data_dir.inside(Path(directory)))
        loaded = config.load(**urls, http_port=0, log_level="error", tool_policy=tool_policy, **(settings or {}))

        async def told() -> T:
            async with life.consuming(loaded, STAGES) as running:
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
