"""The tools, in the order of `tools/list`."""

from streams.edges.mcp import (
    tool_assess,
    tool_conflicts,
    tool_explain,
    tool_memories,
    tool_reason,
    tool_resolve,
    tool_search,
)
from streams.edges.mcp.tool import AnyTool

TOOLS: tuple[AnyTool, ...] = (
    tool_assess.TOOL,
    tool_search.TOOL,
    tool_reason.TOOL,
    tool_conflicts.TOOL,
    tool_explain.TOOL,
    tool_memories.TOOL,
    tool_resolve.TOOL,
)
