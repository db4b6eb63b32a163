"""Joining, failure, order, tenants: the scenarios of the runtime, through all stages in memory (AC-27 to AC-46)."""

import asyncio
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from agents.errors import Unavailable
from schemas.depth import DepthLevel
from schemas.policy import ContextPolicy
from schemas.topics import (
    CONTEXT_PACKS,
    CONVERSATION_TURNS,
    DEPTH_CLASSIFIED,
    MEMORY_DECISIONS,
    MESSAGES_IN,
    PACKS_PARTIAL,
    RETRIEVAL_PLANS,
)
from streams.kafka.records import TopicPartition
from streams.stores.passages.memory import MemoryPassageIndex
from streams.stores.passages.vectors import HashingEmbedder
from streams.testing.pipeline import Pipeline
from streams.topology import SPLIT

RETRIEVAL = {s.name for s in SPLIT if s.group_name == "retrieval"}


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        yield pipeline


def without(*names: str) -> list:
    return [stage for stage in SPLIT if stage.name not in names]


class DownIndex(MemoryPassageIndex):
    """An index whose server does not answer."""

    def __init__(self) -> None:
        super().__init__(HashingEmbedder())

    async def search(self, *_, **__):
        raise Unavailable("index", "connection refused")

    async def upsert(self, *_, **__):
        raise Unavailable("index", "connection refused")


class SlowIndex(MemoryPassageIndex):
    """An index that takes longer than any time limit of the test."""

    async def search(self, *of: Any) -> Any:
        await asyncio.sleep(0.02)
        return await super().search(*of)


@pytest.mark.parametrize(("hurried", "status"), [(False, "ok"), (True, "timeout")])
def test_a_source_is_late_only_where_time_limits_are_asked_for(hurried: bool, status: str) -> None:
    replace = {"index": SlowIndex(HashingEmbedder())} | ({"hurried": True} if hurried else {})
    with Pipeline(replace=replace, retrieval_share=0.001) as fathom:
        fathom.document("d1", "Projetos", "# Projeto X\n\nO projeto X tem prazo em maio.")
        fathom.ask("Qual é o prazo do projeto X?")
        parts = {part.memory_class.value: part.status for part in fathom.parts()}
    assert parts["semantic"] == status


@pytest.mark.covers("AC-27", "S0-03", "CF-75")
def test_a_store_that_is_down_degrades_the_pack_and_names_the_section():
    with Pipeline(replace={"index": DownIndex()}, stages=without("turn-indexer", "summary-writer")) as fathom:
        pack = fathom.ask("Qual a diferença entre projeto X e projeto Y?")
        parts = {part.memory_class.value: part for part in fathom.parts()}
        assert parts["semantic"].status == "error"
        assert pack.degraded
        assert "semantic" in pack.missing_sections
        assert pack.semantic is not None
        assert pack.semantic.knowledge_chunks == ()


@pytest.mark.covers("AC-27", "CF-75", "CF-68")
def test_a_class_that_never_answers_is_missing_at_the_deadline():
    with Pipeline(stages=without("retrieval-semantic")) as fathom:
        asked = fathom.say("Qual a diferença entre projeto X e projeto Y?")
        assert fathom.packs() == []
        fathom.wait(1.9)
        assert fathom.packs() == []
        fathom.wait(0.2)
        pack = fathom.pack_of(asked)
        assert pack.settled_by == "deadline"
        assert pack.missing_sections == ("semantic",)


