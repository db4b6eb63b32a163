"""Temporary folders of replays, which the next start removes where their process was killed."""

import os
import shutil
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path

from streams.stores.ownership import LOCK, DirectoryInUse, Ownership

PREFIX = "fathom-replay-"


class ReplayFolder:
    """A temporary folder of this process, until `remove` or its end."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._owned = Ownership(self.path)
        self._remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def remove(self) -> None:
        """Remove it with all that is in it; may be repeated."""
        self._remove()
        self._owned.release()


def remove_left_over() -> None:
    """Remove the folders that processes of this user left when they were killed."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        # Locked: its process lives. Without a lock: of a release that had none. Whatever else, it can stay.
        with suppress(DirectoryInUse, OSError):
            if not path.is_symlink() and path.stat().st_uid == os.getuid() and (path / LOCK).exists():
                owned = Ownership(path)
                shutil.rmtree(path, ignore_errors=True)
                owned.release()
