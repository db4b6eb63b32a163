"""Corrections from outside a conversation: of claims and of consultations, what they change and what they refuse."""

import asyncio
from collections.abc import Iterator
from copy import deepcopy
from datetime import timedelta
from typing import Any

import pytest

from agents.concurrency import RetryUntil
from schemas.base import entity_key
from schemas.topics import CORRECTIONS_IN, MEMORY_CLAIMS, MEMORY_CONSULTATIONS, MEMORY_CORRECTIONS
from streams.stores.graph.learning_rows import sub_question_id
from streams.stores.tenant import node_id
from streams.testing.pipeline import EPOCH, Pipeline

LATER = "Por que o prazo mudou?"


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline(reference_wait_ms=0) as pipeline:
        yield pipeline


def asserted(fathom: Pipeline, text: str = "O prazo é dia 15", role: str = "assistant") -> str:
    fathom.say(text, role=role)
    return [r.event for r in fathom.events(MEMORY_CLAIMS)][-1].claim_id


def correct(fathom: Pipeline, texto: str = "O prazo é outro.", **fields: Any) -> None:
    headers = {"tenant": fields.pop("tenant", fathom.tenant)}
    value = {"texto": texto, "usuario_id": "lia", "tipo": "factual", "created_at": fathom.clock.now(), **fields}
    fathom.clock.advance(1)
    fathom.publish(CORRECTIONS_IN, value, headers, b"k")


def consulted(fathom: Pipeline, consulta_id: str = "q1", **fields: Any) -> None:
    value = {
        "consulta_id": consulta_id,
        "pergunta_usuario": "Qual o prazo e quem paga as férias?",
        "resposta_final": "30 dias; o empregador.",
        "sub_perguntas": [
            {"node_id": "n1", "texto": "Quais verbas?", "resposta": "Aviso e férias.", "confidence": 0.9},
            {
                **{"node_id": "n2", "parent_id": "n1", "texto": "Qual o prazo?", "resposta": "30 dias"},
                "citacoes": ["[lei:CF-art7]"],
                "uses": [{"label": "Dispositivo", "id": "CF-art7", "public": True}],
                "confidence": 0.8,
            },
        ],
        "verification_status": "approved",
        "access_level": "internal",
        "lang": "pt",
        "data": EPOCH,
        **fields,
    }
    fathom.publish(MEMORY_CONSULTATIONS, value, {"tenant": fathom.tenant}, entity_key("acme", consulta_id).encode())


def test_what_a_user_said_of_himself_another_may_contest_and_not_replace(fathom: Pipeline):
    fathom.say("Meu email é ana@x.com", headers={"user_id": "ana"})
    [known] = fathom.events(MEMORY_CLAIMS)
    correct(fathom, claim_id=known.event.claim_id, new_value="lia@x.com")
    assert values(fathom) == {"ana@x.com": "contested"}
    correct(fathom, claim_id=known.event.claim_id, new_value="ana@y.com", usuario_id="ana")
    assert values(fathom)["ana@y.com"] == "asserted"


def refusals(fathom: Pipeline) -> list[str]:
    return [dict(record.headers)["fathom_reason"].decode() for record in fathom.log.of("dead-letters.correction")]


def values(fathom: Pipeline) -> dict[str, str]:
    return {claim["value"]: claim["status"] for claim in fathom.nodes("Claim")}


@pytest.mark.covers("CF-40", "S0-75", "S2-76", "S2-95", "S0-82", "S0-84")
def test_a_corrected_claim_is_contested_and_the_users_value_is_offered_from_then_on(fathom: Pipeline):
    wrong = asserted(fathom)
    correct(fathom, "O prazo mudou por aditivo.", claim_id=wrong, new_value="dia 20", tipo="juridico")
    assert values(fathom) == {"dia 15": "contested", "dia 20": "asserted"}
    issued = fathom.one(MEMORY_CORRECTIONS)
    assert (issued.kind, issued.target_id, issued.correction_kind, issued.new_value) == (
        "claim",
        wrong,
        "juridico",
        "dia 20",
    )
    [node] = fathom.nodes("Correcao")
    assert (node["texto"], node["usuario_id"], node["tipo"]) == ("O prazo mudou por aditivo.", "lia", "juridico")
    assert [edge[:2] for edge in fathom.edges("CORRECTS")] == [(node["id"], node_id("acme", wrong))]
    [(new, old, props)] = fathom.edges("CONTRADICTS")
    assert (new, old) == (node_id("acme", issued.new_claim_id), node_id("acme", wrong))
    assert (props["kind"], props["status"]) == ("correction", "pending_reconciliation")
    assert fathom.edges("SUPERSEDES") == []
    pack = fathom.ask(LATER, conversation="later")
    assert pack.semantic is not None
    assert [found.text.split(" ")[1] for found in pack.semantic.definitions] == ["20"]


@pytest.mark.covers("CF-40")
def test_a_value_said_only_in_the_text_is_understood(fathom: Pipeline):
    correct(fathom, "Não, é dia 20", claim_id=asserted(fathom))
    assert values(fathom) == {"dia 15": "contested", "dia 20": "asserted"}


@pytest.mark.covers("CF-40", "S0-75")
def test_without_another_value_the_claim_is_only_contested(fathom: Pipeline):
    correct(fathom, "Isso não procede.", claim_id=asserted(fathom))
    assert values(fathom) == {"dia 15": "contested"}
    assert fathom.one(MEMORY_CORRECTIONS).new_claim_id is None


