"""Every place where a tenant is part of a filter, a key or a row, broken one at a time.

In the sources every *reading* of a tenant becomes another's name, every comparison with one is decided beforehand,
every check is left out, every condition of an index's filter is dropped; in the Cypher texts every condition is true
and every property is another one. The places are found in the sources as they are: no list of them could forget one.
"""

import ast
import contextlib
import copy
import importlib
import re
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from streams.stores.graph import cognition_queries, cypher, decision_reads, document_reads, queries, schema
from tests.checkout import ROOT

# Where tenants are read to choose what is shown or where it is kept. The command line only passes on what a user says.
WHERE = ("schemas/base.py", "schemas/envelope.py", "schemas/codec.py", "agents", "streams/stores", "streams/views")
OTHER, EVERYONE = "beta", ("beta", "acme", "gama", "_public")
NAME = "tenant"
CHECKS = frozenset({"checked", "writable", "readable"})
KEYS = frozenset({"key", "key_of"})
# Names of things, not tenants: which tenant it is, is not decided where they are mentioned.
NOT_TENANTS = frozenset({"tenant_key", "tenant_wide"})

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class CodeMutant:
    """A function with one place changed."""

    module: str
    function: str
    place: str
    code: CodeType

    @contextlib.contextmanager
    def applied(self) -> Iterator[None]:
        function = _found(self.module, self.function)
        before = function.__code__
        function.__code__ = self.code
        try:
            yield
        finally:
            function.__code__ = before

    def __str__(self) -> str:
        return f"{self.module}.{self.function}: {self.place}"


@dataclass(frozen=True)
class TextMutant:
    """A Cypher text with one condition or one property changed."""

    name: str
    place: str
    text: str

    def __str__(self) -> str:
        return f"{self.name}: {self.place}"


def _found(module: str, name: str) -> FunctionType:
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = vars(found)[part]
    found = getattr(found, "__func__", getattr(found, "fget", found))
    assert isinstance(found, FunctionType), f"{module}.{name} cannot be changed"
    return found


# --- in the sources ------------------------------------------------------------------------------------------------


def sources() -> list[Path]:
    """The files in which tenants are looked for."""
    found = [path for place in WHERE for path in ([ROOT / place] if place.endswith(".py") else _within(ROOT / place))]
    return sorted({path for path in found if "tenant" in path.read_text()})


def _within(folder: Path) -> list[Path]:
    return [*folder.rglob("*.py")]


def code_mutants(path: Path) -> Iterator[CodeMutant]:
    """All mutants of one source."""
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    tree = ast.parse(path.read_text())
    for name, function in _functions(tree):
        for node in [node for part in function.body for node in ast.walk(part)]:
            for changed in _changes(node):
                alone = _alone(name, _replaced(function, node, changed))
                code = _code_of(compile(alone, str(path), "exec"), name)
                said = f"line {getattr(node, 'lineno', 0)}: {ast.unparse(node)} -> {ast.unparse(changed)}"
                yield CodeMutant(module, name, said, code)


def _functions(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """The functions and methods that can be changed by themselves, with their names."""
    for node in tree.body:
        if isinstance(node, Function):
            yield node.name, node
        elif isinstance(node, ast.ClassDef) and not any(ast.unparse(base) == "Protocol" for base in node.bases):
            for part in node.body:
                if isinstance(part, Function):
                    yield f"{node.name}.{part.name}", part


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare() if _mentions(node):
            yield ast.Constant(value=True)
            yield ast.Constant(value=False)
        case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in CHECKS:
            yield first if name != "readable" else ast.Tuple([first, ast.Constant("_public")], ast.Load())
        case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in KEYS:
            other = ast.parse(f"x.model_copy(update={{'tenant': '{OTHER}'}})", mode="eval").body
            assert isinstance(other, ast.Call)
            assert isinstance(other.func, ast.Attribute)
            other.func.value = copy.deepcopy(first)
            yield ast.Call(node.func, [other, *node.args[1:]], node.keywords)
        case ast.List() if any(_is_condition(each) for each in node.elts):
            yield ast.List([each for each in node.elts if not _is_condition(each)], ast.Load())
        case _ if _is_tenant(node):
            many = ast.unparse(node).rstrip("]'\"").endswith("tenants")
            yield ast.parse(repr(EVERYONE if many else OTHER), mode="eval").body


def _is_tenant(node: ast.AST) -> bool:
    """Whether it is a tenant that is read."""
    match node:
        case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name, ctx=ast.Load()):
            return "tenant" in name and name not in NOT_TENANTS
        case ast.Subscript(slice=ast.Constant(value=str(name)), ctx=ast.Load()):
            return name in ("tenant", "tenants", "tenant_id")
        case _:
            return False


