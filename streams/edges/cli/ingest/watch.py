"""`fathom ingest --watch`: new and changed files are sent as they come, until Ctrl-C; deleted ones are said."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from schemas.topics import DOCUMENTS_IN
from streams.edges.cli.ingest.files import JSON, FoundFile, Skipped, find
from streams.edges.cli.progress import note
from streams.edges.client import clients, records
from streams.edges.client.console_output import printable
from streams.edges.client.documents import id_of_path
from streams.edges.client.errors import CommandFailed
from streams.edges.client.records import Identity
from streams.edges.client.send import deliver

EVERY_S = 1.0
Seen = FoundFile | Skipped


class FolderWatch:
    """What has changed in folders and files since it was last asked.

    A file is given once it is the same twice in a row: one that is being written is not sent half.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._given: dict[Path, tuple[int, int]] = {}
        self._before: dict[Path, tuple[int, int]] = {}

    def begin(self) -> list[Seen]:
        """All that is there now; raises `CommandFailed` for a path that does not exist."""
        found = list(find(self._paths))
        self._given = self._before = _stamps(found)
        return found

    def changed(self) -> tuple[list[Seen], list[Path]]:
        """The files that are new or other than before and rest, and those that are gone."""
        found = list(self._there())
        now, before = _stamps(found), self._before
        self._before = now
        gone = [path for path in self._given if path not in now and not path.exists()]
        ready = [
            each for each in found if _rests(each.path, now, before) and self._given.get(each.path) != now[each.path]
        ]
        self._given = {path: stamp for path, stamp in self._given.items() if path not in gone}
        self._given |= {each.path: now[each.path] for each in ready}
        return ready, gone

    def _there(self) -> Iterator[Seen]:
        for path in self._paths:
            try:
                yield from find([path])
            except (CommandFailed, OSError):
                continue  # gone, or going


def _rests(path: Path, now: Mapping[Path, tuple[int, int]], before: Mapping[Path, tuple[int, int]]) -> bool:
    return path in now and before.get(path) == now[path]


def _stamps(found: Sequence[Seen]) -> dict[Path, tuple[int, int]]:
    stamps = {}
    for each in found:
        try:
            stat = each.path.stat()
        except OSError:
            continue
        stamps[each.path] = (stat.st_mtime_ns, stat.st_size)
    return stamps


def follow(
    paths: Sequence[str], send: Callable[[Sequence[Seen], bool], object], gone: Callable[[Sequence[Path]], object]
) -> None:
    """Send what is there, then what comes, every second, until an interrupt."""
    watched = FolderWatch(paths)
    try:
        send(watched.begin(), True)
        note(f"watching {', '.join(map(printable, paths))}; Ctrl-C ends it")
        while True:
            time.sleep(EVERY_S)
            ready, deleted = watched.changed()
            if ready:
                send(ready, False)
            if deleted:
                gone(deleted)
    except KeyboardInterrupt:
        note("watching ended; what was sent stays remembered")


def tell_gone(
    paths: Sequence[Path], tenant: str, ids: Mapping[Path, str], bootstrap: str | None, *, forgets: bool
) -> None:
    """Say which files are deleted, and have their documents forgotten where that is wanted; `ids` are those sent."""
    for path in paths:
        known_as = ids.get(path) or id_of_path(path, tenant)
        if path.suffix.lower() in JSON:
            print(f"{printable(str(path))} is deleted; its documents stay remembered: `fathom forget` each by its id")
        elif not forgets or bootstrap is None:
            print(
                f"{printable(str(path))} is deleted; it stays remembered: `fathom forget {known_as}` has it forgotten"
            )
        else:
            clients.run(_forgotten(known_as, tenant, bootstrap))
            print(f"{printable(str(path))} is deleted, and {known_as} forgotten")
        sys.stdout.flush()


async def _forgotten(known_as: str, tenant: str, bootstrap: str) -> None:
    wish = records.of_fields(DOCUMENTS_IN, {"document_id": known_as, "deleted": True}, Identity(tenant))
    async with clients.producing(bootstrap) as producer:
        await deliver(producer, wish)
