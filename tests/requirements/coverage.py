"""Which requirements have a test, and which have none: `make requirements` prints this.

A test names what it would notice breaking with `@pytest.mark.covers("S0-18", "AC-01")`; the marks are read from the
sources, so that the answer needs no test run and no server.
"""

import argparse
import ast
import sys
from collections import defaultdict
from collections.abc import Container, Iterator
from pathlib import Path

# What will show a property of reliability or security that no test claims yet: parts of `make proofs`.
PROOF_OF = {
    "B1": "chaos", "B2": "chaos", "B3": "chaos", "B4": "chaos", "B5": "chaos", "B6": "chaos", "B12": "decodes",
    "B17": "soak", "B27": "e2e",
}  # fmt: skip
TESTS = Path(__file__).resolve().parents[1]
STATEMENTS = Path(__file__).with_name("statements.tsv")


def known() -> dict[str, str]:
    """Every requirement id with the beginning of its text."""
    return dict(line.split("\t", 1) for line in STATEMENTS.read_text().splitlines())


def marked(path: Path) -> Iterator[tuple[str, str]]:
    """(id, test name) of every mark in a test file."""
    text = path.read_text()
    if "mark.covers(" not in text:
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("mark.covers"):
                    for argument in decorator.args:
                        yield ast.literal_eval(argument), f"{path.relative_to(TESTS)}::{node.name}"


def covered() -> dict[str, list[str]]:
    """The tests of each id that has any."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(TESTS.rglob("test_*.py")):
        for identifier, test in marked(path):
            found[identifier].append(test)
    return found


def kind(identifier: str) -> str:
    """What an id names; properties are those of reliability and security, proven by tiers."""
    if identifier.startswith("B"):
        return "properties"
    return {"CF": "settlements", "AC": "scenarios"}.get(identifier[:2], "statements")


def counted(name: str, tests: Container[str]) -> str:
    """How many ids of a kind have a test."""
    group = [i for i in known() if kind(i) == name]
    return f"{sum(i in tests for i in group)} of {len(group)} {name}"


def summary() -> tuple[str, list[str], list[str]]:
    """The one line, the ids without a test, and marks that name no requirement."""
    ids, tests = known(), covered()
    counts = [counted(name, tests) for name in ("statements", "settlements", "scenarios")]
    return ", ".join(counts), [i for i in ids if i not in tests], sorted(set(tests) - set(ids))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Requirements with and without a test.")
    parser.add_argument("--tests", action="store_true", help="also name the tests of each id")
    options = parser.parse_args(arguments)
    line, open_ids, unknown = summary()
    ids = known()
    if options.tests:
        for identifier, tests in covered().items():
            print(f"{identifier}: {', '.join(tests)}")
    print("not covered:")
    for identifier in open_ids:
        proof = f" (make proofs PART={PROOF_OF[identifier]} shows it: docs/proofs)" if identifier in PROOF_OF else ""
        print(f"  {identifier:<13} {ids[identifier]}{proof}")
    for identifier in unknown:
        print(f"unknown id in a mark: {identifier}")
    print(f"reliability and security: {counted('properties', covered())}, each at the size of its smallest tier")
    print(line)
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
