"""`fathom ask`: one question, its context pack."""

from typing import Annotated

import typer

from schemas.packs import ContextPack
from streams.edges.cli.arguments import (
    Broker,
    Client,
    ConversationId,
    Have,
    Json,
    LookUpIn,
    MaxDepth,
    MaxTokens,
    MinDepth,
    Template,
    Tenant,
    User,
)
from streams.edges.client import clients, records
from streams.edges.client.ask import PACK, answer_to
from streams.edges.client.console_output import console
from streams.edges.client.console_pack import line, options_text, pack_lines, signal_lines
from streams.edges.client.errors import USAGE, CommandFailed
from streams.edges.client.records import Identity
from streams.edges.client.send import text_of


def ask(
    text: Annotated[str, typer.Argument(help="The question; - reads it from stdin.")],
    broker: Broker = None,
    tenant: Tenant = None,
    client: Client = "default",
    conversation: ConversationId = "default",
    user: User = None,
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds to wait for the pack.")] = 10.0,
    min_depth: MinDepth = None,
    max_depth: MaxDepth = None,
    look_up: LookUpIn = None,
    max_tokens: MaxTokens = None,
    have: Have = None,
    template: Template = None,
    as_text: Annotated[
        bool, typer.Option("--text", help="Only the text for the prompt, as it is: Markdown with its sources.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Send a question, wait for its context pack, show it."""
    if as_text and as_json:
        raise CommandFailed("--text and --json are two answers; name one of them", USAGE)
    bootstrap = clients.bootstrap_of(broker, writes=True)
    question = records.turn(
        text_of(text),
        Identity(tenant, user),
        client=client,
        conversation=conversation,
        min_depth=min_depth,
        max_depth=max_depth,
        look_up=look_up,
        max_tokens=max_tokens,
        have=have or None,
        template=template,
    )
    raw = clients.run(answer_to(question, PACK, bootstrap, timeout))
    if as_json:
        print(raw.decode())
        return
    _show(ContextPack.model_validate_json(raw, extra="ignore"), as_text=as_text)


def _show(pack: ContextPack, *, as_text: bool) -> None:
    if as_text:
        if pack.text is None:
            raise CommandFailed("this pack has no text: the worker that made it is older than this command; upgrade it")
        print(pack.text)
        return
    out = console()
    out.print(line(0, pack.query), style="bold")
    out.print(line(1, f"depth {pack.depth_level.value}, confidence {pack.confidence:.2f}"))
    if pack.options is not None:
        out.print(line(1, options_text(pack.options)))
    for renderable in (*signal_lines(pack.signals), *pack_lines(pack)):
        out.print(renderable)
