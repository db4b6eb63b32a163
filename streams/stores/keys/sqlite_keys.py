"""Keys of subjects in a SQLite file, for the processes of one host.

A destroyed key is overwritten in the file (`secure_delete`); the journal, which held it for the moment of its deletion,
is a rollback journal, cut off after each commit: a write-ahead log would keep it.
"""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Collection, Mapping
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from agents.errors import Unavailable
from streams.config import ConfigError
from streams.stores.keys.key_store import DestroyedKey, WrappedKey, note_of

T = TypeVar("T")

FILE = "subjects.sqlite"
BUSY_S = 5.0
EMPTY = "it is empty (if it never held a key, remove it)"
TABLES = """
CREATE TABLE IF NOT EXISTS subject_key (subject TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE, wrapped BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS destroyed_key (id TEXT PRIMARY KEY, note TEXT NOT NULL, at TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS destroyed_by_note ON destroyed_key (note);
"""


class SqliteKeyStore:
    """`KeyStore` in a directory; each call runs in a thread, for a commit waits for the disk."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE
        self._lock = threading.Lock()
        self._open: sqlite3.Connection | None = None

    def check(self) -> None:
        """Raises `ConfigError` where the file is damaged: nothing can make its keys again."""
        if not self._path.exists():
            return
        try:
            file = sqlite3.connect(f"{self._path.resolve().as_uri()}?mode=rw", timeout=BUSY_S, uri=True)
            with closing(file):
                found = file.execute("PRAGMA quick_check(1)").fetchall() if self._path.stat().st_size else [(EMPTY,)]
        except sqlite3.OperationalError:
            return  # busy, or no right to it: the first use says so
        except sqlite3.DatabaseError as error:
            found = [(str(error),)]
        why = " ".join(str(found[0][0]).split())
        if why != "ok":
            raise ConfigError(
                f"the keys of persons are damaged: {self._path}: {why}; put its backup in its place: without them the "
                " encrypted log cannot be read, and nothing makes them again, so nothing is begun without them"
            )

    async def current(self, subjects: Collection[str]) -> Mapping[str, WrappedKey]:
        """The key of each subject that has one."""

        def read(file: sqlite3.Connection) -> dict[str, WrappedKey]:
            ask = "SELECT id, wrapped FROM subject_key WHERE subject = ?"
            found = {subject: file.execute(ask, (subject,)).fetchone() for subject in subjects}
            return {subject: WrappedKey(*row) for subject, row in found.items() if row is not None}

        return await self._run(read)

    async def add(self, subject: str, fresh: WrappedKey) -> WrappedKey:
        """Give a subject its key, if it has none; returns the one it has."""

        def write(file: sqlite3.Connection) -> WrappedKey:
            file.execute("INSERT OR IGNORE INTO subject_key VALUES (?, ?, ?)", (subject, fresh.id, fresh.wrapped))
            ask = "SELECT id, wrapped FROM subject_key WHERE subject = ?"
            return WrappedKey(*file.execute(ask, (subject,)).fetchone())

        return await self._run(write)

    async def by_id(self, ids: Collection[str]) -> Mapping[str, WrappedKey | DestroyedKey]:
        """Each key that is there or was destroyed."""

        def read(file: sqlite3.Connection) -> dict[str, WrappedKey | DestroyedKey]:
            found: dict[str, WrappedKey | DestroyedKey] = {}
            for own in ids:
                for row in file.execute("SELECT id, wrapped FROM subject_key WHERE id = ?", (own,)):
                    found[own] = WrappedKey(*row)
                for row in file.execute("SELECT id, at FROM destroyed_key WHERE id = ?", (own,)):
                    found[own] = _destroyed(row)
            return found

        return await self._run(read)

    async def destroy(self, subject: str, at: datetime) -> DestroyedKey | None:
        """Destroy the subject's key and note it, in one transaction."""

        def write(file: sqlite3.Connection) -> DestroyedKey | None:
            row = file.execute("SELECT id FROM subject_key WHERE subject = ?", (subject,)).fetchone()
            if row is None:
                return None
            moment = at.astimezone(UTC)
            file.execute("INSERT INTO destroyed_key VALUES (?, ?, ?)", (row[0], note_of(subject), moment.isoformat()))
            file.execute("DELETE FROM subject_key WHERE subject = ?", (subject,))
            return DestroyedKey(row[0], moment)

        return await self._run(write)

    async def destroyed(self, subject: str) -> tuple[DestroyedKey, ...]:
        """The destroyed keys of a subject, oldest first."""

        def read(file: sqlite3.Connection) -> tuple[DestroyedKey, ...]:
            ask = "SELECT id, at FROM destroyed_key WHERE note = ? ORDER BY at"
            return tuple(map(_destroyed, file.execute(ask, (note_of(subject),))))

        return await self._run(read)

    async def any(self) -> WrappedKey | None:
        """One of the keys; None where there are none."""

        def read(file: sqlite3.Connection) -> WrappedKey | None:
            row = file.execute("SELECT id, wrapped FROM subject_key LIMIT 1").fetchone()
            return row and WrappedKey(*row)

        return await self._run(read)

    async def ping(self) -> None:
        """Raises `Unavailable` where the file cannot be read."""
        await self._run(lambda file: file.execute("SELECT 1 FROM subject_key LIMIT 1").fetchone())

    async def close(self) -> None:
        """Close the file."""
        with self._lock, suppress(sqlite3.Error):
            if self._open is not None:
                self._open.close()
            self._open = None

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await asyncio.to_thread(self._transact, work)

    def _transact(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._lock:
            try:
                file = self._open = self._open or self._opened()
                # Immediate: a read that becomes a write would be refused where another process writes meanwhile.
                file.execute("BEGIN IMMEDIATE" if work.__name__ == "write" else "BEGIN")
                try:
                    found = work(file)
                    file.execute("COMMIT")
                except BaseException:
                    file.execute("ROLLBACK")
                    raise
            except (sqlite3.Error, OSError) as error:
                raise Unavailable("keys", f"{self._path}: {error}") from error
            return found

    def _opened(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._path.touch(mode=0o600)
        file = sqlite3.connect(self._path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
        file.executescript(f"PRAGMA secure_delete = ON; PRAGMA synchronous = FULL; {TABLES}")
        return file


def _destroyed(row: tuple[str, str]) -> DestroyedKey:
    return DestroyedKey(row[0], datetime.fromisoformat(row[1]))
