"""Where the texts come from that drivers are given: followed back through the sources to constants, or named.

A driver's call is a sink at one of its arguments. What comes there from a parameter makes a sink of the function that
has it, and so on, until every text is a constant of a module, or comes from a builder that is allowed to make it. A
constant is made at import, of strings that stand in the sources, and row by row of tables of such strings.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path

Function = ast.FunctionDef | ast.AsyncFunctionDef
# Calls whose value is what their first argument is, or is made of.
THROUGH = frozenset({"list", "tuple", "iter", "sorted", "Query", "digest_of", "cast"})
# `run` of these is not a transaction's: it is given work, not a text.
NOT_A_DRIVER = frozenset({"self._guard", "asyncio", "subprocess"})


@dataclass
class Module:
    """A source: its functions, what its module-level names are, its imports, the names whose values it changes."""

    name: str
    functions: list[Function]
    constants: dict[str, ast.expr]
    imported: set[str]
    changed: set[str]


@dataclass
class Search:
    """What is looked for: calls by name, the place of the argument, and who may build such a text."""

    sinks: set[tuple[str, int]]
    builders: frozenset[str]
    attributes: frozenset[str] = frozenset()
    wrong: list[str] = field(default_factory=list)
    seen: int = 0


def modules(root: Path, package: str = "streams/stores") -> list[Module]:
    folder = root / package
    named = {".".join(path.relative_to(folder).with_suffix("").parts): path for path in sorted(folder.rglob("*.py"))}
    return [module(name, path.read_text()) for name, path in named.items()]


def module(name: str, text: str) -> Module:
    tree = ast.parse(text)
    constants: dict[str, ast.expr] = {}
    imported: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            constants[node.target.id] = node.value
        elif isinstance(node, ast.Assign):
            constants |= {target.id: node.value for target in node.targets if isinstance(target, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imported |= {alias.asname or alias.name for alias in node.names}
    functions = [node for node in ast.walk(tree) if isinstance(node, Function)]
    return Module(name, functions, constants, imported, {each for node in ast.walk(tree) for each in _changed(node)})


def _changed(node: ast.AST) -> Iterable[str]:
    """The names whose value, once given, a statement changes."""
    match node:
        case ast.AugAssign(target=ast.Name(id=name)):
            return [name]
        case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), ctx=ast.Store() | ast.Del()):
            return [name]
        case _:
            return []


def built(sources: list[Module], search: Search) -> list[str]:
    """`module.function: text` of every argument of a sink that is not a constant; sinks are added as they are found."""
    done: set[tuple[str, int]] = set()
    methods = {each.name for source in sources for each in source.functions if _is_method(each)}
    constants = constant_texts(sources)
    while todo := search.sinks - done:
        done |= todo
        for source in sources:
            for function in source.functions:
                made = _yielded(function) if function.name in search.builders else []
                for argument in (*_arguments(function, todo, methods), *made):
                    search.seen += 1
                    _judge(argument, function, source, constants, search)
    return search.wrong


def constant_texts(sources: list[Module]) -> set[str]:
    """The module-level names of strings and tables of strings that are made of nothing but strings in the sources.

    A name that is something else in another source is none of them, nor one whose value is changed later.
    """
    changed = {name for source in sources for name in source.changed}
    known: set[str] = set()
    while True:
        found: dict[str, bool] = {}
        for source in sources:
            own = known & (source.constants.keys() | source.imported)
            for name, value in source.constants.items():
                found[name] = found.get(name, True) and _is_text(value, own)
        if (more := {name for name, is_text in found.items() if is_text} - changed) == known:
            return known
        known = more


def _is_text(value: ast.expr, known: Set[str]) -> bool:
    """Whether a module-level value is made of nothing but strings that stand there, and of names that are `known`."""

    def made_of(parts: Iterable[ast.expr | None]) -> bool:
        return all(part is None or _is_text(part, known) for part in parts)

    match value:
        case ast.Constant():
            return isinstance(value.value, str)
        case ast.Name():
            return value.id in known
        case ast.Dict():
            return made_of([*value.keys, *value.values])
        case ast.Tuple() | ast.List():
            return made_of(value.elts)
        case ast.Starred() | ast.FormattedValue(format_spec=None) | ast.Subscript():
            return made_of([value.value])
        case ast.JoinedStr():
            return made_of(value.values)
        case ast.IfExp():  # the condition only chooses between two constants
            return made_of([value.body, value.orelse])
        case ast.Call(func=ast.Attribute(value=of, attr="items" | "partition"), keywords=[]):
            return made_of([of, *value.args])
        case ast.DictComp():
            for rows in value.generators:
                if not _is_text(rows.iter, known):
                    return False
                known = known | _names(rows.target).keys()
            return made_of([value.key, value.value])
        case _:
            return False


def _is_method(function: Function) -> bool:
    return bool(function.args.args) and function.args.args[0].arg == "self"


def _yielded(function: Function) -> list[ast.expr]:
    """The texts a builder gives, each the first of a pair."""
    found = [node.value for node in _own(function) if isinstance(node, ast.Yield)]
    return [pair.elts[0] if isinstance(pair, ast.Tuple) else pair for pair in found if pair is not None]


def _arguments(function: Function, sinks: set[tuple[str, int]], methods: set[str]) -> Iterator[ast.expr]:
    for node in _own(function):
        if not isinstance(node, ast.Call) or any(f"{each}.run" in ast.unparse(node) for each in NOT_A_DRIVER):
            continue
        name, given = _called(node)
        if name in methods and isinstance(node.func, ast.Name) and node.func.id == name:
            continue  # a function of that name, not the method
        for place in [place for sink, place in sinks if sink == name]:
            if len(given) > place:
                yield given[place]


def _own(function: Function) -> Iterator[ast.AST]:
    """What is in a function, without the functions in it: those are judged by themselves."""
    waiting: list[ast.AST] = [*ast.iter_child_nodes(function)]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, Function):
            yield node
            waiting += ast.iter_child_nodes(node)


def _called(node: ast.Call) -> tuple[str, list[ast.expr]]:
    """The last name of what is called, with its arguments; of `partial(f, x)` and `execute_read(f, x)` that of f."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    given = [*node.args]
    if name in ("partial", "execute_read", "execute_write", "submit") and given:
        inner = given[0]
        name = inner.attr if isinstance(inner, ast.Attribute) else getattr(inner, "id", "")
        given = given[1:]
        if name == "_run" and node.args and isinstance(node.func, ast.Attribute) and node.func.attr != "partial":
            return "transaction", given  # a unit of work: its transaction is not among the arguments
    return name, given


