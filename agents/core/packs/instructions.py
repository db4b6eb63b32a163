"""Instructions to the model, per level and language."""

from agents.core.language.messages import lines, message
from schemas.depth import DepthLevel

# As in the contract of the plan, word for word; a prompt gets those of the catalogue.
SPECIAL = {
    DepthLevel.D3: (
        "Identificar claim original",
        "Buscar evidências conflitantes",
        "Não defender posição anterior cegamente",
    ),
    DepthLevel.D4: ("Reconhecer mudança de tema", "Manter apenas contexto de persona", "Iniciar nova âncora semântica"),
}


def special(level: DepthLevel) -> tuple[str, ...]:
    """The special instructions of a plan that contests or changes the subject."""
    return SPECIAL.get(level, ())


def for_level(level: DepthLevel, lang: str, *, resets: bool = True, earlier: bool = False) -> tuple[str, ...]:
    """The level's instructions in the message's language, else in English; `earlier` are those of before 0.2.

    A change of subject without a reset is acknowledged; earlier context stays valid.
    """
    instructions = lines(lang, f"pack.earlier_{level.value}" if earlier else f"pack.{level.value}")
    return instructions[:1] if level == DepthLevel.D4 and not resets else instructions


def degraded(missing: tuple[str, ...], lang: str, *, earlier: bool = False) -> str:
    """The instruction for a pack with missing sections; `earlier` is that of before 0.2."""
    if earlier:
        return message(lang, "pack.earlier_degraded", missing=", ".join(missing))
    return message(lang, "pack.degraded", missing=", ".join(message(lang, f"pack.{section}") for section in missing))


def nothing_found(lang: str) -> str:
    """The instruction for a search that found no answer."""
    return message(lang, "pack.nothing_found")
