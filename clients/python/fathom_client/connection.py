"""Where Fathom is, and how a call is sent: again while that may help, errors in a sentence."""

import json
import os
from pathlib import Path
from typing import TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from fathom_client.errors import FathomError, Refused, Unreachable, refusal

T = TypeVar("T", bound=BaseModel)
RETRIES = 3
RETRY_S, MAX_RETRY_S = 0.2, 5.0
# Every call is one that may be sent again; after these it is.
AGAIN = (429, 502, 503)


def address(url: str | None, token: str | None, data: str | os.PathLike[str] | None) -> tuple[str, str]:
    """URL and token: as given, of FATHOM_URL and FATHOM_TOKEN (or FATHOM_TOKEN_FILE), or of `fathom up` in `data`.

    The token in `data` goes only to the server that runs there. Raises `Unreachable` and `Refused`.
    """
    if data is None:
        url = os.environ.get("FATHOM_URL") if url is None else url
        token = _token_of_environment() if token is None else token
    if url is None:
        home = Path(data or ".fathom")
        url = f"http://{_running(home)}"
        token = _read(home / "token") if token is None else token
    if token is None:
        raise Refused(f"there is no token for {url}: give one, or set FATHOM_TOKEN or FATHOM_TOKEN_FILE")
    return _checked_url(url), _checked_token(token)


def _running(home: Path) -> str:
    """Host and port of the server that `fathom up` runs in a folder."""
    try:
        return str(json.loads((home / "up.json").read_text("utf-8"))["http"])
    except (OSError, ValueError, KeyError, TypeError):
        raise Unreachable(
            f"no Fathom runs in {home}: start one with `fathom up`, or name one with FATHOM_URL and FATHOM_TOKEN"
        ) from None


def _token_of_environment() -> str | None:
    stated, file = os.environ.get("FATHOM_TOKEN"), os.environ.get("FATHOM_TOKEN_FILE")
    return stated if stated is not None or file is None else _read(Path(file))


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8").strip()
    except (OSError, ValueError):
        raise Refused(f"the token cannot be read from {path}; check the file, or set FATHOM_TOKEN") from None


def _checked_url(url: str) -> str:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        parsed = httpx.URL()
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise Refused(f"{url!r} is no address of a Fathom; write one like http://127.0.0.1:8088")
    return url.rstrip("/")


def _checked_token(token: str) -> str:
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise Refused("the token is empty or has characters that no token has; give it as Fathom wrote it")
    return token


def header(name: str, text: str) -> bytes:
    """A header's value; raises `Refused` for a text that no header can carry."""
    try:
        if text.isprintable() and text == text.strip():
            return text.encode("latin-1")
    except UnicodeEncodeError:
        pass
    raise Refused(f"{name} {text!r} cannot be sent in a header; use letters of Latin-1, without spaces around them")


def read(kind: type[T], response: httpx.Response, about: str, message_id: str | None) -> T:
    """The answer in a response; raises `FathomError` for a refusal, and for what no Fathom answers."""
    if not response.is_success:
        raise refusal(response, about, message_id)
    try:
        return kind.model_validate_json(response.content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the body"
        raise Unreachable(
            f"{about}{response.url} did not answer as Fathom does ({where}: {first['msg']}); check that this is its "
            "address, and that client and server are of like versions",
            status=response.status_code, message_id=message_id,
        ) from None  # fmt: skip


def pause(response: httpx.Response | None, attempt: int) -> float | None:
    """Seconds to wait before the next attempt; None where the answer, or the number of attempts, ends them."""
    if attempt >= RETRIES or (response is not None and response.status_code not in AGAIN):
        return None
    stated = "" if response is None else response.headers.get("retry-after", "")
    return min(float(stated) if stated.isdecimal() else RETRY_S * 2**attempt, MAX_RETRY_S)


def unreachable(url: str, error: httpx.TransportError, about: str, message_id: str | None) -> FathomError:
    """The error of a server that does not answer."""
    if isinstance(error, httpx.TimeoutException) and not isinstance(error, httpx.ConnectTimeout):
        return Unreachable(f"{about}{url} did not answer in time; try again, or wait longer", message_id=message_id)
    return Unreachable(
        f"{about}no Fathom answers at {url} ({type(error).__name__}); does `fathom up` or `fathom serve` run?",
        message_id=message_id,
    )