def _mentions(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare) and isinstance(node.left, ast.Attribute) and node.left.attr == "share":
        return False  # with whom a policy shares: no tenant
    return any(
        _is_tenant(each) or (isinstance(each, ast.Constant) and each.value == "tenant") for each in ast.walk(node)
    )


def _is_condition(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "_of"


def _replaced(function: Function, old: ast.AST, new: ast.AST) -> Function:
    """The function with one node changed; what is not on the way to it is shared."""

    def changed(node: Any) -> Any:
        if node is old:
            return ast.copy_location(copy.deepcopy(new), old)
        if isinstance(node, list):
            return [changed(each) for each in node]
        if not isinstance(node, ast.AST):
            return node
        parts = {name: changed(getattr(node, name)) for name in node._fields if hasattr(node, name)}
        return ast.copy_location(type(node)(**parts), node) if "lineno" in node._attributes else type(node)(**parts)

    found: Function = changed(function)
    return found


def _alone(name: str, function: Function) -> ast.Module:
    """A module of nothing but the function, in its class if it has one."""
    of, _, _ = name.rpartition(".")
    plain = copy.copy(function)
    plain.decorator_list = []
    body: list[ast.stmt] = [ast.ClassDef(of, [], [], [plain], [])] if of else [plain]
    return ast.fix_missing_locations(ast.Module(body, []))


def _code_of(code: CodeType, name: str) -> CodeType:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            if each.co_qualname == name:
                return each
            if name.startswith(f"{each.co_qualname}."):
                return _code_of(each, name)
    raise AssertionError(f"{name} is no function of its own")


# --- in the Cypher texts -------------------------------------------------------------------------------------------

CONDITION = re.compile(r"\w+\.tenant_id (?:=|IN) (?:\$tenants?|\[\$tenant, '_public'\]|(?!r\.)\w+\.tenant_id)")
GIVEN = re.compile(r"(\w+)\.tenant_id = r\.(?:tenant_id|to_tenant)")
WHOLE = {"ALL_NODES", "ALL_LINKS"}
NO_WRITES = {"LISTED", "REMOVED"}


def read_texts() -> dict[str, str]:
    """The texts of reads by name, but for the dumps of everything."""
    listed = {f"LISTED.{label}": text for label, text in cypher.LISTED.items()}
    return {**{name: text for name, text in query_texts().items() if name not in WHOLE}, **listed}


def query_texts() -> dict[str, str]:
    """The texts of `queries` by name; what begins with an underscore is a part of others."""
    named = {**vars(queries), **vars(cognition_queries), **vars(document_reads), **vars(decision_reads)}
    found = {name: text for name, text in named.items() if name.isupper() and not name.startswith("_")}
    return {name: text for name, text in found.items() if isinstance(text, str)}


def removing_texts() -> dict[str, str]:
    """The texts that remove nodes, by label."""
    return dict(cypher.REMOVED)


def write_texts() -> dict[str, tuple[MutableMapping[str, str] | None, str, str]]:
    """The texts of writes: their table, their key in it, the text."""
    own = {name: value for name, value in vars(cypher).items() if name.isupper() and not hasattr(schema, name)}
    tables = {name: table for name, table in own.items() if isinstance(table, dict) and name not in NO_WRITES}
    found: dict[str, Any] = {
        f"{name}.{key}": (table, key, text) for name, table in tables.items() for key, text in table.items()
    }
    alone = {name: text for name, text in own.items() if isinstance(text, str) and not name.startswith("_")}
    return {**found, **{name: (None, name, text) for name, text in alone.items()}}


def text_mutants(name: str, text: str) -> Iterator[TextMutant]:
    """Each condition of a text true, each property it gives to a node another one."""
    for found in CONDITION.finditer(text):
        yield TextMutant(name, f"{found.group()} -> true", f"{text[: found.start()]}true{text[found.end() :]}")
    for found in GIVEN.finditer(text):
        is_condition = "WHERE" in text[: found.start()].rpartition("\n")[2]
        change = "true" if is_condition else found.group().replace(".tenant_id =", ".lost =")
        yield TextMutant(name, f"{found.group()} -> {change}", f"{text[: found.start()]}{change}{text[found.end() :]}")


def left_over(text: str) -> str:
    """What of a text speaks of tenants and is no place that a mutant changes."""
    rest = CONDITION.sub("", GIVEN.sub("", text))
    return rest if "tenant" in rest else ""
