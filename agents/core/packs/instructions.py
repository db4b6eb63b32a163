"""Instructions to the model, per level and language."""

from agents.core.language.messages import lines, message
from schemas.depth import DepthLevel


def special(level: DepthLevel) -> tuple[str, ...]:
    """The special instructions of a plan that contests or changes the subject; Portuguese, as in the contract."""
    match level:
        case DepthLevel.D3:
            return lines("pt", "pack.D3")[:3]
        case DepthLevel.D4:
            return lines("pt", "pack.D4")
        case _:
            return ()


def for_level(level: DepthLevel, lang: str, *, resets: bool = True) -> tuple[str, ...]:
    """The level's instructions in the message's language, else in English.

    A change of subject without a reset is acknowledged; earlier context stays valid.
    """
    instructions = lines(lang, f"pack.{level.value}")
    return instructions[:1] if level == DepthLevel.D4 and not resets else instructions


def degraded(missing: tuple[str, ...], lang: str) -> str:
    """The instruction for a pack with missing sections."""
    return message(lang, "pack.degraded", missing=", ".join(missing))


def nothing_found(lang: str) -> str:
    """The instruction for a search that found no answer."""
    return message(lang, "pack.nothing_found")