@pytest.mark.covers("CF-75")
def test_a_late_part_is_audited_and_makes_no_second_pack():
    with Pipeline(stages=without("retrieval-semantic")) as fathom:
        fathom.say("Qual a diferença entre projeto X e projeto Y?")
        fathom.wait(3)
        plan = fathom.events(RETRIEVAL_PLANS)[0]
        part = {
            "kind": "part", "plan_id": plan.event.plan_id, "pack_id": plan.event.pack_id,
            "message_id": plan.event.message_id, "memory_class": "semantic", "status": "empty",
        }  # fmt: skip
        fathom.publish(PACKS_PARTIAL, part, {"tenant": "acme"}, plan.key.encode())
        fathom.publish(PACKS_PARTIAL, part, {"tenant": "acme"}, plan.key.encode())
        audits = {r.envelope.id: r.event for r in fathom.events(MEMORY_DECISIONS) if r.event.kind == "late-part"}
        assert len(fathom.packs()) == 1
        assert {a.subject_id for a in audits.values()} == {plan.event.pack_id}
        assert {a.id for a in audits.values()} == {next(iter(audits.values())).id}
        assert fathom.committed("assembler", PACKS_PARTIAL) == {
            tp.partition: len(log) for tp, log in fathom.log.records.items() if tp.topic == PACKS_PARTIAL.name
        }


@pytest.mark.covers("AC-28", "CF-69")
def test_a_part_before_its_terms_still_gives_one_pack():
    with Pipeline(stages=without("assembler")) as made:
        made.ask_only = made.say("Qual o email do João Silva?")
        records = made.log.of(PACKS_PARTIAL.name)
    opened = [r for r in records if b'"kind":"open"' in (r.value or b"")]
    parts = [r for r in records if r not in opened]
    assert (len(opened), len(made.parts())) == (1, 4)
    with Pipeline(stages=[s for s in SPLIT if s.name == "assembler"]) as fathom:
        for record in [*parts, *opened]:
            fathom.log.append(record.topic, record.key, record.value, record.headers)
        fathom.settle()
        [pack] = fathom.packs()
        assert pack.message_id == made.ask_only
        assert pack.settled_by == "complete"


@pytest.mark.covers("AC-29", "S0-75", "CF-67")
def test_duplicates_of_messages_and_parts_give_one_pack_and_one_node(fathom: Pipeline):
    fathom.say("Qual o email do João Silva?", message_id="same")
    fathom.say("Qual o email do João Silva?", message_id="same")
    for record in list(fathom.log.of(PACKS_PARTIAL.name)):
        fathom.log.append(record.topic, record.key, record.value, record.headers, record.partition)
    fathom.settle()
    assert len(fathom.packs()) == 1
    assert len(fathom.events(CONVERSATION_TURNS)) == 1
    assert len(fathom.nodes("CDCDecision")) == 1
    assert len([n for n in fathom.nodes("Message") if n["id"] and n.get("content")]) == 1


@pytest.mark.covers("AC-30", "CF-68")
def test_a_killed_assembler_loses_no_open_join_and_repeats_none():
    with Pipeline(stages=without("retrieval-semantic"), look_up="never") as fathom:
        done = [fathom.say("Qual o email do João Silva?", conversation=f"d{n}") for n in range(20)]
        waiting = [fathom.say("Qual a diferença entre projeto X e projeto Y?", conversation=f"w{n}") for n in range(50)]
        assert len(fathom.packs()) == 20
        fathom.crash("assembler")
        fathom.settle()
        assert len(fathom.packs()) == 20
        fathom.wait(3)
        fathom.crash("assembler")
        fathom.wait(3)
        made = [pack.message_id for pack in fathom.packs()]
        assert sorted(made) == sorted([*done, *waiting])


def packs_by_partition(fathom: Pipeline) -> dict[int, list[bytes]]:
    found: dict[int, list[bytes]] = {}
    for record in fathom.log.of(CONTEXT_PACKS.name):
        found.setdefault(record.partition, []).append(record.value or b"")
    return found


