"""One name, one meaning: no class of the product is called like another."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator

from tests.unit.house import tree


def classes(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The names of all classes that other modules may see."""
    return (node.name for node in nodes if isinstance(node, ast.ClassDef) and node.name[0] != "_")


def test_no_class_name_is_used_twice() -> None:
    found = Counter(name for path in tree.sources() for name in classes(tree.nodes(path)))
    assert [name for name, number in found.items() if number > 1] == []


def test_a_name_that_is_used_twice_is_found() -> None:
    source = ast.parse("class Found:\n    class Inner: ...\nclass _Hidden: ...\n")
    assert Counter(name for _ in ("schemas", "streams") for name in classes(ast.walk(source))) == {
        "Found": 2,
        "Inner": 2,
    }
