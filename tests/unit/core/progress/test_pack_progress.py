"""The events of a pack: what was asked, how each class answered, and what was kept and left out, and why."""

from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest

from agents.core.packs.join import parts_of
from agents.core.progress.pack_progress import PackEvents
from agents.core.progress.reduction import reduced
from deploy.docs.examples import load
from schemas.base import Event
from schemas.envelope import Received
from schemas.items import Provenance
from schemas.packs import ContextPack
from schemas.progress import ProgressMade
from schemas.retrieval import Dropped, MemoryClass, PartFound, PartsFound, PartStatus, RetrievalPlan
from schemas.topics import CONTEXT_PACKS, PACKS_PARTIAL, RETRIEVAL_PLANS
from streams.testing.pipeline import Pipeline
from streams.topology import SPLIT
from tests.builders.progress_job import LAW

E = TypeVar("E", bound=Event)
START = datetime(2026, 3, 2, 9, 0, 0, 1000, tzinfo=UTC)


@pytest.fixture(scope="module")
def records() -> tuple[Received[RetrievalPlan], list[Received[PartFound]], Received[ContextPack]]:
    """The plan, the parts and the pack of one message."""
    with Pipeline(stages=SPLIT) as fathom:
        fathom.document("clt", "CLT", LAW)
        fathom.say("Explica quanto dura o intervalo de almoço.")
        [plan] = fathom.events(RETRIEVAL_PLANS)
        answers = [each for each in fathom.events(PACKS_PARTIAL) if isinstance(each.event, PartFound | PartsFound)]
        parts = [part for each in answers for part in parts_of(each)]
        [pack] = fathom.events(CONTEXT_PACKS)
        return plan, parts, pack


def at(record: Received[E], milliseconds: float) -> Received[E]:
    moment = START + timedelta(milliseconds=milliseconds)
    return record._replace(timestamp=int(moment.timestamp() * 1000))


def answered(record: Received[PartFound], **fields: Any) -> Received[PartFound]:
    return record._replace(event=record.event.model_copy(update=fields))


def played(table: PackEvents, parts: Any, pack: Any) -> list[ProgressMade]:
    made = [*(table.part(each) for each in parts), table.complete(pack)]
    return [table.planned, *(event for event in made if event is not None)]


def of(plan: Received[RetrievalPlan], *, cognition: bool = False) -> PackEvents:
    return PackEvents(plan.event, cognition=cognition)


def test_a_pack_is_told_from_its_plan_to_its_items(records: Any) -> None:
    plan, parts, pack = records
    events = played(of(plan), [at(each, 40) for each in parts], at(pack, 50))
    assert [event.type for event in events] == ["PACK_PLANNED", *["PACK_PART"] * len(parts), "PACK_COMPLETE"]
    assert [event.seq for event in events] == [*range(1, len(parts) + 2), 1000]
    assert [event.prev_seq for event in events] == [0, *range(1, len(parts) + 2)]
    state = reduced(events)
    assert state.ended
    assert not state.lost
    shown: Any = state.document
    assert (shown["status"], shown["level"]) == ("complete", "D2")
    assert shown["nodes"]["semantic"]["state"] == "ok"
    assert shown["nodes"]["semantic"]["items"] >= 1
    assert shown["budget"]["used_tokens"] == pack.event.total_tokens_estimated
    [item] = [each for each in shown["kept"].values() if each["section"] == "semantic"]
    assert "Art. 71" in item["title"]
    assert item["reason"]
    assert item["source"] == {"store": "index", "id": item["item_id"]}
    assert shown["kept"]["web"]["section"] == "persona"


def test_before_anything_has_answered_all_classes_are_asked(records: Any) -> None:
    plan, _, _ = records
    made = of(plan, cognition=True).planned
    assert made.data["cognition"] is True
    shown = reduced([made]).document
    assert shown["status"] == "planned"
    assert {node["state"] for node in shown["nodes"].values()} == {"asked"}
    assert shown["question"] == "Explica quanto dura o intervalo de almoço."


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (PartStatus.OK, "ok"),
        (PartStatus.EMPTY, "empty"),
        (PartStatus.TIMEOUT, "late"),
        (PartStatus.ERROR, "failed"),
        (PartStatus.SKIPPED, "skipped"),
    ],
)
def test_each_answer_of_a_class_has_its_state_and_its_reason(records: Any, status: PartStatus, state: str) -> None:
    plan, parts, _ = records
    made = of(plan).part(at(answered(parts[0], status=status, error="why"), 120))
    assert made is not None
    name = parts[0].event.memory_class.value
    assert made.node_id == name
    assert (made.data["state"], made.data["why"], made.data["latency_ms"]) == (state, "why", 120.0)
    assert made.patch[0].value["label"]


