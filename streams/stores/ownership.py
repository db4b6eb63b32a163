"""Ownership of a data directory: a lock that the system releases with the process, and the id of the owner."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from agents.errors import FathomError

LOCK = "owner.lock"
PRIVATE_UMASK = 0o077


class DirectoryInUse(FathomError):
    """The directory is open in another process; the message names it."""

    def __init__(self, path: Path, owner: str) -> None:
        super().__init__(
            f"{path} is in use by {owner or 'another process'}: one process owns the embedded stores; "
            "stop it, choose another directory, or use servers for more workers"
        )
        self.path = path
        self.owner = owner


def private(directory: Path) -> Path:
    """The directory, made if it is not there, closed to other users with all that is in it: it holds what was said."""
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    for path in (directory, *directory.rglob("*")):
        mode = 0o700 if path.is_dir() else 0o600 if path.is_file() else None
        # A file that an engine has removed meanwhile needs no closing; what is another user's is that one's to close.
        with suppress(FileNotFoundError, PermissionError):
            if mode is not None and not path.is_symlink():
                path.chmod(mode)
    return directory


class Ownership:
    """Exclusive use of a directory, from construction to `release`; raises `DirectoryInUse`.

    `pid` is the process that others are told to stop, if it is not this one.
    """

    def __init__(self, directory: Path, pid: int | None = None) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / LOCK
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            owner = os.read(self._handle, 200).decode(errors="replace")
            os.close(self._handle)
            raise DirectoryInUse(directory, owner) from error
        except OSError as error:
            # Some file systems have no locks, and a lock is of a descriptor, which has no name.
            os.close(self._handle)
            raise OSError(error.errno, f"cannot be locked: {error.strerror}", str(path)) from error
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, f"pid {pid or os.getpid()}".encode(), 0)

    def release(self) -> None:
        """Release the directory; may be repeated."""
        if self._handle >= 0:
            # The file stays: removing it would let two owners lock two files of one name.
            os.close(self._handle)
            self._handle = -1
