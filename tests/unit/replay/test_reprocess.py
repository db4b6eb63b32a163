"""Messages of the log answered again, as of then: under the same settings the same packs, under others what changes."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from agents.core.progress import pack_document
from agents.core.quarantine.sources import Quarantines
from schemas.depth import DepthClassified, DepthLevel
from schemas.envelope import Outgoing, Received
from schemas.packs import ContextPack
from schemas.topics import CONTEXT_PACKS, DEPTH_CLASSIFIED
from streams.edges.cli.replay.runs import rows
from streams.kafka.records import Record
from streams.replay.differences import Differences, answer
from streams.replay.log import PartitionRange
from streams.replay.reprocess import WRITTEN, Reprocessed, Reprocessing, topics
from streams.replay.reprocess_run import HELD_PACKS, Order, Sink
from streams.replay.runs import settings_of
from streams.replay.selection import Selection, topic_of
from streams.replay.timeline import Timeline
from streams.testing.pipeline import Pipeline
from tests.builders.replay_log import LogInMemory

GUIDE = (
    "O reembolso de viagem da Aurora é pago em dez dias depois da aprovação da diretoria financeira. "
    "O formulário de reembolso fica no portal. A nota fiscal do reembolso é guardada por cinco anos."
)
TALK = (
    ("c1", "user", "Qual é o prazo do projeto Aurora?"),
    ("c1", "assistant", "O prazo do projeto Aurora é dia 15."),
    ("c2", "user", "Compara o reembolso de viagem com o de hotel"),
    ("c1", "user", "Não, o prazo do projeto Aurora mudou para dia 20"),
    ("c2", "user", "Bom dia!"),
    ("c1", "user", "Explica melhor como funciona o reembolso de viagem"),
)


@dataclass
class Written:
    steps: list[tuple[int, str, Outgoing]] = field(default_factory=list)

    async def write(self, partition: int, stage: str, step: Outgoing, _took: float) -> None:
        self.steps.append((partition, stage, step))

    def of(self, topic: object) -> dict[str, Any]:
        return {cast("Any", step.event).message_id: step.event for _, _, step in self.steps if step.topic is topic}


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        pipeline.document("guia", "Reembolso", GUIDE)
        pipeline.clock.advance(5)
        for conversation, role, text in TALK:
            pipeline.say(text, role=role, conversation=conversation)
            pipeline.clock.advance(3)
        yield pipeline


def again(
    fathom: Pipeline,
    selection: Selection | None = None,
    done: list[Received[ContextPack]] | None = None,
    quarantines: Quarantines | None = None,
    graph: Callable[[Any], Any] = lambda graph: graph,
    **settings: Any,
) -> tuple[Written, Reprocessed]:
    written = Written()
    with Pipeline(**settings) as empty:

        async def run() -> Reprocessed:
            log = cast("Any", LogInMemory(fathom.log))
            built, chosen = empty.dependencies(), selection or Selection()
            built = replace(built, graph=graph(built.graph))
            reprocessing = Reprocessing(built, chosen, written.write, quarantines=quarantines)
            for pack in done or ():
                reprocessing.resume(pack.partition, [pack])
            async for window in (await Timeline.of(log, topics())).windows():
                await reprocessing.window(window)
            await reprocessing.end()
            return reprocessing.result

        return written, asyncio.run(run())


def found(pack: ContextPack) -> tuple[DepthLevel, list[str], str | None]:
    return pack.depth_level, [item.id for _, item in pack_document.kept_items(pack)], pack.text


def compared(fathom: Pipeline, written: Written) -> Differences:
    differences = Differences()
    decided = {each.event.message_id: each.event for each in fathom.events(DEPTH_CLASSIFIED)}
    packs = written.of(CONTEXT_PACKS)
    for message_id, now in written.of(DEPTH_CLASSIFIED).items():
        was = answer(decided[message_id], fathom.pack_of(message_id))
        differences.add(message_id, was, answer(now, packs.get(message_id)))
    return differences


@pytest.mark.covers("CD-11")
def test_the_same_settings_make_the_same_packs_of_what_was_known_then(fathom: Pipeline):
    fathom.document("later", "Reembolso de viagem", "O reembolso de viagem passou a ser pago em trinta dias.")
    written, result = again(fathom)
    packs = written.of(CONTEXT_PACKS)
    assert {name: found(pack) for name, pack in packs.items()} == {p.message_id: found(p) for p in fathom.packs()}
    [explained] = [pack for pack in packs.values() if pack.query.startswith("Explica")]
    assert "dez dias" in (explained.text or "")
    assert "trinta" not in (explained.text or "")
    assert (result.messages, result.packs, result.rejected, result.unreadable) == (6, 5, 0, 0)


class SlowPersonas:
    """A graph that takes longer for a persona than its part has in a live pack."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph

    def __getattr__(self, name: str) -> Any:
        return getattr(self._graph, name)

    async def persona(self, *ask: Any) -> Any:
        await asyncio.sleep(0.2)
        return await self._graph.persona(*ask)


