"""No query is built from a value: every text a driver is given is followed back to a constant."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from streams.stores.graph import cypher as graph_cypher
from streams.stores.graph.schema import LINK_ENDS, relation
from tests.checkout import ROOT
from tests.tenants.mutants import query_texts
from tests.tenants.origins import Module, Search, built, constant_texts, module, modules
from tests.unit.house import tree

STORES = modules(ROOT)
# Which sources speak to which driver; a source that imports one and is not here is found below.
SPEAKERS = {
    "sqlite3": {
        f"streams.{name}"
        for name in ("stores.graph.embedded.engine", "stores.graph.embedded.tables", "stores.keys.sqlite_keys")
    },
    "neo4j": {
        f"streams.stores.{name}"
        for name in ("graph.neo4j_engine", "graph.migrations", "neo4j_values", "seen.neo4j_seen")
    },
    "redis": {
        f"streams.stores.{name}"
        for name in (
            "sessions.redis_calls",
            "sessions.redis_working_sets",
            "sessions.votes",
            "sessions.tool_sessions",
            "seen.redis_seen",
            "keys.redis_keys",
        )
    },
    "qdrant_client": {"streams.stores.passages.qdrant_collections"},
    "aiohttp": {"streams.stores.passages.qdrant_connection"},
    "qdrant_edge": {f"streams.stores.passages.{name}" for name in ("edge_search", "edge_rewriting", "qdrant_edge")},
}
EMBEDDED = [source for source in STORES if source.name.startswith("graph.embedded.")]
GRAPH = [
    source
    for source in STORES
    if source not in EMBEDDED and (source.name.startswith("graph.") or source.name == "seen.neo4j_seen")
]
REDIS = [
    source
    for source in STORES
    if source.name
    in (
        "sessions.redis_calls",
        "sessions.redis_scripts",
        "sessions.redis_working_sets",
        "sessions.votes",
        "sessions.tool_sessions",
    )
]


def cypher() -> Search:
    sinks = {("cypher", 0), ("execute_query", 0), ("Query", 0), ("run", 0), ("_read", 0)}
    # The statements of a migration are files of this package; what `in_one` and `united` join is tested.
    return Search(sinks, frozenset({"statements_of", "in_one", "united"}), frozenset({"statements"}))


def sql() -> Search:
    return Search({("execute", 0), ("executemany", 0), ("executescript", 0)}, frozenset())


def scripts() -> Search:
    return Search({("eval", 0), ("evalsha", 0), ("execute_command", 0)}, frozenset())


def keys() -> Search:
    commands = {("hget", 0), ("get", 0), ("set", 0), ("delete", 0), ("evalsha", 2), ("eval", 2)}
    return Search(commands, frozenset({"key", "keys_of", "tenant_key"}))


@pytest.mark.covers("AC-36", "B20", "S2-87")
@pytest.mark.parametrize(
    ("sources", "search", "at_least"),
    [(GRAPH, cypher, 25), (EMBEDDED, sql, 25), (REDIS, scripts, 5), (REDIS, keys, 8)],
    ids=["cypher", "sql", "lua", "redis-keys"],
)
def test_every_text_a_driver_is_given_is_a_constant(sources, search, at_least) -> None:
    looking = search()
    assert built(sources, looking) == []
    assert looking.seen >= at_least


BUILT = [
    'await self._read(f"MATCH (n:{label}) RETURN n", tenant, {})',
    'await self._read("MATCH (n) WHERE n.id = \'" + label + "\'", tenant, {})',
    'await self._read("MATCH (n:%s) RETURN n" % label, tenant, {})',
    'await self._read("MATCH (n:{}) RETURN n".format(label), tenant, {})',
    'await self._read(" ".join(["MATCH", label]), tenant, {})',
    'await self._read(queries.PERSONA.replace("UserProfile", label), tenant, {})',
    'text = queries.PERSONA\n        text += label\n        await self._read(text, tenant, {})',
    'text = f"MATCH (n:{label}) RETURN n" if label else queries.PERSONA\n        await self._read(text, tenant, {})',
    'await self.engine.graph.cypher(f"MATCH (n:{label}) RETURN n")',
    'await driver.execute_query(Query(f"MATCH (n:{label})"))',
    'text = {each: f"MATCH (n:{each})" for each in (label,)}[label]\n        await self._read(text, tenant, {})',
    'await self._read(f"{queries.PERSONA} {label}", tenant, {})',
    'for text in (f"a{label}",):\n            await self._read(text, tenant, {})',
    'await self.run_it(f"MATCH {label}")',
]  # fmt: skip


@pytest.mark.parametrize("line", BUILT)
def test_a_text_that_is_built_is_found(line: str) -> None:
    bad = f"""
