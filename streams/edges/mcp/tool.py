"""What a tool is: its name and words, what it takes and gives, what it may do, and the function that answers.

A tool is one file with one `TOOL`; `toolbox.py` lists them. Receipt and trace are added to every answer by the server.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

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
    """Who calls, for which trace, and how to reach a running Fathom.

    `seconds` is how long an answer may take, `limits` what packs may hold, `assessor` who
    assesses.
    """

    caller: Caller
    traceparent: str
    bootstrap: Callable[[], str]
    seconds: float
    limits: Limits
    assessor: Assessor


@dataclass(frozen=True, slots=True)
class Hints:
    """What a tool may do, as MCP calls it; none of ours reaches beyond Fathom."""

    read_only: bool
    idempotent: bool
    destructive: bool = False
    open_world: bool = False


@dataclass(frozen=True, slots=True)
class Tool(Generic[A, R]):
    """One tool; `answer` raises `CommandFailed` with a sentence where it cannot."""

    name: str
    title: str
    description: str
    takes: type[A]
    gives: type[R]
    hints: Hints
    answer: Callable[[A, Call], Awaitable[R]]

    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        return self.takes.model_json_schema(schema_generator=Untitled)

    def output_schema(self) -> dict[str, Any]:
        """JSON Schema of the structured content, receipt and trace included."""
        made = self.gives.model_json_schema(schema_generator=Untitled)
        return {
            **made,
            "properties": {**made["properties"], **RECEIPT},
            "required": [*made.get("required", ()), *RECEIPT],
        }


RECEIPT: Mapping[str, Mapping[str, str]] = {
    "receipt_id": {"type": "string", "description": "names who asked what and was answered what; in the server's log"},
    "trace_id": {"type": "string", "description": "W3C trace id: the caller's where it sent one"},
}
