"""The data directory: broker and store files, the lock of its process, and its addresses.

DIR/broker, DIR/valkey, DIR/index, DIR/graph   what each of them keeps
DIR/owner.lock                                 held by the process that runs there, with its pid
DIR/up.json                                    its addresses, while it is ready
"""

import json
import os
import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from agents.errors import FathomError
from streams.config import Settings
from streams.stores.damage import is_missing, is_unfilled
from streams.stores.ownership import DirectoryInUse, Ownership

SCHEME = "embedded://"
ADDRESSES = "up.json"
BROKER = "broker"
OFFSETS = "offsets.jsonl"
DEFAULT = Path(".fathom")
STORES = ("redis_url", "qdrant_url", "neo4j_url")
# What is kept of damaged files: by us, and of its log of writes by the graph's engine.
OF_STORES, OF_LOG = ("*.damaged-*", "graph/*.quarantine-*"), ("*.damaged", "logs/*/*.damaged")
# Below this nothing is promised: the stores write files of some MB at a time. A new directory fills 46 MB at once.
FULL_BYTES, NEW_BYTES = 16_000_000, 64_000_000


class BadDirectory(FathomError):
    """An unusable data directory; the text says why, and what to do."""


class AlreadyRunning(FathomError):
    """Another process runs in the directory; the text names it."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses of a running process: host:port of its broker, and of health and metrics; the socket of its stores.

    Releases up to 0.1.0 do not serve their stores, and name none.
    """

    pid: int
    bootstrap: str
    http: str
    stores: str = ""


def home_of(broker: str) -> Path | None:
    """The data directory of an `embedded://` broker; None for an external broker."""
    if not broker.startswith(SCHEME):
        return None
    directory = Path(broker.removeprefix(SCHEME))
    return directory.parent if directory.name == BROKER else directory


def inside(home: Path) -> dict[str, str]:
    """The URLs of the broker and the stores of a data directory, by setting."""
    return {"broker": f"{SCHEME}{home / BROKER}", **dict.fromkeys(STORES, f"{SCHEME}{home}")}


def lock(home: Path) -> Ownership:
    """Lock the directory for exclusive use; raises `AlreadyRunning` or `BadDirectory`."""
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        if wrong := full(home, FULL_BYTES if (home / BROKER).exists() else NEW_BYTES):
            raise BadDirectory(f"{wrong}, or choose another directory with --data DIR")
        return Ownership(home)
    except DirectoryInUse as error:
        pid = error.owner.removeprefix("pid ")
        raise AlreadyRunning(
            f"fathom already runs in {home}, as process {error.owner.removeprefix('pid ')}: "
            f"stop it with `kill {pid}`, or choose another directory with --data"
        ) from error
    except OSError as error:
        raise BadDirectory(
            f"the data directory {home} cannot be written: {error.strerror}{_owner(home)}; "
            "choose another with --data DIR"
        ) from error


def full(home: Path, least: int = FULL_BYTES) -> str | None:
    """Why a data directory takes nothing more: fewer than `least` bytes are free on its disk; None while they are."""
    # A client of another broker has no data directory.
    if not home.is_dir() or shutil.disk_usage(home).free >= least:
        return None
    return (
        f"the disk of {home} is full (less than {least / 1e6:g} MB are free): free some of it (`df -h {home}` shows it)"
    )


def damaged(settings: Settings) -> list[str]:
    """The files and directories that were set aside because they were damaged, until somebody removes them."""
    home = home_of(settings.broker)
    given = [getattr(settings, name).partition(SCHEME)[2] for name in STORES if _embedded(getattr(settings, name))]
    places = {Path(each).expanduser() if each else home or DEFAULT for each in given}
    found = [path for place in places for pattern in OF_STORES for path in place.glob(pattern)]
    if home is not None:
        found += [path for pattern in OF_LOG for path in (home / BROKER).glob(pattern)]
    return sorted(map(str, found))


def unfilled(settings: Settings) -> list[str]:
    """The directories of stores that lack what the log says: those not filled yet, and those that were lost."""
    home = home_of(settings.broker)
    found = []
    for name, given in (("graph", settings.neo4j_url), ("index", settings.qdrant_url)):
        place = given.removeprefix(SCHEME)
        directory = (Path(place).expanduser() if place else home or DEFAULT) / name
        lost = home is not None and is_missing(directory) and _has_committed(home / BROKER / OFFSETS)
        if _embedded(given) and (lost or is_unfilled(directory)):
            found.append(str(directory))
    return found


def _has_committed(offsets: Path) -> bool:
    """Whether a group of the embedded broker has read something, by its file of committed offsets."""
    if not offsets.is_file():
        return False
    for line in offsets.read_bytes().splitlines():
        with suppress(ValueError, TypeError, IndexError):
            if json.loads(line)[3] > 0:
                return True
    return False


def _embedded(url: str) -> bool:
    return url.startswith(SCHEME)


def _owner(home: Path) -> str:
    try:
        owner = home.stat().st_uid
    except OSError:
        return ""
    return "" if owner == os.geteuid() else f" (it belongs to the user with id {owner})"


def publish(home: Path, addresses: Addresses) -> None:
    """Publish the addresses of the process to clients on this machine."""
    fresh = home / f"{ADDRESSES}.new"
    fresh.write_text(json.dumps(asdict(addresses)) + "\n")
    fresh.replace(home / ADDRESSES)


def unpublish(home: Path) -> None:
    """Withdraw the addresses of the process."""
    (home / ADDRESSES).unlink(missing_ok=True)


def running(home: Path) -> Addresses | None:
    """The addresses of the process that is ready in the directory; None without a live one."""
    try:
        said = json.loads((home / ADDRESSES).read_text())
        addresses = Addresses(int(said["pid"]), str(said["bootstrap"]), str(said["http"]), str(said.get("stores", "")))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return addresses if _alive(addresses.pid) else None


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
