"""Turns of a past chat, what of an export is left out, and what all exports have in common. No files, no Kafka."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from schemas.base import derive, in_utc, printable_id

JsonValue = Any
Speaker = Literal["user", "assistant"]
# In the place of a conversation: memories and facts that name none are noted in one of their user.
MEMORIES = ""

SYSTEM, TOOL, NO_TEXT, PART = "system message", "tool message", "no text", "part that is no text"
BRANCH, HIDDEN, ENDED = "other version of a turn", "hidden message", "fact that no longer holds"
UNKNOWN_ROLE, UNKNOWN = "unknown role", "of no known form"
FUTURE, TOO_LONG = "dated in the future", "too long for a record"
ROLES: Mapping[str, Speaker] = {
    "user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "aimessagechunk": "assistant",
    "humanmessagechunk": "user",
}  # fmt: skip
NOT_SAID = {"system": SYSTEM, "developer": SYSTEM, "tool": TOOL, "function": TOOL}
# Parts of a message that have a text which was not said.
UNSAID = ("reasoning", "thinking", "reasoning_content")
# A time stored as a number of milliseconds is larger than any of seconds.
MILLISECONDS = 100_000_000_000


@dataclass(frozen=True, slots=True)
class ImportedTurn:
    """One turn as an export has it; `at` is None where it states no time."""

    conversation_id: str
    role: Speaker
    content: str
    message_id: str
    at: datetime | None = None
    user_id: str | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something of an export that is not remembered."""

    reason: str


@dataclass(frozen=True, slots=True)
class ExportPlace:
    """Where in an export a value stands: the name of its file, and its number in it."""

    name: str
    number: int


Found = Iterator[ImportedTurn | LeftOut]


def time_of(stated: JsonValue) -> datetime | None:
    """A time as exports state it: seconds, milliseconds, or ISO 8601 with or without a zone; None for any other."""
    try:
        if isinstance(stated, bool) or not stated:
            return None
        if isinstance(stated, int | float):
            return datetime.fromtimestamp(stated / 1000 if stated > MILLISECONDS else stated, UTC)
        found = in_utc(datetime.fromisoformat(stated)).astimezone(UTC)
    except (ValueError, TypeError, OverflowError, OSError):
        return None
    return found if found.year > 1 else None  # the zero of a time in Go


def first_time(*stated: JsonValue) -> datetime | None:
    """The first of these that is a time."""
    return next((found for each in stated if (found := time_of(each)) is not None), None)


def id_of(stated: JsonValue, otherwise: str) -> str:
    """The stated id where it may be one; an id derived of it where it may not; `otherwise` where there is none."""
    if not isinstance(stated, str | int) or stated == "":
        return otherwise
    try:
        return printable_id(str(stated))
    except ValueError:
        return derive("import", "id", str(stated))


def text_of(content: JsonValue) -> tuple[str, int]:
    """The text of a content or of its parts, and how many parts are none."""
    if isinstance(content, str):
        return _whole(content), 0
    texts: list[str] = []
    others = 0
    for part in content if isinstance(content, list) else ():
        said = part.get("text") if isinstance(part, dict) and part.get("type") not in UNSAID else part
        if isinstance(said, str):
            texts.append(_whole(said))
        else:
            others += 1
    return "\n".join(filter(None, texts)), others


def _whole(text: str) -> str:
    """The text without half characters, which JSON may hold and a record may not."""
    return text.strip().encode(errors="replace").decode()


def said(
    of: str,
    role: JsonValue,
    content: JsonValue,
    *,
    conversation_id: str,
    message_id: JsonValue,
    position: object,
    at: datetime | None,
    user_id: str | None = None,
) -> Found:
    """The turn of a message, or why there is none; without an id its place and words give it one."""
    name = str(role or "").lower()
    if (speaker := ROLES.get(name)) is None:
        yield LeftOut(NOT_SAID.get(name, UNKNOWN_ROLE))
        return
    text, others = text_of(content)
    yield from [LeftOut(PART)] * others
    if not text:
        if not others:
            yield LeftOut(NO_TEXT)
        return
    own = (message_id,) if isinstance(message_id, str) and message_id else (position, speaker, text)
    made = derive("import", of, conversation_id, *own)
    yield ImportedTurn(conversation_id, speaker, text, made, at, user_id)


def memory(of: str, text: JsonValue, known_as: JsonValue, at: datetime | None, user_id: str | None) -> Found:
    """The turn of a memory that names no conversation; one whose words have changed is another turn."""
    if not isinstance(text, str) or not text.strip():
        yield LeftOut(NO_TEXT)
        return
    made = derive("import", of, user_id or "", known_as or "", text.strip())
    yield ImportedTurn(MEMORIES, "user", _whole(text), made, at, user_id)


def objects(values: JsonValue) -> Sequence[Mapping[str, JsonValue]]:
    """The objects of a list; none of anything else."""
    return [each for each in values if isinstance(each, dict)] if isinstance(values, list) else []


def user_of(value: Mapping[str, JsonValue]) -> str | None:
    """The user that a value names."""
    return id_of(value.get("user_id"), "") or None
