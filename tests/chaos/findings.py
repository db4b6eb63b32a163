"""The kinds of things that must not be, and one of them."""

from dataclasses import dataclass

LOST, DOUBLED, CONFLICT, REORDERED, LEAKED = "lost", "duplicate effect", "conflict", "out of order", "tenant leak"
REFUSED = "dead letter"
KINDS = (LOST, DOUBLED, CONFLICT, REORDERED, LEAKED, REFUSED)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that must not be: its kind, and where."""

    kind: str
    where: str
