"""The mark of a clean stop: the end of every log, written last in a stop and removed before anything else is written.

With it every byte of the logs is known to be whole; without it the last write of a log may be torn.
"""

import logging
from collections.abc import Mapping
from pathlib import Path

import orjson

from streams.broker.journal import replace_file, sync_directory

LOGGER = logging.getLogger("fathom.broker")
FILE = "clean-stop.json"


def write(directory: Path, ends: Mapping[str, int]) -> None:
    """Write the mark: the end offset by name of log. Raises `OSError`."""
    replace_file(directory / FILE, orjson.dumps(ends))


def read(directory: Path) -> dict[str, int] | None:
    """The end offsets of the logs that the last stop has left in order; None after another end."""
    path = directory / FILE
    try:
        ends = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except orjson.JSONDecodeError:
        ends = None
    if isinstance(ends, dict) and all(isinstance(end, int) for end in ends.values()):
        return ends
    LOGGER.error("%s is damaged: the logs are read as after a stop that was not in order", path)
    return None


def remove(directory: Path) -> None:
    """Remove the mark, before anything is written."""
    (directory / FILE).unlink(missing_ok=True)
    sync_directory(directory)
