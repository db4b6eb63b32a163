"""The tool gate for a process that calls tools without Fathom's topics."""

from collections.abc import Callable
from datetime import UTC, datetime

from agents.core.tools.gate import ToolPolicyResolver, UserMessage
from agents.stages.tool_gate_service import ToolGateService
from schemas.tool_policy import ToolPolicy
from schemas.tool_session import ToolSession
from streams import policies


def get_tool_gate_service(
    session_of: Callable[[str], ToolSession],
    message_of: Callable[[str], UserMessage] = lambda _: UserMessage(),
    tools: ToolPolicy | None = None,
) -> ToolGateService:
    """A gate over sessions that the caller keeps; `message_of` gives the user's last message of a session.

    `tools` are the contracts (`policies.tool_policy(PATH)`), else the shipped ones.
    """
    gate = ToolPolicyResolver(tools or policies.shipped_tools(), policies.shipped())
    return ToolGateService(gate, session_of, lambda: datetime.now(UTC), message_of)
