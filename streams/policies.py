"""Policies of operators: YAML files merged over the defaults.

The reading of an absent or invalid file gives the defaults and what to correct, with its line; a worker whose settings
name such a file does not start.
"""

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, TypeVar, get_args

import orjson
import yaml
from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from yaml.nodes import MappingNode, Node, SequenceNode

from agents.core.assessment.advised_tools import TOOLS as SERVED
from agents.core.packs import options, profiles
from agents.core.packs.profiles import Misfit
from schemas.base import sentence_of
from schemas.policy import (
    DEFAULT_PACKS,
    DEFAULT_POLICY,
    AdvicePolicy,
    AdvisedTool,
    ContextPolicy,
    PackPolicy,
    ProfilePolicy,
    ReferencePolicy,
)
from schemas.retrieval import QueryProfile
from schemas.tool_policy import ToolPolicy
from streams.config import ConfigError, Settings

P = TypeVar("P")
D = TypeVar("D")
# The place of the shipped files in a checkout; in an installed package they are beside this file.
CHECKOUT = Path(__file__).parents[1] / "deploy" / "policies"
REFERENCES, TOOLS = "references", "tools"
# The second shipped policy of tools, by its path in a checkout; from elsewhere the path names the installed copy.
CUSTOMS = Path("deploy/policies/tools-customs.yaml")
_UNKNOWN = "unexpected_keyword_argument"


def context_policy(path: Path | None) -> tuple[ContextPolicy, str | None]:
    """The conversation policy of a file (None: the shipped one), and what is wrong with it; `context:` is optional."""
    return _read(_shipped("context.yaml") if path is None else path, "context", ContextPolicy, DEFAULT_POLICY)


def reference_policy(path: Path | None) -> tuple[ReferencePolicy, str | None]:
    """The reference policy of a file (None: the shipped one), and what is wrong with it."""
    return (shipped(), None) if path is None else _read(path, REFERENCES, ReferencePolicy, shipped())


def conversation_policies(settings: Settings) -> tuple[ContextPolicy, ReferencePolicy]:
    """Both policies of conversations; raises `ConfigError` where one that was named cannot be used."""
    context, wrong = context_policy(settings.context_policy)
    if wrong is not None:
        raise _unusable("FATHOM_CONTEXT_POLICY", wrong)
    references, wrong = reference_policy(settings.reference_policy)
    if wrong is not None:
        raise _unusable("FATHOM_REFERENCE_POLICY", wrong)
    return context, references


def check(settings: Settings) -> Iterator[ConfigError]:
    """What is wrong with the policies that settings name, one by one."""
    readings: tuple[Callable[[], object], ...] = (
        lambda: conversation_policies(settings),
        lambda: tool_policy(settings.tool_policy),
        lambda: advised_tools(settings.assessment_policy),
        lambda: query_profiles(settings.profile_policy),
        lambda: pack_policy(settings.pack_policy),
    )
    for read in readings:
        try:
            read()
        except ConfigError as wrong:
            yield wrong


def _unusable(setting: str, wrong: str) -> ConfigError:
    return ConfigError(f"{setting}: {wrong}; correct the file, or unset {setting} for the shipped one")


@cache
def shipped() -> ReferencePolicy:
    """The shipped reference policy; raises for an installation without it."""
    return _merged(_shipped("references.yaml").read_bytes(), REFERENCES, ReferencePolicy)


def tool_policy(path: Path | None) -> ToolPolicy:
    """The contracts of a file (None: the shipped ones); raises `ConfigError`: without contracts no tool may run."""
    if path is None:
        return shipped_tools()
    found = _shipped(path.name) if path == CUSTOMS and not path.exists() else path
    return _stated_policy(found, "FATHOM_TOOL_POLICY", TOOLS, ToolPolicy)


def advised_tools(path: Path | None) -> Mapping[str, AdvisedTool]:
    """The tools that an assessment may advise, of a file (None: those served over MCP); raises `ConfigError`."""
    if path is None:
        return SERVED
    return _stated_policy(path, "FATHOM_ASSESSMENT_POLICY", "assessment", AdvicePolicy).tools


def query_profiles(path: Path | None) -> Mapping[str, QueryProfile]:
    """The query profiles: the shipped ones with the overrides of a file; raises `ConfigError`."""
    if path is None:
        return profiles.SHIPPED
    return profiles.of_policy(
        _stated_policy(path, "FATHOM_PROFILE_POLICY", "profiles", ProfilePolicy, profiles.of_policy)
    )


def pack_policy(path: Path | None) -> PackPolicy:
    """The policy on packs of a file (None: the defaults); raises `ConfigError`."""
    if path is None:
        return DEFAULT_PACKS
    return _stated_policy(path, "FATHOM_PACK_POLICY", "packs", PackPolicy, options.check)


