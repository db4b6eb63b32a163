"""One check and its result: what was seen, its likely cause, the command that mends it, and where it is explained."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from streams.edges.cli.doctor.remedies import REMEDIES


class CheckState(StrEnum):
    """`down` is no answer; `wrong` needs a person, `warn` may; `skipped` could or need not be checked."""

    OK = "ok"
    WARN = "warn"
    WRONG = "wrong"
    DOWN = "down"
    SKIPPED = "skipped"


OK, WARN, WRONG, DOWN, SKIPPED = CheckState
FINE = frozenset({OK, SKIPPED})


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check; `id` is the check's name, with its subject after a dot where it has several.

    `cause`, `fix` (a command or a step) and `doc` (page#anchor) are empty where nothing is to be done.
    """

    id: str
    state: CheckState
    seen: str
    cause: str = ""
    fix: str = ""
    doc: str = ""


def found(check: str, state: CheckState, seen: str, *, of: str = "", fix: str = "") -> Finding:
    """The finding of a check, with its remedy unless it is fine; `fix` replaces the usual one."""
    identity = f"{check}.{of}" if of else check
    remedy = REMEDIES[check]
    if state in FINE:
        return Finding(identity, state, seen)
    return Finding(identity, state, seen, remedy.cause, fix or remedy.fix, remedy.doc)


def some(names: Iterable[str], most: int = 5) -> str:
    """The first of some names, and how many more there are."""
    listed = list(names)
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more
