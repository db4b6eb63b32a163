"""The pack path in one task: what a message makes, in what order, and what a crash, a bug or a repeat leaves."""

import asyncio
from typing import Any

import orjson
import pytest

from schemas.topics import (
    CONTEXT_PACKS,
    CONVERSATION_TURNS,
    DEPTH_CLASSIFIED,
    MEMORY_DECISIONS,
    MESSAGES_IN,
    PACKS_PARTIAL,
    RETRIEVAL_PLANS,
    Topic,
)
from streams.kafka.records import TopicPartition
from streams.stores.passages.memory import MemoryPassageIndex
from streams.stores.passages.vectors import HashingEmbedder
from streams.testing.pipeline import Pipeline
from streams.topology import CHAINED, SPLIT, SPLIT_PATH

QUESTION = "Qual a diferença entre projeto X e projeto Y?"
HANDBOOK = "# Projeto X\n\nO projeto X tem prazo em maio.\n\n# Projeto Y\n\nO projeto Y tem prazo em junho."
ASKED = {"role": "user", "content": QUESTION, "conversation_id": "c1", "client_id": "web"}
MADE = (CONVERSATION_TURNS, DEPTH_CLASSIFIED, RETRIEVAL_PLANS, PACKS_PARTIAL, CONTEXT_PACKS)
TALK = (
    ("user", "Fala do projeto X"),
    ("assistant", "O projeto X está em execução com 3 fases e o prazo é dia 15."),
    ("user", "e o orçamento?"),
    ("user", "Qual o email do João Silva?"),
    ("user", QUESTION),
    ("user", "Não, o prazo mudou para dia 20"),
    ("user", "Mudando de assunto, quem aprova férias?"),
)


class CountingIndex(MemoryPassageIndex):
    """An index that counts its searches, and fails as told."""

    def __init__(self, error: type[BaseException] | None = None) -> None:
        super().__init__(HashingEmbedder())
        self.error = error
        self.searches = 0

    async def search(self, *of: Any) -> Any:
        self.searches += 1
        if self.error is not None:
            raise self.error
        return await super().search(*of)


def again(fathom: Pipeline) -> None:
    """Kill the process of the path before its messages were committed; the next one reads them again."""
    for tp in fathom.log.records:
        if tp.topic == MESSAGES_IN.name:
            fathom._members["depth"].acked[tp].clear()
    fathom.crash("depth")
    fathom.settle()


def values(fathom: Pipeline, topic: Topic) -> list[bytes]:
    return [record.value or b"" for record in fathom.log.of(topic.name)]


def told(fathom: Pipeline) -> list[dict[str, Any]]:
    """What the packs say, apart from their times."""
    return [pack.model_dump(mode="json", exclude={"parts", "assembled_at", "latency_ms"}) for pack in fathom.packs()]


def test_a_message_makes_one_record_on_each_topic_and_only_its_own_is_read() -> None:
    with Pipeline() as fathom:
        pack = fathom.ask("Qual o email do João Silva?")
        assert {topic.name: len(values(fathom, topic)) for topic in MADE} == {topic.name: 1 for topic in MADE}
        assert fathom._runners["depth"].topics == (MESSAGES_IN.name,)
        [inputs] = fathom.events(PACKS_PARTIAL)
        [packed] = fathom.events(CONTEXT_PACKS)
    assert {part.memory_class for part in inputs.event.parts} == {report.memory_class for report in pack.parts}
    assert (packed.partition, packed.envelope.causation_id) == (inputs.partition, inputs.envelope.id)


def test_both_layouts_give_the_same_packs() -> None:
    def packs(stages: Any) -> list[dict[str, Any]]:
        with Pipeline(stages=stages) as fathom:
            fathom.document("d1", "Projetos", HANDBOOK)
            for role, text in TALK:
                fathom.say(text, role=role)
            return told(fathom)

    assert [pack["depth_level"] for pack in packs(CHAINED)] == ["D2", "D1", "D0", "D2", "D3", "D4"]
    assert packs(CHAINED) == packs(SPLIT)


