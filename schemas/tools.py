"""Tool calls of agents, before they are executed: asked, completed or refused, confirmed, done."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AwareDatetime, Field, field_validator, model_validator

from schemas.base import Absent, Event, Id, Value

# The last four are recalled from the dialogue: what was proposed, a row of a result, an earlier call, another task.
InjectionSource = Literal["mention", "session", "default", "proposal", "result", "call", "reference"]
Verdict = Literal["resolved", "error", "confirmation_required"]
ErrorCode = Literal[
    "contexto_ausente",
    "contexto_expirado",
    "valor_ambiguo",
    "argumento_ausente",
    "argumento_desconhecido",
    "tipo_invalido",
    "ferramenta_desconhecida",
    "confirmacao_negada",
    "confirmacao_expirada",
    "indisponivel",
]


Scalar = Annotated[str, Field(max_length=1000)] | int | float | bool | None
Row = Mapping[str, Scalar]
MAX_ROWS, MAX_VALUES, LONGEST_NAME = 50, 32, 200


class ToolEvent(Event):
    """What happens to one call; the session of an agent is a conversation of its client."""

    call_id: Id
    client_id: Id
    session_id: Id

    @property
    def conversation_id(self) -> str:
        """The session, as every other event calls it."""
        return self.session_id


class ToolCallRequested(ToolEvent):
    """An agent wants to call a tool."""

    TYPE: ClassVar[str] = "tool.call-requested.v1"
    tool_name: str = Field(alias="nome_tool", min_length=1, max_length=200)
    args: Mapping[str, Any] = Field(default_factory=dict)
    message_id: Absent[Id] = None


class Injection(Value):
    """A value that the call did not have: where it came from, and how old it was, in seconds.

    `evidence` is the message, or the call, that had it; a default has neither.
    """

    arg: str
    value: Any
    source: InjectionSource
    evidence: Absent[str] = None
    age_seconds: Absent[float] = None


class Preview(Value):
    """What would be executed, for whoever has to say yes, by his id; `lang` is the language of the text."""

    text: str = Field(alias="texto")
    lang: Absent[str] = None
    user_id: Absent[Id] = Field(default=None, alias="usuario_id")
    args: Mapping[str, Any]
    expires_at: AwareDatetime


class ToolCallResolved(ToolEvent):
    """The verdict on one call; only one with `args_resolvidos` may be executed."""

    TYPE: ClassVar[str] = "tool.call-resolved.v1"
    tool_name: str = Field(alias="nome_tool")
    status: Verdict
    resolved_args: Absent[Mapping[str, Any]] = Field(default=None, alias="args_resolvidos")
    error: Absent[str] = Field(default=None, alias="erro")
    error_code: Absent[ErrorCode] = Field(default=None, alias="erro_codigo")
    succeeded: Absent[bool] = Field(default=None, alias="sucesso")
    reply: Absent[str] = Field(default=None, alias="resposta")
    injections: tuple[Injection, ...] = ()
    preview: Absent[Preview] = None

    @model_validator(mode="after")
    def _one_of(self) -> "ToolCallResolved":
        given = (self.resolved_args is not None, self.error is not None, self.preview is not None)
        if given != tuple(self.status == each for each in ("resolved", "error", "confirmation_required")):
            raise ValueError("a verdict has args_resolvidos, erro or a preview, as its status says, and no other")
        return self


class ToolResult(ToolEvent):
    """What a tool has done; `valores` names further values by their kind.

    `linhas` are rows of what it found, at most 50 of 32 single values: what may be offered to the user and meant later.
    """

    TYPE: ClassVar[str] = "tool.result.v1"
    tool_name: str = Field(alias="nome_tool", min_length=1, max_length=200)
    args: Mapping[str, Any] = Field(default_factory=dict)
    succeeded: bool = Field(alias="sucesso")
    report_id: Absent[str] = None
    case_reference: Absent[str] = Field(default=None, alias="processo_referencia")
    report_valid: Absent[bool] = None
    values: Mapping[str, str] = Field(alias="valores", default_factory=dict)
    rows: Absent[tuple[Row, ...]] = Field(default=None, alias="linhas")

    @field_validator("rows")
    @classmethod
    def _bounded(cls, rows: tuple[Row, ...] | None) -> tuple[Row, ...] | None:
        if rows is not None and len(rows) > MAX_ROWS:
            raise ValueError(f"linhas has {len(rows)} rows, at most {MAX_ROWS} are taken: send those that are offered")
        for number, row in enumerate(rows or ()):
            if len(row) > MAX_VALUES or any(len(name) > LONGEST_NAME for name in row):
                raise ValueError(
                    f"linhas, row {number}: at most {MAX_VALUES} values with names of {LONGEST_NAME} characters"
                )
        return rows


class ToolConfirmation(ToolEvent):
    """A user's yes or no to a preview."""

    TYPE: ClassVar[str] = "tool.confirmation.v1"
    approved: bool
    user_id: Id = Field(alias="usuario_id")
