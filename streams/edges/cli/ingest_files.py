"""Files as documents: found by path, folder or pattern, read far enough to know that they can be remembered."""

import base64
import glob
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from agents.core.documents import kinds
from agents.core.documents.kinds import DocumentKind
from agents.core.documents.knowledge import MAX_BYTES
from agents.errors import Rejected
from agents.ports.models import DocumentReader
from schemas import codec
from schemas.base import derive
from schemas.memory import DocumentSubmitted
from schemas.topics import DOCUMENTS_IN
from streams.edges.client import records
from streams.edges.client.errors import USAGE, CommandFailed
from streams.edges.client.options import Ingest
from streams.edges.client.records import BadInput, Identity, OutgoingRecord

STDIN = "-"
SUFFIXES = {".md": "markdown", ".markdown": "markdown", ".txt": "text", ".html": "html", ".htm": "html", ".pdf": "pdf"}
WHOLE = (".json", ".jsonl")
# As base64 in a record, beside its other fields.
LARGEST_DATA = (DOCUMENTS_IN.max_bytes - 50_000) // 4 * 3
LARGEST_FILE = 200_000_000


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to send; `named` when somebody wrote its name, rather than that of a folder or a pattern."""

    path: Path
    named: bool
    size: int = 0


@dataclass(frozen=True, slots=True)
class Skipped:
    path: Path
    code: str
    why: str


def find(paths: Sequence[str]) -> Iterator[FoundFile | Skipped]:
    """The files that are meant, each once, in order; raises `CommandFailed` for a path that leads to nothing."""
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
    """All files of a folder and those below it, but what is hidden."""
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if not hidden and path.is_file():
            yield _by_name(path)


def _by_name(path: Path) -> FoundFile | Skipped:
    if path.suffix.lower() not in (*SUFFIXES, *WHOLE):
        known = " ".join((*SUFFIXES, *WHOLE))
        return Skipped(path, "document_type_unknown", f"its name is none of {known}; name it itself to send it")
    return FoundFile(path, named=False, size=path.stat().st_size)


async def prepare(found: FoundFile, wanted: Ingest, reader: DocumentReader) -> Sequence[OutgoingRecord] | Skipped:
    """The records of a file, as ingestion will read them; or why it is left out."""
    whose = Identity(wanted.tenant or wanted.client)
    try:
        if found.size > LARGEST_FILE:
            raise Rejected("document_too_large", f"it has {found.size} bytes, {LARGEST_FILE} are read; split it")
        data = sys.stdin.buffer.read() if str(found.path) == STDIN else found.path.read_bytes()
        if found.path.suffix.lower() in WHOLE:
            lines = data.splitlines() if found.path.suffix.lower() == ".jsonl" else [data]
            return [records.document(line, whose) for line in lines if line.strip()]
        return [await _document(found.path, data, wanted, whose, reader)]
    except Rejected as refused:
        return Skipped(found.path, refused.code, refused.detail)
    except BadInput as error:
        return Skipped(found.path, "document_invalid", str(error))
    except OSError as error:
        return Skipped(found.path, "document_unreadable", f"{error.strerror}; check the file and its permissions")


async def _document(path: Path, data: bytes, wanted: Ingest, whose: Identity, reader: DocumentReader) -> OutgoingRecord:
    kind = kinds.kind_of(data, SUFFIXES.get(path.suffix.lower()))
    # Read here as it will be there: whoever sends a file hears at once what is wrong with it.
    text = await reader.read(kind, data) if kind in ("pdf", "html") else kinds.decoded(data)
    if len(text.encode(errors="replace")) > MAX_BYTES:
        raise Rejected("document_too_large", f"it has more than {MAX_BYTES} bytes of text; split it")
    if not any(map(str.isalnum, text)):
        raise Rejected("document_empty", "it has no words")
    # Of a file that is too large for a record its text is sent.
    as_bytes = kind in ("pdf", "html") and len(data) <= LARGEST_DATA
    value = _value(path, wanted, kind if as_bytes or kind == "text" else "markdown", text, data if as_bytes else None)
    return records.document(value, whose)


def _value(path: Path, wanted: Ingest, kind: DocumentKind, text: str, data: bytes | None) -> bytes:
    heading = records.HEADING.search(text)
    name = "stdin" if str(path) == STDIN else path.name
    try:
        submitted = DocumentSubmitted(
            document_id=wanted.document_id or document_id(path, wanted.tenant or wanted.client, text),
            title=wanted.title or (heading.group(1) if heading else Path(name).stem),
            text=text if data is None else None,
            data=None if data is None else base64.b64encode(data).decode(),
            uri=None if str(path) == STDIN else path.as_posix(),
            tipo=kind,
            access_level=wanted.access_level,
            lang=wanted.lang,
            created_at=datetime.now(UTC),
        )
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise BadInput(f"{first['loc'][0] if first['loc'] else 'document'}: {first['msg']}") from None
    return codec.dump(submitted)


def document_id(path: Path, tenant: str, text: str) -> str:
    """The same for a file wherever it is sent from: its name, and a mark of its whole path in its tenant."""
    if str(path) == STDIN:
        return f"stdin-{derive('document', tenant, text)[:8]}"
    name = records.NOT_IN_ID.sub("-", path.name)[:200]
    return f"{name}-{derive('document', tenant, path.resolve().as_posix())[:8]}"