@pytest.mark.covers("AC-30", "CD-11", "S0-74")
def test_a_pack_is_a_pure_function_of_its_record() -> None:
    with Pipeline() as live:
        live.document("d1", "Projetos", HANDBOOK)
        for role, text in TALK:
            live.say(text, role=role)
            live.clock.advance(0.5)
    with Pipeline(stages=[stage for stage in SPLIT_PATH if stage.name == "assembler"]) as other:
        for tp, log in live.log.records.items():
            if tp.topic == PACKS_PARTIAL.name:
                other.log.records[tp] = list(log)
        other.clock.at = live.clock.at
        other.settle()
    assert len(values(live, CONTEXT_PACKS)) == 6
    assert values(other, CONTEXT_PACKS) == values(live, CONTEXT_PACKS)


def test_a_message_read_again_whose_pack_is_out_asks_no_memory() -> None:
    index = CountingIndex()
    with Pipeline(replace={"index": index}) as fathom:
        fathom.ask(QUESTION)
        before = index.searches, len(values(fathom, PACKS_PARTIAL)), values(fathom, CONTEXT_PACKS)
        again(fathom)
        after = index.searches, len(values(fathom, PACKS_PARTIAL)), values(fathom, CONTEXT_PACKS)
    assert before[0] > 0
    assert after == before


@pytest.mark.covers("CF-68")
def test_a_message_whose_process_died_before_its_pack_gets_the_pack_of_what_was_recorded() -> None:
    index = CountingIndex()
    with Pipeline(replace={"index": index}) as fathom:
        fathom.document("d1", "Projetos", HANDBOOK)
        fathom.ask(QUESTION)
        topics = (CONTEXT_PACKS, MEMORY_DECISIONS)
        packs, decisions = (values(fathom, topic) for topic in topics)
        for tp in [tp for tp in fathom.log.records if tp.topic in {topic.name for topic in topics}]:
            fathom.log.records[tp].clear()
        searches = index.searches
        fathom.document("d2", "Projetos", HANDBOOK.replace("maio", "agosto"))
        fathom.clock.advance(30)
        again(fathom)
        assert (values(fathom, CONTEXT_PACKS), values(fathom, MEMORY_DECISIONS)) == (packs, decisions)
        assert index.searches == searches


@pytest.mark.parametrize("topic", [PACKS_PARTIAL, RETRIEVAL_PLANS, DEPTH_CLASSIFIED, CONVERSATION_TURNS])
def test_wherever_the_process_died_a_message_has_one_pack(topic: Topic) -> None:
    with Pipeline() as fathom:
        asked = fathom.say(QUESTION)
        behind = MADE[MADE.index(topic) :]
        for tp in [tp for tp in fathom.log.records if tp.topic in {each.name for each in behind}]:
            fathom.log.records[tp].clear()
        again(fathom)
        again(fathom)
        assert fathom.pack_of(asked).depth_level == "D2"
        assert len({record.event.seq for record in fathom.events(CONVERSATION_TURNS)}) == 1


def test_a_bug_in_one_memory_costs_the_pack_that_part_and_no_other() -> None:
    with Pipeline(replace={"index": CountingIndex(ZeroDivisionError)}) as fathom:
        pack = fathom.ask(QUESTION)
        letters = fathom.log.of("dead-letters.retrieval")
    status = {report.memory_class.value: (report.status, report.error) for report in pack.parts}
    assert status["semantic"] == ("error", "ZeroDivisionError: ")
    assert status["working_set"][0] == "empty"
    assert (pack.degraded, pack.settled_by, letters) == (True, "complete", [])


def test_what_cannot_be_packed_is_a_dead_letter_of_that_step_and_holds_nothing_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from agents.core.packs import packing

    def fails(*_: object) -> None:
        raise ZeroDivisionError

    with Pipeline() as fathom:
        with monkeypatch.context() as broken:
            broken.setattr(packing, "pack", fails)
            lost = fathom.say(QUESTION)
        good = fathom.say("Qual o email do João Silva?")
        [letter] = fathom.log.of("dead-letters.assembler")
        assert dict(letter.headers)["__streams.errors.topic"] == PACKS_PARTIAL.name.encode()
        assert [pack.message_id for pack in fathom.packs()] == [good] != [lost]
        tp = next(tp for tp in fathom.log.records if tp.topic == MESSAGES_IN.name)
        assert fathom.committed("depth", MESSAGES_IN)[tp.partition] == 2


