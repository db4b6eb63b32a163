"""What the model is told, per level and language."""

from agents.core.language.messages import DEFAULT, lines, message
from schemas.depth import DepthLevel


def special(level: DepthLevel) -> tuple[str, ...]:
    """What a plan says of a contestation or a change of subject: the contract's Portuguese texts, in any language."""
    match level:
        case DepthLevel.D3:
            return lines(DEFAULT, "pack.D3")[:3]
        case DepthLevel.D4:
            return lines(DEFAULT, "pack.D4")
        case _:
            return ()


def for_level(level: DepthLevel, lang: str, *, resets: bool = True) -> tuple[str, ...]:
    """The level's instructions in the message's language, Portuguese unless it is English.

    A change of subject that does not reset is acknowledged, and nothing is to be forgotten.
    """
    told = lines(lang, f"pack.{level.value}")
    return told[:1] if level == DepthLevel.D4 and not resets else told


def degraded(missing: tuple[str, ...], lang: str) -> str:
    """What to say to the model when sections are missing."""
    return message(lang, "pack.degraded", missing=", ".join(missing))


def nothing_found(lang: str) -> str:
    """What to say to the model when memory was searched and nothing in it answers."""
    return message(lang, "pack.nothing_found")
