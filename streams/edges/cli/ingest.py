"""`fathom ingest`: files and folders to `documents.in`, counted when acknowledged; skipped files are listed.

Files are read and checked before sending, so that the sender gets errors at once.
"""

import glob
import sys
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Annotated

import orjson
import typer

from agents.errors import Rejected
from agents.ports.models import DocumentReader
from schemas.base import derive
from schemas.topics import DOCUMENTS_IN
from streams.documents.process import DocumentProcess
from streams.edges.cli.arguments import Broker, Client, Json, Tenant
from streams.edges.cli.progress import SendProgress
from streams.edges.client import clients, documents, records
from streams.edges.client.documents import SUFFIXES, Stated
from streams.edges.client.errors import FAILURE, OK, USAGE, CommandFailed
from streams.edges.client.records import BadInput, Identity, OutgoingRecord
from streams.edges.client.send import STDIN, SentRecord, send_all

UNDER_WAY = 64
WHOLE = (".json", ".jsonl")
LARGEST_FILE = 200_000_000


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to send; `named` when given by its own name, not by a folder or a pattern."""

    path: Path
    named: bool
    size: int = 0


@dataclass(frozen=True, slots=True)
class Skipped:
    path: Path
    code: str
    why: str


def ingest(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Files, folders, patterns; - is stdin.")],
    broker: Broker = None,
    tenant: Tenant = None,
    client: Client = "default",
    access_level: Annotated[
        str, typer.Option("--access", help="Who may see them: public, internal, restricted or confidential.")
    ] = "public",
    lang: Annotated[str | None, typer.Option("--lang", help="pt or en. Default: as each is written.")] = None,
    title: Annotated[
        str | None, typer.Option("--title", help="Default: the first heading, or the file's name.")
    ] = None,
    document_id: Annotated[
        str | None, typer.Option("--id", help="Of one document. Default: made of its path and tenant.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only say what would be sent.")] = False,
    as_json: Json = False,
) -> None:
    """Remember documents: text, Markdown, HTML, PDF, and .json(l) with all fields.

    Sent again, a document replaces its earlier version; what has not changed is not remembered twice.
    """
    found = list(find(paths))
    files = [each for each in found if isinstance(each, FoundFile)]
    if document_id is not None and len(files) != 1:
        raise CommandFailed(f"--id names one document, the paths lead to {len(files)}; leave it out", USAGE)
    bootstrap = None if dry_run else clients.bootstrap_of(broker)
    stated = {"document_id": document_id, "title": title, "access_level": access_level, "lang": lang}
    run = IngestRun(tenant or client, stated, as_json=as_json)
    for each in found:
        if isinstance(each, Skipped):
            run.skip(each, named=False)
    clients.run(run.run(files, bootstrap))
    raise typer.Exit(run.end(dry_run=dry_run))


class IngestRun:
    """One run of the command: files sent, files skipped."""

    def __init__(self, tenant: str, stated: Stated, *, as_json: bool) -> None:
        self._tenant = tenant
        self._stated = stated
        self._as_json = as_json
        self._paths: deque[Path] = deque()
        self._progress = SendProgress()
        self.bytes = 0
        self.skipped = 0
        self.missed = False

    async def run(self, files: Sequence[FoundFile], bootstrap: str | None) -> None:
        """Read and send the files one after the other; without a broker only print what would be sent."""
        self._progress.total = sum(each.size for each in files)
        reader = DocumentProcess()
        try:
            with self._progress:
                if bootstrap is None:
                    async for each in self._outgoing(files, reader):
                        self._sent(each, None)
                    return
                async with clients.producing(bootstrap) as producer:
                    try:
                        async for each, place in send_all(producer, self._outgoing(files, reader), UNDER_WAY):
                            self._sent(each, place)
                    except CommandFailed as error:
                        sent = f"{self._progress.done} documents were sent"
                        raise CommandFailed(f"{error}; {sent}", error.code) from error
        finally:
            reader.close()

    async def _outgoing(self, files: Iterable[FoundFile], reader: DocumentReader) -> AsyncIterator[OutgoingRecord]:
        for found in files:
            made = await prepare(found, self._tenant, self._stated, reader)
            if isinstance(made, Skipped):
                self.skip(made, named=found.named)
                continue
            for each in made:
                self._paths.append(found.path)
                yield each
            self._progress.position += found.size

    def _sent(self, prepared: OutgoingRecord, place: SentRecord | None) -> None:
        path = self._paths.popleft()
        self.bytes += len(prepared.value)
        self._progress.advance()
        if self._as_json:
            of_file = {"path": path.as_posix(), "document_id": prepared.name, "bytes": len(prepared.value)}
            where = ("topic", "partition", "offset") if place is not None else ()
            _say({**of_file, **{name: getattr(place, name) for name in where}})
        elif place is None:
            print(f"{path} would be {prepared.name}, {len(prepared.value):,} bytes")

    def skip(self, skipped: Skipped, *, named: bool) -> None:
        """Count a skipped file, and print the reason."""
        self.skipped += 1
        self.missed |= named
        if self._as_json:
            _say({"path": skipped.path.as_posix(), "skipped": skipped.code, "why": skipped.why})
        else:
            sys.stderr.write(f"skipped {skipped.path}: {skipped.code}: {skipped.why}\n")

    def end(self, *, dry_run: bool) -> int:
        """Print the totals; returns 1 when a named file was skipped, or there was nothing to send."""
        documents, seconds = self._progress.done, self._progress.seconds
        if self._as_json:
            _say({"documents": documents, "bytes": self.bytes, "skipped": self.skipped,
                  "seconds": round(seconds, 3), "dry_run": dry_run})  # fmt: skip
        else:
            print(
                f"{documents} documents ({self.bytes:,} bytes) {'would be sent' if dry_run else 'sent'} "
                f"in {seconds:.1f} s, {documents / max(seconds, 0.001):,.0f} per second; {self.skipped} skipped"
            )
        return FAILURE if self.missed or documents == 0 else OK


def _say(line: dict[str, object]) -> None:
    print(orjson.dumps(line).decode())


def find(paths: Sequence[str]) -> Iterator[FoundFile | Skipped]:
    """The selected files, each once, in order; raises `CommandFailed` for a path without files."""
    seen: set[Path] = set()
    for written in paths:
        for found in _meant(written):
            path = found.path.absolute()
            if path not in seen:
                seen.add(path)
                yield found


def _meant(written: str) -> Iterator[FoundFile | Skipped]:
    path = Path(written)
    if written == STDIN:
        yield FoundFile(path, named=True)
    elif path.is_dir():
        yield from _in_folder(path)
    elif path.exists():
        yield FoundFile(path, named=True, size=path.stat().st_size)
    elif any(mark in written for mark in "*?["):
        matches = [Path(each) for each in sorted(glob.glob(written, recursive=True))]
        if not matches:
            raise CommandFailed(f"no file is like {written}; put a pattern into quotes, ** goes into folders", USAGE)
        for match in matches:
            yield from _in_folder(match) if match.is_dir() else (_by_name(match),)
    else:
        raise CommandFailed(f"{written} does not exist; nothing was sent", USAGE)


def _in_folder(folder: Path) -> Iterator[FoundFile | Skipped]:
    """All files in a folder and below it, without hidden ones."""
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if not hidden and path.is_file():
            yield _by_name(path)


def _by_name(path: Path) -> FoundFile | Skipped:
    if path.suffix.lower() not in (*SUFFIXES, *WHOLE):
        known = " ".join((*SUFFIXES, *WHOLE))
        return Skipped(path, "document_type_unknown", f"its name is none of {known}; name it itself to send it")
    return FoundFile(path, named=False, size=path.stat().st_size)


async def prepare(
    found: FoundFile, tenant: str, stated: Stated, reader: DocumentReader
) -> Sequence[OutgoingRecord] | Skipped:
    """The records of a file, as ingestion will read them, or the reason to skip it; `stated` are document fields."""
    whose = Identity(tenant)
    try:
        if found.size > LARGEST_FILE:
            raise Rejected("document_too_large", f"it has {found.size} bytes, {LARGEST_FILE} are read; split it")
        data = sys.stdin.buffer.read() if str(found.path) == STDIN else found.path.read_bytes()
        if found.path.suffix.lower() in WHOLE:
            lines = data.splitlines() if found.path.suffix.lower() == ".jsonl" else [data]
            return [records.record_of(DOCUMENTS_IN, line, whose) for line in lines if line.strip()]
        value = await _document(found.path, data, tenant, stated, reader)
        return [records.record_of(DOCUMENTS_IN, value, whose)]
    except Rejected as refused:
        return Skipped(found.path, refused.code, refused.detail)
    except BadInput as error:
        return Skipped(found.path, "document_invalid", str(error))
    except OSError as error:
        return Skipped(found.path, "document_unreadable", f"{error.strerror}; check the file and its permissions")


async def _document(path: Path, data: bytes, tenant: str, stated: Stated, reader: DocumentReader) -> bytes:
    kind = SUFFIXES.get(path.suffix.lower())
    if str(path) == STDIN:
        return await documents.value_of(PurePath("stdin"), data, kind, stated, reader, tenant)
    own = {**stated, "document_id": stated.get("document_id") or document_id(path, tenant), "uri": path.as_posix()}
    return await documents.value_of(path, data, kind, own, reader, tenant)


def document_id(path: Path, tenant: str) -> str:
    """An id independent of the working directory: the name, and a hash of the tenant and the absolute path."""
    name = records.NOT_IN_ID.sub("-", path.name)[:200]
    return f"{name}-{derive('document', tenant, path.resolve().as_posix())[:8]}"
