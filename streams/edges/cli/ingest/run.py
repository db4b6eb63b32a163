"""`fathom ingest`: files and folders to `documents.in`, until all that was sent can be found.

Files are read and checked before sending, so that the sender gets errors at once.
"""

import sys
from collections import deque
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, NotRequired

import typer
from typing_extensions import TypedDict

from agents.ports.models import DocumentReader
from schemas.items import AccessLevel
from streams.documents.process import DocumentProcess
from streams.edges.cli.arguments import Broker, Client, Json, Tenant
from streams.edges.cli.ingest import unchanged, watch
from streams.edges.cli.ingest.files import READABLE, FoundFile, Skipped, find, prepare
from streams.edges.cli.ingest.unchanged import KnownDocuments
from streams.edges.cli.progress import LeftProgress, SendProgress
from streams.edges.client import clients, document_visibility
from streams.edges.client.document_visibility import Visibility
from streams.edges.client.documents import Stated, id_of_file, id_of_path
from streams.edges.client.errors import FAILURE, OK, USAGE, CommandFailed
from streams.edges.client.records import OutgoingRecord
from streams.edges.client.send import STDIN, SentRecord, send_all
from streams.edges.client.standard_output import print_json

UNDER_WAY = 64
# Of so few files the ids are told, by which `forget` knows them.
FEW = 5


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """What to do beside sending: `patience` is the seconds to wait while nothing moves, None not to wait.

    `ids` are those of the files that were named, by their paths.
    """

    tenant: str
    stated: Stated
    patience: float | None
    everything: bool
    as_json: bool
    ids: dict[Path, str] = field(default_factory=dict)


class DocumentSent(TypedDict):
    """A document, and where it is in the log once it was sent."""

    path: str
    document_id: str
    bytes: int
    topic: NotRequired[str]
    partition: NotRequired[int]
    offset: NotRequired[int]


class FileSkipped(TypedDict):
    """A file that is left out: the code of the reason, and the reason."""

    path: str
    skipped: str
    why: str


class IngestTotals(TypedDict):
    """The last line: what was sent, and whether all of it can be found."""

    documents: int
    bytes: int
    unchanged: int
    skipped: int
    seconds: float
    visible: bool
    dry_run: bool


def ingest(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Files, folders, patterns; - is stdin.")],
    broker: Broker = None,
    tenant: Tenant = None,
    client: Client = "default",
    access_level: Annotated[AccessLevel, typer.Option("--access", help="Who may see them.")] = "public",
    lang: Annotated[
        Literal["pt", "en"] | None, typer.Option("--lang", help="Their language. Default: as each is written.")
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", help="Default: the first heading, or the file's name.")
    ] = None,
    document_id: Annotated[
        str | None,
        typer.Option("--id", help="Of one document. Default: of a file's name and tenant; in a folder of its path."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also what has not changed since it was sent.")] = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Until a search can find them.")] = True,
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds to wait while nothing moves.")] = 60.0,
    watches: Annotated[bool, typer.Option("--watch", help="Go on with what is new or changed, until Ctrl-C.")] = False,
    forgets: Annotated[bool, typer.Option("--forget-deleted", help="With --watch: forget what is deleted.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only say what would be sent.")] = False,
    as_json: Json = False,
) -> None:
    """Remember documents: text, Markdown, HTML, PDF, Word, CSV, e-mail, and .json(l) with all fields.

    Returns when they can be found. Sent again, a document replaces its earlier version; what has not changed is not
    sent.
    """
    if forgets and not watches:
        raise CommandFailed("--forget-deleted says what --watch does; give both, or `fathom forget` a document", USAGE)
    found = list(find(paths))
    _check(found, paths, document_id, watches=watches)
    bootstrap = None if dry_run else clients.bootstrap_of(broker, writes=True)
    stated = {"document_id": document_id, "title": title, "access_level": access_level, "lang": lang}
    options = IngestOptions(tenant or client, stated, timeout if wait else None, everything, as_json)
    if not watches:
        raise typer.Exit(_once(found, options, bootstrap))
    gone = partial(watch.tell_gone, tenant=tenant or client, ids=options.ids, bootstrap=bootstrap, forgets=forgets)
    # What the log has is read once: later a file that was only touched is sent again, which changes nothing.
    watch.follow(
        paths, lambda seen, first: _once(seen, replace(options, everything=everything or not first), bootstrap), gone
    )


def _check(
    found: Sequence[FoundFile | Skipped], paths: Sequence[str], document_id: str | None, *, watches: bool
) -> None:
    files = sum(isinstance(each, FoundFile) for each in found)
    if document_id is not None and files != 1:
        raise CommandFailed(f"--id names one document, the paths lead to {files}; leave it out", USAGE)
    if not found and not watches:
        raise CommandFailed(f"no file is in {', '.join(paths)}; put some there whose name ends in {READABLE}")


def _once(found: Sequence[FoundFile | Skipped], options: IngestOptions, bootstrap: str | None) -> int:
    """Send what was found and tell of it; the exit code."""
    run = IngestRun(options)
    for each in found:
        if isinstance(each, Skipped):
            run.skip(each, named=False)
    clients.run(run.run([each for each in found if isinstance(each, FoundFile)], bootstrap))
    return run.end(dry_run=bootstrap is None)


