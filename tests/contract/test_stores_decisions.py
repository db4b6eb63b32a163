"""What was decided in a stretch of time, on the twin, on the embedded graph and on a Neo4j server."""

import asyncio
import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agents.core.conversation.erasure import Erasure
from agents.ports.graph import Asker, DecisionMade
from schemas.base import Conversation
from schemas.chat import Role
from schemas.depth import DepthLevel
from schemas.envelope import Received
from streams.stores.graph.document_reads import DOCUMENTS
from streams.stores.graph.embedded.engine import EmbeddedGraph
from streams.stores.graph.embedded.reads import READS
from streams.stores.graph.embedded.tables import GraphTables
from streams.stores.graph.event_rows import decision_rows, turn_rows
from streams.stores.graph.rows import NodeInsert, batch
from streams.stores.tenant import node_id
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
    assert found[0] == DecisionMade(
        "d6", "m6", "c1", "web", at(6), DepthLevel.D1, 812, 37, degraded=False, user_id="ana"
    )
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
    assert [(each.message_id, each.client_id) for each in made(kit)] == [("m2", "web")]
    assert made(kit, whose=Asker("web")) == []
    assert kit.run(kit.store.questions("acme", ["d2"], LATER)) == {}


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
    kit.write(turn(2), turn(4), decision(2), decision(4))
    own = {"d2": "mensagem 2", "d4": "mensagem 4"}
    assert kit.run(kit.store.questions(tenant, ["d2", "d4", "d9"], LATER)) == (own if tenant == "acme" else {})
    assert kit.run(kit.store.questions("acme", ["d4"], NOON - timedelta(days=1))) == {}


def test_the_decision_on_a_message_names_its_place_in_the_log(kit: Kit) -> None:  # noqa: F811
    assert kit.run(kit.store.decisions_on("acme", "m2", LATER)) == ()
    kit.write(decision(2))
    [stub] = kit.run(kit.store.decisions_on("acme", "m2", LATER))
    assert (stub.pack_id, stub.conversation_id, stub.place) == ("p2", "c1", None)
    kit.write(turn(2), decision(4), turn(4))
    [found] = kit.run(kit.store.decisions_on("acme", "m2", LATER))
    assert found.place == turn(2).event.source
    assert (found.client_id, found.user_id, found.at) == ("web", "ana", at(2))
    assert len(found.decision_ids) == 1
    assert kit.run(kit.store.decisions_on("acme", "m2", at(1))) == ()
    assert kit.run(kit.store.decisions_on("beta", "m2", LATER)) == ()


def test_the_corrections_of_a_claim_are_those_known_by_then(kit: Kit) -> None:  # noqa: F811
    kit.write(claim(1), correction("k1"), claim(9))
    [found] = kit.run(kit.store.contested("acme", ["k1", "k9"], LATER))
    assert (found.correction_id, found.claim_id, found.at) == ("x1", "k1", at(20))
    assert kit.run(kit.store.contested("acme", ["k9"], LATER)) == ()
    assert kit.run(kit.store.contested("acme", ["k1"], at(19))) == ()
    assert kit.run(kit.store.contested("beta", ["k1"], LATER)) == ()


def in_conversation(row: Received[Any], conversation: str, user: str = "ana", **fields: Any) -> Received[Any]:
    """A turn or a decision, as another conversation has it, too."""
    own = {"user_id": user} if hasattr(row.event, "user_id") else {}
    return row._replace(event=row.event.model_copy(update={**own, **fields, "conversation_id": conversation}))


def twice(kit: Kit) -> None:  # noqa: F811
    """The message m2 of ana's conversation c1, and then of bob's c2."""
    kit.write(turn(2), decision(2))
    kit.write(in_conversation(turn(2), "c2", "bob", content="hello there", created_at=at(4), seq=4))
    kit.write(in_conversation(decision(2), "c2", id="d2b", pack_id="p2b", created_at=at(4)))


def test_two_conversations_may_use_one_message_id(kit: Kit) -> None:  # noqa: F811
    twice(kit)
    for user, own in (("ana", ("c1", "mensagem 2")), ("bob", ("c2", "hello there"))):
        [found] = made(kit, whose=Asker(None, user))
        texts = kit.run(kit.store.questions("acme", [found.decision_id], LATER))
        assert (found.conversation_id, texts[found.decision_id]) == own
    traces = kit.run(kit.store.decisions_on("acme", "m2", LATER))
    assert [(each.conversation_id, each.user_id, each.pack_id) for each in traces] == [
        ("c2", "bob", "p2b"),
        ("c1", "ana", "p2"),
    ]


@pytest.mark.parametrize("erased", ["c1", "c2"])
def test_an_erasure_leaves_what_another_conversation_says_under_the_same_id(kit: Kit, erased: str) -> None:  # noqa: F811
    twice(kit)
    erase(kit, erased)
    [left] = made(kit)
    assert left.conversation_id == ("c1" if erased == "c2" else "c2")
    assert kit.run(kit.store.questions("acme", [left.decision_id], LATER)) != {}
    assert len(kit.nodes("Message")) == 1


