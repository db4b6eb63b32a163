"""Small folders, files and functions; a function is measured from its `def`, with its docstring."""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.checkout import ROOT
from tests.unit.house import tree

MAX_FILES, MAX_LINES, MAX_FUNCTION_LINES = 20, 350, 45


def sources(root: Path) -> Iterator[Path]:
    for package in ("schemas", "agents", "streams", "deploy", "bench"):
        yield from sorted((root / package).rglob("*.py"))


def full_folders(root: Path) -> list[str]:
    counted = Counter(path.parent.relative_to(root).as_posix() for path in sources(root))
    return [f"{folder}: {number} files" for folder, number in counted.items() if number > MAX_FILES]


def long_files(root: Path) -> list[str]:
    counted = ((path.relative_to(root).as_posix(), path.read_text().count("\n")) for path in sources(root))
    return [f"{path}: {number} lines" for path, number in counted if number > MAX_LINES]


def long_functions(nodes: Sequence[ast.AST]) -> list[str]:
    found = []
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or 0) - node.lineno + 1
            if lines > MAX_FUNCTION_LINES:
                found.append(f"{node.name}: {lines} lines")
    return found


def test_no_folder_has_more_files_than_one_takes_in_at_a_glance() -> None:
    assert full_folders(ROOT) == []


def test_no_file_is_longer_than_it_may_be() -> None:
    assert long_files(ROOT) == []


def test_no_function_is_longer_than_a_screen() -> None:
    found = {path.relative_to(ROOT).as_posix(): long_functions(tree.nodes(path)) for path in sources(ROOT)}
    assert {path: functions for path, functions in found.items() if functions} == {}


def test_what_is_too_large_is_found(tmp_path: Path) -> None:
    (tmp_path / "bench").mkdir()
    for number in range(MAX_FILES + 1):
        (tmp_path / "bench" / f"f{number}.py").write_text("")
    assert full_folders(tmp_path) == ["bench: 21 files"]
    (tmp_path / "bench" / "f0.py").write_text("x = 1\n" * (MAX_LINES + 1))
    assert long_files(tmp_path) == ["bench/f0.py: 351 lines"]
    long = "def f():\n" + "    x = 1\n" * MAX_FUNCTION_LINES
    assert long_functions(list(ast.walk(ast.parse(long)))) == ["f: 46 lines"]