def _stated_policy(
    path: Path | Traversable, setting: str, root: str, kind: type[P], check: Callable[[P], object] | None = None
) -> P:
    found, wrong = _read(path, root, kind, None, check)
    if found is None:
        raise _unusable(setting, wrong or "")
    return found


@cache
def shipped_tools() -> ToolPolicy:
    """The shipped tool contracts."""
    return _merged(_shipped("tools.yaml").read_bytes(), TOOLS, ToolPolicy)


def _shipped(name: str) -> Traversable:
    packaged = files("streams").joinpath("policies_shipped")
    folder: Traversable = packaged if packaged.is_dir() else CHECKOUT
    return folder.joinpath(name)


def _read(
    path: Path | Traversable, root: str, kind: type[P], default: D, check: Callable[[Any], object] | None = None
) -> tuple[P | D, str | None]:
    try:
        raw = path.read_bytes()
    except OSError as error:
        return default, f"{root} policy {path}: {error.strerror or error}"
    try:
        return _merged(raw, root, kind, check), None
    except yaml.MarkedYAMLError as error:
        at = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        why = f"{at}{error.problem or 'no YAML'}"
    except (yaml.YAMLError, TypeError, ValueError, RecursionError) as error:
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
    return default, f"{root} policy {path}: {why}"


def _merged(raw: bytes, root: str, kind: type[P], check: Callable[[P], object] | None = None) -> P:
    """Parse a policy strictly. Raises YAML's errors, or `ValueError` with the line and the reason.

    `check` may raise `Misfit` for a value that is valid by type but not in its place.
    """
    given, tree = yaml.safe_load(raw), yaml.compose(raw, Loader=yaml.SafeLoader)
    if given is None:
        given = {}
    if isinstance(given, dict) and root in given:
        given, tree = given[root] or {}, _below(tree, root)
    if not isinstance(given, dict):
        raise TypeError("the file is no mapping of settings")
    try:
        # Strict in JSON: a list of YAML may be a tuple, but no text is taken for a number.
        found = TypeAdapter(kind).validate_json(orjson.dumps(_stated(given)), strict=True)
        if check is not None:
            check(found)
        return found
    except Misfit as misfit:
        raise ValueError(f"{_at(tree, misfit.where)}{misfit}") from None
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_context=False)
        # A misspelled key is also missing under its right name, which says less.
        first = next((each for each in wrong if each["type"] == _UNKNOWN), wrong[0])
        raise ValueError(_explained(first["type"], sentence_of(first), first["loc"], tree, kind)) from None


def _stated(value: object) -> object:
    """The tree without keys that have no value."""
    if isinstance(value, dict):
        return {name: _stated(each) for name, each in value.items() if each is not None}
    return value


def _explained(code: str, said: str, where: Sequence[int | str], tree: Node | None, kind: type[object]) -> str:
    at = _at(tree, where)
    name = ".".join(map(str, where))
    if code != _UNKNOWN:
        return f"{at}{name}: {said}"
    near = difflib.get_close_matches(str(where[-1]), list(_fields(kind, where[:-1])), n=1)
    return f"{at}unknown key {name!r}{f', did you mean {near[0]!r}?' if near else ''}"


def _fields(kind: Any, where: Sequence[int | str]) -> Iterator[str]:
    """The field names permitted at a path of a policy."""
    for name in where:
        # A mapping permits any key; its values have fields.
        known = getattr(kind, "__pydantic_fields__", None)
        kind = known[name].annotation if known is not None else get_args(kind)[-1]
    fields: Mapping[str, FieldInfo] = kind.__pydantic_fields__
    yield from fields


def _at(tree: Node | None, where: Sequence[int | str]) -> str:
    line = _line(tree, where)
    return f"line {line}: " if line else ""


def _line(tree: Node | None, where: Sequence[int | str]) -> int | None:
    """The line of a path, from 1; of its nearest parent where it is not in the file."""
    line = None
    for name in where:
        if isinstance(tree, MappingNode):
            found = next(((key, value) for key, value in tree.value if str(key.value) == str(name)), None)
            if found is None:
                return line
            line, tree = found[0].start_mark.line + 1, found[1]
        elif isinstance(tree, SequenceNode) and isinstance(name, int) and name < len(tree.value):
            tree = tree.value[name]
            line = tree.start_mark.line + 1
    return line


def _below(tree: Node | None, root: str) -> Node | None:
    assert isinstance(tree, MappingNode)  # it was read as one
    found: Node = next(value for key, value in tree.value if key.value == root)
    return found
