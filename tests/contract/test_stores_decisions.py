"""What was decided in a stretch of time, on the twin, on the embedded graph and on a Neo4j server."""

from datetime import timedelta

import pytest

from agents.ports.graph import Asker, DecisionMade
from schemas.depth import DepthLevel
from tests.contract.test_stores_graph import (  # noqa: F401  (a fixture is used by its name)
    LATER,
    NOON,
    Kit,
    at,
    claim,
    correction,
    decision,
    kit,
    turn,
)

ALL = Asker()


def made(kit: Kit, tenant: str = "acme", whose: Asker = ALL, since=NOON, limit: int = 10) -> list[DecisionMade]:  # noqa: F811
    return [*kit.run(kit.store.decisions(tenant, whose=whose, since=since, as_of=LATER, limit=limit))]


def contested(kit: Kit, tenant: str = "acme", whose: Asker = ALL, since=NOON) -> list[object]:  # noqa: F811
    return [*kit.run(kit.store.corrections(tenant, whose=whose, since=since, as_of=LATER, limit=10))]


def test_decisions_are_read_newest_first_with_what_they_cost(kit: Kit) -> None:  # noqa: F811
    for number in (4, 2, 6):
        kit.write(decision(number), turn(number))
    kit.write(decision(8, tenant="beta"), turn(8, tenant="beta"))
    found = made(kit)
    assert [each.message_id for each in found] == ["m6", "m4", "m2"]
    assert found[0] == DecisionMade("m6", "c1", "web", at(6), DepthLevel.D1, 812, 37, degraded=False)
    assert [each.message_id for each in made(kit, limit=2)] == ["m6", "m4"]
    assert [each.message_id for each in made(kit, since=at(4))] == ["m6", "m4"]
    assert kit.run(kit.store.decisions("acme", whose=ALL, since=NOON, as_of=at(5), limit=1))[0].message_id == "m4"
    assert [each.message_id for each in made(kit, "beta")] == ["m8"]
    assert made(kit, "gama") == []


def test_decisions_are_those_of_one_client_and_one_user_where_these_are_named(kit: Kit) -> None:  # noqa: F811
    by_bia = turn(4)._replace(event=turn(4).event.model_copy(update={"user_id": "bia"}))
    kit.write(decision(2), turn(2), decision(4), by_bia)
    assert [each.message_id for each in made(kit, whose=Asker("web"))] == ["m4", "m2"]
    assert made(kit, whose=Asker("app")) == []
    assert [each.message_id for each in made(kit, whose=Asker("web", "ana"))] == ["m2"]
    assert [each.message_id for each in made(kit, whose=Asker(None, "bia"))] == ["m4"]


def test_a_decision_is_there_before_its_message(kit: Kit) -> None:  # noqa: F811
    kit.write(decision(2))
    assert [(each.message_id, each.client_id) for each in made(kit)] == [("m2", None)]
    assert made(kit, whose=Asker("web")) == []
    assert kit.run(kit.store.questions("acme", ["m2"], LATER)) == {}


def test_corrections_are_counted_by_their_times(kit: Kit) -> None:  # noqa: F811
    kit.write(claim(1), correction("k1"), correction("q1", 2, "consulta"), correction("k1", 3, tenant="beta"))
    assert contested(kit) == [at(20), at(20)]
    assert contested(kit, whose=Asker(None, "ana")) == [at(20), at(20)]
    assert contested(kit, whose=Asker(None, "bia")) == []
    assert contested(kit, since=at(21)) == []
    assert contested(kit, "beta") == [at(20)]
    assert contested(kit, "gama") == []


@pytest.mark.parametrize("tenant", ["acme", "beta"])
def test_the_texts_of_messages_are_their_tenants(kit: Kit, tenant: str) -> None:  # noqa: F811
    kit.write(turn(2), turn(4))
    own = {"m2": "mensagem 2", "m4": "mensagem 4"}
    assert kit.run(kit.store.questions(tenant, ["m2", "m4", "m9"], LATER)) == (own if tenant == "acme" else {})
    assert kit.run(kit.store.questions("acme", ["m4"], NOON - timedelta(days=1))) == {}


def test_the_decision_on_a_message_names_its_place_in_the_log(kit: Kit) -> None:  # noqa: F811
    assert kit.run(kit.store.decision_on("acme", "m2", LATER)) is None
    kit.write(decision(2))
    stub = kit.run(kit.store.decision_on("acme", "m2", LATER))
    assert (stub.pack_id, stub.conversation_id, stub.place) == ("p2", "c1", None)
    kit.write(turn(2), decision(4), turn(4))
    found = kit.run(kit.store.decision_on("acme", "m2", LATER))
    assert found.place == turn(2).event.source
    assert (found.client_id, found.user_id, found.at) == ("web", "ana", at(2))
    assert len(found.decision_ids) == 1
    assert kit.run(kit.store.decision_on("acme", "m2", at(1))) is None
    assert kit.run(kit.store.decision_on("beta", "m2", LATER)) is None


def test_the_corrections_of_a_claim_are_those_known_by_then(kit: Kit) -> None:  # noqa: F811
    kit.write(claim(1), correction("k1"), claim(9))
    [found] = kit.run(kit.store.contested("acme", ["k1", "k9"], LATER))
    assert (found.correction_id, found.claim_id, found.at) == ("x1", "k1", at(20))
    assert kit.run(kit.store.contested("acme", ["k9"], LATER)) == ()
    assert kit.run(kit.store.contested("acme", ["k1"], at(19))) == ()
    assert kit.run(kit.store.contested("beta", ["k1"], LATER)) == ()
