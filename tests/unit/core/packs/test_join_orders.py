"""A pack depends on which parts came in time: not on their order, their repeats, or the deaths of who joins them."""

import random
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import combinations, permutations
from typing import NamedTuple

import pytest

from agents.core.packs.join_table import JoinRules, JoinTable, Partial
from agents.stages.assembler import _summarise
from schemas import codec
from schemas.depth import DepthLevel
from schemas.envelope import Outgoing, Settled
from schemas.packs import ContextPack
from schemas.retrieval import JoinTicked, MemoryClass
from streams.stores.tokens import EstimatedTokens
from tests import counters
from tests.builders.events import AT, after, chunk, claim, message, opened, part, persona, received, summary
from tests.builders.examples import few

RULES = JoinRules(EstimatedTokens(), _summarise)
TERMS = opened(DepthLevel.D3)
ITEMS = {
    MemoryClass.WORKING_SET: message("w1", "Qual é o prazo?"),
    MemoryClass.PERSONA: persona(),
    MemoryClass.EPISODIC: summary("s1", "Falámos do prazo do projeto."),
    MemoryClass.SEMANTIC: chunk("c1", "O prazo do projeto é dia 15."),
    MemoryClass.CLAIMS: claim("k1", "O prazo é dia 15."),
}
CLASSES = tuple(ITEMS)
CASES, HISTORIES = 3_840, few(10_000, 500)
WORKLOAD = "a join of five parts"
OVER = TERMS.deadline_at + timedelta(milliseconds=50)


class Sent(NamedTuple):
    """An event, and when it was written."""

    event: Partial
    at: datetime


OPENING = Sent(TERMS, AT)
# Each part has a time of its own, whatever place in the log it has.
PARTS = {
    memory: Sent(part(memory, ITEMS[memory], pack_id=TERMS.pack_id, plan_id=TERMS.plan_id), after(10 * (number + 1)))
    for number, memory in enumerate(CLASSES)
}


def joined(log: Sequence[Sent], deaths: Iterable[int] = (), choose: random.Random | None = None) -> list[bytes]:
    """The packs of a log; who joins dies at some places, and the next one reads again from its commit or before."""
    table, packs, settled = JoinTable(0, RULES), list[ContextPack](), set[int]()
    for place in range(len(log)):
        _read(table, log, place, packs, settled)
        if place in deaths and choose is not None:
            table = JoinTable(0, RULES)
            for pack in packs:
                table.restore(received(pack, at=AT, topic="context-packs.out"))
            committed = next(one for one in range(place + 2) if one not in settled)
            for again in range(choose.randint(0, min(committed, place)), place + 1):
                _read(table, log, again, packs, settled)
    return [codec.dump(pack) for pack in packs]


def _read(table: JoinTable, log: Sequence[Sent], place: int, packs: list[ContextPack], settled: set[int]) -> None:
    for step in table.add(received(log[place].event, offset=place, at=log[place].at)):
        positions = step.positions if isinstance(step, Settled) else getattr(step, "settles", ())
        settled |= {position.offset for position in positions}
        if isinstance(step, Outgoing) and isinstance(step.event, ContextPack):
            packs.append(step.event)


def ticked(at: datetime) -> Sent:
    return Sent(JoinTicked(at=at), at)


EXPECTED = {
    frozenset(there): joined([OPENING, *(PARTS[memory] for memory in there), ticked(OVER)])
    for number in range(len(CLASSES) + 1)
    for there in combinations(CLASSES, number)
}


def orders() -> Iterator[tuple[frozenset[MemoryClass], list[Sent]]]:
    """Each order of the parts without each set of them, the terms somewhere among them."""
    choose = random.Random(1)
    for order in permutations(CLASSES):
        for there in EXPECTED:
            log = [PARTS[memory] for memory in order if memory in there]
            log.insert(choose.randint(0, len(log)), OPENING)
            yield there, [*log, ticked(OVER)]


def history(choose: random.Random) -> tuple[frozenset[MemoryClass], list[Sent]]:
    """Some parts in time, some late, most of them more than once, with ticks between them; who came in time."""
    there = frozenset(memory for memory in CLASSES if choose.random() < 0.8)
    early = [OPENING, *(PARTS[memory] for memory in there)]
    choose.shuffle(early)
    for sent in tuple(early):
        for _ in range(choose.choice((0, 0, 1, 2))):  # a repeat is written later, and lies behind what it repeats
            repeat = Sent(sent.event, sent.at + timedelta(milliseconds=5))
            early.insert(choose.randint(early.index(sent) + 1, len(early)), repeat)
        early.insert(choose.randint(0, len(early)), ticked(AT))
    late = [Sent(PARTS[memory].event, OVER + timedelta(milliseconds=9)) for memory in CLASSES if choose.random() < 0.5]
    return there, [*early, ticked(OVER), *late]


def test_the_terms_want_all_five_classes_and_each_set_of_parts_makes_another_pack() -> None:
    assert set(TERMS.wanted) == set(CLASSES)
    assert len({packs[0] for packs in EXPECTED.values()}) == 2 ** len(CLASSES)
    assert {len(packs) for packs in EXPECTED.values()} == {1}


@pytest.mark.covers("B9")
def test_parts_in_any_order_and_with_any_of_them_missing_make_the_same_pack_once() -> None:
    cases = list(orders())[:: few(1, 5)]  # five shares no factor with the number of sets: each is among them
    wrong = [log for there, log in cases if joined(log) != EXPECTED[there]]
    counters.record("B9", WORKLOAD, {"cases": len(cases)}, {"wrong": len(wrong)})
    assert len(cases) == few(CASES, CASES // 5)
    assert wrong == []


@pytest.mark.covers("B9")
def test_repeats_late_parts_and_deaths_change_no_pack_and_make_no_second_one() -> None:
    wrong = []
    for seed in range(HISTORIES):
        choose = random.Random(seed)
        there, log = history(choose)
        if joined(log, {choose.randrange(len(log)) for _ in range(2)}, choose) != EXPECTED[there]:
            wrong.append(seed)
    counters.record("B9", WORKLOAD, {"histories": HISTORIES}, {"wrong": len(wrong)})
    assert wrong == []