@pytest.mark.covers("CD-11")
def test_a_slow_machine_makes_the_same_packs(fathom: Pipeline):
    slow, quick = (again(fathom, graph=graph)[0].of(CONTEXT_PACKS) for graph in (SlowPersonas, lambda graph: graph))
    assert slow == quick


@pytest.mark.covers("B23")
def test_what_was_quarantined_then_is_hidden_as_it_was_then_or_what_is_now(fathom: Pipeline):
    asked = "Explica melhor como funciona o reembolso de viagem"
    fathom.quarantine("document", "guia")
    fathom.clock.advance(3)
    hidden = fathom.say(asked, conversation="c3")
    fathom.clock.advance(3)
    fathom.quarantine("document", "guia", state="lifted")
    fathom.clock.advance(3)
    shown = fathom.say(asked, conversation="c4")
    then = again(fathom)[0].of(CONTEXT_PACKS)
    assert {name: found(pack) for name, pack in then.items()} == {p.message_id: found(p) for p in fathom.packs()}
    assert "dez dias" not in (then[hidden].text or "")
    assert "dez dias" in (then[shown].text or "")
    fathom.quarantine("document", "guia")
    now = again(fathom, quarantines=fathom.quarantines)[0].of(CONTEXT_PACKS)
    assert then.keys() == now.keys()
    assert not any("dez dias" in (pack.text or "") for pack in now.values())


def test_two_runs_make_the_same_bytes(fathom: Pipeline):
    first, second = (again(fathom)[0].steps for _ in range(2))
    assert [step.event.model_dump_json() for *_, step in first] == [s.event.model_dump_json() for *_, s in second]
    assert [step.envelope(stage) for _, stage, step in first] == [s.envelope(stage) for _, stage, s in second]


@pytest.mark.covers("CF-84")
def test_nothing_is_written_beside_what_is_made_again(fathom: Pipeline):
    written, _ = again(fathom)
    assert {step.topic for *_, step in written.steps} == set(WRITTEN)


@pytest.mark.covers("CF-84")
def test_what_is_made_again_is_written_to_topics_of_the_run():
    assert {topic_of(topic.name, "r1") for topic in WRITTEN} == {
        "depth.classified.replay.r1",
        "retrieval.plans.replay.r1",
        "packs.partial.replay.r1",
        "context-packs.out.replay.r1",
    }


def test_another_budget_shows_in_the_packs_it_changes_and_in_no_others(fathom: Pipeline):
    written, _ = again(fathom, max_tokens_d2=100)
    differences = compared(fathom, written)
    deep = {p.message_id for p in fathom.packs() if p.depth_level is DepthLevel.D2}
    assert deep
    assert {change.message_id for change in differences.changes} <= deep
    assert [*differences.levels()] == []
    assert differences.tokens[1] < differences.tokens[0]
    told = differences.as_json()
    lost = [item for change in told["changes"] for item in change["items_lost"]]
    assert [item["over_budget"] for item in lost] == [True] * len(lost) != []
    assert told["over_budget"] == {"was": 0, "now": len(told["changes"])}
    assert "(over budget)" in str(rows(differences))


def test_a_selection_answers_its_own_and_keeps_what_its_conversation_said_before(fathom: Pipeline):
    times = {each.event.message_id: each.timestamp for each in fathom.events(DEPTH_CLASSIFIED)}
    newest = max(times, key=lambda each: times[each])
    since = times[newest]
    written, _ = again(fathom, Selection(since=since, conversation="c1"))
    assert {*written.of(CONTEXT_PACKS)} == {newest}
    assert found(written.of(CONTEXT_PACKS)[newest]) == found(fathom.pack_of(newest))
    other, result = again(fathom, Selection(conversation="c2"))
    assert {pack.conversation_id for pack in other.of(CONTEXT_PACKS).values()} == {"c2"}
    assert result.messages == 2


