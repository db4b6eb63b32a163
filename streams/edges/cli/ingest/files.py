"""The files that paths lead to, and each file as records of `documents.in`, or the reason to leave it out."""

import glob
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

import orjson

from agents.core.documents.kinds import DocumentKind
from agents.errors import Rejected
from agents.ports.models import DocumentReader
from schemas.memory import DocumentSubmitted
from schemas.topics import DOCUMENTS_IN
from streams.edges.client import documents, records
from streams.edges.client.documents import Stated, id_of_path
from streams.edges.client.errors import USAGE, CommandFailed
from streams.edges.client.records import BadInput, Identity, OutgoingRecord
from streams.edges.client.send import STDIN

SUFFIXES: dict[str, DocumentKind] = {**documents.SUFFIXES, ".json": "text", ".jsonl": "text"}
READABLE = " ".join(SUFFIXES)
JSON = (".json", ".jsonl")
DOCUMENT_FIELDS = frozenset(field.alias or name for name, field in DocumentSubmitted.model_fields.items())
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


@dataclass(frozen=True, slots=True)
class ReadFile:
    """The records of a file; `as_they_are` when the file states all their fields."""

    records: Sequence[OutgoingRecord]
    as_they_are: bool = False


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
    if path.suffix.lower() not in SUFFIXES:
        return Skipped(path, "document_type_unknown", f"it ends in none of {READABLE}; name it itself to send it")
    return FoundFile(path, named=False, size=path.stat().st_size)


async def prepare(found: FoundFile, tenant: str, stated: Stated, reader: DocumentReader) -> ReadFile | Skipped:
    """The records of a file, as ingestion will read them, or the reason to skip it; `stated` are document fields."""
    whose = Identity(tenant)
    try:
        if found.size > LARGEST_FILE:
            raise Rejected("document_too_large", f"it has {found.size} bytes, {LARGEST_FILE} are read; split it")
        data = sys.stdin.buffer.read() if str(found.path) == STDIN else found.path.read_bytes()
        if found.path.suffix.lower() in JSON and (values := _documents_in(found.path, data)):
            return ReadFile([records.record_of(DOCUMENTS_IN, value, whose) for value in values], as_they_are=True)
        value = await _document(found.path, data, tenant, stated, reader)
        return ReadFile([records.record_of(DOCUMENTS_IN, value, whose)])
    except Rejected as refused:
        return Skipped(found.path, refused.code, refused.detail)
    except BadInput as error:
        return Skipped(found.path, "document_invalid", str(error))
    except OSError as error:
        return Skipped(found.path, "document_unreadable", f"{error.strerror}; check the file and its permissions")


def _documents_in(path: Path, data: bytes) -> list[bytes]:
    """The values of a file of documents, none where it is any other JSON. Raises `Rejected` for messages."""
    values = [line for line in data.splitlines() if line.strip()] if path.suffix.lower() == ".jsonl" else [data]
    shapes = [_shape(value) for value in values]
    if "document" in shapes:
        return values
    if "message" in shapes:
        raise Rejected("document_is_chat", f"it holds messages; `fathom send --file {path}` sends those")
    return []


def _shape(value: bytes) -> str:
    try:
        said = orjson.loads(value)
    except orjson.JSONDecodeError:
        return ""
    if isinstance(said, dict) and "specversion" in said and "data" in said:
        said = said["data"]
    if not isinstance(said, dict) or not said:
        return ""
    if "document_id" in said or said.keys() <= DOCUMENT_FIELDS:
        return "document"
    return "message" if "question" in said or said.keys() >= {"role", "content"} else ""


async def _document(path: Path, data: bytes, tenant: str, stated: Stated, reader: DocumentReader) -> bytes:
    kind = SUFFIXES.get(path.suffix.lower())
    if str(path) == STDIN:
        return await documents.value_of(PurePath("stdin"), data, kind, stated, reader, tenant)
    own = {**stated, "document_id": stated.get("document_id") or id_of_path(path, tenant), "uri": path.as_posix()}
    return await documents.value_of(path, data, kind, own, reader, tenant)
