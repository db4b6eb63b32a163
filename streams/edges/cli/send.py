"""`fathom send`: turns and documents to their topics, each acknowledged before it is counted."""

import sys
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

from schemas.base import Conversation
from schemas.items import AccessLevel
from schemas.topics import DOCUMENTS_IN, MESSAGES_IN, Topic
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
from streams.edges.cli.progress import SendProgress
from streams.edges.client import clients, log_lookup, records
from streams.edges.client.errors import FAILURE, USAGE, CommandFailed
from streams.edges.client.records import BadInput, Identity, OutgoingRecord
from streams.edges.client.send import STDIN, send_all, send_one, text_of
from streams.edges.client.standard_output import print_json

UNDER_WAY = 1_000
MessageFile = Annotated[
    Path | None, typer.Option("--file", metavar="F.jsonl", help="One message per line, of either shape; - is stdin.")
]
DocumentFile = Annotated[
    Path | None,
    typer.Option("--document", metavar="F", help="Text or Markdown to remember; .json(l) with all fields."),
]
FromLine = Annotated[int, typer.Option("--from-line", min=1, help="Of a file: the first line to send.")]
AccessLevelOf = Annotated[AccessLevel, typer.Option("--access-level", help="Of a document: who may see it.")]


def send(
    text: Annotated[str | None, typer.Argument(help="What is said; - reads it from stdin.")] = None,
    file: MessageFile = None,
    document: DocumentFile = None,
    from_line: FromLine = 1,
    broker: Broker = None,
    tenant: Tenant = None,
    client: Client = "default",
    conversation: ConversationId = "default",
    user: User = None,
    role: Annotated[str, typer.Option("--role", help="user, assistant or system.")] = "user",
    answers: Annotated[str | None, typer.Option("--answers", help="The message an assistant's turn answers.")] = None,
    message_id: Annotated[str | None, typer.Option("--message-id", help="Default: a new one.")] = None,
    title: Annotated[str | None, typer.Option("--title", help="Of a document. Default: its first heading.")] = None,
    access_level: AccessLevelOf = "public",
    min_depth: MinDepth = None,
    max_depth: MaxDepth = None,
    look_up: LookUpIn = None,
    max_tokens: MaxTokens = None,
    have: Have = None,
    template: Template = None,
    as_json: Json = False,
) -> None:
    """Send a turn, a file of turns, or a document."""
    if sum(given is not None for given in (text, file, document)) != 1:
        raise typer.BadParameter("give one of TEXT, --file or --document")
    bootstrap, whose = clients.bootstrap_of(broker, writes=True), Identity(tenant, user)
    if file is not None:
        clients.run(_send_lines(file, from_line, MESSAGES_IN, bootstrap, whose, as_json=as_json))
    elif document is not None and document.suffix == ".jsonl":
        clients.run(_send_lines(document, from_line, DOCUMENTS_IN, bootstrap, whose, as_json=as_json))
    elif document is not None:
        send_one(_document(document, title, access_level, whose), bootstrap, as_json=as_json)
    else:
        options: dict[str, Any] = {"min_depth": min_depth, "max_depth": max_depth, "look_up": look_up}
        options |= {"max_tokens": max_tokens, "have": have or None, "template": template}
        options |= {"client": client, "conversation": conversation, "role": role}
        said = records.turn(text_of(text or ""), whose, answers=answers, message_id=message_id, **options)
        names = _names(Conversation.model_construct(
            tenant=tenant or client, client_id=client, conversation_id=conversation), answers)  # fmt: skip
        send_one(said, bootstrap, as_json=as_json, names=names)


def _names(here: Conversation, answers: str | None) -> Callable[[str], Awaitable[None]] | None:
    return None if answers is None else partial(log_lookup.check_message, where=here, message_id=answers)


def _document(path: Path, title: str | None, access_level: str, whose: Identity) -> OutgoingRecord:
    with _open(path) as opened:
        raw = opened.read()
    try:
        if path.suffix != ".json":
            raw = records.document_of(path, raw.decode(), title, access_level=access_level)
        return records.record_of(DOCUMENTS_IN, raw, whose)
    except UnicodeDecodeError:
        raise CommandFailed(f"{path} is not UTF-8 text; send text or Markdown, or a .json with all fields") from None
    except BadInput as error:
        raise CommandFailed(f"{path}: {error}; nothing was sent") from None


async def _send_lines(path: Path, first: int, topic: Topic, bootstrap: str, whose: Identity, *, as_json: bool) -> None:
    """Send the lines from `first` on, in order, up to the first invalid one; an error says where to go on."""
    bad: str | None = None
    numbers: deque[int] = deque()
    with _open(path) as raw, SendProgress(_size(path)) as progress:

        async def outgoing() -> AsyncIterator[OutgoingRecord]:
            nonlocal bad
            for number, line in records.lines(raw):
                progress.position += len(line) + 1
                if number < first:
                    continue
                numbers.append(number)
                try:
                    yield records.record_of(topic, line, whose)
                except BadInput as error:
                    bad = f"{path}:{number}: {error}"
                    return

        try:
            async with clients.producing(bootstrap) as producer:
                async for _, sent in send_all(producer, outgoing(), UNDER_WAY):
                    progress.advance()
                    numbers.popleft()
                    if as_json:
                        print_json(sent)
        except CommandFailed as error:
            raise CommandFailed(f"{error}; {_go_on(progress.done, path, numbers)}", error.code) from error
    if bad is not None:
        raise CommandFailed(f"{bad}; {_go_on(progress.done, path, numbers)}", FAILURE)
    if not as_json:
        print(f"{progress.done} records sent from {path} in {progress.seconds:.1f} s")


def _go_on(done: int, path: Path, left: deque[int]) -> str:
    if not done:
        return "nothing was sent: correct the line and send the file again"
    return f"{done} lines of {path} were sent: go on with --from-line {left[0] if left else 1}"


def _size(path: Path) -> int:
    return 0 if str(path) == STDIN else path.stat().st_size


def _open(path: Path) -> BinaryIO:
    if str(path) == STDIN:
        return sys.stdin.buffer
    try:
        return path.open("rb")
    except OSError as error:
        raise CommandFailed(f"{path} cannot be read: {error.strerror}; nothing was sent", USAGE) from None
