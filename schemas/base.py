"""The base of all events: frozen values, one conversation key, derived ids.

An event never generates an id or a time: its producer supplies both, so that a replay makes the same event again.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from hashlib import sha1
from typing import Annotated, Any, ClassVar, Self, TypeVar
from urllib.parse import quote, unquote
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

NAMESPACE = UUID("6e1f3a52-6f0e-5c8e-9c55-0d5d2a3f4b10")
_NAMESPACE_BYTES = NAMESPACE.bytes
PUBLIC_TENANT = "_public"
# Whose memory every edge asks where nobody names a tenant: that of the token which `fathom up` makes.
DEFAULT_TENANT = "default"
MAX_ID_CHARS = 256

T = TypeVar("T")
JsonObject = Mapping[str, Any]  # parsed, or about to be written


def sentence_of(error: Mapping[str, Any]) -> str:
    """The sentence of one of pydantic's errors: one of ours as we wrote it."""
    return str(error["msg"]).removeprefix("Value error, ")


def is_none(value: object) -> bool:
    return value is None


# An optional field that is absent on the wire without a value; a plain `X | None` is written as null.
Absent = Annotated[T | None, Field(exclude_if=is_none)]


def printable_id(value: str) -> str:
    """Refuse ids that are ambiguous on a screen or in a key.

    Raises `ValueError` for an empty id, one over 256 characters, one with control characters or outer blanks.
    """
    if not value or value != value.strip() or len(value) > MAX_ID_CHARS or not value.isprintable():
        raise ValueError(f"an id is 1-{MAX_ID_CHARS} printable characters without outer blanks")
    return value


Id = Annotated[
    str,
    AfterValidator(printable_id),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": MAX_ID_CHARS}),
]


def in_utc(value: datetime) -> datetime:
    """A time, in UTC where it names no zone."""
    return value if value.tzinfo is not None else value.replace(tzinfo=UTC)


# A time that an outsider states: many libraries write those of UTC without a zone.
StatedTime = Annotated[datetime, AfterValidator(in_utc)]


class Value(BaseModel):
    """A frozen value: a field it does not know is an error where it is made.

    Where the wire fixed a name that is not English, the alias is the name on the wire, and the attribute is English:
    JSON is read and written by alias only, Python makes a value by attribute only.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        ser_json_timedelta="float",
        hide_input_in_errors=True,
        validate_by_name=True,
        validate_by_alias=False,
        serialize_by_alias=True,
    )

    @classmethod
    def model_validate_json(
        cls,
        json_data: str | bytes | bytearray,
        *,
        by_alias: bool | None = True,
        by_name: bool | None = False,
        **how: Any,
    ) -> Self:
        """The value of its JSON, in which every field has its wire name; raises `ValidationError`."""
        return super().model_validate_json(json_data, by_alias=by_alias, by_name=by_name, **how)


@cache
def attributes_by_wire_name(of: type[Value]) -> Mapping[str, str]:
    """The attribute of every field, by the name it has in JSON."""
    return {field.alias or name: name for name, field in of.model_fields.items()}


class Event(Value):
    """A value sent on a topic; `TYPE` is its `ce_type`, with the major schema version at the end."""

    TYPE: ClassVar[str] = ""


class Source(Value):
    """A position in the log."""

    topic: str
    partition: int = Field(ge=0)
    offset: int = Field(ge=0)


class Conversation(Value):
    """The key of a conversation: the unit of order, of the working set and of every read."""

    tenant: Id
    client_id: Id
    conversation_id: Id

    def key(self) -> str:
        """`tenant|client|conversation`, each part percent-encoded, so that no id can imitate another."""
        return "|".join(quote(part, safe="") for part in (self.tenant, self.client_id, self.conversation_id))

    @classmethod
    def from_key(cls, key: str) -> "Conversation":
        """The conversation of a key; raises `ValueError` for an invalid key."""
        parts = key.split("|")
        if len(parts) != 3:
            raise ValueError("a conversation key has three parts: tenant|client|conversation")
        tenant, client_id, conversation_id = (unquote(part) for part in parts)
        return cls(tenant=tenant, client_id=client_id, conversation_id=conversation_id)


LAST_MS = int(datetime(9999, 12, 31, tzinfo=UTC).timestamp() * 1000)


def time_of(milliseconds: int) -> datetime:
    """The time of a record's timestamp, in UTC; a producer may state any number, and beyond all dates is the last."""
    return datetime.fromtimestamp(min(max(milliseconds, 0), LAST_MS) / 1000, UTC)


def entity_key(tenant: str, entity: str) -> str:
    """The record key of an entity of a tenant: `tenant|entity`."""
    return f"{quote(tenant, safe='')}|{quote(entity, safe='')}"


def derive(*parts: object) -> str:
    """A uuid5 of its parts: the same parts always give the same id, different lists of parts different ids.

    Parts are joined with their lengths; joined with a separator, `("a|b", "c")` and `("a", "b|c")` would collide.
    """
    name = "".join([f"{len(text)}:{text}" for text in map(str, parts)])
    # The algorithm of uuid5 without making and rendering a UUID object: two ids are derived for every record.
    digest = sha1(_NAMESPACE_BYTES + name.encode(errors="surrogatepass"), usedforsecurity=False).hexdigest()
    variant = "89ab"[int(digest[16], 16) & 3]
    return f"{digest[:8]}-{digest[8:12]}-5{digest[13:16]}-{variant}{digest[17:20]}-{digest[20:32]}"


def message_key(client_id: str, conversation_id: str, message_id: str) -> str:
    """The id of a message in its tenant: in each conversation producers may number their messages anew.

    A hash: for three ids, encoded twice, the index of a server has no room.
    """
    return derive("message", client_id, conversation_id, message_id)
