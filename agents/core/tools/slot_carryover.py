"""Arguments of a tool call that the dialogue has settled: proposed, offered, or used before. Pure.

The value of each missing argument is the first of

1. the assistant's last proposal for this task ("Please confirm: 2 tickets on March 7th");
2. the offered row of the last result that has the argument;
3. the argument in the last call of the same service that had it, or the only one of its type there;
4. the place of another task after "a hotel there", or its number of people after "a bus for us", if there is only one;
5. the one name of the last proposal that no other argument accounts for, if one argument alone is open.

Completed tasks do not count: a second payment does not take the amount of the first, nor does a request for money take
its receiver. A date of another task has the right type but another meaning: the user is asked, as for a place that no
word points to, and for all other arguments.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Literal

from agents.core.language.lexicons import framed
from agents.core.tools.argument_reading import read
from agents.core.tools.argument_types import PEOPLE, Kind, SlotType, sort_of, words_of
from agents.core.tools.open_spans import plain, unclaimed
from agents.core.tools.pointed_places import places_of, points_there

Source = Literal["proposal", "result", "call", "reference"]
Row = Mapping[str, object]

_ASKS_OR_STATES = re.compile(
    r"\?|\b(?:confirm|correct|right|verify|approve|recap|details|clear|check|confirma|correto|certo)", re.I
)
# For a task without calls yet: earlier text may be about the previous task.
_RECAP = re.compile(
    r"\b(?:confirm\w*|verify|correct|right\?|so you|you want|you(?:'d| would) like (?:to|me|an?|for)|recap|details|"
    r"book(?:ing)? |reserv(?:e|ing) |schedul|você quer|reservar|agendar|certo\?)",
    re.I,
)
_OFFER = re.compile(r"^(?:how about|there(?:'s| is| are)|i (?:have|found)|encontrei|há|tem )", re.I)
_US = re.compile(
    r"\b(?:there|same|also|those|(?:for )?(?:us|all of us)|my (?:trip|stay|destination|event)|"
    r"the (?:area|city|place|event|venue|hotel|restaurant|concert|game|show)|lá|também|mesm[oa]s?|nós|a gente)\b",
    re.I,
)
_COMMITS = re.compile(
    r"^(?:make|buy|book|reserve|request|transfer|send|order|rent|add|create|pay|share|"
    r"comprar|reservar|agendar|enviar|pagar|transferir|criar|pedir|alugar)",
    re.I,
)
_FAILED = re.compile(
    r"\b(?:sorry|unable|unfortunately|fail(?:ed|s)?|problem|error|unsuccessful|nothing available|instead|how about|"
    r"(?:does|will|would) (?:that|this|it) work|can'?t|cannot|(?:could|was|did|were)(?:n'?t| not)|"
    r"não (?:foi possível|consegui|deu)|infelizmente|falhou|erro|que tal|em vez)\b",
    re.I,
)
_SHORTEST = 4
_BUT = re.compile(r"\b(?:but|and|mas|no|não)\b", re.I)
_FRAMES = {
    "says_yes": r"(?i)\W*<<says_yes>>\b",
    "lists": r"(?i)\b<<lists>>\b",
}
# Never who gets something: a means of payment is a name, too.
_NAMED = frozenset({Kind.NAME, Kind.OTHER})


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return framed("argument_values", _FRAMES[name])


@dataclass(frozen=True, slots=True)
class Used:
    """A completed call, and the rows of its result."""

    tool: str
    args: Mapping[str, object]
    rows: Sequence[Row] = ()


@dataclass(frozen=True, slots=True)
class EarlierTurn:
    """A turn; `used` is the call before its text."""

    role: str
    text: str
    used: Used | None = None


@dataclass(frozen=True, slots=True)
class Recalled:
    """A value and the index of its turn; `among` lists several equally likely ones (`value` may be None then)."""

    value: object
    source: Source
    place: int = -1
    among: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class _Task:
    """The dialogue from the view of one call: calls of its own service, of others, and the proposals since."""

    dialogue: Sequence[EarlierTurn]
    own: Sequence[tuple[int, Used]]
    others: Sequence[tuple[int, Used]]
    proposals: Sequence[tuple[int, str]]
    told: str | None

    @property
    def began(self) -> int:
        """The index of the other tasks' last call, -1 for none; later user turns may be about this task."""
        return self.others[-1][0] if self.others else -1


NOTHING: Mapping[str, object] = MappingProxyType({})


def recall(
    dialogue: Sequence[EarlierTurn], tool: str, missing: Sequence[str], given: Mapping[str, object] = NOTHING
) -> Mapping[str, Recalled]:
    """The unambiguous values of a call's missing arguments, each with its source."""
    return {name: each for name, each in candidates(dialogue, tool, missing, given).items() if each.value is not None}