@pytest.mark.covers("AC-30", "CD-11", "S0-74")
def test_reading_the_same_partials_in_a_fresh_group_gives_the_same_bytes():
    with Pipeline(stages=without("retrieval-procedural")) as live:
        live.say("Como solicitar reembolso de viagem?", conversation="c2")
        asked = live.say("Fala do projeto X")
        live.say("O projeto X está em execução com 3 fases.", role="assistant", answers=asked)
        for text in ("e o orçamento?", "por quê?", "Não, são 4 fases"):
            live.say(text)
            live.wait(0.5)
        live.wait(3)
        first = packs_by_partition(live)
        partials = {tp: log for tp, log in live.log.records.items() if tp.topic == PACKS_PARTIAL.name}
    with Pipeline(stages=[s for s in SPLIT if s.name == "assembler"]) as replay:
        replay.clock.at = live.clock.at
        for tp, log in partials.items():
            replay.log.records[tp] = list(log)
        replay.settle()
        again = packs_by_partition(replay)
    assert sum(len(values) for values in first.values()) == 5
    assert any(b'"settled_by":"deadline"' in value for values in first.values() for value in values)
    assert again == first


@pytest.mark.covers("AC-31", "S1-31", "CF-57")
def test_a_context_field_is_refused_with_its_own_reason(fathom: Pipeline):
    value = {"question": "oi", "conversation_id": "c", "nickname": "n", "client_id": "web", "history": [{"a": 1}]}
    fathom.publish(MESSAGES_IN, value)
    [letter] = fathom.log.of("dead-letters.depth")
    headers = dict(letter.headers)
    assert headers["fathom_reason"] == b"context_field_not_allowed"
    assert fathom.events(DEPTH_CLASSIFIED) == []


@pytest.mark.covers("AC-32")
def test_what_is_no_json_is_a_dead_letter_with_everything_it_came_with(fathom: Pipeline):
    fathom.publish(MESSAGES_IN, b"\xff\x00 not json", {"x-trace": "7"}, b"some-key")
    good = fathom.ask("Qual o email do João Silva?")
    [letter] = fathom.log.of("dead-letters.depth")
    headers = dict(letter.headers)
    assert (letter.value, letter.key, headers["x-trace"]) == (b"\xff\x00 not json", b"some-key", b"7")
    for family in ("__streams.errors.", "kafka_dlt-original-"):
        assert headers[family + "topic"] == b"messages.in"
    partition, offset = (headers[f"__streams.errors.{name}"] for name in ("partition", "offset"))
    # Spring's readers expect an int and a long.
    assert headers["kafka_dlt-original-partition"] == int(partition).to_bytes(4, "big")
    assert headers["kafka_dlt-original-offset"] == int(offset).to_bytes(8, "big")
    assert headers["fathom_reason"] == b"not_json"
    assert b"JSON" in headers["__streams.errors.message"]
    assert good.depth_level == DepthLevel.D0


@pytest.mark.parametrize(
    ("value", "headers", "reason"),
    [
        ({"role": "robot", "content": "x", "conversation_id": "c", "client_id": "w"}, {}, "unknown_role"),
        ({"question": "", "conversation_id": "c", "client_id": "w"}, {}, "schema_invalid"),
        ({"question": "  ", "conversation_id": "c", "client_id": "w"}, {}, "empty_content"),
        ({"question": "oi", "conversation_id": "c", "client_id": "w"}, {"tier": "turbo"}, "unknown_tier"),
        ({"question": "oi", "conversation_id": "c", "client_id": "w"}, {"tenant": "_public"}, "bad_envelope"),
        ({"question": "x" * 300_000, "conversation_id": "c", "client_id": "w"}, {}, "too_large"),
    ],
)
def test_each_bad_message_has_its_reason_code(fathom: Pipeline, value: dict, headers: dict, reason: str):
    fathom.publish(MESSAGES_IN, value, headers)
    [letter] = fathom.log.of("dead-letters.depth")
    assert dict(letter.headers)["fathom_reason"] == reason.encode()
    assert letter.value == orjson.dumps(value)


