"""Permissions of the conversation policy."""

from schemas.policy import ContextPolicy


def narrator_allows_entity(policy: ContextPolicy, entity: str | None) -> bool:
    """Whether the narrator may see the history of answers about an entity; a denial wins.

    An answer about nothing in particular is allowed unless only some entities are.
    """
    named = (entity or "").casefold()
    if any(named == denied.casefold() for denied in policy.narrator.denied_entities):
        return False
    allowed = policy.narrator.allowed_entities
    return allowed is None or any(named == each.casefold() for each in allowed)
