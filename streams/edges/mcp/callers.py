"""Who calls over MCP: tenant, client and user come from a token or from the settings, never from an argument."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from schemas.base import PUBLIC_TENANT, Id
from streams.config import PREFIX, ConfigError, Settings, secret

SETTING = "mcp_tokens_file"
SHORTEST_TOKEN = 16
EXAMPLE = '{"A-TOKEN-OF-16-CHARACTERS-OR-MORE": {"tenant": "acme", "client": "agent", "user": "ana"}}'


@dataclass(frozen=True, slots=True)
class Caller:
    """Whose memory a call may see, by which application, for whom."""

    tenant: str
    client: str
    user: str


class _Grant(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)
    client: Id = "mcp"
    tenant: Id
    user: Id | None = None

    def caller(self) -> Caller:
        return Caller(self.tenant, self.client, self.user or self.client)


_GRANTS = TypeAdapter(dict[str, _Grant])


def of_settings(settings: Settings) -> Caller:
    """The one caller of a server on stdio; raises `ConfigError`."""
    try:
        grant = _Grant(
            client=settings.mcp_client,
            tenant=settings.mcp_client if settings.mcp_tenant is None else settings.mcp_tenant,
            user=settings.mcp_user,
        )
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise ConfigError(f"{PREFIX}MCP_{str(first['loc'][0]).upper()}: {first['msg']}") from None
    return _of_a_tenant(grant, f"{PREFIX}MCP_TENANT").caller()


class Tokens:
    """Which caller a bearer token stands for; only digests of the tokens are kept."""

    def __init__(self, callers: Mapping[str, Caller]) -> None:
        self._callers = {_digest(token): caller for token, caller in callers.items()}

    def caller(self, token: str) -> Caller | None:
        """The caller of a token; None for one that is not known."""
        return self._callers.get(_digest(token))


def of_tokens(path: Path | None) -> Tokens:
    """The callers of the tokens file; raises `ConfigError`, which never shows a token."""
    name = f"{PREFIX}{SETTING.upper()}"
    text = secret(SETTING, path)
    if text is None:
        raise ConfigError(f"{name} is not set; over HTTP each call needs a token: name a file like {EXAMPLE}")
    try:
        grants = _GRANTS.validate_python(orjson.loads(text))
    except orjson.JSONDecodeError:
        raise ConfigError(f"{name}={str(path)!r}: no JSON; write it like {EXAMPLE}") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        field = str(first["loc"][1]) if len(first["loc"]) > 1 else "the file"
        raise ConfigError(f"{name}={str(path)!r}: {field}: {first['msg']}; write it like {EXAMPLE}") from None
    if not grants:
        raise ConfigError(f"{name}={str(path)!r}: no token in it; write it like {EXAMPLE}")
    for number, token in enumerate(grants, 1):
        if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
            raise ConfigError(
                f"{name}={str(path)!r}: token {number} is no {SHORTEST_TOKEN} or more visible ASCII characters; "
                "make one with `openssl rand -hex 32`"
            )
    return Tokens({token: _of_a_tenant(grant, name).caller() for token, grant in grants.items()})


def _of_a_tenant(grant: _Grant, where: str) -> _Grant:
    if grant.tenant == PUBLIC_TENANT:
        raise ConfigError(f"{where}: {PUBLIC_TENANT} is what every tenant reads, nobody asks as it; name a tenant")
    return grant


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode(errors="replace")).digest()