@pytest.mark.covers("AC-35")
def test_interleaved_conversations_keep_their_order_and_their_messages(fathom: Pipeline):
    for round_ in range(4):
        for number in range(8):
            fathom.say(f"Fala da fase {round_} do projeto P{number}", conversation=f"c{number}")
    for number in range(8):
        turns = [r.event for r in fathom.events(CONVERSATION_TURNS) if r.event.conversation_id == f"c{number}"]
        assert [t.content for t in turns] == [f"Fala da fase {r} do projeto P{number}" for r in range(4)]
        assert [t.seq for t in turns] == sorted(t.seq for t in turns)
    for pack in fathom.packs():
        mine = f"P{pack.conversation_id[1:]}"
        assert all(mine in m.content for m in pack.working_set.recent_messages)
        assert mine in pack.query


@pytest.mark.covers("AC-36", "S1-05")
def test_tenants_with_the_same_conversation_see_nothing_of_each_other(fathom: Pipeline):
    for tenant in ("acme", "beta"):
        fathom.document(
            "d1", f"Segredo {tenant}", f"# Senha\n\nA senha do cofre de {tenant} é {tenant}-123.\n", tenant=tenant
        )
        asked = fathom.say("Qual é o prazo do cofre?", tenant=tenant)
        fathom.say(f"O prazo é o dia de {tenant}.", role="assistant", answers=asked, tenant=tenant)
        fathom.say("explica melhor a senha do cofre", tenant=tenant)
        fathom.say("Não, o prazo mudou para dia 20", tenant=tenant)
    packs = fathom.events(CONTEXT_PACKS)
    assert len(packs) == 6
    for received in packs:
        text = received.event.model_dump_json()
        other = "beta" if received.envelope.tenant == "acme" else "acme"
        assert other not in text
    assert any("acme-123" in p.event.model_dump_json() for p in packs)


@pytest.mark.covers("AC-46", "S1-16", "CF-61")
def test_client_and_conversation_ids_with_colons_stay_apart(fathom: Pipeline):
    fathom.say("Fala do projeto X", client_id="a:b", conversation="c")
    pack = fathom.ask("e o orçamento?", client_id="a", conversation="b:c")
    assert pack.working_set.recent_messages == ()


@pytest.mark.covers("AC-39", "S1-20", "CF-63")
def test_only_the_last_turns_within_their_time_to_live_are_recent():
    with Pipeline(policy=ContextPolicy(max_turns=4, ttl_seconds=60)) as fathom:
        for number in range(6):
            fathom.say(f"Fala da fase {number} do projeto X")
        pack = fathom.ask("e o orçamento?")
        assert [m.content[-13:-10] for m in pack.working_set.recent_messages] == [" 2 ", " 3 ", " 4 ", " 5 "] or [
            m.content for m in pack.working_set.recent_messages
        ] == [f"Fala da fase {n} do projeto X" for n in range(2, 6)]
        fathom.clock.advance(120)
        assert fathom.ask("e a fase 9?").working_set.recent_messages == ()


@pytest.mark.covers("AC-40", "S1-04", "S1-22", "CF-64")
def test_with_memory_disabled_packs_still_flow_and_nothing_is_remembered():
    with Pipeline(policy=ContextPolicy(enabled=False)) as fathom:
        fathom.say("Fala do projeto X")
        pack = fathom.ask("e o orçamento?")
        assert pack.working_set.recent_messages == ()
        assert not pack.degraded
        assert fathom.nodes("Claim") == []
        assert fathom.nodes("ConversationSummary") == []


@pytest.mark.covers("AC-38", "S1-01", "S1-08", "CF-58", "CD-04")
def test_a_user_turn_is_filed_with_request_intent_and_entity_and_the_answer_follows(fathom: Pipeline):
    asked = fathom.say("Qual o prazo do projeto X?", headers={"request_id": "r-1"})
    fathom.say("", role="assistant", answers=asked, unroutable=True)
    user, assistant = (r.event for r in fathom.events(CONVERSATION_TURNS))
    assert (user.request_id, user.role, user.depth_level) == ("r-1", "user", DepthLevel.D0)
    assert user.intent == "direct_question"
    assert user.entity
    assert "X" in user.entity
    assert (assistant.role, assistant.content, assistant.unroutable) == ("assistant", "", True)
    assert assistant.seq > user.seq