def candidates(
    dialogue: Sequence[EarlierTurn], tool: str, missing: Sequence[str], given: Mapping[str, object] = NOTHING
) -> Mapping[str, Recalled]:
    """The values of a call's missing arguments, ambiguous ones included; `given` are those that it has."""
    task = _task(dialogue, tool)
    found = {name: _recalled(name, sort_of(name), task) for name in missing}
    known = {name: each for name, each in found.items() if each is not None}
    is_open = [name for name in missing if name not in known and sort_of(name).kind in _NAMED]
    if len(is_open) == 1 and (named := _named(task, [*given.values(), *(each.value for each in known.values())])):
        known[is_open[0]] = named
    return known


def _named(task: _Task, claimed: Sequence[object]) -> Recalled | None:
    """The one name of the last proposal that nothing else accounts for."""
    shown = [value for _, used in task.own for row in used.rows for value in row.values()]
    said = [value for _, used in task.own for value in used.args.values()]
    for place, text in task.proposals:
        if text is task.told or (not _ASKS_OR_STATES.search(text) and not _RECAP.search(text)):
            continue
        names = unclaimed(text, [*claimed, *said, *shown])
        return Recalled(names[0], "proposal", place) if len(names) == 1 and _says_yes(task, place) else None
    return None


def _task(dialogue: Sequence[EarlierTurn], tool: str) -> _Task:
    made = [(place, turn.used) for place, turn in enumerate(dialogue) if turn.used is not None]
    service = service_of(tool)
    ours = [each for each in made if service == service_of(each[1].tool)]
    ended = [each for each in ours if _is_another(tool, each[1].tool)]
    done = max((place for place, used in ended if _carried_out(used, dialogue[place])), default=-1)
    own = [each for each in ours if each[0] > done]
    others = [each for each in made if each not in own]
    began = others[-1][0] if others else -1
    # The turn that reports a result is about that task, not yet about the next.
    first = own[-1][0] if own and own[-1][0] > began else began + 1
    said = [(place, turn.text) for place, turn in enumerate(dialogue) if place >= first and turn.role == "assistant"]
    told = dialogue[first].text if own and first == own[-1][0] else None
    return _Task(dialogue, own, others, said[::-1], told)


def _carried_out(used: Used, told: EarlierTurn) -> bool:
    """Whether a call changed something, which completes its task."""
    return bool(used.rows) and _commits(used.tool) and not _FAILED.search(told.text)


def _is_another(tool: str, done: str) -> bool:
    """Whether a call is another matter once one was carried out: the same again, or another act upon its object.

    `RequestPayment` after `MakePayment` is; to pay what was booked, or to cancel it, is not.
    """
    ours, theirs = (words_of(each.rpartition(".")[2])[1:] for each in (tool, done))
    return tool == done or (_commits(tool) and bool(ours) and ours == theirs)


def _commits(tool: str) -> bool:
    return _COMMITS.search(tool.rpartition(".")[2]) is not None


def service_of(tool: str) -> str:
    """The service of a tool: `Buses_1` of `Buses_1.FindBus`; tools without a service share one."""
    return tool.rpartition(".")[0]


def _recalled(name: str, sort: SlotType, task: _Task) -> Recalled | None:
    proposed = _proposed(name, sort, task)
    if proposed is not None:
        return proposed
    row = _row_with(name, task)
    # The price of one bus seat says nothing about the number of passengers.
    if row is not None and (sort.kind != Kind.COUNT or any(name in used.args for _, used in task.own)):
        return row
    used = _used(name, sort, task)
    return used if used is not None or task.own else _referred(sort, task)


def _proposed(name: str, sort: SlotType, task: _Task) -> Recalled | None:
    for place, text in task.proposals:
        if text is task.told and not _known(name, task):
            continue  # a report of a result proposes only values that the result has
        if not task.own and (
            not (_RECAP.search(text) or (sort.kind == Kind.PLACE and _agreed(task, place))) or _OFFER.search(text)
        ):
            continue
        if _pattern("lists").search(text) and not _known(name, task):
            continue  # what there is already, is not what shall be
        if sort.kind in (Kind.PLACE, Kind.NAME, Kind.OTHER, Kind.PERSON):
            if sort.kind != Kind.OTHER and not _ASKS_OR_STATES.search(text):
                continue
            if _known(name, task) and sort.kind != Kind.OTHER:
                continue
        if sort.kind == Kind.MONEY and not _ASKS_OR_STATES.search(text):
            continue
        value = read(name, sort, text)
        if value is not None:
            return Recalled(value, "proposal", place)
    return None


