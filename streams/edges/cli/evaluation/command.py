"""`fathom eval …`: the verbs of `bench/evaluation`, which a checkout has and an installed package has not."""

from importlib import import_module
from typing import Any

from streams.edges.client.errors import CommandFailed

ABSENT = (
    "`fathom eval` is part of Fathom's repository, not of the installed package: clone the repository, run `make dev` "
    "in it, and use its .venv/bin/fathom"
)


def __getattr__(name: str) -> Any:
    """A verb, or the shapes of what they print, by name; raises `CommandFailed` where there is no checkout."""
    place = f"bench.evaluation.command.{name}"
    try:
        found = import_module(place)
    except ModuleNotFoundError as missing:
        if missing.name is None or not place.startswith(missing.name):
            raise
        raise CommandFailed(ABSENT) from None
    return getattr(found, name, found)
