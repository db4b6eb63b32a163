"""A late part gives its pack again, as the next revision: what it holds, when it is made, that nothing repeats it."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from agents.core.packs.planning import pack_id_of
from agents.stages.assembler import Assembler
from schemas.base import derive
from schemas.memory import PackDecision
from schemas.packs import ContextPack
from schemas.topics import CONTEXT_PACKS, MEMORY_DECISIONS, PACKS_PARTIAL
from streams.kafka.records import Record, TopicPartition
from streams.testing.pipeline import Pipeline
from streams.topology import SPLIT

ASSEMBLER = [stage for stage in SPLIT if stage.name == "assembler"]
OPEN = "open"
# What says when and how a pack was made, not what is in it.
OF_THE_MAKING = {"revision", "assembled_at", "latency_ms", "settled_by", "parts"}
HANDBOOK = """# Projeto X e projeto Y

O projeto X tem prazo no dia 20 e orçamento de 40 mil. O projeto Y tem prazo no dia 30 e orçamento de 90 mil.

# Diferença entre os projetos

A diferença entre o projeto X e o projeto Y está no prazo e no orçamento: o projeto Y é maior e acaba depois.
"""
INTERNAL = "# Diferença reservada\n\nA diferença reservada entre o projeto X e o projeto Y é de 5 mil.\n"
PROFILE = {"user_id": "web", "user_role": "analista", "department": "RH", "access_level": "internal"}
WHY = "Por que o prazo do projeto X mudou?"
DIFFERENCE = "Qual a diferença entre projeto X e projeto Y?"
Asked = dict[str, Record]


def partials(*questions: str, held: bool = False, **settings: Any) -> list[Asked]:
    """The terms and the parts of each question of a conversation that has something to find, by class of memory.

    With `held` every question names the pack of the one before.
    """
    with Pipeline(stages=[s for s in SPLIT if s.name != "assembler"], partitions=1, **settings) as made:
        made.document("d1", "Projetos", HANDBOOK)
        made.document("d2", "Interno", INTERNAL, access_level="internal")
        made.document("p1", "Perfil", tipo="profile", profile=PROFILE)
        told = made.say("Fala do projeto X")
        made.say("O prazo do projeto X mudou para o dia 20, e o projeto Y vem depois.", role="assistant", answers=told)
        have: list[str] = []
        for question in questions:
            made.clock.advance(10)
            asked = made.say(question, **({"have": have} if held and have else {}))
            have = [pack_id_of(made.conversation("c1"), asked)]
        by_pack: dict[str, Asked] = {}
        for record in made.log.of(PACKS_PARTIAL.name):
            event = orjson.loads(record.value or b"")
            for each in event.get("parts") or (event,):
                alone = dataclasses.replace(record, value=orjson.dumps(each))
                by_pack.setdefault(event["pack_id"], {})[each.get("memory_class", OPEN)] = alone
        return list(by_pack.values())[-len(questions) :]


def at(record: Record) -> datetime:
    return datetime.fromtimestamp(record.timestamp / 1000, UTC)


def assembling(**settings: Any) -> Pipeline:
    return Pipeline(stages=ASSEMBLER, partitions=1, pack_revisions=True, **settings)


def feed(fathom: Pipeline, asked: Mapping[str, Record], names: Iterable[str]) -> None:
    """Some records of a pack, written when they were made or, if time went on since, now."""
    for name in names:
        record = asked[name]
        fathom.clock.at = max(fathom.clock.at, at(record))
        fathom.log.append(record.topic, record.key, record.value, record.headers, record.partition)
    fathom.settle()


def without(asked: Asked, *late: str) -> list[str]:
    return [name for name in asked if name not in late]


def late(fathom: Pipeline, asked: Asked, *names: str) -> None:
    """A pack at its deadline without some of its parts, and then those."""
    feed(fathom, asked, without(asked, *names))
    fathom.wait(2.2)
    for name in names:
        fathom.clock.advance(1)
        feed(fathom, asked, [name])


def audits(fathom: Pipeline) -> list[list[str]]:
    """What the packs lacked whose late parts are audited; of one record there are no two versions."""
    found = {
        (r.envelope.id, r.event.model_dump_json()): r.event
        for r in fathom.events(MEMORY_DECISIONS)
        if r.event.kind == "late-part"
    }
    return [audit.detail["missing"] for audit in found.values()]


def content(pack: ContextPack) -> dict[str, Any]:
    return pack.model_dump(mode="json", exclude=OF_THE_MAKING)


def references(pack: ContextPack) -> set[tuple[str, str]]:
    return {(reference.id, reference.pack_id) for reference in pack.already_in_context}


def chunks(pack: ContextPack) -> set[str]:
    return {chunk.id for chunk in pack.semantic.knowledge_chunks} if pack.semantic else set()


@pytest.fixture(scope="module")
def asked() -> Asked:
    return partials(DIFFERENCE)[0]


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with assembling() as pipeline:
        yield pipeline


@pytest.mark.covers("CF-75")
def test_a_late_part_gives_its_pack_again_as_revision_two(fathom: Pipeline, asked: Asked):
    late(fathom, asked, "semantic")
    first, second = fathom.packs()
    assert (first.revision, first.missing_sections, first.degraded) == (1, ("semantic",), True)
    assert (second.revision, second.missing_sections, second.degraded) == (2, (), False)
    assert first.semantic is not None
    assert second.semantic is not None
    assert (first.semantic.knowledge_chunks, bool(second.semantic.knowledge_chunks)) == ((), True)
    assert second.pack_id == first.pack_id
    assert second.assembled_at > first.assembled_at
    one, two = fathom.log.of(CONTEXT_PACKS.name)
    assert (two.key, two.partition) == (one.key, one.partition)
    assert dict(two.headers)["ce_id"] != dict(one.headers)["ce_id"]
    assert audits(fathom) == [["semantic"]]


@pytest.mark.covers("CF-75")
def test_each_revision_has_a_decision_of_its_own(fathom: Pipeline, asked: Asked):
    late(fathom, asked, "semantic")
    first, second = (r.event for r in fathom.events(MEMORY_DECISIONS) if isinstance(r.event, PackDecision))
    assert [first.id, second.id] == [derive("decision", first.pack_id, n) for n in (1, 2)]
    assert len({r.envelope.id for r in fathom.events(MEMORY_DECISIONS)}) == 3
    assert (first.degraded, second.degraded) == (True, False)
    assert {*second.sources_retrieved} - {*first.sources_retrieved} == {"semantic"}
    assert [first.tokens_used, second.tokens_used] == [pack.total_tokens_estimated for pack in fathom.packs()]


@pytest.mark.covers("CF-75", "CF-17")
@pytest.mark.parametrize("budget", [3000, 120])
def test_a_revision_holds_what_its_pack_would_have_held_in_time(budget: int):
    asked = partials(DIFFERENCE, max_tokens_d2=budget)[0]
    with assembling() as fathom:
        feed(fathom, asked, asked)
        [in_time] = fathom.packs()
    assert in_time.total_tokens_estimated <= budget
    assert any(dropped.reason == "budget" for dropped in in_time.dropped) == (budget == 120)
    for name in without(asked, OPEN):
        with assembling() as fathom:
            late(fathom, asked, name)
            first, second = fathom.packs()
        assert first.missing_sections
        assert content(second) == content(in_time)
        assert [(p.memory_class, p.status, p.items) for p in second.parts] == [
            (p.memory_class, p.status, p.items) for p in in_time.parts
        ]


@pytest.mark.covers("CF-75")
def test_a_late_persona_lets_in_what_was_kept_from_a_user_nobody_knew(fathom: Pipeline, asked: Asked):
    late(fathom, asked, "persona")
    first, second = fathom.packs()
    kept = {dropped.id for dropped in first.dropped if dropped.reason == "access"}
    assert kept
    assert not kept & chunks(first)
    assert kept <= chunks(second)


@pytest.mark.covers("CF-75")
def test_every_further_late_part_makes_the_next_revision(fathom: Pipeline, asked: Asked):
    late(fathom, asked, "semantic", "persona", "episodic")
    packs = fathom.packs()
    assert [pack.revision for pack in packs] == [1, 2, 3, 4]
    assert [pack.missing_sections for pack in packs] == [
        ("episodic", "semantic", "persona_context"), ("episodic", "persona_context"), ("episodic",), (),
    ]  # fmt: skip
    assert [pack.settled_by for pack in packs] == ["deadline", "deadline", "deadline", "complete"]
    assert audits(fathom) == [["episodic", "persona", "semantic"]]


@pytest.mark.covers("CF-75", "CF-67")
def test_after_a_crash_between_two_late_parts_their_pack_is_audited_once(fathom: Pipeline, asked: Asked):
    late(fathom, asked, "semantic", "persona")
    fathom._members["assembler"].acked.clear()
    fathom.crash("assembler")
    feed(fathom, asked, ["persona", "episodic"])
    assert audits(fathom) == [["persona", "semantic"]]


@pytest.mark.covers("CF-75", "CF-67")
def test_after_a_crash_the_audit_of_another_late_part_is_the_same(asked: Asked):
    with Pipeline(stages=ASSEMBLER, partitions=1) as fathom:
        feed(fathom, asked, without(asked, "semantic", "persona"))
        fathom.wait(2.2)
        fathom.clock.advance(1)
        feed(fathom, asked, ["semantic"])
        fathom.crash("assembler")
        fathom.clock.advance(1)
        feed(fathom, asked, ["persona"])
        told = [r.event for r in fathom.events(MEMORY_DECISIONS) if r.event.kind == "late-part"]
        assert len(told) == 2
        assert told[0] == told[1]
        assert told[0].created_at == fathom.packs()[0].assembled_at


@pytest.mark.covers("CF-75", "CF-67")
def test_a_part_that_comes_again_makes_no_further_revision(fathom: Pipeline, asked: Asked):
    late(fathom, asked, "semantic", "persona", "semantic", "persona")
    feed(fathom, asked, asked)
    assert [pack.revision for pack in fathom.packs()] == [1, 2, 3]
    assert audits(fathom) == [["persona", "semantic"]]


@pytest.mark.covers("CF-75")
@pytest.mark.parametrize(("after", "revisions"), [(119, [1, 2]), (121, [1])])
def test_a_part_two_minutes_late_is_only_audited(fathom: Pipeline, asked: Asked, after: float, revisions: list[int]):
    feed(fathom, asked, without(asked, "semantic"))
    fathom.wait(2.2)
    fathom.clock.at = fathom.packs()[0].assembled_at
    fathom.clock.advance(after)
    feed(fathom, asked, ["semantic"])
    assert [pack.revision for pack in fathom.packs()] == revisions
    assert audits(fathom) == [["semantic"]]


@pytest.mark.covers("CF-75", "CF-68")
def test_inputs_are_held_while_a_pack_can_be_revised_and_let_go_on_a_quiet_partition(fathom: Pipeline, asked: Asked):
    feed(fathom, asked, without(asked, "semantic"))
    fathom.wait(2.2)
    assert fathom.committed("assembler", PACKS_PARTIAL) == {0: 0}
    fathom.wait(110)
    assert fathom.committed("assembler", PACKS_PARTIAL) == {0: 0}
    fathom.wait(15)
    records = fathom.log.records[TopicPartition(PACKS_PARTIAL.name, 0)]
    assert fathom.committed("assembler", PACKS_PARTIAL) == {0: len(records)}
    fathom.wait(300)
    assert len(records) == fathom.committed("assembler", PACKS_PARTIAL)[0]
    assert len(records) == len(asked) - 1 + 2  # one tick for the deadline, one for the end of the two minutes


def test_the_last_revision_lets_its_inputs_go_also_where_they_are_read_again(fathom: Pipeline, asked: Asked):
    late(fathom, asked, "semantic", "persona")
    records = len(fathom.log.of(PACKS_PARTIAL.name))
    assert fathom.committed("assembler", PACKS_PARTIAL) == {0: records}
    fathom.wait(300)
    fathom._members["assembler"].acked.clear()
    fathom.crash("assembler")
    fathom.settle()
    assert fathom.committed("assembler", PACKS_PARTIAL) == {0: records}
    fathom.wait(300)
    assert len(fathom.log.of(PACKS_PARTIAL.name)) == records  # nothing waits for time


@pytest.mark.covers("CF-75")
def test_packs_that_can_be_revised_are_bounded_and_the_oldest_goes_first():
    first, second = partials(DIFFERENCE, WHY)
    bounded = dataclasses.replace(ASSEMBLER[0], build=lambda d: Assembler(d.tokens, revise=True, max_incomplete=1))
    with Pipeline(stages=[bounded], partitions=1, pack_revisions=True) as fathom:
        for asked in (first, second):
            feed(fathom, asked, without(asked, "semantic"))
            fathom.wait(2.2)
        [(_, committed)] = fathom.committed("assembler", PACKS_PARTIAL).items()
        assert committed == len(first)  # its parts but one, and its tick
        for asked in (first, second):
            feed(fathom, asked, ["semantic"])
        made = [(pack.message_id, pack.revision) for pack in fathom.packs()]
        one, other = (orjson.loads(asked[OPEN].value or b"")["message_id"] for asked in (first, second))
        assert made == [(one, 1), (other, 1), (other, 2)]
        assert audits(fathom) == [["semantic"], ["semantic"]]


@pytest.mark.covers("CF-75")
def test_packs_that_can_be_revised_are_bounded_in_bytes():
    [asked] = partials(DIFFERENCE)
    bounded = dataclasses.replace(ASSEMBLER[0], build=lambda d: Assembler(d.tokens, revise=True, max_bytes=1))
    with Pipeline(stages=[bounded], partitions=1, pack_revisions=True) as fathom:
        feed(fathom, asked, without(asked, "semantic"))
        fathom.wait(2.2)
        assert fathom.committed("assembler", PACKS_PARTIAL) == {0: len(fathom.log.of(PACKS_PARTIAL.name))}
        feed(fathom, asked, ["semantic"])
        assert [pack.revision for pack in fathom.packs()] == [1]


@pytest.mark.covers("CF-75", "CF-67", "CF-68")
def test_a_pack_whose_inputs_are_gone_is_not_revised_and_its_late_part_is_audited(asked: Asked):
    with Pipeline(stages=ASSEMBLER, partitions=1) as before:
        feed(before, asked, without(asked, "semantic"))
        before.wait(2.2)
        assert before.committed("assembler", PACKS_PARTIAL) == {0: len(asked)}
        with assembling() as fathom:
            fathom.log.records = before.log.records
            fathom._members["assembler"].read[TopicPartition(PACKS_PARTIAL.name, 0)] = len(asked)
            fathom._members["assembler"].acked[TopicPartition(PACKS_PARTIAL.name, 0)] = set(range(len(asked)))
            fathom.crash("assembler")
            fathom.clock.at = before.clock.at
            feed(fathom, asked, ["semantic"])
            assert [pack.revision for pack in fathom.packs()] == [1]
            assert audits(fathom) == [["semantic"]]


@pytest.mark.covers("CF-67", "CF-75")
def test_a_first_revision_that_is_out_again_behind_a_later_one_changes_nothing(fathom: Pipeline, asked: Asked):
    late(fathom, asked, "semantic", "persona")
    first = fathom.log.of(CONTEXT_PACKS.name)[0]
    fathom.log.append(first.topic, first.key, first.value, first.headers, first.partition)
    audited = fathom.log.of(MEMORY_DECISIONS.name)
    fathom._members["assembler"].acked.clear()
    fathom.crash("assembler")
    feed(fathom, asked, ["semantic", "persona"])
    assert [pack.revision for pack in fathom.packs()] == [1, 2, 3, 1]
    assert fathom.log.of(MEMORY_DECISIONS.name) == audited


def one_log() -> list[Record]:
    """Three packs of a conversation, each with late parts, in between one another; a part twice; a tick at the end."""
    one, two, three = partials(DIFFERENCE, WHY, "explica melhor a diferença entre projeto X e projeto Y")
    with assembling() as live:
        feed(live, one, without(one, "semantic", "persona"))
        live.wait(2.2)
        feed(live, two, without(two, "semantic"))
        feed(live, one, ["persona", "persona"])
        live.wait(2.2)
        feed(live, one, ["semantic", "persona"])
        feed(live, three, without(three, "episodic", "semantic"))
        live.wait(2.2)
        feed(live, two, ["semantic"])
        feed(live, three, ["semantic"])
        live.wait(130)
        feed(live, three, ["episodic"])
        return live.log.of(PACKS_PARTIAL.name)


def play(log: Iterable[Record], *, crash_after: int | None = None, crash: str = "") -> Pipeline:
    """The assembler over a recorded log, killed at one place of it: with its commits, or before any of them, or also
    before its packs of that place were out.
    """
    with assembling() as fathom:
        out = fathom.log.records[TopicPartition(CONTEXT_PACKS.name, 0)]
        for number, record in enumerate(log):
            before = len(out)
            fathom.clock.at = at(record)
            fathom.log.append(record.topic, record.key, record.value, record.headers, record.partition)
            fathom.settle()
            if number == crash_after:
                if crash == "unsent":
                    del out[before:]
                if crash != "committed":
                    fathom._members["assembler"].acked.clear()
                fathom.crash("assembler")
        fathom.settle()
        return fathom


def values(fathom: Pipeline, topic: str) -> list[bytes]:
    return [record.value or b"" for record in fathom.log.of(topic)]


@pytest.mark.covers("CF-75", "AC-30", "S0-74")
def test_the_same_log_gives_the_same_revisions_byte_for_byte_wherever_the_assembler_is_killed():
    log = one_log()
    whole = play(log)
    packs = values(whole, CONTEXT_PACKS.name)
    assert [orjson.loads(pack)["revision"] for pack in packs] == [1, 2, 1, 3, 1, 2, 2]
    for place in range(len(log)):
        for crash in ("committed", "uncommitted", "unsent"):
            again = play(log, crash_after=place, crash=crash)
            assert values(again, CONTEXT_PACKS.name) == packs, (place, crash)
            assert {*values(again, MEMORY_DECISIONS.name)} == {*values(whole, MEMORY_DECISIONS.name)}, (place, crash)


@pytest.mark.covers("CF-75", "CD-11")
def test_the_next_pack_names_what_the_newest_revision_carried():
    first, second = partials(DIFFERENCE, "explica melhor a diferença entre projeto X e projeto Y", held=True)
    with assembling() as fathom:
        late(fathom, first, "semantic")
        feed(fathom, second, second)
        _, revised, after = fathom.packs()
    assert chunks(revised)
    assert {(chunk, revised.pack_id) for chunk in chunks(revised)} & references(after)
    assert not chunks(revised) & chunks(after)


@pytest.mark.covers("CF-75", "CD-11")
def test_a_revision_of_an_older_pack_is_not_the_pack_before():
    text = "explica melhor a diferença entre projeto X e projeto Y"
    first, second, third = partials(DIFFERENCE, text, text)
    with assembling() as fathom:
        feed(fathom, first, without(first, "semantic"))
        fathom.wait(2.2)
        feed(fathom, second, without(second, "semantic"))
        fathom.wait(2.2)
        feed(fathom, first, ["semantic"])
        feed(fathom, third, third)
        _, before, revised, after = fathom.packs()
    assert (before.revision, revised.revision) == (1, 2)
    assert chunks(revised)
    assert chunks(revised) <= chunks(after)
    assert not references(after)


def test_without_the_setting_nothing_is_held_and_nothing_revised(asked: Asked):
    with Pipeline(stages=ASSEMBLER, partitions=1) as fathom:
        late(fathom, asked, "semantic", "semantic")
        assert [pack.revision for pack in fathom.packs()] == [1]
        assert [r.event.kind for r in fathom.events(MEMORY_DECISIONS)].count("late-part") == 1
        assert fathom.committed("assembler", PACKS_PARTIAL) == {0: len(asked) + 2}