class Store:
    async def bad(self, tenant, label):
        {line}

    async def run_it(self, text):
        await self._read(text, "t", {{}})
"""
    queries = [source for source in GRAPH if source.name in ("graph.queries", "graph.cypher", "graph.schema")]
    assert {each.partition(":")[0] for each in built([*queries, module("bad", bad)], cypher())} == {"bad.bad"}


TABLES = """
LABELS = ("Message", "Claim")
GUARDS = {"Claim": "status_rank"}
LEAD = ""
TAIL = "RETURN n"
"""
ROW = 'f"MATCH (n:{label}) RETURN n" for label in'


@pytest.mark.parametrize(
    "value",
    [
        f"{{label: {ROW} LABELS}}",
        f"{{label: {ROW} (*LABELS, *GUARDS)}}",
        '{label: f"MATCH (n:{label}) {TAIL if label in GUARDS else LEAD}" for label in LABELS}',
        '{label: f"MATCH (n:{label}) WHERE n.{guard}" for label, guard in GUARDS.items()}',
        '{each: f"MATCH ()-[:{kind}]-()" for each in LABELS for kind in [each.partition(":")[0]]}',
        'f"MATCH (n) {TAIL}"',
    ],
)
def test_a_text_made_row_by_row_of_constant_tables_is_a_constant(value: str) -> None:
    assert "TEXTS" in constant_texts([module("tables", f"{TABLES}TEXTS = {value}\n")])


@pytest.mark.parametrize(
    "value",
    [
        f"{{label: {ROW} labels_of(LABELS)}}",
        f"{{label: {ROW} UNKNOWN}}",
        f"{{label: {ROW} (*LABELS, label_of(1))}}",
        f"{{label: {ROW} sys.argv}}",
        '{label: f"MATCH (n:{label}) {TAIL if label in GUARDS else label_of(1)}" for label in LABELS}',
        '{label: f"MATCH (n:{label_of(label)})" for label in LABELS}',
        '{label_of(label): f"MATCH (n:{label})" for label in LABELS}',
        '{label: f"MATCH (n:{label:{WIDTH}})" for label in LABELS}',
        '{label: f"MATCH (n:{of(label)})" for label in LABELS for of in [label_of]}',
        '{"a": "MATCH (n:" + NAME}',
        'f"MATCH (n) {environ}"',
        'made(TAIL, label="Claim")',
        "TAIL.format(label_of(1))",
    ],
)
def test_a_text_made_of_anything_else_is_none(value: str) -> None:
    assert "TEXTS" not in constant_texts([module("tables", f"{TABLES}TEXTS = {value}\n")])


def test_a_name_that_is_a_text_here_and_something_else_there_is_no_constant() -> None:
    there = module("there", "TEXTS = made()\n")
    assert "TEXTS" not in constant_texts([module("here", "TEXTS = 'MATCH (n)'\n"), there])


@pytest.mark.parametrize("change", ["TEXTS |= made()", "TEXTS['x'] = made()", "def f(x):\n    TEXTS[x] = x"])
def test_a_table_that_is_changed_afterwards_is_no_constant(change: str) -> None:
    text = "TEXTS = {'Claim': 'MATCH (n)'}\n"
    assert "TEXTS" in constant_texts([module("tables", text)])
    assert "TEXTS" not in constant_texts([module("tables", f"{text}{change}\n")])


def test_a_table_that_a_parameter_fills_is_found() -> None:
    bad = """
