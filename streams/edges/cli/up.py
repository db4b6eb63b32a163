"""`fathom up` and `fathom worker`: from settings to a running process, and from its end to an exit code."""

import logging
import os
import signal
import sys
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

import typer
import uvloop
from typing_extensions import TypedDict

from agents.core.caching.budget import set_budget
from streams import config
from streams.config import Settings
from streams.edges.cli.arguments import Json
from streams.edges.cli.progress import note
from streams.edges.client.errors import CONFIG, INTERRUPTED, OK, USAGE, CommandFailed, nearest, told
from streams.edges.client.shell import fathom_command, from_here
from streams.edges.client.standard_output import print_json
from streams.edges.console.address import console_url
from streams.runtime import data_dir

if TYPE_CHECKING:
    from streams.edges.http.tokens import Tokens
    from streams.runtime.health_server import ServedApi
    from streams.runtime.store_watch import StoreFilling
    from streams.runtime.stores import Stores
    from streams.runtime.up import Running
    from streams.stage import Stage


# Where programs look for the HTTP interface of `fathom up`.
HTTP_PORT = 8088
LOGGER = logging.getLogger("fathom.up")
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="Port of the embedded broker; 0 picks a free one.")]


class ProcessReady(TypedDict):
    """The line that says that everything consumes, and where it answers; `up` has a console."""

    event: Literal["ready"]
    bootstrap: str
    http: str
    console: NotRequired[str]


def up(
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="Where broker and stores keep their files. [.fathom]")
    ] = None,
    port: Port = 9092,
    http_port: Annotated[
        int | None,
        typer.Option("--http-port", min=0, max=65535, help="Port of HTTP, console, health; 0 picks a free one. [8088]"),
    ] = None,
    _: Json = False,
) -> None:
    """All stages with a broker and stores of their own, in one directory; no server needed.

    Prints one JSON line when everything consumes. Ctrl-C ends it in order; twice, at once.
    """
    settings = settings_in(data)
    if http_port is not None or "http_port" not in settings.model_fields_set:
        settings = settings.model_copy(update={"http_port": HTTP_PORT if http_port is None else http_port})
    if data_dir.home_of(settings.broker) is None:
        raise CommandFailed(
            f"`fathom up` brings its own broker, and FATHOM_BROKER is {settings.broker}: "
            "run `fathom worker` for that one, or say --data DIR",
            CONFIG,
        )
    raise typer.Exit(_live(settings, (), port, with_api=True))


def worker(
    groups: Annotated[list[str] | None, typer.Argument(metavar="[GROUP]...", help="Groups or stages; all.")] = None,
    port: Port = 9092,
    _: Json = False,
) -> None:
    """Some stages, or all, on the broker of FATHOM_BROKER; start as many as there are partitions."""
    raise typer.Exit(_live(settings_in(None), groups or (), port))


def settings_of(broker: str | None) -> Settings:
    """The settings of the environment, with the given broker."""
    directory = None if broker is None else data_dir.home_of(broker)
    settings = settings_in(directory)
    return settings if broker is None or directory else settings.model_copy(update={"broker": broker})


def settings_in(data: Path | None) -> Settings:
    """The settings of the environment, with defaults for broker and stores in one directory."""
    settings = config.load()
    own_broker = data is not None or data_dir.home_of(settings.broker) is not None
    urls = data_dir.inside(data or data_dir.home_of(settings.broker) or data_dir.DEFAULT)
    given = settings.model_fields_set - {"broker"}
    wanted: dict[str, Any] = {name: url for name, url in urls.items() if name not in given}
    if not own_broker:
        del wanted["broker"]
    return config.load(**wanted)


