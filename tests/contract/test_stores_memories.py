"""What is remembered of a user, on the twin, on the embedded graph and on a Neo4j server."""

from pathlib import Path

from agents.ports.graph import ClaimsFound
from streams.stores.graph.embedded import tables
from streams.stores.graph.embedded.tables import GraphTables
from tests.contract.test_stores_graph import (  # noqa: F401  (a fixture is used by its name)
    LATER,
    Kit,
    against,
    at,
    claim,
    correction,
    kit,
)


def found(kit: Kit, user: str = "ana", tenant: str = "acme", as_of=LATER, after="", limit=10) -> ClaimsFound:  # noqa: F811
    return kit.run(kit.store.claims_of(tenant, user_id=user, as_of=as_of, after=after, limit=limit))


def ids(shown: ClaimsFound) -> list[str]:
    return [each.claim_id for each in shown.asserted]


def ruled(target: str, ruling: str):
    made = correction(target, int(target[1:]))
    return made._replace(event=made.event.model_copy(update={"ruling": ruling}))


def test_a_users_claims_of_any_conversation_come_newest_first(kit: Kit) -> None:  # noqa: F811
    kit.write(claim(2), claim(4, conversation_id="c2"), claim(6, client_id="app"), claim(8, user_id="bia"))
    kit.write(claim(10, tenant="beta"))
    assert ids(found(kit)) == ["k6", "k4", "k2"]
    assert ids(found(kit, "bia")) == ["k8"]
    assert ids(found(kit, tenant="beta")) == ["k10"]
    assert ids(found(kit, "caio")) == []


def test_a_page_goes_on_behind_the_last_claim_also_among_those_of_one_time(kit: Kit) -> None:  # noqa: F811
    kit.write(*(claim(number, asserted_at=at(5)) for number in (2, 4, 6)), claim(8), claim(1))
    first = found(kit, limit=2)
    assert ids(first) == ["k8", "k2"]
    second = found(kit, as_of=at(5), after="k2", limit=2)
    assert ids(second) == ["k4", "k6"]
    assert ids(found(kit, as_of=at(5), after="k6", limit=2)) == ["k1"]


def test_statuses_are_those_of_now_also_on_a_later_page(kit: Kit) -> None:  # noqa: F811
    kit.write(claim(2), claim(4, contradicts=against("k2"), supersedes=("k2",)), claim(6), claim(8), claim(10))
    kit.write(ruled("k6", "retract"), ruled("k8", "confirm"))
    status = {each.claim_id: each.status for each in found(kit, as_of=at(8), after="").asserted}
    assert status == {"k2": "superseded", "k4": "asserted", "k6": "retracted", "k8": "asserted"}
    edits = kit.run(kit.store.contested("acme", ["k6"], LATER))
    assert [each.ruling for each in edits] == ["retract"]


def test_a_file_from_before_claims_had_users_for_a_key_is_read_whole(tmp_path: Path, monkeypatch) -> None:
    older = {**tables.KEYS, "Claim": tables.KEYS["Claim"][:2]}
    path = tmp_path / "graph.sqlite"
    with monkeypatch.context() as then:
        then.setattr(tables, "KEYS", older)
        made = GraphTables(path)
        made.begin()
        props = {"created_at": at(2), "user_id": "ana", "subject_key": "prazo"}
        made.merged("Claim", "acme|k2", "acme", lambda _: props)
        made.commit()
        made.close()
    reopened = GraphTables(path)
    try:
        assert [node["id"] for node in reopened.keyed("Claim", "acme", user_id="ana")] == ["acme|k2"]
        assert [node["id"] for node in reopened.keyed("Claim", "acme", subject_key="prazo")] == ["acme|k2"]
    finally:
        reopened.close()
