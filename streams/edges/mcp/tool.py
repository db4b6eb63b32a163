"""A tool of the MCP server: name and texts, argument and answer models, annotations, and the function that answers.

A tool is one file with one `TOOL`; `toolbox.py` lists them. The server adds receipt and trace to every answer.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from mcp_types import Tool as ListedTool
from mcp_types import ToolAnnotations

from agents.core.packs.planning import Limits
from agents.stages.assessor import Assessor
from schemas.base import Value
from schemas.json_schema import Untitled
from streams.edges.client.arguments import Arguments
from streams.edges.mcp.callers import Caller

A = TypeVar("A", bound=Arguments)
R = TypeVar("R", bound=Value)


@dataclass(frozen=True, slots=True)
class Call:
    """The caller, the trace, and what a tool needs of its process; `seconds` is the time limit of an answer."""

    caller: Caller
    traceparent: str
    bootstrap: Callable[[], str]
    seconds: float
    limits: Limits
    assessor: Assessor


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
        return {
            **made,
            "properties": {**made["properties"], **RECEIPT},
            "required": [*made.get("required", ()), *RECEIPT],
        }

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
