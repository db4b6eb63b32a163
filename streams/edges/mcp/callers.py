"""Callers over MCP: tenant, client and user come from a token or from the settings, never from an argument."""

from dataclasses import dataclass, replace

from pydantic import ValidationError

from schemas.base import sentence_of
from streams.config import PREFIX, ConfigError, Settings
from streams.edges.http.tokens import Grant, of_a_tenant

CLIENT = "mcp"


@dataclass(frozen=True, slots=True)
class Caller:
    """The tenant whose memory a call may read, its application and its user; `only` where a token is of one client."""

    tenant: str
    client: str
    user: str
    bound: bool = False
    only: str | None = None


def of_grant(grant: Grant) -> Caller:
    """The caller of a token's grant; without a user, the client stands for one, who is `bound` to nobody."""
    client = grant.client or CLIENT
    return Caller(grant.tenant, client, grant.user or client, bound=grant.user is not None, only=grant.client)


def of_settings(settings: Settings) -> Caller:
    """The only caller of a server on stdio; raises `ConfigError`."""
    try:
        grant = Grant(client=settings.mcp_client, tenant=settings.mcp_tenant, user=settings.mcp_user)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise ConfigError(f"{PREFIX}MCP_{str(first['loc'][0]).upper()}: {sentence_of(first)}") from None
    return replace(of_grant(of_a_tenant(grant, f"{PREFIX}MCP_TENANT")), only=None)
