"""What topics say in Portuguese, by the contract, in English: for whoever reads it from the command, HTTP or MCP."""

import re
from collections.abc import Mapping
from typing import Literal

from pydantic import AwareDatetime

from schemas.base import Id, Value
from schemas.learning import CorrectionKind
from schemas.tools import ErrorCode, Injection, ToolCallResolved, Verdict
from schemas.topics import Topic
from streams.edges.client.errors import USAGE, CommandFailed

RefusalCode = Literal[
    "context_missing",
    "context_expired",
    "ambiguous_value",
    "argument_missing",
    "unknown_argument",
    "invalid_type",
    "unknown_tool",
    "confirmation_denied",
    "confirmation_expired",
    "unavailable",
]
CODES: Mapping[ErrorCode, RefusalCode] = {
    "contexto_ausente": "context_missing",
    "contexto_expirado": "context_expired",
    "valor_ambiguo": "ambiguous_value",
    "argumento_ausente": "argument_missing",
    "argumento_desconhecido": "unknown_argument",
    "tipo_invalido": "invalid_type",
    "ferramenta_desconhecida": "unknown_tool",
    "confirmacao_negada": "confirmation_denied",
    "confirmacao_expirada": "confirmation_expired",
    "indisponivel": "unavailable",
}
EnglishKind = Literal["factual", "legal", "formatting"]
KINDS: Mapping[EnglishKind, CorrectionKind] = {"factual": "factual", "legal": "juridico", "formatting": "formatacao"}
ENGLISH_KINDS = {wire: kind for kind, wire in KINDS.items()}


def wire_kind(told: str) -> CorrectionKind:
    """A kind of correction as topics state it, by its English name or that one. Raises `CommandFailed` for another."""
    for kind, wire in KINDS.items():
        if told in (kind, wire):
            return wire
    raise CommandFailed(f"there is no kind of correction {told!r}; there are: {', '.join(KINDS)}", USAGE)


class Question(Value):
    """What would be executed, for the user who has to say yes."""

    text: str
    arguments: Mapping[str, object]
    user_id: Id | None
    expires_at: AwareDatetime


class CallVerdict(Value):
    """The verdict: only where `status` is resolved may the tool be called, with exactly `arguments`.

    `error` is the text for the user; `preview` the call to confirm first; `injections` the sources of added values.
    """

    call_id: Id
    tool_name: str
    status: Verdict
    arguments: Mapping[str, object] | None
    error: str | None
    error_code: RefusalCode | None
    preview: Question | None
    injections: tuple[Injection, ...]


def verdict_of(event: ToolCallResolved) -> CallVerdict:
    """A verdict of the topic in English names; its texts are in the language of the conversation."""
    shown = event.preview
    return CallVerdict(
        call_id=event.call_id,
        tool_name=event.tool_name,
        status=event.status,
        arguments=event.resolved_args,
        error=event.error,
        error_code=CODES[event.error_code] if event.error_code else None,
        preview=shown
        and Question(text=shown.text, arguments=shown.args, user_id=shown.user_id, expires_at=shown.expires_at),
        injections=event.injections,
    )


def fields_of(topic: Topic, sentence: str) -> str:
    """A sentence about an event of a topic with the fields, before a colon, by their English names."""
    names = {
        field.alias: name
        for event in topic.events
        for name, field in event.model_fields.items()
        if field.alias and field.alias != name
    }
    return re.sub(r"(?<![^:;] )\b(\w+)(?=[.:])", lambda found: names.get(found[1], found[1]), sentence)