def test_the_next_message_of_a_conversation_does_not_wait_for_the_pack_of_the_one_before() -> None:
    class Waiting(CountingIndex):
        """The first message's search ends when the second's begins."""

        async def search(self, *of: Any) -> Any:
            if "primeiro" in of[2].text:
                await asyncio.wait_for(second.wait(), 5)
            elif "segundo" in of[2].text:
                second.set()
            return await super().search(*of)

    second = asyncio.Event()
    with Pipeline(replace={"index": Waiting()}) as fathom:
        for text in ("Explica o primeiro projeto", "Explica o segundo projeto"):
            fathom._count += 1
            value = {"role": "user", "content": text, "conversation_id": "c1", "client_id": "web"}
            key = fathom.conversation("c1").key().encode()
            fathom.log.append(MESSAGES_IN.name, key, orjson.dumps(value), [("tenant", b"acme")])
        fathom.settle()
        assert [pack.query for pack in fathom.packs()] == ["Explica o segundo projeto", "Explica o primeiro projeto"]
        turns = [record.event.content for record in fathom.events(CONVERSATION_TURNS)]
        assert turns == ["Explica o primeiro projeto", "Explica o segundo projeto"]


def test_a_message_is_acknowledged_when_its_pack_is_out_and_not_before() -> None:
    class Looking(CountingIndex):
        async def search(self, *of: Any) -> Any:
            seen.append(fathom.committed("depth", MESSAGES_IN).get(tp.partition, 0))
            return await super().search(*of)

    seen: list[int] = []
    with Pipeline(partitions=1, replace={"index": Looking()}) as fathom:
        tp = TopicPartition(MESSAGES_IN.name, 0)
        fathom.say(QUESTION)
        assert seen
        assert set(seen) == {0}
        assert fathom.committed("depth", MESSAGES_IN) == {0: 1}


def test_a_process_that_lost_its_lease_sends_nothing_until_it_has_it_again() -> None:
    """Its next owner may have asked the memories, too, and found other things."""

    class Standing(CountingIndex):
        async def search(self, *of: Any) -> Any:
            member.leased = False
            asyncio.get_running_loop().call_later(0.1, again_leased)
            return await super().search(*of)

    def again_leased() -> None:
        sent.append(len(values(fathom, PACKS_PARTIAL)))
        member.leased = True

    sent: list[int] = []
    with Pipeline(partitions=1, replace={"index": Standing()}) as fathom:
        member = fathom._members["depth"]
        asked = fathom.say(QUESTION)
        assert set(sent) == {0}
        assert fathom.pack_of(asked).depth_level == "D2"


def test_partitions_that_are_lost_without_a_lease_are_let_go_at_once() -> None:
    class Hanging(CountingIndex):
        async def search(self, *_: Any) -> Any:
            member.leased = False
            began.set()
            await asyncio.sleep(60)

    began = asyncio.Event()
    with Pipeline(partitions=1, replace={"index": Hanging()}) as fathom:
        member, runner = fathom._members["depth"], fathom._runners["depth"]
        fathom.log.append(MESSAGES_IN.name, b"acme|web|c1", orjson.dumps(ASKED), [("tenant", b"acme")])

        async def lost() -> None:
            handling = asyncio.ensure_future(fathom._deliver(runner, member))
            await began.wait()
            await asyncio.wait_for(runner.on_revoked(frozenset({TopicPartition(MESSAGES_IN.name, 0)})), 1)
            await asyncio.wait_for(handling, 1)

        fathom._run(lost())
        assert (values(fathom, PACKS_PARTIAL), fathom.committed("depth", MESSAGES_IN)) == ([], {0: 0})
