"""`fathom send`: turns and documents to their topics, each acknowledged before it is counted."""

import asyncio
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import orjson
from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from streams.edges.client import clients, records
from streams.edges.client.errors import DOWN, FAILURE, USAGE, CommandFailed
from streams.edges.client.options import Send
from streams.edges.client.records import BadInput, Identity, OutgoingRecord

STDIN = "-"
IN_FLIGHT = 1_000
SAY_AFTER_S = 1.0
SAY_EVERY_TTY_S, SAY_EVERY_S = 0.2, 5.0


@dataclass(frozen=True, slots=True)
class SentRecord:
    """Where the broker has it."""

    topic: str
    partition: int
    offset: int
    message_id: str


def send(wanted: Send, broker: str | None, *, as_json: bool) -> None:
    """Send what the options say; raises `CommandFailed`."""
    bootstrap = clients.bootstrap_of(broker)
    clients.run(_send(wanted, bootstrap, as_json=as_json))


def text_of(text: str) -> str:
    """The text itself, or all of stdin for `-`."""
    said = sys.stdin.read().strip() if text == STDIN else text
    if not said.strip():
        raise CommandFailed("there is nothing to send: the text is empty", USAGE)
    return said


def send_one(prepared: OutgoingRecord, broker: str | None, *, as_json: bool) -> None:
    """Send a record that another verb made, and say where it is; raises `CommandFailed`."""

    async def story(bootstrap: str) -> None:
        async with clients.producing(bootstrap) as producer:
            (_line if as_json else _sentence)(await deliver(producer, prepared))

    clients.run(story(clients.bootstrap_of(broker)))


async def _send(wanted: Send, bootstrap: str, *, as_json: bool) -> None:
    say = _line if as_json else _sentence
    if wanted.text is not None:
        prepared = records.turn(wanted, text_of(wanted.text))
        async with clients.producing(bootstrap) as producer:
            say(await deliver(producer, prepared))
    elif wanted.file is not None:
        make = records.message
        await _send_lines(wanted.file, bootstrap, Identity(wanted.tenant, wanted.user), make, say if as_json else None)
    else:
        assert wanted.document is not None  # cli.py takes exactly one of the three
        await _send_document(wanted, wanted.document, bootstrap, as_json=as_json)


async def _send_document(wanted: Send, path: Path, bootstrap: str, *, as_json: bool) -> None:
    whose = Identity(wanted.tenant, wanted.user)
    if path.suffix == ".jsonl":
        await _send_lines(path, bootstrap, whose, records.document, _line if as_json else None)
        return
    raw = _read(path)
    try:
        if path.suffix != ".json":
            raw = records.document_of(path, raw.decode(), wanted.title, wanted.access_level)
        prepared = records.document(raw, whose)
    except UnicodeDecodeError:
        raise CommandFailed(f"{path} is not UTF-8 text; send text or Markdown, or a .json with all fields") from None
    except BadInput as error:
        raise CommandFailed(f"{path}: {error}; nothing was sent") from None
    async with clients.producing(bootstrap) as producer:
        (_line if as_json else _sentence)(await deliver(producer, prepared))


async def deliver(producer: AIOKafkaProducer, prepared: OutgoingRecord) -> SentRecord:
    """Send one record and wait for the broker's acknowledgement."""
    return await acknowledged(await hand_over(producer, prepared), prepared)


async def hand_over(producer: AIOKafkaProducer, prepared: OutgoingRecord) -> "asyncio.Future[Any]":
    """Hand a record to the producer; what it returns is done when the broker has it."""
    try:
        handed: asyncio.Future[Any] = await producer.send(
            prepared.topic, prepared.value, key=prepared.key, headers=prepared.headers
        )
    except KafkaError as error:
        raise _not_taken(error) from error
    return handed


async def acknowledged(handed: "asyncio.Future[Any]", prepared: OutgoingRecord) -> SentRecord:
    """Where the broker has it; raises `CommandFailed`."""
    try:
        place = await handed
    except KafkaError as error:
        raise _not_taken(error) from error
    return SentRecord(place.topic, place.partition, place.offset, prepared.name)