def test_a_class_that_did_not_answer_is_late_in_the_pack(records: Any) -> None:
    plan, parts, pack = records
    gone = tuple(
        each.model_copy(update={"status": "missing", "items": 0, "latency_ms": None})
        if each.memory_class is MemoryClass.EPISODIC
        else each
        for each in pack.event.parts
    )
    event = pack.event.model_copy(update={"parts": gone, "degraded": True, "degraded_reasons": ("late",)})
    some = [each for each in parts if each.event.memory_class is not MemoryClass.EPISODIC]
    table = of(plan)
    shown = reduced(played(table, some, pack._replace(event=event))).document
    assert shown["status"] == "degraded"
    assert shown["nodes"]["episodic"]["state"] == "late"
    assert shown["nodes"]["episodic"]["why"] == "no answer by the deadline"
    late = [each for each in parts if each.event.memory_class is MemoryClass.EPISODIC]
    assert [table.part(each) for each in late] == [None]


def test_what_was_left_out_has_its_reason(records: Any) -> None:
    plan, parts, pack = records
    left = Dropped(id="x1", memory_class=MemoryClass.SEMANTIC, reason="over the budget", tokens=40, score=0.2)
    event = pack.event.model_copy(update={"dropped": (left,)})
    shown = reduced(played(of(plan), parts, pack._replace(event=event))).document
    assert shown["dropped"]["x1"] == {
        "item_id": "x1", "section": "semantic", "reason": "over the budget", "tokens": 40, "score": 0.2,
    }  # fmt: skip


def test_what_a_class_sent_and_the_pack_left_out_has_its_title(records: Any) -> None:
    plan, parts, pack = records
    [sent] = [item for each in parts for item in each.event.items if each.event.memory_class is MemoryClass.SEMANTIC]
    left = Dropped(id=sent.id, memory_class=MemoryClass.SEMANTIC, reason="budget", tokens=40, score=0.2)
    event = pack.event.model_copy(update={"dropped": (left,)})
    shown = reduced(played(of(plan), parts, pack._replace(event=event))).document
    assert "Art. 71" in shown["dropped"][sent.id]["title"]


def test_a_record_read_again_tells_nothing_anew(records: Any) -> None:
    plan, parts, pack = records
    table = of(plan)
    assert len(played(table, parts, pack)) == len(parts) + 2
    assert played(table, parts, pack) == [table.planned]


def test_a_revision_is_told_after_the_pack(records: Any) -> None:
    plan, parts, pack = records
    table = of(plan)
    first = played(table, parts, pack)
    second = table.complete(pack._replace(event=pack.event.model_copy(update={"revision": 2})))
    assert second is not None
    assert (second.seq, second.prev_seq, second.data["revision"]) == (2000, 1000, 2)
    assert reduced([*first, second]).document == reduced(first).document


def test_the_examples_of_packs_are_told_with_their_claims_and_sources(records: Any) -> None:
    plan, *_ = records
    packs = {one.name: one.received() for one in load(topics=[CONTEXT_PACKS])}
    made = {name: of(plan).complete(pack) for name, pack in packs.items()}
    shown = {name: reduced([event]).document for name, event in made.items() if event is not None}
    assert shown.keys() == packs.keys()
    assert shown["d3-claims-pt"]["conflicts"]
    assert shown["d2-degraded-en"]["status"] == "degraded"
    assert shown["d2-degraded-en"]["nodes"]["episodic"]["state"] == "late"
    assert shown["d1-trimmed-pt"]["dropped"]
    for document in shown.values():
        for item in document["kept"].values():
            assert not item["source"] or Provenance(**item["source"])
            assert len(item["title"]) <= 120
