"""The files of exports that paths lead to, opened one after the other; an archive is read as it is."""

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from streams.edges.client.console_output import printable
from streams.edges.client.errors import FAILURE, USAGE, CommandFailed

SUFFIXES = (".json", ".jsonl", ".ndjson", ".zip")
READABLE = " ".join(SUFFIXES)
# What ChatGPT's archive holds beside chats.
OF_ARCHIVE = "conversations"


@dataclass(frozen=True, slots=True)
class ExportFile:
    """A file to import; `named` when given by its own name, `member` is that of an archive."""

    path: Path
    named: bool
    size: int
    at: datetime
    member: str = ""

    @property
    def shown(self) -> str:
        """Its name as text, whatever characters it has."""
        return printable(f"{self.path}:{self.member}" if self.member else str(self.path))

    @property
    def stem(self) -> str:
        """The name of a conversation that only the file names."""
        return Path(self.member or self.path.name).stem

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """Its bytes. Raises `OSError`, and `BadZipFile` for an archive that is none."""
        if not self.member:
            with self.path.open("rb") as file:
                yield file
            return
        with zipfile.ZipFile(self.path) as archive, archive.open(self.member) as file:
            yield file


def find(paths: Sequence[str]) -> list[ExportFile]:
    """The files of all paths, each once, in order; raises `CommandFailed` where there is none."""
    found: dict[tuple[Path, str], ExportFile] = {}
    for written in paths:
        path = Path(written)
        if path.is_dir():
            inside = [each for each in sorted(path.rglob("*")) if _is_export(each, path)]
            files = [file for each in inside for file in _files(each, named=False)]
        elif path.exists():
            files = _files(path, named=True)
        else:
            raise CommandFailed(f"{printable(written)} does not exist; nothing was sent", USAGE)
        found.update({(each.path.absolute(), each.member): each for each in files})
    if not found:
        where = ", ".join(map(printable, paths))
        raise CommandFailed(f"no export is in {where}; put files there whose names end in {READABLE}", FAILURE)
    return list(found.values())


def _is_export(path: Path, folder: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
    return not hidden and path.suffix.lower() in SUFFIXES and path.is_file()


def _files(path: Path, *, named: bool) -> list[ExportFile]:
    stat = path.stat()
    at = datetime.fromtimestamp(stat.st_mtime, UTC)
    if path.suffix.lower() != ".zip":
        return [ExportFile(path, named, stat.st_size, at)]
    try:
        with zipfile.ZipFile(path) as archive:
            inside = [
                each
                for each in archive.infolist()
                if Path(each.filename).name.startswith(OF_ARCHIVE) and each.filename.endswith(".json")
            ]
    except zipfile.BadZipFile:
        raise CommandFailed(f"{printable(str(path))} is no archive, or a damaged one; download it again") from None
    if not inside and named:
        why = f"{printable(str(path))} has no {OF_ARCHIVE}.json; name the archive of an export, or the files themselves"
        raise CommandFailed(why)
    return [ExportFile(path, named, each.file_size, _dated(each, at), each.filename) for each in inside]


def _dated(member: zipfile.ZipInfo, otherwise: datetime) -> datetime:
    try:
        return datetime(*member.date_time, tzinfo=UTC)
    except ValueError:
        return otherwise
