"""Damaged files of embedded stores: told from other errors, set aside, and marked to be filled again from the log."""

import errno
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from agents.errors import FathomError
from streams.stores.ownership import LOCK

# In a store's directory while it has not all that the log says.
UNFILLED = "unfilled"
ASIDE = ".damaged-"
# What an engine may meet in sound files.
NOT_DAMAGE = frozenset(
    getattr(errno, name)
    for name in ("EPERM", "EACCES", "ENOMEM", "ENFILE", "EMFILE", "ENOSPC", "EROFS", "EDQUOT", "EBUSY", "EAGAIN")
)
OS_ERROR = re.compile(r"\(os error (\d+)\)")


class DamagedStore(FathomError):
    """The files of an embedded store cannot be opened for what is in them."""

    def __init__(self, directory: Path, why: object) -> None:
        super().__init__(
            f"{directory} is damaged: {why}; start `fathom up`, which sets it aside and fills it from the log, or move "
            "it away and run `fathom replay --mode rebuild --to-earliest --execute`"
        )
        self.directory = directory
        self.why = str(why)


@contextmanager
def opening(directory: Path) -> Iterator[None]:
    """The opening of a store's files: an error of its engine that means damage becomes `DamagedStore`."""
    try:
        yield
    except BaseException as error:
        if not means_damage(error):
            raise
        raise DamagedStore(directory, error) from error


def means_damage(error: BaseException) -> bool:
    """Whether an engine refuses files for what is in them: not for a full disk, missing rights or memory."""
    # Engines in Rust raise a class of their own for a panic, which is no `Exception`.
    raised = isinstance(error, Exception) or type(error).__name__ == "PanicException"
    if not raised or isinstance(error, FathomError | MemoryError):
        return False
    if (name := getattr(error, "sqlite_errorname", None)) is not None:
        return str(name).startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB"))
    numbers = {int(number) for number in OS_ERROR.findall(str(error))} | {getattr(error, "errno", None)}
    return not numbers & NOT_DAMAGE


def set_aside(directory: Path) -> Path:
    """Move a store's directory beside itself, whole; raises `OSError`."""
    name = f"{directory.name}{ASIDE}{datetime.now(UTC):%Y%m%dT%H%M%S}"
    taken = len([*directory.parent.glob(f"{name}*")])
    aside = directory.with_name(f"{name}-{taken}" if taken else name)
    directory.rename(aside)
    return aside


def mark_unfilled(directory: Path) -> None:
    """Note that a store lacks what the log says, for this start and, if it dies meanwhile, for the next."""
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    (directory / UNFILLED).touch(mode=0o600)


def is_missing(directory: Path) -> bool:
    """Whether a store's directory is not there, or has nothing of the store in it."""
    return not directory.is_dir() or {each.name for each in directory.iterdir()} <= {LOCK, UNFILLED}


def mark_missing(directories: Mapping[str, Path]) -> list[str]:
    """Mark the stores that are not there as unfilled, and name them: a start that dies leaves them to the next.

    Which of them are new, and have nothing to be filled with, is known once the broker answers.
    """
    missing = [name for name, directory in directories.items() if is_missing(directory)]
    for name in missing:
        mark_unfilled(directories[name])
    return missing


def is_unfilled(directory: Path) -> bool:
    """Whether a store lacks what the log says."""
    return (directory / UNFILLED).exists()


def mark_filled(directory: Path) -> None:
    """Note that a store has all that the log says."""
    (directory / UNFILLED).unlink(missing_ok=True)
