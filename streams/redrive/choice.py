"""Which dead letters are meant, what became of them, how many there are, and which may be sent again; pure."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from streams.redrive.letters import DeadLetter, LetterMark, State
from streams.runtime.dead_letters import LogPosition

MAX_REDRIVES = 3
CHAINED = (
    "{stage} is chained to the stage before it, and nothing reads {topic} for it: ask again, or have `fathom replay "
    "--mode reprocess` answer the message on a topic of its own; `fathom layout split` gives {stage} consumers"
)
Action = Literal["redrive", "discard", "undo"]


class LetterStatus(NamedTuple):
    """A letter, its state, its last mark, and how often it was sent again in all."""

    letter: DeadLetter
    state: State
    mark: LetterMark | None
    redrives: int


@dataclass(frozen=True, slots=True)
class LetterFilter:
    """Conditions that a letter fulfils all of; None and an empty `names` fulfil themselves.

    `names` are positions (the letter's or its original's) and ids; `since` (inclusive) and `until` (exclusive) are ms.
    """

    names: tuple[str, ...] = ()
    reason: str | None = None
    tenant: str | None = None
    stage: str | None = None
    since: int | None = None
    until: int | None = None

    def has(self, letter: DeadLetter) -> bool:
        """Whether the letter is meant."""
        return (
            (self.reason is None or letter.reason == self.reason)
            and (self.tenant is None or letter.tenant == self.tenant)
            and (self.stage is None or letter.stage == self.stage)
            and (self.since is None or letter.time >= self.since)
            and (self.until is None or letter.time < self.until)
            and (not self.names or any(name in self.names for name in names_of(letter)))
        )

    @property
    def empty(self) -> bool:
        """Whether every letter is meant."""
        return self == LetterFilter()


class LetterCounts(NamedTuple):
    """Numbers of letters by reason, tenant, stage, state and day (UTC), the most first; days in their order."""

    reason: dict[str, int]
    tenant: dict[str, int]
    stage: dict[str, int]
    state: dict[str, int]
    day: dict[str, int]


class RefusedLetter(NamedTuple):
    """A letter that stays as it is, and why."""

    status: LetterStatus
    why: str


def names_of(letter: DeadLetter) -> tuple[str, ...]:
    """What a letter can be called by."""
    return (str(letter.at), *(() if letter.original is None else (str(letter.original),)), *letter.ids)


def with_states(letters: Iterable[DeadLetter], marks: Iterable[LetterMark]) -> list[LetterStatus]:
    """The letters with what the marks say of them; a later mark of a letter replaces an earlier one."""
    last: dict[LogPosition, LetterMark] = {}
    sent: Counter[LogPosition] = Counter()
    for mark in marks:
        last[mark.of] = mark
        sent[mark.of] += mark.state == "redriven"
    return [
        LetterStatus(
            each, last[each.at].state if each.at in last else "open", last.get(each.at), each.redrives + sent[each.at]
        )
        for each in letters
    ]


def counts(found: Iterable[LetterStatus]) -> LetterCounts:
    """How many there are, by each of their properties."""
    by: dict[str, Counter[str]] = {name: Counter() for name in LetterCounts._fields}
    for letter, state, _, _ in found:
        for name in ("reason", "tenant", "stage"):
            by[name][getattr(letter, name) or "-"] += 1
        by["state"][state] += 1
        by["day"][day_of(letter.time)] += 1
    ranked = {name: dict(sorted(each.items(), key=lambda one: (-one[1], one[0]))) for name, each in by.items()}
    return LetterCounts(**{**ranked, "day": dict(sorted(by["day"].items()))})


def day_of(millis: int) -> str:
    """The date in UTC of a time in ms; `-` where it is beyond all dates."""
    try:
        return datetime.fromtimestamp(millis / 1000, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return "-"


def divided(
    found: Sequence[LetterStatus],
    action: Action,
    partitions: Mapping[str, int],
    *,
    again: bool = False,
    chained: Collection[str] = (),
) -> tuple[list[LetterStatus], list[RefusedLetter]]:
    """The letters that the action may be done to, and those that it is refused for.

    `partitions` are the partition counts of the topics there are; `again` also redrives what was redriven; `chained`
    are the stages that the broker feeds nothing.
    """
    allowed, refused = [], []
    for status in found:
        why = _why_not(status, action, partitions, again)
        if why is None and action == "redrive" and (stage := status.letter.stage) in chained:
            why = CHAINED.format(stage=stage, topic=status.letter.original and status.letter.original.topic)
        if why is None:
            allowed.append(status)
        else:
            refused.append(RefusedLetter(status, why))
    return allowed, refused


def _why_not(status: LetterStatus, action: Action, partitions: Mapping[str, int], again: bool) -> str | None:
    mark = status.mark
    if action == "undo":
        return None if status.state == "discarded" else f"it is {status.state}, not discarded; there is nothing to undo"
    if status.state == "discarded":
        back = f"`fathom dlq discard {status.letter.at} --undo --execute` takes that back"
        return f"it was discarded {_at(mark)}; {back}"
    if action == "discard":
        return None
    if status.state == "redriven" and not again:
        to = mark.to if mark else "?"
        return f"it was redriven {_at(mark)} to {to}; --again sends it once more, without a second effect"
    return _cannot_be_sent(status, partitions)


def _cannot_be_sent(status: LetterStatus, partitions: Mapping[str, int]) -> str | None:
    letter = status.letter
    if status.redrives >= MAX_REDRIVES:
        return (
            f"it was redriven {status.redrives} times, and {MAX_REDRIVES} is the limit: mend what `fathom dlq show "
            f"{letter.at}` says and send it corrected as a new record (--raw gives its bytes), or discard it"
        )
    if letter.original is None:
        return "its headers do not say where it came from; send its bytes (`fathom dlq show --raw`) where they belong"
    topic, partition, _ = letter.original
    if topic not in partitions:
        return f"the broker has no topic {topic}, where it came from; `fathom topics apply` makes it"
    if partition >= partitions[topic]:
        return f"{topic} has {partitions[topic]} partitions and no number {partition}, where it came from"
    if letter.partial is not None:
        return letter.partial
    if letter.bare:
        return "it has neither key nor value, and no client sends that: discard it"
    return None


def _at(mark: LetterMark | None) -> str:
    return "" if mark is None else f"at {moment_of(mark.time)}"


def moment_of(millis: int) -> str:
    """A time in ms for people, in UTC; the number itself where it is beyond all dates."""
    try:
        return f"{datetime.fromtimestamp(millis / 1000, UTC):%Y-%m-%d %H:%M:%SZ}"
    except (ValueError, OverflowError, OSError):
        return str(millis)


def unknown(names: Collection[str], found: Iterable[DeadLetter]) -> list[str]:
    """The names that no letter has."""
    known = {name for letter in found for name in names_of(letter)}
    return [name for name in names if name not in known]