def erase(kit: Kit, conversation: str) -> None:  # noqa: F811
    where = Conversation(tenant="acme", client_id="web", conversation_id=conversation)
    found = kit.run(kit.store.note_erasure(where, Erasure(9, at(100))))
    kit.run(kit.store.erase("acme", found))


def as_of_old(*rows: Received[Any]) -> list[Any]:
    """The rows as earlier versions wrote them: one node for all messages of an id in a tenant."""
    made_now = [row for each in rows for row in (turn_rows if hasattr(each.event, "role") else decision_rows)([each])]
    old: list[Any] = []
    for row in made_now:
        if isinstance(row, NodeInsert) and row.label == "CDCDecision":
            old.append(replace(row, props={name: row.props[name] for name in row.props if name != "client_id"}))
        elif isinstance(row, NodeInsert) and row.label == "Message":
            named = row.props["message_id"]
            props = {name: row.props[name] for name in row.props if name != "message_id"}
            old.append(replace(row, id=node_id("acme", named), props=props))
        else:
            old.append(row)
    named = node_id("acme", "m2")
    ends = {"IN_CONVERSATION": "start", "FOR_MESSAGE": "end"}
    return [replace(row, **{ends[row.type]: named}) if getattr(row, "type", "") in ends else row for row in old]


def test_what_an_earlier_version_wrote_is_read_and_is_not_doubled_when_it_is_written_again(kit: Kit) -> None:  # noqa: F811
    kit.run(kit.store.engine.write(batch(as_of_old(turn(2), decision(2)))))
    for _ in range(2):
        assert [each.decision_id for each in made(kit, whose=Asker("web", "ana"))] == ["d2"]
        assert made(kit)[0].client_id == "web"
        assert kit.run(kit.store.questions("acme", ["d2"], LATER)) == {"d2": "mensagem 2"}
        [found] = kit.run(kit.store.decisions_on("acme", "m2", LATER))
        assert (found.client_id, found.user_id, found.place) == ("web", "ana", turn(2).event.source)
        kit.write(turn(2), decision(2))
    erase(kit, "c1")
    assert (made(kit), kit.nodes("Message")) == ([], [])


def test_of_a_node_that_an_earlier_version_shared_nobody_gets_what_another_said(kit: Kit) -> None:  # noqa: F811
    theirs = in_conversation(turn(2), "c2", "bob", content="hello there")
    kit.run(kit.store.engine.write(batch(as_of_old(turn(2), decision(2)))))
    kit.run(kit.store.engine.write(batch(as_of_old(theirs))))
    assert made(kit, whose=Asker(None, "bob")) == []
    assert kit.run(kit.store.questions("acme", ["d2"], LATER)) == {}
    [found] = kit.run(kit.store.decisions_on("acme", "m2", LATER))
    assert (found.conversation_id, found.user_id, found.place) == ("c1", None, None)
    erase(kit, "c2")
    assert kit.nodes("Message") == []
    assert [each["id"] for each in kit.nodes("CDCDecision")] == ["acme|d2"]


def test_messages_without_a_pack_are_those_of_users_newest_first(kit: Kit) -> None:  # noqa: F811
    def unanswered(number: int, **fields: Any) -> Received[Any]:
        said = turn(number, **({"tenant": fields.pop("tenant")} if "tenant" in fields else {}))
        return said._replace(event=said.event.model_copy(update={"pack": False, **fields}))

    kit.write(turn(2), unanswered(4), unanswered(6, user_id="bia"), unanswered(8, role=Role.ASSISTANT))
    kit.write(unanswered(4, tenant="beta"))

    def found(tenant: str = "acme", whose: Asker = ALL, since=NOON) -> list[str]:
        asked = kit.store.unanswered(tenant, whose=whose, since=since, as_of=LATER, limit=10)
        return [each.message_id for each in kit.run(asked)]

    assert found() == ["m6", "m4"]
    assert found(since=at(5)) == ["m6"]
    assert found(whose=Asker("web", "ana")) == ["m4"]
    assert found(whose=Asker("app")) == []
    assert (found("beta"), found("gama")) == (["m4"], [])


def test_a_list_of_the_embedded_graph_is_read_off_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten thousand documents held it up for most of a second, and every answer with it."""
    moved = threading.Event()

    def read(tables: GraphTables, asked: Any) -> list[Any]:
        assert moved.wait(10), "the loop waits for the list"
        return []

    async def story() -> None:
        store = EmbeddedGraph(tmp_path)
        asyncio.get_running_loop().call_later(0.05, moved.set)
        assert await store.documents("acme", as_of=LATER, limit=10) == ()
        await store.close()

    monkeypatch.setitem(READS, DOCUMENTS, read)
    asyncio.run(story())
