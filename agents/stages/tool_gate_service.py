"""The gate for a process that calls tools itself: the seed's functions, without topics."""

import logging
from collections.abc import Callable, Mapping
from datetime import datetime

from agents.core.tools.gate import ToolPolicyResolver, UserMessage
from schemas.tool_session import ToolSession

LOGGER = logging.getLogger("fathom.tools")


class ToolGateService:
    """Resolution against sessions that the caller looks up; an unknown tool passes unchanged."""

    def __init__(
        self,
        gate: ToolPolicyResolver,
        session_of: Callable[[str], ToolSession],
        now: Callable[[], datetime],
        message_of: Callable[[str], UserMessage] = lambda _: UserMessage(),
    ) -> None:
        self._gate = gate
        self._session_of = session_of
        self._message_of = message_of
        self._now = now

    def resolver_contexto_tool(self, nome_tool: str, args: Mapping[str, object], session_id: str) -> dict[str, object]:
        """`args_resolvidos`, or only `erro`: the text for the user; `args` itself is not changed."""
        said = self._message_of(session_id)
        found = self._gate.resolve(nome_tool, args, self._session_of(session_id), said, self._now())
        if found.code == "ferramenta_desconhecida":
            LOGGER.warning("no contract for the tool %s: its arguments pass as they are", nome_tool)
            return {"args_resolvidos": dict(args)}
        if found.error is not None:
            LOGGER.warning("⚠️ Não foi possível resolver contexto para %s: %s", nome_tool, found.error)
            return {"erro": found.error}
        for note in found.notes:
            LOGGER.info(note)
        LOGGER.info("✅ Contexto resolvido para %s: %s", nome_tool, dict(found.args))
        return {"args_resolvidos": dict(found.args)}

    def validar_contrato_tool(self, nome_tool: str, args: Mapping[str, object]) -> str | None:
        """The fault of a call by its contract alone, or None; nothing is looked up."""
        return self._gate.wrong(nome_tool, args)
