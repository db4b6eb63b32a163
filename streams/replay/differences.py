"""What two runs made of the same messages, compared: depths, sources, items, tokens, evidence and time."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from typing_extensions import TypedDict

from agents.core.progress import pack_document
from schemas.depth import DepthClassified
from schemas.packs import ContextPack

MAX_ROWS = 10_000
SKIPPED = "skipped"
BUDGET = "budget"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a run made of one message; `items` are sections and titles by id, `over_budget` those it had no room for."""

    query: str
    conversation_id: str
    level: str
    sources: frozenset[str] = frozenset()
    items: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    tokens: int = 0
    evidence: bool = False
    degraded: bool = False
    took_ms: float = 0.0
    over_budget: frozenset[str] = frozenset()


def answer(classified: DepthClassified, pack: ContextPack | None, took_ms: float | None = None) -> Answer:
    """The answer of a classification and its pack, where it has one."""
    said = (classified.query, classified.conversation_id, classified.depth_level.value)
    if pack is None:
        return Answer(*said)
    return Answer(
        *said,
        frozenset(part.memory_class.value for part in pack.parts if part.status != SKIPPED),
        {item.id: (section, pack_document.title(item)) for section, item in pack_document.kept_items(pack)},
        pack.total_tokens_estimated,
        pack.evidence == "found",
        pack.degraded,
        pack.latency_ms if took_ms is None else took_ms,
        frozenset(each.id for each in pack.dropped if each.reason == BUDGET),
    )


class ChangedItem(TypedDict):
    """An item of a pack: its section, and its title there; `over_budget` where the other run found it, too.

    The other pack then had no room for it.
    """

    id: str
    section: str
    title: str
    over_budget: bool


class ChangedMessage(TypedDict):
    """A message that came out otherwise; of two values the first is the other run's."""

    message_id: str
    conversation_id: str
    query: str
    depth: tuple[str, str]
    sources_gained: list[str]
    sources_lost: list[str]
    items_gained: list[ChangedItem]
    items_lost: list[ChangedItem]
    tokens: tuple[int, int]
    evidence: tuple[bool, bool]


class ChangedDepth(TypedDict):
    """How many messages had one level, and have another now."""

    was: str
    now: str
    messages: int


class Quantiles(TypedDict):
    """Quantiles in ms; null without packs."""

    p50: float | None
    p95: float | None


class RunsCompared(TypedDict):
    """What a run made otherwise than another, which is `was`: the sums, and the messages that came out otherwise.

    `items` are `kept`, `gained` and `lost`, by section; `over_budget` are the packs of either without room for what
    the other one has.
    """

    compared: int
    different: int
    only_recorded: int
    only_replayed: int
    depths: list[ChangedDepth]
    sources: dict[str, dict[str, int]]
    items: dict[str, dict[str, int]]
    tokens: dict[str, int]
    evidence: dict[str, int]
    degraded: dict[str, int]
    over_budget: dict[str, int]
    latency_ms: dict[str, Quantiles]
    changes: list[ChangedMessage]
    changes_left_out: int


@dataclass(frozen=True, slots=True)
class Change:
    """A message that came out otherwise."""

    message_id: str
    was: Answer
    now: Answer

    @property
    def gained(self) -> list[str]:
        return [each for each in self.now.items if each not in self.was.items]

    @property
    def lost(self) -> list[str]:
        return [each for each in self.was.items if each not in self.now.items]

    def row(self) -> ChangedMessage:
        """The change as JSON."""
        was, now = self.was, self.now
        return {
            "message_id": self.message_id,
            "conversation_id": was.conversation_id,
            "query": was.query,
            "depth": (was.level, now.level),
            "sources_gained": sorted(now.sources - was.sources),
            "sources_lost": sorted(was.sources - now.sources),
            "items_gained": [_item(each, now, was) for each in self.gained],
            "items_lost": [_item(each, was, now) for each in self.lost],
            "tokens": (was.tokens, now.tokens),
            "evidence": (was.evidence, now.evidence),
        }


def _item(item_id: str, of: Answer, other: Answer) -> ChangedItem:
    section, title = of.items[item_id]
    return ChangedItem(id=item_id, section=section, title=title, over_budget=item_id in other.over_budget)


