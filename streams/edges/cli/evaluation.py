"""`fathom eval …`: the verbs of `bench/evaluation`, which a checkout has and an installed package has not."""

from importlib import import_module
from typing import Any

from streams.edges.client.errors import CommandFailed

ABSENT = (
    "`fathom eval` is part of Fathom's repository, not of the installed package: clone the repository, run `make dev` "
    "in it, and use its .venv/bin/fathom"
)


def __getattr__(name: str) -> Any:
    """A verb by its name; raises `CommandFailed` where there is no checkout."""
    try:
        return getattr(import_module(f"bench.evaluation.command.{name}"), name)
    except ModuleNotFoundError as missing:
        if missing.name is None or not f"bench.evaluation.command.{name}".startswith(missing.name):
            raise
        raise CommandFailed(ABSENT) from None
