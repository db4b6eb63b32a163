"""All commands of `fathom` by name, their modules imported; those of a group by its own name."""

from typing import Any

from streams.edges.cli.main import VERBS, LazyVerb, Table


def commands(table: Table = VERBS) -> dict[str, Any]:
    return {
        name: LazyVerb(name, place, line).loaded() if isinstance(place, str) else commands(place)
        for name, place, line in table
    }