class IngestRun:
    """One run of the command: files sent, files left out, and the wait for those sent."""

    def __init__(self, options: IngestOptions) -> None:
        self._options = options
        self._paths: deque[Path] = deque()
        self._sent: dict[SentRecord, Path] = {}
        self._named: dict[Path, str] = {}
        self._progress = SendProgress()
        self._waited: float | None = None
        self._skipped: list[Skipped] = []
        self.bytes = 0
        self.unchanged = 0
        self.missed = False

    async def run(self, files: Sequence[FoundFile], bootstrap: str | None) -> None:
        """Read and send the files one after the other; without a broker only print what would be sent."""
        self._progress.total = sum(each.size for each in files)
        reader = DocumentProcess()
        try:
            if bootstrap is None:
                with self._progress:
                    async for each in self._outgoing(files, reader, KnownDocuments()):
                        self._count(each, None)
                return
            async with AsyncExitStack() as stack:
                known = await unchanged.sent_before(bootstrap) if self._asks_log(files) else KnownDocuments()
                waits = self._options.patience is not None
                follow = await stack.enter_async_context(document_visibility.following(bootstrap)) if waits else None
                with self._progress:
                    await self._send(self._outgoing(files, reader, known), bootstrap)
                if follow is not None and self._options.patience is not None:
                    await self._until_visible(follow, self._options.patience)
        finally:
            reader.close()

    async def _send(self, outgoing: AsyncIterator[OutgoingRecord], bootstrap: str) -> None:
        async with clients.producing(bootstrap) as producer:
            try:
                async for each, place in send_all(producer, outgoing, UNDER_WAY):
                    self._count(each, place)
            except CommandFailed as error:
                raise CommandFailed(f"{error}; {self._progress.done} documents were sent", error.code) from error

    async def _until_visible(self, follow: Visibility, patience: float) -> None:
        with LeftProgress() as progress:
            try:
                refused = await follow.wait_all(list(self._sent), patience, progress.look)
            except CommandFailed as error:
                sent = f"{self._progress.done} documents were sent"
                raise CommandFailed(f"{sent}, but not all can be found yet: {error}", error.code) from error
            self._waited = progress.seconds if self._sent else None
        for place, why in refused.items():
            code, _, detail = why.partition(": ")
            self.skip(Skipped(self._sent[place], code, detail), named=True)

    async def _outgoing(
        self, files: Iterable[FoundFile], reader: DocumentReader, known: KnownDocuments
    ) -> AsyncIterator[OutgoingRecord]:
        for found in files:
            stated = {**self._options.stated, "document_id": self._id_of(found, known)}
            made = await prepare(found, self._options.tenant, stated, reader)
            if isinstance(made, Skipped):
                self.skip(made, named=found.named)
                continue
            for each in made.records:
                if not self._options.everything and known.has(each, as_it_is=made.as_they_are):
                    self.unchanged += 1
                    continue
                self._paths.append(found.path)
                yield each
            self._progress.position += found.size

    def _asks_log(self, files: Sequence[FoundFile]) -> bool:
        return not self._options.everything or any(each.named and each.path not in self._options.ids for each in files)

    def _id_of(self, found: FoundFile, known: KnownDocuments) -> str | None:
        """The stated id, or that of a file that was named; None where its place makes it, or it has no name.

        One that is there by its place, from its folder, stays that document.
        """
        options = self._options
        if options.stated.get("document_id") is None and (not found.named or str(found.path) == STDIN):
            return None
        if found.path not in options.ids:
            by_place = id_of_path(found.path, options.tenant)
            options.ids[found.path] = options.stated.get("document_id") or (
                by_place if known.names(options.tenant, by_place) else id_of_file(found.path.name, options.tenant)
            )
        return options.ids[found.path]

    def _count(self, prepared: OutgoingRecord, place: SentRecord | None) -> None:
        path = self._paths.popleft()
        self.bytes += len(prepared.value)
        self._progress.advance()
        if place is not None:
            self._sent[place] = path
        if self._options.as_json:
            sent = DocumentSent(path=path.as_posix(), document_id=prepared.name, bytes=len(prepared.value))
            if place is not None:
                sent |= {"topic": place.topic, "partition": place.partition, "offset": place.offset}
            print_json(sent)
        elif place is None:
            print(f"{path} would be {prepared.name}, {len(prepared.value):,} bytes")
        else:
            self._named[path] = prepared.name

    def skip(self, skipped: Skipped, *, named: bool) -> None:
        """Count a file that is left out; as JSON print it at once."""
        self._skipped.append(skipped)
        self.missed |= named
        if self._options.as_json:
            print_json(FileSkipped(path=skipped.path.as_posix(), skipped=skipped.code, why=skipped.why))

    def end(self, *, dry_run: bool) -> int:
        """Print what was left out and the totals; returns 1 when a named file was left out, or there was nothing."""
        documents, seconds, skipped = self._progress.done, self._progress.seconds, len(self._skipped)
        if self._options.as_json:
            print_json(
                IngestTotals(
                    documents=documents,
                    bytes=self.bytes,
                    unchanged=self.unchanged,
                    skipped=skipped,
                    seconds=round(seconds, 3),
                    visible=self._waited is not None,
                    dry_run=dry_run,
                )
            )
        else:
            self._show_skipped()
            if len(self._named) <= FEW:
                print("".join(f"{path} is {name}\n" for path, name in self._named.items()), end="")
            found = "" if self._waited is None else f"; can be found, {self._waited:.1f} s later"
            print(
                f"{documents} documents ({self.bytes:,} bytes) {'would be sent' if dry_run else 'sent'}{found}; "
                f"{self.unchanged} unchanged; {skipped} skipped",
                flush=True,
            )
        return FAILURE if self.missed or documents + self.unchanged == 0 else OK

    def _show_skipped(self) -> None:
        if not self._skipped:
            return
        width = max(len(str(each.path)) for each in self._skipped)
        sys.stderr.write(f"skipped {len(self._skipped)}:\n")
        for each in self._skipped:
            sys.stderr.write(f"  {each.path!s:<{width}}  {each.code}: {each.why}\n")
