"""What a session remembers for tool calls: values that results set, previews that wait, verdicts given. Pure.

Results may come twice, late and in any order: the newest by its own time stays.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from schemas.tool_policy import Contract, ToolPolicy
from schemas.tool_session import Judged, Kept, ToolSession, Waiting
from schemas.tools import ToolCallResolved, ToolResult

KEPT_CALLS = 64


def after_result(session: ToolSession, result: ToolResult, policy: ToolPolicy, at: datetime) -> ToolSession:
    """The session once a tool has said what it did; a failed call sets nothing (S4-33, S4-34)."""
    values = dict(session.values)
    for name, value in _said(result, policy):
        known = values.get(name)
        if known is None or (known.at, known.call_id) <= (at, result.call_id):
            values[name] = Kept(value=value, at=at, call_id=result.call_id)
    if result.report_valid is False:
        for name in _fields(policy, "report_id"):
            known = values.get(name)
            if known is not None and known.at <= at and result.report_id in (None, known.value):
                values[name] = known.model_copy(update={"valid": False, "at": at})
    return session.model_copy(update={"values": values})


def _said(result: ToolResult, policy: ToolPolicy) -> Iterator[tuple[str, str]]:
    """Values of the session that a result names: what was used first, what was made of it then."""
    if not result.sucesso or result.report_valid is False:
        return
    contract = policy.tools.get(result.nome_tool, Contract())
    for argument, rule in contract.arguments.items():
        value = result.args.get(argument)
        if rule.session is not None and isinstance(value, str) and value.strip():
            yield rule.session, value
    made = {"report_id": result.report_id, "processo_referencia": result.processo_referencia, **result.valores}
    for name, wanted in policy.session.items():
        if wanted.result is not None and (found := made.get(wanted.result)):
            yield name, found


def _fields(policy: ToolPolicy, result: str) -> Iterator[str]:
    yield from (name for name, rule in policy.session.items() if rule.result == result)


def with_verdict(
    session: ToolSession, verdict: ToolCallResolved, judged: Judged, waiting: Waiting | None = None
) -> ToolSession:
    """The session with a verdict, so that the same call gets the same one again, and with what waits for a yes."""
    verdicts = _last({**session.verdicts, verdict.call_id: verdict})
    grounds = _last({**session.judged, verdict.call_id: judged})
    kept = session.waiting if waiting is None else _last({**session.waiting, verdict.call_id: waiting})
    return session.model_copy(update={"verdicts": verdicts, "judged": grounds, "waiting": kept})


def taken(session: ToolSession, call_id: str, confirmation: str) -> ToolSession:
    """The session once a preview was answered: no other answer counts."""
    waiting = session.waiting[call_id].model_copy(update={"taken": confirmation})
    return session.model_copy(update={"waiting": {**session.waiting, call_id: waiting}})


def _last(calls: dict[str, Any]) -> dict[str, Any]:
    return dict(list(calls.items())[-KEPT_CALLS:])
