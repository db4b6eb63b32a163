"""A tool of the MCP server: name and texts, argument and answer models, annotations, and the function that answers.

A tool is one file with one `TOOL`; `toolbox.py` lists them. The server adds receipt and trace in `_meta`. All
descriptions and schemas together are read by every agent in every session: a test keeps them within 2,000 tokens.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from mcp.server.context import ServerRequestContext
from mcp_types import Tool as ListedTool
from mcp_types import ToolAnnotations
from pydantic import BaseModel

from agents.core.packs.planning import Limits
from agents.stages.assessor import Assessor
from schemas.base import Value
from schemas.json_schema import Untitled
from streams.edges.client.arguments import Arguments
from streams.edges.client.records import Identity
from streams.edges.mcp.callers import Caller
from streams.telemetry.clock import SystemClock

A = TypeVar("A", bound=Arguments)
R = TypeVar("R", bound=Value)
Context = ServerRequestContext[Any, Any]


@dataclass(frozen=True, slots=True)
class ServerContext:
    """What server and tools need of their process; `seconds` is the time limit of an answer.

    `refuse` gives the seconds until the next call, 0 allows this one; `console` where the console is, if anywhere.
    """

    caller: Callable[[Context], Caller]
    bootstrap: Callable[[], str]
    seconds: float
    limits: Limits = field(default_factory=Limits)
    assessor: Assessor = field(default_factory=lambda: Assessor(SystemClock()))
    refuse: Callable[[Caller], float] = lambda _: 0.0
    console: Callable[[], str | None] = lambda: None


@dataclass(frozen=True, slots=True)
class Call:
    """The caller, the trace, and the process that answers."""

    caller: Caller
    traceparent: str
    site: ServerContext

    @property
    def identity(self) -> Identity:
        """As the headers of a record state it."""
        return Identity(self.caller.tenant, self.caller.user, self.traceparent, bound=self.caller.bound)


def filled(model: type[R], source: BaseModel, /, **own: object) -> R:
    """A model with the fields that another has under the same name, and with some of its own."""
    same = (model.model_fields.keys() & type(source).model_fields.keys()) - own.keys()
    return model(**{name: getattr(source, name) for name in same}, **own)


# No tool of ours destroys anything or reaches beyond Fathom.
READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, destructive_hint=False, open_world_hint=False)
RECORDS = ToolAnnotations(read_only_hint=False, idempotent_hint=False, destructive_hint=False, open_world_hint=False)


@dataclass(frozen=True, slots=True)
class Tool(Generic[A, R]):
    """One tool; `answer` raises `CommandFailed` with a sentence for the caller.

    `text` is what a model reads of an answer: short, since the structured content goes with it. `explained_by` is the
    message whose page in the console explains an answer.
    """

    name: str
    title: str
    description: str
    takes: type[A]
    gives: type[R]
    annotations: ToolAnnotations
    answer: Callable[[A, Call], Awaitable[R]]
    text: Callable[[R], str]
    explained_by: Callable[[R], str | None] = lambda _: None

    def input_schema(self) -> dict[str, object]:
        """JSON Schema of the arguments."""
        lean: dict[str, object] = _lean(self.takes.model_json_schema(schema_generator=Untitled))
        # The name of our class tells an agent nothing.
        return {name: each for name, each in lean.items() if name != "title"}

    def output_schema(self) -> dict[str, object]:
        """JSON Schema of the structured content, its own fields and their types."""
        made = self.gives.model_json_schema(mode="serialization", by_alias=True, schema_generator=Untitled)
        hidden = {name for name, field in self.gives.model_fields.items() if field.exclude}
        own = {name: _shallow(each, made) for name, each in made["properties"].items() if name not in hidden}
        return {"type": "object", "properties": own}

    def listed(self) -> ListedTool:
        """The tool as `tools/list` shows it."""
        return ListedTool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=self.input_schema(),
            output_schema=self.output_schema(),
            annotations=self.annotations,
        )


AnyTool = Tool[Any, Any]
# What is so where a schema says nothing.
IMPLIED = ("additionalProperties", True)
# Lengths that no agent comes near; a call that does is refused with the bound.
UNSAID = ("minLength", "maxLength", "maxItems")


def _lean(node: Any) -> Any:
    """A schema of arguments without what only repeats: every agent reads it before its first call.

    An argument that may be null may be left out, so null is not mentioned.
    """
    if isinstance(node, list):
        return [_lean(each) for each in node]
    if not isinstance(node, dict):
        return node
    found = {
        name: _lean(each)
        for name, each in node.items()
        if not (name == "default" and not each) and (name, each) != IMPLIED and name not in UNSAID
    }
    options = [each for each in found.get("anyOf", ()) if each != {"type": "null"}]
    if len(options) == 1:
        del found["anyOf"]
        return {**options[0], **found}
    return found


def _shallow(schema: Mapping[str, Any], whole: Mapping[str, Any]) -> dict[str, object]:
    """The type of one field; objects and the elements of lists without their own fields."""
    kinds = list(dict.fromkeys(_kinds(schema, whole)))
    return {"type": kinds[0] if len(kinds) == 1 else kinds} if kinds else {}


def _kinds(schema: Mapping[str, Any], whole: Mapping[str, Any]) -> Iterator[str]:
    if "$ref" in schema:
        yield from _kinds(whole["$defs"][schema["$ref"].rpartition("/")[2]], whole)
    for each in schema.get("anyOf", ()):
        yield from _kinds(each, whole)
    if "type" in schema:
        yield schema["type"]