def _agreed(task: _Task, place: int) -> bool:
    """Whether the user says yes to what the assistant asked."""
    return "?" in task.dialogue[place].text and _says_yes(task, place)


def _says_yes(task: _Task, place: int) -> bool:
    answer = next((turn.text for turn in task.dialogue[place + 1 : place + 2] if turn.role == "user"), "")
    return _pattern("says_yes").match(answer) is not None and _BUT.search(answer) is None


def _known(name: str, task: _Task) -> bool:
    return any(name in used.args or any(name in row for row in used.rows) for _, used in task.own)


def _row_with(name: str, task: _Task) -> Recalled | None:
    for place, used in reversed(task.own):
        rows = [row for row in used.rows if name in row]
        if rows:
            offered = _distinct(row[name] for row in _offered(rows, name, task.dialogue[place:]))
            return Recalled(offered[0], "result", place, offered if len(offered) > 1 else ())
    return None


def _offered(rows: Sequence[Row], name: str, since: Sequence[EarlierTurn]) -> Sequence[Row]:
    """The row the assistant mentioned last, else the one mentioned most; several where equal."""
    told = f" {' '.join(plain(turn.text) for turn in since if turn.role == 'assistant')} "

    def spoken(row: Row) -> tuple[int, int]:
        values = [(key, plain(value)) for key, value in row.items() if isinstance(value, str)]
        long = [(key, value) for key, value in values if len(value) >= _SHORTEST]
        last = max((told.rfind(f" {value} ") for key, value in long if "name" in key or key == name), default=-1)
        return last, sum(len(value) for _, value in long if f" {value} " in told)

    ranks = [spoken(row) for row in rows]
    return [row for row, rank in zip(rows, ranks, strict=True) if rank == max(ranks)]


def _used(name: str, sort: SlotType, task: _Task) -> Recalled | None:
    for place, used in reversed(task.own):
        if name in used.args:
            return Recalled(used.args[name], "call", place)
    several = None
    if sort.kind != Kind.OTHER:
        for place, used in reversed(task.own):
            alike = [value for other, value in used.args.items() if sort_of(other) == sort]
            if len(alike) == 1:
                return Recalled(alike[0], "call", place)
            if alike and several is None:
                several = Recalled(None, "call", place, _distinct(alike))
    return several


def _referred(sort: SlotType, task: _Task) -> Recalled | None:
    since = task.dialogue[max(task.began, 0) :]
    if sort == SlotType(Kind.PLACE):
        return _there(task) if _says_there(since) else None
    asked = [turn.text for turn in since if turn.role == "user"]
    if sort != SlotType(Kind.COUNT, PEOPLE) or not any(map(_US.search, asked)):
        return None
    found = list(_alike(sort, task.others))
    values = _distinct(value for _, value in found)
    if not values:
        return None
    place, last = found[-1]
    # Several different values: ambiguous.
    return Recalled(last, "reference", place) if len(values) == 1 else Recalled(None, "reference", place, values)


def _says_there(since: Sequence[EarlierTurn]) -> bool:
    """Whether the user said `there`, and the assistant has confirmed nothing after it.

    What it confirms says the place itself: where that could not be read, it is asked for.
    """
    there = next((n for n, turn in enumerate(since) if turn.role == "user" and points_there(turn.text)), None)
    return there is not None and not any(_RECAP.search(t.text) for t in since[there:] if t.role == "assistant")


def _there(task: _Task) -> Recalled | None:
    """The place of the last service that had one: `a hotel there`."""
    for place, used in reversed(task.others):
        places = places_of(used.args)
        if not places:
            continue
        service = service_of(used.tool)
        earlier = [places_of(other.args) for _, other in reversed(task.others) if service_of(other.tool) == service]
        towns = next(filter(None, ([value for is_town, _, value in each if is_town] for each in earlier)), [])
        # Where a way ends, else the town, else the only place there is: a car may be picked up at a station.
        ends = [value for _, part, value in places if not part]
        values = _distinct(ends or towns or [value for *_, value in places])
        return Recalled(values[0] if len(values) == 1 else None, "reference", place, values[1:] and values)
    return None


def _alike(sort: SlotType, used: Sequence[tuple[int, Used]]) -> Iterator[tuple[int, object]]:
    for place, each in used:
        yield from ((place, value) for name, value in each.args.items() if sort_of(name) == sort)


def _distinct(values: Iterable[object]) -> tuple[object, ...]:
    """Each value once, in its first spelling."""
    found: dict[str, object] = {}
    for value in values:
        found.setdefault(plain(value), value)
    return tuple(found.values())