@pytest.mark.covers("CF-85", "CF-67")
def test_redelivered_message_gives_the_same_events_byte_for_byte(fathom: Pipeline):
    fathom.say("Fala do projeto X")
    fathom.say("Mudando de assunto, quem aprova férias?")
    before = {t: [r.value for r in fathom.log.of(t)] for t in ("conversation.turns", "depth.classified")}
    tp = next(tp for tp in fathom.log.records if tp.topic == MESSAGES_IN.name)
    fathom._members["depth"].acked[tp].clear()
    fathom.crash("depth")
    fathom.clock.advance(5)
    fathom.settle()
    for topic, values in before.items():
        assert sorted(r.value for r in fathom.log.of(topic)) == sorted(values * 2)
    assert len(fathom.packs()) == 2


@pytest.mark.covers("AC-37")
def test_a_writer_waits_for_its_store_and_skips_nothing():
    class Flaky:
        """A graph that refuses its first three writes."""

        def __init__(self, graph) -> None:
            self.graph, self.refused = graph, 0

        def __getattr__(self, name):
            async def write(rows):
                if self.refused < 3:
                    self.refused += 1
                    raise Unavailable("graph", "connection refused")
                await getattr(self.graph, name)(rows)

            return write

    with Pipeline() as plain:
        graph = plain.graph
    flaky = Flaky(graph)
    with Pipeline(replace={"writer": flaky}) as fathom:
        pack = fathom.ask("Qual o email do João Silva?")
        assert flaky.refused == 3
        assert not pack.degraded
        assert fathom.log.of("dead-letters.turn-writer") == []
        assert {n["message_id"] for n in graph.engine.nodes["CDCDecision"].values()} == {pack.message_id}


def test_inputs_of_a_pack_are_acknowledged_only_after_it_is_out():
    with Pipeline(stages=without("retrieval-semantic")) as fathom:
        fathom.say("Qual a diferença entre projeto X e projeto Y?")
        [held] = [tp for tp in fathom.log.records if tp.topic == PACKS_PARTIAL.name]
        assert fathom.committed("assembler", PACKS_PARTIAL)[held.partition] == 0
        fathom.wait(3)
        assert fathom.committed("assembler", PACKS_PARTIAL)[held.partition] == len(fathom.log.records[held])


def test_the_pack_is_on_the_partition_its_parts_were_on(fathom: Pipeline):
    for number in range(12):
        fathom.say("Qual o email do João Silva?", conversation=f"c{number}")
    parts = {r.event.pack_id: r.partition for r in fathom.events(PACKS_PARTIAL)}
    packs = {r.event.pack_id: r.partition for r in fathom.events(CONTEXT_PACKS)}
    assert len({*packs.values()}) > 1
    assert packs == parts
    assert TopicPartition(CONTEXT_PACKS.name, next(iter(packs.values()))) in fathom.log.records


def test_a_pack_is_the_same_whatever_was_read_before_its_records():
    with Pipeline(stages=without("assembler")) as made:
        made.say("Qual o email do João Silva?")
        records = made.log.of(PACKS_PARTIAL.name)

    def decisions(*before: float) -> list[bytes]:
        with Pipeline(stages=[s for s in SPLIT if s.name == "assembler"]) as fathom:
            fathom.clock.advance(sum(before))
            for _ in before:
                # A record of another conversation, written by a clock that is ahead, and committed since.
                tick = {"kind": "tick", "at": "2026-03-02T09:00:00Z"}
                fathom.publish(PACKS_PARTIAL, tick, {"tenant": "acme"}, records[0].key or b"")
            fathom.clock.advance(-sum(before))
            for record in records:
                fathom.log.append(record.topic, record.key, record.value, record.headers, record.partition)
            fathom.settle()
            return [r.value or b"" for t in (MEMORY_DECISIONS, CONTEXT_PACKS) for r in fathom.log.of(t.name)]

    assert len(decisions()) == 2
    assert decisions(0.1) == decisions()
