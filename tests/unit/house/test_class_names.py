"""One name, one meaning: no class of the product is called like another."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.checkout import ROOT


def classes(root: Path) -> Iterator[str]:
    """The names of all classes of the product that other modules may see."""
    for package in ("schemas", "agents", "streams"):
        for path in sorted((root / package).rglob("*.py")):
            tree = ast.parse(path.read_text())
            yield from (node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name[0] != "_")


def test_no_class_name_is_used_twice() -> None:
    assert [name for name, number in Counter(classes(ROOT)).items() if number > 1] == []


def test_a_name_that_is_used_twice_is_found(tmp_path: Path) -> None:
    for package in ("schemas", "streams"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "one.py").write_text("class Found:\n    class Inner: ...\nclass _Hidden: ...\n")
    assert Counter(classes(tmp_path)) == {"Found": 2, "Inner": 2}
