"""Memories of mem0, as `get_all` and its exports give them: `{"results": [{"id", "memory", "user_id", …}]}`.

A memory is what is known of its user since it was last changed.
"""

from streams.imports.turns import UNKNOWN, ExportPlace, Found, JsonValue, LeftOut, first_time, memory, objects, user_of

FORMAT = "mem0"
LISTS = ("results", "memories")


def fits(value: JsonValue) -> bool:
    """Whether it is a memory, or an object with a list of them."""
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("memory"), str):
        return True
    return any(isinstance(each.get("memory"), str) for name in LISTS for each in objects(value.get(name)))


def turns(value: JsonValue, _: ExportPlace) -> Found:
    """Each memory as a turn of its user."""
    if not isinstance(value, dict) or not fits(value):
        yield LeftOut(UNKNOWN)
        return
    several = [each for name in LISTS for each in objects(value.get(name))]
    for each in [value] if isinstance(value.get("memory"), str) else several:
        at = first_time(each.get("updated_at"), each.get("created_at"))
        yield from memory(FORMAT, each.get("memory"), each.get("id"), at, user_of(each))
