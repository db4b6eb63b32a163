"""`fathom import`: chats from elsewhere to `messages.in`, dated as they were said; no packs are made for them."""

import sys
import zipfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Annotated, Literal

import orjson
import typer
from typing_extensions import TypedDict

from schemas.chat import notes_of
from schemas.topics import MESSAGES_IN
from streams.edges.cli.arguments import Broker, Client, Json, Tenant
from streams.edges.cli.ingest import accepted, exports
from streams.edges.cli.ingest.accepted import Acceptance, KnownTurns
from streams.edges.cli.ingest.exports import ExportFile
from streams.edges.cli.progress import LeftProgress, SendProgress
from streams.edges.client import clients, records
from streams.edges.client.console_output import printable
from streams.edges.client.errors import FAILURE, OK, CommandFailed
from streams.edges.client.records import BadInput, Identity, OutgoingRecord
from streams.edges.client.send import SentRecord, send_all
from streams.edges.client.standard_output import print_json
from streams.imports import formats
from streams.imports.formats import FORMATS, ExportFormat
from streams.imports.turns import FUTURE, MEMORIES, TOO_LONG, ExportPlace, ImportedTurn, LeftOut
from streams.imports.values import BrokenExport, JsonValues

UNDER_WAY = 1_000
FormatName = Literal["auto", "openai", "langchain", "mem0", "zep", "jsonl"]


class ExportSkipped(TypedDict):
    """A file that was not read whole, and why, in a sentence."""

    path: str
    skipped: str


