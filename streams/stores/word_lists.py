"""An operator's word lists, added to the shipped ones in every process that reads words."""

from pathlib import Path

from agents.core.language import lexicons
from agents.errors import FathomError


class BadWordLists(FathomError):
    """A folder of word lists that cannot be used: which file, which line, and what to write."""


def extend(folder: Path | None) -> None:
    """Add the files of a folder to the shipped ones, once in a process; raises `BadWordLists`."""
    if folder is None:
        return
    try:
        found = {file.name: file.read_text(encoding="utf-8") for file in sorted(folder.iterdir()) if file.is_file()}
        lexicons.extend(found)
    except (OSError, UnicodeDecodeError, lexicons.LexiconError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise BadWordLists(f"FATHOM_LEXICONS={str(folder)!r}: {why}; docs/lexicons.md shows how to write one") from None
