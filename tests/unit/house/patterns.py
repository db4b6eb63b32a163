"""The regular expressions of the product, and how each is used: read from the sources, made by the modules."""

import ast
import importlib
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.checkout import ROOT
from tests.unit.house import tree

# What looks at one place of a text, or at none.
ANCHORED = frozenset({"match", "fullmatch", "pattern", "flags", "groups", "groupindex"})


@dataclass(frozen=True, slots=True)
class Used:
    """A pattern, where it is, and what is asked of it by name; `found` says that it is looked for all over a text."""

    name: str
    pattern: re.Pattern[Any]
    ways: frozenset[str]

    @property
    def found(self) -> bool:
        return not self.ways or not self.ways <= ANCHORED


def used() -> list[Used]:
    """Every pattern of a module, in tables too, and every one that is written into a call of `re`, once."""
    ways = defaultdict[re.Pattern[Any], set[str]](set)
    names: dict[re.Pattern[Any], str] = {}
    for path in tree.sources():
        if path.stem == "__main__":
            continue  # runs when it is imported
        module = importlib.import_module(
            ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        )
        for name, value in vars(module).items():
            for pattern in _inside(value):
                names.setdefault(pattern, f"{module.__name__}.{name}")
        for pattern, way in _asked(module, path) if _has_any(module) else ():
            names.setdefault(pattern, f"{module.__name__}: {pattern.pattern!r}")
            ways[pattern].add(way)
    return [Used(name, pattern, frozenset(ways[pattern])) for pattern, name in names.items()]


def _inside(value: object) -> Iterator[re.Pattern[Any]]:
    """The patterns of a value: itself, or those in tables and records."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from (found for each in value.values() for found in _inside(each))
    elif isinstance(value, list | tuple | set | frozenset):
        yield from (found for each in value for found in _inside(each))
    elif type(value).__module__.startswith(tree.PRODUCT):
        fields = getattr(value, "__dataclass_fields__", ())
        yield from (found for name in fields for found in _inside(getattr(value, name)))


def _has_any(module: ModuleType) -> bool:
    """Whether a module can name a pattern, or write one: the sources of the others need not be read."""
    return any(
        isinstance(value, re.Pattern) or value is re or (isinstance(value, ModuleType) and _has_pattern(value))
        for value in vars(module).values()
    )


@cache
def _has_pattern(module: ModuleType) -> bool:
    ours = module.__name__.startswith(tree.PRODUCT)
    return ours and any(isinstance(value, re.Pattern) for value in vars(module).values())


def _asked(module: ModuleType, path: Path) -> Iterator[tuple[re.Pattern[Any], str]]:
    """What a source asks of each pattern that it names, or writes into a call of `re`."""
    asked = {node.value: node.attr for node in tree.nodes(path) if isinstance(node, ast.Attribute)}
    for node in tree.nodes(path):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            found = _named(module, node)
            if isinstance(found, re.Pattern):
                yield found, asked.get(node, "given away")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            said = node.args[0]
            of_text = node.func.attr not in ("compile", "escape")
            if of_text and _named(module, node.func.value) is re and isinstance(said, ast.Constant):
                yield re.compile(said.value), node.func.attr


def _named(module: ModuleType, node: ast.AST) -> object:
    """What a name, or a name of an imported module, stands for; local names are not looked at."""
    if isinstance(node, ast.Name):
        return vars(module).get(node.id)
    if isinstance(node, ast.Attribute) and isinstance(owner := _named(module, node.value), ModuleType):
        return getattr(owner, node.attr, None)  # a module may make it when it is asked
    return None
