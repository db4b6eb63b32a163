"""The rows and the texts of the graph: each once, in order, constant, and bound to a tenant."""

import re
from datetime import UTC, datetime, timedelta

import kglite
import pytest

from streams.stores.graph import cypher, queries
from streams.stores.graph.rows import Edge, NameLink, NodeInsert, NodeUpsert, batch, present
from streams.stores.graph.schema import LINK_ENDS, VERSION, relation
from tests.checkout import ROOT
from tests.tenants.mutants import query_texts
from tests.tenants.origins import constant_texts, modules

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
READS = query_texts()
WRITES = {**cypher.FACTS, **cypher.LATEST, **cypher.LINKS, "ABOUT": cypher.ABOUT}
WHOLE_GRAPH = {"ALL_NODES", "ALL_LINKS"}
# What is erased is erased whenever it was said.
OF_PERSONS = {queries.PROFILE, queries.PROFILES_OF, queries.OBJECTIVES_OF}
OF_ERASURES = {queries.ERASURES, *OF_PERSONS, *queries.OF_CONVERSATION.values(), *queries.BEYOND.values()}
ERASING = {name for name, text in READS.items() if text in OF_ERASURES}


def latest(version: int, minutes: int = 0, **props: str) -> NodeUpsert:
    return NodeUpsert("Claim", "acme|k1", "acme", version, props, NOON + timedelta(minutes=minutes))


def test_a_batch_has_each_row_once_in_the_order_of_ids():
    rows = batch(
        [
            NodeInsert("Message", "b", "acme", {"seq": 2}),
            Edge("MADE_IN", "k2", "m", "acme", "acme"),
            NodeInsert("Message", "a", "acme", {"seq": 1}),
            NodeInsert("Claim", "c", "acme", {}),
            NodeInsert("Message", "b", "acme", {"seq": 2}),
            Edge("MADE_IN", "k1", "m", "acme", "acme"),
            Edge("MADE_IN", "k2", "m", "acme", "acme"),
            NameLink("acme", "x"),
            NameLink("acme", "x"),
        ]
    )
    assert [fact.id for fact in rows.facts] == ["c", "a", "b"]
    assert [link.start for link in rows.links] == ["k1", "k2"]
    assert len(rows.names) == 1


def test_of_versions_in_one_batch_the_greatest_stays_with_the_first_time():
    for rows in ([latest(3, 5, v="new"), latest(1, 0, v="old")], [latest(1, 0, v="old"), latest(3, 5, v="new")]):
        [kept] = batch(rows).latest
        assert kept == latest(3, 0, v="new")
        assert kept.row()["props"] == {"v": "new", "status_rank": 3}


def test_what_a_message_leads_to_is_one_query_in_which_each_text_has_its_own_rows():
    rows = [
        NodeInsert("Message", "m", "acme", {}),
        latest(1),
        Edge("MADE_IN", "k1", "m", "acme", "acme"),
    ]
    statements = [*cypher.statements_of(batch(rows))]
    query, parameters = cypher.in_one(batch(rows))
    assert parameters == {f"rows{n}": own for n, (_, own) in enumerate(statements)}
    parts = query.split("CALL {")[1:]
    assert [part.rstrip()[:-1].replace(f"$rows{n}", "$rows").rstrip() for n, part in enumerate(parts)] == [
        text.rstrip() for text, _ in statements
    ]


def test_what_is_seldom_written_is_not_joined_with_others_for_the_server_would_plan_each_combination():
    message, name = NodeInsert("Message", "m", "acme", {}), NameLink("acme", "x")
    assert cypher.in_one(batch([message, name])) is None
    assert cypher.in_one(batch([message, NodeInsert("Consulta", "c", "acme", {})])) is None
    assert cypher.in_one(batch([name])) == (cypher.ABOUT, {"rows": [name.row()]})


def test_queries_read_in_one_round_trip_are_one_text_in_which_each_has_its_own_parameters():
    several = (queries.CONCEPTS, queries.CLAIMS_ABOUT, queries.CONTRADICTED_BY)
    for place, branch in enumerate(cypher.united(several).split("UNION ALL")):
        text, _, returned = branch.rpartition("RETURN ")
        matched, _, named = text.rpartition("WITH ")
        assert f"{matched}RETURN {named}".replace(f"_{place}", "").split() == several[place].split()
        assert returned.strip() == f"{place} AS place, [{', '.join(cypher.columns_of(several[place]))}] AS found"
    assert cypher.numbered([{"ids": ["a"], "as_of": 1}, {"ids": ["b"]}]) == {
        "ids_0": ["a"],
        "as_of_0": 1,
        "ids_1": ["b"],
    }


@pytest.mark.parametrize("text", READS.values(), ids=READS.keys())
def test_every_column_of_a_query_has_a_name(text):
    returned = text.rpartition("RETURN ")[2].partition("ORDER BY")[0].partition("LIMIT")[0]
    within = re.sub(r"\([^()]*\)|\[[^\]]*\]", "", returned)
    assert len(cypher.columns_of(text)) == within.count(",") + 1