@dataclass(slots=True)
class Differences:
    """The sums over all compared messages, and a row for each that differs."""

    compared: int = 0
    only_recorded: int = 0
    only_replayed: int = 0
    depths: Counter[tuple[str, str]] = field(default_factory=Counter)
    sources: Counter[tuple[str, str]] = field(default_factory=Counter)
    items: Counter[tuple[str, str]] = field(default_factory=Counter)
    tokens: list[int] = field(default_factory=lambda: [0, 0])
    evidence: Counter[str] = field(default_factory=Counter)
    degraded: list[int] = field(default_factory=lambda: [0, 0])
    over_budget: list[int] = field(default_factory=lambda: [0, 0])
    took_ms: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))
    different: int = 0
    changes: list[Change] = field(default_factory=list)

    def add(self, message_id: str, was: Answer | None, now: Answer | None) -> None:
        """Compare what two runs made of a message; None where a run has none."""
        if was is None or now is None:
            self.only_replayed += was is None
            self.only_recorded += now is None
            return
        self.compared += 1
        self.depths[was.level, now.level] += 1
        for at, each in enumerate((was, now)):
            self.tokens[at] += each.tokens
            self.degraded[at] += each.degraded
            self.took_ms[at].append(each.took_ms)
            self.sources.update((name, ("was", "now")[at]) for name in each.sources)
        change = Change(message_id, was, now)
        self.items.update((was.items[each][0], "lost") for each in change.lost)
        self.items.update((now.items[each][0], "gained") for each in change.gained)
        self.items.update((now.items[each][0], "kept") for each in now.items if each in was.items)
        self.over_budget[0] += not was.over_budget.isdisjoint(change.gained)
        self.over_budget[1] += not now.over_budget.isdisjoint(change.lost)
        self.evidence["gained"] += now.evidence and not was.evidence
        self.evidence["lost"] += was.evidence and not now.evidence
        if _differs(was, now):
            self.different += 1
            if len(self.changes) < MAX_ROWS:
                self.changes.append(change)

    def levels(self) -> Iterator[tuple[str, str, int]]:
        """The changed depths: from, to, messages."""
        yield from ((was, now, count) for (was, now), count in sorted(self.depths.items()) if was != now)

    def total(self, what: str) -> int:
        """The number of items `gained`, `lost` or `kept`."""
        return sum(count for (_, each), count in self.items.items() if each == what)

    def as_json(self, most: int = MAX_ROWS) -> RunsCompared:
        """The report, with at most so many messages."""
        changes = self.changes[:most]
        took = [Quantiles(p50=quantile(each, 0.5), p95=quantile(each, 0.95)) for each in self.took_ms]
        return {
            "compared": self.compared,
            "different": self.different,
            "only_recorded": self.only_recorded,
            "only_replayed": self.only_replayed,
            "depths": [{"was": was, "now": now, "messages": n} for was, now, n in self.levels()],
            "sources": _table(self.sources, ("was", "now")),
            "items": _table(self.items, ("kept", "gained", "lost")),
            "tokens": {"was": self.tokens[0], "now": self.tokens[1]},
            "evidence": {"gained": self.evidence["gained"], "lost": self.evidence["lost"]},
            "degraded": {"was": self.degraded[0], "now": self.degraded[1]},
            "over_budget": {"was": self.over_budget[0], "now": self.over_budget[1]},
            "latency_ms": {"was": took[0], "now": took[1]},
            "changes": [change.row() for change in changes],
            "changes_left_out": self.different - len(changes),
        }


def _differs(was: Answer, now: Answer) -> bool:
    return (was.level, was.sources, [*was.items], was.tokens) != (now.level, now.sources, [*now.items], now.tokens)


def _table(counts: Counter[tuple[str, str]], columns: Sequence[str]) -> dict[str, dict[str, int]]:
    names = sorted({name for name, _ in counts})
    return {name: {column: counts[name, column] for column in columns} for name in names}


def quantile(values: Sequence[float], share: float) -> float | None:
    """A quantile by the nearest rank; None without values."""
    return round(sorted(values)[min(int(len(values) * share), len(values) - 1)], 1) if values else None
