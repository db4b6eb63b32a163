"""A tool of the MCP server: name and texts, argument and answer models, annotations, and the function that answers.

A tool is one file with one `TOOL`; `toolbox.py` lists them. The server adds receipt and trace to every answer.
"""

from collections.abc import Awaitable, Callable, Mapping
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

    `refuse` gives the seconds until the next call, 0 allows this one.
    """

    caller: Callable[[Context], Caller]
    bootstrap: Callable[[], str]
    seconds: float
    limits: Limits = field(default_factory=Limits)
    assessor: Assessor = field(default_factory=lambda: Assessor(SystemClock()))
    refuse: Callable[[Caller], float] = lambda _: 0.0


@dataclass(frozen=True, slots=True)
class Call:
    """The caller, the trace, and the process that answers."""

    caller: Caller
    traceparent: str
    site: ServerContext

    @property
    def identity(self) -> Identity:
        """As the headers of a record state it."""
        return Identity(self.caller.tenant, self.caller.user, self.traceparent)


def filled(model: type[R], source: BaseModel, /, **own: object) -> R:
    """A model with the fields that another has under the same name, and with some of its own."""
    same = (model.model_fields.keys() & type(source).model_fields.keys()) - own.keys()
    return model(**{name: getattr(source, name) for name in same}, **own)


# No tool of ours destroys anything or reaches beyond Fathom.
READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, destructive_hint=False, open_world_hint=False)
RECORDS = ToolAnnotations(read_only_hint=False, idempotent_hint=False, destructive_hint=False, open_world_hint=False)


@dataclass(frozen=True, slots=True)
class Tool(Generic[A, R]):
    """One tool; `answer` raises `CommandFailed` with a sentence for the caller."""

    name: str
    title: str
    description: str
    takes: type[A]
    gives: type[R]
    annotations: ToolAnnotations
    answer: Callable[[A, Call], Awaitable[R]]

    def input_schema(self) -> dict[str, object]:
        """JSON Schema of the arguments."""
        return self.takes.model_json_schema(schema_generator=Untitled)

    def output_schema(self) -> dict[str, object]:
        """JSON Schema of the structured content, receipt and trace included."""
        made = self.gives.model_json_schema(by_alias=True, schema_generator=Untitled)
        required = [*made.get("required", ()), *RECEIPT]
        return {**made, "properties": {**made["properties"], **RECEIPT}, "required": required}

    def listed(self) -> ListedTool:
        """The tool as `tools/list` shows it."""
        return ListedTool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=self.input_schema(),
            output_schema=self.output_schema(),
            annotations=self.annotations.model_copy(update={"title": self.title}),
        )


AnyTool = Tool[Any, Any]

RECEIPT: Mapping[str, Mapping[str, str]] = {
    "receipt_id": {"type": "string", "description": "names who asked what and was answered what; in the server's log"},
    "trace_id": {"type": "string", "description": "W3C trace id: the caller's where it sent one"},
}
