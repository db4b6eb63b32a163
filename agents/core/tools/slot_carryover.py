"""Arguments of a tool call that the dialogue has settled: proposed, offered, or used before. Pure.

The value of each missing argument is the first of

1. the assistant's last proposal for this task ("Please confirm: 2 tickets on March 7th");
2. the offered row of the last result that has the argument;
3. the argument in the last call of the same service that had it, or the only one of its type there;
4. the number of people of another task, if there is only one and the user continues from it ("a bus for us").

Completed tasks do not count: a second payment does not take the amount of the first. A place or date of another task
has the right type but another meaning: the user is asked, also after "a hotel there", as for all other arguments.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agents.core.tools.argument_reading import read
from agents.core.tools.argument_types import PEOPLE, Kind, SlotType, sort_of

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


def recall(dialogue: Sequence[EarlierTurn], tool: str, missing: Sequence[str]) -> Mapping[str, Recalled]:
    """The unambiguous values of a call's missing arguments, each with its source."""
    return {name: each for name, each in candidates(dialogue, tool, missing).items() if each.value is not None}


def candidates(dialogue: Sequence[EarlierTurn], tool: str, missing: Sequence[str]) -> Mapping[str, Recalled]:
    """The values of a call's missing arguments, ambiguous ones included."""
    task = _task(dialogue, tool)
    found = {name: _recalled(name, sort_of(name), task) for name in missing}
    return {name: each for name, each in found.items() if each is not None}


def _task(dialogue: Sequence[EarlierTurn], tool: str) -> _Task:
    made = [(place, turn.used) for place, turn in enumerate(dialogue) if turn.used is not None]
    service = service_of(tool)
    done = max((place for place, used in made if used.tool == tool and _carried_out(used, dialogue[place])), default=-1)
    own = [each for each in made if service == service_of(each[1].tool) and each[0] > done]
    others = [each for each in made if each not in own]
    began = others[-1][0] if others else -1
    # The turn that reports a result is about that task, not yet about the next.
    first = own[-1][0] if own and own[-1][0] > began else began + 1
    said = [(place, turn.text) for place, turn in enumerate(dialogue) if place >= first and turn.role == "assistant"]
    told = dialogue[first].text if own and first == own[-1][0] else None
    return _Task(dialogue, own, others, said[::-1], told)


def _carried_out(used: Used, told: EarlierTurn) -> bool:
    """Whether a call changed something, which completes its task."""
    return bool(used.rows) and bool(_COMMITS.search(used.tool.rpartition(".")[2])) and not _FAILED.search(told.text)


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
        if not task.own and (not _RECAP.search(text) or _OFFER.search(text)):
            continue
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
    asked = [turn.text for turn in task.dialogue[task.began :] if turn.role == "user"]
    if sort != SlotType(Kind.COUNT, PEOPLE) or not any(map(_US.search, asked)):
        return None
    found = list(_alike(sort, task.others))
    values = _distinct(value for _, value in found)
    if not values:
        return None
    place, last = found[-1]
    # Several different values: ambiguous.
    return Recalled(last, "reference", place) if len(values) == 1 else Recalled(None, "reference", place, values)


def _alike(sort: SlotType, used: Sequence[tuple[int, Used]]) -> Iterator[tuple[int, object]]:
    for place, each in used:
        yield from ((place, value) for name, value in each.args.items() if sort_of(name) == sort)


def _distinct(values: Iterable[object]) -> tuple[object, ...]:
    """Each value once, in its first spelling."""
    found: dict[str, object] = {}
    for value in values:
        found.setdefault(plain(value), value)
    return tuple(found.values())


def plain(value: object) -> str:
    """The words of a value, for comparison."""
    return re.sub(r"[\W_]+", " ", str(value).lower()).strip()
