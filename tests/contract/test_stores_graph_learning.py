"""What corrections, feedback and consultations need of the graph, on twin, embedded graph and Neo4j."""

from typing import Any

import pytest

from agents.core.claims.resolution import offered
from schemas.base import derive
from schemas.depth import DepthLevel
from schemas.memory import ObjectiveEntry
from streams.stores.graph.learning_rows import sub_question_id
from tests.contract.test_stores_graph import (  # noqa: F401  (a fixture is used by its name)
    LATER,
    NOON,
    Kit,
    against,
    at,
    claim,
    consultation,
    correction,
    decision,
    kit,
    knowledge,
    profile,
    received,
)


def sub(node: str) -> str:
    return f"acme|{sub_question_id('consulta-1', node)}"


@pytest.mark.covers("S2-74", "S2-75", "S2-81", "S2-82", "CF-35", "S2-87")
def test_a_consultation_is_a_tree_of_answers_and_what_they_stand_on(kit: Kit) -> None:  # noqa: F811
    kit.write(consultation())
    [node] = kit.nodes("Consulta")
    assert {name: node[name] for name in ("id", "tenant_id", "pergunta_usuario", "data", "resposta_final")} == {
        "id": "acme|consulta-1",
        "tenant_id": "acme",
        "pergunta_usuario": "Qual o prazo, e quem paga?",
        "data": at(11),
        "resposta_final": "30 dias; o empregador.",
    }
    subs = {each["id"]: each for each in kit.nodes("SubPergunta")}
    assert set(subs) == {sub("n1"), sub("n2"), sub("n3")}
    named = ("texto", "resposta", "citacoes", "node_id", "tenant_id")
    assert [subs[sub("n2")][name] for name in named] == ["Qual o prazo?", "30 dias", ["[lei:law-7]"], "n2", "acme"]
    assert {link[:2] for link in kit.links("DECOMPOSTA_EM")} == {("acme|consulta-1", each) for each in subs}
    assert {link[:2] for link in kit.links("FILHA_DE")} == {(sub("n2"), sub("n1")), (sub("n3"), sub("n1"))}
    used = {"_public|law-7", "acme|case-1", "acme|ruling-1"}
    assert {link[:2] for link in kit.links("USA_NO")} == {(sub("n2"), each) for each in used}
    assert [each["id"] for each in kit.nodes("Dispositivo")] == ["_public|law-7"]


@pytest.mark.covers("S2-83", "S2-76")
def test_a_correction_of_a_consultation_is_linked_whichever_comes_first(kit: Kit) -> None:  # noqa: F811
    kit.write(correction("consulta-1", kind="consulta"), consultation(), consultation(2, reused=("consulta-1",)))
    assert [link[:2] for link in kit.links("CORRIGIDA_POR")] == [("acme|consulta-1", "acme|x1")]
    assert [link[:2] for link in kit.links("REUSED")] == [("acme|consulta-2", "acme|consulta-1")]
    penalised = {end: props for _, end, props in kit.links("PENALIZA")}
    assert penalised == {"acme|ch1": {"peso": 0.5}, "_public|law-7": {"peso": 0.5}}


def test_what_an_answer_came_from_is_read_as_of_a_time_by_its_tenant_alone(kit: Kit) -> None:  # noqa: F811
    kit.write(consultation(), correction("consulta-9", kind="consulta"))

    def paths(tenant: str = "acme", consulta: str = "consulta-1", as_of: Any = LATER) -> Any:
        found = kit.run(kit.store.consultation(tenant, consulta, as_of))

        return None if found is None else found.paths

    found = paths()
    assert set(found) == {
        *("_public:Dispositivo/law-7", "Processo/case-1", "Jurisprudencia/ruling-1", "Chunk/ch1"),
        *(f"SubPergunta/{sub_question_id('consulta-1', node)}" for node in ("n1", "n2", "n3")),
    }
    assert paths(as_of=NOON) is None
    assert paths(tenant="beta") is None
    assert paths(consulta="consulta-9") is None  # named by a correction, not recorded