def _not_taken(error: KafkaError) -> CommandFailed:
    return CommandFailed(f"the broker did not take the record: {error or type(error).__name__}; send it again", DOWN)


async def _send_lines(
    path: Path,
    bootstrap: str,
    whose: Identity,
    make: Callable[[bytes, Identity], OutgoingRecord],
    say: Callable[[SentRecord], None] | None,
) -> None:
    """Every line, in order, up to the first that is not right; says how many the broker has by then."""
    with ExitStack() as stack:
        raw = stack.enter_context(_open(path))
        progress = SendProgress(None if str(path) == STDIN else path)
        bad: str | None = None
        waiting: deque[tuple[asyncio.Future[Any], OutgoingRecord]] = deque()
        try:
            async with clients.producing(bootstrap) as producer:
                for number, line in records.lines(raw):
                    try:
                        prepared = make(line, whose)
                    except BadInput as error:
                        bad = f"{path}:{number}: {error}"
                        break
                    waiting.append((await hand_over(producer, prepared), prepared))
                    progress.read(len(line) + 1)
                    if len(waiting) >= IN_FLIGHT:
                        await _take(waiting, progress, say, IN_FLIGHT // 2)
                await _take(waiting, progress, say, 0)
        except CommandFailed as error:
            raise CommandFailed(f"{error}; {progress.sent} records of {path} were sent", error.code) from error
        finally:
            progress.end()
    if bad is not None:
        raise CommandFailed(f"{bad}; {progress.sent} lines before it were sent: mend it and send from there", FAILURE)
    if say is None:
        sys.stdout.write(f"{progress.sent} records sent from {path} in {progress.seconds:.1f} s\n")


async def _take(
    waiting: deque[tuple["asyncio.Future[Any]", OutgoingRecord]],
    progress: "SendProgress",
    say: Callable[[SentRecord], None] | None,
    left: int,
) -> None:
    while len(waiting) > left:
        sent = await acknowledged(*waiting[0])
        waiting.popleft()
        progress.acknowledged()
        if say is not None:
            say(sent)


class SendProgress:
    """How far a file is, on stderr, once it takes longer than a second."""

    def __init__(self, path: Path | None) -> None:
        self.sent = 0
        self._bytes = 0
        self._size = path.stat().st_size if path is not None else 0
        self._began = time.monotonic()
        self._tty = sys.stderr.isatty()
        self._due = self._began + SAY_AFTER_S
        self._said = False

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def expect(self, size: int) -> None:
        """So many bytes will be read."""
        self._size = size

    def read(self, size: int) -> None:
        self._bytes += size

    def acknowledged(self) -> None:
        """One more record is with the broker."""
        self.sent += 1
        if time.monotonic() >= self._due:
            self._say()
            self._due = time.monotonic() + (SAY_EVERY_TTY_S if self._tty else SAY_EVERY_S)

    def end(self) -> None:
        if self._said and self._tty:
            sys.stderr.write("\n")

    def _say(self) -> None:
        rate = self.sent / self.seconds
        line = f"{self.sent:,} sent, {rate:,.0f} per second"
        if self._size and self._bytes:
            left = self.seconds * (self._size - self._bytes) / self._bytes
            line += f", {min(self._bytes / self._size, 1):.0%}, {max(left, 0):.0f} s left"
        self._said = True
        sys.stderr.write(f"\r{line:<70}" if self._tty else f"{line}\n")
        sys.stderr.flush()


def _open(path: Path) -> BinaryIO:
    if str(path) == STDIN:
        return sys.stdin.buffer
    try:
        return path.open("rb")
    except OSError as error:
        raise CommandFailed(f"{path} cannot be read: {error.strerror}; nothing was sent", USAGE) from None


def _read(path: Path) -> bytes:
    with _open(path) as opened:
        return opened.read()


def _line(sent: SentRecord) -> None:
    sys.stdout.write(orjson.dumps(sent).decode() + "\n")


def _sentence(sent: SentRecord) -> None:
    sys.stdout.write(f"{sent.message_id} is at {sent.topic}[{sent.partition}]@{sent.offset}\n")
