"""`fathom ask`: one question, its context pack, with `--deep` its answer, too."""

from typing import Annotated

import typer

from schemas.packs import ContextPack
from streams.edges.cli.answer_lines import reply_lines
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
from streams.edges.client import clients, deep_answers, records
from streams.edges.client.ask import PACK, answer_to
from streams.edges.client.console_output import console
from streams.edges.client.console_pack import line, options_text, pack_lines, signal_lines
from streams.edges.client.deep_answers import RawReply
from streams.edges.client.errors import USAGE, CommandFailed
from streams.edges.client.records import Identity
from streams.edges.client.send import text_of

PACK_S, DEEP_S = 10.0, 30.0
Timeout = Annotated[
    float | None, typer.Option("--timeout", min=0.1, help="Seconds to wait. Default: 10; with --deep 30.")
]
Deep = Annotated[
    bool, typer.Option("--deep", help="The answer to it, too, each sentence cited and checked; needs cognition.")
]
AsText = Annotated[
    bool,
    typer.Option("--text", help="Only the text for the prompt, Markdown with its sources; with --deep the answer."),
]


def ask(
    text: Annotated[str, typer.Argument(help="The question; - reads it from stdin.")],
    broker: Broker = None,
    tenant: Tenant = None,
    client: Client = "default",
    conversation: ConversationId = "default",
    user: User = None,
    timeout: Timeout = None,
    deep: Deep = False,
    min_depth: MinDepth = None,
    max_depth: MaxDepth = None,
    look_up: LookUpIn = None,
    max_tokens: MaxTokens = None,
    have: Have = None,
    template: Template = None,
    as_text: AsText = False,
    as_json: Json = False,
) -> None:
    """Send a question, wait for its context pack, show it; with --deep show the answer."""
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
        deep=deep or None,
    )
    if deep:
        seconds = DEEP_S if timeout is None else timeout
        _show_answer(clients.run(deep_answers.reply_to(question, bootstrap, seconds)), as_text=as_text, as_json=as_json)
        return
    raw = clients.run(answer_to(question, PACK, bootstrap, PACK_S if timeout is None else timeout))
    if as_json:
        print(raw.decode())
        return
    _show(ContextPack.model_validate_json(raw, extra="ignore"), as_text=as_text)


def _show_answer(reply: RawReply, *, as_text: bool, as_json: bool) -> None:
    if as_json:
        print(reply.dumped().decode())
    elif as_text:
        print(reply.answer.text)
    else:
        out = console()
        for renderable in reply_lines(reply):
            out.print(renderable)


def _show(pack: ContextPack, *, as_text: bool) -> None:
    if as_text:
        if pack.text is None:
            raise CommandFailed("this pack has no text: the worker that made it is older than this command; upgrade it")
        print(pack.text)
        return
    out = console()
    out.print(line(0, pack.query), style="bold")
    out.print(line(1, f"depth {pack.depth_level.value}, confidence {pack.confidence:.2f}, message {pack.message_id}"))
    if pack.options is not None:
        out.print(line(1, options_text(pack.options)))
    for renderable in (*signal_lines(pack.signals), *pack_lines(pack)):
        out.print(renderable)
