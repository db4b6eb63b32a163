"""`fathom tool`: a call and its verdict, a tool's result, a user's yes or no."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import uuid4

import orjson

from schemas.tools import ToolCallResolved
from schemas.topics import TOOLS_CALLS_IN, TOOLS_CALLS_OUT, TOOLS_CONFIRMATIONS_IN, TOOLS_RESULTS_IN, Topic
from streams.edges.client import ask, clients, records, send
from streams.edges.client.ask import Awaited
from streams.edges.client.console_output import console
from streams.edges.client.console_pack import line
from streams.edges.client.console_tools import verdict_lines
from streams.edges.client.errors import CHECK, OK, USAGE, CommandFailed
from streams.edges.client.options import SessionOptions, ToolCall, ToolConfirmationOptions, ToolResultOptions
from streams.edges.client.records import BadInput, Identity, OutgoingRecord

VERDICT = Awaited(
    TOOLS_CALLS_OUT,
    lambda value: ToolCallResolved.model_validate_json(value, extra="ignore").call_id,
    "verdict",
    "call",
    "tool-gate",
)


def call(wanted: ToolCall, broker: str | None, *, as_json: bool) -> int:
    """Send the call, print its verdict; 0 where it may be executed, 5 where not. Raises `CommandFailed`."""
    return _verdict(prepared_call(wanted), broker, wanted.timeout, as_json=as_json)


def confirm(wanted: ToolConfirmationOptions, broker: str | None, *, as_json: bool) -> int:
    """Send the answer to a preview, print what becomes of the call; exit codes as of a call. Raises `CommandFailed`."""
    return _verdict(prepared_confirmation(wanted), broker, wanted.timeout, as_json=as_json)


def result(wanted: ToolResultOptions, broker: str | None, *, as_json: bool) -> None:
    """Send what a tool has done, and say where it is. Raises `CommandFailed`."""
    send.send_one(prepared_result(wanted), broker, as_json=as_json)


def prepared_call(wanted: ToolCall) -> OutgoingRecord:
    """The call as a record. Raises `CommandFailed`."""
    value = {
        "call_id": wanted.call_id or str(uuid4()),
        "nome_tool": wanted.tool,
        "args": arguments_of(wanted.arguments),
        "message_id": wanted.message_id,
    }
    return _prepared(TOOLS_CALLS_IN, value, wanted.session)


def prepared_result(wanted: ToolResultOptions) -> OutgoingRecord:
    """The result as a record. Raises `CommandFailed`."""
    value = {
        "call_id": wanted.call_id or str(uuid4()),
        "nome_tool": wanted.tool,
        "args": arguments_of(wanted.arguments),
        "sucesso": not wanted.failed,
        "report_id": wanted.report_id,
        "processo_referencia": wanted.process,
        "report_valid": False if wanted.invalid else None,
        "valores": arguments_of(wanted.values),
    }
    return _prepared(TOOLS_RESULTS_IN, value, wanted.session)


def prepared_confirmation(wanted: ToolConfirmationOptions) -> OutgoingRecord:
    """The yes or no as a record. Raises `CommandFailed`."""
    user = wanted.session.user or wanted.session.client
    value = {"call_id": wanted.call_id, "approved": wanted.approved, "usuario_id": user}
    return _prepared(TOOLS_CONFIRMATIONS_IN, value, wanted.session)


def arguments_of(texts: Iterable[str]) -> dict[str, Any]:
    """NAME=TEXT and NAME:=JSON by name. Raises `CommandFailed` for anything else, and for a name given twice."""
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        as_json = name.endswith(":")
        name = name.removesuffix(":")
        if not equals or not name:
            raise CommandFailed(f"{text!r} is no argument: write NAME=TEXT, or NAME:=JSON for true, 3 or [1]", USAGE)
        if name in found:
            raise CommandFailed(f"the argument {name} is given twice; leave one out", USAGE)
        found[name] = _json(name, value) if as_json else value
    return found


def _json(name: str, value: str) -> Any:
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        raise CommandFailed(
            f"{value!r} of the argument {name} is no JSON; for a text write {name}={value}", USAGE
        ) from None


def _prepared(topic: Topic, value: Mapping[str, Any], session: SessionOptions) -> OutgoingRecord:
    whole = {**value, "client_id": session.client, "session_id": session.conversation}
    raw = orjson.dumps({name: field for name, field in whole.items() if field is not None})
    try:
        return records.tool(topic, raw, Identity(session.tenant, session.user))
    except BadInput as error:
        raise CommandFailed(f"this cannot be sent: {error}", USAGE) from None


def _verdict(prepared: OutgoingRecord, broker: str | None, seconds: float, *, as_json: bool) -> int:
    bootstrap = clients.bootstrap_of(broker)
    raw = clients.run(ask.answer_to(prepared, VERDICT, bootstrap, seconds))
    verdict = ToolCallResolved.model_validate_json(raw, extra="ignore")
    if as_json:
        print(raw.decode())
    else:
        out = console()
        out.print(line(0, f"{verdict.nome_tool} · call {verdict.call_id}", "bold"))
        for renderable in verdict_lines(verdict):
            out.print(renderable)
    return OK if verdict.status == "resolved" else CHECK
