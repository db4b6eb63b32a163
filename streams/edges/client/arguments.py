"""Arguments of a call over MCP or HTTP, and the sentence for invalid ones, which never quotes a value."""

from collections.abc import Collection, Sequence

from pydantic import BaseModel, ConfigDict

from schemas.base import JsonObject, sentence_of
from streams.edges.client.console_output import shortened
from streams.edges.client.errors import nearest

MAX_CHARS = 50_000
NAME_CHARS = 64


class Arguments(BaseModel):
    """Base of argument models: strict types, no unknown names."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)


def wrong(found: Sequence[JsonObject], known: Collection[str], what: str) -> str:
    """The first of pydantic's errors, by the field's name; `what` is the word for a field: argument, field."""
    # A misspelled name is the cause of a missing one.
    first = next((each for each in found if each["type"] == "extra_forbidden"), found[0])
    if first["type"] == "extra_forbidden":
        name = shortened(str(first["loc"][0]), NAME_CHARS)
        return f"there is no {what} {name!r}{nearest(name, known)}; there are: {', '.join(known)}"
    # A type of several says what is wrong by each of them, under its own name: `lang`, `literal['pt','en']`.
    place = ".".join(str(part) for part in first["loc"] if "[" not in str(part))
    others = {each["loc"][:1] for each in found} - {first["loc"][:1]}
    more = f" (and {len(others)} more)" if others else ""
    message = sentence_of(first)
    return f"{place + ': ' if place else ''}{message}{more}"
