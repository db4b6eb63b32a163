"""Caches are bounded by bytes (`agents.core.caching`): a caller chooses the size of what they hold."""

import ast
from collections.abc import Iterator, Mapping, Sequence

from tests.checkout import ROOT
from tests.unit.house import tree

HOME = "agents/core/caching/"
REMEMBERS = frozenset({"cache", "lru_cache"})
# Parameters of functions that may be remembered by `functools`: their values are written in the sources.
OURS = frozenset({"self", "lang", "name", "section", "sections", "frame", "kind", "pack", "package"})
# What is bounded by a number: whose entries are small, or as many as there are statements, settings or tables of ours.
EXCEPTIONS: Mapping[str, str] = {
    "agents/core/packs/pack_ledger.py: popitem": "ids of packs that are out: a forgotten one would be emitted again",
    "schemas/base.py: attributes_by_wire_name()": "the classes of events",
    "streams/audit/verifying.py: popitem": "one command's: the newest heads, each of so many partitions",
    "streams/broker/apis.py: codec()": "the versions of Kafka's requests that are known",
    "streams/broker/log.py: maxlen": "five batches of each producer, numbers each",
    "streams/edges/http/load_shedding.py: popitem": "questions that wait, of a tenant of the tokens file, numbers each",
    "streams/edges/http/rate_limit.py: popitem": "addresses, numbers each, and some grants of the tokens file",
    "streams/encryption/opening.py: _opened()": "the settings of this process",
    "streams/runtime/dead_letters.py: maxlen": "yes or no",
    "streams/runtime/embedded/broker.py: maxlen": "times",
    "streams/stores/graph/cypher.py: _joined()": "statements of ours",
    "streams/stores/graph/cypher.py: columns_of()": "statements of ours",
    "streams/stores/graph/cypher.py: united()": "statements of ours",
    "streams/stores/sessions/redis_calls.py: digest_of()": "scripts of ours",
}


def counted(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """What is bounded by a number of entries, or by nothing."""
    names = set(_imported(nodes))
    decorators = set[ast.AST]()
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            asked = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
            for each in node.decorator_list:
                name = each.func if isinstance(each, ast.Call) else each
                decorators.add(name)
                if _is_named(name, names) and any(one is not None and one.arg not in OURS for one in asked):
                    yield f"{node.name}()"
    for node in nodes:
        if isinstance(node, ast.keyword) and node.arg == "maxlen":
            yield "maxlen"
        elif isinstance(node, ast.Attribute) and node.attr == "popitem":
            yield "popitem"
        elif isinstance(node, ast.Name | ast.Attribute) and node not in decorators and _is_named(node, names):
            yield "lru_cache"


def _imported(nodes: Sequence[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module == "functools":
            yield from (each.asname or each.name for each in node.names if each.name in REMEMBERS)


def _is_named(node: ast.AST, names: set[str]) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in REMEMBERS and isinstance(node.value, ast.Name) and node.value.id == "functools"
    return isinstance(node, ast.Name) and node.id in names


def found() -> list[str]:
    places = {path: path.relative_to(ROOT).as_posix() for path in tree.naming(("cache", "maxlen", "popitem"))}
    return sorted(
        f"{place}: {each}"
        for path, place in places.items()
        if not place.startswith(HOME)
        for each in set(counted(tree.nodes(path)))
    )


def test_no_cache_is_bounded_by_a_number_of_entries() -> None:
    assert [each for each in found() if each not in EXCEPTIONS] == []


def test_no_exception_is_without_use() -> None:
    """One that nothing needs any more would let another cache be added unseen."""
    assert [each for each in EXCEPTIONS if each not in found()] == []
    assert all(EXCEPTIONS.values())


def test_what_is_bounded_by_a_number_is_found() -> None:
    planted = """
from collections import OrderedDict, deque
import functools
from functools import cache, lru_cache as kept
recent = deque(maxlen=2_048)
copies = OrderedDict()
copies.popitem(last=False)
@cache
def table() -> str: ...
@kept(maxsize=8)
def words(lang: str) -> str: ...
@kept(maxsize=8)
def reading(text: str) -> str: ...
@functools.cache
def said(*texts: str) -> str: ...
stem = kept(8)(str)
"""
    assert sorted(counted(list(ast.walk(ast.parse(planted))))) == [
        "lru_cache",
        "maxlen",
        "popitem",
        "reading()",
        "said()",
    ]
