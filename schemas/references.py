"""What messages name, and what a message is therefore about."""

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
    """What a message is about: named in it, or taken over from an earlier one, which `message_id` names."""

    source: Literal["message", "history"]