def _judge(
    text: ast.expr, function: Function, source: Module, constants: set[str], search: Search, depth: int = 0
) -> None:
    def again(*parts: ast.expr) -> None:
        for part in parts:
            _judge(part, function, source, constants, search, depth + 1)

    match text:
        case _ if depth > 20:
            search.wrong.append(f"{source.name}.{function.name}: {ast.unparse(text)}")
        case ast.Constant():
            pass
        case ast.Await() | ast.Starred():
            again(text.value)
        case ast.IfExp():
            again(text.body, text.orelse)
        case ast.List() | ast.Tuple():
            again(*text.elts)
        case ast.ListComp() | ast.GeneratorExp():
            again(text.elt)
        case ast.Attribute() if text.attr in constants or text.attr in search.attributes:
            pass
        case ast.Subscript():
            again(text.value)
        case ast.Call() if _called(text)[0] in search.builders:
            pass
        case ast.Call() if _called(text)[0] in THROUGH and text.args:
            again(text.args[0])
        case ast.Name():
            _judge_name(text, function, source, constants, search, depth)
        case _:
            search.wrong.append(f"{source.name}.{function.name}: {ast.unparse(text)}")


def _judge_name(
    name: ast.Name, function: Function, source: Module, constants: set[str], search: Search, depth: int
) -> None:
    sources = [*_assigned(name.id, function)]
    if sources:
        for each in sources:
            _judge(each, function, source, constants, search, depth + 1)
        return
    parameters = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    if name.id in parameters:
        place = parameters.index(name.id) - (parameters[0] in ("self", "cls"))
        search.sinks.add((function.name, place))
        if parameters[0] == "transaction":
            search.sinks.add(("transaction", place - 1))
    elif name.id in constants and (name.id in source.constants or name.id in source.imported):
        pass
    else:
        outer = [each for each in source.functions if function is not each and function in ast.walk(each)]
        if outer:
            _judge_name(name, outer[-1], source, constants, search, depth + 1)
        else:
            search.wrong.append(f"{source.name}.{function.name}: {name.id}")


def _assigned(name: str, function: Function) -> Iterator[ast.expr]:
    """What a local name is given: by assignment, by a loop over something, by a comprehension."""
    for node in _own(function):
        match node:
            case ast.Assign():
                for target in node.targets:
                    if name in _names(target):
                        yield _matching(target, node.value, name)
            case ast.AugAssign() if name in _names(node.target):
                yield ast.BinOp(node.target, node.op, node.value)
            case ast.AnnAssign() | ast.NamedExpr() if node.value and name in _names(node.target):
                yield node.value
            case ast.For() | ast.AsyncFor() | ast.comprehension() if name in _names(node.target):
                rows = node.iter.elts if isinstance(node.iter, ast.Tuple) else [node.iter]
                yield from (_matching(node.target, row, name) for row in rows)


def _matching(target: ast.expr, value: ast.expr, name: str) -> ast.expr:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return next(v for t, v in zip(target.elts, value.elts, strict=True) if name in _names(t))
    return value


def _names(target: ast.AST) -> Mapping[str, None]:
    return {node.id: None for node in ast.walk(target) if isinstance(node, ast.Name)}