def test_what_has_no_value_is_not_written_and_times_are_utc():
    lisbon = datetime.fromisoformat("2026-03-02T13:00:00+01:00")
    props = present(a=None, b=("x",), c=lisbon, d=0, e="")
    assert props == {"b": ["x"], "c": NOON, "d": 0, "e": ""}
    assert props["c"].utcoffset() == timedelta(0)


@pytest.mark.covers("S0-85")
def test_every_write_merges_its_own_label_by_id_and_sets_the_tenant():
    for label, text in {**cypher.FACTS, **cypher.LATEST}.items():
        assert f"MERGE (n:{label} {{id: r.id}})" in text
        assert "SET n.tenant_id = r.tenant_id" in text
    for type_, text in cypher.LINKS.items():
        start, end = LINK_ENDS[type_]
        assert f"MERGE (a:{start} {{id: r.from_id}}) ON CREATE SET a.tenant_id = r.tenant_id" in text
        assert f"MERGE (b:{end} {{id: r.to_id}}) ON CREATE SET b.tenant_id = r.to_tenant" in text
        assert re.search(rf"MERGE \(a\)-\[x?:{relation(type_)}\]->\(b\)", text)
    assert cypher.LINKS.keys() == LINK_ENDS.keys()


def test_every_version_is_guarded_by_its_property_after_a_write_has_taken_the_lock():
    for label, text in cypher.LATEST.items():
        guard = VERSION[label]
        assert f"WITH n, r WHERE n.{guard} IS NULL OR n.{guard} <= r.version\n" in text
        assert text.index("SET n.tenant_id") < text.index("WITH n, r WHERE") < text.index("SET n += r.props")


@pytest.mark.covers("S2-87")
@pytest.mark.parametrize("name", sorted(READS.keys() - WHOLE_GRAPH))
def test_every_node_of_every_read_is_bound_to_the_askers_tenants(name):
    text = READS[name]
    nodes = set(re.findall(r"\((\w+):\w+", text))
    assert nodes
    bound = {node for node in nodes if re.search(rf"\b{node}\.tenant_id (= \$tenant\b|IN \$tenants\b)", text)}
    for node in nodes - bound:
        other = re.search(rf"\b{node}\.tenant_id = (\w+)\.tenant_id", text)
        assert other is not None, node
        assert other.group(1) in bound, node


# What hangs on nodes that were read as of a time.
FOLLOWING = {"STEPS", "DOCUMENTS_ABOUT"}


@pytest.mark.parametrize("name", sorted(READS.keys() - WHOLE_GRAPH - ERASING - FOLLOWING))
def test_every_read_is_as_of_a_time(name):
    assert "<= $as_of" in READS[name]


def test_no_query_is_built_from_values():
    texts = ("schema", "cypher", "queries", "cognition_queries", "document_reads", "decision_reads")
    texts = tuple(f"graph.{each}" for each in texts)
    sources = [source for source in modules(ROOT) if source.name in texts]
    names = {name for source in sources for name in source.constants if name.isupper()}
    assert names - constant_texts(sources) == set()
    assert {*READS, "FACTS", "LATEST", "LINKS", "ABOUT", "RETIRE", "LISTED", "REMOVED"} <= names


def test_no_text_uses_what_only_one_of_the_graphs_knows():
    for text in (*READS.values(), *WRITES.values()):
        assert not re.search(r"\bapoc\.|\bFOREACH\b|epochMillis|=~|CALL \{|\$\(|\btimestamp\(", text)


DEPLOY = ROOT / "deploy" / "neo4j"


def statements() -> list[str]:
    text = "\n".join(path.read_text() for path in sorted(DEPLOY.glob("*.cypher")))
    code = "\n".join(line for line in text.splitlines() if not line.startswith("//"))
    return [each.strip() for each in code.split(";") if each.strip()]


@pytest.mark.covers("S2-84", "S2-85", "S2-87")
def test_the_schema_identifies_all_29_labels_and_has_every_statement_once():
    composite = re.compile(r"FOR \(n:(\w+)\) REQUIRE \(n\.tenant_id, n\.id\) IS UNIQUE$")
    single = re.compile(r"FOR \(n:(\w+)\) REQUIRE n\.id IS UNIQUE$")
    found = [each for each in statements() if composite.search(each)]
    labels = {composite.search(each).group(1) for each in found}
    assert len(labels) == len(found) == 29
    assert {match.group(1) for each in statements() if (match := single.search(each))} == labels
    written = {*cypher.FACTS, *cypher.LATEST, *(label for ends in LINK_ENDS.values() for label in ends)}
    assert written <= labels
    names = [each.split(" IF NOT EXISTS ")[0] for each in statements() if each.startswith("CREATE")]
    assert len(set(names)) == len(names) == len([each for each in statements() if "IF NOT EXISTS" in each])
    assert {"CREATE INDEX tema_nome", "CREATE INDEX consulta_tenant"} <= set(names)


def test_the_schema_can_be_read_by_an_engine():
    graph = kglite.KnowledgeGraph()
    for statement in statements():
        # Two forms of Neo4j that the embedded engine does without: full-text over two labels, a second key on its id.
        if "Chunk|Knowledge" not in statement and "REQUIRE n.id IS" not in statement:
            graph.cypher(statement)
    assert len(graph.cypher("SHOW CONSTRAINTS").to_list()) == 33