def _live(settings: Settings, groups: Sequence[str], port: int, *, with_api: bool = False) -> int:
    # Here: other commands find their settings in this module.
    from streams.runtime import preflight
    from streams.runtime import up as life
    from streams.telemetry import metrics

    # Nothing is begun while the modules of the stages load, and an import may swallow an exception.
    signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    preflight.check(settings)
    metrics.set_up_logging(settings.log_level, settings.log_format)
    set_budget(settings.cache_mb)
    stages = _stages(groups, settings.layout)
    api = partial(_api, settings) if with_api else None
    ready = partial(_say_ready, settings, with_api)
    why = uvloop.run(life.run(settings, stages, port=port, ready=ready, api=api, refill=_refill))
    return OK if why is None else told(why)


def _api(settings: Settings) -> "ServedApi":
    """The HTTP interface, for the tokens of the settings and the one in the data directory."""
    from streams.edges.http.app.serving import ApiFront
    from streams.edges.http.tokens import of_home

    home = data_dir.home_of(settings.broker)
    assert home is not None  # `up` brings its own broker
    tokens = of_home(home, settings.ask_tokens_file)
    warn_of_open_broker(tokens)
    return ApiFront(settings, tokens, settings.http_host)


def warn_of_open_broker(tokens: "Tokens") -> None:
    """Warn where tokens keep tenants apart over HTTP: nothing does at the port of the embedded broker."""
    from streams.telemetry import metrics

    if len(tokens.tenants) > 1:
        metrics.log(
            LOGGER, logging.WARNING, "broker.open", tenants=len(tokens.tenants),
            why="the Kafka port of the embedded broker has no authentication: every program on this machine reads and "
            "writes what belongs to any tenant, whatever the tokens say",
            next="for tenants who do not trust each other run worker and serve on Apache Kafka, see SECURITY.md",
        )  # fmt: skip


async def _refill(
    settings: Settings, stores: "Stores", missing: Collection[str], bootstrap: str
) -> "StoreFilling | None":
    from streams.replay.refill import refilling

    return await refilling(settings, stores, missing, bootstrap)


def _stages(groups: Sequence[str], layout: str) -> "Sequence[Stage]":
    from streams.topology import LAYOUTS, NAMED, groups_of, stages_of

    try:
        return stages_of(groups, layout)
    except KeyError as error:
        there = LAYOUTS[layout]
        known = list(dict.fromkeys([*groups_of(there), *(stage.name for stage in there if not stage.head)]))
        wrong = str(error.args[0])
        if wrong in NAMED or wrong == "retrieval":
            raise CommandFailed(
                f"{wrong!r} has no consumers of its own in the {layout} layout, it runs in 'depth'; "
                "FATHOM_LAYOUT=split gives it some, see `fathom layout --help`",
                USAGE,
            ) from None
        raise CommandFailed(
            f"there is no group or stage {wrong!r}{nearest(wrong, known)}; there are: {', '.join(known)}", USAGE
        ) from None


def _say_ready(settings: Settings, with_api: bool, running: "Running") -> None:
    line = ProcessReady(event="ready", bootstrap=running.bootstrap, http=running.http)
    print_json(line | {"console": console_url(running.http)} if with_api else line)
    sys.stdout.flush()
    if sys.stderr.isatty():
        note(f"{next_step(settings)}   (Ctrl-C ends it)")
        if with_api:
            note(f"see what it does: {console_of(settings, running.http)}")


def console_of(settings: Settings, http: str) -> str:
    """The address that opens the console of a `fathom up`, with the token of its data directory; for a terminal."""
    from streams.edges.http.tokens import TOKEN_FILE

    home = data_dir.home_of(settings.broker)
    file = None if home is None else home / TOKEN_FILE
    return console_url(http, file.read_text().strip() if file is not None and file.exists() else None)


def next_step(settings: Settings) -> str:
    """What to type next, with the data directory where it is not the default."""
    home = data_dir.home_of(settings.broker)
    where = "" if home in (None, data_dir.DEFAULT) else f" --broker embedded://{from_here(home)}"
    command = fathom_command()
    return f'fathom is up; in another terminal: {command} ingest FOLDER{where}, then {command} ask "…"{where}'
