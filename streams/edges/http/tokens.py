"""Bearer tokens and their grants: tenant, client and user come from the token, never from the request."""

import hashlib
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

import orjson
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from schemas.base import DEFAULT_TENANT, PUBLIC_TENANT, Id, sentence_of
from streams.config import PREFIX, ConfigError, secret

TOKEN_FILE = "token"
SHORTEST_TOKEN = 16
EXAMPLE = '{"A-TOKEN-OF-16-CHARACTERS-OR-MORE": {"tenant": "acme", "client": "agent", "user": "ana"}}'


class Grant(BaseModel):
    """Tenant, client and user of a token; None where the token does not restrict it.

    An `operator` also sees what is of no tenant: lag, replays. With a user, `assistant` lets it also send turns of the
    assistant and of the system, in that user's conversations.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)
    assistant: bool = False
    client: Id | None = None
    operator: bool = False
    tenant: Id
    user: Id | None = None


_GRANTS = TypeAdapter(dict[str, Grant])


class Tokens:
    """Grants by bearer token; only digests of the tokens are kept."""

    def __init__(self, grants: Mapping[str, Grant]) -> None:
        self._grants = {_digest(token): grant for token, grant in grants.items()}
        self.tenants = frozenset(grant.tenant for grant in grants.values())

    def grant(self, token: str) -> Grant | None:
        """The grant of a token; None for an unknown one."""
        return self._grants.get(_digest(token))


def of_file(path: Path | None, setting: str) -> Tokens:
    """The tokens of the file that a setting names; raises `ConfigError`, which never shows a token."""
    return Tokens(_grants(path, setting))


def of_home(home: Path, path: Path | None) -> Tokens:
    """The operator's token, of tenant `default`, in a data directory, made at the first start, and those of a file.

    Raises `ConfigError`.
    """
    own = {_of_directory(home / TOKEN_FILE): Grant(tenant=DEFAULT_TENANT, operator=True)}
    return Tokens({**own, **(_grants(path, "ask_tokens_file") if path is not None else {})})


def _of_directory(file: Path) -> str:
    """The token in the file, which only its owner reads."""
    try:
        with (
            suppress(FileExistsError),
            os.fdopen(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as new,
        ):
            new.write(f"{token_hex(32)}\n")
        token = file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "no text"
        raise ConfigError(
            f"{file}: {why}; it holds the token of tenant {DEFAULT_TENANT}: remove it for a new one"
        ) from None
    if len(token) < SHORTEST_TOKEN:
        raise ConfigError(
            f"{file}: it holds no token of {SHORTEST_TOKEN} characters; remove it, and the next start makes one"
        )
    return token


def _grants(path: Path | None, setting: str) -> dict[str, Grant]:
    name = f"{PREFIX}{setting.upper()}"
    text = secret(setting, path)
    if text is None:
        raise ConfigError(f"{name} is not set; over HTTP each call needs a token: name a file like {EXAMPLE}")
    try:
        grants = _GRANTS.validate_python(orjson.loads(text))
    except orjson.JSONDecodeError:
        raise ConfigError(f"{name}={str(path)!r}: no JSON; write it like {EXAMPLE}") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        field = str(first["loc"][1]) if len(first["loc"]) > 1 else "the file"
        raise ConfigError(f"{name}={str(path)!r}: {field}: {sentence_of(first)}; write it like {EXAMPLE}") from None
    if not grants:
        raise ConfigError(f"{name}={str(path)!r}: no token in it; write it like {EXAMPLE}")
    for number, token in enumerate(grants, 1):
        if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
            raise ConfigError(
                f"{name}={str(path)!r}: token {number} is no {SHORTEST_TOKEN} or more visible ASCII characters; "
                "make one with `openssl rand -hex 32`"
            )
    return {token: of_a_tenant(grant, name) for token, grant in grants.items()}


def of_a_tenant(grant: Grant, where: str) -> Grant:
    """The grant; raises `ConfigError` for the public tenant, which all tenants read and none may act as."""
    if grant.tenant == PUBLIC_TENANT:
        raise ConfigError(f"{where}: {PUBLIC_TENANT} is what every tenant reads, nobody asks as it; name a tenant")
    return grant


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode(errors="replace")).digest()
