"""Tenants in keys and filters: the only place that adds them, so that no store can be queried without one.

Ids from outside are unique in their tenant only; `node_id` and `point_id` make them unique over all tenants.
"""

from urllib.parse import quote, unquote
from uuid import UUID

from agents.errors import Rejected
from schemas.base import PUBLIC_TENANT, Conversation, derive, entity_key, printable_id


def checked(tenant: str) -> str:
    """The tenant itself; raises `Rejected` for an invalid one."""
    try:
        return printable_id(tenant)
    except ValueError as error:
        raise Rejected("tenant_invalid", str(error)) from error


def readable(tenant: str) -> tuple[str, ...]:
    """The tenants that this one may read: itself and `_public`."""
    return (PUBLIC_TENANT,) if checked(tenant) == PUBLIC_TENANT else (tenant, PUBLIC_TENANT)


def writable(tenant: str, *, admin: bool = False) -> str:
    """The tenant, if writable; raises `Rejected` for `_public` unless by an administrator."""
    if checked(tenant) == PUBLIC_TENANT and not admin:
        raise Rejected("public_tenant_read_only", f"{PUBLIC_TENANT} is written only by an administrator")
    return tenant


def key(conversation: Conversation, *parts: str) -> str:
    """A Redis key of a conversation: `fathom:{tenant|client|conversation}:part:part`.

    Every part is percent-encoded, so no id can close the brace or imitate another conversation; the braces put all
    keys of a conversation in one cluster slot.
    """
    return keys_of(conversation, parts)[0]


def keys_of(conversation: Conversation, *names: tuple[str, ...]) -> list[str]:
    """Several Redis keys of a conversation, one for each name of parts, as `key` makes them."""
    writable(conversation.tenant)
    whose = f"fathom:{{{conversation.key()}}}"
    return [":".join((whose, *map(key_part, name))) for name in names]


def key_part(part: str) -> str:
    """A part of a Redis key, without separators."""
    return quote(part, safe="")


def tenant_key(tenant: str, *parts: str) -> str:
    """A Redis key of a whole tenant; a conversation's has three parts in its braces, so none imitates the other."""
    return ":".join((f"fathom:{{{key_part(writable(tenant))}}}", *(key_part(part) for part in parts)))


def node_id(tenant: str, natural_id: str) -> str:
    """The id of a graph node, unique over tenants: `tenant|id`, each part percent-encoded."""
    return entity_key(checked(tenant), natural_id)


def natural_id(node: str) -> str:
    """The id of a node in its tenant."""
    return unquote(node.partition("|")[2])


def point_id(tenant: str, natural_id: str) -> UUID:
    """The id of an index point, unique over tenants."""
    return UUID(derive("point", checked(tenant), natural_id))
