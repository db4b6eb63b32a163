"""What a session remembers for tool calls, as it is stored."""

from collections.abc import Mapping
from typing import Any

from pydantic import AwareDatetime, Field

from schemas.base import Absent, Id, Value
from schemas.tools import Injection, Row, ToolCallResolved


class Kept(Value):
    """A value of the session, and the result that set it; `valid` is False once a result said so."""

    value: str
    at: AwareDatetime
    call_id: Id
    valid: bool = True


class Waiting(Value):
    """A call that waits for a yes, and what became of it: the confirmation that was taken, and whether it was a yes.

    `lang` is the language it was asked in.
    """

    tool_name: str = Field(alias="nome_tool")
    args: Mapping[str, Any]
    injections: tuple[Injection, ...]
    user_id: Absent[str] = None
    lang: Absent[str] = None
    asked_at: AwareDatetime
    taken: Absent[str] = None
    approved: Absent[bool] = None


class Done(Value):
    """A call that was made, and the rows of its result: what may be meant later in the dialogue."""

    call_id: Id
    tool_name: str = Field(alias="nome_tool")
    args: Mapping[str, Any] = Field(default_factory=dict)
    succeeded: bool = Field(alias="sucesso")
    rows: tuple[Row, ...] = Field(default=(), alias="linhas")
    at: AwareDatetime


class Judged(Value):
    """What a verdict was made from, and the id of the record that asked: delivered again, it is audited the same."""

    asked_by: Id
    grounds: Mapping[str, Any]


class ToolSession(Value):
    """Everything of one session; `verdicts`, `waiting`, `judged` and `calls` are of its last calls, oldest first.

    `calls` is empty where no contract recalls anything. Records logged up to `forgotten_at` are erased.
    """

    values: Mapping[str, Kept] = Field(default_factory=dict)
    waiting: Mapping[str, Waiting] = Field(default_factory=dict)
    verdicts: Mapping[str, ToolCallResolved] = Field(default_factory=dict)
    calls: tuple[Done, ...] = ()
    judged: Mapping[str, Judged] = Field(default_factory=dict)
    forgotten_at: Absent[AwareDatetime] = None