@pytest.mark.covers("CF-40", "CF-74")
def test_a_users_own_claim_is_replaced_and_a_strangers_is_contested(fathom: Pipeline):
    own = asserted(fathom, "O prazo é dia 15", role="user")
    correct(fathom, claim_id=own, new_value="dia 18", usuario_id="someone")
    assert values(fathom) == {"dia 15": "contested", "dia 18": "asserted"}
    correct(fathom, claim_id=own, new_value="dia 20", usuario_id="web")
    assert values(fathom)["dia 15"] == "superseded"


def test_a_correction_of_a_clock_that_is_behind_still_comes_after_what_it_corrects(fathom: Pipeline):
    correct(fathom, claim_id=asserted(fathom), new_value="dia 20", created_at=EPOCH - timedelta(days=1))
    times = {claim["value"]: claim["created_at"] for claim in fathom.nodes("Claim")}
    assert times["dia 20"] >= times["dia 15"]
    pack = fathom.ask(LATER, conversation="later")
    assert pack.semantic is not None
    assert [found.text[:6] for found in pack.semantic.definitions] == ["dia 20"]


@pytest.mark.covers("CF-40")
def test_how_a_thing_is_written_contests_nothing(fathom: Pipeline):
    correct(fathom, "Escreva sem zero.", claim_id=asserted(fathom), tipo="formatacao", new_value="dia 20")
    assert values(fathom) == {"dia 15": "asserted"}
    assert len(fathom.nodes("Correcao")) == 1


@pytest.mark.covers("S2-76", "S2-83", "CF-35", "CF-79")
def test_a_corrected_consultation_penalises_what_its_answer_came_from(fathom: Pipeline):
    consulted(fathom)
    correct(fathom, "O prazo é de 90 dias.", consulta_id="q1", tipo="juridico")
    [node] = fathom.nodes("Correcao")
    assert [edge[:2] for edge in fathom.edges("CORRIGIDA_POR")] == [("acme|q1", node["id"])]
    assert node["tenant_id"] == "acme"
    penalised = {end for kind in ("Dispositivo", "SubPergunta") for _, end, _ in fathom.edges(f"PENALIZA:{kind}")}
    subs = {node_id("acme", sub_question_id("q1", name)) for name in ("n1", "n2")}
    assert penalised == {"_public|CF-art7", *subs}
    assert {props["peso"] for _, _, props in fathom.edges("PENALIZA:SubPergunta")} == {0.5}


@pytest.mark.covers("CF-40")
def test_the_form_of_an_answer_penalises_nothing(fathom: Pipeline):
    consulted(fathom)
    correct(fathom, "Com vírgulas.", consulta_id="q1", tipo="formatacao")
    assert len(fathom.edges("CORRIGIDA_POR")) == 1
    assert [kind for kind, _, _ in fathom.graph.engine.links if kind.startswith("PENALIZA")] == []


@pytest.mark.covers("S0-75")
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"claim_id": "nothing"}, "claim_unknown"),
        ({"consulta_id": "nothing"}, "consultation_unknown"),
        ({}, "schema_invalid"),
        ({"claim_id": "a", "consulta_id": "b"}, "schema_invalid"),
        ({"claim_id": "a", "tipo": "opinião"}, "schema_invalid"),
        ({"claim_id": "a", "texto": " "}, "schema_invalid"),
    ],
)
def test_what_corrects_nothing_is_set_aside_with_the_reason(fathom: Pipeline, fields: dict[str, Any], reason: str):
    asserted(fathom)
    correct(fathom, **fields)
    assert refusals(fathom) == [reason]
    assert fathom.nodes("Correcao") == []
    assert values(fathom) == {"dia 15": "asserted"}


@pytest.mark.covers("AC-36")
def test_another_tenants_claim_cannot_be_corrected(fathom: Pipeline):
    correct(fathom, claim_id=asserted(fathom), new_value="dia 20", tenant="beta")
    assert refusals(fathom) == ["claim_unknown"]
    assert values(fathom) == {"dia 15": "asserted"}


@pytest.mark.covers("CF-67", "AC-29")
def test_a_redelivered_correction_changes_nothing_more(fathom: Pipeline):
    correct(fathom, claim_id=asserted(fathom), new_value="dia 20")
    once = deepcopy((fathom.graph.engine.nodes, fathom.graph.engine.links))
    fathom._members["learning"].acked.clear()
    fathom.crash("learning")
    fathom.settle()
    assert len(fathom.events(MEMORY_CORRECTIONS)) == 2
    assert (fathom.graph.engine.nodes, fathom.graph.engine.links) == once
    assert len(fathom.nodes("Correcao")) == 1


@pytest.mark.covers("CF-69")
def test_what_is_named_may_come_a_little_later():
    waited: list[float] = []
    answers = iter([None, None, "here"])

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    async def read() -> str | None:
        return next(answers, None)

    assert asyncio.run(RetryUntil(1.0, sleep).find(read)) == "here"
    assert waited == [0.05, 0.1]
    assert asyncio.run(RetryUntil(1.0, sleep).find(read)) is None
    assert sum(waited[2:]) == pytest.approx(1.0)
    assert asyncio.run(RetryUntil(0.0, sleep).find(read)) is None
    assert sum(waited[2:]) == pytest.approx(1.0)
