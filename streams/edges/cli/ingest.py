"""`fathom ingest`: files and folders to `documents.in`, each acknowledged before it counts; what was left out."""

import sys
import time
from collections import deque
from collections.abc import Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import orjson
from aiokafka import AIOKafkaProducer

from streams.documents.process import DocumentProcess
from streams.edges.cli import ingest_files
from streams.edges.cli.ingest_files import FoundFile, Skipped
from streams.edges.client import clients
from streams.edges.client import send as cli_send
from streams.edges.client.errors import FAILURE, OK, USAGE, CommandFailed
from streams.edges.client.options import Ingest
from streams.edges.client.records import OutgoingRecord
from streams.edges.client.send import SendProgress

IN_FLIGHT = 64


def ingest(wanted: Ingest, broker: str | None, *, as_json: bool) -> int:
    """Send what the paths lead to; the exit code. Raises `CommandFailed`."""
    found = list(ingest_files.find(wanted.paths))
    files = [each for each in found if isinstance(each, FoundFile)]
    if wanted.document_id is not None and len(files) != 1:
        raise CommandFailed(f"--id names one document, the paths lead to {len(files)}; leave it out", USAGE)
    bootstrap = None if wanted.dry_run else clients.bootstrap_of(broker)
    run = Run(wanted, as_json=as_json)
    for each in found:
        if isinstance(each, Skipped):
            run.skip(each, named=False)
    clients.run(run.send(files, bootstrap))
    return run.end()


class Run:
    """One call of the command: what was sent, what was left out."""

    def __init__(self, wanted: Ingest, *, as_json: bool) -> None:
        self._wanted = wanted
        self._as_json = as_json
        self._began = time.monotonic()
        self._progress = SendProgress(None)
        self._waiting: deque[tuple[Any, OutgoingRecord, Path, int]] = deque()
        self.documents = 0
        self.bytes = 0
        self.skipped = 0
        self.missed = False

    async def send(self, files: Iterable[FoundFile], bootstrap: str | None) -> None:
        """Read and send the files one after the other; without a broker only say what would be sent."""
        files = list(files)
        self._progress.expect(sum(each.size for each in files))
        reader = DocumentProcess()
        async with AsyncExitStack() as stack:
            stack.callback(reader.close)
            producer = None
            if bootstrap is not None:
                producer = await stack.enter_async_context(clients.producing(bootstrap))
            try:
                for found in files:
                    prepared = await ingest_files.prepare(found, self._wanted, reader)
                    if isinstance(prepared, Skipped):
                        self.skip(prepared, named=found.named)
                        continue
                    for each in prepared:
                        await self._hand_over(producer, each, found.path)
                    self._progress.read(found.size)
                await self._take(0)
            except CommandFailed as error:
                raise CommandFailed(f"{error}; {self.documents} documents were sent", error.code) from error
            finally:
                self._progress.end()

    async def _hand_over(self, producer: AIOKafkaProducer | None, prepared: OutgoingRecord, path: Path) -> None:
        if producer is None:
            self._sent(prepared, path, {})
            return
        self._waiting.append((await cli_send.hand_over(producer, prepared), prepared, path, len(prepared.value)))
        if len(self._waiting) >= IN_FLIGHT:
            await self._take(IN_FLIGHT // 2)

    async def _take(self, left: int) -> None:
        while len(self._waiting) > left:
            handed, prepared, path, _ = self._waiting.popleft()
            place = await cli_send.acknowledged(handed, prepared)
            self._sent(prepared, path, {"topic": place.topic, "partition": place.partition, "offset": place.offset})

    def _sent(self, prepared: OutgoingRecord, path: Path, place: dict[str, Any]) -> None:
        self.documents += 1
        self.bytes += len(prepared.value)
        self._progress.acknowledged()
        if self._as_json:
            _say({"path": path.as_posix(), "document_id": prepared.name, "bytes": len(prepared.value), **place})
        elif self._wanted.dry_run:
            sys.stdout.write(f"{path} would be {prepared.name}, {len(prepared.value):,} bytes\n")

    def skip(self, skipped: Skipped, *, named: bool) -> None:
        """Count what is left out, and say why."""
        self.skipped += 1
        self.missed |= named
        if self._as_json:
            _say({"path": skipped.path.as_posix(), "skipped": skipped.code, "why": skipped.why})
        else:
            sys.stderr.write(f"skipped {skipped.path}: {skipped.code}: {skipped.why}\n")

    def end(self) -> int:
        """Say the sum; 1 when a file that was named itself was left out, or nothing was there to send."""
        seconds = time.monotonic() - self._began
        if self._as_json:
            _say({"documents": self.documents, "bytes": self.bytes, "skipped": self.skipped,
                  "seconds": round(seconds, 3), "dry_run": self._wanted.dry_run})  # fmt: skip
        else:
            done = "would be sent" if self._wanted.dry_run else "sent"
            rate = self.documents / max(seconds, 0.001)
            sys.stdout.write(
                f"{self.documents} documents ({self.bytes:,} bytes) {done} in {seconds:.1f} s, {rate:,.0f} per second; "
                f"{self.skipped} skipped\n"
            )
        return FAILURE if self.missed or self.documents == 0 else OK


def _say(line: dict[str, Any]) -> None:
    sys.stdout.write(orjson.dumps(line).decode() + "\n")