class Store:
    async def bad(self, tenant, labels):
        texts = {label: f"MATCH (n:{label}) RETURN n" for label in labels}
        await self._read(texts["Claim"], tenant, {})
"""
    assert built([module("bad", bad)], cypher()) != []
    assert built([module("bad", bad.replace("in labels", "in ('Claim',)"))], cypher()) != [], "only at import"


@pytest.mark.parametrize(
    "line",
    ['await self._client.hget(f"fathom:{tenant}", "x")', 'await self._client.eval("return " + tenant, 0)'],
)
def test_a_built_key_or_script_is_found(line: str) -> None:
    bad = module("bad", f"class Sets:\n    async def bad(self, tenant):\n        {line}\n")
    assert [*built([bad], keys()), *built([bad], scripts())] != []


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def attributes(path: Path) -> set[str]:
    return {node.attr for node in tree.nodes(path) if isinstance(node, ast.Attribute)}


def test_only_known_sources_speak_to_a_driver() -> None:
    speak = {name_of(path): SPEAKERS.keys() & imported(path) for path in tree.naming(SPEAKERS)}
    for driver, known in SPEAKERS.items():
        assert {source for source, drivers in speak.items() if driver in drivers} == known, driver


def imported(path: Path) -> set[str]:
    """The packages a source imports."""
    found: set[str] = set()
    for node in tree.nodes(path):
        if isinstance(node, ast.Import):
            found |= {each.name.partition(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
    return found


# --- what the constants hold -------------------------------------------------------------------------------------


def texts() -> dict[str, str]:
    """Every Cypher text of the graph by its name."""
    named = query_texts()
    for of, found in (("FACTS", graph_cypher.FACTS), ("LATEST", graph_cypher.LATEST), ("LINKS", graph_cypher.LINKS)):
        named |= {f"{of}.{label}": text for label, text in found.items()}
    for of, found in (("listed", graph_cypher.LISTED), ("removed", graph_cypher.REMOVED)):
        named |= {f"{label} {of}": text for label, text in found.items()}
    return {**named, "ABOUT": graph_cypher.ABOUT}


# Dumps for tests and for the rebuild's comparison: of all tenants, by nobody's request.
WHOLE = {"ALL_NODES", "ALL_LINKS"}
NODE = re.compile(r"(?<!\w)\((\w+)(?::\w+)?(?: \{[^}]*\})?\)")


@pytest.mark.covers("AC-36", "B20", "S2-87")
def test_every_node_of_every_pattern_is_bound_to_a_tenant() -> None:
    for name, text in texts().items():
        if name in WHOLE:
            continue
        bound = set(re.findall(r"(\w+)\.tenant_id (?:=|IN) ", text))
        assert set(NODE.findall(text)) <= bound, name


PATTERN_WITH_PROPERTY = re.compile(r"\(\w*(?::\w+)*\s*\{")


def test_no_read_binds_a_node_by_a_property_in_its_pattern() -> None:
    """The embedded graph would look at all nodes of the label: 16 ms among 60,000, where `IN` takes 0.02."""
    assert [name for name, text in query_texts().items() if PATTERN_WITH_PROPERTY.search(text)] == []


def test_the_dumps_are_asked_by_no_store() -> None:
    users = {name_of(path) for path in tree.naming(WHOLE) if WHOLE & attributes(path)}
    assert users <= {"streams.stores.graph.embedded.reads"}


@pytest.mark.covers("S2-72")
def test_labels_and_types_stand_in_the_texts_and_come_from_nowhere_else() -> None:
    for name, text in texts().items():
        assert "$" not in re.sub(r"\$[a-z_]+", "", text), name
        assert "apoc" not in text.lower(), name
        of, _, label = name.partition(".")
        if of == "LINKS":
            assert f"[:{relation(label)}]" in text or f"[x:{relation(label)}]" in text, name
            start, end = LINK_ENDS[label]
            assert f"(a:{start} " in text and f"(b:{end} " in text, name  # noqa: PT018
        elif label:
            assert f"(n:{label} " in text, name
    assert graph_cypher.LINKS.keys() == LINK_ENDS.keys()


# --- Qdrant filters, patterns ---------------------------------------------------------------------------------------

# The only names made of values: of an enumeration each, which hostile values do not pass.
QDRANT_NAMES = {"f'fathom_{collection}'"}
# Paths of those names; the calls are constants.
QDRANT_PATHS = {"f'/collections/{name_of(collection)}/{call}'"}
INDEX = [
    f"passages.{name}" for name in ("qdrant_edge", "qdrant_server", "qdrant_requests", "qdrant_collections", "points")
]
SAID = (ast.Raise, ast.Assert)


def _built_strings(source: Module) -> Iterator[str]:
    for function in source.functions:
        told = {id(inner) for node in ast.walk(function) if isinstance(node, SAID) for inner in ast.walk(node)}
        told |= {
            id(inner)
            for node in ast.walk(function)
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("wrong", "said", "text", "used")
            for inner in ast.walk(node)
        }
        for node in ast.walk(function):
            if isinstance(node, ast.JoinedStr) and id(node) not in told:
                yield ast.unparse(node)


def test_no_filter_and_no_name_of_the_index_is_built_from_a_value() -> None:
    sources = [source for source in STORES if source.name in INDEX]
    made = {text for source in sources for text in _built_strings(source)}
    # The text that is embedded is a value, and the embedder's name: of neither a filter or a path is made.
    neither = {"f'{lead}\\n{passage.text}'", "f'{type(embedder).__name__} {embedder.size}'"}
    assert made - QDRANT_NAMES - QDRANT_PATHS == neither
    asked = {ast.unparse(call.args[1]) for source in sources for call in _calls_of_collections(source)}
    assert len(asked) >= 6
    assert [call for call in asked if not call.startswith("'points")] == []


def _calls_of_collections(source: Module) -> Iterator[ast.Call]:
    for function in source.functions:
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "path_of":
                yield node


def half_matched(trees: Iterable[ast.Module]) -> list[str]:
    """Patterns that end in `$` and are asked with `match`: `$` lets a newline through at the end."""
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Assign | ast.Call)]
    ending = {
        ast.unparse(node.targets[0])
        for node in calls
        if isinstance(node, ast.Assign) and _compiles(node.value) and ast.unparse(node.value.args[0])[-2:-1] == "$"
    }
    asked = [node for node in calls if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    matched = [(node, ast.unparse(node.func.value)) for node in asked if node.func.attr == "match"]
    return [ast.unparse(node) for node, of in matched if of == "re" or of.rpartition(".")[2] in ending]


def _compiles(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value.func) == "re.compile"


def test_what_must_match_as_a_whole_is_matched_as_a_whole() -> None:
    assert half_matched(tree.parsed(path) for path in tree.naming(("match", "compile"))) == []


def test_half_a_match_is_found() -> None:
    def found(text: str) -> list[str]:
        return half_matched([ast.parse(f"import re\n{text}")])

    assert found("re.match(r'[a-z]+', x)") != []
    assert found("P = re.compile(r'[a-z]+$')\nP.match(x)") != []
    assert found("P = re.compile(rf'[a-z]{x}$', re.I)\nother.P.match(x)") != []
    assert found("P = re.compile(r'[a-z]+')\nP.fullmatch(x)\nP.match(x)") == []