class ImportTotals(TypedDict):
    """The last line: the turns that were sent, were there, or were left out by reason, and how long it took."""

    turns: int
    conversations: int
    there: int
    undated: int
    left_out: dict[str, int]
    skipped: int
    seconds: float
    accepted_s: float | None
    found_s: float | None
    dry_run: bool


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What to do beside sending: `patience` is the seconds to wait while nothing moves, None not to wait."""

    tenant: str | None
    client: str
    user: str | None
    form: str
    patience: float | None
    as_json: bool


@dataclass(slots=True)
class ImportCounts:
    """What became of the turns of all files."""

    sent: int = 0
    there: int = 0
    undated: int = 0
    conversations: set[bytes] = field(default_factory=set)
    left_out: Counter[str] = field(default_factory=Counter)
    skipped: list[tuple[str, str]] = field(default_factory=list)


def import_chats(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Files and folders of exports.")],
    form: Annotated[FormatName, typer.Option("--format", help="Default: as each file is.")] = "auto",
    broker: Broker = None,
    tenant: Tenant = None,
    client: Client = "default",
    user: Annotated[
        str | None, typer.Option("--user", help="Whose chats. Default: as the export says, else the client's.")
    ] = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Until they can be found.")] = True,
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds to wait while nothing moves.")] = 60.0,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only say what would be sent.")] = False,
    as_json: Json = False,
) -> None:
    """Bring in chats from elsewhere: ChatGPT's export, LangChain, mem0, Zep, JSON lines.

    Each turn keeps its date, and no pack is made for it. What is there already is not sent again.
    """
    files = exports.find(paths)
    bootstrap = None if dry_run else clients.bootstrap_of(broker, writes=True)
    run = ImportRun(ImportOptions(tenant, client, user, form, timeout if wait else None, as_json))
    clients.run(run.run(files, bootstrap))
    raise typer.Exit(run.end(dry_run=dry_run))


class ImportRun:
    """One run of the command: turns sent, turns that are there, what is left out, and the wait for those sent."""

    def __init__(self, options: ImportOptions) -> None:
        self._options = options
        self._progress = SendProgress()
        self._known = KnownTurns()
        self._sent: list[SentRecord] = []
        self._now = datetime.now(UTC)
        self._missed = False
        self._sent_s = 0.0
        self._accepted_s: float | None = None
        self._found_s: float | None = None
        self.counts = ImportCounts()

    async def run(self, files: Sequence[ExportFile], bootstrap: str | None) -> None:
        """Read and send the files one after the other; without a broker only count what would be sent."""
        self._progress.total = sum(each.size for each in files)
        if bootstrap is None:
            with self._progress:
                for file in files:
                    for _ in self._records(file):
                        self._progress.advance()
            self.counts.sent = self._progress.done
            return
        self._known = await accepted.known_turns(bootstrap)
        async with AsyncExitStack() as stack:
            waits = self._options.patience
            follow = None
            if waits is not None:
                broker = await stack.enter_async_context(clients.connected(bootstrap, [accepted.REFUSED]))
                follow = Acceptance(broker)
            with self._progress:
                await self._send(files, bootstrap)
            self._sent_s = self._progress.seconds
            if follow is not None and waits is not None and self._sent:
                await self._until_found(follow, waits)

    async def _send(self, files: Sequence[ExportFile], bootstrap: str) -> None:
        async def outgoing() -> AsyncIterator[OutgoingRecord]:
            for file in files:
                for each in self._records(file):
                    yield each

        async with clients.producing(bootstrap) as producer:
            try:
                async for _, place in send_all(producer, outgoing(), UNDER_WAY):
                    self._progress.advance()
                    self._sent.append(place)
            except CommandFailed as error:
                raise CommandFailed(f"{error}; {self._progress.done} turns were sent", error.code) from error
        self.counts.sent = self._progress.done

    async def _until_found(self, follow: Acceptance, patience: float) -> None:
        with LeftProgress() as progress:
            try:
                refused = await follow.accepted(self._sent, patience, progress.look)
                self._accepted_s = progress.seconds
                await follow.found(patience, progress.look)
            except CommandFailed as error:
                sent = f"{self.counts.sent} turns were sent"
                raise CommandFailed(f"{sent}, but not all can be found yet: {error}", error.code) from error
            self._found_s = progress.seconds
        for why in refused.values():
            self.counts.left_out[why] += 1
            self.counts.sent -= 1

    def _records(self, file: ExportFile) -> Iterator[OutgoingRecord]:
        """The records of a file that the log has not yet; what is left out is counted, a file that is none told."""
        began = self._progress.position
        later: list[ImportedTurn] = []
        try:
            for found in self._turns(file):
                if isinstance(found, LeftOut):
                    self.counts.left_out[found.reason] += 1
                elif found.conversation_id == MEMORIES:
                    later.append(found)
                elif (made := self._record(found, file)) is not None:
                    yield made
        except BrokenExport as broken:
            why = f"{broken}; what was before it is imported: correct it, and import it again"
            self._skip(file, why, missed=True)
        except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            self._skip(
                file, f"it cannot be read: {getattr(error, 'strerror', None) or error}; check the file", missed=True
            )
        # Exports of memories begin with the newest; in a conversation the older is said before.
        for turn in sorted(later, key=lambda each: each.at or file.at):
            if (made := self._record(turn, file)) is not None:
                yield made
        self._progress.position = began + file.size

    def _turns(self, file: ExportFile) -> Iterator[ImportedTurn | LeftOut]:
        began = self._progress.position
        with file.opened() as opened:
            values = JsonValues(opened)
            form: ExportFormat | None = None
            for number, value in enumerate(values):
                if form is None and (form := self._format(value)) is None:
                    break
                self._progress.position = began + values.position
                yield from form.turns(value, ExportPlace(file.stem, number))
        if form is None:
            what = "of no known format" if self._options.form == "auto" else f"no export of {self._options.form}"
            known = ", ".join(FORMATS)
            why = f"it is {what}, or is empty; known are {known}: leave it out"
            self._skip(file, why, missed=file.named)

    def _format(self, value: object) -> ExportFormat | None:
        if self._options.form == "auto":
            return formats.format_of(value)
        form = FORMATS[self._options.form]
        return form if form.fits(value) else None

    def _record(self, turn: ImportedTurn, file: ExportFile) -> OutgoingRecord | None:
        if turn.at is None:
            self.counts.undated += 1
        at = turn.at or min(file.at, self._now)
        if at > self._now:
            self.counts.left_out[FUTURE] += 1
            return None
        options = self._options
        made = _record(turn, at, Identity(options.tenant, options.user or turn.user_id), options.client)
        if isinstance(made, LeftOut):
            self.counts.left_out[made.reason] += 1
            return None
        if self._known.has(made.key, made.name):
            self.counts.there += 1
            return None
        self._known.add(made.key, made.name)
        self.counts.conversations.add(made.key)
        return made

    def _skip(self, file: ExportFile, why: str, *, missed: bool) -> None:
        self.counts.skipped.append((file.shown, why))
        self._missed |= missed
        if self._options.as_json:
            print_json(ExportSkipped(path=file.shown, skipped=why))

    def end(self, *, dry_run: bool) -> int:
        """Print what was left out and the totals; returns 1 when a file was not read whole, or there was nothing."""
        counts, seconds = self.counts, self._sent_s
        if self._options.as_json:
            print_json(
                ImportTotals(
                    turns=counts.sent, conversations=len(counts.conversations), there=counts.there,
                    undated=counts.undated, left_out=dict(counts.left_out), skipped=len(counts.skipped),
                    seconds=round(seconds, 3), accepted_s=_rounded(self._accepted_s),
                    found_s=_rounded(self._found_s), dry_run=dry_run,
                )
            )  # fmt: skip
        else:
            self._show()
            print(self._totals(dry_run=dry_run))
        return FAILURE if self._missed or counts.sent + counts.there == 0 else OK

    def _totals(self, *, dry_run: bool) -> str:
        counts = self.counts
        did = "would be sent" if dry_run else f"sent in {self._sent_s:.1f} s"
        line = f"{counts.sent:,} turns of {len(counts.conversations):,} conversations {did}"
        if self._accepted_s is not None and self._found_s is not None:
            line += f"; accepted {self._accepted_s:.1f} s later, can be found {self._found_s:.1f} s later"
        if counts.undated:
            line += f"; {counts.undated:,} without a time have that of their file"
        return f"{line}; {counts.there:,} were there already; {counts.left_out.total():,} left out"

    def _show(self) -> None:
        for name, why in self.counts.skipped:
            sys.stderr.write(f"skipped {name}: {why}\n")
        if self.counts.left_out:
            sys.stderr.write(f"left out {self.counts.left_out.total():,}:\n")
            for reason, number in self.counts.left_out.most_common():
                sys.stderr.write(f"  {number:>7,}  {printable(reason)}\n")


def _record(turn: ImportedTurn, at: datetime, whose: Identity, client: str) -> OutgoingRecord | LeftOut:
    where = turn.conversation_id if turn.conversation_id != MEMORIES else notes_of(whose.user or client)
    value = orjson.dumps(
        {
            "message_id": turn.message_id,
            "role": turn.role,
            "content": turn.content,
            "conversation_id": where,
            "client_id": client,
            "created_at": at.isoformat(),
            "pack": False,
        }
    )
    if len(value) > MESSAGES_IN.max_bytes:
        return LeftOut(f"{TOO_LONG} ({MESSAGES_IN.max_bytes:,} bytes)")
    try:
        return records.record_of(MESSAGES_IN, value, replace(whose, event_id=turn.message_id))
    except BadInput as error:
        return LeftOut(f"refused: {error}")


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
