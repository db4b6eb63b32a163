"""What the options of each verb say, as one value per verb."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class AskOptions:
    text: str
    tenant: str | None
    client: str
    conversation: str
    user: str | None
    timeout: float


@dataclass(frozen=True, slots=True)
class Send:
    """Exactly one of `text`, `file` and `document` is given."""

    text: str | None = None
    file: Path | None = None
    document: Path | None = None
    tenant: str | None = None
    client: str = "default"
    conversation: str = "default"
    user: str | None = None
    role: str = "user"
    answers: str | None = None
    message_id: str | None = None
    look_up: str | None = None
    title: str | None = None
    access_level: str = "public"


@dataclass(frozen=True, slots=True)
class Ingest:
    paths: tuple[str, ...]
    tenant: str | None = None
    client: str = "default"
    access_level: str = "public"
    lang: str | None = None
    title: str | None = None
    document_id: str | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Tail:
    topic: str
    from_beginning: bool = False
    limit: int | None = None
    follow: bool = True


@dataclass(frozen=True, slots=True)
class Demo:
    pause: float = 0.0


@dataclass(frozen=True, slots=True)
class SetProfile:
    """What is None or empty stays as it was; an objective is `TITLE` or `TITLE=STATUS`."""

    user: str
    tenant: str | None
    role: str | None
    department: str | None
    access: str | None
    objectives: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Feedback:
    message: str
    rating: int
    expected: str | None
    reason: str
    tenant: str | None
    client: str
    conversation: str
    user: str | None


@dataclass(frozen=True, slots=True)
class Correct:
    """Exactly one of `claim` and `consultation` is given."""

    text: str
    user: str
    claim: str | None
    consultation: str | None
    value: str | None
    tipo: str
    tenant: str | None


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """Whose session a tool event belongs to; `user` None is the client."""

    tenant: str | None = None
    client: str = "default"
    conversation: str = "default"
    user: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """`arguments` are NAME=TEXT or NAME:=JSON; `call_id` None is a new one; `timeout` in seconds."""

    tool: str
    arguments: tuple[str, ...] = ()
    session: SessionOptions = SessionOptions()
    call_id: str | None = None
    message_id: str | None = None
    timeout: float = 10.0


@dataclass(frozen=True, slots=True)
class ToolResultOptions:
    """`arguments` as of a call; `values` are NAME=TEXT."""

    tool: str
    arguments: tuple[str, ...] = ()
    session: SessionOptions = SessionOptions()
    call_id: str | None = None
    report_id: str | None = None
    process: str | None = None
    values: tuple[str, ...] = ()
    failed: bool = False
    invalid: bool = False


@dataclass(frozen=True, slots=True)
class ToolConfirmationOptions:
    call_id: str
    approved: bool = True
    session: SessionOptions = SessionOptions()
    timeout: float = 10.0
