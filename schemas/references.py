"""References named in messages, and the resulting subjects of messages."""

from typing import Literal

from pydantic import AwareDatetime

from schemas.base import Id, Value


class Reference(Value):
    """Something named in a message, of a kind of the reference policy; `at` is the message's event time."""

    kind: str
    value: str
    message_id: Id
    at: AwareDatetime


class Parameter(Reference):
    """A subject of a message: named in it, or carried over from the earlier one that `message_id` names."""

    source: Literal["message", "history"]
