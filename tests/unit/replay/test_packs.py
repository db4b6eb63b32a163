"""Packs made again from recorded partial packs: the same bytes from wherever in the log, or what differs is named."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import orjson
import pytest

from agents.core.packs import instructions
from agents.stages.assembler import Assembler
from schemas.depth import DepthLevel
from schemas.topics import CONTEXT_PACKS, MEMORY_DECISIONS, PACKS_PARTIAL
from streams.kafka.records import Record, TopicPartition
from streams.replay.exact import READ_BACK, Verdict, compare, stretches
from streams.replay.log import PartitionRange
from streams.replay.selection import Selection
from streams.stores.tokens import best_tokens
from streams.testing.pipeline import Pipeline
from streams.topology import SPLIT
from tests.builders.replay_log import LogInMemory
from tests.unit.scenarios.test_revisions import DIFFERENCE, WHY, assembling, feed, late, partials

GUIDE = (
    "O reembolso de viagem da Aurora é pago em dez dias depois da aprovação da diretoria financeira. "
    "O formulário de reembolso fica no portal. A nota fiscal do reembolso é guardada por cinco anos."
)
QUESTIONS = (
    "Explica melhor como funciona o reembolso de viagem",
    "Compara o reembolso de viagem com o de hotel",
    "Lista tudo sobre o reembolso de viagem",
)


class Written:
    def __init__(self) -> None:
        self.packs: list[tuple[int, bytes, bytes, Any]] = []

    async def write(self, partition: int, key: bytes, value: bytes, headers: Any) -> None:
        self.packs.append((partition, key, value, headers))


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        pipeline.document("guia", "Reembolso", GUIDE)
        yield pipeline


def remade(
    fathom: Pipeline, log: LogInMemory, selection: Selection | None = None, **how: Any
) -> tuple[Verdict, Written]:
    verdict, written = Verdict(), Written()

    async def run() -> None:
        chosen = selection or Selection()
        for stretch in await stretches(log, chosen.since):
            assembler = Assembler(**{"tokens": fathom.tokens, **how})
            await compare(log, stretch, assembler, chosen, verdict, written.write)

    asyncio.run(run())
    return verdict, written


def talk(fathom: Pipeline, *conversations: str, pause: float = 20.0) -> None:
    """The same questions one after the other, each by a caller who still holds the pack before it.

    What a pack leaves out depends on another one: the hardest there is to make again.
    """
    held: dict[str, list[str]] = {}
    for question in QUESTIONS:
        for conversation in conversations:
            have = {"have": held[conversation]} if conversation in held else {}
            held[conversation] = [fathom.ask(question, conversation=conversation, **have).pack_id]
            fathom.wait(pause)


def recorded(fathom: Pipeline) -> list[tuple[int, bytes, bytes]]:
    return [(r.partition, r.key or b"", r.value or b"") for r in fathom.log.of(CONTEXT_PACKS.name)]


def ms(moment: Any) -> int:
    return round(moment.timestamp() * 1000)


@pytest.mark.covers("AC-33", "CD-11")
def test_packs_made_again_are_the_recorded_ones_byte_for_byte(fathom: Pipeline):
    talk(fathom, "c1", "c2", "c3")
    before = len(fathom.log.of(CONTEXT_PACKS.name)), len(fathom.log.of(MEMORY_DECISIONS.name))
    assert any(pack.already_in_context for pack in fathom.packs())

    verdict, written = remade(fathom, LogInMemory(fathom.log))

    assert (verdict.made, verdict.equal, verdict.identical) == (9, 9, True)
    assert [pack[:3] for pack in written.packs] == recorded(fathom)
    assert before == (len(fathom.log.of(CONTEXT_PACKS.name)), len(fathom.log.of(MEMORY_DECISIONS.name)))


def test_a_replay_from_the_middle_knows_what_the_packs_before_it_carried(fathom: Pipeline):
    talk(fathom, "c1", pause=100.0)
    talk(fathom, "c1", pause=100.0)
    middle = fathom.packs()[3].assembled_at

    verdict, _ = remade(fathom, LogInMemory(fathom.log), Selection(since=ms(middle)))

    assert any(pack.already_in_context for pack in fathom.packs()[3:])
    assert (verdict.made, verdict.equal) == (3, 3)
    assert verdict.lost == 0


def test_a_replay_from_the_middle_does_not_read_everything_before_it(fathom: Pipeline):
    talk(fathom, "c1", pause=600.0)
    log = LogInMemory(fathom.log)
    last = fathom.packs()[-1]

    verdict, _ = remade(fathom, log, Selection(since=ms(last.assembled_at)))

    assert (verdict.made, verdict.equal) == (1, 1)
    assert {r.topic for r in log.read_of} == {PACKS_PARTIAL.name, CONTEXT_PACKS.name}
    assert all(r.timestamp >= ms(last.assembled_at - 2 * READ_BACK - timedelta(seconds=1)) for r in log.read_of)


def test_what_retention_has_cut_is_said_and_the_rest_is_equal(fathom: Pipeline):
    talk(fathom, "c1", pause=100.0)
    talk(fathom, "c1", pause=100.0)
    log = LogInMemory(fathom.log)
    [tp] = [tp for tp, found in fathom.log.records.items() if tp.topic == PACKS_PARTIAL.name and found]
    opened = [r.offset for r in fathom.log.records[tp] if b'"kind":"open"' in (r.value or b"")]
    # In the midst of the second pack: its plan's terms are gone, some of its parts are not.
    log.cut[tp] = opened[1] + 1

    verdict, _ = remade(fathom, log)

    assert verdict.identical
    assert verdict.made + verdict.lost == 6
    assert verdict.equal == verdict.made >= 1


def test_one_tenants_packs_or_one_conversations_are_made_again_alone(fathom: Pipeline):
    talk(fathom, "c1", "c2")
    fathom.ask("Bom dia!", conversation="c1", tenant="outra")

    of_one, written = remade(fathom, LogInMemory(fathom.log), Selection(conversation="c2"))
    of_other, _ = remade(fathom, LogInMemory(fathom.log), Selection(tenant="outra", conversation="c1"))

    assert (of_one.made, of_one.equal, of_other.made, of_other.equal) == (3, 3, 1, 1)
    assert {orjson.loads(value)["conversation_id"] for _, _, value, _ in written.packs} == {"c2"}


def test_packs_with_every_option_are_made_again_byte_for_byte(fathom: Pipeline):
    options = {"min_depth": "D1", "max_depth": "D3", "look_up": "always", "max_tokens": 700, "template": "support"}
    before = fathom.ask(QUESTIONS[0], **options)
    fathom.ask(QUESTIONS[1], have=[before.pack_id, "unknown"], **options)
    fathom.ask(QUESTIONS[2], headers={"tier": "deep"}, have=[before.pack_id])

    verdict, _ = remade(fathom, LogInMemory(fathom.log))

    assert (verdict.made, verdict.equal) == (3, 3)


def test_a_plan_of_before_0_2_leaves_out_what_the_pack_before_it_carried():
    """As those packs were made, whose records know of no `have`, and by stages apart."""
    with Pipeline(stages=SPLIT) as fathom:
        fathom.document("guia", "Reembolso", GUIDE)
        talk(fathom, "c1")
    for tp, records in fathom.log.records.items():
        if tp.topic == PACKS_PARTIAL.name:
            fathom.log.records[tp] = [replace(each, value=older(each.value or b"")) for each in records]

    _, written = remade(fathom, LogInMemory(fathom.log))

    packs = [orjson.loads(value) for _, _, value, _ in written.packs]
    named = [{each["pack_id"] for each in pack["already_in_context"]} for pack in packs]
    # The third gives again what the second, which is the one before it, left out.
    assert named == [set(), {packs[0]["pack_id"]}, set()]
    # To a model they say what they said then: an exact replay gives the recorded bytes.
    told = [tuple(pack["llm_instructions"]) for pack in packs]
    levels = [(DepthLevel(pack["depth_level"]), pack["lang"]) for pack in packs]
    assert told == [instructions.for_level(level, lang, earlier=True) for level, lang in levels]
    assert told != [instructions.for_level(level, lang) for level, lang in levels]


def older(value: bytes) -> bytes:
    known = orjson.loads(value)
    return orjson.dumps({name: each for name, each in known.items() if name not in ("looks_up", "options")})


def altered(fathom: Pipeline, pack_id: str, change: Any) -> None:
    """Another record, or none, where the pack of this id is recorded."""
    for tp, records in [*fathom.log.records.items()]:
        if tp.topic == CONTEXT_PACKS.name:
            fathom.log.records[tp] = [change(r) if pack_id.encode() in (r.value or b"")[:80] else r for r in records]


def with_value(record: Record, **fields: Any) -> Record:
    return replace(record, value=orjson.dumps({**orjson.loads(record.value or b""), **fields}))


def test_a_pack_that_differs_is_named_with_its_first_field(fathom: Pipeline):
    talk(fathom, "c1")
    pack = fathom.packs()[1]
    dropped = [{"id": "x", "memory_class": "semantic", "reason": "r", "tokens": 1, "score": 0.5}]
    altered(fathom, pack.pack_id, lambda record: with_value(record, dropped=dropped))

    verdict, _ = remade(fathom, LogInMemory(fathom.log))

    assert (verdict.equal, verdict.different, verdict.identical) == (2, 1, False)
    assert verdict.differences[0].pack_id == pack.pack_id
    assert verdict.differences[0].field.startswith("dropped")


def test_a_pack_with_another_header_is_different(fathom: Pipeline):
    talk(fathom, "c1")
    pack = fathom.packs()[1]
    altered(fathom, pack.pack_id, lambda r: replace(r, headers=(*r.headers[:-1], (r.headers[-1][0], b"x"))))

    verdict, _ = remade(fathom, LogInMemory(fathom.log))

    assert [one.field for one in verdict.differences] == ["header ce_causationid"]


@pytest.mark.covers("AC-33")
def test_packs_that_were_lost_or_never_made_are_told_apart(fathom: Pipeline):
    talk(fathom, "c1")
    first, second, _ = fathom.packs()
    altered(fathom, first.pack_id, lambda record: replace(record, value=b"{}"))
    altered(fathom, second.pack_id, lambda record: with_value(record, pack_id="another"))

    verdict, _ = remade(fathom, LogInMemory(fathom.log))

    assert {(one.what, one.pack_id) for one in verdict.differences} == {
        ("extra", first.pack_id),
        ("extra", second.pack_id),
        ("missing", "another"),
    }


def test_a_pack_that_no_worker_has_come_to_yet_is_waiting_not_extra(fathom: Pipeline):
    talk(fathom, "c1")
    for tp, records in fathom.log.records.items():
        if tp.topic == CONTEXT_PACKS.name and records:
            records.pop()

    verdict, _ = remade(fathom, LogInMemory(fathom.log))

    assert (verdict.equal, verdict.waiting, verdict.identical) == (2, 1, True)


def test_other_rules_than_the_first_runs_show_as_differences(fathom: Pipeline):
    talk(fathom, "c1")

    verdict, _ = remade(fathom, LogInMemory(fathom.log), tokens=best_tokens())

    assert verdict.different >= 1
    assert all(one.field for one in verdict.differences)


@pytest.mark.parametrize("since", [None, 1])
def test_revisions_are_made_again_too(since: int | None):
    before, asked = partials(WHY, DIFFERENCE, held=True)
    with assembling() as fathom:
        feed(fathom, before, before)
        late(fathom, asked, "semantic")
        assert [pack.revision for pack in fathom.packs()] == [1, 1, 2]
        at = None if since is None else ms(fathom.packs()[1].assembled_at)

        verdict, _ = remade(fathom, LogInMemory(fathom.log, 1), Selection(since=at), revise=True)

    assert (verdict.equal, verdict.identical) == (3 if since is None else 2, True)


def test_spans_end_where_they_should():
    assert len(PartitionRange("t", 0, 5, 3, 0)) == 0
    assert PartitionRange("t", 1, 2, 5, 0).tp == TopicPartition("t", 1)