def test_a_claim_comes_back_as_it_was_asserted(kit: Kit) -> None:  # noqa: F811
    row = claim(1, status="confirmed")
    kit.write(claim(2), row, correction("k1"), correction("k7", 2))

    def asserted(tenant: str = "acme", claim_id: str = "k1", as_of: Any = LATER) -> Any:
        return kit.run(kit.store.claim(tenant, claim_id, as_of))

    assert asserted() == row.event
    assert asserted(as_of=NOON) is None
    assert asserted(tenant="beta") is None
    assert asserted(claim_id="k7") is None  # named by a correction, not asserted


@pytest.mark.covers("CF-40")
def test_a_correction_of_form_leaves_the_claim_as_it_is(kit: Kit) -> None:  # noqa: F811
    form = correction("k1").event.model_copy(update={"correction_kind": "formatacao"})
    kit.write(claim(1), received(form))
    assert [each["status"] for each in kit.nodes("Claim")] == ["asserted"]
    found = kit.run(kit.store.claims_about("acme", reader="ana", subjects=["prazo"], as_of=LATER, limit=5))
    assert [each.status for each in found.claims] == ["asserted"]
    assert len(kit.links("CORRECTS")) == 1


@pytest.mark.covers("S0-88")
def test_the_decision_on_a_pack_is_found_by_the_pack(kit: Kit) -> None:  # noqa: F811
    made = decision(2).event.model_copy(update={"id": derive("decision", "p2", 1)})
    kit.write(received(made))

    def decided(tenant: str = "acme", pack: str = "p2", as_of: Any = LATER) -> Any:
        return kit.run(kit.store.decision(tenant, pack, as_of))

    found = decided()
    assert (found.message_id, found.level, found.signals) == ("m2", DepthLevel.D1, ("anaphora", "follow_up"))
    assert decided(as_of=NOON) is None
    assert decided(tenant="beta") is None
    assert decided(pack="p3") is None


@pytest.mark.covers("S0-75", "S0-73", "AC-12")
def test_claims_come_back_related_as_they_stood_at_the_time(kit: Kit) -> None:  # noqa: F811
    newest = claim(4, contradicts=against("k2"), supersedes=("k2",))
    kit.write(newest, claim(2, contradicts=against("k1")), claim(1))

    def asserted(minute: float) -> Any:
        found = kit.run(kit.store.claims_about("acme", reader="ana", subjects=["prazo"], as_of=at(minute), limit=9))
        return found.asserted

    assert asserted(1) == (claim(1).event,)
    now = {each.claim_id: each for each in asserted(9)}
    assert now["k4"] == newest.event
    assert now["k2"] == claim(2, contradicts=against("k1"), status="superseded").event
    assert now["k1"].status == "contested"
    assert [each.claim.claim_id for each in offered(asserted(9))] == ["k4"]
    assert [each.claim.claim_id for each in offered(asserted(3))] == ["k2"]


def test_who_a_user_was_at_a_time_is_known_whatever_came_first(kit: Kit) -> None:  # noqa: F811
    early = knowledge(profile("estagiária", [ObjectiveEntry(id="o1", title="aprender")]), recorded_at=at(0))
    late = knowledge(profile("diretora", [ObjectiveEntry(id="o2", title="dirigir")]), recorded_at=at(60))
    for rows in ((late, early), (early, late, early)):
        kit.write(*rows)

        def seen(minute: float, tenant: str = "acme") -> Any:
            found = kit.run(kit.store.persona(tenant, "ana", at(minute)))
            return found and (found.person.user_role, [each.title for each in found.objectives])

        assert [seen(minute) for minute in (-1, 0, 59, 60)] == [
            None,
            ("estagiária", ["aprender"]),
            ("estagiária", ["aprender"]),
            ("diretora", ["dirigir"]),
        ]
        assert seen(30, "beta") is None
    assert [each["user_role"] for each in kit.nodes("UserProfile")] == ["diretora"]
