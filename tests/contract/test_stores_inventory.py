"""What the stores of a tenant hold, listed page by page, and taken out: on twins, embedded stores and servers."""

from datetime import UTC, datetime, timedelta

import pytest

from agents.errors import Rejected
from agents.ports.passages import Passage
from streams.stores.graph import cypher
from streams.stores.graph.cypher import LISTED, REMOVED
from streams.stores.graph.rows import Edge, RowBatch, term_id, term_keys
from streams.stores.graph.schema import LINK_ENDS
from streams.stores.tenant import node_id
from tests.contract import test_stores_graph, test_stores_index
from tests.contract.test_stores_graph import claim, concept, decision, definition, knowledge, node_of, turn

# The fixtures of the two suites under names of their own.
graph, graph_of_nobody = test_stores_graph.kit, test_stores_graph.kit_of_nobody
index, shared = test_stores_index.kit, test_stores_index.shared
apart, served = test_stores_index.apart, test_stores_index.served

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def passage(number: int, text: str = "o prazo da proposta") -> Passage:
    return Passage(f"p{number:03}", "chunk", f"{text} {number}", "pt", NOON + timedelta(minutes=number))


def listed(kit, tenant: str = "acme", collection: str = "semantic", limit: int = 7) -> list[str]:
    found: list[str] = []
    after = None
    while True:
        page = kit.runner.run(kit.store.listed(kit.own(tenant), collection, after=after, limit=limit))
        assert len(page.ids) <= limit
        found += page.ids
        if page.following is None:
            return found
        after = page.following


def test_a_listing_names_every_passage_of_the_tenant_once(index):
    index.put(*(passage(number) for number in range(30)))
    index.put(passage(3, "outro texto"))
    index.put(passage(90), tenant="other")
    index.put(passage(91), tenant="_public")
    index.put(passage(92), collection="episodic")
    assert sorted(listed(index)) == [f"p{number:03}" for number in range(30)]
    assert len(listed(index)) == 30
    assert listed(index, "other") == ["p090"]
    assert "p091" in listed(index, "_public")
    assert listed(index, collection="episodic") == ["p092"]
    assert listed(index, "nobody") == []


def test_a_page_that_is_just_full_is_not_the_last_twice(index):
    index.put(*(passage(number) for number in range(14)))
    assert len(listed(index, limit=7)) == len(set(listed(index, limit=7))) == 14
    assert len(listed(index, limit=14)) == 14


def test_what_is_removed_is_neither_listed_nor_found_and_the_same_id_of_another_tenant_stays(index):
    for tenant in ("acme", "other"):
        index.put(*(passage(number) for number in range(5)), tenant=tenant)
    index.runner.run(index.store.remove(index.own("acme"), "semantic", ["p001", "p003", "p777"]))
    index.runner.run(index.store.remove(index.own("acme"), "semantic", []))
    assert sorted(listed(index)) == ["p000", "p002", "p004"]
    assert "p001" not in index.found("prazo da proposta")
    assert len(listed(index, "other")) == 5


@pytest.mark.parametrize("tenant", ["", " acme", "a\nb"])
def test_nobodys_passages_are_not_listed(index, tenant: str):
    with pytest.raises(Rejected):
        index.runner.run(index.store.listed(tenant, "semantic"))
    with pytest.raises(Rejected):
        index.runner.run(index.store.remove(tenant, "semantic", ["p001"]))


def nodes_of(kit, label: str, tenant: str = "acme", limit: int = 3) -> dict[str, tuple[tuple[str, str], ...]]:
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    after = ""
    while page := kit.run(kit.store.listed(tenant, label, after=after, limit=limit)):
        assert len(page) <= limit
        found |= {node.id: node.links for node in page}
        after = page[-1].id
    return found


def test_a_listing_names_every_node_of_the_tenant_with_its_links(graph):
    graph.write(*(turn(number) for number in range(8)), decision(2), claim(3), turn(1, "other"))
    graph.write(knowledge(concept("c1"), definition("k1")))

    messages = nodes_of(graph, "Message")
    conversation = "acme|web|c1"
    assert list(messages) == sorted(node_of(number) for number in range(8))
    assert set(messages.values()) == {(("IN_CONVERSATION", conversation),)}
    assert nodes_of(graph, "CDCDecision") == {
        "acme|d2": (("FOR_MESSAGE", node_of(2)), ("USED_PROFILE", node_id("_public", "org_context")))
    }
    terms = [("HAS_TERM", node_id("acme", term_id(key))) for key in term_keys(definition("k1").title, "pt")]
    assert terms
    assert nodes_of(graph, "Knowledge") == {"acme|k1": (("ABOUT", "acme|c1"), *sorted(terms))}
    assert set(nodes_of(graph, "Term")) >= {term for _, term in terms}
    assert list(nodes_of(graph, "QueryProfile", "_public")) == [node_id("_public", "org_context")]
    assert list(nodes_of(graph, "Message", "other")) == [node_of(1, "other")]
    assert nodes_of(graph, "Message", "nobody") == nodes_of(graph, "Tema") == {}


def test_a_link_to_another_tenant_is_not_told(graph):
    graph.write(turn(1), turn(2, "other"))
    # Nothing of ours makes such a link; one that is there all the same stays unseen.
    link = Edge("IN_CONVERSATION", node_of(1), "other|web|c1", "acme", "other")
    graph.run(graph.store.engine.write(RowBatch((), (), (link,), ())))
    assert nodes_of(graph, "Message") == {node_of(1): (("IN_CONVERSATION", "acme|web|c1"),)}


def test_what_is_removed_takes_its_links_along_and_another_tenants_stays(graph):
    graph.write(*(turn(number) for number in range(3)), turn(1, "other"))
    graph.run(graph.store.remove("acme", "Message", [node_of(1), node_of(1, "other"), node_of(9)]))
    assert list(nodes_of(graph, "Message")) == sorted([node_of(0), node_of(2)])
    assert list(nodes_of(graph, "Message", "other")) == [node_of(1, "other")]
    graph.run(graph.store.remove("acme", "Conversation", ["acme|web|c1"]))
    assert set(nodes_of(graph, "Message").values()) == {()}


def test_only_an_administrator_removes_what_everybody_reads(graph_of_nobody):
    graph_of_nobody.write(decision(2))
    with pytest.raises(Rejected):
        graph_of_nobody.run(graph_of_nobody.store.remove("_public", "QueryProfile", ["_public|org_context"]))
    assert len(nodes_of(graph_of_nobody, "QueryProfile", "_public")) == 1


@pytest.mark.parametrize("tenant", ["", " acme", "a\nb"])
def test_nobodys_nodes_are_not_listed(graph, tenant: str):
    with pytest.raises(Rejected):
        graph.run(graph.store.listed(tenant, "Message"))


def test_every_label_that_is_written_and_no_other_can_be_listed_and_removed():
    written = {label for ends in LINK_ENDS.values() for label in ends} | {*cypher.FACTS, *cypher.LATEST}
    assert written == LISTED.keys()
    assert LISTED.keys() == REMOVED.keys()