def test_a_sample_is_the_same_share_in_every_run(fathom: Pipeline):
    samples = [{*again(fathom, Selection(sample=share))[0].of(CONTEXT_PACKS)} for share in (0.4, 0.4, 0.8, 0.0)]
    assert samples[0] == samples[1] <= samples[2]
    assert not samples[3]
    assert 0 < len(samples[2]) <= 5


def test_a_run_goes_on_after_what_an_earlier_one_has_written(fathom: Pipeline):
    whole = again(fathom)[0].of(CONTEXT_PACKS)
    done = fathom.events(CONTEXT_PACKS)[:2]
    rest = again(fathom, done=done)[0].of(CONTEXT_PACKS)
    assert {*rest} == {*whole} - {each.event.message_id for each in done}
    assert all(found(rest[each]) == found(whole[each]) for each in rest)


def test_a_change_is_told_with_what_it_gained_and_lost(fathom: Pipeline):
    was = answer(
        cast("DepthClassified", fathom.events(DEPTH_CLASSIFIED)[0].event),
        fathom.pack_of(fathom.events(DEPTH_CLASSIFIED)[0].event.message_id),
    )
    now = replace(
        was, level="D3", items={"new": ("semantic", "Another")}, tokens=was.tokens + 5, evidence=not was.evidence
    )
    differences = Differences()
    differences.add("m1", was, now)
    differences.add("m2", was, was)
    differences.add("m3", None, was)
    told = differences.as_json()
    assert (told["compared"], told["different"], told["only_replayed"]) == (2, 1, 1)
    assert told["depths"] == [{"was": was.level, "now": "D3", "messages": 1}]
    [change] = told["changes"]
    assert change["items_gained"] == [{"id": "new", "section": "semantic", "title": "Another", "over_budget": False}]
    assert [each["id"] for each in change["items_lost"]] == [*was.items]


def test_a_pack_is_written_when_the_rest_of_its_message_is_stored() -> None:
    stored: list[str] = []

    class Producer:
        async def send(self, topic: str, _value: bytes, **_: object) -> "asyncio.Future[object]":
            sent: asyncio.Future[object] = asyncio.get_running_loop().create_future()
            if "packs.out" in topic:
                assert stored.count("depth") == HELD_PACKS, "a kill here would lose what the pack says is done"
            stored.append("pack" if "packs.out" in topic else "depth")
            sent.set_result(None)
            return sent

    async def run(steps: list[tuple[int, str, Outgoing]]) -> None:
        sink = Sink(cast("Any", Producer()), Order("one", Selection(), {}))
        for number in range(HELD_PACKS):
            for topic in (DEPTH_CLASSIFIED, CONTEXT_PACKS):
                partition, stage, step = next(each for each in steps if each[2].topic is topic)
                await sink.write(partition, stage, step, float(number))

    with Pipeline() as fathom:
        fathom.say("Bom dia!")
        steps = again(fathom)[0].steps
    asyncio.run(run(steps))
    assert (stored.count("depth"), stored.count("pack")) == (HELD_PACKS, HELD_PACKS)


def test_a_replay_says_with_which_settings_it_ran_and_no_password():
    written: list[Record] = []

    class Producer:
        async def send(self, topic: str, value: bytes, *, key: bytes, partition: int, headers: Any) -> Any:
            written.append(Record(topic, 0, len(written), 0, key, value, tuple(headers)))
            sent = asyncio.get_running_loop().create_future()
            sent.set_result(None)
            return sent

    class Written:
        async def spans(self, topic: str) -> list[PartitionRange]:
            return [PartitionRange(topic, 0, 0, 0, 0), PartitionRange(topic, 1, 0, len(written), 0)]

        async def first(self, span: PartitionRange) -> Record | None:
            return written[0] if len(span) else None

    async def story(steps: list[tuple[int, str, Outgoing]], changed: dict[str, str]) -> dict[str, str]:
        written.clear()
        sink = Sink(cast("Any", Producer()), Order("one", Selection(), changed))
        await sink.write(*next(each for each in steps if each[2].topic is DEPTH_CLASSIFIED), 1.0)
        return await settings_of(cast("Any", Written()), "one")

    with Pipeline() as fathom:
        fathom.say("Bom dia!")
        steps = again(fathom)[0].steps
    changed = {"FATHOM_MAX_TOKENS_D2": "100", "FATHOM_LLM_URL": "https://me:s3cret@models/v1"}
    assert asyncio.run(story(steps, changed)) == {**changed, "FATHOM_LLM_URL": "https://***@models/v1"}
    assert asyncio.run(story(steps, {})) == {}
