"""`fathom serve`: questions and assessments over HTTP."""

from typing import Annotated

import typer

from streams.edges.cli.arguments import Broker, Json

PORT = 8090


def serve(
    host: Annotated[str, typer.Option("--host", help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The port; 0 picks a free one.")] = PORT,
    broker: Broker = None,
    _: Json = False,
) -> None:
    """`POST /ask` and `POST /assess` over HTTP, for assistants that do not speak Kafka; needs tokens.

    Prints one JSON line when it listens. It is a client of the topics: start `fathom up`, or name a broker.
    """
    from streams import config
    from streams.edges.client import clients
    from streams.edges.http import app
    from streams.telemetry import metrics

    settings = config.load()
    metrics.set_up_logging(settings.log_level, settings.log_format)
    clients.run(app.serve(settings, broker, host, port))
