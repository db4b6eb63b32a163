"""Where Fathom is, and how a call is sent: retried while it is safe, errors in a sentence."""

import json
import os
from pathlib import Path
from typing import Any

import httpx

RETRIES = 3
RETRY_S = 0.2
MAX_RETRY_S = 5.0
# A server that says so took nothing; an Idempotency-Key makes a second attempt safe everywhere else.
AGAIN = (429, 503)


class FathomError(Exception):
    """A call that failed; `status` is the HTTP status, None where no server answered.

    `message_id` is of a message that is in the log although the call failed, as when its pack came too late.
    """

    def __init__(self, sentence: str, status: int | None = None, message_id: str | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.message_id = message_id


def address(url: str | None, token: str | None, data: str | os.PathLike[str] | None) -> tuple[str, str]:
    """URL and token: as given, of FATHOM_URL and FATHOM_TOKEN (or FATHOM_TOKEN_FILE), or of `fathom up` in `data`.

    The token in `data` goes only to the server that runs there. Raises `FathomError`.
    """
    if data is None:
        url, token = url or os.environ.get("FATHOM_URL"), token or _token_of_environment()
    if url and token:
        return url.rstrip("/"), token
    if url:
        raise FathomError(f"there is no token for {url}: give one, or set FATHOM_TOKEN or FATHOM_TOKEN_FILE")
    home = Path(data or os.environ.get("FATHOM_DATA", ".fathom"))
    try:
        found = json.loads((home / "up.json").read_text("utf-8"))["http"]
        return f"http://{found}", token or (home / "token").read_text("utf-8").strip()
    except (OSError, ValueError, KeyError):
        raise FathomError(
            f"no Fathom runs in {home}: start one with `fathom up`, or name one with FATHOM_URL and FATHOM_TOKEN"
        ) from None


def _token_of_environment() -> str | None:
    stated, file = os.environ.get("FATHOM_TOKEN"), os.environ.get("FATHOM_TOKEN_FILE")
    if stated or not file:
        return stated
    try:
        return Path(file).read_text("utf-8").strip()
    except OSError as error:
        raise FathomError(f"FATHOM_TOKEN_FILE={file}: {error.strerror}") from None


def checked(response: httpx.Response) -> httpx.Response:
    """The response; raises `FathomError` with the server's own sentence for a refusal."""
    if response.is_success:
        return response
    try:
        problem: Any = response.json()
        said = problem.get("detail") or problem.get("title")
    except (ValueError, AttributeError):
        said = None
    sentence = said or f"the server answered {response.status_code}; is {response.url.host} a Fathom?"
    raise FathomError(sentence, response.status_code, response.headers.get("fathom-message-id"))


def pause(response: httpx.Response | None, attempt: int) -> float | None:
    """Seconds to wait before the next attempt; None where the answer, or the number of attempts, ends them."""
    if attempt >= RETRIES or (response is not None and response.status_code not in AGAIN):
        return None
    stated = "" if response is None else response.headers.get("retry-after", "")
    return min(float(stated) if stated.isdecimal() else RETRY_S * 2**attempt, MAX_RETRY_S)


def unreachable(url: str, error: httpx.TransportError) -> FathomError:
    """The error of a server that does not answer."""
    return FathomError(f"no Fathom answers at {url} ({type(error).__name__}); does `fathom up` or `fathom serve` run?")
