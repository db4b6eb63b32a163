"""The parts of one plan as one record: the same packs as from single parts, however they are grouped and repeated."""

import asyncio
import dataclasses
from collections.abc import Iterable
from typing import Any

import orjson
import pytest

from schemas.base import derive
from schemas.packs import ContextPack
from schemas.topics import MEMORY_DECISIONS, PACKS_PARTIAL, PROGRESS_EVENTS
from streams.kafka.records import Record
from streams.testing.pipeline import Pipeline
from streams.topology import STAGES
from tests.unit.scenarios.test_revisions import DIFFERENCE, HANDBOOK

ASSEMBLER = [stage for stage in STAGES if stage.name == "assembler"]
RETRIEVAL = [stage for stage in STAGES if stage.group_name == "retrieval"]


def recorded(stages: Iterable[Any]) -> list[Record]:
    """What is on `packs.partial` of a question that these stages answer."""
    with Pipeline(stages=stages, partitions=1, joined_parts=True) as made:
        made.document("d1", "Projetos", HANDBOOK)
        made.say(DIFFERENCE)
        return made.log.of(PACKS_PARTIAL.name)


@pytest.fixture(scope="module")
def opened_and_together() -> tuple[Record, Record]:
    opened, together = recorded(stage for stage in STAGES if stage.name != "assembler")
    return opened, together


def alone(together: Record) -> list[Record]:
    """Its parts, each in a record of its own."""
    parts = orjson.loads(together.value or b"")["parts"]
    for part in parts:
        part.pop("earlier_ms", None)
    return [dataclasses.replace(together, value=orjson.dumps(part)) for part in parts]


def assembled(*records: Record, late: Iterable[Record] = (), **settings: Any) -> Pipeline:
    with Pipeline(stages=ASSEMBLER, partitions=1, **settings) as fathom:
        for wait, some in ((0.0, records), (3.0, late)):
            for record in some:
                if wait:
                    fathom.wait(wait)
                fathom.log.append(record.topic, record.key, record.value, record.headers, record.partition)
            fathom.settle()
        return fathom


def content(pack: ContextPack) -> dict[str, Any]:
    return pack.model_dump(mode="json", exclude={"parts", "assembled_at", "latency_ms"})


def test_the_stages_of_a_process_answer_a_plan_with_one_record(opened_and_together: tuple[Record, Record]) -> None:
    _, together = opened_and_together
    event = orjson.loads(together.value or b"")
    assert event["kind"] == "parts"
    assert sorted(part["memory_class"] for part in event["parts"]) == ["episodic", "persona", "semantic", "working_set"]
    assert dict(together.headers)["ce_source"] == b"urn:fathom:retrieval"


def test_a_pack_is_the_same_whether_its_parts_come_together_or_alone(
    opened_and_together: tuple[Record, Record],
) -> None:
    opened, together = opened_and_together
    [pack] = assembled(opened, together).packs()
    [other] = assembled(opened, *alone(together)).packs()
    assert content(pack) == content(other)
    assert pack.settled_by == "complete"
    assert pack.semantic is not None
    assert pack.semantic.knowledge_chunks != ()


def test_a_repeat_in_another_grouping_makes_no_second_pack(opened_and_together: tuple[Record, Record]) -> None:
    opened, together = opened_and_together
    first, *others = alone(together)
    for records in ((first, together, opened, *others), (opened, first, together, *others, together)):
        fathom = assembled(*records)
        assert len(fathom.packs()) == 1
        assert fathom.committed("assembler", PACKS_PARTIAL) == {0: len(records)}


def test_parts_that_come_together_and_late_are_audited_once(opened_and_together: tuple[Record, Record]) -> None:
    opened, together = opened_and_together
    fathom = assembled(opened, late=[together, together])
    audits = [r.event for r in fathom.events(MEMORY_DECISIONS) if r.event.kind == "late-part"]
    assert [audit.detail["missing"] for audit in audits] == [["episodic", "persona", "semantic", "working_set"]]
    assert fathom.committed("assembler", PACKS_PARTIAL) == {0: len(fathom.log.of(PACKS_PARTIAL.name))}


def test_parts_that_come_together_and_late_revise_their_pack(opened_and_together: tuple[Record, Record]) -> None:
    opened, together = opened_and_together
    fathom = assembled(opened, late=[together], pack_revisions=True)
    first, *_, last = fathom.packs()
    assert (first.settled_by, last.settled_by) == ("deadline", "complete")
    assert fathom.committed("assembler", PACKS_PARTIAL) == {0: len(fathom.log.of(PACKS_PARTIAL.name))}


def test_progress_tells_of_every_part(opened_and_together: tuple[Record, Record]) -> None:
    with Pipeline(joined_parts=True) as fathom:
        fathom.say(DIFFERENCE)
        told = [r.event.node_id for r in fathom.events(PROGRESS_EVENTS) if r.event.type == "PACK_PART"]
    assert sorted(told) == ["episodic", "persona", "semantic", "working_set"]


class FailingIndex:
    """An index with a bug."""

    async def search(self, *_: object) -> object:
        raise ZeroDivisionError


class SlowIndex:
    """An index that answers nobody in time."""

    async def search(self, *_: object) -> object:
        return await asyncio.get_running_loop().create_future()


def test_a_stage_that_fails_holds_up_no_other() -> None:
    with Pipeline(
        joined_parts=True, replace={"index": FailingIndex()}, stages=[s for s in STAGES if "index" not in s.group_name]
    ) as made:
        made.say(DIFFERENCE)
        assert {part.memory_class.value for part in made.parts()} == {"persona", "working_set"}
        assert len(made.log.of("dead-letters.retrieval-semantic")) == 1
        # One letter, and the parts that are there went out together.
        assert len(made.log.of(PACKS_PARTIAL.name)) == 2


def test_a_slow_source_does_not_make_the_other_parts_late() -> None:
    plans = [stage for stage in STAGES if stage not in RETRIEVAL]
    with Pipeline(stages=plans) as before:
        before.say(DIFFERENCE)
        [plan] = before.log.of("retrieval.plans")
        deadline = before.events(PACKS_PARTIAL)[0].event.deadline_at
    with Pipeline(joined_parts=True, stages=RETRIEVAL, replace={"index": SlowIndex(), "hurried": True}) as fathom:
        # The last moment: what is there goes out at once, what is slow by its own limit.
        fathom.clock.at = deadline
        fathom.log.append(plan.topic, plan.key, plan.value, plan.headers)
        fathom.settle()
        found = [[part.memory_class.value for part in getattr(r.event, "parts", (r.event,))]
                 for r in fathom.events(PACKS_PARTIAL)]  # fmt: skip
    assert not any({"working_set", "semantic"} <= set(group) for group in found)
    assert sorted(name for group in found for name in group) == ["episodic", "persona", "semantic", "working_set"]


def test_the_id_of_an_event_says_which_parts_it_has(opened_and_together: tuple[Record, Record]) -> None:
    _, together = opened_and_together
    headers = {name: value.decode() for name, value in together.headers}
    names = "episodic+persona+semantic+working_set"
    assert headers["ce_id"] == derive(headers["ce_causationid"], "retrieval", PACKS_PARTIAL.name, names)
