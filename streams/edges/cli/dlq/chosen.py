"""The dead letters that a command means: its options, the names given, and what is wrong with them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated

import typer

from schemas.topics import BY_NAME
from streams.config import Settings
from streams.edges.client.errors import CONFIG, DOWN, FAILURE, USAGE, CommandFailed, nearest
from streams.kafka.security import security_of
from streams.redrive import choice, log
from streams.redrive.choice import LetterFilter, LetterStatus
from streams.redrive.letters import STATES
from streams.replay import broker_source
from streams.replay.log import Log, opened
from streams.replay.selection import duration, moment
from streams.runtime import data_dir
from streams.runtime.dead_letters import LogPosition
from streams.topology import NAMED

PREFIX = "dead-letters."

Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME]...", help="topic:partition:offset of a dead letter or of its original, or an id."),
]
Reason = Annotated[str | None, typer.Option("--reason", help="Only with this reason code.")]
Tenant = Annotated[str | None, typer.Option("--tenant", help="Only this tenant's.")]
StageName = Annotated[str | None, typer.Option("--stage", help="Only of this stage.")]
Since = Annotated[
    str | None, typer.Option("--since", metavar="TIME", help="From then on: ISO 8601, UTC without a zone; or 90m, P7D.")
]
Until = Annotated[str | None, typer.Option("--until", metavar="TIME", help="Before then; as --since.")]


@dataclass(frozen=True, slots=True)
class LetterOptions:
    """The options by which letters are chosen, as they were given."""

    names: tuple[str, ...] = ()
    reason: str | None = None
    tenant: str | None = None
    stage: str | None = None
    since: str | None = None
    until: str | None = None

    def conditions(self, now: datetime) -> LetterFilter:
        """The conditions; raises `CommandFailed` for a time or a stage that there is not."""
        known = [stage.name for stage in NAMED.values()]
        if self.stage is not None and self.stage not in known:
            raise CommandFailed(f"--stage {self.stage}: there is no such stage{nearest(self.stage, known)}", USAGE)
        since, until = (_moment(f"--{name}", getattr(self, name), now) for name in ("since", "until"))
        if since is not None and until is not None and since >= until:
            raise CommandFailed("--since is not before --until: nothing is between them", USAGE)
        return LetterFilter(self.names, self.reason, self.tenant, self.stage, since, until)


@dataclass(frozen=True, slots=True)
class ReadLetters:
    """The letters found, and what the log is called by those who write to it."""

    log: Log
    bootstrap: str
    found: list[LetterStatus]


def _moment(option: str, text: str | None, now: datetime) -> int | None:
    if text is None:
        return None
    try:
        return (
            moment(text) if text[:4].isdecimal() and "-" in text else round((now - duration(text)).timestamp() * 1000)
        )
    except (ValueError, OverflowError) as error:
        raise CommandFailed(f"{option}: {error}", USAGE) from None


@asynccontextmanager
async def letters(settings: Settings, options: LetterOptions, *, writes: bool = False) -> AsyncIterator[ReadLetters]:
    """The letters that the options mean; raises `CommandFailed` for a name that there is not, or a full disk."""
    wanted = options.conditions(datetime.now(UTC))
    home = data_dir.home_of(settings.broker)
    if writes and home is not None and (wrong := data_dir.full(home)):
        raise CommandFailed(f"{wrong}, then try again", DOWN)
    async with broker_source.broker_of(settings) as bootstrap, opened(bootstrap, security_of(settings)) as broker:
        topics, only = _topics(options)
        there = [topic for topic in topics if broker.partitions(topic)]
        if not there:
            raise CommandFailed(f"the broker has no topic {topics[0]}; `fathom topics apply` makes it", CONFIG)
        for name in options.names:
            await _check(broker, name)
        found, _ = await log.read(broker, there, wanted, only)
        if lacking := _lacking(options, found):
            raise CommandFailed(_no_letter(lacking[0], options), FAILURE)
        yield ReadLetters(broker, bootstrap, found)


def _lacking(options: LetterOptions, found: Sequence[LetterStatus]) -> list[str]:
    return choice.unknown(options.names, [each.letter for each in found])


def _topics(options: LetterOptions) -> tuple[list[str], LogPosition | None]:
    """The dead-letter topics to read; and the position, where one letter is named by its own."""
    stages = [stage for stage in NAMED.values() if options.stage in (None, stage.name)]
    places = [_place(name) for name in options.names]
    if places and all(place is not None for place in places):
        named = {place.topic for place in places if place is not None}
        stages = [s for s in stages if s.dead_letters in named or named & {topic.name for topic in s.reads}]
        topics = sorted({stage.dead_letters for stage in stages} | {each for each in named if each.startswith(PREFIX)})
        [only] = places if len(places) == 1 else [None]
        return topics, only if only is not None and only.topic.startswith(PREFIX) else None
    return [stage.dead_letters for stage in stages], None


def _place(name: str) -> LogPosition | None:
    """The position that a name is; None for an id. Raises `CommandFailed` for a dead-letter topic that there is not."""
    topic, *numbers = name.rsplit(":", 2)
    known = [stage.dead_letters for stage in NAMED.values()]
    whole = len(numbers) == 2 and all(number.isdecimal() and number.isascii() for number in numbers)
    if topic.startswith(PREFIX) and topic not in known:
        raise CommandFailed(f"there is no dead-letter topic {topic}{nearest(topic, known)}", USAGE)
    if topic in known and not whole:
        raise CommandFailed(f"{name}: write topic:partition:offset, as {known[0]}:0:17", USAGE)
    if not whole or (topic not in known and topic not in BY_NAME):
        return None
    return LogPosition(topic, int(numbers[0]), int(numbers[1]))


async def _check(broker: Log, name: str) -> None:
    """Raises `CommandFailed` for the position of a dead letter that is not, or no longer, in the log."""
    place = _place(name)
    if place is None or not place.topic.startswith(PREFIX):
        return
    spans = {span.partition: span for span in await broker.spans(place.topic)}
    if place.partition not in spans:
        raise CommandFailed(
            f"{place.topic} has {len(spans)} partitions, the first is 0: there is no number {place.partition}", FAILURE
        )
    span = spans[place.partition]
    where = f"offset {place.offset} of {place.topic}:{place.partition}"
    if place.offset < span.kept_from:
        raise CommandFailed(
            f"{where} is no longer in the log, which is kept from {span.kept_from} on: it is past its retention",
            FAILURE,
        )
    if place.offset >= span.end:
        last = f"the last one is {span.end - 1}" if span.end > span.kept_from else "it is empty"
        raise CommandFailed(f"{where} is not in the log: {last}; `fathom dlq list` shows what is there", FAILURE)


def _no_letter(name: str, options: LetterOptions) -> str:
    """Why no letter has this name."""
    place = _place(name)
    if place is not None and place.topic.startswith(PREFIX):
        if replace(options, names=()) != LetterOptions():
            return f"the dead letter at {name} does not fulfil the other options; leave them out"
        return f"the record at {name} is a mark or an outsider's, no dead letter; `fathom dlq list` shows those"
    return (
        f"no dead letter is called {name}, or it is past its retention; `fathom dlq list --state all` shows all of them"
    )


def states(text: str) -> tuple[str, ...]:
    """The states of `--state`; raises `CommandFailed`."""
    if text == "all":
        return STATES
    if text not in STATES:
        raise CommandFailed(f"--state is one of {', '.join(STATES)} and all, not {text!r}", USAGE)
    return (text,)
