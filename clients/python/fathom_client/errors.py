"""What can go wrong with a call: one small hierarchy, the server's problem details (RFC 9457) in it."""

import httpx
from pydantic import BaseModel, ValidationError

TOO_MANY = 429


class FathomError(Exception):
    """A call that failed; its text, also in `detail`, is one sentence that says what to do.

    `title` and `status` are the server's; None where no Fathom answered. `message_id` is of the message that the call
    sent: its pack can be read later, and sent again under this id it is the same message.
    """

    def __init__(
        self, detail: str, *, title: str | None = None, status: int | None = None, message_id: str | None = None
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.title = title
        self.status = status
        self.message_id = message_id


class Unreachable(FathomError):
    """No Fathom is named, none answers there, or none in time."""


class Unavailable(FathomError):
    """The server cannot answer now (429, 5xx): the same call may succeed later."""


class Refused(FathomError):
    """The call is wrong: sent again as it is, it is refused again."""


class Unauthorized(Refused):
    """The token is unknown, or is not for this (401, 403)."""


class NotFound(Refused):
    """There is nothing of this id (404)."""


class _Problem(BaseModel):
    title: str
    detail: str


KINDS: dict[int, type[FathomError]] = {401: Unauthorized, 403: Unauthorized, 404: NotFound, TOO_MANY: Unavailable}


def refusal(response: httpx.Response, about: str = "", message_id: str | None = None) -> FathomError:
    """The error of a response that is no success; `about` is put before its sentence."""
    status = response.status_code
    later = status >= 500 or status == TOO_MANY
    try:
        problem = _Problem.model_validate_json(response.content)
    except ValidationError:
        kind: type[FathomError] = Unavailable if later else Unreachable
        return kind(
            f"{about}{response.url.copy_with(path='', query=None)} answered {status} without Fathom's reason; "
            f"{'try again later, and look at what is before it' if later else 'check that this is its address'}",
            title=response.reason_phrase, status=status, message_id=message_id,
        )  # fmt: skip
    kind = KINDS.get(status, Unavailable if later else Refused)
    return kind(f"{about}{problem.detail}", title=problem.title, status=status, message_id=message_id)
